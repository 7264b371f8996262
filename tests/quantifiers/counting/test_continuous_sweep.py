"""Continuous Sweep: the integral by hand, the variance, limits, the choice of p_delta."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats

from quantshift import CC
from quantshift.errors import UserError
from quantshift.quantifiers import ContinuousSweep
from quantshift.quantifiers.counting.continuous_sweep import NODES, normal_sweep

MEANS, SPREADS, SIZES = np.array([-1.0, 1.2]), np.array([1.3, 0.8]), np.array([400.0, 300.0])


def rates(t: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    fpr, tpr = (stats.norm.sf(t, m, s) for m, s in zip(MEANS, SPREADS, strict=True))
    return tpr, fpr


def posteriors(scores: np.ndarray) -> np.ndarray:
    positive = 1 / (1 + np.exp(-scores))
    return np.column_stack([1 - positive, positive])


def test_the_interval_is_where_the_rates_differ_enough() -> None:
    sweep = normal_sweep(MEANS, SPREADS, SIZES, 0.4)
    for end in (sweep.low, sweep.high):
        tpr, fpr = rates(end)
        assert_allclose(tpr - fpr, 0.4, atol=1e-10)
    grid = np.linspace(-6, 6, 24001)
    tpr, fpr = rates(grid)
    assert sweep.best == pytest.approx(grid[(tpr - fpr).argmax()], abs=5e-4)
    assert normal_sweep(MEANS, SPREADS, SIZES, 0.99) is None


def test_the_estimate_is_the_mean_of_adjusted_counts() -> None:
    rng = np.random.default_rng(0)
    known = np.concatenate([rng.normal(-1, 1.3, 400), rng.normal(1.2, 0.8, 300)])
    y = np.repeat([0, 1], [400, 300])
    sample = np.concatenate([rng.normal(-1, 1.3, 30), rng.normal(1.2, 0.8, 10)])
    fitted = ContinuousSweep(p_delta=0.3).fit_posteriors(posteriors(known), y)
    (sweep,) = fitted.sweeps_
    fits = [(known[y == k].mean(), known[y == k].std()) for k in (0, 1)]
    t = np.linspace(sweep.low[0], sweep.high[0], 20_001)
    fpr, tpr = (stats.norm.sf(t, *fit) for fit in fits)
    assert (tpr - fpr).min() == pytest.approx(0.3, abs=1e-6)
    share = 1 - np.searchsorted(np.sort(sample), t, side="left") / len(sample)
    expected = ((share - fpr) / (tpr - fpr)).mean()
    # The sum over 20,001 thresholds is about 1e-4 off where the share has steps.
    assert fitted.aggregate(posteriors(sample))[1] == pytest.approx(expected, abs=3e-4)


@pytest.mark.parametrize("p", [0.1, 0.7])
def test_the_variance_is_the_paper_s_double_integral(p: float) -> None:
    sweep = normal_sweep(MEANS, SPREADS, SIZES, 0.3)
    low, high = float(sweep.low[0]), float(sweep.high[0])

    def covariance(u: float, v: float) -> float:
        (tpr_u, fpr_u), (tpr_v, fpr_v), (tpr, fpr) = rates(u), rates(v), rates(max(u, v))
        own = p * (tpr - tpr_u * tpr_v) + (1 - p) * (fpr - fpr_u * fpr_v)
        return float(own / ((tpr_u - fpr_u) * (tpr_v - fpr_v)))

    # Twice the half where v < u, which has no kink.
    half, _ = integrate.dblquad(covariance, low, high, low, lambda u: u, epsabs=1e-7, epsrel=1e-7)
    expected = 2 * half / (high - low) ** 2
    rest, own = sweep.variance[0]
    assert p * own + (1 - p) * rest == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_the_standard_error_is_that_of_simulations() -> None:
    """Samples of 100 with 40 positives, held-out items drawn anew: 600 of them.

    A standard deviation of 600 estimates is known to 3%, so that 12% are four standard errors; half
    of that is left for what the delta method leaves out.
    """
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [120, 80])
    found, told = [], []
    for _ in range(600):
        known = rng.normal(MEANS[y], SPREADS[y])
        new = np.repeat([0, 1], [60, 40])
        sample = rng.normal(MEANS[new], SPREADS[new])
        fitted = ContinuousSweep(p_delta=0.3).fit_posteriors(posteriors(known), y)
        estimate = fitted.estimate_posteriors(posteriors(sample))
        found.append(estimate.prevalence[1])
        told.append(estimate.diagnostics["standard_error"])
    assert np.mean(found) == pytest.approx(0.4, abs=4 * np.std(found) / np.sqrt(600) + 0.003)
    assert np.mean(told) == pytest.approx(np.std(found), rel=0.15)


def test_with_one_threshold_it_is_the_adjusted_count() -> None:
    """As p_delta goes to the largest tpr - fpr, the interval shrinks to that threshold."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 300)
    known, sample = rng.normal(MEANS[y], SPREADS[y]), rng.normal(0, 1.5, 500)
    loose = ContinuousSweep(p_delta=0.3).fit_posteriors(posteriors(known), y)
    (sweep,) = loose.sweeps_
    largest = sweep.tpr - sweep.fpr
    tight = ContinuousSweep(p_delta=largest - 1e-9).fit_posteriors(posteriors(known), y)
    expected = ((sample >= sweep.best).mean() - sweep.fpr) / largest
    assert tight.aggregate(posteriors(sample))[1] == pytest.approx(expected, abs=1e-3)


