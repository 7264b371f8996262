"""BCTS, VS and NBVS: the minimum of a convex loss, with slopes of at least zero."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from quantshift.classify.calibration.calibration import CALIBRATIONS
from quantshift.classify.calibration.scaling import fit_bcts, fit_nbvs, fit_vs, logits_of

FITS = {"bcts": fit_bcts, "vs": fit_vs, "nbvs": fit_nbvs}


def drawn(n: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors that are too sure and lean towards some classes, and true classes."""
    rng = np.random.default_rng(seed)
    honest = rng.dirichlet(np.ones(n_classes), n)
    codes = (rng.random((n, 1)) > honest.cumsum(axis=1)).sum(axis=1)
    loud = honest**2 * rng.uniform(0.5, 2.0, n_classes)
    return loud / loud.sum(axis=1, keepdims=True), codes


def test_parameters_are_recovered() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, (100_000, 3))
    posteriors, offsets = softmax(logits, axis=1), np.array([0.5, -0.3, -0.2])
    truth = softmax(logits_of(posteriors) / 2 + offsets, axis=1)
    codes = (rng.random((len(truth), 1)) > truth.cumsum(axis=1)).sum(axis=1)
    fitted = fit_bcts(posteriors, codes)
    assert_allclose(fitted.slopes, 0.5, atol=0.01)
    assert_allclose(fitted.offsets, offsets, atol=0.03)
    assert_allclose(fit_vs(posteriors, codes).slopes, 0.5, atol=0.02)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_no_general_optimiser_finds_a_lower_loss(name: str, n_classes: int) -> None:
    """Also where slopes want to be negative: the posteriors of two classes are exchanged."""
    posteriors, codes = drawn(600, n_classes)
    posteriors[:, [0, 1]] = posteriors[:, [1, 0]]
    fitted = FITS[name](posteriors, codes)
    logits, k = logits_of(posteriors), n_classes

    def loss(theta: np.ndarray) -> float:
        each = fitted.design @ theta
        return float(-log_softmax(logits * each[:k] + each[k:], 1)[np.arange(600), codes].sum())

    slopes = fitted.design[:k].any(axis=0)
    bounds = [(0, None) if slope else (None, None) for slope in slopes]
    best = minimize(loss, slopes.astype(float), bounds=bounds, options={"maxiter": 500})
    # The pull towards the posteriors as they are is worth less than a thousandth of an item.
    assert loss(fitted.parameters) <= best.fun + 1e-3
    assert (fitted.slopes >= 0).all()


@pytest.mark.parametrize("name", ["bcts", "vs"])
def test_the_mean_of_the_calibrated_posteriors_is_the_prevalence(name: str) -> None:
    posteriors, codes = drawn(500, 4)
    mean = FITS[name](posteriors, codes)(posteriors).mean(axis=0)
    assert_allclose(mean, np.bincount(codes) / 500, atol=1e-5)


def test_auto_takes_bcts_of_many_classes_that_are_too_sure() -> None:
    posteriors, codes = drawn(3000, 5)
    assert_allclose(
        CALIBRATIONS["auto"](posteriors, codes)(posteriors), fit_bcts(posteriors, codes)(posteriors)
    )


@pytest.mark.parametrize("name", ["sigmoid", "beta", "smooth", "temperature", "bcts", "vs", "nbvs"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_ends_at_its_minimum_and_not_where_the_loss_is_flat_to_rounding(
    name: str, n_classes: int
) -> None:
    """Steps that the loss could not confirm were refused: answers differed by up to 1e-7."""
    for seed in range(20):
        posteriors, codes = drawn(60, n_classes, seed)
        order = np.random.default_rng(seed).permutation(60)
        one = CALIBRATIONS[name](posteriors, codes)(posteriors)
        other = CALIBRATIONS[name](posteriors[order], codes[order])(posteriors)
        assert_allclose(one, other, rtol=0, atol=1e-12)
