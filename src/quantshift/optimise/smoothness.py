"""Ordered classes: smooth prevalences, by penalties or by smoothing.

A prevalence of ordered classes (stars, ages, energies) is often smooth. Its roughness is |C p|^2
with C the second differences, (-1, 2, -1) along the classes: zero if the shares lie on a line. A
penalty tau |C p|^2 is added to what a method minimises. Smoothing is an alternative: a prevalence
is moved towards the closest polynomial of low order, (1 - l) p + l poly(p), after every step of
expectation maximisation.

References: V. Blobel, "Unfolding methods in high-energy physics experiments", CERN 85-09, 1985; G.
D'Agostini, "A multidimensional unfolding method based on Bayes' theorem", NIM A 362 (1995); M.
Bunse et al., "Regularization-based methods for ordinal quantification", DMKD 38 (2024).
"""

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Indices, Ints, Prevalences, Reals
from quantshift.optimise.mixture_likelihood import maximise_mixtures
from quantshift.optimise.mixtures import minimise_convex
from quantshift.prevalence.weights import Weights


def first_differences(n_classes: int) -> Reals:
    """The matrix of differences between neighbours, (n_classes - 1, n_classes).

    >>> first_differences(3).tolist()
    [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
    """
    return np.diff(np.eye(n_classes), axis=0)


def second_differences(n_classes: int) -> Reals:
    """The matrix whose rows are (-1, 2, -1) along the classes, (n_classes - 2, n_classes).

    >>> second_differences(4).tolist()
    [[-1.0, 2.0, -1.0, 0.0], [0.0, -1.0, 2.0, -1.0]]
    """
    return -np.diff(np.eye(n_classes), n=2, axis=0) + 0.0


def smoother(n_classes: int, order: int, smoothing: float) -> Reals:
    """The matrix of p -> (1 - smoothing) p + smoothing poly(p), poly of that order closest to p."""
    positions = np.linspace(-1.0, 1.0, n_classes)
    basis = np.linalg.qr(np.vander(positions, min(order, n_classes - 1) + 1))[0]
    return np.asarray((1 - smoothing) * np.eye(n_classes) + smoothing * basis @ basis.T)


def smoothed_expectation(
    likelihoods: Reals,
    index: Indices,
    start: Prevalences,
    *,
    order: int,
    smoothing: float,
    tol: float,
    max_iter: int,
    weights: Reals | None = None,
) -> tuple[Prevalences, Ints, NDArray[np.bool_]]:
    """EM for the prevalences of samples, each step followed by smoothing.

    likelihoods: of the items of a pool, (n_classes, n_items); index: (n_samples, size); start:
    (n_classes,). weights: of the items, (n_items,). Shares that smoothing makes negative are set to
    zero. tol: largest change of a share in the last step.
    Without effective smoothing it is plain maximum likelihood, whose maximum is found directly.
    Returns (prevalences (n_samples, n_classes), steps, converged).
    """
    n_classes = len(likelihoods)
    matrix = smoother(n_classes, order, smoothing)
    # A polynomial through all shares is the prevalence itself.
    if smoothing == 0 or order >= n_classes - 1:
        return maximise_mixtures(
            likelihoods, index, start, tol=tol, max_iter=max_iter, weights=weights
        )
    return _smoothed_each(
        np.require(likelihoods, np.float64, ["C", "W"]),
        np.require(index, np.int64, ["C", "W"]),
        np.require(sample_weights(index, weights), np.float64, ["C", "W"]),
        np.require(start, np.float64, ["C", "W"]),
        matrix,
        float(tol),
        int(max_iter),
    )


