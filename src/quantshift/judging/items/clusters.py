"""Items in clusters: answers to one question, turns of one conversation, ratings of one person.

Items of a cluster are alike, so that ten of them say less than ten items of ten clusters. To first
order an estimate is a sum over items of what each adds to it (its influence). If clusters rather
than items are independent of each other, its variance is the sum over clusters of the squares of
their sums; the ratio to the sum of the items' own squares is the design effect (Kish). Limits are
moved away from the estimate by its square root. The sum over few clusters is itself uncertain:
Student's t with as many degrees of freedom as there are labelled clusters, less one, takes the
place of the normal distribution. With labels from elsewhere the variance has two parts, that of
few labelled clusters and that of the many clusters of the items, and the degrees of freedom are
those of their sum (Satterthwaite).

With hardly an error among the labels nothing shows whether errors come together. Part of an error
is added that is shared by all labels of its cluster (`UNSEEN`): without any, the labels of a
cluster count as one.

Clusters do not matter for the share among *these items* if single items were labelled, whatever
their cluster: the labels are then a random sample of the items in question. They matter if whole
clusters were labelled, which the table shows (`labelled_together`).

References: F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
Biometrics Bulletin 2 (1946); L. Kish, "Survey Sampling", 1965; J. N. K. Rao and A. J. Scott, "The
analysis of categorical data from complex sample surveys", JASA 76 (1981); K.-Y. Liang and S.
Zeger, "Longitudinal data analysis using generalized linear models", Biometrika 73 (1986).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from quantshift.base.types import Codes, Flags, Reals

UNSEEN = 0.25
"""The part of an error that is added, shared by all labels of its cluster."""
TOGETHER = 3.0
"""Standard deviations by which pairs of labels in one cluster exceed those of random items."""
FEW = 30
"""Clusters below which the answer says that they are few."""


@dataclass(frozen=True)
class LabelledClusters:
    """The clusters that have labels: how many, and labels in the cluster of a label on average."""

    n: int
    size: float

    @classmethod
    def of(cls, clusters: Codes) -> "LabelledClusters":
        """clusters: those of the labelled items."""
        sizes = np.unique(clusters, return_counts=True)[1]
        return cls(len(sizes), float((sizes**2).sum() / max(sizes.sum(), 1)))

    def student(self, level: float) -> float:
        """By how much limits are wider because the clusters are few."""
        return np.inf if self.n < 2 else float(student(np.array(self.n - 1), level))


def student(freedom: Reals, level: float) -> Reals:
    """By how much limits of Student's t are wider than those of the normal distribution."""
    tail = (1 + level) / 2
    return np.asarray(stdtrit(freedom, tail) / ndtri(tail))


def cluster_sums(values: Reals, clusters: Codes) -> Reals:
    """The sums of columns of values, (n, n_columns), within each cluster."""
    codes = np.unique(clusters, return_inverse=True)[1].ravel()
    return np.column_stack([np.bincount(codes, weights=column) for column in values.T])


def cluster_means(values: Reals, clusters: Codes) -> Reals:
    """The mean within each cluster."""
    codes = np.unique(clusters, return_inverse=True)[1].ravel()
    return np.asarray(np.bincount(codes, weights=values) / np.maximum(np.bincount(codes), 1))


@dataclass(frozen=True, eq=False)
class DesignEffect:
    """The variance of sums of columns over that of independent rows, (n_columns,).

    freedom: its degrees of freedom, (n_columns,).
    """

    ratio: Reals
    freedom: Reals


def design_effect(
    values: Reals,
    clusters: Codes,
    labelled: LabelledClusters,
    unit: Reals,
    *,
    others: tuple[Reals, Codes] | None = None,
) -> DesignEffect:
    """The design effect of the sums of columns of values, (n, n_columns).

    unit: the square of what one error adds to the sum, (n_columns,). others: values and clusters of
    further rows, if no cluster of labelled ones is among them.
    """
    by_rows = (values**2).sum(axis=0) + UNSEEN * unit
    by_clusters = _squares(values, clusters, labelled.n) + UNSEEN * labelled.size * unit
    freedom = np.full(len(unit), max(labelled.n - 1.0, 1.0))
    if others is not None:
        n_others = len(np.unique(others[1]))
        more = _squares(*others, n_others)
        parts = by_clusters**2 / freedom + more**2 / max(n_others - 1, 1)
        by_rows, by_clusters = by_rows + (others[0] ** 2).sum(axis=0), by_clusters + more
        freedom = np.divide(by_clusters**2, parts, out=freedom, where=parts > 0)
    ratio = np.divide(by_clusters, by_rows, out=np.ones_like(by_rows), where=by_rows > 0)
    return DesignEffect(np.asarray(ratio), freedom)


def _squares(values: Reals, clusters: Codes, n: int) -> Reals:
    """The variance of the sums of columns by n independent clusters."""
    return np.asarray((cluster_sums(values, clusters) ** 2).sum(axis=0) * n / max(n - 1, 1))


def labelled_together(labelled: Flags, clusters: Codes, chances: Reals) -> bool:
    """Whether items of one cluster were labelled together rather than one by one.

    chances: those of each item to be labelled if they were chosen one by one, (n_items,). The pairs
    of labels within clusters are compared with those of binomial counts.
    """
    codes = np.unique(clusters, return_inverse=True)[1].ravel()
    size = np.bincount(codes).astype(np.float64)
    labels = np.bincount(codes, weights=labelled)
    f = np.bincount(codes, weights=chances) / size
    second, third, fourth = (_falling(size, order) * f**order for order in (2, 3, 4))
    expected = second.sum()
    variance = (fourth + 4 * third + 2 * second - second**2).sum()
    observed = (labels * (labels - 1)).sum()
    return bool(observed - expected > TOGETHER * np.sqrt(max(float(variance), 1.0)))


def chances_by_cell(labelled: Flags, cells: NDArray[np.int64]) -> Reals:
    """For every item, the share of labelled ones among the items of its cell."""
    sizes = np.bincount(cells)
    return np.asarray((np.bincount(cells, weights=labelled) / np.maximum(sizes, 1))[cells])


def _falling(n: Reals, order: int) -> Reals:
    return np.asarray(np.prod([np.maximum(n - i, 0) for i in range(order)], axis=0))
