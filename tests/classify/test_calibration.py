import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from quantshift.classify.calibration import CALIBRATIONS

METHODS = ["sigmoid", "isotonic", "temperature"]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_same_as_scikit_learn_on_the_same_scores(method: str) -> None:
    """The log-odds of logistic regression are its decision function, so both see the same scores.

    Scikit-learn's sigmoid ends where its optimiser does (about 1e-4 in the posterior); its isotonic
    interpolates on the score, ours on the posterior, so they agree at the training points.
    """
    X, y = make_classification(800, 6, n_informative=4, flip_y=0.2, random_state=1)
    model = LogisticRegression().fit(X[:300], y[:300])
    reference = CalibratedClassifierCV(FrozenEstimator(model), method=method).fit(X[300:], y[300:])
    ours = CALIBRATIONS[method](model.predict_proba(X[300:]), y[300:])
    assert_allclose(ours(model.predict_proba(X[300:])), reference.predict_proba(X[300:]), atol=2e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_overconfident_posteriors_are_mended(method: str, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    honest = rng.dirichlet(np.ones(n_classes), 20_000)
    codes = (rng.random((20_000, 1)) > honest.cumsum(axis=1)).sum(axis=1)
    loud = honest**3 / (honest**3).sum(axis=1, keepdims=True)
    fitted = CALIBRATIONS[method](loud[:10_000], codes[:10_000])
    mended = fitted(loud[10_000:])
    assert_allclose(mended.sum(axis=1), 1)
    before = np.abs(loud[10_000:] - honest[10_000:]).mean()
    after = np.abs(mended - honest[10_000:]).mean()
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
    mended = CALIBRATIONS[method](sharp, codes)(sharp)
    assert np.isfinite(mended).all()
    assert (mended.argmax(axis=1) == codes).all()


def test_none_changes_nothing() -> None:
    posteriors = np.array([[0.2, 0.8]])
    assert CALIBRATIONS["none"](posteriors, np.array([1]))(posteriors) is posteriors
