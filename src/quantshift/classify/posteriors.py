"""Posteriors at the border: one check for every array that comes from outside."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from quantshift.errors import DataError
from quantshift.masks import unmasked
from quantshift.types import Posteriors

SUM_TOLERANCE = 1e-3
"""Rows this near to summing to one are taken as rounded and normalised; others are refused."""


def check_posteriors(posteriors: ArrayLike, n_classes: int | None = None) -> Posteriors:
    """Posteriors as floats with rows that sum to one, shape (..., n_items, n_classes).

    Refuses NaN and infinities, negative values, rows that do not sum to one (scores are not
    posteriors) and a wrong number of columns, naming the first offending row.
    """
    p = _numbers(posteriors)
    if p.ndim < 2:
        raise DataError(
            f"posteriors need a row per item and a column per class, got shape {p.shape}; "
            "for binary posteriors p of the second class give np.column_stack([1 - p, p])"
        )
    if n_classes is not None and p.shape[-1] != n_classes:
        raise DataError(
            f"posteriors have {p.shape[-1]} columns but there are {n_classes} classes: "
            "give one column per class, in the order of classes_"
        )
    if p.shape[-1] < 2:
        raise DataError("posteriors have a single column: give one column per class, at least 2")
    if 0 in p.shape:
        raise DataError("the sample is empty: a prevalence needs at least one item")
    # One pass finds every fault: NaN and infinities poison the sum, a negative value the minimum.
    binary = p.shape[-1] == 2
    sums = p[..., 0] + p[..., 1] if binary else p.sum(axis=-1)
    if not (np.abs(sums - 1).max() <= SUM_TOLERANCE and p.min() >= 0):
        raise _fault(p, sums)
    if not binary:
        return np.asarray(p / sums[..., np.newaxis])
    # Two long columns are added and divided several times faster than many rows of two.
    scaled = np.empty(p.shape)
    for k in (0, 1):
        np.divide(p[..., k], sums, out=scaled[..., k])
    return scaled


def _numbers(posteriors: ArrayLike) -> Posteriors:
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
            "drop the item or mend the classifier that made them"
        )
    negative = (flat < 0).any(axis=1)
    row = int(np.argmax(negative)) if negative.any() else int(np.argmax(np.abs(flat_sums - 1)))
    return DataError(
        f"posteriors of item {row} are {flat[row].tolist()}: they must be non-negative and sum "
        "to 1; if these are scores, turn them into probabilities first (e.g. by calibration)"
    )
