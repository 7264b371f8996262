"""A classifier for each label: posteriors of the labels, held out for training items.

By default the classifier of each label is a logistic regression whose penalty is chosen by its
log-loss on held-out items; all penalties and folds are solved as one batch. Any other classifier of
scikit-learn is fitted once per label and fold.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.special import expit
from sklearn.base import BaseEstimator

from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Posteriors, Reals
from quantshift.classify.classifier import cross_fit, fit_classifier, n_rows, predict_posteriors
from quantshift.classify.folds import stratified_folds
from quantshift.classify.logistic.models import fit_logistic
from quantshift.errors import DataError
from quantshift.prevalence.weights import Weights

PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
"""The values of C that are tried."""

MOST_CHOOSING, FEWEST_CHOOSING = 1500, 150
"""If there are more items, about the first number of them choose the penalty; for a rare label, at
least the second number of items that have it, or all of them."""

TOLERANCE, ROUGH = 1e-5, 1e-3
"""The relative gaps at which a logistic regression has converged: the second one for those of fewer
items, which only choose a penalty."""

CLASSES = np.array([False, True])


class AbstractLabelModels(ABC):
    """Fitted classifiers of all labels."""

    @abstractmethod
    def posteriors(self, X: Any) -> Posteriors:
        """The posterior of each label for new items, (n_items, n_labels)."""


@dataclass(frozen=True)
class LabelFolds:
    """How held-out posteriors are made: the number of folds, and the seed of their draw."""

    number: int
    seed: int

    def of(self, has_label: Flags) -> Indices:
        """The fold of each item; both kinds of items are in every fold, or in as many as can be."""
        return stratified_folds(has_label.astype(np.int64), self.number, seed=self.seed)


def fit_label_models(
    classifier: BaseEstimator | None,
    X: Any,
    has: Flags,
    folds: LabelFolds,
    weights: Weights | None = None,
) -> tuple[AbstractLabelModels, Posteriors]:
    """The classifiers of all labels, and the posteriors of the training items, held out."""
    if classifier is None:
        return _fit_logistic_models(X, has, folds, weights)
    held_out = np.empty(has.shape)
    models = []
    for j, has_label in enumerate(has.T):
        codes = has_label.astype(np.int64)
        posteriors, _ = cross_fit(
            classifier, X, codes, CLASSES, folds.of(has_label), weights=weights
        )
        held_out[:, j] = posteriors[:, 1]
        models.append(fit_classifier(classifier, X, has_label, weights))
    return FittedClassifiers(tuple(models)), held_out


@dataclass(frozen=True, eq=False)
class FittedClassifiers(AbstractLabelModels):
    """One fitted classifier of scikit-learn for each label."""

    models: Sequence[Any]

    def posteriors(self, X: Any) -> Posteriors:  # noqa: D102
        columns = [predict_posteriors(model, X, CLASSES)[:, 1] for model in self.models]
        return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class LogisticLabels(AbstractLabelModels):
    """Logistic regressions of all labels on the same features.

    coef: (n_features, n_labels); intercept: (n_labels,); centre, scale: of dense features, which
    have been standardised; for sparse ones they have no effect.
    """

    coef: Reals
    intercept: Reals
    centre: Reals
    scale: Reals

    @property
    def is_scaled(self) -> bool:
        """Whether features are standardised."""
        return bool(self.centre.any() or (self.scale != 1).any())

    def posteriors(self, X: Any) -> Posteriors:  # noqa: D102
        matrix = _numbers(X)
        if matrix.shape[1] != len(self.coef):
            raise DataError(
                f"X has {matrix.shape[1]} features, but the classifiers were fitted on "
                f"{len(self.coef)}"
            )
        if issparse(matrix):
            matrix = matrix.toarray() if self.is_scaled else matrix
        if self.is_scaled:
            matrix = (matrix - self.centre) / self.scale
        return np.asarray(expit(matrix @ self.coef + self.intercept))


def _fit_logistic_models(
    X: Any, has: Flags, folds: LabelFolds, weights: Weights | None
) -> tuple[LogisticLabels, Posteriors]:
    matrix = _numbers(X)
    n_items, n_features = matrix.shape
    centre, scale = np.zeros(n_features), np.ones(n_features)
    if not issparse(matrix):
        centre = np.average(matrix, axis=0, weights=weights)
        scale = np.sqrt(np.average((matrix - centre) ** 2, axis=0, weights=weights))
        scale[~(scale > 0)] = 1.0
        matrix = csr_array((matrix - centre) / scale)
    held_out = np.empty(has.shape)
    coef, intercept = np.empty((n_features, has.shape[1])), np.empty(has.shape[1])
    counts = np.ones(n_items) if weights is None else weights
    for j, has_label in enumerate(has.T):
        penalties: Sequence[float] = PENALTIES
        if n_items > MOST_CHOOSING:
            rows = _choosing_rows(has_label, folds.seed)
            chosen = _cross_fitted(
                matrix[rows], has_label[rows], folds, counts[rows], PENALTIES, tol=ROUGH
            )
            penalties = [chosen.penalty]
        fitted = _cross_fitted(matrix, has_label, folds, counts, penalties)
        held_out[:, j] = expit(fitted.scores)
        coef[:, j], intercept[j] = fitted.coef, fitted.intercept
    return LogisticLabels(coef, intercept, centre, scale), held_out


@dataclass(frozen=True, eq=False)
class _CrossFitted:
    """The regression of one label with the best penalty; scores: of its items, held out."""

    penalty: float
    coef: Reals
    intercept: float
    scores: Reals


def _cross_fitted(
    matrix: Any,
    has_label: Flags,
    folds: LabelFolds,
    counts: Weights,
    penalties: Sequence[float],
    *,
    tol: float = TOLERANCE,
) -> _CrossFitted:
    """The regression whose penalty has the smallest log-loss on held-out items."""
    n_items = len(has_label)
    fold = folds.of(has_label)
    parts = [np.ones(n_items, dtype=bool), *(fold != k for k in range(int(fold.max()) + 1))]
    fitted = fit_logistic(
        matrix,
        has_label.astype(np.int64),
        [c for c in penalties for _ in parts],
        np.stack([counts * part for _ in penalties for part in parts]),
        tol=tol,
    )
    scores = fitted.training_scores.reshape(len(penalties), len(parts), n_items)
    scores = scores[:, fold + 1, np.arange(n_items)]
    losses = np.logaddexp(0.0, np.where(has_label, -scores, scores)) @ counts
    best = int(np.argmin(losses))
    first = best * len(parts)
    return _CrossFitted(
        penalties[best], fitted.coef[:, first], float(fitted.intercept[first]), scores[best]
    )


def _choosing_rows(has_label: Flags, seed: int) -> Indices:
    """The items that choose a penalty: as large a share has the label, or more if it is rare."""
    rng = generator(seed, draw="items that choose a penalty")
    sides = [rng.permutation(np.flatnonzero(side)) for side in (has_label, ~has_label)]
    share = MOST_CHOOSING / len(has_label)
    sizes = [min(len(side), max(round(share * len(side)), FEWEST_CHOOSING)) for side in sides]
    return np.sort(np.concatenate([side[:n] for side, n in zip(sides, sizes, strict=True)]))


def _numbers(X: Any) -> Any:
    """The features as a sparse or dense matrix of finite numbers."""
    if issparse(X):
        values = X.data
        matrix: Any = csr_array(X)
    else:
        try:
            matrix = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(
                "features must be numbers: give a classifier that takes other items, such as a "
                "pipeline that turns them into numbers"
            ) from None
        values = matrix
    if matrix.ndim != 2:
        raise DataError(f"X has shape {matrix.shape}: give a row per item and a column per feature")
    if not np.isfinite(values).all():
        raise DataError("X has missing or infinite values: impute them, or give a pipeline")
    return matrix


def check_label_posteriors(posteriors: Any, n_labels: int) -> Posteriors:
    """Posteriors of labels as numbers between 0 and 1, (n_items, n_labels)."""
    try:
        p: NDArray[np.float64] = np.asarray(posteriors, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("posteriors of labels must be numbers, in rows of one length") from None
    if p.ndim != 2 or p.shape[1] != n_labels:
        raise DataError(
            f"posteriors of labels have shape {p.shape}: give a row per item and {n_labels} columns"
        )
    if not len(p):
        raise DataError("the sample is empty: a share needs at least one item")
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise DataError(f"the posterior of item {i}, label {j}, is {p[i, j]}: it must be 0 to 1")
    return p


def check_not_empty(X: Any) -> None:
    """Refuse a sample without items."""
    if n_rows(X) == 0:
        raise DataError("the sample is empty: a share needs at least one item")


def with_absence(posteriors: Posteriors) -> Posteriors:
    """Posteriors of one label as those of two classes, without the label and with it."""
    return np.column_stack([1 - posteriors, posteriors])
