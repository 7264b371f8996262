"""Any scikit-learn classifier -> posteriors: of new items, and out of fold on the training set.

Columns are always in the order of the caller's sorted classes, whatever the classifier's own order.
The classifier sees the user's own labels, so that options such as `class_weight={"spam": 2}` keep
their meaning.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError
from quantshift.masks import unmasked
from quantshift.types import Codes, Indices, Posteriors

_WITH_ROWS = ("csr", "csc", "lil", "dok")
"""Sparse formats whose rows can be taken."""


@runtime_checkable
class FitsFolds(Protocol):
    """A classifier that fits the models of all folds faster than one by one."""

    def fit_folds(
        self, X: Any, y: NDArray[Any], folds: Indices, weights: NDArray[np.float64] | None = None
    ) -> Sequence[Any]:
        """A model for each fold, fitted on the items of all others."""


def fit_classifier(
    classifier: BaseEstimator | None,
    X: Any,
    y: NDArray[Any],
    weights: NDArray[np.float64] | None = None,
) -> Any:
    """A fitted clone of the classifier (logistic regression if None); a frozen one as it is.

    weights: of the items, given to the classifier (the last step of a pipeline) as
    `sample_weight`; one that takes none is refused.
    """
    if isinstance(classifier, FrozenEstimator):
        return classifier
    model = LogisticRegression(max_iter=1000) if classifier is None else clone(classifier)
    if weights is None:
        return model.fit(X, y)
    return model.fit(X, y, **{_weight_argument(model): weights})


def predict_posteriors(
    fitted: Any, X: Any, classes: NDArray[Any], *, crisp: bool = False
) -> Posteriors:
    """Posteriors of the items of X, shape (n_items, n_classes).

    With `crisp` they are the indicators of the classifier's own hard predictions (0 or 1), so that
    a tuned decision threshold counts and classifiers without `predict_proba` serve too.
    """
    if crisp:
        _class_order(fitted, classes)
        position = {_key(c): i for i, c in enumerate(classes)}
        labels, which = np.unique(np.asarray(fitted.predict(X)), return_inverse=True)
        return np.eye(len(classes))[[position[_key(c)] for c in labels]][which]
    if not hasattr(fitted, "predict_proba"):
        raise UserError(
            f"{type(fitted).__name__} has no predict_proba: wrap it in scikit-learn's "
            "CalibratedClassifierCV, or use CC or ACC, which need hard predictions only"
        )
    posteriors = np.asarray(fitted.predict_proba(X))
    return check_posteriors(posteriors[:, _class_order(fitted, classes)], len(classes))


def cross_fit(
    classifier: BaseEstimator | None,
    X: Any,
    codes: Codes,
    classes: NDArray[Any],
    folds: Indices,
    *,
    crisp: bool = False,
    weights: NDArray[np.float64] | None = None,
) -> tuple[Posteriors, tuple[Any, ...]]:
    """Posteriors of every training item by a model that has not seen it, and those models."""
    posteriors = np.empty((len(codes), len(classes)))
    models: list[Any] = []
    if isinstance(classifier, FitsFolds):
        models += classifier.fit_folds(X, classes[codes], folds, weights)
    for fold in range(int(folds.max()) + 1):
        held_out = np.flatnonzero(folds == fold)
        rest = np.flatnonzero(folds != fold)
        if fold == len(models):
            models.append(
                fit_classifier(
                    classifier,
                    _safe_indexing(X, rest),
                    classes[codes[rest]],
                    None if weights is None else weights[rest],
                )
            )
        model = models[fold]
        posteriors[held_out] = predict_posteriors(
            model, _safe_indexing(X, held_out), classes, crisp=crisp
        )
    return posteriors, tuple(models)


def item_rows(X: Any) -> Any:
    """The items, a row each, as something whose rows can be taken; refused if they are none.

    Sparse matrices of formats without rows (coo, bsr, dia) become csr, and 64-bit indices become
    short ones where they fit: trees of scikit-learn take no others.
    """
    if issparse(X):
        if X.ndim != 2:
            raise DataError(f"X needs a row per item, got a sparse array of shape {X.shape}")
        return _with_short_indices(X if X.format in _WITH_ROWS else X.tocsr())
    if isinstance(X, np.ma.MaskedArray):
        return unmasked(X, "X")
    if isinstance(X, str | bytes):
        raise DataError("X is a single text: give a list of texts, one per item")
    if np.ndim(X) == 0 if isinstance(X, np.ndarray) else not hasattr(X, "__len__"):
        raise DataError(
            f"X is of type {type(X).__name__}: give items, a row each, in a matrix, a data frame "
            "or a list"
        )
    return X


def _with_short_indices(X: Any) -> Any:
    """The sparse matrix itself, or a copy that shares its values."""
    most = np.iinfo(np.int32).max
    compressed = X.format in ("csr", "csc")
    if not compressed or X.indptr.dtype == X.indices.dtype == np.int32 or X.nnz > most:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return type(X)(parts, shape=X.shape)


def n_rows(X: Any) -> int:
    """Number of items of a matrix, a data frame or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _weight_argument(model: Any) -> str:
    """What the model's fit calls the weights of items."""
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        return f"{name}__{_weight_argument(last)}"
    # A search over settings hands on what it is given.
    if isinstance(model, BaseSearchCV):
        return _weight_argument(model.estimator)
    if not has_fit_parameter(model, "sample_weight"):
        raise UserError(
            f"{type(model).__name__} takes no weights (its fit has no sample_weight): leave the "
            "weights out, or take a classifier that does, such as LogisticRegression"
        )
    return "sample_weight"


def _class_order(fitted: Any, classes: NDArray[Any]) -> list[int]:
    own = [_key(c) for c in fitted.classes_]
    wanted = [_key(c) for c in classes]
    if set(own) != set(wanted):
        raise DataError(
            f"the classifier knows the classes {np.asarray(fitted.classes_).tolist()} but the "
            f"training labels are {classes.tolist()}: fit both on the same classes"
        )
    return [own.index(c) for c in wanted]


def _key(label: Any) -> float | str:
    # 1, 1.0, True and np.int64(1) are one class; "1" is another.
    return float(label) if isinstance(label, int | float | np.number | np.bool_) else str(label)
