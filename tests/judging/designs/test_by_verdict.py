"""Labels chosen by verdict: the shares of the verdicts times their rates."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.judging.estimating.estimation import estimate
from tests.judging.made import coded


def test_labels_are_weighted_by_the_shares_of_verdicts(judging):
    labels, v = judging.by_verdict(100), judging.verdicts
    found = estimate(coded(v, labels), "by-verdict").shares
    rates = [labels[(v == c) & (labels >= 0)].mean() for c in (0, 1)]
    assert found.prevalence[1] == pytest.approx(np.bincount(v) / len(v) @ rates)


def test_a_score_in_addition_changes_nothing(judging):
    labels, v = judging.by_verdict(100), judging.verdicts
    alone, both = coded(v, labels), coded(v, labels, score=judging.score)
    assert estimate(both, "by-verdict").shares.low == pytest.approx(
        estimate(alone, "by-verdict").shares.low
    )
    with pytest.raises(UserError, match="labels by verdict need verdicts"):
        estimate(coded(None, labels, score=judging.score), "by-verdict")
