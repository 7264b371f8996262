"""What is known about items: everything a method can use, and the weight of each item."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from sklearn.utils import _safe_indexing

from quantshift.base.types import Indices, Posteriors
from quantshift.classify.classifier import indexable_rows, n_rows, sparse_rows
from quantshift.errors import DataError, UserError
from quantshift.prevalence.weights import LARGEST_TOTAL, SMALLEST_TOTAL, Weights


@runtime_checkable
class Reduced(Protocol):
    """Features reduced by a method's `reduction`, whose rows can be subset and concatenated."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Indices) -> Self: ...

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The items of all parts, concatenated."""


@dataclass(frozen=True, eq=False)
class Items:
    """What is known about items; None for what is not needed.

    Parameters
    ----------
    posteriors : array, optional
        Shape (n_items, n_classes).
    committee : array, optional
        Posteriors by each of the models that made the out-of-fold posteriors of the training items,
        shape (n_members, n_items, n_classes).
    features : object, optional
        A row per item, dense or sparse, or reduced by a method's `reduction`.
    weights : array, optional
        Shape (n_items,), none negative; None: every item counts once.

    Examples
    --------
    >>> import numpy as np
    >>> items = Items(posteriors=np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]))
    >>> len(items), len(items.take(np.array([0, 2])))
    (3, 2)
    """

    posteriors: Posteriors | None = None
    committee: Posteriors | None = None
    features: Any = None
    weights: Weights | None = None

    def __post_init__(self) -> None:
        if self.committee is None and self.features is None and self.weights is None:
            return
        sizes = self._sizes()
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{name} of {size}" for name, size in sizes.items())
            raise DataError(f"every array about the items needs one row per item, got {listed}")

    def __len__(self) -> int:
        if self.posteriors is not None:
            return len(self.posteriors)
        return next(iter(self._sizes().values()), 0)

    def __bool__(self) -> bool:
        """Whether anything is known about the items."""
        return self.posteriors is not None or bool(self._sizes())

    def take(self, rows: Indices) -> "Items":
        """The items at these positions; all of them, in their order, are not copied.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift.items import Items
        >>> Items(features=np.array([[1.0], [2.0], [3.0]])).take(np.array([2, 0])).features.ravel()
        array([3., 1.])
        """
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(self))):
            return self
        return Items(
            None if self.posteriors is None else self.posteriors[rows],
            None if self.committee is None else self.committee[:, rows],
            None if self.features is None else take_rows(self.features, rows),
            None if self.weights is None else self.weights[rows],
        )

    def unweighted(self) -> "Items":
        """The same items, each of which counts once.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift.items import Items
        >>> Items(weights=np.array([2.0, 3.0])).unweighted().weights is None
        True
        """
        return self if self.weights is None else replace(self, weights=None)

    @classmethod
    def joined(cls, parts: Sequence["Items"]) -> "Items":
        """The items of all parts, concatenated; all parts must have the same fields.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift.items import Items
        >>> parts = [Items(features=np.array([[1.0]])), Items(features=np.array([[2.0], [3.0]]))]
        >>> len(Items.joined(parts))
        3
        """
        columns = ([getattr(part, field.name) for part in parts] for field in fields(cls))
        return cls(*map(_joined, columns))

    def _sizes(self) -> dict[str, int]:
        """The number of items of each known field."""
        sizes = {}
        if self.posteriors is not None:
            sizes["posteriors"] = len(self.posteriors)
        if self.committee is not None:
            sizes["committee"] = self.committee.shape[1]
        if self.features is not None:
            sizes["features"] = n_rows(self.features)
        if self.weights is not None:
            sizes["weights"] = len(self.weights)
        return sizes


def take_rows(values: Any, rows: Indices) -> Any:
    """Rows of a matrix, a data frame, a list, or of reduced features."""
    if isinstance(values, np.ndarray | Reduced):
        return values[rows]
    return _safe_indexing(sparse_rows(values) if issparse(values) else indexable_rows(values), rows)


MOST_FEATURES = 1000
"""The most features for methods that compare them directly; more would be slow and not help."""


def dense_features(items: Items, method: str, why: str = "") -> NDArray[np.float64]:
    """Features as a dense matrix of finite numbers.

    method: its name, for error messages; why: what it does with each of the features.
    """
    if items.features is None:
        raise UserError(f"{method} needs features: give those of the items")
    shape: tuple[int, ...] = getattr(items.features, "shape", ())
    if len(shape) == 2 and shape[1] > MOST_FEATURES:
        raise UserError(
            f"{method} {why or 'compares items feature by feature'}, and "
            f"{shape[1]} are more than {MOST_FEATURES}: reduce them, e.g. by "
            "TruncatedSVD in a pipeline before it"
        )
    dense = items.features.toarray() if issparse(items.features) else items.features
    try:
        X = np.asarray(dense, dtype=np.float64)
    except (TypeError, ValueError):
        raise UserError(f"{method} needs numeric features: encode them first") from None
    check_rows(X, method)
    if not np.isfinite(X).all():
        raise DataError(
            f"{method} needs finite numbers, and X contains NaN or infinity: replace them"
        )
    return X


def check_rows(X: NDArray[Any], method: str) -> None:
    """Refuse features that are not one row per item."""
    if X.ndim != 2:
        raise DataError(
            f"{method} needs a row of features per item, got an array of shape {X.shape}. Reshape "
            "your data, as in X.reshape(-1, 1) for one feature"
        )


def uneven(weights: Weights | None) -> Weights | None:
    """The weights, or None if they are all equal, which is equivalent to no weights."""
    return None if weights is None or not len(weights) or np.ptp(weights) == 0 else weights


def drawn_weights(rows: Indices, weights: Weights | None, n_items: int) -> Weights:
    """Weights of items drawn with replacement: how often each was drawn, times its own weight."""
    counts = np.bincount(rows, minlength=n_items).astype(np.float64)
    return counts if weights is None else counts * weights


def effective_size(weights: Weights) -> float:
    """Kish's effective size: the number of equal weights that gives a mean of the same variance.

    Reference: L. Kish, "Survey Sampling", 1965.

    >>> effective_size(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    with np.errstate(over="ignore", under="ignore"):
        squares = float(weights @ weights)
    if not SMALLEST_TOTAL < squares < LARGEST_TOTAL and weights.any():
        weights = weights / weights.max()
        squares = float(weights @ weights)
    return float(weights.sum() ** 2 / squares)


def _joined(values: Sequence[Any]) -> Any:
    first = values[0]
    if first is None:
        return None
    if isinstance(first, Reduced):
        return type(first).joined(values)
    if issparse(first):
        return vstack(values, format="csr")
    # The first axis of a committee is its members.
    return np.concatenate(values, axis=1 if np.ndim(first) == 3 else 0)
