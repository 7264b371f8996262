import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from quantshift import PACC, DyS
from quantshift.errors import UserError
from quantshift.optimise.divergences import hellinger, squared_euclidean, topsoe
from quantshift.optimise.unimodal import minimise_unimodal
from quantshift.quantifiers import SMM, DMy, HDy
from quantshift.quantifiers.matching.matching import bin_numbers


def binary(p: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - p, p])


@given(st.integers(0, 100_000))
def test_smm_is_pacc(seed: int) -> None:
    """The paper's Appendix A: matching means and adjusting mean posteriors are one method."""
    rng = np.random.default_rng(seed)
    known, y = rng.random(60), rng.permutation([0, 1] * 30)
    samples = np.stack([binary(rng.random(rng.integers(1, 40)).repeat(2)[:2]) for _ in range(5)])
    smm = SMM().fit_posteriors(binary(known), y).estimate_posteriors(samples)
    pacc = PACC().fit_posteriors(binary(known), y).estimate_posteriors(samples)
    assert_allclose(smm.prevalence, pacc.prevalence, atol=1e-12)
    assert (smm.diagnostics["fallback"] == pacc.diagnostics["fallback"]).all()
    assert_allclose(smm.diagnostics["separation"], pacc.diagnostics["separation"], atol=1e-12)


@pytest.mark.parametrize("method", [DyS, HDy, SMM])
def test_a_mixture_of_the_training_classes_is_matched_exactly(method: type) -> None:
    rng = np.random.default_rng(0)
    negatives, positives = rng.beta(2, 5, 200), rng.beta(5, 2, 200)
    quantifier = method().fit_posteriors(
        binary(np.concatenate([negatives, positives])), [0] * 200 + [1] * 200
    )
    for k in range(5):
        sample = np.concatenate([np.tile(negatives, 4 - k), np.tile(positives, k)])
        estimate = quantifier.estimate_posteriors(binary(sample))
        assert estimate.prevalence[1] == pytest.approx(k / 4, abs=2e-6)
        if method is not SMM:
            assert estimate.diagnostics["distance"] == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("divergence", ["hellinger", "topsoe", "squared_euclidean"])
def test_search_finds_the_grid_s_minimum(divergence: str) -> None:
    rng = np.random.default_rng(1)
    known, y = np.clip(rng.normal(0.5, 0.3, 100), 0, 1), rng.permutation([0, 1] * 50)
    quantifier = DyS(divergence=divergence, n_bins=8).fit_posteriors(binary(known), y)
    measure = {"hellinger": hellinger, "topsoe": topsoe, "squared_euclidean": squared_euclidean}
    for _ in range(10):
        sample = rng.beta(*rng.uniform(0.5, 4, 2), 50)
        histogram = np.histogram(sample, bins=8, range=(0, 1))[0] / 50
        grid = np.linspace(0, 1, 4001)[:, None]
        rest, own = quantifier.histograms_[:, 0]
        values = measure[divergence](grid * own + (1 - grid) * rest, histogram)
        estimate = quantifier.estimate_posteriors(binary(sample))
        assert estimate.prevalence[1] == pytest.approx(grid[values.argmin(), 0], abs=3e-4)
        assert estimate.diagnostics["distance"] <= values.min() + 1e-9


def test_a_function_of_the_user_s_is_a_divergence() -> None:
    rng = np.random.default_rng(2)
    known, y = rng.random(80), np.array([0, 1] * 40)
    known[1::2] **= 0.5
    own = DyS(divergence=topsoe).fit_posteriors(binary(known), y)
    named = DyS(divergence="topsoe").fit_posteriors(binary(known), y)
    sample = binary(rng.random(30))
    assert_allclose(own.aggregate(sample), named.aggregate(sample))


