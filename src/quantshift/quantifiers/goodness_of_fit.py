"""Does the fitted label-shift model explain the features of the sample?

SubclassSLD says that a sample is made of the training items' subclasses (class, cluster) in other
shares f_yc. If so, the training items weighted by f_yc / pi_yc, pi being the training shares, are
distributed as the sample, and no classifier tells the two apart. One that does refutes every shift
of the family: prior, mixed and local alike.

That none does is no proof: enough clusters imitate a change of P(X) that leaves P(Y|X) alone. The
family of prior shift, where clusters change with the classes only, imitates less and is refuted
more often, also where subgroups have moved and nothing else.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.classify.clusters import Clusters
from quantshift.classify.separation import Reference, Separation
from quantshift.errors import unknown_name
from quantshift.quantifiers.estimator import Diagnostics
from quantshift.quantifiers.shift_models import MODELS, nowhere
from quantshift.types import Codes
from quantshift.weights import Weights

Reals = NDArray[np.float64]

LEAST_Z, LEAST_AUC = 3.0, 0.52
"""A sample refutes the model if it is told from it with more than these: significantly, and by a
difference that matters."""

FAMILIES = ("subclasses", "prior")

LEAST_WEIGHT = 1e-6
"""Of a training item, where the mean is 1."""


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

    def separation(self, f: Reals, sample: Reals, weights: Weights | None = None) -> Separation:
        """How well the sample, placed by the reference, is told from the model of it."""
        return self.reference.separation(sample, weights=self.as_modelled(f), other_weights=weights)


def refutes(separation: Separation) -> bool:
    """Whether the model is refuted."""
    return separation.z > LEAST_Z and separation.auc > LEAST_AUC


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
