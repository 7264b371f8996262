"""Labels that are estimated together: for which target their limits are asked."""

from types import SimpleNamespace

import pytest

from quantshift.intervals.targets import ITEMS, POPULATION
from quantshift.quantifying.options import EstimationOptions
from quantshift.quantifying.targets.joint_sample import _revised
from tests.claims.made import RANGED


@pytest.mark.parametrize("of", [ITEMS, POPULATION])
def test_limits_are_those_of_the_items_or_of_the_population(of):
    """Two estimates far apart, neither of which the items show: the label keeps its own answer."""
    asked = []

    def estimate(p):
        def limits(j, level, *, of_items):
            asked.append((j, level, of_items))
            return (p, p - 0.05, p + 0.05)

        return limits

    seen = SimpleNamespace(
        finding=SimpleNamespace(refuted=False, doubles=1.0),
        if_joint=estimate(0.8),
        if_covariate=estimate(0.2),
    )
    own = SimpleNamespace(grounds=RANGED)
    assert _revised(own, seen, 2, "spam", EstimationOptions(of=of, level=0.9)) is own
    assert asked == [(2, 0.9, of == ITEMS)] * 2
    seen.finding.refuted = True
    assert _revised(own, seen, 2, "spam", EstimationOptions(of=of, level=0.9)) is own
    assert len(asked) == 2
