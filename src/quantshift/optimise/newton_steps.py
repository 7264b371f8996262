"""Steps of Newton's method under the constraint p >= 0: small systems, compiled."""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals

NEARNESS = 1e-10
"""Pull towards the start, which decides between equal maxima and is negligible otherwise."""

SMALLEST_PIVOT = 0.01 * NEARNESS
"""Of a factorisation: pivots are at least NEARNESS, but for rounding."""


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

    An active-set method: classes are free or fixed at zero; those that are not usable are always
    fixed. `root` is a buffer for a factorisation.
    """
    n_classes = len(p)
    free, target = np.empty(n_classes, dtype=np.bool_), np.empty(n_classes)
    for k in range(n_classes):
        free[k], step[k] = p[k] > 0.0, 0.0
    for _ in range(20 * n_classes):
        for k in range(n_classes):
            target[k] = gradient[k]
            for i in range(n_classes):
                if not free[i]:
                    target[k] += model[k, i] * p[i]
        factorise(model, root, free, SMALLEST_PIVOT)
        solve(root, free, target)
        # As far towards the target as possible without a negative share.
        length, blocking = 1.0, -1
        for k in range(n_classes):
            if free[k] and p[k] + target[k] < 0.0:
                until = (p[k] + step[k]) / (step[k] - target[k])
                if until < length or blocking < 0:
                    length, blocking = until, k
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
def solve(root: Reals, free: NDArray[np.bool_], target: Reals) -> None:
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
