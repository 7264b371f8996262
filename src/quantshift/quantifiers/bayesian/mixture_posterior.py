"""The posterior of a prevalence given the class densities of each item: Dirichlet times mixture.

With likelihoods r_j of the items and a prior Dirichlet(alpha) the posterior of p is proportional to
prod_k p_k^(alpha - 1) prod_j (p . r_j). In the log-ratios of p, which are unbounded, it is
proportional to prod_k p_k^alpha prod_j (p . r_j): its maximum is that of `maximise_mixtures` with
alpha items added to each class, and its curvature there is known. Nodes are placed around the
maximum according to that curvature, following a t distribution with wide tails, and weighted by the
posterior divided by the density of the nodes (importance sampling). With two classes the nodes are
quantiles, and the sum is an integral on a grid; with more they are a scrambled Sobol sequence. The
order of items does not matter, weights of items are exact, and classes are sorted by their shares
at the maximum, so that their names do not matter.

Reference: C. Robert and G. Casella, "Monte Carlo Statistical Methods", 2004, chapter 3.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.linalg import helmert

from quantshift.base.compiled import compiled
from quantshift.base.seeding import generator
from quantshift.base.types import Indices, Prevalences, Reals
from quantshift.optimise.mixture_likelihood import maximise_mixtures
from quantshift.prevalence.weights import Weights

NODES_OF_TWO, NODES_OF_MANY = 256, 1024
"""Nodes for two classes, and for more; powers of two for Sobol's sequence."""

DEGREES = 4.0
"""Degrees of freedom of the t distribution, with tails wide enough for skewed posteriors."""

SMALLEST_FACTOR = 1e-140
"""The product of two numbers between this and its inverse can be represented."""

DIGITS = 6
"""Decimal places to which the maximum is known."""

SPREAD = 1.2
"""Nodes are spread this many times as wide as the curvature suggests."""


@dataclass(frozen=True, eq=False)
class WeightedNodes:
    """Nodes on the simplex, (n_samples, n_nodes, n_classes), and weights, rows sum to one."""

    p: Prevalences
    weights: Reals

    def mean(self) -> Prevalences:
        """The posterior's mean, (n_samples, n_classes)."""
        return np.asarray(np.einsum("sn,snk->sk", self.weights, self.p))

    def spread(self) -> Reals:
        """The largest standard deviation of a class's share, (n_samples,)."""
        deviation = self.p - self.mean()[:, np.newaxis]
        return np.asarray(np.sqrt(np.einsum("sn,snk->sk", self.weights, deviation**2).max(axis=1)))

    def effective_size(self) -> Reals:
        """The number of independent draws that the nodes are equivalent to, (n_samples,)."""
        return np.asarray(1 / (self.weights**2).sum(axis=1))

    def draws(self, n_draws: int, seed: int) -> Prevalences:
        """Draws of the nodes by their weights, (n_samples, n_draws, n_classes)."""
        u = generator(seed, purpose="posterior by nodes").random(n_draws)
        cumulated = np.cumsum(self.weights, axis=1)
        last = self.p.shape[1] - 1
        rows = [
            np.minimum(np.searchsorted(cumulative, u * cumulative[-1]), last)
            for cumulative in cumulated
        ]
        return np.asarray(np.take_along_axis(self.p, np.array(rows)[:, :, np.newaxis], axis=1))


