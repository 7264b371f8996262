"""Mixtures of more than two classes: the prevalence whose mixture is closest to the sample.

Every class has a histogram of the posteriors of each class (a channel), and one prevalence mixes
them all. Matching one class against the rest, as is done for two classes, would assume that the
rest is mixed as in training, and is wrong if it is not: with five overlapping classes in a row and
20,000 items the error is .089 instead of .005 (`benchmarks/many_classes.py`).

The objective, summed over channels and bins, is convex in the prevalence. It is minimised by
Newton's method: each step minimises the quadratic model on the simplex, which is a non-negative
least-squares problem, and is halved until the objective falls enough. If a class is alone in a bin,
its share must not become zero because of a step that is too long: there the slope is infinite and
the quadratic model useless. Divergences given by name are minimised by compiled steps
(`histogram_newton`), functions by the steps here.

Reference: A. Firat, "Unified framework for quantification", 2016, for the form; A. Moreo et al.,
QuaPy's DMy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import nnls

from quantshift.base.types import Prevalences, Reals
from quantshift.optimise.divergences import Divergence
from quantshift.optimise.histogram_newton import (
    FALL,
    GAP,
    MOST_HALVINGS,
    MOST_STEPS,
    NEGLIGIBLE,
    NUMBERS,
    ROUNDING,
    nearest_histograms,
)

Objective = Callable[[Prevalences, Any], Reals]
Derivatives = Callable[[Prevalences, Any], tuple[Reals, Reals]]

SUM_WEIGHT = 1e3
"""The weight of the constraint on the sum in a step, relative to the curvature."""

DIFFERENCE = 1e-5
"""Step of the finite differences for derivatives of a user's divergence."""


def match_all(
    samples: Reals, classes: Reals, divergence: str | Divergence, start: Prevalences
) -> Prevalences:
    """The prevalences of the closest mixtures, (n_samples, n_classes).

    samples: histograms, (n_samples, n_channels, n_bins); classes: (n_classes, n_channels, n_bins);
    start: where to begin, (n_classes,), all positive. A divergence by name is summed over all bins
    of all channels ("hellinger": its square); a function's values are summed over the channels.
    """
    n_classes = len(classes)
    if isinstance(divergence, str):
        flat, target = classes.reshape(n_classes, -1), samples.reshape(len(samples), -1)
        non_empty = flat.any(axis=0)
        return nearest_histograms(
            np.ascontiguousarray(target[:, non_empty]),
            np.ascontiguousarray(flat[:, non_empty]),
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
        # Adding a constant to the gradient changes nothing on the simplex. With this constant the
        # multiplier of the sum is zero at the minimum, so that the penalty in a step is exact
        # there, and the objective cannot fall by more than the steepest descent to a corner.
        gradient -= (gradient * p).sum(axis=1, keepdims=True)
        aim = np.array([_step(*row) for row in zip(p, gradient, curvature, strict=True)])
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
    # A little curvature keeps steps short where the model is flat, or not convex by rounding.
    largest = max(float(values[-1]), 1e-300)
    root = np.sqrt(np.maximum(values, 1e-10 * largest))
    target = vectors.T @ p * root - vectors.T @ gradient / root
    weight = SUM_WEIGHT * np.sqrt(largest)
    matrix = np.vstack([root[:, np.newaxis] * vectors.T, np.full(len(p), weight)])
    u, _ = nnls(matrix, np.append(target, weight))
    return np.asarray(u / u.sum())
