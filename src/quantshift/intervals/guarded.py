"""Limits for the answers of a guarded method: an interval, or the range of what remains possible.

The kind of an answer, and why, is decided in `quantshift.quantifiers.base.guarding`. Its limits are

    evidence, declared prior shift    the interval of the method without its guard
    declared covariate shift          that of the mean posterior
    agreement                         both; without features also the least part of the range
    otherwise                         the range
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from quantshift.base.types import Indices, Reals
from quantshift.intervals.prediction import item_interval
from quantshift.intervals.targets import ITEMS
from quantshift.quantifiers.base.guarding import (
    AGREEMENT,
    CONFIDENCE_INTERVAL,
    COVARIATE,
    AbstractGuarded,
    Grounds,
)
from quantshift.quantifiers.base.items import Items, effective_size
from quantshift.quantifiers.likelihood.allowed_range import NOT_SEPARATED, half_width

RANGE_LEVEL = 0.95
"""Level of the limits that guarded methods report; at others, distances grow in proportion."""


@dataclass(frozen=True, eq=False)
class GuardedIntervals:
    """Answers about samples: what they stand on, and their limits, (n_samples, n_classes)."""

    grounds: Grounds
    low: Reals
    high: Reals
    level: float
    of: str


def guarded_intervals(
    quantifier: AbstractGuarded,
    items: Items,
    samples: Sequence[Indices],
    *,
    of: str = ITEMS,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> GuardedIntervals:
    """Answers about samples of items, as `quantifier.items(X)` returns them.

    of: "items" for the share among the items, "population" for that of the population.
    """
    grounds = quantifier.grounds(quantifier.estimate_items(items, list(samples)))
    own = grounds.kind == CONFIDENCE_INTERVAL
    unguarded = grounds.low.copy(), grounds.high.copy()
    if own.any() and quantifier.assume != COVARIATE:
        interval = item_interval(
            quantifier.unguarded_,
            quantifier.unguarded_items(items),
            [rows for rows, is_own in zip(samples, own, strict=True) if is_own],
            level=level,
            n_bootstrap=n_bootstrap,
            seed=seed,
            of=of,
        )
        unguarded[0][own], unguarded[1][own] = interval.low, interval.high
    sizes = np.array([_size(items, rows) for rows in samples])
    low, high = answer_limits(grounds, quantifier.assume, unguarded, sizes, of=of, level=level)
    return GuardedIntervals(grounds, low, high, level=level, of=of)


def answer_limits(
    grounds: Grounds,
    assume: str | None,
    unguarded: tuple[Reals, Reals],
    sizes: Reals,
    *,
    of: str,
    level: float,
) -> tuple[Reals, Reals]:
    """The limits of answers, (n_samples, n_classes) each.

    unguarded: those of the method without its guard, which count where there is evidence for its
    assumption or it is declared. sizes: of the samples.
    """
    p_hat = grounds.estimate
    ratio = float(ndtri((1 + level) / 2) / ndtri((1 + RANGE_LEVEL) / 2))
    low, high = (p_hat + ratio * (limit - p_hat) for limit in (grounds.low, grounds.high))
    is_interval = grounds.kind == CONFIDENCE_INTERVAL
    agree = grounds.reason == AGREEMENT
    if assume == COVARIATE or agree.any():
        least, most = grounds.if_covariate(sizes, of_items=of == ITEMS)
        centre = grounds.covariate
        # Without features a change of them goes unnoticed, and agreement says less.
        if assume != COVARIATE:
            h = half_width(centre, np.full(len(sizes), NOT_SEPARATED), sizes)
            h *= np.isnan(grounds.auc)[:, np.newaxis]
            least, most = np.minimum(least, centre - h), np.maximum(most, centre + h)
        least, most = centre + ratio * (least - centre), centre + ratio * (most - centre)
        chosen = is_interval if assume == COVARIATE else agree
        low[chosen], high[chosen] = least[chosen], most[chosen]
    if assume != COVARIATE:
        own = is_interval & ~agree
        low[own], high[own] = unguarded[0][own], unguarded[1][own]
        low[agree] = np.minimum(low[agree], unguarded[0][agree])
        high[agree] = np.maximum(high[agree], unguarded[1][agree])
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _size(items: Items, rows: Indices) -> float:
    return float(len(rows)) if items.weights is None else effective_size(items.weights[rows])
