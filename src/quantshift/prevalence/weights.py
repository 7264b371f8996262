"""Weights of items: counts or survey weights, checked once, on input.

An item of weight w counts as w items like it, so that whole weights are the same as repeated items
and an item of weight zero does not count. The sum of the weights therefore replaces the number of
items wherever that matters: in penalties, in tests, in corrections for small samples. Survey
weights that are only known up to a factor should be scaled to sum to the number of respondents.
Weights that are all equal carry no information and are treated as no weights.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes
from quantshift.errors import DataError
from quantshift.prevalence.masks import real_numbers

Weights = NDArray[np.float64]

SMALLEST_TOTAL, LARGEST_TOTAL = 1e-100, 1e100
"""Sums of weights beyond these would under- or overflow when they are squared."""


def checked_weights(
    weights: ArrayLike | None,
    n_items: int,
    codes: Codes | None = None,
    n_classes: int | None = None,
    *,
    classes: Any = None,
    kind: str = "class",
) -> Weights | None:
    """The weights as numbers, one per item; None if there are none or all of them are equal.

    codes: if given, each of the n_classes classes must have an item of positive weight.
    classes, kind: the labels of the classes and what to call a class, for the message.
    """
    if weights is None:
        return None
    try:
        checked = np.array(real_numbers(weights, "weights"), dtype=np.float64)
    except DataError:
        raise
    except (TypeError, ValueError):
        raise DataError("weights must be numbers, one per item") from None
    if checked.shape != (n_items,):
        raise DataError(
            f"weights of shape {checked.shape} do not fit {n_items} items: give one per item"
        )
    if not np.isfinite(checked).all() or (checked < 0).any():
        bad = int(np.argmin(np.isfinite(checked) & (checked >= 0)))
        raise DataError(f"weights must be finite and at least 0: that of item {bad} is not")
    check_total(checked, "weights")
    if codes is not None:
        totals = np.bincount(codes, checked, minlength=n_classes or 0)
        if not (totals > SMALLEST_TOTAL).all():
            absent = int(np.argmin(totals))
            name = absent if classes is None else np.asarray(classes).tolist()[absent]
            raise DataError(
                f"{kind} {name!r} has total weight zero: leave it out, or give its items weights"
            )
    return None if (checked == checked[0]).all() else checked


def check_total(weights: Weights, name: str) -> None:
    """Refuse weights whose sum is zero, infinite or nearly so."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total == 0:
        raise DataError(f"{name} are zero for all items: give some a positive weight")
    if not 0 < total < np.inf:
        raise DataError(f"{name} must have a positive, finite sum, got {total}")
    if not SMALLEST_TOTAL < total < LARGEST_TOTAL:
        raise DataError(
            f"{name} sum to {total:g}; scale them so that they sum to the number of items they "
            "stand for"
        )


def total_of(weights: Weights | None, n_items: int) -> float:
    """The sum of the weights; without any, the number of items."""
    return float(n_items if weights is None else weights.sum())


def present(weights: Weights | None, *arrays: NDArray[Any]) -> tuple[Any, ...]:
    """The arrays, and last the weights, of the items with a positive weight."""
    if weights is None or weights.all():
        return (*arrays, weights)
    rows = np.flatnonzero(weights)
    return (*(array[rows] for array in arrays), weights[rows])


def weighted_quantiles(values: NDArray[np.float64], shares: ArrayLike, weights: Weights) -> Weights:
    """Quantiles of weighted values, as `numpy.quantile` would give them of repeated values.

    A quantile is the mean over one unit of weight, which starts at `share * (total - 1)`: with
    whole weights this interpolates linearly between the two nearest values.
    """
    order = np.argsort(values, kind="stable")
    ascending, upper = values[order], np.cumsum(weights[order])
    lower = np.concatenate([[0.0], upper[:-1]])
    unit = min(1.0, float(upper[-1]))
    first = ((upper[-1] - unit) * np.asarray(shares, dtype=np.float64))[..., np.newaxis]
    start = ascending[np.minimum(np.searchsorted(upper, first, side="right"), len(upper) - 1)]
    part = np.clip(np.minimum(upper, first + unit) - np.maximum(lower, first), 0.0, None)
    # Differences, so that equal values stay exactly what they are.
    return np.asarray(start[..., 0] + (part * (ascending - start)).sum(axis=-1) / unit)
