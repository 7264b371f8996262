"""Compiled maximisation of the subclass likelihoods, sample by sample.

The loops are ragged (a sample's items fall into clusters as they please), which numpy does badly
and a compiler well. `quantshift.quantifiers.subclass` says what is solved, and
`quantshift.quantifiers.solvers` how.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.compiled import compiled
from quantshift.quantifiers.solvers import log_likelihood, maximise_factors, maximise_mixture

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled
def maximise_subclasses(
    posteriors: Reals,
    clusters: Ints,
    index: Ints,
    within: Reals,
    shares: Reals,
    tol: float,
    max_iter: int,
) -> tuple[Reals, Reals, Ints, NDArray[np.bool_]]:
    """Subclass shares and log-likelihoods of every sample under the four models.

    posteriors: calibrated, (n_items, n_classes); clusters: (n_items,); index: (n_samples, size).
    within: class shares in each training cluster, (1 or n_samples, n_clusters, n_classes).
    shares: of the training clusters, (1 or n_samples, n_clusters).
    Returns shares (n_samples, 4, n_clusters, n_classes), log-likelihoods (n_samples, 4),
    iterations and convergence of the slowest model (n_samples,).
    """
    n_samples, size = index.shape
    n_clusters, n_classes = within.shape[1], within.shape[2]
    found = np.zeros((n_samples, 4, n_clusters, n_classes))
    fit = np.zeros((n_samples, 4))
    iterations = np.zeros(n_samples, dtype=np.int64)
    converged = np.ones(n_samples, dtype=np.bool_)
    q = np.empty((size, n_classes))
    ratio = np.empty((size, n_classes))
    place = np.empty(n_clusters + 1, dtype=np.int64)
    count = np.empty(n_clusters, dtype=np.int64)
    groups = np.empty((n_clusters, n_classes))
    prior = np.empty(n_classes)
    p = np.empty(n_classes)
    for s in range(n_samples):
        pi = within[s if within.shape[0] > 1 else 0]
        known = shares[s if shares.shape[0] > 1 else 0]
        # The sample's items in the order of their clusters.
        count[:] = 0
        for j in range(size):
            count[clusters[index[s, j]]] += 1
        place[0] = 0
        for c in range(n_clusters):
            place[c + 1] = place[c] + count[c]
        for j in range(size):
            item = index[s, j]
            c = clusters[item]
            for k in range(n_classes):
                q[place[c], k] = posteriors[item, k]
            place[c] += 1
        for c in range(n_clusters):
            place[c] -= count[c]

        for k in range(n_classes):
            prior[k] = 0.0
            for c in range(n_clusters):
                prior[k] += known[c] * pi[c, k]
        # Prior shift. A class without a share in training has none in the sample.
        for k in range(n_classes):
            inverse = 1.0 / prior[k] if prior[k] > 0.0 else 0.0
            for j in range(size):
                ratio[j, k] = q[j, k] * inverse
            for c in range(n_clusters):
                groups[c, k] = pi[c, k] * inverse
        p[:] = prior
        steps, done = maximise_mixture(ratio, p, tol, max_iter)
        fit[s, 0] = log_likelihood(ratio, p)
        slowest, all_done = steps, done
        moved = 0.0
        for c in range(n_clusters):
            share = count[c] / size
            if count[c] > 0:
                moved += count[c] * math.log(share / known[c])
            for k in range(n_classes):
                found[s, 0, c, k] = p[k] * known[c] * groups[c, k]
                found[s, 1, c, k] = share * pi[c, k]
        fit[s, 1] = moved
        # Mixed: a common factor of the classes' odds in all clusters, uphill of the better of the
        # two models that are special cases of this one.
        if p.min() == 0.0 or _in_groups(ratio, groups, count, p) < 0.0:
            p[:] = prior
        steps, done = maximise_factors(ratio, groups, count, p, tol, max_iter)
        slowest, all_done = max(slowest, steps), all_done and done
        fit[s, 2] = moved + _in_groups(ratio, groups, count, p)
        for c in range(n_clusters):
            total = 0.0
            for k in range(n_classes):
                total += p[k] * groups[c, k]
            for k in range(n_classes):
                found[s, 2, c, k] = 0.0
                if count[c] > 0:
                    found[s, 2, c, k] = count[c] / size * p[k] * groups[c, k] / total
        # Local: every cluster by itself.
        fit[s, 3] = moved
        for c in range(n_clusters):
            if count[c] == 0:
                continue
            first, last = place[c], place[c] + count[c]
            for k in range(n_classes):
                inverse = 1.0 / pi[c, k] if pi[c, k] > 0.0 else 0.0
                for j in range(first, last):
                    ratio[j, k] = q[j, k] * inverse
            p[:] = pi[c]
            steps, done = maximise_mixture(ratio[first:last], p, tol, max_iter)
            slowest, all_done = max(slowest, steps), all_done and done
            fit[s, 3] += log_likelihood(ratio[first:last], p)
            for k in range(n_classes):
                found[s, 3, c, k] = count[c] / size * p[k]
        iterations[s], converged[s] = slowest, all_done
    return found, fit, iterations, converged


@compiled
def _in_groups(ratio: Reals, groups: Reals, count: Ints, p: Reals) -> float:
    """Log-likelihood of the items given their clusters; 0 without a shift of the classes' odds."""
    total = log_likelihood(ratio, p)
    for c in range(len(groups)):
        if count[c] > 0:
            mass = 0.0
            for k in range(len(p)):
                mass += p[k] * groups[c, k]
            total -= count[c] * math.log(mass)
    return total
