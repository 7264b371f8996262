"""Mixtures of more than two classes: the prevalence whose mixture is nearest to the sample.

Every class has a histogram of the posteriors of each class (a channel), and one prevalence mixes
them all. Matching one class against the rest, as is done for two classes, would take the rest to be
mixed as in training, and errs as soon as it is not: with five classes in a row that overlap and
20,000 items by .089 instead of .005 (`benchmarks/many_classes.py`).

The objective, summed over channels and bins, is convex in the prevalence. Newton's method: each
step minimises the quadratic model on the simplex, which is a non-negative least-squares problem,
and is halved until the objective falls enough. A class alone in a bin must not lose its share by
one step that is too long: without it the slope is infinite and the quadratic model worthless.
Divergences by name are minimised by compiled steps (`histogram_newton`), functions by those here.

Reference: A. Firat, "Unified framework for quantification", 2016, for the form; A. Moreo et al.,
QuaPy's DMy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from quantshift.quantifiers.divergences import Divergence
from quantshift.quantifiers.histogram_newton import (
    FALL,
    GAP,
    MOST_HALVINGS,
    MOST_STEPS,
    NEGLIGIBLE,
    NUMBERS,
    ROUNDING,
    nearest_histograms,
)
from quantshift.types import Prevalences

Reals = NDArray[np.float64]
Objective = Callable[[Prevalences, Any], Reals]
Derivatives = Callable[[Prevalences, Any], tuple[Reals, Reals]]

SUM_WEIGHT = 1e3
"""How much more than a unit of curvature the sum of a prevalence weighs in a step."""

DIFFERENCE = 1e-5
"""Change of a prevalence for derivatives of a user's divergence."""


def match_all(
    samples: Reals, classes: Reals, divergence: str | Divergence, start: Prevalences
) -> Prevalences:
    """The prevalences of the nearest mixtures, (n_samples, n_classes).

    samples: histograms, (n_samples, n_channels, n_bins); classes: (n_classes, n_channels, n_bins);
    start: where to begin, (n_classes,), all positive. A divergence by name is summed over all bins
    of all channels ("hellinger": its square); a function's values are summed over the channels.
    """
    n_classes = len(classes)
    if isinstance(divergence, str):
        flat, target = classes.reshape(n_classes, -1), samples.reshape(len(samples), -1)
        some = flat.any(axis=0)
        return nearest_histograms(
            np.ascontiguousarray(target[:, some]),
            np.ascontiguousarray(flat[:, some]),
            np.zeros(n_classes),
            start,
            1,
            NUMBERS[divergence],
        )
    measure = divergence

    def total(p: Prevalences, rows: Any) -> Reals:
        mixture = np.tensordot(p, classes, axes=1)
        extra = (np.newaxis,) * (p.ndim - 2)
        return np.asarray(measure(mixture, samples[rows][(slice(None), *extra)]).sum(axis=-1))

    def differences(p: Prevalences, rows: Any) -> tuple[Reals, Reals]:
        steps = DIFFERENCE * np.eye(n_classes)
        here = total(p, rows)
        once = total(p[:, np.newaxis] + steps, rows)
        twice = total(p[:, np.newaxis, np.newaxis] + steps[:, np.newaxis] + steps, rows)
        rise = once - here[:, np.newaxis]
        second = twice - once[:, np.newaxis] - once[:, :, np.newaxis]
        second = (second + here[:, np.newaxis, np.newaxis]) / DIFFERENCE**2
        curved = np.diagonal(second, axis1=1, axis2=2)
        return rise / DIFFERENCE - DIFFERENCE / 2 * curved, second

    return minimise_convex(total, differences, start, len(samples))


def minimise_convex(
    objective: Objective, derivatives: Derivatives, start: Prevalences, n_samples: int
) -> Prevalences:
    """The p on the simplex that minimises each of many convex functions.

    objective(p, rows): values (n_rows,) of the functions `rows` at p, (n_rows, n_classes);
    derivatives(p, rows): gradients (n_rows, n_classes) and second derivatives, (n_rows, n_classes,
    n_classes).
    """
    nearest = np.tile(start, (n_samples, 1))
    rows = np.arange(n_samples)
    for _ in range(MOST_STEPS):
        p = nearest[rows]
        value = objective(p, rows)
        gradient, curvature = derivatives(p, rows)
        # A constant in the gradient changes nothing on the simplex. With this one the multiplier of
        # the sum is zero at the minimum, and its penalty in a step is exact there; and no point of
        # the simplex is lower by more than the steepest fall to a corner.
        gradient -= (gradient * p).sum(axis=1, keepdims=True)
        aim = np.array([_step(*each) for each in zip(p, gradient, curvature, strict=True)])
        ahead = aim - p
        slope = (gradient * ahead).sum(axis=1)
        going = (gradient.min(axis=1) < -GAP) | (slope < -FALL)
        emptied = ((aim == 0) & (p > NEGLIGIBLE)).any(axis=1)
        length = np.where(emptied, 0.99, 1.0)
        for _ in range(MOST_HALVINGS):
            now = objective(p + length[:, np.newaxis] * ahead, rows)
            too_long = now > value + 1e-4 * length * slope + ROUNDING
            if not too_long.any():
                break
            length[too_long] /= 2
        length[too_long] = 0.0
        nearest[rows] = p + length[:, np.newaxis] * ahead
        rows = rows[going & (length > 0)]
        if not len(rows):
            break
    return nearest


def _step(p: Prevalences, gradient: Reals, curvature: Reals) -> Prevalences:
    """The minimum on the simplex of the quadratic model at p."""
    values, vectors = np.linalg.eigh(curvature)
    # Where the model is flat, or not convex by rounding, a little curvature keeps steps short.
    largest = max(float(values[-1]), 1e-300)
    root = np.sqrt(np.maximum(values, 1e-10 * largest))
    target = vectors.T @ p * root - vectors.T @ gradient / root
    weight = SUM_WEIGHT * np.sqrt(largest)
    matrix = np.vstack([root[:, np.newaxis] * vectors.T, np.full(len(p), weight)])
    u, _ = nnls(matrix, np.append(target, weight))
    return np.asarray(u / u.sum())
