"""Quadratic functions on the simplex: their least points, exactly, for many samples at once.

Matching means, energies and kernels comes down to the p on the simplex that minimises
p'Gp - 2 b.p, with one matrix G of the training classes and a vector b of each sample. With d the
step from a start of sum one, only what G does to steps of sum zero matters, so that G need only be
positive semidefinite on those: minus a matrix of distances is.

Where the minimum over all p of sum one has no negative share it is the answer, by one product for
all samples. The other samples go through an active set together: shares are free or held at zero;
each step goes to the minimum over the free ones, or as far as the first share that becomes zero,
which is then held; at a minimum the held share of the steepest descent is freed. This ends at the
one point that meets the conditions of Karush, Kuhn and Tucker.

Reference: J. Nocedal and S. Wright, "Numerical optimization", 2006, section 16.5.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from quantshift.compiled import compiled
from quantshift.types import Prevalences

Reals = NDArray[np.float64]

FLAT = 1e-10
"""Curvatures below this part of the largest are none; they get this one, towards the start."""

ROUNDING = 1e-13
"""Part of the entries of G and b that may be rounding."""

STEEP = 1e-12
"""Descent, relative to the slope at the start, that frees a share."""


def minimise_on_simplex(gram: Reals, linear: Reals, start: Prevalences) -> Prevalences:
    """The p on the simplex that minimises p . gram p - 2 linear . p, for each row of `linear`.

    gram: (n_classes, n_classes), symmetric, convex along steps of sum zero; linear: (n_samples,
    n_classes); start: (n_classes,), on the simplex. Returns (n_samples, n_classes). Shares that
    would be negative are exactly zero.

    Where the minimum is not unique, it is the one nearest to `start` (Euclidean), to about 1e-6:
    directions in which the curvature is below 1e-10 of the largest count as flat and get that
    curvature, centred at the start. Without such directions nothing is added.

    >>> minimise_on_simplex(np.eye(2), np.array([[0.3, 0.7], [0.0, 2.0]]), np.array([0.5, 0.5]))
    array([[0.3, 0.7],
           [0. , 1. ]])
    """
    if len(start) == 2:
        return _minimise_of_two(
            np.ascontiguousarray(gram), np.ascontiguousarray(linear), np.ascontiguousarray(start)
        )
    basis, curvature, flat = _curvatures(gram)
    slope = _times(linear - gram @ start, basis)
    noise = ROUNDING * (np.abs(linear).max(axis=1, keepdims=True) + np.abs(gram).max())
    slope[:, flat] = np.where(np.abs(slope[:, flat]) <= noise, 0.0, slope[:, flat])
    p_hat = start + _times(slope / curvature, basis.T)
    outside = (p_hat < 0).any(axis=1)
    if outside.any():
        scale = curvature.max()
        # The direction out of the simplex gets a curvature, too: no step has a part in it.
        model = basis * (curvature / scale) @ basis.T + 1 / len(start)
        pull = _times(slope[outside] / scale, basis.T)
        p_hat[outside] = _active_set(model, pull, start, p_hat[outside])
    return np.asarray(p_hat / p_hat.sum(axis=1, keepdims=True))


@compiled
def _minimise_of_two(gram: Reals, linear: Reals, start: Prevalences) -> Prevalences:
    """With two classes there is one direction, and the minimum along it is clipped."""
    largest = np.abs(gram).max()
    curvature = gram[0, 0] + gram[1, 1] - gram[0, 1] - gram[1, 0]
    flat = curvature <= 2 * ROUNDING * largest
    p_hat = np.empty((len(linear), 2))
    at_first = gram[0, 0] * start[0] + gram[0, 1] * start[1]
    at_second = gram[1, 0] * start[0] + gram[1, 1] * start[1]
    for i in range(len(linear)):
        slope = (linear[i, 1] - at_second) - (linear[i, 0] - at_first)
        if flat:
            noise = ROUNDING * (max(abs(linear[i, 0]), abs(linear[i, 1])) + largest)
            step = 0.0 if abs(slope) <= math.sqrt(2.0) * noise else slope / (2 * FLAT)
        else:
            step = slope / curvature
        share = min(max(start[1] + step, 0.0), 1.0)
        p_hat[i, 0], p_hat[i, 1] = 1.0 - share, share
    return p_hat


def is_flat(gram: Reals) -> bool:
    """Whether p . gram p is the same along some line on the simplex, so that minima may be many."""
    return bool(_curvatures(gram)[2].any())


def _curvatures(gram: Reals) -> tuple[Reals, Reals, NDArray[np.bool_]]:
    """Orthonormal steps of sum zero (columns), the curvature along each, which of them are flat."""
    sum_zero = _sum_zero(len(gram))
    values, vectors = np.linalg.eigh(sum_zero.T @ ((gram + gram.T) / 2) @ sum_zero)
    flat = values <= max(FLAT * values[-1], ROUNDING * np.abs(gram).max())
    least = FLAT * (1.0 if flat.all() else float(values[-1]))
    return sum_zero @ vectors, np.where(flat, least, values), flat


@cache
def _sum_zero(n_classes: int) -> Reals:
    """Orthonormal steps of sum zero, (n_classes, n_classes - 1)."""
    return np.asarray(np.linalg.svd(np.ones((1, n_classes)))[2][1:].T)


def _active_set(model: Reals, pull: Reals, start: Prevalences, beyond: Reals) -> Prevalences:
    """The p on the simplex that minimises d . model d - 2 pull . d with d = p - start, each row.

    model: positive definite; beyond: the minima over all p of sum one, from which the search
    begins, its negative shares set to zero.
    """
    n_samples, n_classes = pull.shape
    p_hat = np.maximum(beyond, 0.0)
    p_hat /= p_hat.sum(axis=1, keepdims=True)
    free = p_hat > 0
    steep = STEEP * (1.0 + np.abs(pull).max(axis=1))
    rows = np.arange(n_samples)
    for _ in range(20 * n_classes):
        p, some = p_hat[rows], free[rows]
        aim = _least_on(some, model, pull[rows], start)
        ahead = aim - p
        with np.errstate(divide="ignore", invalid="ignore"):
            until = np.where(some & (aim < 0), p / -ahead, np.inf)
        blocking = until.argmin(axis=1)
        each = np.arange(len(rows))
        blocked = until[each, blocking] < np.inf
        length = np.where(blocked, until[each, blocking], 1.0)
        p = np.where(some, np.maximum(p + length[:, np.newaxis] * ahead, 0.0), 0.0)
        p[each[blocked], blocking[blocked]] = 0.0
        some[each[blocked], blocking[blocked]] = False
        descent = pull[rows] - _times(p - start, model)
        level = np.where(some, descent, 0.0).sum(axis=1) / np.maximum(some.sum(axis=1), 1)
        gain = np.where(some, -np.inf, descent - level[:, np.newaxis])
        entering = gain.argmax(axis=1)
        enters = ~blocked & (gain[each, entering] > steep[rows])
        some[each[enters], entering[enters]] = True
        p_hat[rows], free[rows] = p, some
        rows = rows[blocked | enters]
        if not len(rows):
            break
    return p_hat


def _least_on(free: NDArray[np.bool_], model: Reals, pull: Reals, start: Prevalences) -> Reals:
    """The minima among the p of sum one whose shares are zero but for the free ones."""
    n_samples, n_classes = free.shape
    # Rows: the gradient of each free share is the multiplier of the sum, or the share is zero.
    system = np.zeros((n_samples, n_classes + 1, n_classes + 1))
    system[:, :n_classes, :n_classes] = np.where(
        free[:, :, np.newaxis], model, np.eye(n_classes)[np.newaxis]
    )
    system[:, :n_classes, n_classes] = free
    system[:, n_classes, :n_classes] = 1.0
    target = np.ones((n_samples, n_classes + 1))
    target[:, :n_classes] = np.where(free, pull + model @ start, 0.0)
    return np.asarray(np.linalg.solve(system, target[:, :, np.newaxis])[:, :n_classes, 0])


def _times(rows: Reals, matrix: Reals) -> Reals:
    """rows @ matrix, each row by itself: a product of matrices may round by how many there are."""
    return np.asarray((rows[:, :, np.newaxis] * matrix).sum(axis=1))
