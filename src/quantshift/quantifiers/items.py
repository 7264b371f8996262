"""What is known of items: all that a method may see of them, and how much each of them counts."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.utils import _safe_indexing

from quantshift.classify.classifier import item_rows, n_rows
from quantshift.errors import DataError
from quantshift.types import Indices, Posteriors
from quantshift.weights import Weights


@runtime_checkable
class Reduced(Protocol):
    """What a method's `reduction` makes of features: rows to take and to join."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Indices) -> Self: ...

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The items of all parts, one part behind the other."""


@dataclass(frozen=True, eq=False)
class Items:
    """What is known of items; what nobody asked for is None.

    posteriors: shape (n_items, n_classes).
    committee: posteriors by each of the models that made the out-of-fold posteriors of the
        training items, shape (n_members, n_items, n_classes).
    features: a row per item, dense or sparse; or what a method's `reduction` made of them.
    weights: shape (n_items,), none negative; None: every item counts once.
    """

    posteriors: Posteriors | None = None
    committee: Posteriors | None = None
    features: Any = None
    weights: Weights | None = None

    def __post_init__(self) -> None:
        sizes = {name: size for name, size in self._sizes().items() if size is not None}
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{name} of {size}" for name, size in sizes.items())
            raise DataError(
                f"items need a row each in everything that is known of them, got {told}"
            )

    def __len__(self) -> int:
        return next((size for size in self._sizes().values() if size is not None), 0)

    def __bool__(self) -> bool:
        """Whether anything is known of the items."""
        return any(getattr(self, field.name) is not None for field in fields(self))

    def take(self, rows: Indices) -> "Items":
        """The items at these positions."""
        return Items(
            None if self.posteriors is None else self.posteriors[rows],
            None if self.committee is None else self.committee[:, rows],
            None if self.features is None else take_rows(self.features, rows),
            None if self.weights is None else self.weights[rows],
        )

    def unweighted(self) -> "Items":
        """The same items, each of which counts once."""
        return self if self.weights is None else replace(self, weights=None)

    @classmethod
    def joined(cls, parts: Sequence["Items"]) -> "Items":
        """The items of all parts, one part behind the other; all know the same of theirs."""
        columns = ([getattr(part, field.name) for part in parts] for field in fields(cls))
        return cls(*map(_joined, columns))

    def _sizes(self) -> dict[str, int | None]:
        return {
            "posteriors": None if self.posteriors is None else len(self.posteriors),
            "committee": None if self.committee is None else self.committee.shape[1],
            "features": None if self.features is None else n_rows(self.features),
            "weights": None if self.weights is None else len(self.weights),
        }


def take_rows(values: Any, rows: Indices) -> Any:
    """Rows of a matrix, a data frame, a list, or of what features were reduced to."""
    direct = isinstance(values, np.ndarray | Reduced)
    return values[rows] if direct else _safe_indexing(item_rows(values), rows)


def uneven(weights: Weights | None) -> Weights | None:
    """The weights, or None if they are all equal: then each item counts once, whatever the unit."""
    return None if weights is None or not len(weights) or np.ptp(weights) == 0 else weights


def drawn_weights(rows: Indices, weights: Weights | None, n_items: int) -> Weights:
    """Weights of items drawn with replacement: how often each was, times its own weight."""
    counts = np.bincount(rows, minlength=n_items).astype(np.float64)
    return counts if weights is None else counts * weights


def effective_size(weights: Weights) -> float:
    """Kish's effective size: as many equal weights would give a mean of the same variance.

    Reference: L. Kish, "Survey Sampling", 1965.

    >>> effective_size(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    return float(weights.sum() ** 2 / (weights @ weights))


def _joined(values: Sequence[Any]) -> Any:
    first = values[0]
    if first is None:
        return None
    if isinstance(first, Reduced):
        return type(first).joined(values)
    if issparse(first):
        return vstack(values, format="csr")
    # A committee has its members first.
    return np.concatenate(values, axis=1 if np.ndim(first) == 3 else 0)
