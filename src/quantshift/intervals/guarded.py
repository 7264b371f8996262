"""Limits for the answers of a guarded method: an interval, or the range of what remains possible.

The kind of an answer, and why, is decided in `quantshift.quantifiers.base.guarding`. Its limits are

    evidence, declared prior shift    the interval of the method without its guard
    declared covariate shift          that of the mean posterior
    agreement                         both
    otherwise                         the range
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from quantshift.base.types import Flags, Indices, Reals
from quantshift.intervals.prediction import item_interval
from quantshift.intervals.replicates import ITEMS
from quantshift.quantifiers.base.guarding import (
    AGREEMENT,
    CONFIDENCE_INTERVAL,
    COVARIATE,
    AbstractGuarded,
    Grounds,
)
from quantshift.quantifiers.base.items import Items, effective_size

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
    p_hat = grounds.estimate
    ratio = float(ndtri((1 + level) / 2) / ndtri((1 + RANGE_LEVEL) / 2))
    low, high = (p_hat + ratio * (limit - p_hat) for limit in (grounds.low, grounds.high))
    is_interval = grounds.kind == CONFIDENCE_INTERVAL
    if quantifier.assume == COVARIATE or (grounds.reason == AGREEMENT).any():
        sizes = np.array([_size(items, rows) for rows in samples])
        least, most = grounds.if_covariate(sizes, of_items=of == ITEMS)
        centre = grounds.covariate
        least, most = centre + ratio * (least - centre), centre + ratio * (most - centre)
        chosen = is_interval if quantifier.assume == COVARIATE else grounds.reason == AGREEMENT
        low[chosen], high[chosen] = least[chosen], most[chosen]
    unguarded: Flags = is_interval if quantifier.assume != COVARIATE else np.zeros_like(is_interval)
    if unguarded.any():
        found = item_interval(
            quantifier.unguarded_,
            quantifier.unguarded_items(items),
            [rows for rows, wanted in zip(samples, unguarded, strict=True) if wanted],
            level=level,
            n_bootstrap=n_bootstrap,
            seed=seed,
            of=of,
        )
        agree = (grounds.reason == AGREEMENT)[unguarded, np.newaxis]
        low[unguarded] = np.where(agree, np.minimum(low[unguarded], found.low), found.low)
        high[unguarded] = np.where(agree, np.maximum(high[unguarded], found.high), found.high)
    return GuardedIntervals(
        grounds, np.maximum(low, 0.0), np.minimum(high, 1.0), level=level, of=of
    )


def _size(items: Items, rows: Indices) -> float:
    return float(len(rows)) if items.weights is None else effective_size(items.weights[rows])