def test_the_p_delta_of_least_variance_is_chosen() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    # As many items as are held out, for which it is chosen.
    known, sample = rng.normal(MEANS[y], SPREADS[y]), rng.normal(0, 1.5, 400)
    fitted = ContinuousSweep().fit_posteriors(posteriors(known), y)
    (sweep,) = fitted.sweeps_
    told = fitted.estimate_posteriors(posteriors(sample)).diagnostics
    for p_delta in sweep.p_delta:
        fixed = ContinuousSweep(p_delta=float(p_delta)).fit_posteriors(posteriors(known), y)
        error = fixed.estimate_posteriors(posteriors(sample)).diagnostics["standard_error"]
        assert told["standard_error"] <= error + 1e-12
    assert told["p_delta"] in sweep.p_delta
    twice = fitted.estimate_posteriors(posteriors(np.tile(sample, 2))).diagnostics
    assert twice["p_delta"] == told["p_delta"]
    assert twice["standard_error"] < told["standard_error"]
    assert sweep.g.shape == (len(sweep.p_delta), NODES)


def test_huge_samples_of_the_training_classes_give_their_prevalence() -> None:
    """What the held-out scores lack of being normal is the error: 50,000 of each leave .002."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50_000)
    known = posteriors(rng.normal(MEANS[y], SPREADS[y]))
    rows = np.concatenate([np.flatnonzero(y == 0)] * 4 + [np.flatnonzero(y == 1)])
    p_hat = ContinuousSweep().fit_posteriors(known, y).aggregate(known[rows])
    assert_allclose(p_hat, [0.8, 0.2], atol=0.002)


@pytest.mark.parametrize("n_classes", [3, 10])
def test_many_classes_one_against_the_rest(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(3000) % n_classes
    p = np.exp(rng.normal(size=(3000, n_classes)) + 2 * np.eye(n_classes)[y])
    known = p / p.sum(axis=1, keepdims=True)
    fitted = ContinuousSweep().fit_posteriors(known[:2000], y[:2000])
    p_hat = fitted.aggregate(known[2000:])
    assert_allclose(p_hat, np.bincount(y[2000:]) / 1000, atol=0.06)


def test_posteriors_that_tell_nothing_are_counted() -> None:
    constant, y = np.full((40, 2), 0.5), np.arange(40) % 2
    sample = np.array([[0.2, 0.8], [0.9, 0.1], [0.3, 0.7]])
    estimate = ContinuousSweep().fit_posteriors(constant, y).estimate_posteriors(sample)
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, CC().fit_posteriors(constant, y).aggregate(sample))
    with pytest.raises(UserError, match="between 0 and 1 or None, got 2"):
        ContinuousSweep(p_delta=2).fit_posteriors(constant, y)
