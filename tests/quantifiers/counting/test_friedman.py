"""Friedman's method and DeBias: the definition, the simplex, calibrated posteriors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from quantshift import PACC, PCC
from quantshift.quantifiers import DeBias, Friedman


def drawn(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    p = np.exp(rng.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[y])
    return p / p.sum(axis=1, keepdims=True), y


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_least_squares_on_the_simplex(n_classes: int) -> None:
    """Non-negative least squares with a heavy row for the sum, 1e-6 of which is lost."""
    known, y = drawn(400, n_classes, 0)
    pool, _ = drawn(200, n_classes, 1)
    fitted = Friedman().fit_posteriors(known, y)
    prior = np.bincount(y) / len(y)
    rates = np.stack([(known[y == k] >= prior).mean(axis=0) for k in range(n_classes)], axis=1)
    index = np.random.default_rng(2).integers(200, size=(10, 12))
    estimate = fitted.estimate_posteriors(pool, index)
    for i, row in enumerate(index):
        counts = (pool[row] >= prior).mean(axis=0)
        matrix = np.vstack([rates, np.full(n_classes, 1e4)])
        expected, _ = nnls(matrix, np.append(counts, 1e4))
        assert_allclose(estimate.prevalence[i], expected, atol=1e-6)
        residual = np.linalg.norm(rates @ estimate.prevalence[i] - counts)
        assert estimate.diagnostics["residual"][i] == pytest.approx(residual)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_huge_samples_of_the_training_classes_give_their_prevalence(n_classes: int) -> None:
    known, y = drawn(60 * n_classes, n_classes, 3)
    p_true = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    rows = np.concatenate([np.repeat(np.flatnonzero(y == k), k + 1) for k in range(n_classes)])
    p_hat = Friedman().fit_posteriors(known, y).aggregate(known[rows])
    assert_allclose(p_hat, p_true, atol=1e-9)


def test_posteriors_that_tell_nothing_leave_the_training_prevalence() -> None:
    for n_classes in (2, 3):
        y = np.arange(60) % n_classes
        known = np.full((60, n_classes), 1 / n_classes)
        estimate = Friedman().fit_posteriors(known, y).estimate_posteriors(known[:7])
        assert estimate.diagnostics["fallback"]
        assert_allclose(estimate.prevalence, 1 / n_classes)


def test_debias_by_hand() -> None:
    known, y = drawn(300, 2, 0)
    sample = drawn(100, 2, 1)[0][:30]
    s, prior = known[:, 1], y.mean()
    expected = prior + (sample[:, 1].mean() - prior) / (s.var() / (prior * (1 - prior)))
    estimate = DeBias().fit_posteriors(known, y).estimate_posteriors(sample)
    assert estimate.prevalence[1] == pytest.approx(expected)
    assert not estimate.diagnostics["clipped"]


def test_of_calibrated_posteriors_debias_is_pacc() -> None:
    """Each distinct posterior is the share of its items that are positive."""
    s = np.repeat([0.2, 0.5, 0.8], [100, 60, 100])
    y = np.concatenate([np.arange(n) < n * p for n, p in ((100, 0.2), (60, 0.5), (100, 0.8))])
    known = np.column_stack([1 - s, s])
    sample = known[90:200]
    expected = PACC().fit_posteriors(known, y).aggregate(sample)
    assert_allclose(DeBias().fit_posteriors(known, y).aggregate(sample), expected)
    assert expected[1] > 0.5


def test_constant_posteriors_leave_the_mean() -> None:
    constant, y = np.full((40, 2), 0.5), np.arange(40) % 2
    sample = np.array([[0.2, 0.8], [0.9, 0.1]])
    estimate = DeBias().fit_posteriors(constant, y).estimate_posteriors(sample)
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, PCC().fit_posteriors(constant, y).aggregate(sample))
