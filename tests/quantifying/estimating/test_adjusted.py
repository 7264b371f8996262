"""Among many batches some are unlike training by chance: decisions come after the adjustment."""

import numpy as np
import pytest

from quantshift.claims import Explanation, Kind, decide
from quantshift.errors import UserError
from quantshift.quantifying import quantify
from quantshift.quantifying.estimating.evidence import adjusted
from quantshift.quantifying.estimating.unlabelled import facts_of_chosen_method
from quantshift.quantifying.result import Shift


def test_a_result_that_may_be_chance_among_many_batches_leaves_the_interval():
    alone = Shift(rejected=True, kind=Explanation.COVARIATE, p_value=0.03)
    (one,) = adjusted([alone])
    assert decide(facts_of_chosen_method(one)).kind is Kind.RANGE
    calm = [
        Shift(rejected=False, kind=Explanation.PRIOR, p_value=p) for p in np.linspace(0.1, 0.9, 9)
    ]
    among_ten = adjusted([alone, *calm, None])
    assert among_ten[0].p_adjusted == pytest.approx(0.3)
    assert among_ten[0].n_tested == 10
    assert among_ten[-1] is None
    assert decide(facts_of_chosen_method(among_ten[0])).kind is Kind.CONDITIONAL
    clear = adjusted([Shift(rejected=True, kind=Explanation.COVARIATE, p_value=0.001), *calm])[0]
    assert decide(facts_of_chosen_method(clear)).kind is Kind.RANGE


def test_a_method_without_labelled_rows_is_refused_unless_it_is_the_mean(tmp_path):
    (tmp_path / "new.csv").write_text("p\n" + "\n".join(["0.2", "0.4"] * 20))
    asked = {"posteriors": "p", "replicates": 100}
    with pytest.raises(UserError, match="SLD needs labelled rows to learn from"):
        quantify(tmp_path / "new.csv", method="SLD", **asked)
    (by_mean,) = quantify(tmp_path / "new.csv", method="PCC", **asked).batches
    (by_default,) = quantify(tmp_path / "new.csv", **asked).batches
    (named,) = by_default.alternatives
    assert [s.estimate for s in by_mean.shares] == pytest.approx(list(named.prevalence.values()))
