"""How two systems differ, by what each item adds to the estimates of both."""

from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Reals
from quantshift.errors import DataError, UserError
from quantshift.judging.estimating.judged import Judged


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
    """From the shares down and up."""
    shares = judged.shares
    return shares.prevalence - shares.low, shares.high - shares.prevalence


def correlation(
    a: Judged, b: Judged, *, paired: bool, shared: bool, worth: Reals | None = None
) -> Reals:
    """Of the two estimates, class by class; of sums of classes times columns of `worth`, if given.

    worth: (n_classes, n_sums).
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
