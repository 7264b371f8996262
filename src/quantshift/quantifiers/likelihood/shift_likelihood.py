"""Compiled maximisation of the subclass likelihoods, sample by sample.

The loops are ragged, because clusters differ in size; numpy handles this badly and a compiler well.
`quantshift.quantifiers.likelihood.subclass_sld` describes what is solved, and
`quantshift.optimise.mixture_likelihood` how.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Ints, Reals
from quantshift.optimise.mixture_likelihood import (
    log_likelihood,
    maximise_factors,
    maximise_mixture,
    room_for_classes,
)
from quantshift.optimise.total_weights import array_of_weights, total_weight


def maximise_subclasses(
    posteriors: Reals,
    clusters: Ints,
    index: Ints,
    within: Reals,
    shares: Reals,
    tol: float,
    max_iter: int,
    weights: Reals | None = None,
) -> tuple[Reals, Reals, Ints, NDArray[np.bool_]]:
    """Subclass shares and log-likelihoods of every sample under the four models.

    posteriors: calibrated, (n_items, n_classes); clusters: (n_items,); index: (n_samples, size).
    within: class shares in each training cluster, (1 or n_samples, n_clusters, n_classes).
    shares: of the training clusters, (1 or n_samples, n_clusters).
    weights: of the items of the pool, (n_items,), not all zero in a sample. Scaling them scales the
        log-likelihoods and does not change the shares.
    Returns shares (n_samples, 4, n_clusters, n_classes), log-likelihoods (n_samples, 4),
    iterations and convergence of the slowest model (n_samples,).
    """
    (n_samples, size), (n_clusters, n_classes) = index.shape, within.shape[1:]
    item_weights = array_of_weights(weights)
    fitted, fit = np.zeros((n_samples, 4, n_clusters, n_classes)), np.zeros((n_samples, 4))
    iterations, converged = np.zeros(n_samples, np.int64), np.zeros(n_samples, np.bool_)
    _maximise_each(
        posteriors, clusters, index, within, shares, tol, max_iter, item_weights,
        np.empty((2, size, n_classes)), np.empty(size if len(item_weights) else 0),
        np.empty(n_clusters + 1, np.int64), np.empty((n_clusters, n_classes)), np.empty(n_clusters),
        np.empty((2, n_classes)), fitted, fit, iterations, converged, room_for_classes(n_classes),
    )  # fmt: skip
    return fitted, fit, iterations, converged


@compiled
def _maximise_each(
    posteriors: Reals,
    clusters: Ints,
    index: Ints,
    within: Reals,
    shares: Reals,
    tol: float,
    max_iter: int,
    weights: Reals,
    rows: Reals,
    row_weights: Reals,
    starts: Ints,
    groups: Reals,
    count: Reals,
    of_classes: Reals,
    fitted: Reals,
    fit: Reals,
    iterations: Ints,
    converged: NDArray[np.bool_],
    space: Reals | None,
) -> None:
    """Set `fitted`, `fit`, `iterations` and `converged`; from `rows` to `of_classes`: buffers."""
    n_clusters, n_classes = within.shape[1], within.shape[2]
    q, ratio = rows[0], rows[1]
    prior, p = of_classes[0], of_classes[1]
    for s in range(len(index)):
        pi = within[s if within.shape[0] > 1 else 0]
        cluster_shares = shares[s if shares.shape[0] > 1 else 0]
        _order_by_cluster(posteriors, clusters, index[s], weights, q, starts, row_weights)
        n = int(starts[n_clusters])
        total = 0.0
        for c in range(n_clusters):
            own = row_weights[starts[c] : starts[c + 1]]
            count[c] = total_weight(own, starts[c + 1] - starts[c])
            total += count[c]

        for k in range(n_classes):
            prior[k] = 0.0
            for c in range(n_clusters):
                prior[k] += cluster_shares[c] * pi[c, k]
        # Prior shift. A class that is missing in training is missing in the sample.
        for k in range(n_classes):
            inverse = 1.0 / prior[k] if prior[k] > 0.0 else 0.0
            for j in range(n):
                ratio[j, k] = q[j, k] * inverse
            for c in range(n_clusters):
                groups[c, k] = pi[c, k] * inverse
        _set_shares(p, prior)
        everything, everyone = ratio[:n], row_weights[:n]
        steps, done = maximise_mixture(everything, p, tol, max_iter, everyone, space)
        fit[s, 0] = log_likelihood(everything, p, everyone)
        slowest, all_done = steps, done
        moved = 0.0
        for c in range(n_clusters):
            share = count[c] / total
            if count[c] > 0:
                moved += count[c] * math.log(share / cluster_shares[c])
            for k in range(n_classes):
                fitted[s, 0, c, k] = p[k] * cluster_shares[c] * groups[c, k]
                fitted[s, 1, c, k] = share * pi[c, k]
        fit[s, 1] = moved
        # Mixed: a common factor of the classes' odds in all clusters, starting from the better of
        # the two models that are special cases of this one.
        if _has_zero(p) or _in_groups(everything, groups, count, p, everyone) < 0.0:
            _set_shares(p, prior)
        steps, done = maximise_factors(everything, groups, count, p, tol, max_iter, everyone, space)
        slowest, all_done = max(slowest, steps), all_done and done
        fit[s, 2] = moved + _in_groups(everything, groups, count, p, everyone)
        for c in range(n_clusters):
            mass = 0.0
            for k in range(n_classes):
                mass += p[k] * groups[c, k]
            for k in range(n_classes):
                fitted[s, 2, c, k] = 0.0
                if count[c] > 0:
                    fitted[s, 2, c, k] = count[c] / total * p[k] * groups[c, k] / mass
        # Local: every cluster by itself.
        fit[s, 3] = moved
        for c in range(n_clusters):
            if count[c] == 0:
                continue
            first, last = starts[c], starts[c + 1]
            own = row_weights[first:last]
            for k in range(n_classes):
                inverse = 1.0 / pi[c, k] if pi[c, k] > 0.0 else 0.0
                for j in range(first, last):
                    ratio[j, k] = q[j, k] * inverse
            _set_shares(p, pi[c])
            members = ratio[first:last]
            steps, done = maximise_mixture(members, p, tol, max_iter, own, space)
            slowest, all_done = max(slowest, steps), all_done and done
            fit[s, 3] += log_likelihood(members, p, own)
            for k in range(n_classes):
                fitted[s, 3, c, k] = count[c] / total * p[k]
        iterations[s], converged[s] = slowest, all_done


@compiled
def _set_shares(p: Reals, shares: Reals) -> None:
    """Copy the shares; numba compiles `p[:] = shares` with a message about shapes, for a second."""
    for k in range(len(p)):
        p[k] = shares[k]


@compiled
def _has_zero(p: Reals) -> bool:
    """Whether a share is zero."""
    zero = False
    for k in range(len(p)):
        zero = zero or p[k] == 0.0
    return zero


@compiled
def _order_by_cluster(
    posteriors: Reals,
    clusters: Ints,
    items: Ints,
    weights: Reals,
    q: Reals,
    starts: Ints,
    row_weights: Reals,
) -> None:
    """The posteriors (and weights) of a sample's items in the order of their clusters, in place.

    Those of cluster c are at starts[c] to starts[c + 1]. Items without weight are left out.
    """
    starts[:] = 0
    for item in items:
        if len(weights) == 0 or weights[item] > 0.0:
            starts[clusters[item] + 1] += 1
    for c in range(1, len(starts)):
        starts[c] += starts[c - 1]
    for item in items:
        if len(weights) > 0:
            if weights[item] <= 0.0:
                continue
            row_weights[starts[clusters[item]]] = weights[item]
        c = clusters[item]
        for k in range(posteriors.shape[1]):
            q[starts[c], k] = posteriors[item, k]
        starts[c] += 1
    # Every start has moved to the beginning of the next cluster; move them back.
    for c in range(len(starts) - 1, 0, -1):
        starts[c] = starts[c - 1]
    starts[0] = 0


@compiled
def _in_groups(ratio: Reals, groups: Reals, count: Reals, p: Reals, weights: Reals) -> float:
    """Log-likelihood of the items given their clusters; 0 without a shift of the classes' odds."""
    total = log_likelihood(ratio, p, weights)
    for c in range(len(groups)):
        if count[c] > 0:
            mass = 0.0
            for k in range(len(p)):
                mass += p[k] * groups[c, k]
            total -= count[c] * math.log(mass)
    return total
