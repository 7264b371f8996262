"""Logistic regression that fits the models of all folds at once.

Twenty folds of a sparse matrix are twenty problems on one matrix with other weights, which
`fit_logistic` solves together: for 3,000 texts and two classes in a twelfth of the time that
scikit-learn takes, for four classes in a twentieth, and nearer to the optimum. Dense matrices, of a
few columns as a rule, are scikit-learn's.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression

from quantshift.classify.logistic import TOLERANCE_OF_MANY, LogisticModels, fit_logistic
from quantshift.types import Indices
from quantshift.weights import Weights


class BatchedLogistic(LogisticRegression):  # type: ignore[misc]
    """Scikit-learn's logistic regression with its ridge penalty, and a faster fit of many folds.

    C: as in scikit-learn.
    """

    def __init__(self, *, C: float = 1.0, max_iter: int = 2000) -> None:
        super().__init__(C=C, max_iter=max_iter)

    def fit(self, X: Any, y: Any, sample_weight: Weights | None = None) -> Self:
        """Fit one model."""
        if not issparse(X):
            super().fit(X, y, sample_weight)
            return self
        everyone = np.zeros(X.shape[0], dtype=np.int64)
        fitted = self._solve(X, np.asarray(y), everyone, sample_weight, leave_out=False)[0]
        self.__dict__.update(fitted.__dict__)
        return self

    def fit_folds(
        self, X: Any, y: NDArray[Any], folds: Indices, weights: Weights | None = None
    ) -> Sequence[Self]:
        """A model for each fold, fitted on the items of all others."""
        if issparse(X):
            return self._solve(X, y, folds, weights, leave_out=True)
        models = []
        for fold in range(int(folds.max()) + 1):
            rest = np.flatnonzero(folds != fold)
            own = None if weights is None else weights[rest]
            models.append(type(self)(**self.get_params()).fit(X[rest], y[rest], own))
        return models

    def _solve(
        self,
        X: Any,
        y: NDArray[Any],
        folds: Indices,
        weights: Weights | None,
        *,
        leave_out: bool,
    ) -> list[Self]:
        classes, codes = np.unique(y, return_inverse=True)
        n_problems = int(folds.max()) + 1
        heft = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
        used = np.tile(heft, (n_problems, 1))
        if leave_out:
            used[folds, np.arange(len(folds))] = 0.0
        solved = fit_logistic(
            X,
            codes.astype(np.int64),
            np.full(n_problems, float(self.C)),
            used,
            n_classes=len(classes),
            tol=TOLERANCE_OF_MANY,
            max_iter=self.max_iter,
        )
        return [self._model(solved, problem, classes) for problem in range(n_problems)]

    def _model(self, solved: LogisticModels, problem: int, classes: NDArray[Any]) -> Self:
        fitted = type(self)(**self.get_params())
        fitted.classes_ = classes
        fitted.coef_ = np.atleast_2d(solved.coef[:, problem].T).copy()
        fitted.intercept_ = np.atleast_1d(solved.intercept[problem]).copy()
        fitted.n_features_in_ = fitted.coef_.shape[1]
        fitted.n_iter_ = np.array([solved.iterations[problem]], dtype=np.int32)
        return fitted
