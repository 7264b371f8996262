"""Exact minima of quadratic functions on the simplex, for many samples at once.

Matching means, energies and kernels amounts to finding the p on the simplex that minimises
p'Gp - 2 b.p, with one matrix G for the training classes and a vector b for each sample. Starting
from a p that sums to one, only the effect of G on steps that sum to zero matters, so G need only be
positive semidefinite on those, as a negative matrix of distances is.

If the minimum over all p that sum to one has no negative share, it is the solution, because nothing
on the simplex is lower. The other samples are solved by an active-set method: shares are free or
fixed at zero; each step goes to the minimum over the free ones, or as far as the first share that
becomes zero, which is then fixed; at a minimum the fixed share with the steepest descent is freed.
This ends at the only point that meets the Karush-Kuhn-Tucker conditions.

Reference: J. Nocedal and S. Wright, "Numerical optimization", 2006, section 16.5.
"""

import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from quantshift.base.compiled import compiled
from quantshift.base.types import Prevalences, Reals
from quantshift.optimise.active_set import TINY, minimum_on_simplex, normalise

MANY = 300
"""With more classes eigenvectors would take most of the time, and the active set is found first."""

N_STEPS = 300
"""Projected steps that find the active set of many classes."""

FLAT = 1e-10
"""Curvatures below this fraction of the largest count as flat, and are replaced by it."""

ROUNDING = 1e-13
"""Relative size of rounding errors in the entries of G and b."""