def test_unknown_names_and_bad_numbers_are_refused() -> None:
    known, y = binary(np.linspace(0, 1, 20)), [0, 1] * 10
    with pytest.raises(UserError, match=r"got 'topso'; did you mean 'topsoe'\?"):
        DyS(divergence="topso").fit_posteriors(known, y)
    with pytest.raises(UserError, match=r"n_bins of DyS must be .* of at least 2, got 1"):
        DyS(n_bins=1).fit_posteriors(known, y)


@pytest.mark.parametrize("method", [DyS, HDy])
def test_equal_histograms_fall_back_to_the_training_prevalence(method: type) -> None:
    known, y = binary(np.array([0.3, 0.6] * 10)), [0, 0, 1, 1] * 5
    estimate = method().fit_posteriors(known, y).estimate_posteriors(binary(np.array([0.9, 0.8])))
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [0.5, 0.5])


def test_bins_are_numpy_s() -> None:
    values = np.concatenate([np.linspace(0, 1, 41), np.random.default_rng(0).random(500)])
    for n_bins in (2, 10, 110, 300):
        ours = np.bincount(bin_numbers(values, n_bins), minlength=n_bins)
        edges = np.linspace(0, 1, n_bins + 1)
        inside = np.abs(values[:, None] - edges).min(axis=1) > 1e-12
        theirs, _ = np.histogram(values[inside], bins=n_bins, range=(0, 1))
        assert (np.bincount(bin_numbers(values[inside], n_bins), minlength=n_bins) == theirs).all()
        assert ours.sum() == values.size


def test_golden_section_finds_borders_and_interiors() -> None:
    targets = np.array([-0.5, 0.0, 0.2, 0.7, 1.0, 3.0])
    found, values = minimise_unimodal(lambda x: (x - targets) ** 2, targets.shape)
    assert_allclose(found, np.clip(targets, 0, 1), atol=1e-6)
    assert_allclose(values, (found - targets) ** 2)


def test_divergences_of_equal_and_disjoint_histograms() -> None:
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.0, 1.0])
    for measure, largest in [(hellinger, 1.0), (topsoe, 2 * np.log(2)), (squared_euclidean, 1.5)]:
        assert measure(p, p) == pytest.approx(0, abs=1e-7)
        assert measure(p, q) == pytest.approx(largest)
        assert measure(np.stack([p, q]), p).shape == (2,)


@pytest.mark.parametrize("method", [DyS, HDy, DMy])
def test_items_in_bins_without_training_items_fall_back_to_the_training_prevalence(
    method: type,
) -> None:
    """All mixtures are equally far away, and a search would end at 0 or 1 by chance."""
    known, y = binary(np.array([0.05] * 6 + [0.95] * 4)), [0] * 6 + [1] * 4
    fitted = method().fit_posteriors(known, y)
    estimate = fitted.estimate_posteriors(binary(np.array([0.5, 0.55])))
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [0.6, 0.4])
    # Further items that are known determine the prevalence again.
    estimate = fitted.estimate_posteriors(binary(np.array([0.5, 0.55, 0.05, 0.05])))
    assert not estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [1, 0], atol=1e-5)


def test_hdy_ignores_numbers_of_bins_that_do_not_determine_the_prevalence() -> None:
    """Only with 10 bins does the item share a bin with training items, all of the second class."""
    known, y = binary(np.array([0.011] * 6 + [0.901] * 4)), [0] * 6 + [1] * 4
    estimate = HDy().fit_posteriors(known, y).estimate_posteriors(binary(np.array([0.999])))
    assert not estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [0, 1], atol=1e-5)


def test_a_user_s_divergence_without_a_minimum_falls_back_too() -> None:
    known, y = binary(np.array([0.05] * 6 + [0.95] * 4)), [0] * 6 + [1] * 4
    fitted = DyS(divergence=lambda p, q: hellinger(p, q)).fit_posteriors(known, y)
    estimate = fitted.estimate_posteriors(binary(np.array([0.5])))
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [0.6, 0.4])
