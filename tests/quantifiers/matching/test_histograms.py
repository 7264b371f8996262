"""DMy and DMx: fine grids of prevalences, distribution functions, features outside the range."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from quantshift import DyS
from quantshift.errors import DataError, UserError
from quantshift.optimise.divergences import squared_euclidean
from quantshift.quantifiers import DMx, DMy, HDx
from quantshift.quantifiers.matching import histograms


def drawn(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    p = np.exp(rng.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[y])
    return p / p.sum(axis=1, keepdims=True), y


def mean_divergence(p: np.ndarray, known: np.ndarray, y: np.ndarray, sample: np.ndarray,
                    ends: list, n_bins: int, name: str, cdf: bool) -> np.ndarray:  # fmt: skip
    """The mean over columns of the divergence of each mixture p (n, n_classes)."""
    total = 0.0
    for k, span in ends:
        parts = [known[y == c, k] for c in range(p.shape[1])] + [np.clip(sample[:, k], *span)]
        h = np.array([np.histogram(part, n_bins, span)[0] / len(part) for part in parts])
        h = h.cumsum(axis=1) if cdf else h
        mixture, new = p @ h[:-1], h[-1]
        if name == "hellinger":
            total = total + np.sqrt(((np.sqrt(mixture) - np.sqrt(new)) ** 2).sum(axis=1) / 2)
        elif name == "squared_euclidean":
            total = total + ((mixture - new) ** 2).sum(axis=1)
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                parts = [x * np.log(2 * x / (mixture + new)) for x in (mixture, new)]
            total = total + sum(np.where(np.isfinite(x), x, 0.0).sum(axis=1) for x in parts)
    return total / len(ends)


@pytest.mark.parametrize("cdf", [False, True])
@pytest.mark.parametrize("name", ["hellinger", "topsoe", "squared_euclidean"])
def test_no_other_prevalence_is_nearer(name: str, cdf: bool) -> None:
    """A grid of step .005 (two classes) or .02 (three) over the whole simplex."""
    for n_classes, step in ((2, 200), (3, 50)):
        known, y = drawn(300, n_classes, 0)
        pool, codes = drawn(300, n_classes, 1)
        grid = np.array(
            [c for c in np.ndindex(*[step + 1] * n_classes) if sum(c) == step]
        ) / step  # fmt: skip
        fitted = DMy(divergence=name, cdf=cdf).fit_posteriors(known, y)
        ends = [(k, (0, 1)) for k in ([1] if n_classes == 2 else range(n_classes))]
        for first in range(n_classes):
            sample = np.concatenate([pool[codes == first][:60], pool[codes == 1][:20]])
            estimate = fitted.estimate_posteriors(sample)
            values = mean_divergence(grid, known, y, sample, ends, 8, name, cdf)
            least = estimate.diagnostics["distance"]
            assert least <= values.min() + 1e-6
            here = estimate.prevalence[np.newaxis]
            again = mean_divergence(here, known, y, sample, ends, 8, name, cdf)[0]
            assert least == pytest.approx(again, abs=1e-9)
            assert_allclose(estimate.prevalence, grid[values.argmin()], atol=3 / step)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("method", [DMy(), DMy(cdf=True), DMy(divergence="topsoe"), DMx()])
def test_huge_samples_of_the_training_classes_give_their_prevalence(
    method: DMy | DMx, n_classes: int
) -> None:
    """To the search's tolerance of 1e-6; of Hellinger distances near zero to 2e-3 or better."""
    known, y = drawn(60 * n_classes, n_classes, 3)
    p_true = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    rows = np.concatenate([np.repeat(np.flatnonzero(y == k), k + 1) for k in range(n_classes)])
    if isinstance(method, DMy):
        p_hat = method.fit_posteriors(known, y).aggregate(known[rows])
    else:
        p_hat = method.fit(known, y).predict(known[rows])
    assert_allclose(p_hat, p_true, atol=2e-3)


