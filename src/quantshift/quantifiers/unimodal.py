"""The best mixture of two histograms under the Hellinger distance, compiled: most of HDy's work.

The same search as `matching.minimise_unimodal`, number by number and to the last bit: what numpy
does for all samples in passes over memory is done here for one sample after the other, without a
table ever leaving the processor's cache.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.compiled import compiled

Reals = NDArray[np.float64]

MOST_BINS = 128
"""Longer sums are split by numpy, in a way that is not followed here."""

_GOLDEN = (math.sqrt(5.0) - 1) / 2


@compiled
def nearest_mixtures(samples: Reals, own: Reals, rest: Reals, n_steps: int) -> tuple[Reals, Reals]:
    """Weights of `own`, and distances of the mixtures from the samples, both (n_samples, m).

    samples: (n_samples, m, n_bins); own, rest: (m, n_bins), to be mixed. At most `MOST_BINS` bins.
    """
    n_samples, n_matched, n_bins = samples.shape
    weights = np.empty((n_samples, n_matched))
    distances = np.empty((n_samples, n_matched))
    roots = np.empty(n_bins)
    for i in range(n_samples):
        for j in range(n_matched):
            weights[i, j], distances[i, j] = _nearest(
                samples[i, j], own[j], rest[j], n_steps, roots
            )
    return weights, distances


@compiled
def _nearest(
    sample: Reals, own: Reals, rest: Reals, n_steps: int, roots: Reals
) -> tuple[float, float]:
    # Golden-section search in [0, 1]; the ends compete with its result.
    low, high = 0.0, 1.0
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left = _distance(left, sample, own, rest, roots)
    at_right = _distance(right, sample, own, rest, roots)
    for _ in range(n_steps):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = _distance(left, sample, own, rest, roots)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = _distance(right, sample, own, rest, roots)
    best = (low + high) / 2
    least = _distance(best, sample, own, rest, roots)
    for end in (0.0, 1.0):
        there = _distance(end, sample, own, rest, roots)
        if there < least:
            best, least = end, there
    return best, least


@compiled
def _distance(weight: float, sample: Reals, own: Reals, rest: Reals, roots: Reals) -> float:
    other = 1.0 - weight
    for b in range(len(roots)):
        roots[b] = math.sqrt((weight * own[b] + other * rest[b]) * sample[b])
    return math.sqrt(max(1.0 - _sum(roots), 0.0))


@compiled
def _sum(a: Reals) -> float:
    # In numpy's order.
    n = len(a)
    if n < 8:
        few = 0.0
        for i in range(n):
            few += a[i]
        return few
    s0, s1, s2, s3, s4, s5, s6, s7 = a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
    whole = n // 8 * 8
    for i in range(8, whole, 8):
        s0 += a[i]
        s1 += a[i + 1]
        s2 += a[i + 2]
        s3 += a[i + 3]
        s4 += a[i + 4]
        s5 += a[i + 5]
        s6 += a[i + 6]
        s7 += a[i + 7]
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for i in range(whole, n):
        total += a[i]
    return float(total)
