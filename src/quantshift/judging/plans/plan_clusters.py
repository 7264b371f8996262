"""Whole clusters to label: all answers to a question, all turns of a conversation.

Labels of one cluster say less than as many independent ones. If the errors of the judge have the
correlation rho within a cluster, a label in a cluster of m counts for 1 / (1 + (m - 1) rho) of an
independent one (Kish), and few clusters have the limits of Student's t; both as in the interval
that the labels will have (`quantshift.judging.items.clusters`). The correlation is that of the
clusters labelled so far, together with an assumption that counts for some clusters
(`PRIOR_CLUSTERS`).

Reference: L. Kish, "Survey Sampling", 1965.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.base.nouns import counted
from quantshift.base.types import Codes, Flags, Indices, Reals
from quantshift.errors import UserError
from quantshift.judging.items.clusters import LabelledClusters, cluster_sums
from quantshift.judging.items.judged_items import JudgedItems

ASSUMED_CORRELATION = 0.2
"""The correlation of errors in one cluster that is assumed while no labels show it.

For real judges it was .05 within a question (preferences between chatbots) and .19 within a query
(grades of relevance)."""
PRIOR_CLUSTERS = 10.0
"""How many labelled clusters the assumption counts for, in addition to the real ones."""
FEWEST_CLUSTERS = 2
"""Clusters of a plan: one cluster says nothing about the others."""


@dataclass(frozen=True, eq=False)
class PlanClusters:
    """The clusters of all items.

    codes: the cluster of every item, from 0, (n_items,). n: how many clusters; size: items in the
    cluster of an item, on average. correlation: that of errors in one cluster; n_seen: how many
    labelled clusters show it, 0 if it is an assumption.
    """

    codes: Codes
    n: int
    size: float
    correlation: float
    n_seen: int

    @classmethod
    def of(cls, items: JudgedItems, strata: Codes, rates: Reals) -> "PlanClusters":
        """The clusters of the items, with the correlation that their labels show.

        strata: that of every item; rates: shares of the classes in them, (n_strata, n_classes).
        """
        assert items.clusters is not None
        codes = np.unique(items.clusters, return_inverse=True)[1].ravel()
        every, labelled = LabelledClusters.of(codes), items.is_labelled
        errors = np.eye(items.n_classes)[items.labels[labelled]] - rates[strata[labelled]]
        observed, n_seen = _correlation(errors, codes[labelled])
        part = n_seen / (n_seen + PRIOR_CLUSTERS)
        correlation = part * observed + (1 - part) * ASSUMED_CORRELATION
        return cls(codes, every.n, every.size, correlation, n_seen)

    @property
    def mean_size(self) -> float:
        """Items of a cluster, on average."""
        return len(self.codes) / self.n

    @property
    def effect(self) -> float:
        """How many labels of whole clusters say as much as one independent label."""
        return self._effect(self.size)

    def widening(self, n_labels: float, level: float) -> float:
        """By how much limits are wider than those of as many independent labels."""
        student = LabelledClusters(round(n_labels / self.mean_size), self.size).student(level)
        return max(float(np.sqrt(self.effect)) * student, 1.0)

    def widening_one_by_one(self, n_labels: float, *, of_items: bool) -> float:
        """The same for labels of single items, whatever their cluster."""
        if of_items:
            return 1.0
        return float(np.sqrt(self._effect(1 + (self.size - 1) * n_labels / len(self.codes))))

    def check_number(self, n_labels: int) -> None:
        """Refuse first labels that would all be of one cluster."""
        if n_labels < min(FEWEST_CLUSTERS * self.mean_size, len(self.codes)):
            raise UserError(
                f"{counted(n_labels, 'label')} would be less than {FEWEST_CLUSTERS} whole "
                f"clusters, which have about {self.mean_size:.3g} items each, and one says nothing "
                "about the others: "
                "ask for more labels, or for single items (without clusters)",
                arguments=["n_labels", "cluster"],
            )

    def _effect(self, size: float) -> float:
        return 1 + (size - 1) * self.correlation

    def drawn(
        self, n_labels: int, labelled: Flags, rng: np.random.Generator
    ) -> tuple[Indices, NDArray[np.bool_]]:
        """Items to label, cluster by cluster, and which clusters then have labels.

        Clusters that are labelled in part come first: they are from an earlier sheet that was not
        finished.
        """
        n_labelled = np.bincount(self.codes, weights=labelled, minlength=self.n)
        sizes = np.bincount(self.codes, minlength=self.n)
        begun = (n_labelled > 0) & (n_labelled < sizes)
        whole = n_labelled == sizes
        if begun.sum() > whole.sum() + 1:
            raise UserError(
                f"{int(begun.sum())} clusters have labels of some of their items only: these were "
                "not chosen as whole clusters; plan single items instead, or label the rest of "
                "these clusters first",
                arguments=["cluster"],
            )
        missing = int((sizes - n_labelled)[begun].sum())
        free = rng.permutation(np.flatnonzero(n_labelled == 0))
        n_clusters = round(max(n_labels - missing, 0) / self.mean_size)
        least = max(FEWEST_CLUSTERS - int((begun | whole).sum()), 0 if missing else 1)
        n_new = min(max(n_clusters, least), len(free))
        chosen = np.concatenate([np.flatnonzero(begun), free[:n_new]])
        position = np.full(self.n, -1)
        position[chosen] = np.arange(len(chosen))
        rows = np.flatnonzero((position[self.codes] >= 0) & ~labelled)
        return rows[np.argsort(position[self.codes[rows]], kind="stable")], (position >= 0) | whole


def _correlation(errors: Reals, clusters: Codes) -> tuple[float, int]:
    """The correlation of two errors in one cluster, and how many clusters have several labels."""
    sizes = np.unique(clusters, return_counts=True)[1]
    several, squares = int((sizes > 1).sum()), float((errors**2).sum())
    if not several or squares == 0:
        return 0.0, 0
    pairs = float((cluster_sums(errors, clusters) ** 2).sum()) - squares
    mean_square = squares / len(errors)
    correlation = pairs / float((sizes * (sizes - 1)).sum()) / mean_square
    return float(np.clip(correlation, 0.0, 1.0)), several
