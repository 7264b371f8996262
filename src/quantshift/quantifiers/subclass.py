"""Maximum likelihood over subclasses: one quantifier for prior, covariate and local shift.

Covariate shift between hidden groups, and its local form, are prior shifts over subclasses (class
y, cluster c). With q the calibrated posterior P(y | x, c(x)), pi the training shares of subclasses
and s_c, pi_(y|c) their margins, a sample in which subclass (y, c) has share f_yc has the
log-likelihood

    l(f) = sum_i log sum_y f_(y, c_i) q_iy / pi_(y, c_i)

relative to the training distribution. Four nested models, one per kind of shift:

    prior      f_yc = p_y pi_(c|y)                 1 free share (two classes)
    covariate  f_yc = s'_c pi_(y|c)                K - 1
    mixed      f_yc proportional to a_y b_c pi_yc  K
    local      any                                 2K - 1

Clusters are observed, so the maxima need no EM over clusters: s'_c is the share of the cluster in
the sample; "prior" is SLD; "local" is an SLD within every cluster; "mixed" has a common factor of
the odds. The estimate is the average of prior, mixed and local, weighted by exp(evidence * l -
d / 2 log n), d being the free shares. `evidence` < 1 is how much of a deviation can be the
training set's own: n_y training items of a class know its clusters only as well as n_y items can.
Pure covariate shift stays out of the average, for it explains small changes of prevalence away.

The calibration is learnt from posteriors out of fold, so new items are classified by the models
that made those: a committee, one member per fold, whose estimates are averaged. The model of all
training items scores more extremely than the calibration has seen, which with few items of a class
or a strong penalty is the largest error of all.

If the items are unlike those of training (mean novelty above what the subclasses' own explains), no
subclass describes them and the estimate is that of the prior model: `fallback`.

References: M. Saerens et al., Neural Computation 14 (2002); G. Schwarz, "Estimating the dimension
of a model", Annals of Statistics 6 (1978), for the weights.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from quantshift.classify.classifier import predict_posteriors
from quantshift.classify.clusters import (
    ITEMS_PER_CLUSTER,
    Clusters,
    Partition,
    fit_clusters,
    fit_groups,
)
from quantshift.classify.posteriors import check_posteriors
from quantshift.classify.subclass_calibration import SubclassCalibration, fit_subclass_calibration
from quantshift.errors import DataError
from quantshift.quantifiers.estimator import (
    AbstractQuantifier,
    Diagnostics,
    Estimate,
    Samples,
    checked_fit,
)
from quantshift.quantifiers.subclass_kernels import maximise_subclasses
from quantshift.types import Codes, Indices, Posteriors, Prevalences

Reals = NDArray[np.float64]

MODELS = ("prior", "covariate", "mixed", "local")
"""The order of the models in the diagnostics."""

AVERAGED = np.array([True, False, True, True])
"""Which of them enter the estimate."""

LEAST_WITHIN = 0.3
"""Share of the posteriors' variance within clusters, below which the estimate is SLD's."""

NOVELTY_LIMIT = 4.0
"""Standard errors of the mean novelty beyond which a sample is out of the training support."""


@dataclass(frozen=True, eq=False)
class SubclassModel:
    """What the training items say of subclasses.

    shares: of the clusters, (n_clusters,); within: of the classes in each, (n_clusters, n_classes);
    novelty, novelty_variance: of each subclass, (n_clusters, n_classes); NaN if unknown.
    sizes: training items of each subclass, (n_clusters, n_classes).
    """

    calibration: SubclassCalibration
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


class SubclassSLD(AbstractQuantifier):
    """Subclass SLD: maximum likelihood over (class, cluster), under the kind of shift there is.

    n_clusters: k-means clusters of the training features, or fewer with few items of a class or
        few distinct points; `fit(X, y, groups=...)` takes known groups instead. With fewer than 25
        items of the rarest class for each cluster, or clusters that explain most of the
        posteriors, the estimate is SLD's (`divided_` is False), and clusters serve the shift test.
    n_components: singular vectors that features are reduced to for the clusters.
    tol, max_iter: as in SLD.

    Features come from X itself or, with a Pipeline as the classifier, from its first steps.
    Fitted from posteriors alone, without clusters, it is SLD with smooth calibration; and so is
    any estimate from posteriors alone.

    Diagnostics beside `iterations` and `converged`, in the order of `subclass.MODELS`:
    `model_prevalence` (..., 4, n_classes), `model_weight` (..., 4), `log_likelihood` (..., 4)
    relative to the training distribution, `subclass_prevalence` (..., 4, n_clusters, n_classes);
    `novelty`, the sample's mean novelty in standard errors above what is expected, and `fallback`,
    whether that is beyond 4, in which case the estimate is the prior model's.
    """

    assumption: ClassVar[str] = (
        "P(X|Y, cluster) is the same in the sample: prior, covariate or local shift over clusters "
        "seen in training"
    )

    uses_features: ClassVar[bool] = True

    committee_: tuple[Any, ...]
    partition_: Partition | None
    n_clusters_: int
    divided_: bool
    model_: SubclassModel
    plain_: SubclassModel | None

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        n_clusters: int = 4,
        n_components: int = 20,
        tol: float = 1e-6,
        max_iter: int = 1000,
        cv: int = 5,
        seed: int = 0,
    ) -> None:
        self.classifier = classifier
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.seed = seed

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit classifier, clusters and calibration on labelled items.

        groups: a known grouping of the training items, used instead of clusters.
        """
        self.partition_, self.n_clusters_ = None, 1
        super().fit(X, y)
        self.partition_, clusters = self.divide(self._features(X), self.held_out_codes_, groups)
        self.n_clusters_ = self.partition_.n_clusters
        items = join_items(self.held_out_posteriors_, clusters)
        return self._set_fitted(items, self.held_out_codes_, self.classes_)

    def divide(self, features: Any, codes: Codes, groups: Any = None) -> tuple[Partition, Clusters]:
        """The division of the feature space, and the clusters of its training items.

        codes: the classes of the training items; the rarest limits the number of clusters.
        """
        if groups is not None:
            return fit_groups(features, groups, n_components=self.n_components, seed=self.seed)
        return fit_clusters(
            features,
            n_clusters=self.n_clusters,
            n_components=self.n_components,
            seed=self.seed,
            n_rarest=int(np.bincount(codes).min()),
        )

    def fit_posteriors(
        self,
        posteriors: ArrayLike,
        y: Any,
        *,
        classes: Any = None,
        clusters: Any = None,
        partition: Partition | None = None,
    ) -> Self:
        """Fit from held-out posteriors; with `clusters` (codes, or `Clusters`) over subclasses.

        partition: what the clusters come from, if known: `divide` gives both.
        """
        if clusters is None:
            self.partition_, self.n_clusters_ = None, 1
            return super().fit_posteriors(posteriors, y, classes=classes)
        told = _as_clusters(clusters)
        sizes = np.bincount(told.codes)
        if partition is None and not sizes.all():
            raise DataError(f"cluster {int(np.argmin(sizes))} has no training item: renumber them")
        self.partition_ = partition
        self.n_clusters_ = len(sizes) if partition is None else partition.n_clusters
        self.classifier_ = None
        checked, codes, known = checked_fit(posteriors, y, classes)
        return self._set_fitted(join_items(checked, told), codes, known)

    def estimate_posteriors(
        self,
        posteriors: ArrayLike,
        samples: Samples | None = None,
        *,
        clusters: Any = None,
        committee: ArrayLike | None = None,
    ) -> Estimate:
        """Like `estimate`; without `clusters` the estimate is plain SLD's.

        committee: posteriors of the items by each of the models that made the held-out posteriors
            of the fit, (n_members, n_items, n_classes); by default the posteriors stand for them.
        """
        if clusters is None:
            return super().estimate_posteriors(posteriors, samples)
        check_is_fitted(self, "classes_")
        pool = check_posteriors(posteriors, len(self.classes_))
        members = () if committee is None else check_posteriors(committee, len(self.classes_))
        return self._estimate(
            join_items(pool, self._known(_as_clusters(clusters)), members), samples
        )

    def items(self, X: Any) -> Reals:
        """Posteriors, those of the committee's members, cluster and novelty of the items of X.

        Shape (n_items, n_classes * (1 + n_members) + 2).
        """
        posteriors = super().items(X)
        assert self.partition_ is not None  # or there is no classifier, and no way to here
        members = [predict_posteriors(model, X, self.classes_) for model in self.committee_]
        return join_items(posteriors, self.partition_.locate(self._features(X)), members)

    @property
    def novelty_error(self) -> float:
        """Standard error that the novelties of all training items have in common."""
        return 0.0 if self.partition_ is None else self.partition_.novelty_error

    def _held_out_posteriors(self, X: Any, codes: Codes, classes: NDArray[Any]) -> Posteriors:
        posteriors, self.committee_ = self._cross_fit(X, codes, classes)
        return posteriors

    def _features(self, X: Any) -> Any:
        model = self.classifier_
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        return model[:-1].transform(X) if isinstance(model, Pipeline) and len(model) > 1 else X

    def _known(self, clusters: Clusters) -> Clusters:
        if clusters.codes.size and clusters.codes.max() >= self.n_clusters_:
            raise DataError(
                f"cluster {clusters.codes.max()} is not among the {self.n_clusters_} of the "
                "training items: leave those items out, or fit without clusters"
            )
        return clusters

    def _fit_aggregation(self, posteriors: Posteriors, codes: Codes) -> None:
        pure, clusters = split_items(posteriors, len(self.classes_))
        self.plain_ = None
        if clusters is None:
            self.model_ = self.plain_ = _fit_plain(pure, codes)
            self.divided_ = False
            return
        self.model_ = fit_model(pure, codes, clusters, self.n_clusters_)
        self.divided_ = _carries_subclasses(self.model_, pure, clusters.codes)

    def refitter(self) -> Callable[[Indices], Self]:
        """Clusters stay; the calibration is fitted again from where it is."""
        check_is_fitted(self, "classes_")
        items, codes = self.held_out_posteriors_, self.held_out_codes_
        pure, clusters = split_items(items, len(self.classes_))
        placed = _nowhere(len(codes)) if clusters is None else clusters
        recalibrate = self.model_.calibration.refitter(pure, codes, placed.codes)
        n_clusters = len(self.model_.shares)

        def refit(rows: Indices) -> Any:
            again = copy(self)
            again._set_training(items[rows], codes[rows], self.classes_)
            weights = np.bincount(rows, minlength=len(codes)).astype(np.float64)
            again.model_ = subclass_model(
                recalibrate(weights), pure, codes, placed, n_clusters, weights
            )
            again.plain_ = again.model_ if clusters is None else None
            return again

        return refit

    def _plain(self) -> SubclassModel:
        """The model of posteriors alone, made when asked for: a bootstrap's refits never do."""
        if self.plain_ is None:
            pure, _ = split_items(self.held_out_posteriors_, len(self.classes_))
            self.plain_ = _fit_plain(pure, self.held_out_codes_)
        return self.plain_

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        n_classes = len(self.classes_)
        pure, clusters = split_items(posteriors, n_classes)
        if clusters is None:
            nowhere = np.full((2, len(pure)), np.nan)
            q = self._plain().calibration(pure, np.zeros(len(pure), np.int64))
            return np.concatenate([q.T, nowhere])
        members = members_of(posteriors, n_classes)
        # All members at once: a few large arrays instead of many small ones.
        calibrated = self.model_.calibration(
            np.concatenate(members), np.tile(clusters.codes, len(members))
        ).reshape(len(members), -1, n_classes)
        columns = calibrated.transpose(0, 2, 1).reshape(len(members) * n_classes, -1)
        return np.concatenate([columns, clusters.codes[None], clusters.novelty[None]])

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        cluster, novelty = representation[-2], representation[-1]
        model = self._plain() if np.isnan(cluster[0]) else self.model_
        codes = np.nan_to_num(cluster).astype(np.int64)
        solutions = [
            maximise_subclasses(
                np.ascontiguousarray(q.T),
                codes,
                index,
                model.within[np.newaxis],
                model.shares[np.newaxis],
                self.tol,
                self.max_iter,
            )
            for q in np.split(representation[:-2], (len(representation) - 2) // len(self.classes_))
        ]
        f, fit = (np.mean([solution[i] for solution in solutions], axis=0) for i in (0, 1))
        excess = excess_novelty(
            model, f[:, 3], novelty[index].mean(axis=1), index.shape[1], self.novelty_error
        )
        outside = excess > NOVELTY_LIMIT
        by_model = f.sum(axis=2)
        weight = _weights(model, by_model[:, 0], fit, index.shape[1])
        weight[outside | (not self.divided_)] = np.eye(len(MODELS))[0]
        p_hat = np.einsum("sm,smk->sk", weight, by_model)
        return p_hat / p_hat.sum(axis=1, keepdims=True), {
            "iterations": np.max([solution[2] for solution in solutions], axis=0),
            "converged": np.all([solution[3] for solution in solutions], axis=0),
            "fallback": outside,
            "novelty": excess,
            "model_prevalence": by_model,
            "model_weight": weight,
            "log_likelihood": fit,
            "subclass_prevalence": f,
        }


def _nowhere(n_items: int) -> Clusters:
    return Clusters(np.zeros(n_items, np.int64), np.full(n_items, np.nan))


def _fit_plain(posteriors: Posteriors, codes: Codes) -> SubclassModel:
    return fit_model(posteriors, codes, _nowhere(len(codes)), 1)


def _carries_subclasses(model: SubclassModel, posteriors: Posteriors, clusters: Codes) -> bool:
    """Whether the training items carry subclasses: enough of each class, and of what tells them.

    Clusters of few or discrete columns may *be* the score: then nothing within them tells the
    classes apart, and a change of prevalence looks like one of clusters.
    """
    if model.sizes.sum(axis=0).min() < ITEMS_PER_CLUSTER * len(model.shares):
        return False
    q = model.calibration(posteriors, clusters)
    sizes = np.bincount(clusters, minlength=len(model.shares))
    within = float(((q - _means(clusters, q, sizes)[clusters]) ** 2).sum())
    return within >= LEAST_WITHIN * float(((q - q.mean(axis=0)) ** 2).sum())


def fit_model(
    posteriors: Posteriors, codes: Codes, clusters: Clusters, n_clusters: int
) -> SubclassModel:
    """Calibration and shares from held-out posteriors, labels and clusters of training items."""
    calibration = fit_subclass_calibration(posteriors, codes, clusters.codes, n_clusters)
    return subclass_model(calibration, posteriors, codes, clusters, n_clusters, np.ones(len(codes)))


def subclass_model(
    calibration: SubclassCalibration,
    posteriors: Posteriors,
    codes: Codes,
    clusters: Clusters,
    n_clusters: int,
    weights: Reals,
) -> SubclassModel:
    """What weighted training items say of subclasses, given the calibration.

    A cluster without items, as a resampled training set may have, counts as half an item.
    """
    n_classes = posteriors.shape[1]
    q = calibration(posteriors, clusters.codes)
    sizes = np.bincount(clusters.codes, weights, minlength=n_clusters)
    shares = np.maximum(sizes, 0.5) / np.maximum(sizes, 0.5).sum()
    # The calibration's own means rather than counts: SLD then gives the training prevalence back
    # on the training items, and a cluster with no item of a class has a share of it all the same.
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
    return np.asarray(np.stack(sums, axis=1) / np.maximum(sizes, 1)[:, np.newaxis])


def _novelty_moments(
    clusters: Clusters, codes: Codes, n_clusters: int, n_classes: int, weights: Reals
) -> tuple[Reals, Reals]:
    """Mean and variance of the novelty in every subclass; an empty one has its class's."""
    cell = clusters.codes * n_classes + codes
    sizes = np.bincount(cell, weights, minlength=n_clusters * n_classes)
    of_class = np.bincount(codes, weights, minlength=n_classes)
    value = clusters.novelty
    moments = []
    for power in (1, 2):
        raised = weights * value**power
        per_class = np.bincount(codes, raised, minlength=n_classes) / of_class
        sums = np.bincount(cell, raised, minlength=len(sizes))
        mean = np.where(sizes > 0, sums / np.maximum(sizes, 1), np.tile(per_class, n_clusters))
        moments.append(mean.reshape(n_clusters, n_classes))
    return moments[0], np.maximum(moments[1] - moments[0] ** 2, 1e-12)


def excess_novelty(
    model: SubclassModel, f: Reals, observed: Reals, size: int, common: float
) -> Reals:
    """Mean novelty above what the local model's subclasses explain, in standard errors.

    f: subclass shares, (n_samples, n_clusters, n_classes); common: error that all training items
    share. The others are the sample's and those of the means of the training subclasses. Zero
    where novelty is unknown.
    """
    expected = (f * model.novelty).sum(axis=(1, 2))
    spread = f / size + f * f / np.maximum(model.sizes, 1)
    error = np.sqrt((spread * model.novelty_variance).sum(axis=(1, 2)) + common**2)
    return np.asarray(np.nan_to_num((observed - expected) / error))


def _weights(model: SubclassModel, prior: Prevalences, fit: Reals, size: int) -> Reals:
    """Weights of the models, (n_samples, 4)."""
    known = model.sizes.sum(axis=0)
    evidence = (prior * known / (known + size * prior)).sum(axis=1, keepdims=True)
    score = evidence * fit - model.n_free / 2 * np.log(size)
    score = np.where(AVERAGED, score, -np.inf)
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _as_clusters(clusters: Any) -> Clusters:
    return clusters if isinstance(clusters, Clusters) else Clusters.known(clusters)


def join_items(
    posteriors: Posteriors, clusters: Clusters, members: ArrayLike | Sequence[Posteriors] = ()
) -> Reals:
    """One row per item: posteriors, those of each member of a committee, cluster, novelty."""
    if posteriors.ndim != 2 or len(clusters) != len(posteriors):
        raise DataError(
            f"clusters of {len(clusters)} items do not fit posteriors of shape "
            f"{posteriors.shape}: give one cluster per row"
        )
    others = [np.asarray(member) for member in members]  # type: ignore[union-attr]
    for member in others:
        if member.shape != posteriors.shape:
            raise DataError(
                f"posteriors of shape {member.shape} by a member of the committee do not fit "
                f"those of shape {posteriors.shape}: all members classify the same items"
            )
    return np.column_stack([posteriors, *others, clusters.codes, clusters.novelty])


def split_items(items: Reals, n_classes: int) -> tuple[Posteriors, Clusters | None]:
    """Posteriors and clusters of items; no clusters if the rows are posteriors alone."""
    if items.shape[1] == n_classes:
        return items, None
    return items[:, :n_classes], Clusters(items[:, -2].astype(np.int64), items[:, -1])


def members_of(items: Reals, n_classes: int) -> list[Posteriors]:
    """Posteriors of the items by each member of the committee; without one, the posteriors."""
    columns = items[:, :-2]
    return np.split(columns, columns.shape[1] // n_classes, axis=1)[1:] or [columns]
