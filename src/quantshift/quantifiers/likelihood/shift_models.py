"""Models of subclasses (class, cluster), fitted on training items.

`quantshift.quantifiers.likelihood.subclass_sld` describes what they are for.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.clusters.calibration import ClusterCalibration, fit_cluster_calibration
from quantshift.classify.clusters.clusters import Clusters, Partition
from quantshift.classify.clusters.fitting import ITEMS_PER_CLUSTER
from quantshift.items.items import Items
from quantshift.items.samples import Samples
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import Estimate

MODELS = ("prior", "covariate", "mixed", "local")
"""The order of the models in the diagnostics."""

AVERAGED = np.array([True, False, True, True])
"""Which of them are averaged in the estimate."""

LEAST_WITHIN = 0.3
"""Share of the posteriors' variance within clusters below which the estimate is SLD's."""

NOVELTY_LIMIT = 4.0
"""Standard errors of the mean novelty beyond which a sample is outside the training support."""


@dataclass(frozen=True, eq=False)
class SubclassModel:
    """The subclasses of the training items.

    shares: of the clusters, (n_clusters,); within: of the classes in each, (n_clusters, n_classes);
    novelty, novelty_variance: of each subclass, (n_clusters, n_classes); NaN if unknown.
    sizes: training items of each subclass, (n_clusters, n_classes).
    """

    calibration: ClusterCalibration
    shares: Reals
    within: Reals
    novelty: Reals
    novelty_variance: Reals
    sizes: Reals

    @property
    def prior(self) -> Prevalences:
        """Class shares, (n_classes,)."""
        return np.asarray(self.shares @ self.within)

    @property
    def n_free(self) -> Reals:
        """Free shares of each model, in the order of `MODELS`."""
        n_clusters, n_classes = self.within.shape
        a, b = n_classes - 1, n_clusters - 1
        return np.array([a, b, a + b, n_classes * n_clusters - 1], dtype=np.float64)


@runtime_checkable
class OffersSubclasses(Protocol):
    """A fitted quantifier that has models of subclasses, and reports them in its diagnostics.

    The diagnostics are `model_prevalence`, `model_weight` and `subclass_prevalence`, in the order
    of `MODELS`, `novelty` and `fallback`.
    """

    classes_: NDArray[Any]
    model_: SubclassModel
    divided_: bool
    held_out_: Items
    held_out_codes_: Codes

    @property
    def partition_(self) -> Partition | None:
        """The partition that the clusters come from, if known."""

    @property
    def novelty_error(self) -> float:
        """Standard error that the novelties of all training items share."""

    def items(self, X: Any, sample_weight: Any = None) -> Items:
        """What it sees of items."""

    def estimate_items(self, items: Items, samples: Samples | None = None) -> Estimate:
        """Estimates of samples, with the diagnostics."""


def single_cluster(n_items: int) -> Clusters:
    """A single cluster for all items, which is equivalent to none."""
    return Clusters(np.zeros(n_items, np.int64), np.full(n_items, np.nan))


def fit_plain(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> SubclassModel:
    """The model of posteriors alone."""
    return fit_model(posteriors, codes, single_cluster(len(codes)), 1, weights)


def carries_subclasses(
    model: SubclassModel, posteriors: Posteriors, clusters: Codes, weights: Weights | None = None
) -> bool:
    """Whether the training items support subclasses: enough items, and enough variance within.

    Clusters of few or discrete columns may determine the score completely: then nothing within them
    separates the classes, and a change of prevalence looks like a change of clusters.
    """
    if model.sizes.sum(axis=0).min() < ITEMS_PER_CLUSTER * len(model.shares):
        return False
    q = model.calibration(posteriors, clusters)
    sizes = np.bincount(clusters, weights, minlength=len(model.shares))
    if weights is None:
        within = float(((q - _means(clusters, q, sizes)[clusters]) ** 2).sum())
        return within >= LEAST_WITHIN * float(((q - q.mean(axis=0)) ** 2).sum())
    w = weights[:, np.newaxis]
    within = float((w * (q - _means(clusters, w * q, sizes)[clusters]) ** 2).sum())
    return within >= LEAST_WITHIN * float((w * (q - weights @ q / weights.sum()) ** 2).sum())


def fit_model(
    posteriors: Posteriors,
    codes: Codes,
    clusters: Clusters,
    n_clusters: int,
    weights: Weights | None = None,
) -> SubclassModel:
    """Calibration and shares from held-out posteriors, labels and clusters of training items."""
    calibration = fit_cluster_calibration(posteriors, codes, clusters.codes, n_clusters, weights)
    item_weights = np.ones(len(codes)) if weights is None else weights
    calibrated = calibration(posteriors, clusters.codes)
    return subclass_model(calibration, calibrated, codes, clusters, n_clusters, item_weights)


def subclass_model(
    calibration: ClusterCalibration,
    q: Posteriors,
    codes: Codes,
    clusters: Clusters,
    n_clusters: int,
    weights: Reals,
) -> SubclassModel:
    """The subclasses of weighted training items, given the calibration.

    q: their calibrated posteriors. A cluster without items, which can occur in a resampled training
    set, counts as half an item.
    """
    n_classes = q.shape[1]
    sizes = np.bincount(clusters.codes, weights, minlength=n_clusters)
    filled = np.where(sizes > 0, sizes, 0.5)
    shares = filled / filled.sum()
    # Uses means of calibrated posteriors rather than counts: SLD then returns the training
    # prevalence on the training items, and a cluster without items of a class still has a share.
    means = _means(clusters.codes, q * weights[:, np.newaxis], sizes)
    within = np.where(sizes[:, np.newaxis] > 0, means, weights @ q / weights.sum())
    novelty, variance = _novelty_moments(clusters, codes, n_clusters, n_classes, weights)
    cell = clusters.codes * n_classes + codes
    return SubclassModel(
        calibration=calibration,
        shares=shares,
        within=within / within.sum(axis=1, keepdims=True),
        novelty=novelty,
        novelty_variance=variance,
        sizes=np.asarray(
            np.bincount(cell, weights, minlength=n_clusters * n_classes), dtype=np.float64
        ).reshape(n_clusters, n_classes),
    )


def _means(groups: Codes, values: Reals, sizes: NDArray[Any]) -> Reals:
    """Sum of each column of the values within each group, divided by the group's size."""
    sums = [np.bincount(groups, column, minlength=len(sizes)) for column in values.T]
    return np.asarray(np.stack(sums, axis=1) / np.where(sizes > 0, sizes, 1)[:, np.newaxis])