def posterior_nodes(
    likelihoods: Reals,
    index: Indices,
    start: Prevalences,
    *,
    alpha: float,
    seed: int,
    weights: Weights | None = None,
) -> WeightedNodes:
    """Nodes of the posterior of each sample of the index matrix.

    likelihoods: of the items of a pool, up to a factor per item, (n_classes, n_items).
    start: where the search for the maximum begins.
    """
    n_classes, n_samples = len(likelihoods), len(index)
    noise = _noise(n_classes, seed)
    log_density = -(DEGREES + n_classes - 1) / 2 * np.log1p((noise**2).sum(axis=1) / DEGREES)
    middle, _, _ = maximise_mixtures(
        likelihoods,
        index,
        start,
        tol=1e-6,
        max_iter=1000,
        weights=weights,
        added=np.full(n_samples, alpha),
    )
    basis = helmert(n_classes)
    p = np.empty((n_samples, len(noise), n_classes))
    logs = np.empty((n_samples, len(noise)))
    for s, rows in enumerate(index):
        # Rounded, so that rounding errors in a batch do not change the order of equal shares.
        order = np.argsort(np.round(middle[s], DIGITS), kind="stable")
        item_likelihoods = np.ascontiguousarray(likelihoods[:, rows][order].T)
        item_weights = np.ones(len(rows)) if weights is None else weights[rows]
        possible = (item_likelihoods.sum(axis=1) > 0) & (item_weights > 0)
        item_likelihoods, item_weights = item_likelihoods[possible], item_weights[possible]
        centre = middle[s, order]
        root = np.linalg.cholesky(
            basis @ _curvature(item_likelihoods, item_weights, centre, alpha) @ basis.T
        )
        deviation = SPREAD * np.linalg.solve(root.T, noise.T).T
        ratios = np.log(centre) + deviation @ basis
        nodes = np.exp(ratios - ratios.max(axis=1, keepdims=True))
        nodes /= nodes.sum(axis=1, keepdims=True)
        logs[s] = _log_likelihoods(item_likelihoods, item_weights, nodes) + alpha * np.log(
            nodes
        ).sum(axis=1)
        p[s][:, order] = nodes
    logs -= log_density
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    return WeightedNodes(p, mass / mass.sum(axis=1, keepdims=True))


def _noise(n_classes: int, seed: int) -> Reals:
    """Points of a standard t distribution of n_classes - 1 dimensions."""
    if n_classes == 2:
        shares = (np.arange(NODES_OF_TWO) + 0.5) / NODES_OF_TWO
        return np.asarray(stats.t.ppf(shares, DEGREES))[:, np.newaxis]
    rng = generator(seed, purpose="nodes of a posterior", n_classes=n_classes)
    uniform = stats.qmc.Sobol(n_classes, rng=rng).random(NODES_OF_MANY)
    uniform = np.clip(uniform, 1e-9, 1 - 1e-9)
    scale = np.sqrt(DEGREES / stats.chi2.ppf(uniform[:, :1], DEGREES))
    return np.asarray(stats.norm.ppf(uniform[:, 1:]) * scale)


def _curvature(likelihood: Reals, weights: Weights, p: Prevalences, alpha: float) -> Reals:
    """Minus the second derivatives of the log posterior in log p, at its maximum."""
    shares = likelihood * p
    shares /= shares.sum(axis=1, keepdims=True)
    from_items = shares.T @ (weights[:, np.newaxis] * shares) - np.diag(weights @ shares)
    total = weights.sum() + len(p) * alpha
    return np.asarray(from_items + total * (np.diag(p) - np.outer(p, p)))


@compiled
def _log_likelihoods(likelihood: Reals, weights: Reals, nodes: Reals) -> Reals:
    """Sum of w_j log(p . r_j) at every node.

    Likelihoods of items of weight one are multiplied, and the logarithm is taken before the product
    leaves the range of numbers; otherwise most of the time would go into logarithms.
    """
    n_items, n_classes = likelihood.shape
    logs = np.empty(len(nodes))
    for i in range(len(nodes)):
        total, product = 0.0, 1.0
        for j in range(n_items):
            mass = 0.0
            for k in range(n_classes):
                mass += nodes[i, k] * likelihood[j, k]
            if weights[j] != 1.0 or not SMALLEST_FACTOR < mass < 1 / SMALLEST_FACTOR:
                total += weights[j] * math.log(mass)
                continue
            product *= mass
            if not SMALLEST_FACTOR < product < 1 / SMALLEST_FACTOR:
                total += math.log(product)
                product = 1.0
        logs[i] = total + math.log(product)
    return logs
