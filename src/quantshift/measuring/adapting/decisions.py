"""From posteriors to predicted classes: the likeliest class, the cheapest one, or a threshold.

With a cost matrix the class with the smallest expected cost is predicted. A target for precision or
recall needs a threshold for the posterior of one class, the positive one. Both have an expectation
under calibrated posteriors: of the k items with the largest ones, precision is their mean, and
recall their sum divided by the sum over all items.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.types import Codes, Posteriors, Reals
from quantshift.errors import DataError, UserError
from quantshift.prevalence.weights import Weights

ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Decisions:
    """How posteriors become predictions.

    costs: costs[i, j] of predicting class j for an item of class i; None: the likeliest class.
    positive: the class that has a threshold; threshold: its smallest posterior at which it is
        predicted, whatever the others are. None: no threshold.
    """

    costs: Reals | None = None
    positive: int | None = None
    threshold: float | None = None

    def __call__(self, posteriors: Posteriors) -> Codes:
        """The predicted class of every item."""
        if self.costs is not None:
            return np.asarray((posteriors @ self.costs).argmin(axis=1))
        if self.positive is None or self.threshold is None:
            return np.asarray(posteriors.argmax(axis=1))
        others = posteriors.copy()
        others[:, self.positive] = -1.0
        chosen = posteriors[:, self.positive] >= self.threshold
        return np.where(chosen, self.positive, others.argmax(axis=1))


def checked_costs(costs: ArrayLike, n_classes: int) -> Reals:
    """A cost matrix of finite numbers, one row and one column per class."""
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("costs must be numbers, a row and a column per class") from None
    if matrix.shape != (n_classes, n_classes):
        raise DataError(
            f"costs of shape {matrix.shape} do not fit {n_classes} classes: give a row for each "
            "true class and a column for each predicted class"
        )
    if not np.isfinite(matrix).all():
        raise DataError("costs must be finite numbers; negative ones are gains")
    return matrix


def checked_target(target: float, name: str) -> float:
    """A precision or recall to reach, above 0 and at most 1."""
    if isinstance(target, bool) or not isinstance(target, int | float) or not 0 < target <= 1:
        raise UserError(f"{name} must be above 0 and at most 1, got {target!r}", arguments=[name])
    return float(target)


def precision_threshold(
    posteriors: ArrayLike, precision: float, weights: Weights | None = None
) -> float:
    """The smallest threshold at which the expected precision is at least `precision`, or inf.

    posteriors: of the positive class, (n_items,), calibrated. weights: of the items.

    >>> precision_threshold([0.9, 0.8, 0.2], 0.8), precision_threshold([0.9, 0.8, 0.2], 0.95)
    (0.8, inf)
    """
    ordered, counts, last = _ordered(posteriors, weights)
    means = np.cumsum(ordered * counts) / np.cumsum(counts)
    enough = last & (means >= precision - ROUNDING)
    return float(ordered[np.flatnonzero(enough)[-1]]) if enough.any() else float("inf")


def recall_threshold(posteriors: ArrayLike, recall: float, weights: Weights | None = None) -> float:
    """The largest threshold whose expected recall is at least `recall`.

    >>> recall_threshold([0.9, 0.8, 0.2, 0.1], 0.85)
    0.8
    """
    ordered, counts, last = _ordered(posteriors, weights)
    positives = np.cumsum(ordered * counts)
    enough = last & (positives >= (recall - ROUNDING) * positives[-1])
    return float(ordered[np.flatnonzero(enough)[0]])


def _ordered(
    posteriors: ArrayLike, weights: Weights | None
) -> tuple[Reals, Reals, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Posteriors from the largest, their weights, and which are the last of equal ones."""
    values = np.asarray(posteriors, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise DataError("a threshold needs the posteriors of the positive class of some items")
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    counts = np.ones(len(values)) if weights is None else weights[order]
    last = np.append(ordered[1:] < ordered[:-1], True)
    return ordered, counts, last
