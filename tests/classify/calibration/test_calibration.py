import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from quantshift.classify.calibration.calibration import (
    AUTO_FOLDS,
    CALIBRATIONS,
    COMPARED,
    _compared_items,
    _held_out_loss,
    _loss_of_refits,
    _simplest_of_the_best,
)
from quantshift.classify.calibration.curves import fit_beta
from quantshift.classify.calibration.scaling import ScalingCalibration
from quantshift.classify.folds import stratified_folds
from quantshift.classify.scores import farthest_score, platt_targets

METHODS = [name for name in CALIBRATIONS if name != "none"]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_same_as_scikit_learn_on_the_same_scores(method: str) -> None:
    """The log-odds of logistic regression are its decision function, so both see the same scores.

    Scikit-learn's sigmoid ends where its optimiser does (about 1e-4 in the posterior); its isotonic
    interpolates on the score, ours on the posterior, so they agree at the training points, but for
    ends of exactly 0 or 1, which so few items cannot tell from 1/1002.
    """
    X, y = make_classification(800, 6, n_informative=4, flip_y=0.2, random_state=1)
    model = LogisticRegression().fit(X[:300], y[:300])
    reference = CalibratedClassifierCV(FrozenEstimator(model), method=method).fit(X[300:], y[300:])
    ours = CALIBRATIONS[method](model.predict_proba(X[300:]), y[300:])
    theirs = reference.predict_proba(X[300:])
    if method == "isotonic":
        theirs = np.clip(theirs, 1 / 1002, 1 - 1 / 1002)
    assert_allclose(ours(model.predict_proba(X[300:])), theirs, atol=2e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_overconfident_posteriors_are_corrected(method: str, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    honest = rng.dirichlet(np.ones(n_classes), 20_000)
    codes = (rng.random((20_000, 1)) > honest.cumsum(axis=1)).sum(axis=1)
    loud = honest**3 / (honest**3).sum(axis=1, keepdims=True)
    fitted = CALIBRATIONS[method](loud[:10_000], codes[:10_000])
    corrected = fitted(loud[10_000:])
    assert_allclose(corrected.sum(axis=1), 1)
    before = np.abs(loud[10_000:] - honest[10_000:]).mean()
    after = np.abs(corrected - honest[10_000:]).mean()
    assert after < before / 4


def test_temperature_is_recovered() -> None:
    rng = np.random.default_rng(0)
    honest = rng.dirichlet(np.ones(3), 50_000)
    codes = (rng.random((50_000, 1)) > honest.cumsum(axis=1)).sum(axis=1)
    loud = honest**2 / (honest**2).sum(axis=1, keepdims=True)
    assert CALIBRATIONS["temperature"](loud, codes).temperature == pytest.approx(2, rel=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_separable_and_extreme_posteriors_stay_finite(method: str) -> None:
    sharp, codes = np.eye(2)[[0, 1] * 20], np.array([0, 1] * 20)
    corrected = CALIBRATIONS[method](sharp, codes)(sharp)
    assert np.isfinite(corrected).all()
    assert (corrected.argmax(axis=1) == codes).all()


def test_none_changes_nothing() -> None:
    posteriors = np.array([[0.2, 0.8]])
    assert CALIBRATIONS["none"](posteriors, np.array([1]))(posteriors) is posteriors


def drawn(n: int, seed: int, *, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Honest posteriors and classes drawn by them."""
    rng = np.random.default_rng(seed)
    honest = rng.dirichlet(np.full(n_classes, 0.7), n)
    return honest, (rng.random((n, 1)) > honest.cumsum(axis=1)).sum(axis=1)


def distorted(p: np.ndarray, how: str) -> np.ndarray:
    """Posteriors of a model that errs in a known way."""
    z = logit(np.clip(p[:, 1], 1e-9, 1 - 1e-9))
    if how == "two slopes":
        z = np.where(z < 0, 3 * z, z / 2)
    elif how == "steps":
        z = np.array([-6.0, -5.0, 5.0, 6.0])[np.minimum(4 * p[:, 1], 3).astype(int)]
    else:
        z = 1.5 * z + 0.5
    return np.column_stack([expit(-z), expit(z)])


@pytest.mark.parametrize(
    ("how", "best"), [("line", "sigmoid"), ("two slopes", "smooth"), ("steps", "isotonic")]
)
def test_auto_is_as_good_as_the_best_for_the_distortion(how: str, best: str) -> None:
    honest, codes = drawn(8000, 3)
    loud = distorted(honest, how)
    fitted = {m: CALIBRATIONS[m](loud[:4000], codes[:4000])(loud[4000:]) for m in (best, "auto")}
    rows = np.arange(4000)
    losses = {m: -np.log(q[rows, codes[4000:]]).mean() for m, q in fitted.items()}
    assert losses["auto"] < losses[best] + 0.002
    sigmoid = CALIBRATIONS["sigmoid"](loud[:4000], codes[:4000])(loud[4000:])
    if best != "sigmoid":
        assert losses["auto"] < -np.log(sigmoid[rows, codes[4000:]]).mean() - 0.003


@pytest.mark.parametrize("weights", [None, np.full(100, 2.0)])
def test_rounding_decides_nothing_between_calibrations(weights: np.ndarray | None) -> None:
    """Before, a line that was worse than the same curve by 1e-14 lost to any other rival."""
    rng = np.random.default_rng(0)
    line, noise = rng.random(100), rng.normal(0, 1e-2, 100)
    beta = line + noise - noise.mean() + 1e-4
    losses = {"sigmoid": line, "beta": beta, "smooth": line - 1e-14}
    assert _simplest_of_the_best(losses, weights) == "sigmoid"


@pytest.mark.parametrize("name", ["bcts", "vs", "sigmoid", "beta"])
def test_rough_losses_of_many_classes_are_those_of_exact_fits(name: str) -> None:
    """Before, every rival was fitted exactly in every fold, which took minutes with 26 classes."""
    posteriors, codes = drawn(1500, 2, n_classes=5)
    folds = stratified_folds(codes, AUTO_FOLDS, seed=0)
    items = CALIBRATIONS[name], posteriors, codes, None, folds
    rough, exact = _loss_of_refits(*items), _held_out_loss(*items)
    # A standard error of the difference between two calibrations is some nats.
    assert rough.sum() == pytest.approx(exact.sum(), abs=0.3)


def test_many_items_of_many_classes_are_compared_by_some_and_fitted_to_all() -> None:
    posteriors, codes = drawn(COMPARED + 1500, 2, n_classes=4)
    rows = _compared_items(codes)
    assert abs(len(rows) - COMPARED) <= 4
    assert_allclose(
        np.bincount(codes[rows]) / len(rows), np.bincount(codes) / len(codes), atol=1e-3
    )
    fitted = CALIBRATIONS["auto"](posteriors, codes)
    assert isinstance(fitted, ScalingCalibration)
    assert (fitted.parameters == CALIBRATIONS["bcts"](posteriors, codes).parameters).all()
    rare = np.where(np.arange(6000) < 5, 3, np.arange(6000) % 3)
    assert _compared_items(rare) == slice(None)


@pytest.mark.parametrize("method", [m for m in CALIBRATIONS if m != "auto"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_refit_by_weights_is_a_fit_of_repeated_items(method: str, n_classes: int) -> None:
    """A replicate of a bootstrap, which resamples class by class.

    The curves are followed to a twentieth of a standard error, which is about .03 in the log-odds
    here; the spline's ridge and knots stay those of the first fit.
    """
    posteriors, codes = drawn(600, 0, n_classes=n_classes)
    fitted = CALIBRATIONS[method](posteriors, codes)
    refit = fitted.refitter(posteriors, codes)
    rng = np.random.default_rng(1)
    members = [np.flatnonzero(codes == k) for k in range(n_classes)]
    for _ in range(5):
        rows = np.concatenate([rng.choice(m, len(m)) for m in members])
        weights = np.bincount(rows, minlength=600).astype(float)
        ours, exact = (
            refit(weights)(posteriors),
            CALIBRATIONS[method](posteriors[rows], codes[rows]),
        )
        atol = {"smooth": 0.1, "isotonic": 1e-9, "temperature": 1e-6, "none": 0}.get(method, 0.02)
        assert_allclose(ours, exact(posteriors), atol=atol)


def test_beta_curve_is_the_constrained_minimum() -> None:
    """Against a general optimiser, where a slope wants to be negative too."""
    for seed, how in enumerate(["line", "two slopes", "steps"]):
        honest, codes = drawn(500, seed)
        scores = logit(np.clip(distorted(honest, how)[:, 1], 1e-9, 1 - 1e-9))
        targets = platt_targets(codes, 2)[:, 0]
        cut = np.clip(scores, -farthest_score(500), farthest_score(500))
        ends = np.column_stack([np.ones(500), -np.logaddexp(0, -cut), np.logaddexp(0, cut)])

        def loss(theta: np.ndarray, ends: np.ndarray = ends, t: np.ndarray = targets) -> float:
            return float(np.sum(np.logaddexp(0, ends @ theta) - t * (ends @ theta)))

        best = minimize(loss, np.zeros(3), bounds=[(None, None), (0, None), (0, None)])
        fitted = fit_beta(scores, targets)
        linear = fitted.shape(scores) @ fitted.coefficients
        assert np.sum(np.logaddexp(0, linear) - targets * linear) <= best.fun + 1e-6
        assert (fitted.coefficients[1:] >= 0).all()


@pytest.mark.parametrize(("n_classes", "simplest"), [(2, "sigmoid"), (3, "bcts")])
def test_few_items_of_a_class_get_the_simplest(n_classes: int, simplest: str) -> None:
    posteriors, codes = drawn(200, 0, n_classes=n_classes)
    few = np.concatenate([np.flatnonzero(codes != 1), np.flatnonzero(codes == 1)[:4]])
    assert_allclose(
        CALIBRATIONS["auto"](posteriors[few], codes[few])(posteriors),
        CALIBRATIONS[simplest](posteriors[few], codes[few])(posteriors),
    )
