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
d / 2 log n), where d is the number of free shares. `evidence` < 1 accounts for deviations that are
due to the training set: the clusters of a class are only known as well as its n_y training items
allow. Pure covariate shift is not averaged, because it explains away small changes of prevalence.

The calibration is learnt from out-of-fold posteriors, so new items are classified by the models
that produced those: a committee, one member per fold, whose estimates are averaged. The scores of a
model trained on all items are more extreme than the calibration has seen, which with few items of a
class or a strong penalty is the largest error of all.

If the items are unlike those of training (the mean novelty is above what the subclasses explain),
no subclass describes them and the estimate is that of the prior model: `fallback`.

References: M. Saerens et al., "Adjusting the outputs of a classifier to new a priori
probabilities: a simple procedure", Neural Computation 14 (2002); G. Schwarz, "Estimating the
dimension of a model", Annals of Statistics 6 (1978), for the weights.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from quantshift.base.domains import Count, NotNegative, Seed
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.classify.classifier import Classifier
from quantshift.classify.clusters.clusters import Clusters, Partition
from quantshift.classify.clusters.fitting import fit_clusters, fit_groups
from quantshift.classify.folds import Folds
from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError
from quantshift.items.items import Items, drawn_weights
from quantshift.items.samples import Samples
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import (
    AbstractClassifying,
    Diagnostics,
    Estimate,
)
from quantshift.quantifiers.base.tags import Tags
from quantshift.quantifiers.base.training_labels import labelled_posteriors
from quantshift.quantifiers.likelihood.shift_likelihood import maximise_subclasses
from quantshift.quantifiers.likelihood.shift_models import (
    MODELS,
    NOVELTY_LIMIT,
    SubclassModel,
    carries_subclasses,
    excess_novelty,
    fit_model,
    fit_plain,
    mean_novelty,
    model_weights,
    single_cluster,
    subclass_model,
)


@dataclass(frozen=True, eq=False)
class Division:
    """A division of the feature space, and the clusters of the training items in it.

    The training items are located as if they were new, which `partition.locate` does not do.
    """

    partition: Partition
    training: Clusters

    def __call__(self, features: Any) -> Clusters:
        """The clusters of other items."""
        return self.partition.locate(features)


@dataclass(frozen=True, eq=False)
class SubclassItems:
    """Items as the models use them: calibrated by each member of the committee, in clusters.

    posteriors: (n_items, n_classes) by each member.
    """

    model: SubclassModel
    posteriors: Sequence[Posteriors]
    clusters: Clusters


