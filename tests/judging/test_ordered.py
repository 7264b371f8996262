"""Means of ordered classes."""

import numpy as np
import pytest

from quantshift.errors import DataError
from quantshift.judging.estimation import estimate
from quantshift.judging.ordered import mean


def graded(seed, n=1500):
    rng = np.random.default_rng(seed)
    y = rng.choice(5, size=n, p=[0.1, 0.15, 0.3, 0.3, 0.15])
    v = np.clip(y + rng.choice([-1, 0, 0, 0, 1], size=n), 0, 4)
    return rng, v, y


def test_two_classes_have_the_share_as_their_mean(judging):
    found = estimate(judging.verdicts, judging.random(300), 2, design="random")
    both = mean(found, [0, 1])
    assert both.mean == pytest.approx(found.prevalence[1])
    assert both.high - both.low == pytest.approx((found.high - found.low)[1], rel=0.02)
    assert mean(found, [1, 3]).mean == pytest.approx(1 + 2 * both.mean)


@pytest.mark.parametrize("design", ["random", "by-verdict", "by-label"])
def test_the_mean_grade_is_between_its_limits_as_often_as_it_should(design):
    covered = 0
    for seed in range(40):
        rng, v, y = graded(seed)
        by = {"random": np.zeros_like(y), "by-verdict": v, "by-label": y}[design]
        labels = np.full(len(y), -1)
        for group in np.unique(by):
            rows = rng.permutation(np.flatnonzero(by == group))[: 150 // len(np.unique(by))]
            labels[rows] = y[rows]
        found = mean(estimate(v, labels, 5, design=design, insist=True), [1, 2, 3, 4, 5])
        covered += found.low <= 3.25 <= found.high
    # 93% of 40 is 37; three standard errors are 4.8.
    assert covered >= 33


def test_values_for_each_class(judging):
    found = estimate(judging.verdicts, judging.random(100), 2, design="random", insist=True)
    with pytest.raises(DataError, match="each of the 2 classes"):
        mean(found, [1, 2, 3])