def _novelty_moments(
    clusters: Clusters, codes: Codes, n_clusters: int, n_classes: int, weights: Reals
) -> tuple[Reals, Reals]:
    """Mean and variance of the novelty in every subclass; an empty one gets those of its class."""
    cell = clusters.codes * n_classes + codes
    sizes = np.bincount(cell, weights, minlength=n_clusters * n_classes)
    class_sizes = np.bincount(codes, weights, minlength=n_classes)
    value = clusters.novelty
    moments = []
    for power in (1, 2):
        raised = weights * value**power
        per_class = np.bincount(codes, raised, minlength=n_classes) / class_sizes
        sums = np.bincount(cell, raised, minlength=len(sizes))
        mean = sums / np.where(sizes > 0, sizes, 1)
        mean = np.where(sizes > 0, mean, np.tile(per_class, n_clusters))
        moments.append(mean.reshape(n_clusters, n_classes))
    return moments[0], np.maximum(moments[1] - moments[0] ** 2, 1e-12)


def mean_novelty(novelty: Reals, index: Indices, weights: Weights | None = None) -> Reals:
    """Mean novelty of the items of each sample."""
    if weights is None:
        return np.asarray(novelty[index].mean(axis=1))
    w = weights[index]
    return np.asarray((novelty[index] * w).sum(axis=1) / w.sum(axis=1))


def excess_novelty(
    model: SubclassModel, f: Reals, observed: Reals, size: int | Reals, common: float
) -> Reals:
    """Mean novelty above what the local model's subclasses explain, in standard errors.

    f: subclass shares, (n_samples, n_clusters, n_classes); size: items of a sample, or the total
    weight of each; common: error that all training items share. Other errors are those of the
    sample and of the means of the training subclasses. Zero if novelty is unknown.
    """
    expected = (f * model.novelty).sum(axis=(1, 2))
    spread = f / np.reshape(size, (-1, 1, 1)) + f * f / np.maximum(model.sizes, 1)
    error = np.sqrt((spread * model.novelty_variance).sum(axis=(1, 2)) + common**2)
    excess = np.asarray((observed - expected) / error)
    return excess if np.isfinite(excess).all() else np.nan_to_num(excess)


def training_evidence(model: SubclassModel, prior: Prevalences, size: int | Reals) -> Reals:
    """The part of a likelihood ratio that is not noise of the training set, (n_samples, 1).

    prior: class shares under the prior model; size: items of a sample, or their total weight.
    """
    class_sizes = model.sizes.sum(axis=0)
    size = np.reshape(size, (-1, 1))
    return np.asarray(
        (prior * class_sizes / (class_sizes + size * prior)).sum(axis=1, keepdims=True)
    )


def model_scores(model: SubclassModel, prior: Prevalences, fit: Reals, size: int | Reals) -> Reals:
    """Log-likelihoods minus a penalty for the free shares, (n_samples, 4)."""
    evidence = training_evidence(model, prior, size)
    return np.asarray(evidence * fit - model.n_free / 2 * np.log(np.reshape(size, (-1, 1))))


def model_weights(model: SubclassModel, prior: Prevalences, fit: Reals, size: int | Reals) -> Reals:
    """Weights of the models, (n_samples, 4). size: items of a sample, or their total weight."""
    score = model_scores(model, prior, fit, size)
    score = np.where(AVERAGED, score, -np.inf)
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
