"""CDE: the iteration in plain Python, and what it does at the border."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift.quantifiers import CDE


def drawn(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    p = np.exp(rng.normal(size=(n, n_classes)) + 2.5 * np.eye(n_classes)[y])
    return p / p.sum(axis=1, keepdims=True), y


def by_hand(scores: np.ndarray, prior: float) -> float:
    threshold, last = 0.5, None
    while True:
        share = float((scores > threshold).mean())
        if share == last:
            return share
        cost = prior * (1 - share)
        threshold, last = cost / (cost + (1 - prior) * share), share


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_iteration(n_classes: int) -> None:
    known, y = drawn(300, n_classes, 0)
    pool, _ = drawn(200, n_classes, 1)
    fitted = CDE().fit_posteriors(known, y)
    index = np.random.default_rng(0).integers(200, size=(5, 57))
    estimate = fitted.estimate_posteriors(pool, index)
    columns = [1] if n_classes == 2 else range(n_classes)
    for row, p_hat in zip(index, estimate.prevalence, strict=True):
        shares = np.array([by_hand(pool[row, k], 1 / n_classes) for k in columns])
        expected = np.append(1 - shares, shares) if n_classes == 2 else shares / shares.sum()
        assert_allclose(p_hat, expected, atol=1e-12)
    assert estimate.diagnostics["converged"].all()


def test_a_share_of_zero_stays() -> None:
    known, y = drawn(100, 2, 0)
    estimate = CDE().fit_posteriors(known, y).estimate_posteriors(np.tile([0.9, 0.1], (20, 1)))
    assert_allclose(estimate.prevalence, [1, 0])
    hurried = CDE(max_iter=1).fit_posteriors(known, y).estimate_posteriors(known)
    assert not hurried.diagnostics["converged"]
