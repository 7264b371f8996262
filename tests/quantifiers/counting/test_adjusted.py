import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from quantshift import ACC, CC, PACC, PCC
from quantshift.quantifiers.counting.adjusted import _nearest_on_simplex, adjust


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_exact_rates_recover_the_prevalence(n_classes: int) -> None:
    """Fisher consistency: counts = rates @ p gives back p, exactly."""
    rng = np.random.default_rng(n_classes)
    for _ in range(20):
        rates = rng.dirichlet(np.ones(n_classes), n_classes).T + np.eye(n_classes)
        rates /= rates.sum(axis=0)
        p = rng.dirichlet(np.ones(n_classes), 4)
        p_hat, diagnostics = adjust(p @ rates.T, rates, np.full(n_classes, 1 / n_classes))
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


def test_a_class_never_predicted_leaves_the_others_adjusted() -> None:
    """Nothing is predicted to be of class 2; counts still tell 0 from the rest."""
    rates = np.array([[0.9, 0.2, 0.7], [0.1, 0.8, 0.3], [0.0, 0.0, 0.0]])
    prior, p_true = np.array([0.3, 0.3, 0.4]), np.array([0.1, 0.1, 0.8])
    counts = rates @ p_true
    p_hat, diagnostics = adjust(counts[np.newaxis], rates, prior)
    assert_allclose(rates @ p_hat[0], counts, atol=1e-12)
    # The prevalences with these counts are a line, (5, 2, -7) in direction; the nearest of them.
    line = np.array([5.0, 2.0, -7.0])
    assert_allclose(rates @ line, 0, atol=1e-12)
    assert (p_hat[0] - prior) @ line == pytest.approx(0, abs=1e-12)
    assert diagnostics["fallback"].all()
    assert not diagnostics["clipped"].any()
    assert diagnostics["separation"] == pytest.approx(0)


