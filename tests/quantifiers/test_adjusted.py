import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from quantshift import ACC, CC, PACC, PCC
from quantshift.quantifiers.adjusted import adjust


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_exact_rates_recover_the_prevalence(n_classes: int) -> None:
    """Fisher consistency: counts = rates @ p gives back p, exactly."""
    rng = np.random.default_rng(n_classes)
    for _ in range(20):
        rates = rng.dirichlet(np.ones(n_classes), n_classes).T + np.eye(n_classes)
        rates /= rates.sum(axis=0)
        p = rng.dirichlet(np.ones(n_classes), 4)
        p_hat, diagnostics = adjust(p @ rates.T, rates)
        assert_allclose(p_hat, p, atol=1e-12)
        assert not diagnostics["fallback"].any()


def test_acc_with_exact_class_conditional_rates() -> None:
    """Samples whose items repeat the training rates class by class are recovered exactly."""
    negatives, positives = [[0.9, 0.1]] * 8 + [[0.2, 0.8]] * 2, [[0.3, 0.7]] * 9 + [[0.6, 0.4]] * 1
    quantifier = ACC().fit_posteriors(negatives + positives, [0] * 10 + [1] * 10)
    for n_negatives, n_positives in [(1, 0), (0, 1), (3, 1), (1, 4)]:
        sample = negatives * n_negatives + positives * n_positives
        p = n_positives / (n_negatives + n_positives)
        assert quantifier.aggregate(sample)[1] == pytest.approx(p, abs=1e-12)


def test_closed_form_and_clipping() -> None:
    # tpr = .8, fpr = .2
    known = [[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 2 + [[0.1, 0.9]] * 8 + [[0.9, 0.1]] * 2
    quantifier = ACC().fit_posteriors(known, [0] * 10 + [1] * 10)
    assert_allclose(quantifier.rates_, [[0.8, 0.2], [0.2, 0.8]])
    estimate = quantifier.estimate_posteriors(
        [[[0.9, 0.1]] * 10, [[0.9, 0.1]] * 5 + [[0.1, 0.9]] * 5, [[0.1, 0.9]] * 10]
    )
    assert_allclose(estimate.prevalence[:, 1], [0, 0.5, 1])
    assert estimate.diagnostics["clipped"].tolist() == [True, False, True]
    assert_allclose(estimate.diagnostics["separation"], 0.6)


@pytest.mark.parametrize(("adjusted", "plain"), [(ACC, CC), (PACC, PCC)])
def test_equal_rates_fall_back_and_say_so(adjusted: type, plain: type) -> None:
    known, y = [[0.7, 0.3], [0.2, 0.8]] * 10, [0, 0, 1, 1] * 5
    sample = [[0.6, 0.4], [0.1, 0.9], [0.3, 0.7]]
    estimate = adjusted().fit_posteriors(known, y).estimate_posteriors(sample)
    assert estimate.diagnostics["fallback"]
    assert estimate.diagnostics["separation"] == pytest.approx(0)
    assert_allclose(estimate.prevalence, plain().fit_posteriors(known, y).aggregate(sample))


def test_multiclass_fallback() -> None:
    rates = np.array([[0.5, 0.5, 0.1], [0.3, 0.3, 0.2], [0.2, 0.2, 0.7]])
    counts = np.array([[0.2, 0.3, 0.5]])
    p_hat, diagnostics = adjust(counts, rates)
    assert_allclose(p_hat, counts)
    assert diagnostics["fallback"].all()


@given(st.integers(0, 10_000), st.integers(3, 5))
def test_simplex_least_squares_is_optimal(seed: int, n_classes: int) -> None:
    """No point of the simplex, nor a general optimiser, beats the solution."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.ones(n_classes), n_classes).T
    counts = rng.dirichlet(np.full(n_classes, 0.3), 1)
    if np.linalg.svd(rates, compute_uv=False)[-1] < 0.02:
        return
    p_hat, _ = adjust(counts, rates)

    def loss(p: np.ndarray) -> float:
        return float(((rates @ p - counts[0]) ** 2).sum())

    found = minimize(
        loss,
        np.full(n_classes, 1 / n_classes),
        bounds=[(0, 1)] * n_classes,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert loss(p_hat[0]) <= loss(found.x) + 1e-10
    assert p_hat.min() >= 0
    assert p_hat.sum() == pytest.approx(1)


@given(st.integers(0, 10_000))
def test_binary_closed_form_equals_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tpr, fpr, count = rng.random(3)
    if abs(tpr - fpr) < 0.01:
        return
    p_hat, _ = adjust(np.array([[1 - count, count]]), np.array([[1 - fpr, 1 - tpr], [fpr, tpr]]))
    grid = np.linspace(0, 1, 2001)
    residual = np.abs(grid * tpr + (1 - grid) * fpr - count)
    assert p_hat[0, 1] == pytest.approx(grid[residual.argmin()], abs=5.1e-4)