class SubclassSLD(AbstractClassifying):
    """Subclass SLD: maximum likelihood over (class, cluster), weighting several kinds of shift.

    Features come from X itself or, if the classifier is a Pipeline, from all but its last step.
    Fitted from posteriors alone, without clusters, it is SLD with smooth calibration; and so is any
    estimate from posteriors alone.

    Diagnostics in addition to `iterations` and `converged`, ordered as `shift_models.MODELS`:
    `model_prevalence` (..., 4, n_classes), `model_weight` (..., 4), `log_likelihood` (..., 4)
    relative to the training distribution, `subclass_prevalence` (..., 4, n_clusters, n_classes);
    `novelty`, the sample's mean novelty in standard errors above what is expected, and `fallback`,
    whether that is beyond 4, in which case the estimate is the prior model's.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    n_clusters : int
        K-means clusters of the training features, or fewer with few items of a class or few
        distinct points; `fit(X, y, groups=...)` takes known groups instead. With fewer than 25
        items of the rarest class for each cluster, or clusters that explain most of the posteriors,
        the estimate is SLD's (`divided_` is False), and the clusters are only used for the shift
        test.
    n_components : int
        Number of singular vectors to which features are reduced for the clusters.
    tol : float
        As in SLD.
    max_iter : int
        As in SLD.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import SubclassSLD
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = SubclassSLD().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    """

    recommended: ClassVar[str] = "groups within the classes grew or shrank as well"
    tags: ClassVar[Tags] = Tags(
        assumption="P(X|Y, cluster) is the same in the sample: prior, covariate or local shift "
        "over clusters seen in training",
        plain_assumption="within each group of similar items, items of a class look as they did in "
        "training",
        sees=frozenset({"posteriors", "committee", "features"}),
        beyond_prior_shift=True,
    )

    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"iterations": "int", "converged": "bool", "fallback": "bool", "novelty": "float"}
    )

    n_clusters_: int
    divided_: bool
    model_: SubclassModel
    plain_: SubclassModel | None
    calibrated_: tuple[Posteriors, Clusters, Posteriors] | None = None
    """After a refit: posteriors and clusters of the training items, and calibrated posteriors."""

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        n_clusters: Count = 4,
        n_components: Count = 20,
        tol: NotNegative = 1e-6,
        max_iter: Count = 1000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        groups: Any = None,
    ) -> Self:
        """Fit classifier, clusters and calibration on labelled items.

        groups: a known grouping of the training items, used instead of clusters. weights: as for
        every quantifier.
        """
        return self._fit(X, y, sample_weight, partial(self.reduction, groups=groups))

    def reduction(
        self, features: Any, codes: Codes, weights: Weights | None = None, *, groups: Any = None
    ) -> Division:
        """The division of the feature space, and the clusters of the training items.

        codes: the classes of the training items; the rarest limits the number of clusters.
        groups: known ones, used instead of clusters.
        """
        if groups is not None:
            return Division(
                *fit_groups(
                    features,
                    groups,
                    n_components=self.n_components,
                    seed=self.random_state,
                    weights=weights,
                )
            )
        return Division(
            *fit_clusters(
                features,
                n_clusters=self.n_clusters,
                n_components=self.n_components,
                seed=self.random_state,
                n_rarest=float(np.bincount(codes, weights).min()),
                weights=weights,
            )
        )

    def fit_posteriors(
        self,
        posteriors: ArrayLike,
        y: Any,
        *,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
        clusters: Any = None,
    ) -> Self:
        """Fit from held-out posteriors; with `clusters` (codes, or `Clusters`) over subclasses."""
        items = labelled_posteriors(posteriors, y, classes, sample_weight)
        return self.fit_items(_in_clusters(items, clusters), y, classes=classes)

    def estimate_posteriors(
        self,
        posteriors: ArrayLike,
        samples: Samples | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        clusters: Any = None,
        committee: ArrayLike | None = None,
    ) -> Estimate:
        """Like `estimate`; without `clusters` the estimate is plain SLD's.

        committee: posteriors of the items by each of the models that made the held-out posteriors
            of the fit, (n_members, n_items, n_classes); by default the posteriors are used.
        """
        if clusters is None:
            return super().estimate_posteriors(posteriors, samples, sample_weight=sample_weight)
        check_is_fitted(self, "classes_")
        pool = check_posteriors(posteriors, self.classes_)
        members = None if committee is None else check_posteriors(committee, len(self.classes_))
        item_weights = (
            None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        )
        items = _in_clusters(Items(pool, members, weights=item_weights), clusters)
        return self.estimate_items(items, samples)

    @property
    def partition_(self) -> Partition | None:
        """The partition that the clusters come from, if known."""
        return self.reduction_.partition if isinstance(self.reduction_, Division) else None

    @property
    def novelty_error(self) -> float:
        """Standard error that the novelties of all training items share."""
        return 0.0 if self.partition_ is None else self.partition_.novelty_error

    def refitter(self) -> Callable[[Indices], Self]:
        """Clusters stay; the calibration is refitted, starting from its current parameters."""
        check_is_fitted(self, "classes_")
        items, codes, pure = self.held_out_, self.held_out_codes_, self.held_out_posteriors_
        placed = single_cluster(len(codes)) if items.features is None else items.features
        recalibrate = self.model_.calibration.refitter(pure, codes, placed.codes, items.weights)
        n_clusters = len(self.model_.shares)

        def refit(rows: Indices) -> Any:
            replicate = copy(self)
            replicate._set_training(items.take(rows), codes[rows], self.classes_)
            weights = drawn_weights(rows, items.weights, len(codes))
            calibration = recalibrate(weights)
            q = calibration(pure, placed.codes)
            replicate.model_ = subclass_model(calibration, q, codes, placed, n_clusters, weights)
            replicate.calibrated_ = pure, placed, q
            replicate.plain_ = replicate.model_ if items.features is None else None
            return replicate

        return refit

    def _learn(self, items: Items, codes: Codes) -> None:
        if items.posteriors is None:
            raise UserError("SubclassSLD needs posteriors: give held-out ones of the items")
        if items.features is not None and not isinstance(items.features, Clusters):
            self.reduction_ = self.reduction(items.features, codes, items.weights)
            items = self.held_out_ = replace(items, features=self.reduction_.training)
        pure, clusters, weights = self.held_out_posteriors_, items.features, items.weights
        self.plain_ = None
        if clusters is None:
            self.n_clusters_, self.divided_ = 1, False
            self.model_ = self.plain_ = fit_plain(pure, codes, weights)
            return
        self.n_clusters_ = _n_clusters(clusters, self.partition_)
        self.model_ = fit_model(pure, codes, clusters, self.n_clusters_, weights)
        self.divided_ = carries_subclasses(self.model_, pure, clusters.codes, weights)

    def _plain(self) -> SubclassModel:
        """The model of posteriors alone, fitted when needed, which refits of a bootstrap do not."""
        if self.plain_ is None:
            items = self.held_out_
            self.plain_ = fit_plain(self.held_out_posteriors_, self.held_out_codes_, items.weights)
        return self.plain_

    def _represent_items(self, items: Items) -> SubclassItems:
        pure, clusters = items.posteriors, items.features
        if pure is None:
            raise UserError("SubclassSLD needs posteriors: give those of the items")
        if clusters is None:
            one_cluster, model = single_cluster(len(pure)), self._plain()
            return SubclassItems(model, [model.calibration(pure, one_cluster.codes)], one_cluster)
        if not isinstance(clusters, Clusters):
            if self.reduction_ is None:
                raise UserError(
                    "this SubclassSLD was not fitted on features: give the clusters of the items"
                )
            clusters = self.reduction_(clusters)
        self._check_clusters(clusters)
        if items.committee is None and self.calibrated_ is not None:
            training_posteriors, placed, q = self.calibrated_
            if pure is training_posteriors and clusters is placed:
                return SubclassItems(self.model_, [q], clusters)
        members = pure[np.newaxis] if items.committee is None else items.committee
        # All members at once, because a few large arrays are faster than many small ones.
        calibrated = self.model_.calibration(
            members.reshape(-1, pure.shape[1]), np.tile(clusters.codes, len(members))
        )
        return SubclassItems(self.model_, list(calibrated.reshape(members.shape)), clusters)

    def _check_clusters(self, clusters: Clusters) -> None:
        if clusters.codes.size and clusters.codes.max() >= self.n_clusters_:
            raise DataError(
                f"cluster {clusters.codes.max()} is not among the {self.n_clusters_} of the "
                "training items: leave those items out, or fit without clusters"
            )

    def _solve(
        self, representation: SubclassItems, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        model, clusters = representation.model, representation.clusters
        solutions = [
            maximise_subclasses(
                np.ascontiguousarray(q),
                clusters.codes,
                index,
                model.within[np.newaxis],
                model.shares[np.newaxis],
                self.tol,
                self.max_iter,
                weights,
            )
            for q in representation.posteriors
        ]
        by_member = [np.stack(parts) for parts in zip(*solutions, strict=True)]
        f, fit = by_member[0].mean(axis=0), by_member[1].mean(axis=0)
        size = index.shape[1] if weights is None else weights[index].sum(axis=1)
        novelty = mean_novelty(clusters.novelty, index, weights)
        excess = excess_novelty(model, f[:, 3], novelty, size, self.novelty_error)
        outside = excess > NOVELTY_LIMIT
        by_model = f.sum(axis=2)
        weight = model_weights(model, by_model[:, 0], fit, size)
        weight[outside | (not self.divided_)] = np.eye(len(MODELS))[0]
        p_hat = np.einsum("sm,smk->sk", weight, by_model)
        return p_hat / p_hat.sum(axis=1, keepdims=True), {
            "iterations": by_member[2].max(axis=0),
            "converged": by_member[3].all(axis=0),
            "fallback": outside,
            "novelty": excess,
            "model_prevalence": by_model,
            "model_weight": weight,
            "log_likelihood": fit,
            "subclass_prevalence": f,
        }


def _n_clusters(clusters: Clusters, partition: Partition | None) -> int:
    if partition is not None:
        return partition.n_clusters
    sizes = np.bincount(clusters.codes)
    if not sizes.all():
        raise DataError(f"cluster {int(np.argmin(sizes))} has no training item: renumber them")
    return len(sizes)


def _in_clusters(items: Items, clusters: Any) -> Items:
    if clusters is None:
        return items
    located = clusters if isinstance(clusters, Clusters) else Clusters.known(clusters)
    return replace(items, features=located)
