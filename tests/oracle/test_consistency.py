"""Statistical truths with a known generator: who is unbiased under which shift.

Two categories of Gaussian items with P(y | x) known in closed form. Fixed seeds; the bounds are
four standard errors of the mean signed error.
"""

import numpy as np
import pytest

from quantshift import ACC, CC, PACC, PCC, SLD, DyS
from quantshift.quantifiers import SMM, HDy

N_SAMPLES, SIZE = 400, 500
SPREAD = 1.5


def draw(rng: np.random.Generator, p: float, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Items of prevalence p (each label independent) and their true posteriors at prior 1/2."""
    y = (rng.random(shape) < p).astype(int)
    x = rng.normal(2.0 * y - 1, SPREAD)
    positive = 1 / (1 + np.exp(-2 * x / SPREAD**2))
    return np.stack([1 - positive, positive], axis=-1), y


def mean_and_error(difference: np.ndarray) -> tuple[float, float]:
    return float(difference.mean()), float(difference.std() / np.sqrt(difference.size))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
@pytest.mark.parametrize(
    "quantifier", [SLD(calibration="none"), PACC(), ACC(), SMM(), DyS()], ids=repr
)
def test_unbiased_under_prior_shift(quantifier: object, p: float) -> None:
    rng = np.random.default_rng(0)
    # 200,000 training items: what is left of bias is the method's, not the training set's.
    known, y = draw(rng, 0.5, (200_000,))
    samples, labels = draw(rng, p, (N_SAMPLES, SIZE))
    p_hat = quantifier.fit_posteriors(known, y).aggregate(samples)[:, 1]  # type: ignore[attr-defined]
    bias, error = mean_and_error(p_hat - labels.mean(axis=1))
    # Clipping at 0 and the curvature of a divergence leave a bias of second order in 1 / SIZE.
    assert abs(bias) < 4 * error + (0.004 if isinstance(quantifier, DyS) else 0.001)


@pytest.mark.parametrize("p", [0.1, 0.8])
def test_hdy_s_bias_vanishes_as_samples_grow(p: float) -> None:
    """With 110 bins and few items most bins are nearly empty, and the root of a small count is
    biased: a property of the method (QuaPy's HDy has it too), gone with many items."""
    rng = np.random.default_rng(0)
    known, y = draw(rng, 0.5, (200_000,))
    quantifier = HDy().fit_posteriors(known, y)
    biases = []
    for n_samples, size in [(200, 200), (20, 50_000)]:
        samples, labels = draw(rng, p, (n_samples, size))
        p_hat = quantifier.aggregate(samples)[:, 1]
        biases.append(abs(float((p_hat - labels.mean(axis=1)).mean())))
    assert biases[0] > 0.01
    assert biases[1] < 0.003


@pytest.mark.parametrize("p", [0.1, 0.8])
@pytest.mark.parametrize("quantifier", [CC(), PCC()], ids=repr)
def test_counting_is_biased_towards_the_training_prevalence(quantifier: object, p: float) -> None:
    rng = np.random.default_rng(1)
    known, y = draw(rng, 0.5, (2_000,))
    samples, labels = draw(rng, p, (N_SAMPLES, SIZE))
    p_hat = quantifier.fit_posteriors(known, y).aggregate(samples)[:, 1]  # type: ignore[attr-defined]
    bias, error = mean_and_error(p_hat - labels.mean(axis=1))
    assert np.sign(bias) == np.sign(0.5 - p)
    assert abs(bias) > 10 * error


def test_pcc_is_unbiased_under_pure_covariate_shift_and_sld_is_not() -> None:
    """P(x) moves, P(y | x) stays: drop items at random by x alone."""
    rng = np.random.default_rng(2)
    pool, labels = draw(rng, 0.5, (400_000,))
    keep = np.flatnonzero(rng.random(len(pool)) < np.where(pool[:, 1] > 0.4, 1.0, 0.3))
    index = rng.choice(keep, (N_SAMPLES, SIZE))
    p_true = labels[index].mean(axis=1)
    assert abs(p_true.mean() - 0.5) > 0.05
    known, y = draw(rng, 0.5, (2_000,))
    pcc = PCC().fit_posteriors(known, y).aggregate(pool, index)[:, 1]
    bias, error = mean_and_error(pcc - p_true)
    assert abs(bias) < 4 * error
    sld = SLD(calibration="none").fit_posteriors(known, y).aggregate(pool, index)[:, 1]
    bias, error = mean_and_error(sld - p_true)
    assert abs(bias) > 10 * error
