"""Scenarios of an illustration: mixtures of labelled Gaussian clusters in the plane.

Densities are exact, not estimated from points, so that it is certain whether two scenarios are
equal. The points of each cluster come from a random stream of their own: a cluster that grows from
one scenario to the next keeps its points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

from quantshift.base.seeding import generator
from quantshift.base.types import Codes
from quantshift.prevalence.simplex import whole_counts

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A round Gaussian: centre, standard deviation, class, and the group it is drawn as."""

    centre: tuple[float, float]
    deviation: float = 0.7
    positive: bool
    group: str = ""

    def density(self, points: Array) -> Array:
        """Density at points of shape (..., 2)."""
        spread = self.deviation**2 * np.eye(2)
        return np.asarray(multivariate_normal(self.centre, spread).pdf(points))


@final
@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A row of an illustration: clusters and their shares of the population."""

    name: str
    title: str
    clusters: Sequence[Cluster]
    shares: Sequence[float]

    @property
    def p_true(self) -> float:
        """Prevalence of the positive class."""
        return sum(s for s, c in zip(self.shares, self.clusters, strict=True) if c.positive)

    def marginal(self, points: Array) -> Array:
        """P(X) at points of shape (..., 2)."""
        return _mixture(self.shares, self.clusters, points)

    def conditional(self, points: Array, *, positive: bool) -> Array:
        """P(X | Y) of one class at points of shape (..., 2)."""
        shares = [
            share * (cluster.positive == positive)
            for share, cluster in zip(self.shares, self.clusters, strict=True)
        ]
        return _mixture(shares, self.clusters, points) / sum(shares)

    def draw(self, size: int, *, seed: int) -> tuple[Array, Codes]:
        """Points, shape (size, 2), and for each the position of its cluster."""
        counts = whole_counts(self.shares, size)
        points = [
            generator(seed, illustration="cluster", cluster=i).normal(
                cluster.centre, cluster.deviation, size=(count, 2)
            )
            for i, (cluster, count) in enumerate(zip(self.clusters, counts, strict=True))
        ]
        return np.concatenate(points), np.repeat(np.arange(len(counts)), counts)


def _mixture(shares: Sequence[float], clusters: Sequence[Cluster], points: Array) -> Array:
    parts = [share * c.density(points) for share, c in zip(shares, clusters, strict=True)]
    return np.asarray(np.sum(parts, axis=0))