def test_a_class_never_predicted_in_a_fitted_quantifier() -> None:
    """Truth .1, .1, .8; counts alone say that there is none of the last class."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [400, 400, 200])
    centre = np.array([[3.0, 0.0, -9.0], [0.0, 3.0, -9.0], [2.0, 1.0, -9.0]])[y]
    scores = centre + rng.normal(0, 1, (1000, 3)) * [1, 1, 0]
    posteriors = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert set(posteriors.argmax(axis=1)) == {0, 1}
    members = [np.flatnonzero(y == k) for k in range(3)]
    sample = np.concatenate(
        [rng.choice(m, n) for m, n in zip(members, [100, 100, 800], strict=True)]
    )
    acc = ACC().fit_posteriors(posteriors, y)
    estimate = acc.estimate_posteriors(posteriors[sample])
    counted = CC().fit_posteriors(posteriors, y).aggregate(posteriors[sample])
    assert counted[2] == 0
    assert estimate.diagnostics["fallback"]
    assert_allclose(acc.rates_ @ estimate.prevalence, counted, atol=1e-9)
    nearer = np.linalg.norm(estimate.prevalence - acc.prior_)
    assert nearer <= np.linalg.norm(np.array([0.1, 0.1, 0.8]) - acc.prior_) + 0.02


def test_equal_rates_of_all_classes_give_the_training_prevalence() -> None:
    rates, prior = np.tile([[0.2], [0.3], [0.5]], 3), np.array([0.6, 0.3, 0.1])
    p_hat, diagnostics = adjust(np.array([[0.1, 0.2, 0.7]]), rates, prior)
    assert_allclose(p_hat, [prior], atol=1e-12)
    assert diagnostics["fallback"].all()


def test_classes_of_equal_rates_share_what_they_have_together() -> None:
    rates = np.array([[0.9, 0.9, 0.1], [0.05, 0.05, 0.2], [0.05, 0.05, 0.7]])
    prior = np.array([0.1, 0.4, 0.5])
    p_true = np.array([[0.3, 0.5, 0.2], [0.2, 0.0, 0.8], [0.0, 0.05, 0.95]])
    p_hat, diagnostics = adjust(p_true @ rates.T, rates, prior)
    # Together .8, .2 and .05: moved equally from .1 and .4, as far as none falls below zero.
    assert_allclose(p_hat, [[0.25, 0.55, 0.2], [0, 0.2, 0.8], [0, 0.05, 0.95]], atol=1e-9)
    assert not diagnostics["clipped"].any()
    # Counts that no mixture has: those of the third class alone come nearest.
    p_hat, diagnostics = adjust(np.array([[0.0, 0.25, 0.75]]), rates, prior)
    assert_allclose(p_hat, [[0, 0, 1]], atol=1e-9)
    assert diagnostics["clipped"].all()


@given(st.integers(0, 100_000), st.integers(3, 6), st.integers(1, 3))
def test_singular_rates(seed: int, n_classes: int, n_equal: int) -> None:
    """The smallest residual, by its optimality condition; the nearest, beside SLSQP."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.full(n_classes, rng.choice([0.3, 1, 5])), n_classes).T
    for k in range(min(n_equal, n_classes - 1)):
        mixed = rng.dirichlet(np.ones(n_classes - 1 - k))
        rates[:, k] = rates[:, k + 1 :] @ mixed
    prior = rng.dirichlet(np.ones(n_classes))
    counts = rng.dirichlet(np.full(n_classes, rng.choice([0.3, 3])), 4)
    counts[0] = rates @ rng.dirichlet(np.ones(n_classes))
    p_hat, diagnostics = adjust(counts, rates, prior)
    assert diagnostics["fallback"].all()
    assert not diagnostics["clipped"][0]
    size, right = np.linalg.svd(rates)[1:]
    open_directions = right[(size > 1e-9).sum() :].T
    for p, count in zip(p_hat, counts, strict=True):
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1, abs=1e-12)
        slope = rates.T @ (rates @ p - count)
        assert slope @ p - slope.min() <= 1e-11  # no vertex of the simplex is downhill
        found = minimize(
            lambda z, p=p: ((p + open_directions @ z - prior) ** 2).sum(),
            np.zeros(open_directions.shape[1]),
            constraints={"type": "ineq", "fun": lambda z, p=p: p + open_directions @ z},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        other = p + open_directions @ found.x
        if other.min() >= -1e-9:
            assert ((p - prior) ** 2).sum() <= ((other - prior) ** 2).sum() + 1e-8


def test_a_sample_with_singular_rates_does_not_depend_on_its_neighbours() -> None:
    rng = np.random.default_rng(0)
    rates = rng.dirichlet([0.5] * 4, 4).T
    rates[:, 0] = rates[:, 1]
    counts, prior = rng.dirichlet([0.5] * 4, 30), rng.dirichlet([1.0] * 4)
    together = adjust(counts, rates, prior)[0]
    for i in range(30):
        assert_allclose(adjust(counts[i : i + 1], rates, prior)[0][0], together[i], atol=1e-12)


@given(st.integers(0, 10_000), st.integers(3, 5))
def test_simplex_least_squares_is_optimal(seed: int, n_classes: int) -> None:
    """No point of the simplex, nor a general optimiser, beats the solution."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.ones(n_classes), n_classes).T
    counts = rng.dirichlet(np.full(n_classes, 0.3), 1)
    if np.linalg.svd(rates, compute_uv=False)[-1] < 0.02:
        return
    p_hat, _ = adjust(counts, rates, np.full(n_classes, 1 / n_classes))

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


@given(st.integers(0, 10_000), st.integers(3, 12))
def test_many_classes_inside_the_simplex_need_no_search(seed: int, n_classes: int) -> None:
    """There M^-1 q explains q exactly, so it is what the search for the least residual finds."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.ones(n_classes), n_classes).T + np.eye(n_classes)
    rates /= rates.sum(axis=0)
    counts = rng.dirichlet(np.full(n_classes, 5.0), 5) @ rates.T
    counts[0] = rng.dirichlet(np.full(n_classes, 0.3))
    prior = np.full(n_classes, 1 / n_classes)
    p_hat, diagnostics = adjust(counts, rates, prior)
    for i, (p, count) in enumerate(zip(p_hat, counts, strict=True)):
        assert_array_equal(p, adjust(count[np.newaxis], rates, prior)[0][0])
        assert p.min() >= 0
        # Conditioned well (a diagonal above 1/2 of each column's sum): rounding only.
        assert_allclose(p, _nearest_on_simplex(rates, count), atol=1e-10)
        if not diagnostics["clipped"][i]:
            assert_allclose(rates @ p, count, atol=1e-12)


@given(st.integers(0, 10_000), st.floats(-6, 0))
def test_clipped_counts_are_explained_best_however_close_the_classes_are(
    seed: int, closeness: float
) -> None:
    """Below a certain separation another search is used; both have the least residual."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.ones(4), 1).T + 10.0**closeness * rng.dirichlet(np.ones(4), 4).T
    rates /= rates.sum(axis=0)
    count, prior = rng.dirichlet(np.full(4, 0.3)), np.full(4, 0.25)
    p_hat, _ = adjust(count[np.newaxis], rates, prior)
    best = rates @ _nearest_on_simplex(rates, count) - count
    # Rounding of the residual's square, which the minimum leaves undetermined.
    assert np.linalg.norm(rates @ p_hat[0] - count) <= np.linalg.norm(best) + 1e-9


@given(st.integers(0, 10_000))
def test_binary_closed_form_equals_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tpr, fpr, count = rng.random(3)
    if abs(tpr - fpr) < 0.01:
        return
    rates = np.array([[1 - fpr, 1 - tpr], [fpr, tpr]])
    p_hat, _ = adjust(np.array([[1 - count, count]]), rates, np.array([0.5, 0.5]))
    grid = np.linspace(0, 1, 2001)
    residual = np.abs(grid * tpr + (1 - grid) * fpr - count)
    assert p_hat[0, 1] == pytest.approx(grid[residual.argmin()], abs=5.1e-4)
