"""The logistic regression that fits all folds at once is scikit-learn's."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from quantshift.classify.classifier import cross_fit
from quantshift.classify.folds import stratified_folds
from quantshift.classify.logistic.estimator import BatchedLogistic


def _items(n_classes: int) -> tuple[csr_matrix, np.ndarray]:
    rng = np.random.default_rng(3)
    codes = rng.integers(n_classes, size=240)
    X = rng.random((240, 30)) * (rng.random((240, 30)) < 0.3)
    X[:, :n_classes] += np.eye(n_classes)[codes] * (rng.random((240, 1)) < 0.6)
    return csr_matrix(X), codes


@pytest.mark.parametrize("weighted", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("n_classes", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_models_and_held_out_posteriors_are_scikit_learns(n_classes: int, weighted: bool) -> None:
    X, codes = _items(n_classes)
    labels = np.array(list("abcd"))[:n_classes]
    weights = np.random.default_rng(4).integers(1, 4, 240).astype(float) if weighted else None
    folds = stratified_folds(codes, 5, seed=0)
    exact = LogisticRegression(C=10.0, tol=1e-10, max_iter=5000)
    ours, models = cross_fit(BatchedLogistic(C=10.0), X, codes, labels, folds, weights=weights)
    theirs, _ = cross_fit(exact, X, codes, labels, folds, weights=weights)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    assert len(models) == 5
    whole = clone(BatchedLogistic(C=10.0)).fit(X, labels[codes], weights)
    exact.fit(X, labels[codes], weights)
    np.testing.assert_allclose(whole.predict_proba(X), exact.predict_proba(X), atol=1e-4)
    assert whole.classes_.tolist() == labels.tolist()
    assert whole.n_features_in_ == 30


def test_dense_matrices_are_fitted_by_scikit_learn() -> None:
    X, codes = _items(2)
    dense = X.toarray()
    folds = stratified_folds(codes, 4, seed=0)
    labels = np.array([0, 1])
    ours, _ = cross_fit(BatchedLogistic(C=2.0), dense, codes, labels, folds)
    theirs, _ = cross_fit(LogisticRegression(C=2.0, max_iter=2000), dense, codes, labels, folds)
    np.testing.assert_array_equal(ours, theirs)
