"""Posteriors of any scikit-learn classifier: of new items, and out of fold on the training set.

Columns are always in the order of the caller's sorted classes, whatever the classifier's order. The
classifier is fitted on the user's original labels, so that options such as
`class_weight={"spam": 2}` keep their meaning.
"""

import inspect
from collections.abc import Sequence
from typing import Annotated, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from quantshift.base.domains import Such
from quantshift.base.types import Codes, Indices, Posteriors
from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError
from quantshift.prevalence.masks import unmasked
from quantshift.prevalence.sparse_matrices import checked_sparse


def _is_classifier(value: Any) -> bool:
    """Whether it can learn classes: neither a class, nor what only predicts numbers."""
    predicts = hasattr(value, "predict") or hasattr(value, "predict_proba")
    if inspect.isclass(value) or not (hasattr(value, "fit") and predicts):
        return False
    return not (hasattr(value, "__sklearn_tags__") and is_regressor(value))


Classifier: TypeAlias = Annotated[
    BaseEstimator,
    Such("a classifier such as LogisticRegression()", _is_classifier),
]

_WITH_ROWS = ("csr", "csc", "lil", "dok")
"""Sparse formats that support row indexing."""


@runtime_checkable
class FitsFolds(Protocol):
    """A classifier that can fit the models of all folds together, faster than one by one."""

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
    """A fitted clone of the classifier (logistic regression if None); a frozen one unchanged.

    weights: of the items, passed to the classifier (the last step of a pipeline) as
    `sample_weight`; a classifier that does not accept weights is refused.
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

    With `crisp`, they are the indicators (0 or 1) of the classifier's hard predictions, so that a
    tuned decision threshold has an effect and classifiers without `predict_proba` can be used.
    """
    if crisp:
        _class_order(fitted, classes)
        position = {_key(c): i for i, c in enumerate(classes)}
        labels, label_of_item = np.unique(np.asarray(fitted.predict(X)), return_inverse=True)
        return np.eye(len(classes))[[position[_key(c)] for c in labels]][label_of_item]
    if not hasattr(fitted, "predict_proba"):
        raise UserError(
            f"{type(fitted).__name__} has no predict_proba: wrap it in scikit-learn's "
            "CalibratedClassifierCV, or use CC or ACC, which need only hard predictions"
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
    """Posteriors of every training item by a model that was not trained on it, and the models."""
    posteriors = np.empty((len(codes), len(classes)))
    models: list[Any] = []
    if isinstance(classifier, FitsFolds):
        models += classifier.fit_folds(X, classes[codes], folds, weights)
    for fold in range(int(folds.max()) + 1):
        held_out = np.flatnonzero(folds == fold)
        training_rows = np.flatnonzero(folds != fold)
        if fold == len(models):
            models.append(
                fit_classifier(
                    classifier,
                    _safe_indexing(X, training_rows),
                    classes[codes[training_rows]],
                    None if weights is None else weights[training_rows],
                )
            )
        model = models[fold]
        posteriors[held_out] = predict_posteriors(
            model, _safe_indexing(X, held_out), classes, crisp=crisp
        )
    return posteriors, tuple(models)


LARGEST_FEATURE = 1e20
"""Scikit-learn's logistic regression learns as much from data scaled to 1e25 as from the same data
scaled to 1, and nothing if they are scaled to 1e28: its search does not take its first step."""


def item_rows(X: Any) -> Any:
    """The items, one per row, in a form that supports row indexing.

    Refused if they have no rows, or numbers that no classifier can learn from.
    """
    rows = indexable_rows(X)
    values = _stored(rows) if issparse(rows) else rows
    # Columns of several types are for a pipeline, which may well scale them.
    if frame_columns(rows) is not None and all(map(_is_numeric, rows.dtypes)):
        values = np.asarray(rows)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        _check_size(values)
    return rows


def _stored(X: Any) -> NDArray[Any]:
    """The values that a sparse matrix stores."""
    values: NDArray[Any] = (X if X.format in ("csr", "csc") else X.tocsr()).data
    return values


def _is_numeric(dtype: Any) -> bool:
    """Whether a column of pandas or polars has numbers."""
    is_numeric = getattr(dtype, "is_numeric", None)
    return bool(is_numeric()) if callable(is_numeric) else getattr(dtype, "kind", "") in "biuf"


def _check_size(values: NDArray[Any]) -> None:
    # Gaps are allowed, and infinite numbers are the business of the classifier.
    lowest, highest = (
        float(extreme.reduce(values, axis=None, initial=0)) for extreme in (np.fmin, np.fmax)
    )
    if max(-lowest, highest) <= LARGEST_FEATURE:
        return
    sizes = np.abs(values[np.isfinite(values)], dtype=np.float64)
    largest = float(sizes.max(initial=0))
    if largest > LARGEST_FEATURE:
        raise DataError(
            f"X holds {largest:.3g}: no classifier learns from numbers beyond "
            f"{LARGEST_FEATURE:.0e}; scale them, or replace them if they stand for missing values"
        )


def indexable_rows(X: Any) -> Any:
    """The items, one per row, in a form that supports row indexing; refused if they have no rows.

    Sparse matrices of other formats (coo, bsr, dia) become csr, and 64-bit indices become 32-bit
    ones if they fit, because scikit-learn's trees accept no others. Indices are checked. Lists of
    numbers, one per item, become a matrix; other lists (of texts, of words) stay as they are.
    """
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise DataError("Complex data not supported: X holds complex numbers; give real ones")
    if hasattr(X, "__array__") and not hasattr(X, "shape"):
        X = np.asarray(X)
    if issparse(X):
        return sparse_rows(checked_sparse(X, "X"))
    if isinstance(X, np.ma.MaskedArray):
        return unmasked(X, "X")
    if isinstance(X, str | bytes):
        raise DataError("X is a single text: give a list of texts, one per item")
    has_rows = X.ndim > 0 if isinstance(X, np.ndarray) else hasattr(X, "__len__")
    if not has_rows:
        raise DataError(
            f"X is of type {type(X).__name__}: give a matrix, a data frame or a list with one row "
            "per item"
        )
    return _as_matrix(X) if isinstance(X, list | tuple) else X


def _as_matrix(rows: Sequence[Any]) -> Any:
    """A matrix, if every row is a list of equally many numbers; otherwise the rows themselves."""
    if not rows or not isinstance(rows[0], list | tuple | np.ndarray):
        return rows
    try:
        matrix = np.asarray(rows)
    except ValueError:  # rows of different lengths
        return rows
    return matrix if matrix.dtype.kind in "biuf" else rows


def frame_columns(X: Any) -> list[str] | None:
    """The names of the columns of a data frame, if all of them are texts."""
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def set_columns(estimator: Any, X: Any) -> None:
    """Set `n_features_in_`, as scikit-learn does, if the items are rows of features.

    Also `feature_names_in_`, if they are those of a data frame.
    """
    for name in ("n_features_in_", "feature_names_in_"):
        if name in vars(estimator):
            delattr(estimator, name)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2:
        estimator.n_features_in_ = int(shape[1])
    names = frame_columns(X)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def sparse_rows(X: Any) -> Any:
    """A sparse matrix, whose indices have been checked, in a form that supports row indexing."""
    if X.ndim != 2:
        raise DataError(f"X needs a row per item, got a sparse array of shape {X.shape}")
    return _with_short_indices(X if X.format in _WITH_ROWS else X.tocsr())


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
    """The name of the argument of the model's fit for weights of items."""
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        return f"{name}__{_weight_argument(last)}"
    # A hyper-parameter search passes its arguments on to the estimator.
    if isinstance(model, BaseSearchCV):
        return _weight_argument(model.estimator)
    if not has_fit_parameter(model, "sample_weight"):
        raise UserError(
            f"{type(model).__name__} does not accept weights (its fit has no sample_weight): leave "
            "the weights out, or use a classifier that does, such as LogisticRegression"
        )
    return "sample_weight"


def _class_order(fitted: Any, classes: NDArray[Any]) -> list[int]:
    fitted_keys = [_key(c) for c in fitted.classes_]
    keys = [_key(c) for c in classes]
    if set(fitted_keys) != set(keys):
        raise DataError(
            f"the classifier has the classes {np.asarray(fitted.classes_).tolist()} but the "
            f"training labels are {classes.tolist()}: fit both on the same classes"
        )
    return [fitted_keys.index(c) for c in keys]


def _key(label: Any) -> float | str:
    # 1, 1.0, True and np.int64(1) are one class; "1" is another.
    return float(label) if isinstance(label, int | float | np.number | np.bool_) else str(label)
