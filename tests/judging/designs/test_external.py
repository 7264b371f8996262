"""Labels of other items: implied by a table of their own, or stated."""

import numpy as np
import pytest

from quantshift.errors import DataError, UserError
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import ExternalLabels
from tests.judging.made import coded


def older(n=200, seed=5):
    """Other items, half of them of each class, with the judge of the fixture."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(int)
    return ExternalLabels(y, np.where(rng.random(n) < np.where(y == 1, 0.95, 0.8), y, 1 - y))


def test_a_table_of_its_own(judging):
    none = np.full(2000, -1)
    found = estimate(coded(judging.verdicts, none, external=older()))
    assert found.design.name == "elsewhere"
    assert found.shares.low[1] <= judging.y.mean() <= found.shares.high[1]
    # A verdict does not mean the same where classes have other shares.
    low, high = found.shares.if_verdicts_mean_the_same
    assert (low <= high).all()
    assert high[1] < found.shares.high[1]
    assert (found.n_items, found.n_labelled) == (2000, 200)
    with pytest.raises(UserError, match="is elsewhere, not random: leave it out"):
        estimate(coded(judging.verdicts, none, external=older()), "random")


def test_items_of_the_table_itself_are_not_part_of_the_sample(judging):
    found = estimate(coded(judging.verdicts, judging.by_label(200)), "elsewhere")
    assert found.n_items == 1800
    assert found.shares.influence.shape == (1800, 2)


def test_scores_that_take_the_place_of_verdicts_are_needed_elsewhere_too(judging):
    none = np.full(2000, -1)
    with pytest.raises(DataError, match="labelled elsewhere need a score"):
        coded(None, none, score=judging.score, external=older())
    other = ExternalLabels(judging.y[:200], score=judging.score[:200])
    found = estimate(coded(None, none, score=judging.score, external=other))
    assert found.shares.low[1] <= judging.y.mean() <= found.shares.high[1]
    assert found.judges == ()