@compiled
def _smoothed_each(
    likelihoods: Reals,
    index: Ints,
    weights: Reals,
    start: Reals,
    matrix: Reals,
    tol: float,
    max_iter: int,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    n_samples, size = index.shape
    n_classes = len(start)
    p_hat = np.empty((n_samples, n_classes))
    steps = np.empty(n_samples, dtype=np.int64)
    converged = np.empty(n_samples, dtype=np.bool_)
    rows, item_weights = np.empty((size, n_classes)), np.empty(size)
    pull, following = np.empty(n_classes), np.empty(n_classes)
    for s in range(n_samples):
        n, total = 0, 0.0
        for j in range(size):
            mass = 0.0
            for k in range(n_classes):
                rows[n, k] = likelihoods[k, index[s, j]]
                mass += rows[n, k]
            # An item that no class explains, or without weight, is not informative.
            if mass > 0.0 and weights[s, j] > 0.0:
                item_weights[n] = weights[s, j]
                total += item_weights[n]
                n += 1
        p = p_hat[s]
        p[:] = start
        steps[s], converged[s] = 0, n == 0
        while n > 0 and steps[s] < max_iter and not converged[s]:
            steps[s] += 1
            pull[:] = 0.0
            for j in range(n):
                mass = 0.0
                for k in range(n_classes):
                    mass += p[k] * rows[j, k]
                if mass > 0.0:
                    share = item_weights[j] / mass
                    for k in range(n_classes):
                        pull[k] += share * rows[j, k]
            summed = 0.0
            for k in range(n_classes):
                pull[k] *= p[k] / total
            for k in range(n_classes):
                moved = 0.0
                for i in range(n_classes):
                    moved += matrix[k, i] * pull[i]
                following[k] = max(moved, 0.0)
                summed += following[k]
            change = 0.0
            for k in range(n_classes):
                following[k] /= summed
                change = max(change, abs(following[k] - p[k]))
                p[k] = following[k]
            converged[s] = change <= tol
    return p_hat, steps, converged


def penalised_likelihood(
    likelihoods: Reals, weights: Reals, penalty: Reals, start: Prevalences
) -> Prevalences:
    """For each sample, the p on the simplex with the smallest -mean log(p . r) + p . penalty p.

    likelihoods: r, (n_samples, size, n_classes), or (size, n_classes) if the samples share them;
    weights: (n_samples, size); those of items that no class explains are set to zero. penalty:
    (n_classes, n_classes), positive semidefinite; start: (n_classes,), all positive.
    """
    is_possible = likelihoods.sum(axis=-1) > 0
    item_weights = np.where(is_possible, weights, 0.0)
    total = item_weights.sum(axis=1, keepdims=True)
    item_weights = np.divide(item_weights, total, out=np.zeros_like(item_weights), where=total > 0)
    shared = likelihoods.ndim == 2
    # Items without weight must not lead to a logarithm of zero.
    rows = np.where(is_possible[..., np.newaxis], likelihoods, 1.0)

    def masses(p: Prevalences, some: Indices) -> tuple[Reals, Reals]:
        if shared:
            return rows, (p[:, np.newaxis] * rows).sum(axis=2)
        return rows[some], (p[:, np.newaxis] * rows[some]).sum(axis=2)

    def objective(p: Prevalences, some: Indices) -> Reals:
        _, mass = masses(p, some)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(item_weights[some] > 0, -item_weights[some] * np.log(mass), 0.0)
        return np.asarray(terms.sum(axis=1) + ((p[:, np.newaxis] * penalty).sum(2) * p).sum(1))

    def derivatives(p: Prevalences, some: Indices) -> tuple[Reals, Reals]:
        likelihoods_there, mass = masses(p, some)
        pull = likelihoods_there / np.maximum(mass, 1e-300)[..., np.newaxis]
        weighed = item_weights[some][..., np.newaxis] * pull
        gradient = -weighed.sum(axis=1) + 2 * (p[:, np.newaxis] * penalty).sum(axis=2)
        return gradient, np.einsum("sjk,sjl->skl", weighed, pull) + 2 * penalty

    return minimise_convex(objective, derivatives, start, len(item_weights))


def sample_weights(index: Indices, weights: Weights | None) -> Reals:
    """Weights of the items of each sample, (n_samples, size)."""
    return np.ones(index.shape) if weights is None else weights[index]
