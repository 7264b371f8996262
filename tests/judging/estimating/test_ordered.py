"""Means of ordered classes, and how they differ between systems."""

import numpy as np
import pytest
from scipy import stats

from quantshift.errors import DataError, UserError
from quantshift.judging.estimating.differences import difference
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.estimating.ordered import mean, mean_difference
from quantshift.judging.items.judged_items import Settings
from tests.judging.made import coded

INSIST = Settings(insist=True)
OF_POPULATION = Settings(insist=True, of="population")


def graded(seed, n=1500):
    rng = np.random.default_rng(seed)
    y = rng.choice(5, size=n, p=[0.1, 0.15, 0.3, 0.3, 0.15])
    v = np.clip(y + rng.choice([-1, 0, 0, 0, 1], size=n), 0, 4)
    return rng, v, y


def test_two_classes_have_the_share_as_their_mean(judging):
    found = estimate(coded(judging.verdicts, judging.random(300)), "random")
    both = mean(found, [0, 1])
    assert both.estimate == pytest.approx(found.shares.prevalence[1])
    assert both.high - both.low == pytest.approx(
        (found.shares.high - found.shares.low)[1], rel=0.02
    )
    assert mean(found, [1, 3]).estimate == pytest.approx(1 + 2 * both.estimate)


@pytest.mark.slow
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
        found = mean(estimate(coded(v, labels, 5), design, INSIST), [1, 2, 3, 4, 5])
        covered += found.low <= 3.25 <= found.high
    # 93% of 40 is 37; three standard errors are 4.8.
    assert covered >= 33


def test_values_for_each_class(judging):
    found = estimate(coded(judging.verdicts, judging.random(100)), "random", INSIST)
    with pytest.raises(DataError, match="each of the 2 classes"):
        mean(found, [1, 2, 3])


def two_systems(seed, n=600, k=150):
    """Two systems' answers to the same questions, of which the same are labelled."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=n)
    labelled = np.isin(np.arange(n), rng.permutation(n)[:k])
    found = []
    for skill in (0.3, 0.0):
        y = np.digitize(ease + skill + 0.5 * rng.normal(size=n), [-1, 0, 1])
        v = np.clip(y + rng.choice([-1, 0, 0, 0, 1], size=n), 0, 3)
        found.append(estimate(coded(v, np.where(labelled, y, -1), 4), "random", OF_POPULATION))
    return found


def test_of_two_classes_the_means_differ_as_the_shares_do(judging):
    a = estimate(coded(judging.verdicts, judging.random(300)), "random")
    b = estimate(coded(judging.verdicts, judging.random(200)), "random", INSIST)
    for paired in (False, True):
        means, shares = (
            mean_difference(a, b, [0, 1], paired=paired),
            difference(a, b, paired=paired),
        )
        assert means.estimate == pytest.approx(shares.difference[1])
        # The limits of a mean are symmetric, those of a share are not.
        assert means.high - means.low == pytest.approx((shares.high - shares.low)[1], rel=0.03)
        assert mean_difference(a, b, [1, 3], paired=paired).estimate == pytest.approx(
            2 * means.estimate
        )


@pytest.mark.slow
def test_the_difference_of_means_is_between_its_limits_as_often_as_it_should():
    # P(ease + skill + noise > edge), summed over the edges.
    edges = np.array([-1, 0, 1])
    truth = float(
        (stats.norm.sf((edges - 0.3) / np.sqrt(1.25)) - stats.norm.sf(edges / np.sqrt(1.25))).sum()
    )
    covered, widths = np.zeros(2), np.zeros(2)
    for seed in range(60):
        a, b = two_systems(seed)
        for i, paired in enumerate((False, True)):
            found = mean_difference(a, b, [1, 2, 3, 4], paired=paired)
            covered[i] += found.low <= truth <= found.high
            widths[i] += (found.high - found.low) / 60
    # 93% of 60 is 55.8; three standard errors are 5.9.
    assert covered[1] >= 50
    # Unpaired, what both have in common is not taken off: wider, and holds more often.
    assert covered[0] >= covered[1]
    assert widths[1] < 0.8 * widths[0]


def test_means_that_cannot_be_compared(judging):
    a = estimate(coded(judging.verdicts, judging.random(300)), "random")
    b = estimate(coded(judging.verdicts, judging.random(300)), "random", Settings(level=0.9))
    with pytest.raises(UserError, match="levels"):
        mean_difference(a, b, [0, 1])
    c = estimate(coded(judging.verdicts[:500], judging.random(300)[:500]), "random", INSIST)
    with pytest.raises(DataError, match="same items"):
        mean_difference(a, c, [0, 1], paired=True)
