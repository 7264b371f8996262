"""Which of two is better: probabilities by limits, and the labels that decide."""

import numpy as np
import pytest
from scipy import stats

from quantshift.judging.estimating.differences import (
    LabelVariance,
    difference,
    labels_to_decide,
    p_value_of,
    probability_above,
)
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import Settings
from tests.judging.made import coded

Z, Z_POWER = stats.norm.ppf([0.975, 0.8])


@pytest.mark.parametrize("d", [-0.08, -0.01, 0.03, 0.2])
def test_with_symmetric_limits_it_is_the_z_test(d):
    error = 0.04
    probability = probability_above(d, d - Z * error, d + Z * error, 0.95, 0.0)
    assert probability == pytest.approx(stats.norm.cdf(d / error))
    p_value = p_value_of(d, d - Z * error, d + Z * error, 0.95, 0.0)
    assert p_value == pytest.approx(2 * stats.norm.sf(abs(d) / error))


def test_the_limit_on_the_side_of_the_bound_decides():
    assert probability_above(0.6, 0.5, 0.9, 0.9, 0.5) == pytest.approx(0.95)
    assert probability_above(0.4, 0.0, 0.5, 0.9, 0.5) == pytest.approx(0.05)
    assert probability_above(0.5, 0.4, 0.9, 0.95, 0.5) == 0.5
    assert probability_above(0.6, 0.6, 0.6, 0.95, 0.5) == 1.0


def test_labels_to_decide_are_those_of_the_textbook():
    """n = (z + z_power)^2 variance / d^2, as for any mean."""
    k, variance, d = 100, 0.25, 0.05
    distance = Z * np.sqrt(variance / k)
    of_labels = LabelVariance(variance / k, 0.0, k, None, False)
    expected = (Z + Z_POWER) ** 2 * variance / d**2
    assert labels_to_decide(d, distance, 0.95, of_labels) == int(np.ceil(expected))
    assert labels_to_decide(-d, distance, 0.95, of_labels) == int(np.ceil(expected))


def test_labels_to_decide_of_items_that_are_all_there_is():
    """The variance falls with 1 / k - 1 / n: labels of all items decide anything."""
    k, n, d = 100, 400, 0.02
    by_labels = 0.25 * (1 / k - 1 / n)
    made_of = LabelVariance(by_labels, 0.0, k, n, True)
    found = labels_to_decide(d, Z * np.sqrt(by_labels), 0.95, made_of)
    left = np.sqrt(0.25 * (1 / found - 1 / n))
    assert (Z + Z_POWER) * left == pytest.approx(d, rel=0.05)
    assert found < n


def test_what_labels_cannot_decide():
    small = LabelVariance(0.0001, 0.01, 100, 1000, False)
    assert labels_to_decide(0.05, 0.2, 0.95, small) is None
    labels_alone = LabelVariance(0.01, 0.0, 100, 1000, False)
    assert labels_to_decide(0.05, 0.04, 0.95, labels_alone) is None, "it is decided"
    assert labels_to_decide(0.0, 0.04, 0.95, labels_alone) is None, "there is no difference"
    assert labels_to_decide(0.001, 0.2, 0.95, labels_alone) is None, "there are not so many items"
    without_errors = LabelVariance(0.0, 0.0, 50, 1000, True)
    assert labels_to_decide(0.02, 0.02 * (Z + Z_POWER) / Z, 0.95, without_errors) == pytest.approx(
        50 * ((Z + Z_POWER) / Z) ** 2, abs=1
    )


@pytest.mark.slow
def test_p_values_of_the_true_difference_are_those_of_chance():
    """Two systems on the same questions, 120 of which are labelled: 200 draws."""
    rng, p_values = np.random.default_rng(3), []
    for _ in range(200):
        ease, rows = rng.random(500), rng.choice(500, 120, replace=False)
        judged, truth = [], []
        for skill in (0.3, 0.4):
            y = (ease + rng.normal(0, 0.3, 500) > skill).astype(np.int64)
            said = np.where(rng.random(500) < 0.85, y, 1 - y)
            labels = np.full(500, -1)
            labels[rows] = y[rows]
            judged.append(estimate(coded(said, labels), "random", Settings(insist=True)))
            truth.append(y.mean())
        apart = difference(*judged, paired=True)
        limits = (float(part[1]) for part in (apart.difference, apart.low, apart.high))
        p_values.append(p_value_of(*limits, 0.95, truth[0] - truth[1]))
    assert 0.01 <= np.mean(np.array(p_values) < 0.05) <= 0.09
    assert 0.12 <= np.mean(np.array(p_values) < 0.2) <= 0.28
