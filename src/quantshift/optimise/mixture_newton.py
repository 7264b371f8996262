"""The maximum likelihood mixture of more than two classes for many samples: Newton's method with
few passes over the items.

The maximum is that of `mixture_likelihood`, by the same conditions; this way to find it is faster.
A subset of the items gives the starting point, about two passes over all items give first and
second derivatives, and once steps are short the second derivatives are kept and further passes only
compute the first. The items are stored class by class, so that the processor can vectorise.

In difficult cases (single items that need a share of zero to be positive, likelihoods outside the
range of floating-point numbers, maxima that are not unique) a sample is returned as not converged,
and `many_classes` finds its maximum, by a slower method.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Ints, Reals
from quantshift.optimise.active_set import NEARNESS, constrained_step, move
from quantshift.statistics.fixed_sums import multiply_add, sum_of_products

STATIONARY = 1e-7
"""Largest violation of the Karush-Kuhn-Tucker conditions at what counts as a maximum."""

MOST_PASSES = 40
"""After this many passes the fast method gives up."""

FEWEST, EVERY = 128, 8
"""Samples of at least FEWEST items begin with every EVERY-th of them."""

BEGINNING, ENOUGH = 0.02, 8
"""Share of the start that is mixed into the solution for the subset, and the most passes over
the subset."""

NEAR = 0.3
"""Newton decrement of a step below which the second derivatives are kept."""

OVERSHOT = 0.5
"""How far the slope may reverse after a step, relative to the slope before it."""


@compiled
def newton_mixtures(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    added: Reals | None,
    tol: float,
    max_iter: int,
    weights: Reals | None,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    """Like `maximise_mixtures`, but difficult samples are returned as not converged.

    added: how many further items of each class are certain, in each sample, (n_samples,).
    """
    n_classes, (n_samples, size) = len(likelihoods), index.shape
    p_hat = np.empty((n_samples, n_classes))
    passes = np.empty(n_samples, dtype=np.int64)
    converged = np.empty(n_samples, dtype=np.bool_)
    rows, pulls = np.empty((n_classes, size)), np.empty((n_classes, size))
    inverse = np.empty(size)
    roots = None if weights is None else np.empty(size)
    some = np.empty((n_classes, 1 + size // EVERY))
    most = min(max_iter, MOST_PASSES)
    for s in range(n_samples):
        n, total = _gather(likelihoods, index[s], weights, rows, inverse, roots)
        extra = 0.0 if added is None else added[s]
        p = p_hat[s]
        for k in range(n_classes):
            p[k] = start[k]
        first = 0
        if n >= FEWEST:
            n_some = (n + EVERY - 1) // EVERY
            for k in range(n_classes):
                for j in range(n_some):
                    some[k, j] = rows[k, j * EVERY]
            # Weights are ignored here, because this only finds the starting point.
            _climb(
                some, n_some, None, float(n_some), extra / EVERY, start, p, 0.5, ENOUGH, pulls,
                inverse,
            )  # fmt: skip
            for k in range(n_classes):
                p[k] = (1.0 - BEGINNING) * p[k] + BEGINNING * start[k]
            first = 1
        passes[s], converged[s] = _climb(
            rows, n, roots, total, extra, start, p, tol, most - first, pulls, inverse
        )
        passes[s] += first
    return p_hat, passes, converged


@compiled
def _gather(
    likelihoods: Reals,
    items: Ints,
    weights: Reals | None,
    rows: Reals,
    sums: Reals,
    roots: Reals | None,
) -> tuple[int, float]:
    """Set the items' likelihoods, class by class, and roots of weights; returns number and weight.

    Items that no class explains, and items without weight, are left out. sums: a buffer.
    """
    n_classes, size = len(likelihoods), len(items)
    for j in range(size):
        sums[j] = 0.0 if weights is not None and weights[items[j]] <= 0.0 else 1.0
    n = _take(likelihoods, items, rows, sums)
    if n < size:
        n = 0
        for j in range(size):
            if sums[j] > 0.0:
                for k in range(n_classes):
                    rows[k, n] = rows[k, j]
                if weights is not None and roots is not None:
                    roots[n] = weights[items[j]]
                n += 1
    elif weights is not None and roots is not None:
        for j in range(size):
            roots[j] = weights[items[j]]
    if weights is None or roots is None:
        return n, float(n)
    total = 0.0
    for j in range(n):
        total += roots[j]
        roots[j] = math.sqrt(roots[j])
    return n, total


@compiled
def _take(likelihoods: Reals, items: Ints, rows: Reals, sums: Reals) -> int:
    """Set the likelihoods of all items and multiply `sums` by theirs; returns how many are left."""
    size = len(items)
    for k in range(len(likelihoods)):
        pool, row = likelihoods[k], rows[k]
        for j in range(size):
            row[j] = pool[items[j]]
    totals = rows[0] + rows[1]
    for k in range(2, len(likelihoods)):
        row = rows[k]
        for j in range(size):
            totals[j] += row[j]
    n = 0
    for j in range(size):
        sums[j] = totals[j] * sums[j]
        n += sums[j] > 0.0
    return n


@compiled
def _climb(
    rows: Reals,
    n: int,
    roots: Reals | None,
    total: float,
    added: float,
    start: Reals,
    p: Reals,
    tol: float,
    most: int,
    pulls: Reals,
    inverse: Reals,
) -> tuple[int, bool]:
    """Newton steps from p, in place, to the maximum; passes, and whether it was reached.

    rows: (n_classes, at least n). roots: square roots of the weights; total: their sum.
    """
    n_classes = len(p)
    total += n_classes * added
    before, gradient, step = np.empty(n_classes), np.empty(n_classes), np.zeros(n_classes)
    curvature, room = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes))
    usable, weighted = np.full(n_classes, True), np.empty(n)
    slope, length, shortest = 0.0, 1.0, np.inf
    keeps = False
    for n_pass in range(1, most + 1):
        _invert_masses(rows, n, p, roots, inverse, weighted)
        for k in range(n_classes):
            gradient[k] = sum_of_products(rows[k], weighted, n)
            if not keeps:
                _set_pull(rows[k], inverse, n, pulls[k])
        ahead, largest, violation = 0.0, 0.0, 0.0
        for k in range(n_classes):
            gradient[k] /= total
            if added > 0.0:
                gradient[k] += added / total / p[k]
            largest = max(largest, gradient[k] if p[k] > 0.0 else 0.0)
            gradient[k] -= 1.0
            if p[k] > 0.0 or gradient[k] > 0.0:
                violation = max(violation, abs(gradient[k]))
            ahead += gradient[k] * step[k]
        if not (math.isfinite(ahead) and ahead >= -OVERSHOT * slope):
            # Too far: the likelihood falls steeply, or a share is zero that must be positive.
            if slope == 0.0:
                return n_pass, False
            length *= 0.5
            move(before, step, length, p)
            keeps = False
            continue
        if largest > 2.0:
            # For a share so small that Newton's step could at best double it, take an EM step.
            for k in range(n_classes):
                p[k] *= 1.0 + gradient[k]
                step[k] = 0.0
            slope, keeps = 0.0, False
            continue
        if not keeps:
            for k in range(n_classes):
                for i in range(k + 1):
                    curvature[k, i] = curvature[i, k] = (
                        sum_of_products(pulls[k], pulls[i], n) / total
                    )
                curvature[k, k] += NEARNESS
                if added > 0.0:
                    curvature[k, k] += added / total / p[k] / p[k]
        for k in range(n_classes):
            gradient[k] -= NEARNESS * (p[k] - start[k])
        constrained_step(curvature, gradient, p, usable, step, room)
        longest, slope, decrement = 0.0, 0.0, 0.0
        for k in range(n_classes):
            longest = max(longest, abs(step[k]))
            slope += gradient[k] * step[k]
            for i in range(n_classes):
                decrement += step[k] * curvature[k, i] * step[i]
            before[k] = p[k]
        decrement = math.sqrt(total * decrement)
        if violation <= STATIONARY and longest <= tol:
            move(before, step, 1.0, p)
            return n_pass, True
        if tol >= NEAR and decrement <= 1.0:
            # Only a subset of the items, whose maximum need not be precise.
            move(before, step, 1.0, p)
            return n_pass, True
        keeps = decrement <= NEAR and longest <= 0.5 * shortest
        shortest = longest
        length = 1.0
        if added > 0.0:
            for k in range(n_classes):
                if p[k] + length * step[k] < 0.01 * p[k]:
                    length = min(length, -0.99 * p[k] / step[k])
        move(before, step, length, p)
    return most, False


@compiled
def _invert_masses(
    rows: Reals, n: int, p: Reals, roots: Reals | None, inverse: Reals, weighted: Reals
) -> None:
    """Set 1 / (p . r_j) of each item, times the root of its weight, and times its weight."""
    first, second, third = rows[0], rows[1], rows[2]
    a, b, c = p[0], p[1], p[2]
    for j in range(n):
        two = multiply_add(b, second[j], c * third[j])
        inverse[j] = multiply_add(a, first[j], two)
    for k in range(3, len(p) - 1, 2):
        first, second = rows[k], rows[k + 1]
        a, b = p[k], p[k + 1]
        for j in range(n):
            inverse[j] = multiply_add(a, first[j], multiply_add(b, second[j], inverse[j]))
    if len(p) % 2 == 0:
        first, a = rows[len(p) - 1], p[len(p) - 1]
        for j in range(n):
            inverse[j] = multiply_add(a, first[j], inverse[j])
    if roots is None:
        for j in range(n):
            inverse[j] = 1.0 / inverse[j]
            weighted[j] = inverse[j]
    else:
        for j in range(n):
            inverse[j] = roots[j] / inverse[j]
            weighted[j] = roots[j] * inverse[j]


@compiled
def _set_pull(row: Reals, inverse: Reals, n: int, pull: Reals) -> None:
    """Set a class's likelihoods divided by those of the mixture, times the roots of the weights."""
    for j in range(n):
        pull[j] = row[j] * inverse[j]
