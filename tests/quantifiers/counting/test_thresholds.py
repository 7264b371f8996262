"""T50, MAX, X, MS and MS2: their definition in loops, ties, weights, what they fall back to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from quantshift import CC
from quantshift.quantifiers import MAX, MS, MS2, T50, MethodX
from quantshift.quantifiers.counting.thresholds import kth_smallest

METHODS = [T50, MAX, MethodX, MS, MS2]


def posteriors(y: np.ndarray, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    p = np.exp(rng.normal(size=(len(y), n_classes)) + 1.5 * np.eye(n_classes)[y])
    return np.round(p / p.sum(axis=1, keepdims=True), 2 if n_classes == 2 else 9)


def share_by_hand(method: type, known: np.ndarray, own: np.ndarray, new: np.ndarray) -> float:
    """Threshold by threshold, on whole numbers."""
    found = []
    n_in, n_out = int(own.sum()), int((~own).sum())
    for t in np.unique(known):
        tp, fp = int((known[own] >= t).sum()), int((known[~own] >= t).sum())
        if tp * n_out == fp * n_in:
            continue
        tpr, fpr = tp / n_in, fp / n_out
        p = min(max((np.mean(new >= t) - fpr) / (tpr - fpr), 0), 1)
        rank = {
            T50: abs(2 * tp - n_in),
            MAX: fp * n_in - tp * n_out,
            MethodX: abs((n_in - tp) * n_out - fp * n_in),
        }.get(method, 0)
        if method is not MS2 or tpr - fpr > 0.25:
            found.append((rank, p))
    if method in (MS, MS2):
        return float(np.median([p for _, p in found]))
    return min(found, key=lambda each: each[0])[1]


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("method", METHODS)
def test_the_definition(method: type, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    y = np.arange(120) % n_classes
    known = posteriors(y, n_classes, rng)
    pool = posteriors(rng.integers(n_classes, size=90), n_classes, rng)
    fitted = method().fit_posteriors(known, y)
    index = rng.integers(90, size=(2, 31))
    columns = [1] if n_classes == 2 else range(n_classes)
    for row, p_hat in zip(index, fitted.aggregate(pool, index), strict=True):
        shares = np.array(
            [share_by_hand(method, known[:, k], y == k, pool[row, k]) for k in columns]
        )
        expected = np.append(1 - shares, shares) if n_classes == 2 else shares / shares.sum()
        assert_allclose(p_hat, expected, atol=1e-12)


def test_the_lowest_of_equal_thresholds_is_taken() -> None:
    """tpr is .4 and .6 at .4 and .3: both are .1 from one half."""
    known = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.05, 0.06, 0.07, 0.08, 0.09])
    fitted = T50().fit_posteriors(np.column_stack([1 - known, known]), [1] * 5 + [0] * 5)
    assert_array_equal(fitted.thresholds_[0], [0.3])
    assert fitted.tpr_[0] == 0.6


@pytest.mark.parametrize("method", METHODS)
def test_huge_samples_of_the_training_classes_give_their_prevalence(method: type) -> None:
    """Fisher consistency: the mixture at .2 of the held-out items themselves."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    known = posteriors(y, 2, rng)
    rows = np.concatenate([np.flatnonzero(y == 0)] * 4 + [np.flatnonzero(y == 1)])
    assert_allclose(method().fit_posteriors(known, y).aggregate(known[rows]), [0.8, 0.2])


@pytest.mark.parametrize("method", METHODS)
def test_without_a_threshold_predictions_are_counted(method: type) -> None:
    constant, y = np.full((40, 3), 1 / 3), np.arange(40) % 3
    sample = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]])
    fitted = method().fit_posteriors(constant, y)
    estimate = fitted.estimate_posteriors(sample)
    assert_allclose(estimate.prevalence, CC().fit_posteriors(constant, y).aggregate(sample))
    assert estimate.diagnostics["fallback"]
    assert estimate.diagnostics["separation"] == 0


def test_ms2_needs_a_difference_of_a_quarter() -> None:
    rng = np.random.default_rng(0)
    known = rng.random(4000)
    known = np.column_stack([1 - known, known])
    y = (rng.random(4000) < 0.45 + 0.1 * known[:, 1]).astype(int)
    assert MS2().fit_posteriors(known, y).estimate_posteriors(known).diagnostics["fallback"]
    assert not MS().fit_posteriors(known, y).estimate_posteriors(known).diagnostics["fallback"]


def test_clipped_says_so() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    fitted = MAX().fit_posteriors(posteriors(y, 2, rng), y)
    low, middle = np.tile([0.99, 0.01], (20, 1)), posteriors(y[:100], 2, rng)
    assert fitted.estimate_posteriors(low).diagnostics["clipped"]
    assert fitted.aggregate(low)[1] == 0
    assert not fitted.estimate_posteriors(middle).diagnostics["clipped"]


def test_whole_weights_are_repeated_items() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    known, pool = posteriors(y, 3, rng), posteriors(y, 3, rng)
    w_known, w_pool = rng.integers(1, 4, (2, 90))
    again, new = np.repeat(np.arange(90), w_known), np.repeat(np.arange(90), w_pool)
    for method in METHODS:
        here = (
            method()
            .fit_posteriors(known, y, sample_weight=w_known)
            .aggregate(pool, sample_weight=w_pool)
        )
        there = method().fit_posteriors(known[again], y[again]).aggregate(pool[new])
        assert_allclose(here, there, atol=1e-12)


def test_selection_is_sorting() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 10, 101):
        values = rng.integers(7, size=n).astype(float)
        for k in range(n):
            mixed = values.copy()
            assert kth_smallest(mixed, k) == np.sort(values)[k]
            assert (mixed[k + 1 :] >= mixed[k]).all()
