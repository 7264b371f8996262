"""Validation of posteriors: one check for every array from the user."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from quantshift.compiled import compiled
from quantshift.errors import DataError
from quantshift.masks import unmasked
from quantshift.types import Posteriors

SUM_TOLERANCE = 1e-3
"""Rows whose sum is this close to one count as rounded and are normalised; others are refused."""

FEW_CLASSES = 7
"""numpy sums rows of more numbers than this pairwise, and shorter ones from left to right."""


def check_posteriors(posteriors: ArrayLike, n_classes: int | None = None) -> Posteriors:
    """Posteriors as floats with rows that sum to one, shape (..., n_items, n_classes).

    Refuses NaN and infinities, negative values, rows that do not sum to one (scores are not
    posteriors) and a wrong number of columns, naming the first offending row. If nothing has to be
    changed, the result may be the input itself: do not write to it.
    """
    p = _numbers(posteriors)
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
        raise DataError("the sample is empty: a prevalence needs at least one item")
    if n_columns == 2:
        p = np.ascontiguousarray(p)  # reordered columns of a classifier are not contiguous
    if n_columns <= FEW_CLASSES and p.flags.carray:  # a single kind of array is compiled
        scaled = _normalised(p if len(shape) == 2 else p.reshape(-1, n_columns))
        if len(scaled):
            return scaled if len(shape) == 2 else scaled.reshape(shape)
    # Sum and minimum reveal every error: NaN and infinities by the sum, negatives by the minimum.
    sums = p.sum(axis=-1)
    if not (np.abs(sums - 1).max() <= SUM_TOLERANCE and p.min() >= 0):
        raise _fault(p, sums)
    return np.asarray(p / sums[..., np.newaxis])


@compiled
def _normalised(p: Posteriors) -> Posteriors:
    """The rows scaled to a sum of one: p itself if they have it; no rows if they are invalid."""
    n_items, n_classes = p.shape
    fine = exact = True
    for i in range(n_items):
        total = p[i, 0] + p[i, 1]
        fine &= (p[i, 0] >= 0.0) & (p[i, 1] >= 0.0)
        for k in range(2, n_classes):
            fine &= p[i, k] >= 0.0
            total += p[i, k]
        fine &= abs(total - 1.0) <= SUM_TOLERANCE
        exact &= total == 1.0
    if not fine:
        return p[:0]
    if exact:
        return p
    scaled = np.empty((n_items, n_classes))
    for i in range(n_items):
        total = p[i, 0] + p[i, 1]
        for k in range(2, n_classes):
            total += p[i, k]
        for k in range(n_classes):
            scaled[i, k] = total
    # A flat loop, which is vectorised.
    numbers, totals = p.ravel(), scaled.ravel()
    for j in range(numbers.size):
        totals[j] = numbers[j] / totals[j]
    return scaled


def _numbers(posteriors: ArrayLike) -> Posteriors:
    if type(posteriors) is np.ndarray and posteriors.dtype == np.float64:
        return posteriors
    given: Any = unmasked(posteriors, "posteriors")
    given = given.toarray() if issparse(given) else given
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("posteriors must be numbers, in rows of one length") from None


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
