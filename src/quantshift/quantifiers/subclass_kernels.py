"""Compiled maximisation of the subclass likelihoods, sample by sample.

The loops are ragged (a sample's items fall into clusters as they please), which numpy does badly
and a compiler well. What is solved is told in `quantshift.quantifiers.subclass`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.compiled import compiled

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]

_FARTHEST = 30.0
"""Log of the largest factor of the odds: beyond it a prevalence is 0 or 1 to 13 digits."""


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
        # Prior shift.
        for j in range(size):
            for k in range(n_classes):
                ratio[j, k] = q[j, k] / prior[k]
        p[:] = prior
        steps, done = _maximise(ratio, p, tol, max_iter)
        fit[s, 0] = _log_likelihood(ratio, p)
        slowest, all_done = steps, done
        moved = 0.0
        for c in range(n_clusters):
            share = count[c] / size
            if count[c] > 0:
                moved += count[c] * math.log(share / known[c])
            for k in range(n_classes):
                found[s, 0, c, k] = p[k] * known[c] * pi[c, k] / prior[k]
                found[s, 1, c, k] = share * pi[c, k]
        fit[s, 1] = moved
        # Mixed: a common factor of the classes' odds in all clusters.
        p[:] = 1.0
        steps, done = _maximise_odds(q, pi, count, place, p, tol, max_iter)
        slowest, all_done = max(slowest, steps), all_done and done
        fit[s, 2] = moved
        for c in range(n_clusters):
            total = 0.0
            for k in range(n_classes):
                total += p[k] * pi[c, k]
            for k in range(n_classes):
                found[s, 2, c, k] = count[c] / size * p[k] * pi[c, k] / total
            fit[s, 2] += _log_likelihood(q[place[c] : place[c] + count[c]], p)
            fit[s, 2] -= count[c] * math.log(total)
        # Local: every cluster by itself.
        fit[s, 3] = moved
        for c in range(n_clusters):
            if count[c] == 0:
                continue
            first, last = place[c], place[c] + count[c]
            for j in range(first, last):
                for k in range(n_classes):
                    ratio[j, k] = q[j, k] / pi[c, k]
            p[:] = pi[c]
            steps, done = _maximise(ratio[first:last], p, tol, max_iter)
            slowest, all_done = max(slowest, steps), all_done and done
            fit[s, 3] += _log_likelihood(ratio[first:last], p)
            for k in range(n_classes):
                found[s, 3, c, k] = count[c] / size * p[k]
        iterations[s], converged[s] = slowest, all_done
    return found, fit, iterations, converged


@compiled
def _log_likelihood(ratio: Reals, p: Reals) -> float:
    """Sum of log(ratio_j . p), by one logarithm for several items: they cost most."""
    total, product = 0.0, 1.0
    for j in range(ratio.shape[0]):
        mass = 0.0
        for k in range(ratio.shape[1]):
            mass += p[k] * ratio[j, k]
        product *= mass
        if not 1e-100 < product < 1e100:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@compiled
def _maximise(ratio: Reals, p: Reals, tol: float, max_iter: int) -> tuple[int, bool]:
    """The p on the simplex, in place, that maximises sum_j log(ratio_j . p), from an inner p.

    Two classes: Newton within a bracket, as in `expectation.maximise_binary`. More: EM.
    """
    n, n_classes = ratio.shape
    if n_classes == 2:
        now, low, high = p[1], -1.0, 2.0  # neither end has been tried
        for step in range(1, max_iter + 1):
            score, curvature = 0.0, 0.0
            for j in range(n):
                slope = ratio[j, 1] - ratio[j, 0]
                term = slope / (ratio[j, 0] + now * slope)
                score += term
                curvature += term * term
            border = (now <= 0.0 and score <= 0.0) or (now >= 1.0 and score >= 0.0)
            if score > 0.0:
                low = now
            else:
                high = now
            if border or curvature == 0.0:
                p[0], p[1] = 1.0 - now, now
                return step, True
            following = min(max(now + score / curvature, 0.0), 1.0)
            if following <= low or following >= high:
                following = 0.5 * (max(low, 0.0) + min(high, 1.0))
            if abs(following - now) <= tol:
                p[0], p[1] = 1.0 - following, following
                return step, True
            now = following
        p[0], p[1] = 1.0 - now, now
        return max_iter, False
    following_p = np.empty(n_classes)
    for step in range(1, max_iter + 1):
        following_p[:] = 0.0
        for j in range(n):
            mass = 0.0
            for k in range(n_classes):
                mass += p[k] * ratio[j, k]
            for k in range(n_classes):
                following_p[k] += p[k] * ratio[j, k] / mass
        change = 0.0
        for k in range(n_classes):
            change = max(change, abs(following_p[k] / n - p[k]))
            p[k] = following_p[k] / n
        if change <= tol:
            return step, True
    return max_iter, False


@compiled
def _maximise_odds(
    q: Reals, pi: Reals, count: Ints, place: Ints, factor: Reals, tol: float, max_iter: int
) -> tuple[int, bool]:
    """The factors a, in place, that maximise sum_j log(a . q_j) - sum_c n_c log(a . pi_c).

    Two classes: Newton on log a within a bracket of the score's sign. More: the step of EM with
    one sweep of proportional fitting, a_k times expected over fitted number of class k.
    """
    n_clusters, n_classes = pi.shape
    n = q.shape[0]
    if n_classes == 2:
        now, low, high = 0.0, -_FARTHEST, _FARTHEST
        for step in range(1, max_iter + 1):
            a = math.exp(now)
            score, curvature = 0.0, 0.0
            for j in range(n):
                u = a * q[j, 1] / (a * q[j, 1] + q[j, 0])
                score += u
                curvature -= u * (1.0 - u)
            for c in range(n_clusters):
                v = a * pi[c, 1] / (a * pi[c, 1] + pi[c, 0])
                score -= count[c] * v
                curvature += count[c] * v * (1.0 - v)
            if score > 0.0:
                low = now
            else:
                high = now
            if curvature > 0.0:
                following = now + min(max(score / curvature, -2.0), 2.0)
            else:
                following = now + (2.0 if score > 0.0 else -2.0)
            if following <= low or following >= high:
                following = 0.5 * (low + high)
            if abs(following - now) <= tol or score == 0.0:
                factor[0], factor[1] = 1.0, math.exp(following if score != 0.0 else now)
                return step, True
            now = following
        factor[0], factor[1] = 1.0, math.exp(now)
        return max_iter, False
    expected, fitted = np.empty(n_classes), np.empty(n_classes)
    for step in range(1, max_iter + 1):
        expected[:] = 0.0
        fitted[:] = 0.0
        for j in range(n):
            mass = 0.0
            for k in range(n_classes):
                mass += factor[k] * q[j, k]
            for k in range(n_classes):
                expected[k] += factor[k] * q[j, k] / mass
        for c in range(n_clusters):
            mass = 0.0
            for k in range(n_classes):
                mass += factor[k] * pi[c, k]
            for k in range(n_classes):
                fitted[k] += count[c] * factor[k] * pi[c, k] / mass
        change, total = 0.0, 0.0
        for k in range(n_classes):
            change = max(change, abs(expected[k] - fitted[k]) / n)
            factor[k] *= expected[k] / fitted[k] if fitted[k] > 0.0 else 1.0
            total += factor[k]
        for k in range(n_classes):
            factor[k] /= total
        if change <= tol:
            return step, True
    return max_iter, False
