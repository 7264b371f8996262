"""Golden-section search for minima of unimodal functions, and closest mixtures of two histograms.

The latter is most of the work of DyS, HDy and HDx, and compiled. It is the same search as
`minimise_unimodal`, identical bit for bit; but numpy processes all samples in several passes over
memory, while the compiled functions solve one sample after another within the processor's cache.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals
from quantshift.statistics.numpy_sums import LONGEST_PART, numpy_sum

MOST_BINS = LONGEST_PART
"""Numpy splits longer sums, in a way that is not reproduced here."""

HELLINGER, TOPSOE, SQUARED_EUCLIDEAN = 0, 1, 2
"""Numbers of the implemented divergences, which are defined in `divergences`."""

LEVEL = 1e-12
"""If the distances of all mixtures differ by at most this, any weight would do."""

SEARCH_TOLERANCE = 1e-6
"""Width of the interval at which the search for the mixture weight ends."""

GOLDEN = (math.sqrt(5.0) - 1) / 2
"""The fraction of an interval that a step of the search leaves."""


def search_steps(width: float) -> int:
    """The number of steps of the search in an interval of this width."""
    return math.ceil(math.log(SEARCH_TOLERANCE / width) / math.log(GOLDEN))


def minimise_unimodal(
    objective: Callable[[Reals], Reals],
    shape: tuple[int, ...],
    low: ArrayLike = 0.0,
    high: ArrayLike = 1.0,
    n_steps: int | None = None,
) -> tuple[Reals, Reals]:
    """Golden-section search between low and high for many unimodal functions at once.

    n_steps: default: as many as the widest interval needs. Returns the arguments and the minima;
    both ends are among the candidates.
    """
    least, most = (np.array(np.broadcast_to(end, shape), dtype=np.float64) for end in (low, high))
    low, high = least, most
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = objective(left), objective(right)
    if n_steps is None:
        n_steps = search_steps(float((most - least).max()))
    for _ in range(n_steps):
        go_left = at_left < at_right
        low, high = np.where(go_left, low, left), np.where(go_left, right, high)
        fresh = np.where(go_left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        at_fresh = objective(fresh)
        left, right = np.where(go_left, fresh, right), np.where(go_left, left, fresh)
        at_left, at_right = (
            np.where(go_left, at_fresh, at_right),
            np.where(go_left, at_left, at_fresh),
        )
    candidates = np.stack([(low + high) / 2, least, most])
    values = np.stack([objective(candidate) for candidate in candidates])
    best = values.argmin(axis=0)[np.newaxis]
    return (
        np.take_along_axis(candidates, best, axis=0)[0],
        np.take_along_axis(values, best, axis=0)[0],
    )


@compiled
def nearest_weights(
    samples: Reals, own: Reals, rest: Reals, n_steps: int, divergence: int
) -> tuple[Reals, Reals]:
    """Weights of `own`, and divergences of the mixtures from the samples, both (n_samples, m).

    samples: (n_samples, m, n_bins); own, rest: (m, n_bins), to be mixed. At most `MOST_BINS` bins.
    divergence: `HELLINGER`, `TOPSOE` or `SQUARED_EUCLIDEAN`. A weight is NaN if all mixtures are
    equally close.
    """
    n_samples, n_matched, n_bins = samples.shape
    weights = np.empty((n_samples, n_matched))
    distances = np.empty((n_samples, n_matched))
    terms = np.empty(n_bins)
    for i in range(n_samples):
        for j in range(n_matched):
            weights[i, j], distances[i, j] = _nearest(
                samples[i, j], own[j], rest[j], n_steps, divergence, terms
            )
    return weights, distances


@compiled
def nearest_common_mixtures(
    samples: Reals, own: Reals, rest: Reals, grid: Reals, n_steps: int, divergence: int
) -> tuple[Reals, Reals]:
    """One weight of `own` in all channels, and the mean divergence there, both (n_samples,).

    Like `nearest_weights`, but searches around the best weight of the grid. At most
    `MOST_BINS` channels.
    """
    n_samples, n_channels, n_bins = samples.shape
    weights, distances = np.empty(n_samples), np.empty(n_samples)
    each, terms = np.empty(n_channels), np.empty(n_bins)
    for i in range(n_samples):
        sample, start, least, most = samples[i], 0, np.inf, -np.inf
        for g in range(len(grid)):
            there = _mean_distance(grid[g], sample, own, rest, divergence, each, terms)
            most = max(most, there)
            if there < least:
                start, least = g, there
        first, last = grid[max(start - 1, 0)], grid[min(start + 1, len(grid) - 1)]
        low, high = first, last
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_left = _mean_distance(left, sample, own, rest, divergence, each, terms)
        at_right = _mean_distance(right, sample, own, rest, divergence, each, terms)
        for _ in range(n_steps):
            if at_left < at_right:
                high, right, at_right = right, left, at_left
                left = high - GOLDEN * (high - low)
                at_left = _mean_distance(left, sample, own, rest, divergence, each, terms)
            else:
                low, left, at_left = left, right, at_right
                right = low + GOLDEN * (high - low)
                at_right = _mean_distance(right, sample, own, rest, divergence, each, terms)
        best = (low + high) / 2
        least = _mean_distance(best, sample, own, rest, divergence, each, terms)
        for end in (first, last):
            there = _mean_distance(end, sample, own, rest, divergence, each, terms)
            if there < least:
                best, least = end, there
        weights[i], distances[i] = best if most - least > LEVEL else np.nan, least
    return weights, distances


@compiled
def _mean_distance(
    weight: float,
    sample: Reals,
    own: Reals,
    rest: Reals,
    divergence: int,
    each: Reals,
    terms: Reals,
) -> float:
    for c in range(len(each)):
        each[c] = _distance(weight, sample[c], own[c], rest[c], divergence, terms)
    return numpy_sum(each) / len(each)


@compiled
def _nearest(
    sample: Reals, own: Reals, rest: Reals, n_steps: int, divergence: int, terms: Reals
) -> tuple[float, float]:
    # Golden-section search in [0, 1]; the ends compete with its result.
    low, high = 0.0, 1.0
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left = _distance(left, sample, own, rest, divergence, terms)
    at_right = _distance(right, sample, own, rest, divergence, terms)
    for _ in range(n_steps):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = _distance(left, sample, own, rest, divergence, terms)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = _distance(right, sample, own, rest, divergence, terms)
    best = (low + high) / 2
    least = most = _distance(best, sample, own, rest, divergence, terms)
    for end in (0.0, 1.0):
        there = _distance(end, sample, own, rest, divergence, terms)
        most = max(most, there)
        if there < least:
            best, least = end, there
    # A unimodal distance is nowhere above both ends.
    return best if most - least > LEVEL else np.nan, least


@compiled
def _distance(
    weight: float, sample: Reals, own: Reals, rest: Reals, divergence: int, terms: Reals
) -> float:
    other = 1.0 - weight
    for b in range(len(terms)):
        mixed, there = weight * own[b] + other * rest[b], sample[b]
        if divergence == HELLINGER:
            terms[b] = math.sqrt(mixed * there)
        elif divergence == TOPSOE:
            middle = (mixed + there) / 2
            terms[b] = _relative_entropy(mixed, middle) + _relative_entropy(there, middle)
        else:
            terms[b] = (mixed - there) * (mixed - there)
    total = numpy_sum(terms)
    return math.sqrt(max(1.0 - total, 0.0)) if divergence == HELLINGER else total


@compiled
def _relative_entropy(p: float, q: float) -> float:
    # p log(p / q), as accurate near p = q as scipy's.
    if p <= 0.0:
        return 0.0
    ratio = p / q
    return p * (math.log1p((p - q) / q) if 0.5 < ratio < 2.0 else math.log(ratio))