def minimise_on_simplex(gram: Reals, linear: Reals, start: Prevalences) -> Prevalences:
    """The p on the simplex that minimises p . gram p - 2 linear . p, for each row of `linear`.

    gram: (n_classes, n_classes), symmetric, convex along steps that sum to zero; linear:
    (n_samples, n_classes); start: (n_classes,), on the simplex. Returns (n_samples, n_classes).
    Shares that would be negative are exactly zero.

    If the minimum is not unique, it is the one closest to `start` (Euclidean), to about 1e-6:
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
    if len(start) > MANY:
        return _minimise_of_many(gram, linear, start)
    model = _model(gram.tobytes(), start.tobytes())
    return _minimise_each(np.ascontiguousarray(linear), *model)


@compiled
def _minimise_of_two(gram: Reals, linear: Reals, start: Prevalences) -> Prevalences:
    """With two classes there is only one direction, and the minimum along it is clipped."""
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
    """Whether p . gram p is constant along a line on the simplex, so minima may not be unique."""
    if len(gram) > MANY:
        model, _ = _model_of_many(gram.tobytes(), len(gram))
        try:
            np.linalg.cholesky(model - 2 * FLAT * np.eye(len(gram)))
        except np.linalg.LinAlgError:
            return True
        return False
    return bool(_curvatures(gram.tobytes(), len(gram))[2].any())


@lru_cache(maxsize=64)
def _curvatures(gram: bytes, n_classes: int) -> tuple[Reals, Reals, NDArray[np.bool_]]:
    """Orthonormal steps that sum to zero (columns), their curvatures, and which are flat."""
    sum_zero, matrix = _sum_zero(n_classes), np.frombuffer(gram).reshape(n_classes, n_classes)
    values, vectors = np.linalg.eigh(sum_zero.T @ ((matrix + matrix.T) / 2) @ sum_zero)
    flat = values <= max(FLAT * values[-1], ROUNDING * np.abs(matrix).max())
    least = FLAT * (1.0 if flat.all() else float(values[-1]))
    return sum_zero @ vectors, np.where(flat, least, values), flat


@cache
def _sum_zero(n_classes: int) -> Reals:
    """Orthonormal steps that sum to zero, (n_classes, n_classes - 1)."""
    return np.asarray(np.linalg.svd(np.ones((1, n_classes)))[2][1:].T)


@lru_cache(maxsize=64)
def _model(
    gram: bytes, start: bytes
) -> tuple[Prevalences, Reals, float, Reals, Reals, NDArray[np.bool_], Reals]:
    """What all samples share, cached because it would take most of the time for one sample."""
    begin = np.frombuffer(start).copy()  # writable, like all arrays that loops are compiled for
    matrix = np.frombuffer(gram).reshape(len(begin), len(begin))
    basis, curvature, flat = _curvatures(gram, len(begin))
    # The direction out of the simplex gets a curvature too, although no step uses it.
    model = basis * (curvature / curvature.max()) @ basis.T + 1 / len(begin)
    return begin, matrix @ begin, float(np.abs(matrix).max()), basis, curvature, flat, model


@compiled
def _minimise_each(
    linear: Reals,
    start: Prevalences,
    at_start: Reals,
    largest: float,
    basis: Reals,
    curvature: Reals,
    flat: NDArray[np.bool_],
    model: Reals,
) -> Prevalences:
    """`minimise_on_simplex`, each row by itself.

    at_start: gram @ start; largest: of the entries of gram; basis, curvature, flat: see
    `_curvatures`; model: gram on the simplex, its largest curvature scaled to one.
    """
    n_samples, n_classes = linear.shape
    n_steps = n_classes - 1
    scale = curvature.max()
    p_hat, slope, pull = np.empty((n_samples, n_classes)), np.empty(n_steps), np.empty(n_classes)
    for i in range(n_samples):
        p, noise = p_hat[i], 0.0
        for k in range(n_classes):
            noise = max(noise, abs(linear[i, k]))
        noise = ROUNDING * (noise + largest)
        for j in range(n_steps):
            slope[j] = 0.0
            for k in range(n_classes):
                slope[j] += (linear[i, k] - at_start[k]) * basis[k, j]
            if flat[j] and abs(slope[j]) <= noise:
                slope[j] = 0.0
        inside = True
        for k in range(n_classes):
            step = 0.0
            for j in range(n_steps):
                step += slope[j] / curvature[j] * basis[k, j]
            p[k] = start[k] + step
            inside &= p[k] >= 0.0
        # It is the minimum over all p that sum to one, hence also on the simplex.
        if not inside:
            for k in range(n_classes):
                pull[k] = 0.0
                for j in range(n_steps):
                    pull[k] += slope[j] / scale * basis[k, j]
            minimum_on_simplex(model, pull, start, p)
        normalise(p)
    return p_hat


def _minimise_of_many(gram: Reals, linear: Reals, start: Prevalences) -> Prevalences:
    """The same for many classes: projected steps find which shares are zero, an active set ends.

    All directions get the curvature of flat ones in addition, 1e-10 of the largest.
    """
    model, scale = _model_of_many(gram.tobytes(), len(start))
    pulls = linear - gram @ start
    pulls = (pulls - pulls.mean(axis=1, keepdims=True)) / scale
    p_hat = np.empty(linear.shape)
    for pull, p in zip(pulls, p_hat, strict=True):
        p[:] = _by_projected_steps(model, pull, start)
        minimum_on_simplex(model, np.ascontiguousarray(pull), start.copy(), p)
        normalise(p)
    return p_hat


@lru_cache(maxsize=4)
def _model_of_many(gram: bytes, n_classes: int) -> tuple[Reals, float]:
    """gram on the simplex, its largest curvature scaled to one, and that curvature."""
    matrix = np.frombuffer(gram).reshape(n_classes, n_classes)
    matrix = (matrix + matrix.T) / 2
    means = matrix.mean(axis=0)
    centred = matrix - means - means[:, np.newaxis] + means.mean()
    begin = np.cos(np.arange(n_classes))  # any vector that is not at right angles to the largest
    scale = float(eigsh(centred, k=1, which="LA", v0=begin, return_eigenvectors=False)[0])
    scale = max(scale, ROUNDING * float(np.abs(matrix).max()), TINY)
    return centred / scale + FLAT * np.eye(n_classes) + 1 / n_classes, scale


def _by_projected_steps(model: Reals, pull: Reals, start: Prevalences) -> Prevalences:
    """Near the minimum: accelerated gradient steps, each projected on the simplex.

    Reference: A. Beck and M. Teboulle, "A fast iterative shrinkage-thresholding algorithm", 2009.
    """
    p = ahead = start
    momentum = 1.0
    for _ in range(N_STEPS):
        following = _on_simplex(ahead - (model @ (ahead - start) - pull))
        next_momentum = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        moved = following - p
        if float(np.abs(moved).max()) < ROUNDING:
            break
        ahead = following + (momentum - 1) / next_momentum * moved
        p, momentum = following, next_momentum
    return p


def _on_simplex(values: Reals) -> Prevalences:
    """The nearest point of the simplex.

    >>> _on_simplex(np.array([0.5, 1.0, -2.0]))
    array([0.25, 0.75, 0.  ])
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.maximum(values - level, 0.0))


def row_products(rows: Reals, matrix: Reals) -> Reals:
    """rows @ matrix, row by row: rounding in a matrix product may depend on the number of rows."""
    return _row_products(np.ascontiguousarray(rows), np.ascontiguousarray(matrix))


@compiled
def _row_products(rows: Reals, matrix: Reals) -> Reals:
    products = np.zeros((len(rows), matrix.shape[1]))
    for i in range(len(rows)):
        for k in range(len(matrix)):
            for j in range(matrix.shape[1]):
                products[i, j] += rows[i, k] * matrix[k, j]
    return products
