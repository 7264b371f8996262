"""The shares that remain possible if the mix of items and the class shares both changed."""

import numpy as np
import pytest
from scipy.optimize import minimize

from quantshift.quantifiers.likelihood.mixed_shift import (
    MOST_ITEMS,
    OF_CLASSES,
    OF_FEATURES,
    MixedItems,
    mixed_shift,
)


def world(n, seed, *, slope=2.0, tilt=0.0, delta=0.0):
    """Items with features x, posteriors of training and labels; a tilt e^(tilt x1), then delta."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    x[:, 1] += tilt
    log_odds = slope * x[:, 0] + 0.5 * x[:, 1] - 0.5
    # exp(delta) times as many positives among items that look alike
    weights = 1 + (np.exp(delta) - 1) / (1 + np.exp(-log_odds))
    x = x[rng.choice(n, n // 4, p=weights / weights.sum())]
    log_odds = slope * x[:, 0] + 0.5 * x[:, 1] - 0.5
    q = 1 / (1 + np.exp(-log_odds))
    y = rng.random(len(x)) < 1 / (1 + np.exp(-log_odds - delta))
    return np.column_stack([1 - q, q]), x, y


def items(n, seed, **how):
    q, x, y = world(n, seed, **how)
    return MixedItems.of(q, x, None, seed=0), y.mean()


def test_both_changes_are_told_apart():
    """PCC is off by .23 to .27 where classes became more or less frequent, this by .04."""
    training, _ = items(8000, 0)
    covered = []
    for tilt, delta in ((0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (1.0, -2.0), (-1.0, 2.0)):
        errors = []
        for seed in range(1, 7):
            sample, truth = items(4000, seed, tilt=tilt, delta=delta)
            found = mixed_shift(training, sample)
            errors.append(abs(found.prevalence[1] - truth))
            assert found.high[1] - found.low[1] < 0.45
            covered.append(found.low[1] <= truth <= found.high[1])
        assert np.mean(errors) < (0.06 if delta else 0.1)
    assert np.mean(covered) >= 0.9


def test_a_poor_classifier_cannot_tell_and_says_so():
    training, _ = items(8000, 0, slope=0.2)
    sample, truth = items(4000, 1, slope=0.2, tilt=1.0, delta=1.0)
    found = mixed_shift(training, sample)
    assert found.low[1] <= truth <= found.high[1]
    assert found.high[1] - found.low[1] > 0.5


def test_the_fit_is_that_of_a_general_optimiser():
    (q, x, _), (q_new, x_new, _) = world(1200, 0), world(800, 1, tilt=0.5, delta=1.0)
    found = mixed_shift(
        MixedItems.of(q, x, None, seed=0), MixedItems.of(q_new, x_new, None, seed=0)
    )

    def loss(parameters):
        a, theta, delta = parameters[0], parameters[1:3], parameters[3:]
        total = theta @ theta / OF_FEATURES / 2 + delta @ delta / OF_CLASSES / 2
        for sign, posteriors, features in ((-1, q, x), (1, q_new, x_new)):
            log_ratio = a + features @ theta + np.log(posteriors @ np.exp(delta))
            total += np.logaddexp(0, -sign * log_ratio).sum()
        return total

    delta = minimize(loss, np.zeros(5), method="BFGS").x[3:]
    adjusted = q_new * np.exp(delta)
    expected = (adjusted / adjusted.sum(axis=1, keepdims=True)).mean(axis=0)
    assert found.prevalence == pytest.approx(expected, abs=1e-3)


def test_classes_in_another_order_have_the_same_limits():
    training, _ = items(2000, 0)
    sample, _ = items(1200, 1, tilt=0.5, delta=1.0)
    found = mixed_shift(training, sample)
    turned = mixed_shift(
        *(
            MixedItems(part.posteriors[:, ::-1], part.position, part.weights)
            for part in (training, sample)
        )
    )
    assert turned.low[::-1] == pytest.approx(found.low, abs=1e-4)
    assert turned.high[::-1] == pytest.approx(found.high, abs=1e-4)


def test_weights_count_items_and_large_sets_are_thinned():
    q, x, _ = world(400, 0)
    weights = np.repeat([3.0, 0.0], 50)
    some = MixedItems.of(q, x, weights, seed=0)
    assert some.weights.sum() == pytest.approx(50)
    kept = MixedItems.of(q[:50], x[:50], None, seed=0)
    training, _ = items(2000, 1)
    assert mixed_shift(training, some).low == pytest.approx(
        mixed_shift(training, kept).low, abs=1e-6
    )
    q, x, _ = world(5 * MOST_ITEMS, 0)
    assert len(MixedItems.of(q, x, None, seed=0).position) == MOST_ITEMS
