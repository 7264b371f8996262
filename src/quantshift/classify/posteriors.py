"""Validation of posteriors: one check for every array from the user."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Posteriors
from quantshift.classify.normalised_rows import MANY_CLASSES, normalised
from quantshift.classify.rounding import ROUNDING, SUM_TOLERANCE
from quantshift.errors import DataError
from quantshift.prevalence.masks import real_numbers
from quantshift.prevalence.sparse_matrices import checked_sparse, is_sparse

Classes: TypeAlias = NDArray[Any] | Sequence[Any] | int | None
"""The label of each class, their number, or None if any number is right."""

EMPTY = "the sample is empty: a prevalence needs at least one item"


def check_posteriors(posteriors: Any, classes: Classes = None) -> Posteriors:
    """Posteriors as floats with rows that sum to one, shape (..., n_items, n_classes).

    classes: the label of each class, or how many there are. The columns of a data frame are put in
    the order of the labels; names that are not those of the classes are refused.

    Refuses NaN and infinities, negative values, rows that do not sum to one (scores are not
    posteriors) and a wrong number of columns, naming the first offending row. If nothing has to be
    changed, the result may be the input itself: do not write to it.
    """
    p = check_shape(posteriors, classes)
    shape = p.shape
    n_columns = shape[-1]
    if n_columns == 2:
        p = np.ascontiguousarray(p)  # reordered columns of a classifier are not contiguous
    if n_columns <= MANY_CLASSES and p.flags.carray:  # compiled for these
        rows = p if len(shape) == 2 else p.reshape(-1, n_columns)
        scaled = normalised(rows)
        if scaled is not None:
            return scaled if len(shape) == 2 else scaled.reshape(shape)
    # Sum and minimum reveal every error: NaN and infinities by the sum, negatives by the minimum.
    sums = p.sum(axis=-1)
    if not (np.abs(sums - 1).max() <= SUM_TOLERANCE and p.min() >= 0):
        raise _fault(p, sums)
    sums[np.abs(sums - 1) <= (n_columns - 2) * ROUNDING] = 1.0
    return np.asarray(p / sums[..., np.newaxis])


def check_shape(posteriors: Any, classes: Classes = None) -> Posteriors:
    """Posteriors as floats, at least one row and a column per class; values are not checked."""
    p = _numbers(posteriors, classes)
    n_classes = classes if classes is None or isinstance(classes, int) else len(classes)
    shape = p.shape
    if len(shape) < 2:
        raise DataError(
            f"posteriors need a row per item and a column per class, got shape {shape}; "
            "for binary posteriors p of the second class give np.column_stack([1 - p, p])"
        )
    n_columns = shape[-1]
    if n_classes is not None and n_columns != n_classes:
        raise DataError(
            f"posteriors have {n_columns} columns but there are {n_classes} classes: "
            "give one column per class, in the order of classes_"
        )
    if n_columns < 2:
        raise DataError("posteriors have a single column: give one column per class, at least 2")
    if 0 in shape:
        raise DataError(EMPTY)
    return p


def _numbers(posteriors: Any, classes: Classes) -> Posteriors:
    if type(posteriors) is np.ndarray and posteriors.dtype == np.float64:
        return posteriors
    values: Any = real_numbers(posteriors, "posteriors")
    if is_sparse(values):
        values = checked_sparse(values, "posteriors").toarray()
    elif hasattr(values, "columns"):
        values = _in_order(values, classes)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("posteriors must be numbers, in rows of one length") from None


def _in_order(frame: Any, classes: Classes) -> Any:
    """The columns of a data frame in the order of the classes; by position if they have no names.

    Without labels of the classes, the columns are taken as they are.
    """
    if classes is None or isinstance(classes, int):
        return frame
    columns = list(getattr(frame, "column_names", frame.columns))  # the former are pyarrow's
    names, labels = [_name(column) for column in columns], [_name(label) for label in classes]
    listed = f"{', '.join(names[:10])}, and the classes {', '.join(labels[:10])}"
    if sorted(names) == sorted(labels) and len(set(names)) == len(names):
        if names == labels:
            return frame
        if _are_unnamed(frame):
            raise DataError(
                f"the columns of the posteriors are {listed}: are they names or positions? Name "
                "them as text, or give an array in the order of the classes"
            )
        ordered = [columns[names.index(name)] for name in labels]
        return frame.select(ordered) if hasattr(frame, "select") else frame[ordered]
    if _are_unnamed(frame):
        return frame
    raise DataError(
        f"the columns of the posteriors are {listed}: name them after the classes, or give an "
        "array with a column per class in this order"
    )


def _are_unnamed(frame: Any) -> bool:
    """Whether the columns have only the names that pandas or polars give to those without."""
    columns = frame.columns
    if isinstance(columns, list):
        return columns == [f"column_{i}" for i in range(len(columns))]
    return type(columns).__name__ == "RangeIndex" and list(columns) == list(range(len(columns)))


def _name(label: Any) -> str:
    """A class or column as text; 1 and 1.0 are one class."""
    is_number = isinstance(label, int | float | np.number) and not isinstance(label, bool)
    return str(int(label)) if is_number and float(label).is_integer() else str(label)


def _fault(p: Posteriors, sums: Posteriors) -> DataError:
    flat, flat_sums = p.reshape(-1, p.shape[-1]), sums.ravel()
    finite = np.isfinite(flat).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        return DataError(
            f"posteriors of item {row} are not finite ({flat[row].tolist()}): "
            "drop the item or fix the classifier that produced them"
        )
    negative = (flat < 0).any(axis=1)
    if not negative.any():
        row = int(np.argmax(np.abs(flat_sums - 1)))
        return DataError(
            f"posteriors of item {row} are {flat[row].tolist()}: they must sum to 1, and their sum "
            f"is {flat_sums[row]:.6g}; divide every row by its sum or, if these are scores, turn "
            "them into probabilities first (e.g. by calibration)"
        )
    row = int(np.argmax(negative))
    return DataError(
        f"posteriors of item {row} are {flat[row].tolist()}: they must be non-negative and sum "
        "to 1; if these are scores, turn them into probabilities first (e.g. by calibration)"
    )
