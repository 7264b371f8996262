"""Limits for the answers of a guarded method: an interval, or the range of what remains possible.

The kind of an answer, and why, is decided by `quantshift.claims.decide`. Its limits are

    evidence, declared prior shift    the interval of the method without its guard
    declared covariate shift          that of the mean posterior
    agreement                         both; without features also the least part of the range
    either                            from the lowest to the highest of the two intervals
    otherwise                         the range
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from quantshift.base.types import Indices, Reals
from quantshift.claims import Assumption
from quantshift.intervals.prediction import item_interval
from quantshift.intervals.targets import ITEMS
from quantshift.items.items import Items, effective_size
from quantshift.quantifiers.base.guarding import AbstractGuarded, ExaminedSamples
from quantshift.quantifiers.likelihood.allowed_range import NOT_SEPARATED, half_width

RANGE_LEVEL = 0.95
"""Level of the limits that guarded methods report; at others, distances grow in proportion."""


@dataclass(frozen=True, eq=False)
class GuardedIntervals:
    """Answers about samples: what they stand on, and their limits, (n_samples, n_classes)."""

    examined: ExaminedSamples
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
    examined = quantifier.examined(quantifier.estimate_items(items, list(samples)))
    own = examined.is_interval
    unguarded = examined.low.copy(), examined.high.copy()
    if own.any() and quantifier.assume != Assumption.COVARIATE:
        interval = item_interval(
            quantifier.unguarded_,
            quantifier.unguarded_items(items),
            [rows for rows, is_own in zip(samples, own, strict=True) if is_own],
            level=level,
            n_bootstrap=n_bootstrap,
            random_state=seed,
            of=of,
        )
        unguarded[0][own], unguarded[1][own] = interval.low, interval.high
    sizes = np.array([_size(items, rows) for rows in samples])
    low, high = answer_limits(examined, quantifier.assume, unguarded, sizes, of=of, level=level)
    return GuardedIntervals(examined, low, high, level=level, of=of)


def answer_limits(
    examined: ExaminedSamples,
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
    p_hat = examined.estimate
    ratio = _ratio(level)
    low, high = (p_hat + ratio * (limit - p_hat) for limit in (examined.low, examined.high))
    is_interval = examined.is_interval
    agree = examined.agree
    if assume == Assumption.COVARIATE or agree.any():
        least, most = examined.if_covariate(sizes, of_items=of == ITEMS)
        centre = examined.covariate
        # Without features a change of them goes unnoticed, and agreement says less.
        if assume != Assumption.COVARIATE:
            h = half_width(centre, np.full(len(sizes), NOT_SEPARATED), sizes)
            h *= np.isnan(examined.auc)[:, np.newaxis]
            least, most = np.minimum(least, centre - h), np.maximum(most, centre + h)
        least, most = centre + ratio * (least - centre), centre + ratio * (most - centre)
        chosen = is_interval if assume == Assumption.COVARIATE else agree
        low[chosen], high[chosen] = least[chosen], most[chosen]
    either = examined.is_either
    if either.any():
        lows, highs = either_limits(examined, level)
        low[either], high[either] = lows[either].min(axis=1), highs[either].max(axis=1)
    if assume != Assumption.COVARIATE:
        own = is_interval & ~agree
        low[own], high[own] = unguarded[0][own], unguarded[1][own]
        low[agree] = np.minimum(low[agree], unguarded[0][agree])
        high[agree] = np.maximum(high[agree], unguarded[1][agree])
        low[agree] = np.minimum(low[agree], p_hat[agree])
        high[agree] = np.maximum(high[agree], p_hat[agree])
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def either_limits(examined: ExaminedSamples, level: float) -> tuple[Reals, Reals]:
    """The limits of the two intervals, (..., 2, n_classes) each, whatever the kind."""
    centre = np.stack([examined.prior, examined.covariate], axis=-2)
    low = centre + _ratio(level) * (examined.either_low - centre)
    high = centre + _ratio(level) * (examined.either_high - centre)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _ratio(level: float) -> float:
    """How much further limits are than at `RANGE_LEVEL`."""
    return float(ndtri((1 + level) / 2) / ndtri((1 + RANGE_LEVEL) / 2))


def _size(items: Items, rows: Indices) -> float:
    return float(len(rows)) if items.weights is None else effective_size(items.weights[rows])
