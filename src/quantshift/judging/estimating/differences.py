"""How two systems differ, by what each item adds to the estimates of both.

The probability that one is better follows from the same limits: it is 97.5% where the lower limit
of a 95% interval is 0, so that intervals, probabilities and p-values never contradict each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from scipy.special import ndtr, ndtri

from quantshift.base.types import Reals
from quantshift.errors import DataError, UserError
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.result import (
    ErrorPattern,
    JudgeComparison,
    SystemDifference,
)
from quantshift.statistics.multiple_tests import holm

Row = TypeVar("Row", SystemDifference, JudgeComparison, ErrorPattern)

POWER = 0.8
"""The chance that the number of labels that is said to decide a question does decide it."""


@dataclass(frozen=True, eq=False)
class Difference:
    """The share of each class in a, minus that in b, (n_classes,)."""

    difference: Reals
    low: Reals
    high: Reals
    level: float
    paired: bool


def difference(a: Judged, b: Judged, *, paired: bool = False, shared: bool = False) -> Difference:
    """How two systems differ, by the squares of the distances to their limits (MOVER).

    paired: the items of a and b are the same, in the same order (answers to the same questions).
    shared: the labels from elsewhere are the same.
    """
    if len(a.shares.prevalence) != len(b.shares.prevalence):
        raise DataError("systems that are compared have the same classes")
    check_comparable(a, b, paired=paired)
    r = correlation(a, b, paired=paired, shared=shared)
    d = a.shares.prevalence - b.shares.prevalence
    down, up = mover(distances_to_limits(a), distances_to_limits(b), r)
    return Difference(d, np.maximum(d - down, -1), np.minimum(d + up, 1), a.level, paired)


def check_comparable(a: Judged, b: Judged, *, paired: bool) -> None:
    """Refuse intervals of two levels, and pairs of different items."""
    if a.level != b.level:
        raise UserError(f"the intervals are of levels {a.level} and {b.level}: use one")
    if paired and a.shares.influence.shape != b.shares.influence.shape:
        raise DataError(
            f"a paired comparison needs the same items, got {a.n_items} and {b.n_items}"
        )


def mover(a: tuple[Reals, Reals], b: tuple[Reals, Reals], r: Reals) -> tuple[Reals, Reals]:
    """Distances of a difference down and up to its limits, from those of a and b."""
    down = np.sqrt(np.maximum(a[0] ** 2 + b[1] ** 2 - 2 * r * a[0] * b[1], 0))
    up = np.sqrt(np.maximum(a[1] ** 2 + b[0] ** 2 - 2 * r * a[1] * b[0], 0))
    return down, up


def distances_to_limits(judged: Judged) -> tuple[Reals, Reals]:
    """The distances from the shares down and up to their limits."""
    shares = judged.shares
    return shares.prevalence - shares.low, shares.high - shares.prevalence


def correlation(
    a: Judged, b: Judged, *, paired: bool, shared: bool, worth: Reals | None = None
) -> Reals:
    """The correlation of two estimates, class by class, or of sums of classes.

    worth: what each class counts in the sums, (n_classes, n_sums).
    """
    of = np.eye(len(a.shares.prevalence)) if worth is None else worth

    def product(x: Judged, y: Judged, items: bool, external: bool) -> Reals:
        total, one, other = np.zeros(of.shape[1]), x.shares, y.shares
        if items:
            total = ((one.influence @ of) * (other.influence @ of)).sum(axis=0)
        if external and one.influence_external is not None and other.influence_external is not None:
            if one.influence_external.shape != other.influence_external.shape:
                raise DataError("labels from elsewhere that are shared are the same for both")
            both = (one.influence_external @ of) * (other.influence_external @ of)
            total = total + both.sum(axis=0)
        return np.asarray(total / len(one.influence) / len(other.influence))

    covariance = product(a, b, paired, shared)
    scale = np.sqrt(product(a, a, True, True) * product(b, b, True, True))
    return np.clip(np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0), -1, 1)


def probability_above(
    estimate: float, low: float, high: float, level: float, bound: float
) -> float:
    """The probability that the true value is above a bound, by an estimate and its limits.

    >>> round(probability_above(0.2, 0.0, 0.5, 0.95, 0.0), 3)
    0.975
    """
    return float(ndtr(_standard_errors(estimate - bound, estimate - low, high - estimate, level)))


def p_value_of(estimate: float, low: float, high: float, level: float, bound: float) -> float:
    """The p-value of the true value being the bound, by the same.

    >>> round(p_value_of(0.2, 0.0, 0.5, 0.95, 0.0), 3)
    0.05
    """
    z = _standard_errors(estimate - bound, estimate - low, high - estimate, level)
    return float(2 * ndtr(-abs(z)))


def adjusted_for_number(rows: Sequence[Row], level: float) -> list[Row]:
    """The rows with p-values that allow for their number (Holm), and what is more than chance."""
    p_values = holm([row.p_value for row in rows])
    return [
        replace(row, p_adjusted=p, more_than_chance=p < 1 - level)
        for row, p in zip(rows, p_values, strict=True)
    ]


def _standard_errors(apart: float, down: float, up: float, level: float) -> float:
    """How many standard errors an estimate is above a bound; down, up: to its limits."""
    distance = down if apart > 0 else up
    if apart == 0 or distance <= 0:
        return float(np.sign(apart) * np.inf) if apart else 0.0
    return float(apart / distance * ndtri((1 + level) / 2))


@dataclass(frozen=True)
class LabelVariance:
    """What the square of a limit's distance is made of.

    by_labels, by_items: the parts that more labels and more items would reduce. n_labels: those
    there are; n_items: those that can be labelled, None if labels are of other items. of_items:
    whether labels of all of them would leave nothing unknown.
    """

    by_labels: float
    by_items: float
    n_labels: int
    n_items: int | None
    of_items: bool


def labels_to_decide(
    apart: float, distance: float, level: float, made_of: LabelVariance
) -> int | None:
    """Labels in all that decide with a chance of 80% whether something is above or below a bound.

    apart: how far the estimate is from the bound, if it is right; distance: from the estimate to
    the limit on that side. None if it is decided, or if labels cannot decide it.
    """
    apart, k, n = abs(apart), made_of.n_labels, made_of.n_items
    if not apart or distance < apart or not k:
        return None
    z, total = float(ndtri((1 + level) / 2)), made_of.by_labels + made_of.by_items
    narrower = apart / distance * z / (z + float(ndtri(POWER)))
    if total <= 0:
        # Without an error among the labels the distance falls as their number rises.
        needed = k / narrower
    else:
        rest = (
            (narrower**2 * total - made_of.by_items) / made_of.by_labels if made_of.by_labels else 0
        )
        if rest <= 0:
            return None
        finite = made_of.of_items and n is not None
        needed = 1 / (rest * (1 / k - 1 / n) + 1 / n) if finite and n is not None else k / rest
    n_labels = int(np.ceil(needed))
    return n_labels if n is None or n_labels <= n else None
