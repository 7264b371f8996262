"""Tests whether the fitted label-shift model explains the features of the sample.

SubclassSLD assumes that a sample consists of the training items' subclasses (class, cluster) in
other shares f_yc. If so, the training items weighted by f_yc / pi_yc, where pi are the training
shares, are distributed like the sample, and no classifier can separate the two. A classifier that
does refutes every shift of the family: prior, mixed and local.

If none does, this is not a proof: with enough clusters the model can imitate a change of P(X) that
leaves P(Y|X) unchanged. The family of prior shift, where clusters change only with the classes, can
imitate less and is refuted more often, even if only the shares of subgroups have changed.

A significant difference need not be large. After an extreme change of prevalence few training items
represent the whole sample, the fitted prevalence has an error, and a difference remains that is
small compared with the one that the model explains. The explained share compares the two: if the
sample is separated from the unweighted training items with an AUC of A, and from the weighted ones
with a, then 1 - (a - .5) / (A - .5) is explained. Prior shift rarely explains half of natural
changes, and nearly always explains half of changes of prevalence. If prior shift is refuted by less
than five standard errors but explains half or more (`in_doubt`), the estimate may be off, but no
other assumption is known to be better.
"""

from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Codes, Indices, Reals
from quantshift.classify.clusters.clusters import Clusters
from quantshift.classify.separation import Reference
from quantshift.errors import unknown_name
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import Diagnostics
from quantshift.quantifiers.likelihood.shift_models import MODELS, single_cluster

LEAST_Z, LEAST_AUC = 3.0, 0.52
"""A sample refutes the model if it is separated from it with more than these: significantly, and by
a difference that matters."""

MOST_EXPLAINED, CERTAIN_Z = 0.5, 5.0
"""A refuted model of prior shift is only in doubt if it explains at least this share of the
difference, and the test statistic is at most this many standard errors."""

FAMILIES = ("subclasses", "prior")

LEAST_WEIGHT = 1e-6
"""The smallest weight of a training item, where the mean is 1."""


@dataclass(frozen=True)
class Fit:
    """How well a model of a family explains a sample.

    auc, z: how well the sample is separated from the training items weighted by the model.
    auc_before: how well it is separated from the unweighted training items.
    """

    family: str
    auc: float
    z: float
    auc_before: float

    @property
    def explained(self) -> float:
        """The share of the difference from the training items that the model explains, 0 to 1."""
        before = self.auc_before - 0.5
        return float(np.clip(1 - (self.auc - 0.5) / before, 0.0, 1.0)) if before > 0 else 0.0

    @property
    def refuted(self) -> bool:
        """Whether the sample refutes the model."""
        return self.auc > LEAST_AUC and self.z > LEAST_Z

    @property
    def mostly_explains(self) -> bool:
        """Whether the model, of prior shift, explains so much that no other may be better."""
        mostly_explained = self.family == "prior" and self.explained >= MOST_EXPLAINED
        return mostly_explained and self.z <= CERTAIN_Z

    @property
    def in_doubt(self) -> bool:
        """Whether the model is refuted, but explains so much that no other may be better."""
        return self.refuted and self.mostly_explains


@dataclass(frozen=True, eq=False)
class ModelledTraining:
    """The training items, prepared for weighting by a model of the sample."""

    reference: Reference
    codes: Codes
    clusters: Codes
    shares: Reals
    weights: Weights | None

    @classmethod
    def of(
        cls,
        reference: Reference,
        codes: Codes,
        n_classes: int,
        clusters: Clusters | None,
        weights: Weights | None,
    ) -> "ModelledTraining":
        """From the features and the subclasses of the training items."""
        placed = single_cluster(len(codes)) if clusters is None else clusters
        n_clusters = int(placed.codes.max()) + 1
        cell = placed.codes * n_classes + codes
        counts = np.bincount(cell, weights, minlength=n_clusters * n_classes)
        shares = (counts / counts.sum()).reshape(n_clusters, n_classes)
        return cls(reference, codes, placed.codes, shares, weights)

    def as_modelled(self, f: Reals) -> Weights:
        """Weights of the training items under subclass shares f, (n_clusters, n_classes)."""
        ratio = f[: len(self.shares)] / np.where(self.shares > 0, self.shares, 1.0)
        weights = np.maximum(ratio[self.clusters, self.codes], LEAST_WEIGHT)
        return weights if self.weights is None else weights * self.weights

    def distinct(
        self, sample: Reals, f: Reals, weights: Weights | None
    ) -> tuple[Indices, Weights | None]:
        """The items of a sample without copies, and their weights (`Reference.distinct`)."""
        return self.reference.distinct(sample, weights=self.as_modelled(f), other_weights=weights)

    def compared(self, sample: Reals, f: Reals, family: str, weights: Weights | None = None) -> Fit:
        """Compare the sample, placed by the reference, with its model with subclass shares f."""
        apart, before = (
            self.reference.separation(sample, weights=training_weights, other_weights=weights)
            for training_weights in (self.as_modelled(f), self.weights)
        )
        return Fit(family, apart.auc, apart.z, before.auc)


def modelled_shares(diagnostics: Diagnostics, family: str) -> Reals:
    """Subclass shares of samples, (n_samples, n_clusters, n_classes), from SubclassSLD's estimate.

    family: "subclasses", averaged over its models as the estimate is; or "prior" shift alone.
    """
    if family not in FAMILIES:
        raise unknown_name("family", family, FAMILIES)
    f, weight = diagnostics["subclass_prevalence"], diagnostics["model_weight"]
    if family == "prior":
        return np.asarray(f[:, MODELS.index("prior")])
    return np.asarray(np.einsum("sm,smck->sck", weight, f))
