"""Does the fitted label-shift model explain the features of the sample?

SubclassSLD says that a sample is made of the training items' subclasses (class, cluster) in other
shares f_yc. If so, the training items weighted by f_yc / pi_yc, pi being the training shares, are
distributed as the sample, and no classifier tells the two apart. One that does refutes every shift
of the family: prior, mixed and local alike.

That none does is no proof: enough clusters imitate a change of P(X) that leaves P(Y|X) alone. The
family of prior shift, where clusters change with the classes only, imitates less and is refuted
more often, also where subgroups have moved and nothing else.

A significant difference need not be a large one. After an extreme change of prevalence few training
items stand for the whole sample, the fitted prevalence has an error of its own, and a difference
remains that is small beside the one which the model does explain. The explained share compares the
two: the sample is told from the training items as they are with an AUC of A, from the weighted
ones with a, and 1 - (a - .5) / (A - .5) is explained. Of natural changes prior shift rarely
explains half, of changes of prevalence nearly always. A refutation by less than five standard
errors of prior shift that explains half or more (`in_doubt`) says that the estimate may be off, and
does not say that another assumption is better.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.classify.clusters import Clusters
from quantshift.classify.separation import Reference
from quantshift.errors import unknown_name
from quantshift.quantifiers.estimator import Diagnostics
from quantshift.quantifiers.shift_models import MODELS, nowhere
from quantshift.types import Codes
from quantshift.weights import Weights

Reals = NDArray[np.float64]

LEAST_Z, LEAST_AUC = 3.0, 0.52
"""A sample refutes the model if it is told from it with more than these: significantly, and by a
difference that matters."""

MOST_EXPLAINED, CERTAIN_Z = 0.5, 5.0
"""A refuted model of prior shift is only in doubt if it explains this share of the difference or
more, and the test has at most so many standard errors."""

FAMILIES = ("subclasses", "prior")

LEAST_WEIGHT = 1e-6
"""Of a training item, where the mean is 1."""


@dataclass(frozen=True)
class Fit:
    """How well a model of a family explains a sample.

    auc, z: how well the sample is told from the training items that are weighted as the model says.
    auc_before: from the training items as they are.
    """

    family: str
    auc: float
    z: float
    auc_before: float

    @property
    def explained(self) -> float:
        """The share of the difference to the training items that the model explains, 0 to 1."""
        before = self.auc_before - 0.5
        return float(np.clip(1 - (self.auc - 0.5) / before, 0.0, 1.0)) if before > 0 else 0.0

    @property
    def refuted(self) -> bool:
        """Whether the sample refutes the model."""
        return self.auc > LEAST_AUC and self.z > LEAST_Z

    @property
    def in_doubt(self) -> bool:
        """Whether the model is refuted, but explains so much that none may be better."""
        mostly_explained = self.family == "prior" and self.explained >= MOST_EXPLAINED
        return self.refuted and mostly_explained and self.z <= CERTAIN_Z


@dataclass(frozen=True, eq=False)
class ModelledTraining:
    """The training items, ready to be weighted as a model of the sample says."""

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
        placed = nowhere(len(codes)) if clusters is None else clusters
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

    def compared(self, sample: Reals, f: Reals, family: str, weights: Weights | None = None) -> Fit:
        """The sample, placed by the reference, beside the model of it with subclass shares f."""
        apart, before = (
            self.reference.separation(sample, weights=own, other_weights=weights)
            for own in (self.as_modelled(f), self.weights)
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
