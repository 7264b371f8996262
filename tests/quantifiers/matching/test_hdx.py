"""HDx: its histograms by hand, what it falls back to, samples of any size, what it refuses."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from quantshift import PriorShift, evaluate
from quantshift.errors import DataError, UserError
from quantshift.optimise.divergences import hellinger
from quantshift.optimise.unimodal import minimise_unimodal
from quantshift.quantifiers import HDx
from quantshift.quantifiers.matching import hdx
from quantshift.quantifiers.matching.matching import HDY_BINS, match_together


def drawn(n: int, shares: list[float], seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(len(shares), n, p=shares)
    return rng.normal(size=(n, 3)) + 1.5 * np.eye(len(shares), 3)[y], y


@pytest.mark.parametrize("shares", [[0.7, 0.3], [0.2, 0.3, 0.5]])
def test_prevalences_are_found(shares: list[float]) -> None:
    n_classes = len(shares)
    fitted = HDx().fit(*drawn(3000, [1 / n_classes] * n_classes, 0))
    X, y = drawn(2000, shares, 1)
    p_true = np.bincount(y, minlength=n_classes) / len(y)
    assert_allclose(fitted.predict(X), p_true, atol=0.05)


def test_the_estimate_is_the_median_of_the_best_matches() -> None:
    X, y = drawn(400, [0.5, 0.5], 0)
    sample, _ = drawn(150, [0.8, 0.2], 1)
    estimate = HDx().fit(X, y).estimate(sample)
    low, high = X.min(axis=0), X.max(axis=0)
    found, distances = [], []
    grid = np.linspace(0, 1, 2001)
    for n_bins in HDY_BINS:
        total = np.zeros(len(grid))
        for j in range(X.shape[1]):
            counts = [
                np.histogram(part, bins=n_bins, range=(low[j], high[j]))[0]
                for part in (X[y == 0, j], X[y == 1, j], np.clip(sample[:, j], low[j], high[j]))
            ]
            rest, own, new = (c / c.sum() for c in counts)
            mixture = grid[:, np.newaxis] * own + (1 - grid[:, np.newaxis]) * rest
            total += np.sqrt(np.maximum(1 - np.sqrt(mixture * new).sum(axis=1), 0))
        found.append(grid[total.argmin()])
        distances.append(total.min() / X.shape[1])
    assert estimate.prevalence[1] == pytest.approx(np.median(found), abs=1e-3)
    assert estimate.diagnostics["distance"] == pytest.approx(np.mean(distances), abs=1e-5)


def test_values_outside_the_training_range_are_in_the_outermost_bins() -> None:
    X, y = drawn(300, [0.5, 0.5], 0)
    fitted = HDx().fit(X, y)
    sample, _ = drawn(100, [0.5, 0.5], 1)
    inside = np.clip(sample, X.min(axis=0), X.max(axis=0))
    assert_array_equal(fitted.predict(3 * sample), fitted.predict(np.clip(3 * sample, *_range(X))))
    assert_array_equal(fitted.predict(sample), fitted.predict(inside))


def _range(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X.min(axis=0), X.max(axis=0)


def test_features_that_tell_nothing_leave_the_training_prevalence() -> None:
    X = np.tile([[1.0, 5.0], [2.0, 5.0]], (6, 1))
    estimate = HDx().fit(X, [0, 0] * 2 + [1, 1] * 4).estimate(X[:5])
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [1 / 3, 2 / 3])
    three = HDx().fit(np.tile(X, (2, 1)), [0, 0] * 4 + [1, 1] * 4 + [2, 2] * 4).estimate(X[:5])
    assert three.diagnostics["fallback"]


def test_a_constant_feature_changes_no_estimate() -> None:
    X, y = drawn(200, [0.5, 0.5], 0)
    sample, _ = drawn(80, [0.3, 0.7], 1)
    wider = [np.column_stack([part, np.full(len(part), 7.0)]) for part in (X, sample)]
    expected = HDx().fit(X, y).predict(sample)
    assert_allclose(HDx().fit(wider[0], y).predict(wider[1]), expected, atol=1e-5)


def test_two_valleys_do_not_mislead_the_search() -> None:
    """The mean of three distances has its least value at 8/9 and a valley at 1/3."""
    classes = np.array([[[1.0, 0.0], [0.0, 1.0], [0.1, 0.9]], [[0.1, 0.9], [0.0, 1.0], [1.0, 0.0]]])
    samples = np.array([[[0.7, 0.3], [1.0, 0.0], [0.9, 0.1]]])

    def distance(share: np.ndarray) -> np.ndarray:
        mixture = np.tensordot(np.stack([1 - share, share], axis=-1), classes, axes=1)
        return hellinger(mixture, samples).mean(axis=-1)

    assert minimise_unimodal(distance, (1,))[0][0] == pytest.approx(1 / 3, abs=1e-5)
    share, least = match_together(samples, classes, hellinger)
    assert share[0] == pytest.approx(8 / 9, abs=1e-5)
    assert least[0] <= distance(np.linspace(0, 1, 1001)).min()


def test_frames_and_sparse_matrices_are_features() -> None:
    X, y = drawn(200, [0.5, 0.5], 0)
    sample, _ = drawn(80, [0.3, 0.7], 1)
    expected = HDx().fit(X, y).predict(sample)
    assert_array_equal(HDx().fit(csr_array(X), y).predict(csr_array(sample)), expected)
    assert_array_equal(HDx().fit(pd.DataFrame(X), y).predict(pd.DataFrame(sample)), expected)


def test_evaluate_and_intervals() -> None:
    fitted = HDx().fit(*drawn(500, [0.5, 0.5], 0))
    X, y = drawn(1000, [0.5, 0.5], 1)
    frame = evaluate(fitted, PriorShift(test_size=100, test_repeats=2), X, y)
    assert frame["ae"].mean() < 0.1
    sample, truth = drawn(300, [0.7, 0.3], 2)
    interval = fitted.predict_interval(sample, n_bootstrap=20)
    assert interval.low[1] < truth.mean() < interval.high[1]
    assert 0.05 < interval.high[1] - interval.low[1] < 0.4


def test_many_features_are_matched_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = HDx().fit(*drawn(200, [0.5, 0.5], 0))
    X, _ = drawn(300, [0.4, 0.6], 1)
    index = np.random.default_rng(0).integers(300, size=(7, 40))
    whole = fitted.estimate(X, index)
    monkeypatch.setattr(hdx, "MOST_BINS", 2 * 3 * 110)
    parts = fitted.estimate(X, index)
    assert_array_equal(parts.prevalence, whole.prevalence)
    assert_array_equal(parts.diagnostics["distance"], whole.diagnostics["distance"])


def test_what_cannot_be_matched_is_refused() -> None:
    X, y = drawn(50, [0.5, 0.5], 0)
    fitted = HDx().fit(X, y)
    with pytest.raises(DataError, match="2 features, but HDx is expecting 3"):
        fitted.predict(X[:, :2])
    with pytest.raises(DataError, match="finite numbers"):
        HDx().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(UserError, match="numeric features"):
        HDx().fit(np.array([["a"], ["b"]] * 4), [0, 1] * 4)
    with pytest.raises(UserError, match="1001 are more than 1000: reduce them"):
        HDx().fit(csr_array((4, 1001)), [0, 1, 0, 1])
    with pytest.raises(UserError, match="HDx cannot be computed from posteriors"):
        evaluate(fitted, PriorShift(test_size=5), np.full((50, 2), 0.5), y, posteriors=True)
