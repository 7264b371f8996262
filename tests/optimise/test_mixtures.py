"""More than two classes: one prevalence for all channels, at the minimum of the divergence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import rel_entr

from quantshift import PACC, DyS
from quantshift.optimise.divergences import DIVERGENCES, topsoe
from quantshift.optimise.histogram_newton import NUMBERS, _objective, _set_derivatives
from quantshift.optimise.mixtures import match_all
from quantshift.quantifiers import SMM, HDy

LEAST = 1e-12


def hellinger_terms(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """Each bin's part of the squared Hellinger distance, less one, and derivatives by p."""
    root = np.sqrt(q / np.maximum(p, LEAST))
    return -np.sqrt(p * q), -root / 2, root / (4 * np.maximum(p, LEAST))


def topsoe_terms(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
    middle, safe = (p + q) / 2, np.maximum(p, LEAST)
    value = rel_entr(p, middle) + rel_entr(q, middle)
    return value, np.log(2 * safe / (safe + q)), q / (safe * (safe + q))


def squared_terms(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
    return (p - q) ** 2, 2 * (p - q), np.full(p.shape, 2.0)


TERMS = {
    "hellinger": hellinger_terms,
    "topsoe": topsoe_terms,
    "squared_euclidean": squared_terms,
}


def in_a_row(
    n: int, p: np.ndarray, rng: np.random.Generator, apart: float = 1.5
) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors of classes that overlap with their neighbours, and the classes."""
    y = rng.choice(len(p), n, p=p)
    distance = rng.normal(apart * y)[:, np.newaxis] - apart * np.arange(len(p))
    density = np.exp(-(distance**2) / 2)
    return density / density.sum(axis=1, keepdims=True), y


@pytest.mark.parametrize("method", [DyS, HDy, SMM])
def test_a_mixture_of_the_training_classes_is_matched_exactly(method: type) -> None:
    rng = np.random.default_rng(0)
    known, _ = in_a_row(400, np.full(4, 0.25), rng)
    y = np.repeat(np.arange(4), 100)
    quantifier = method().fit_posteriors(known, y)
    for copies in ([1, 1, 1, 1], [4, 0, 1, 2], [0, 3, 0, 1], [0, 0, 2, 0]):
        sample = np.concatenate([np.tile(known[y == k], (n, 1)) for k, n in enumerate(copies)])
        estimate = quantifier.estimate_posteriors(sample)
        assert_allclose(estimate.prevalence, np.array(copies) / sum(copies), atol=3e-6)
        if method is not SMM:
            assert estimate.diagnostics["distance"] == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("method", [DyS, SMM])
def test_the_rest_need_not_be_mixed_as_in_training(method: type) -> None:
    """With one class against the rest the error here was .07 to .08, whatever the sample's size."""
    rng = np.random.default_rng(1)
    quantifier = method().fit_posteriors(*in_a_row(20_000, np.full(5, 0.2), rng))
    errors = []
    for _ in range(5):
        p = rng.dirichlet(np.full(5, 0.7))
        errors.append(np.abs(quantifier.aggregate(in_a_row(20_000, p, rng)[0]) - p).mean())
    assert np.mean(errors) < 0.02


def test_smm_is_pacc_with_any_number_of_classes() -> None:
    rng = np.random.default_rng(2)
    known, y = in_a_row(300, np.full(3, 1 / 3), rng)
    samples = np.stack([in_a_row(40, p, rng)[0] for p in rng.dirichlet(np.ones(3), 20)])
    smm, pacc = (method().fit_posteriors(known, y).aggregate(samples) for method in (SMM, PACC))
    assert_allclose(smm, pacc, atol=1e-12)


@pytest.mark.parametrize("divergence", [*TERMS, topsoe])
@given(seed=st.integers(0, 100_000), n_classes=st.integers(3, 6), size=st.integers(1, 60))
@settings(max_examples=25)
def test_no_other_prevalence_is_nearer(divergence, seed, n_classes, size) -> None:
    rng = np.random.default_rng(seed)
    classes = rng.dirichlet(np.full(5, 0.3), (n_classes, n_classes))
    samples = rng.multinomial(size, rng.dirichlet(np.ones(5)), (1, n_classes)) / size
    start = np.full(n_classes, 1 / n_classes)

    def total(p: np.ndarray) -> np.ndarray:
        mixture = np.tensordot(p, classes, axes=1)
        if not isinstance(divergence, str):
            return divergence(mixture, samples).sum(axis=-1)
        return TERMS[divergence](mixture, samples)[0].sum(axis=(-1, -2))

    found = match_all(samples, classes, divergence, start)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=1e-12)
    corners = np.eye(n_classes)
    others = np.concatenate([rng.dirichlet(np.full(n_classes, 0.5), 200), corners])
    near = [found + step * (corners - found) for step in (1e-4, 1e-3, 1e-2)]
    assert total(found)[0] <= total(np.concatenate([others, *near])).min() + 1e-8


@pytest.mark.parametrize("divergence", list(TERMS))
def test_the_slope_to_every_class_is_up_at_the_minimum(divergence: str) -> None:
    """Classes far apart, some of them nearly absent: a step too far used to be the last."""
    rng = np.random.default_rng(4)
    for n_classes in (3, 4, 6):
        known, y = in_a_row(3000, np.full(n_classes, 1 / n_classes), rng, apart=3.0)
        quantifier = DyS(divergence=divergence).fit_posteriors(known, y)
        for p in rng.dirichlet(np.full(n_classes, 0.3), 40):
            sample = in_a_row(2000, p, rng, apart=3.0)[0]
            found = quantifier.aggregate(sample)
            bins = np.minimum(sample * 10, 9).astype(int)
            histograms = np.stack([np.bincount(row, minlength=10) / 2000 for row in bins.T])
            mixture = np.tensordot(found, quantifier.histograms_, axes=1)
            _, first, _ = TERMS[divergence](mixture, histograms)
            slopes = (quantifier.histograms_ * first).sum(axis=(1, 2))
            # No prevalence is lower by more than the steepest slope (the gap of Frank and Wolfe).
            assert slopes.min() - slopes @ found > -1e-5


@pytest.mark.parametrize("name", list(TERMS))
def test_terms_add_up_to_the_divergence_and_have_its_derivatives(name: str) -> None:
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(6), 2)
    value, first, second = TERMS[name](p, q)
    whole = DIVERGENCES[name](p, q) ** 2 - 1 if name == "hellinger" else DIVERGENCES[name](p, q)
    assert value.sum() == pytest.approx(whole)
    # What is compiled is the same, but for rounding.
    here, there, room = np.empty(6), np.empty(6), np.empty(1)
    assert _objective(p, q, room, NUMBERS[name], np.empty(6)) == pytest.approx(whole, rel=1e-12)
    _set_derivatives(p, q, room, NUMBERS[name], here, there)
    assert_allclose(here, first, rtol=1e-12)
    assert_allclose(there, second, rtol=1e-12)
    h = 1e-5
    above, below = TERMS[name](p + h, q)[0], TERMS[name](p - h, q)[0]
    assert_allclose(first, (above - below) / (2 * h), rtol=1e-5, atol=1e-7)
    assert_allclose(second, (above - 2 * value + below) / h**2, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", [DyS, HDy])
def test_a_class_like_a_mixture_of_others_falls_back_to_the_training_prevalence(
    method: type,
) -> None:
    rows = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    known = np.concatenate([rows[:1].repeat(20, 0), rows[1:].repeat(20, 0), rows.repeat(5, 0)])
    y = np.repeat([0, 1, 2], [20, 20, 10])
    estimate = method().fit_posteriors(known, y).estimate_posteriors(known[:30])
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [0.4, 0.4, 0.2])


@pytest.mark.parametrize("divergence", ["hellinger", "topsoe"])
def test_shares_that_a_sample_does_not_determine_do_not_depend_on_the_order(
    divergence: str,
) -> None:
    """Classes 1 and 2 have the same share in the only bin of the sample, so only their sum counts.

    With a heavier constraint on the sum, rounding would move the shares by more than .001.
    """
    rng = np.random.default_rng(0)
    for _ in range(30):
        classes = rng.dirichlet(np.full(8, 0.4), size=(4, 3))
        classes[1:3, :, 0] = 0.3
        classes[1:3, :, 1:] *= 0.7 / classes[1:3, :, 1:].sum(axis=-1, keepdims=True)
        sample = np.zeros((1, 3, 8))
        sample[..., 0] = 1.0
        p = match_all(sample, classes, divergence, np.full(4, 0.25))[0]
        assert p[1] == pytest.approx(p[2], abs=1e-4)
        order = rng.permutation(4)
        again = match_all(sample, classes[order], divergence, np.full(4, 0.25))[0]
        assert_allclose(again, p[order], atol=1e-4)
