"""Active sets: minima of small quadratics under bounds, on the simplex or not, compiled.

Coordinates are free or fixed at their least value. Each step goes to the minimum over the free ones
or, if one of them reaches its least value on the way, until there, and fixes it. At the minimum the
fixed coordinate with the steepest descent is freed, until none has any.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Prevalences, Reals

NEARNESS = 1e-10
"""Pull towards the start, which decides between equal maxima and is negligible otherwise."""

SMALLEST_PIVOT = 0.01 * NEARNESS
"""The least pivot of a factorisation: without rounding, pivots are at least NEARNESS."""

STEEP = 1e-12
"""Descent, relative to the slope at the start, that frees a share on the simplex."""

TINY = 1e-300
"""The least pivot of matrices that are known to be definite, in case of rounding errors."""


@compiled
def move(p: Reals, step: Reals, length: float, following: Reals) -> None:
    """p + length * step on the simplex, in `following`."""
    total = 0.0
    for k in range(len(p)):
        following[k] = max(p[k] + length * step[k], 0.0)
        total += following[k]
    for k in range(len(p)):
        following[k] /= total


@compiled
def constrained_step(
    model: Reals,
    gradient: Reals,
    p: Reals,
    usable: NDArray[np.bool_],
    step: Reals,
    root: Reals,
) -> None:
    """The d, in place, that maximises gradient . d - d . model d / 2 with p + d >= 0.

    A class that is not usable is always fixed. `root` is a buffer for a factorisation.
    """
    n_classes = len(p)
    free, target = np.empty(n_classes, dtype=np.bool_), np.empty(n_classes)
    emptied = np.empty(n_classes)
    for k in range(n_classes):
        free[k], step[k], emptied[k] = p[k] > 0.0, 0.0, -p[k]
    for _ in range(20 * n_classes):
        for k in range(n_classes):
            target[k] = gradient[k]
            for i in range(n_classes):
                if not free[i]:
                    target[k] += model[k, i] * p[i]
        factorise(model, root, free, SMALLEST_PIVOT)
        solve_free(root, free, target)
        length, blocking = _blocked(step, target, emptied, free)
        for k in range(n_classes):
            if free[k]:
                step[k] += length * (target[k] - step[k])
        if blocking >= 0:
            free[blocking] = False
            step[blocking] = -p[blocking]
            continue
        entering, most = -1, 1e-12
        for k in range(n_classes):
            if usable[k] and not free[k]:
                pull = gradient[k]
                for i in range(n_classes):
                    pull -= model[k, i] * step[i]
                if pull > most:
                    entering, most = k, pull
        if entering < 0:
            return
        free[entering] = True


@compiled
def minimum_on_simplex(model: Reals, pull: Reals, start: Prevalences, p: Prevalences) -> None:
    """The p on the simplex that minimises d . model d - 2 pull . d with d = p - start, in place.

    model: positive definite; p: the minimum over all p that sum to one, from which the search
    begins, with its negative shares set to zero.
    """
    n_classes = len(p)
    free, root = np.empty(n_classes, dtype=np.bool_), np.empty((n_classes, n_classes))
    aim, level_change, least = np.empty(n_classes), np.empty(n_classes), np.zeros(n_classes)
    steep = STEEP
    for k in range(n_classes):
        p[k] = max(p[k], 0.0)
        free[k] = p[k] > 0.0
        steep = max(steep, STEEP * (1.0 + abs(pull[k])))
    normalise(p)
    for _ in range(20 * n_classes):
        # At the minimum all free shares have the same gradient, chosen so that p sums to one.
        for k in range(n_classes):
            aim[k], level_change[k] = pull[k], 1.0
            for m in range(n_classes):
                aim[k] += model[k, m] * start[m]
        factorise(model, root, free, SMALLEST_PIVOT)
        solve_free(root, free, aim)
        solve_free(root, free, level_change)
        missing, change = 1.0, 0.0
        for k in range(n_classes):
            if free[k]:
                missing -= aim[k]
                change += level_change[k]
        for k in range(n_classes):
            if free[k]:
                aim[k] += missing / change * level_change[k]
        length, blocking = _blocked(p, aim, least, free)
        level, n_free = 0.0, 0
        for k in range(n_classes):
            if free[k]:
                p[k] = max(p[k] + length * (aim[k] - p[k]), 0.0)
        if blocking >= 0:
            p[blocking], free[blocking] = 0.0, False
            continue
        for k in range(n_classes):
            aim[k] = pull[k]  # from here on, `aim` holds the descent
            for m in range(n_classes):
                aim[k] -= model[k, m] * (p[m] - start[m])
            if free[k]:
                level += aim[k]
                n_free += 1
        entering, most = -1, steep
        for k in range(n_classes):
            if not free[k] and aim[k] - level / n_free > most:
                entering, most = k, aim[k] - level / n_free
        if entering < 0:
            return
        free[entering] = True


@compiled
def minimum_above(gram: Reals, target: Reals, least: float, x: Reals, root: Reals) -> None:
    """The x >= least, in place, that minimises x . gram x / 2 - target . x.

    gram is positive definite. `root` is a buffer for a factorisation.
    """
    n = len(target)
    free, aim, all_least = np.ones(n, dtype=np.bool_), np.empty(n), np.full(n, least)
    scale = 0.0
    for k in range(n):
        scale = max(scale, abs(target[k]))
    _free_minimum(gram, target, least, free, aim, root)
    inside = True
    for k in range(n):
        inside = inside and aim[k] >= least
        free[k] = aim[k] > least
        x[k] = max(aim[k], least)
    if inside:
        return
    for _ in range(20 * n):
        _free_minimum(gram, target, least, free, aim, root)
        length, blocking = _blocked(x, aim, all_least, free)
        for k in range(n):
            if free[k]:
                x[k] = max(x[k] + length * (aim[k] - x[k]), least)
        if blocking >= 0:
            free[blocking] = False
            x[blocking] = least
            continue
        entering, most = -1, 1e-12 * scale
        for k in range(n):
            if not free[k]:
                pull = target[k]
                for j in range(n):
                    pull -= gram[k, j] * x[j]
                if pull > most:
                    entering, most = k, pull
        if entering < 0:
            return
        free[entering] = True


@compiled
def _free_minimum(
    gram: Reals, target: Reals, least: float, free: NDArray[np.bool_], aim: Reals, root: Reals
) -> None:
    """The minimum over the free coordinates, the others at `least`, in place (Cholesky)."""
    n = len(target)
    for k in range(n):
        aim[k] = target[k] if free[k] else least
        for j in range(n):
            if free[k] and not free[j]:
                aim[k] -= gram[k, j] * least
    factorise(gram, root, free, TINY)
    solve_free(root, free, aim)


@compiled
def _blocked(x: Reals, aim: Reals, least: Reals, free: NDArray[np.bool_]) -> tuple[float, int]:
    """How far from x towards the aim all free coordinates stay above their least values.

    Returns that part of the way, and which coordinate ends it; 1 and -1 if none does.
    """
    length, blocking = 1.0, -1
    for k in range(len(x)):
        if free[k] and aim[k] < least[k]:
            until = (x[k] - least[k]) / (x[k] - aim[k])
            if until < length or blocking < 0:
                length, blocking = until, k
    return length, blocking


@compiled
def normalise(p: Prevalences) -> None:
    """Scale p to sum to one, in place."""
    total = 0.0
    for k in range(len(p)):
        total += p[k]
    for k in range(len(p)):
        p[k] /= total


@compiled
def factorise(matrix: Reals, root: Reals, free: NDArray[np.bool_], smallest: float) -> bool:
    """Cholesky factor of the free rows and columns, in place; False if they are not definite.

    Squares of pivots that rounding makes smaller than `smallest` are raised to it.
    """
    definite = True
    for k in range(len(matrix)):
        if not free[k]:
            continue
        for i in range(k + 1):
            if not free[i]:
                continue
            rest = matrix[k, i]
            for m in range(i):
                if free[m]:
                    rest -= root[k, m] * root[i, m]
            if i < k:
                root[k, i] = rest / root[i, i]
            else:
                definite = definite and rest > 0.0
                root[k, k] = math.sqrt(max(rest, smallest))
    return definite


@compiled
def solve_free(root: Reals, free: NDArray[np.bool_], target: Reals) -> None:
    """The solution of (root root') x = target on the free rows, in place."""
    n = len(target)
    for k in range(n):
        if free[k]:
            for i in range(k):
                if free[i]:
                    target[k] -= root[k, i] * target[i]
            target[k] /= root[k, k]
    for k in range(n - 1, -1, -1):
        if free[k]:
            for i in range(k + 1, n):
                if free[i]:
                    target[k] -= root[i, k] * target[i]
            target[k] /= root[k, k]