def test_of_two_classes_dmy_is_dys() -> None:
    known, y = drawn(200, 2, 0)
    pool, _ = drawn(100, 2, 1)
    index = np.arange(100).reshape(4, 25)
    for name in ("hellinger", "topsoe"):
        options = {"n_bins": 8, "divergence": name}
        expected = DyS(**options).fit_posteriors(known, y).aggregate(pool, index)
        assert_array_equal(DMy(**options).fit_posteriors(known, y).aggregate(pool, index), expected)


def test_a_divergence_may_be_a_function() -> None:
    for n_classes in (2, 3):
        known, y = drawn(200, n_classes, 0)
        sample = drawn(100, n_classes, 1)[0][:40]
        by_name = DMy(divergence="squared_euclidean").fit_posteriors(known, y).aggregate(sample)
        given = DMy(divergence=squared_euclidean).fit_posteriors(known, y).aggregate(sample)
        assert_allclose(given, by_name, atol=1e-4)


def features(n: int, shares: list[float], seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(len(shares), n, p=shares)
    return rng.normal(size=(n, 3)) + 1.5 * np.eye(len(shares), 3)[y], y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_features_are_matched_within_the_training_range(n_classes: int) -> None:
    X, y = features(300, [1 / n_classes] * n_classes, 0)
    sample, _ = features(150, [0.7, 0.3, 0.0][:n_classes], 1)
    fitted = DMx().fit(X, y)
    low, high = X.min(axis=0), X.max(axis=0)
    assert_array_equal(fitted.predict(3 * sample), fitted.predict(np.clip(3 * sample, low, high)))
    step = 200 if n_classes == 2 else 50
    grid = np.array([c for c in np.ndindex(*[step + 1] * n_classes) if sum(c) == step]) / step
    ends = [(k, (low[k], high[k])) for k in range(3)]
    values = mean_divergence(grid, X, y, sample, ends, 8, "hellinger", False)
    estimate = fitted.estimate(sample)
    assert estimate.diagnostics["distance"] <= values.min() + 1e-6
    assert_allclose(estimate.prevalence, grid[values.argmin()], atol=3 / step)


def test_classes_that_look_alike_leave_the_training_prevalence() -> None:
    y = np.arange(60) % 3
    estimate = DMy().fit_posteriors(np.full((60, 3), 1 / 3), y).estimate_posteriors(np.eye(3))
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, 1 / 3)
    X = np.tile([[1.0, 5.0], [2.0, 5.0]], (6, 1))
    estimate = DMx().fit(X, [0, 0] * 2 + [1, 1] * 4).estimate(X[:5])
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [1 / 3, 2 / 3])


def test_samples_are_matched_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = features(200, [0.5, 0.5], 0)
    fitted = DMx().fit(X, y)
    index = np.random.default_rng(0).integers(200, size=(7, 40))
    whole = fitted.predict(X, index)
    monkeypatch.setattr(histograms, "MOST_BINS", 2 * 2 * 3 * 8)
    assert_array_equal(fitted.predict(X, index), whole)


def test_hdx_is_dmx_s_median() -> None:
    X, y = features(300, [0.5, 0.5], 0)
    sample, _ = features(100, [0.8, 0.2], 1)
    found = [DMx(n_bins=b).fit(X, y).predict(sample)[1] for b in range(10, 111, 10)]
    assert HDx().fit(X, y).predict(sample)[1] == pytest.approx(np.median(found), abs=1e-5)


def test_what_cannot_be_matched_is_refused() -> None:
    X, y = features(50, [0.5, 0.5], 0)
    with pytest.raises(DataError, match="2 features, but DMx is expecting 3"):
        DMx().fit(X, y).predict(X[:, :2])
    with pytest.raises(UserError, match="DMx needs numeric features"):
        DMx().fit(np.array([["a"], ["b"]] * 4), [0, 1] * 4)
    with pytest.raises(UserError, match=r"n_bins of DMx must be .* of at least 2, got 1"):
        DMx(n_bins=1).fit(X, y)
    with pytest.raises(UserError, match="divergence of DMy must be"):
        DMy(divergence="helinger").fit_posteriors(np.full((4, 2), 0.5), [0, 1, 0, 1])
