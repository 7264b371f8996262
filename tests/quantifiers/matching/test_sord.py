"""SORD: the closed form against a fine grid of areas, and what it falls back to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift.quantifiers import SORD
from quantshift.quantifiers.matching.sord import _weighted_median


def drawn(n: int, n_classes: int, seed: int, shares: list[float] | None = None) -> tuple:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes if shares is None else rng.choice(n_classes, n, p=shares)
    p = np.exp(rng.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[y])
    return np.round(p / p.sum(axis=1, keepdims=True), 2 if n_classes == 2 else 9), y


def areas(known: np.ndarray, own: np.ndarray, new: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """The area between mixture and sample for every weight of the grid."""
    points = np.unique(np.concatenate([known, new]))
    below = [(part[:, None] <= points).mean(axis=0) for part in (known[own], known[~own], new)]
    mixture = grid[:, None] * below[0] + (1 - grid[:, None]) * below[1]
    return (np.abs(mixture - below[2])[:, :-1] * np.diff(points)).sum(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_no_point_of_a_fine_grid_has_a_smaller_area(n_classes: int) -> None:
    """Within 5e-4, the grid's step (twice that if normalised); no area of the grid is smaller."""
    known, y = drawn(20 * n_classes, n_classes, 0)
    shares = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    pool, _ = drawn(200, n_classes, 1, list(shares))
    fitted = SORD().fit_posteriors(known, y)
    grid = np.linspace(0, 1, 2001)
    index = np.random.default_rng(2).integers(200, size=(3, 25))
    estimate = fitted.estimate_posteriors(pool, index)
    columns = [1] if n_classes == 2 else range(n_classes)
    for i, row in enumerate(index):
        by_class = [areas(known[:, k], y == k, pool[row, k], grid) for k in columns]
        shares = np.array([grid[area.argmin()] for area in by_class])
        expected = np.append(1 - shares, shares) if n_classes == 2 else shares / shares.sum()
        assert_allclose(estimate.prevalence[i], expected, atol=5e-4 if n_classes == 2 else 1e-3)
        least = np.mean([area.min() for area in by_class])
        assert estimate.diagnostics["distance"][i] <= least + 1e-12


def test_huge_samples_of_the_training_classes_give_their_prevalence() -> None:
    known, y = drawn(400, 2, 0)
    rows = np.concatenate([np.flatnonzero(y == 0)] * 4 + [np.flatnonzero(y == 1)])
    estimate = SORD().fit_posteriors(known, y).estimate_posteriors(known[rows])
    assert_allclose(estimate.prevalence, [0.8, 0.2])
    assert estimate.diagnostics["distance"] == pytest.approx(0, abs=1e-12)


def test_classes_of_equal_scores_leave_the_training_prevalence() -> None:
    for n_classes in (2, 3):
        y = np.arange(60) % n_classes
        known = np.repeat(np.full((1, n_classes), 1 / n_classes), 60, axis=0)
        estimate = SORD().fit_posteriors(known, y).estimate_posteriors(known[:7])
        assert estimate.diagnostics["fallback"]
        assert_allclose(estimate.prevalence, 1 / n_classes)


def test_whole_weights_are_repeated_items() -> None:
    rng = np.random.default_rng(1)
    for n_classes in (2, 3):
        known, y = drawn(90, n_classes, 2)
        pool, _ = drawn(90, n_classes, 3)
        w_known, w_pool = rng.integers(1, 4, (2, 90))
        again, new = np.repeat(np.arange(90), w_known), np.repeat(np.arange(90), w_pool)
        here = (
            SORD()
            .fit_posteriors(known, y, sample_weight=w_known)
            .aggregate(pool, sample_weight=w_pool)
        )
        there = SORD().fit_posteriors(known[again], y[again]).aggregate(pool[new])
        assert_allclose(here, there, atol=1e-12)


def test_the_weighted_median_is_that_of_repeated_values() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 12))
        values = rng.integers(6, size=n).astype(float)
        masses = rng.integers(1, 5, n).astype(float)
        expected = np.median(np.repeat(values, masses.astype(int)))
        assert _weighted_median(values, masses, np.empty(n)) == expected
