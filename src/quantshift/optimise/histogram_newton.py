"""Mixtures of histograms closest to samples, compiled: the steps of `mixtures`, sample by sample.

Every sample is solved independently, so that the other samples of a batch make no difference.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from quantshift.base.compiled import compiled
from quantshift.base.types import Prevalences, Reals
from quantshift.optimise.active_set import constrained_step
from quantshift.optimise.unimodal import HELLINGER, SQUARED_EUCLIDEAN, TOPSOE
from quantshift.statistics.fixed_sums import multiply_add, sum_of, sum_of_products

MEAN_ROOT = 3
"""The mean Hellinger distance over channels; other objectives are sums over all bins."""

NUMBERS: Mapping[str, int] = MappingProxyType(
    {"hellinger": HELLINGER, "topsoe": TOPSOE, "squared_euclidean": SQUARED_EUCLIDEAN}
)
"""Numbers of the divergences that are summed over bins ("hellinger": its square minus one per
channel)."""

GAP, FALL = 1e-4, 1e-13
"""The search ends if the objective is at most GAP above its minimum and a step gains at most
FALL."""

ROUNDING = 1e-15
"""Differences of the objective below this are rounding errors."""

MOST_STEPS, MOST_HALVINGS = 100, 40
NEGLIGIBLE = 1e-9
"""Only a share below this is set to zero in one step; others lose at most 99% of their value."""

SUM_WEIGHT, FLAT = 1.0, 1e-10
"""The weight of the constraint on the sum in a step, relative to the curvature, and the fraction of
the curvature that is added to keep steps short in flat directions. With a larger weight rounding
errors would move p along directions that the sample does not determine."""

LEAST = 1e-12
"""Smaller shares of a mixture are replaced by this in derivatives, which are infinite at zero."""


@compiled
def nearest_histograms(
    samples: Reals, classes: Reals, linear: Reals, start: Prevalences, n_channels: int, kind: int
) -> Prevalences:
    """The p on the simplex with the smallest divergence of p . classes from each sample.

    samples: (n_samples, n_values); classes: (n_classes, n_values), the bins of the channels one
    after another; linear: linear . p is added to the divergence; start: where to begin,
    (n_classes,), all positive.
    """
    n_samples, n_values = samples.shape
    n_classes = len(classes)
    nearest = np.empty((n_samples, n_classes))
    mixture, first, second = np.empty(n_values), np.empty(n_values), np.empty(n_values)
    product, squares = np.empty(n_values), np.empty(n_channels)
    terms = np.empty(n_values)
    gradient, step, ahead = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    candidate = np.empty(n_classes)
    curvature, room = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes))
    usable = np.full(n_classes, True)
    for s in range(n_samples):
        sample, p = samples[s], nearest[s]
        for k in range(n_classes):
            p[k] = start[k]
        _mix(classes, p, mixture)
        value = _objective(mixture, sample, squares, kind, terms) + sum_of_products(
            linear, p, n_classes
        )
        for _ in range(MOST_STEPS):
            _set_derivatives(mixture, sample, squares, kind, first, second)
            centre, trace = 0.0, 0.0
            for k in range(n_classes):
                gradient[k] = linear[k] + sum_of_products(first, classes[k], n_values)
                centre += gradient[k] * p[k]
                _set_product(second, classes[k], product)
                for i in range(k + 1):
                    curvature[k, i] = curvature[i, k] = sum_of_products(
                        product, classes[i], n_values
                    )
                trace += curvature[k, k]
            # Adding a constant to the gradient changes nothing on the simplex. With this constant
            # the multiplier of the sum is zero at the minimum, so that the penalty in a step is
            # exact there, and the objective cannot fall by more than the steepest descent to a
            # corner.
            lowest = 0.0
            trace = max(trace, 1e-300)
            for k in range(n_classes):
                gradient[k] -= centre
                lowest = min(lowest, gradient[k])
                gradient[k] = -gradient[k]
                for i in range(n_classes):
                    curvature[k, i] += SUM_WEIGHT * trace
                curvature[k, k] += FLAT * trace
            constrained_step(curvature, gradient, p, usable, step, room)
            total, slope, length = 0.0, 0.0, 1.0
            for k in range(n_classes):
                step[k] = max(p[k] + step[k], 0.0)
                total += step[k]
            for k in range(n_classes):
                ahead[k] = step[k] / total - p[k]
                slope -= gradient[k] * ahead[k]
                if step[k] == 0.0 and p[k] > NEGLIGIBLE:
                    length = 0.99
            before, too_long = value, True
            for _ in range(MOST_HALVINGS):
                for k in range(n_classes):
                    candidate[k] = p[k] + length * ahead[k]
                _mix(classes, candidate, mixture)
                value = _objective(mixture, sample, squares, kind, terms) + sum_of_products(
                    linear, candidate, n_classes
                )
                too_long = value > before + 1e-4 * length * slope + ROUNDING
                if not too_long:
                    break
                length /= 2
            if too_long:
                break
            for k in range(n_classes):
                p[k] = candidate[k]
            if lowest >= -GAP and slope >= -FALL:
                break
    return nearest


@compiled
def _mix(classes: Reals, p: Prevalences, mixture: Reals) -> None:
    share, row = p[0], classes[0]
    for b in range(len(mixture)):
        mixture[b] = share * row[b]
    for k in range(1, len(p)):
        share, row = p[k], classes[k]
        for b in range(len(mixture)):
            mixture[b] = multiply_add(share, row[b], mixture[b])


@compiled
def _set_product(one: Reals, other: Reals, product: Reals) -> None:
    for b in range(len(one)):
        product[b] = one[b] * other[b]


@compiled
def _objective(mixture: Reals, sample: Reals, squares: Reals, kind: int, terms: Reals) -> float:
    """The divergence; for a mean of roots, the values under the roots are stored in `squares`.

    terms: a buffer.
    """
    value = 0.0
    if kind == HELLINGER:
        for b in range(len(mixture)):
            terms[b] = math.sqrt(mixture[b] * sample[b])
        value = -sum_of(terms, len(terms))
    elif kind == TOPSOE:
        for b in range(len(mixture)):
            both = mixture[b] + sample[b]
            if mixture[b] > 0.0:
                value += mixture[b] * math.log(2 * mixture[b] / both)
            if sample[b] > 0.0:
                value += sample[b] * math.log(2 * sample[b] / both)
    elif kind == SQUARED_EUCLIDEAN:
        for b in range(len(mixture)):
            terms[b] = mixture[b] - sample[b]
        value = sum_of_products(terms, terms, len(terms))
    else:
        n_bins = len(mixture) // len(squares)
        for b in range(len(mixture)):
            terms[b] = math.sqrt(mixture[b]) - math.sqrt(sample[b])
        for c in range(len(squares)):
            channel = terms[c * n_bins : (c + 1) * n_bins]
            squares[c] = sum_of_products(channel, channel, n_bins) / 2
            value += math.sqrt(squares[c])
        value /= len(squares)
    return value


@compiled
def _set_derivatives(
    mixture: Reals, sample: Reals, squares: Reals, kind: int, first: Reals, second: Reals
) -> None:
    """Set the derivatives by each value of the mixture; for a mean of roots, of its tangent."""
    if kind == TOPSOE:
        for b in range(len(mixture)):
            safe = max(mixture[b], LEAST)
            first[b] = math.log(2 * safe / (safe + sample[b]))
            second[b] = sample[b] / (safe * (safe + sample[b]))
        return
    if kind == SQUARED_EUCLIDEAN:
        for b in range(len(mixture)):
            first[b] = 2 * (mixture[b] - sample[b])
            second[b] = 2.0
        return
    for b in range(len(mixture)):
        safe = max(mixture[b], LEAST)
        root = math.sqrt(sample[b] / safe) / 2
        first[b] = -root
        second[b] = root / (2 * safe)
    if kind == MEAN_ROOT:
        n_channels = len(squares)
        n_bins = len(mixture) // n_channels
        for c in range(n_channels):
            slope = 1 / (2 * n_channels * math.sqrt(max(squares[c], LEAST)))
            for b in range(c * n_bins, (c + 1) * n_bins):
                first[b] = (first[b] + 0.5) * slope
                second[b] *= slope
