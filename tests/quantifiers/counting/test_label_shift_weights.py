"""BBSE and RLLS: least squares by other solvers, the limits of the penalty, weights of classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, nnls

from quantshift import ACC, PACC
from quantshift.errors import UserError
from quantshift.quantifiers import RLLS, BBSEHard, BBSESoft


def drawn(n_classes: int, n: int, seed: int, signal: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    p = np.exp(rng.normal(size=(n, n_classes)) + signal * np.eye(n_classes)[y])
    return p / p.sum(axis=1, keepdims=True), y


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("method", [BBSEHard, BBSESoft])
def test_bbse_is_non_negative_least_squares(method: type, n_classes: int) -> None:
    known, y = drawn(n_classes, 600, 0)
    pool, _ = drawn(n_classes, 400, 1)
    fitted = method().fit_posteriors(known, y)
    index = np.random.default_rng(2).integers(400, size=(20, 5))
    counted = np.eye(n_classes)[pool.argmax(axis=1)] if method is BBSEHard else pool
    at_zero = 0
    for row, p_hat in zip(index, fitted.aggregate(pool, index), strict=True):
        w, _ = nnls(fitted.joint_, counted[row].mean(axis=0))
        assert_allclose(p_hat, w * fitted.prior_ / (w * fitted.prior_).sum(), atol=1e-9)
        at_zero += (w == 0).any()
    assert n_classes == 2 or at_zero


def test_within_the_simplex_bbse_is_adjusted_counting() -> None:
    known, y = drawn(3, 600, 0)
    sample = drawn(3, 300, 1)[0]
    for bbse, adjusted in ((BBSEHard, ACC), (BBSESoft, PACC)):
        expected = adjusted().fit_posteriors(known, y).aggregate(sample)
        assert (expected > 0).all()
        assert_allclose(bbse().fit_posteriors(known, y).aggregate(sample), expected, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("alpha", [0.01, 0.3])
def test_rlls_minimises_the_penalised_residual(n_classes: int, alpha: float) -> None:
    """Against SLSQP from several starts: 1e-4 in p, and never the larger objective."""
    known, y = drawn(n_classes, 300, 0, signal=1.0)
    pool, codes = drawn(n_classes, 300, 1, signal=1.0)
    fitted = RLLS(alpha=alpha).fit_posteriors(known, y)
    prior = fitted.prior_
    for k in range(n_classes):
        rows = np.concatenate([np.flatnonzero(codes == k), np.flatnonzero(codes == 0)[:5]])
        above = pool[rows].mean(axis=0) - fitted.joint_.sum(axis=1)

        def objective(theta: np.ndarray, above: np.ndarray = above) -> float:
            residual = np.linalg.norm(fitted.joint_ @ theta - above)
            return float(residual + fitted.rho_ * np.linalg.norm(theta))

        p_hat = fitted.aggregate(pool[rows])
        w = (
            1
            + minimize(
                objective,
                np.linspace(-0.1, 0.1, n_classes),
                bounds=[(-1, None)] * n_classes,
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 500},
            ).x
        )
        ours = fitted._weights(pool[rows].mean(axis=0)[np.newaxis])[0]
        assert objective(ours - 1) <= objective(w - 1) + 1e-9
        if np.linalg.norm(w - 1) > 1e-3 and objective(w - 1) - objective(ours - 1) < 1e-9:
            assert_allclose(p_hat, w * prior / (w * prior).sum(), atol=1e-4)


def test_the_penalty_s_limits() -> None:
    known, y = drawn(4, 400, 0)
    sample = drawn(4, 400, 1)[0][:37]
    bbse = BBSESoft().fit_posteriors(known, y).aggregate(sample)
    assert_allclose(RLLS(alpha=0).fit_posteriors(known, y).aggregate(sample), bbse, atol=1e-6)
    much = RLLS(alpha=10).fit_posteriors(known, y)
    assert_allclose(much.aggregate(sample), much.prior_)
    assert_allclose(RLLS(hard=True, alpha=0).fit_posteriors(known, y).aggregate(sample),
                    BBSEHard().fit_posteriors(known, y).aggregate(sample), atol=1e-6)  # fmt: skip


@pytest.mark.parametrize("method", [BBSEHard, BBSESoft, RLLS])
def test_importance_weights_are_prevalences_over_training_prevalences(method: type) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], [200, 100, 300])
    X = rng.normal(size=(600, 3)) + 2 * np.eye(3)[np.repeat([0, 1, 2], [200, 100, 300])]
    fitted = method().fit(X, y)
    assert_allclose(fitted.importance_weights(X), fitted.predict(X) / [1 / 3, 1 / 6, 1 / 2])
    assert_allclose(fitted.importance_weights(X), 1, atol=0.1)
    index = np.arange(600).reshape(3, 200)
    assert_allclose(fitted.importance_weights(X, index) @ fitted.prior_, 1)


@pytest.mark.parametrize("method", [BBSEHard(), BBSESoft(), RLLS(alpha=0)])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_huge_samples_of_the_training_classes_give_their_prevalence(
    method: BBSEHard, n_classes: int
) -> None:
    known, y = drawn(n_classes, 60 * n_classes, 3)
    p_true = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    rows = np.concatenate([np.repeat(np.flatnonzero(y == k), k + 1) for k in range(n_classes)])
    assert_allclose(method.fit_posteriors(known, y).aggregate(known[rows]), p_true, atol=1e-6)


def test_a_class_that_is_never_predicted_keeps_its_weight() -> None:
    """Two classes are told apart, the third is never predicted and looks like the first."""
    hard = np.eye(3)[[0, 0, 1, 1, 0, 0]]
    fitted = BBSEHard().fit_posteriors(np.tile(hard, (10, 1)), np.tile([0, 0, 1, 1, 2, 2], 10))
    estimate = fitted.estimate_posteriors(np.eye(3)[[0, 1, 1, 1]])
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [0.125, 0.75, 0.125], atol=1e-4)


def test_options_are_checked() -> None:
    known, y = drawn(2, 40, 0)
    with pytest.raises(UserError, match="alpha of RLLS must be a number of at least 0, got -1"):
        RLLS(alpha=-1).fit_posteriors(known, y)
    with pytest.raises(UserError, match="delta of RLLS must be a number between 0 and 1, got 1"):
        RLLS(delta=1).fit_posteriors(known, y)
