"""Which labels each item has, given in any form, as a table of truth values.

Users hold such labels as an indicator matrix (dense, sparse, a data frame with a column per label)
or as a set of labels for each item. Anything that would need guessing is refused here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from quantshift.base.types import Flags, Indices
from quantshift.errors import DataError
from quantshift.prevalence.labels import column
from quantshift.prevalence.masks import unmasked
from quantshift.prevalence.sparse_matrices import checked_sparse
from quantshift.prevalence.weights import Weights

FEWEST = 2
"""Items with a label, and items without it, that are needed to learn it."""

NAMED = 5
"""The most labels that a message names; the others are counted."""


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Which labels each item has.

    has: a row per item, a column per label, (n_items, n_labels).
    names: of the labels, (n_labels,).
    """

    has: Flags
    names: NDArray[Any]

    def __len__(self) -> int:
        return len(self.has)

    def take(self, rows: Indices) -> "LabelTable":
        """Some of the items."""
        return LabelTable(self.has[rows], self.names)

    def shares(self, weights: Weights | None = None) -> NDArray[np.float64]:
        """The share of items that have each label, (n_labels,)."""
        return np.average(self.has, axis=0, weights=weights)


def label_table(Y: Any, names: Any = None) -> LabelTable:
    """The labels of every item as a table.

    Y: an indicator matrix of 0 and 1 or of truth values, with a row per item and a column per
        label: an array, a sparse matrix, a data frame. Or a set of labels per item: a sequence of
        sets, lists or tuples, of which any may be empty.
    names: of the labels, in the order of the columns; by default those of the data frame, or 0, 1
        and so on. For sets: the labels that may occur, by default those that do, sorted.

    >>> label_table([{"spam"}, set(), {"abuse", "spam"}]).names
    array(['abuse', 'spam'], dtype='<U5')
    >>> label_table([{"spam"}, set(), {"abuse", "spam"}]).has.astype(int).tolist()
    [[0, 1], [0, 0], [1, 1]]
    """
    if _are_sets(Y):
        return _from_sets(list(Y), names)
    if hasattr(Y, "columns") and names is None:
        names = [str(name) for name in getattr(Y, "column_names", Y.columns)]
    has = _indicators(Y)
    label_names = (
        np.arange(has.shape[1]) if names is None else column(names, name="names of labels")
    )
    if len(label_names) != has.shape[1]:
        raise DataError(f"{len(label_names)} names do not fit {has.shape[1]} columns of labels")
    _check_names(label_names)
    return LabelTable(has, label_names)


def check_learnable(table: LabelTable, weights: Weights | None = None) -> None:
    """Refuse labels that cannot be learnt: those that (almost) no item has, or that all have."""
    has = table.has if weights is None else table.has[weights > 0]
    counts = has.sum(axis=0)
    for too_few, words in (
        (counts < FEWEST, "with"),
        (len(has) - counts < FEWEST, "without"),
    ):
        if too_few.any():
            raise DataError(
                f"{_listed(table.names[too_few])}: at least {FEWEST} items {words} a label are "
                "needed to learn it; leave such labels out, or add items"
            )


def _listed(names: NDArray[Any]) -> str:
    text = ", ".join(repr(name) for name in names[:NAMED].tolist())
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"label{'s' if len(names) > 1 else ''} {text}{more}"


def _are_sets(Y: Any) -> bool:
    """Whether Y has a collection of labels for each item, instead of a row of indicators."""
    if issparse(Y) or hasattr(Y, "columns"):
        return False
    if isinstance(Y, str | bytes) or not isinstance(Y, Iterable):
        raise DataError("labels must be an indicator matrix or a set of labels for each item")
    array = np.asarray(Y, dtype=object) if not isinstance(Y, np.ndarray) else Y
    if array.ndim == 2:
        return any(isinstance(value, str) for value in array.flat)
    first = next(iter(Y), None)
    return isinstance(first, set | frozenset | list | tuple | np.ndarray) or (
        isinstance(first, Iterable) and not isinstance(first, str | bytes)
    )


def _from_sets(sets: Sequence[Any], names: Any) -> LabelTable:
    for i, labels in enumerate(sets):
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            example = "an empty set" if labels is None else f"{{{labels!r}}}"
            raise DataError(
                f"the labels of item {i} are {labels!r}: give a set of labels for each item, such "
                f"as {example}"
            )
    occurring = [label for labels in sets for label in labels]
    if names is None and not occurring:
        raise DataError("no item has a label: give the names of the labels, or items with some")
    label_names = np.unique(column(occurring, name="labels")) if names is None else column(names)
    _check_names(label_names)
    position_of = {label: j for j, label in enumerate(label_names.tolist())}
    has = np.zeros((len(sets), len(label_names)), dtype=bool)
    for i, labels in enumerate(sets):
        for label in labels:
            value = label.item() if isinstance(label, np.generic) else label
            if value not in position_of:
                raise DataError(f"item {i} has the label {label!r}, which is not among the names")
            has[i, position_of[value]] = True
    return LabelTable(has, label_names)


def _indicators(Y: Any) -> Flags:
    if issparse(Y):
        values = checked_sparse(Y, "labels").toarray()
    elif hasattr(Y, "to_numpy"):
        values = Y.to_numpy()
    else:
        values = np.asarray(unmasked(Y, "labels"))
    if values.ndim != 2:
        raise DataError(
            f"labels of shape {values.shape}: give a row per item and a column per label, or a set "
            "of labels for each item"
        )
    if 0 in values.shape:
        raise DataError("labels are empty: give at least one item and one label")
    if values.dtype == bool:
        return np.ascontiguousarray(values)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("indicators of labels must be 0 or 1, or truth values") from None
    wrong = ~((numbers == 0) | (numbers == 1))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise DataError(
            f"the indicator of item {i}, column {j}, is {values[i, j]}: it must be 0 or 1"
        )
    return np.asarray(numbers == 1)


def _check_names(names: NDArray[Any]) -> None:
    values, counts = np.unique(names, return_counts=True)
    if counts.max() > 1:
        raise DataError(f"label {values[counts > 1].tolist()[0]!r} is named twice")
