"""SubclassSLD if the sample's features agree with it, the mean posterior if they refute it.

Methods of the SLD family assume that P(X|Y) is fixed, within classes or within subclasses, which is
right if the label causes the features (the words of a review). If an outcome is predicted from its
causes, between regions, years or hospitals, P(X) changes and P(Y|X) changes slowly, and the mean
posterior (PCC) is closer to the truth. The unlabelled sample shows which assumption does *not*
hold: if a classifier separates it from the training items weighted by SubclassSLD's model
(`goodness_of_fit`), the model is refuted.

              tested                             not refuted    refuted
    columns   prior shift, also by `score_test`  SubclassSLD    PCC, or SubclassSLD if in doubt
    signal    shifts of classes and subgroups    SubclassSLD    PCC + lambda (SubclassSLD - PCC)

In doubt: after an extreme change of prevalence a small difference remains although the model is
right. If features refute the model of columns, by less than five standard errors, it explains at
least half of the difference from the training items and the scores do not refute it, its estimate
stays, and only the interval is replaced.

lambda is the change of prevalence that SubclassSLD finds (half the sum of the absolute differences
from the training prevalence) divided by .1, at most 1. If texts of a new kind have appeared, SLD
finds a small change of prevalence whether there is one or not, and the mean posterior is closer to
the truth; the mean posterior captures less than half of a large change.

Posteriors are those of two classifiers, out of fold on the training items and by the models of the
folds on the sample; the one with the lower log-loss is used. A model that is not refuted need not
be right: `examined` says when there is evidence for it, and otherwise gives a range
(`allowed_range`).

References: B. Schoelkopf et al., "On causal and anticausal learning", ICML 2012; D. Tasche, "Class
prior estimation under covariate shift: no problem?", 2022.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from quantshift.base.domains import Seed
from quantshift.base.threads import in_one_thread
from quantshift.base.types import Codes, Flags, Indices, Posteriors, Prevalences, Reals
from quantshift.claims import Assumption
from quantshift.classify.classifier import Classifier, cross_fit, predict_posteriors
from quantshift.classify.clusters.clusters import Clusters
from quantshift.classify.features import feature_matrix
from quantshift.classify.folds import Folds, folds_of
from quantshift.classify.separation import WIDE, Reference
from quantshift.errors import UserError
from quantshift.items.items import Items
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import Diagnostics, Estimate
from quantshift.quantifiers.base.guarding import (
    AUTO,
    COLUMNS,
    SIGNAL,
    AbstractGuarded,
    ExaminedSamples,
    kind_of_features,
)
from quantshift.quantifiers.base.means import sample_means
from quantshift.quantifiers.base.tags import FEATURES, Tags
from quantshift.quantifiers.likelihood.examined import (
    BY_FEATURES,
    BY_SCORES,
    examined,
    in_arrays,
    refuting,
)
from quantshift.quantifiers.likelihood.goodness_of_fit import ModelledTraining, modelled_shares
from quantshift.quantifiers.likelihood.mixed_shift import MixedItems, mixed_shift
from quantshift.quantifiers.likelihood.score_test import ScoredTraining
from quantshift.quantifiers.likelihood.sld import SLD
from quantshift.quantifiers.likelihood.subclass_sld import Division, SubclassItems, SubclassSLD

FAMILY = MappingProxyType({COLUMNS: "prior", SIGNAL: "subclasses"})
"""What is tested. For tables it is whether prior shift alone explains the sample, because clusters
of causes could imitate a change of P(X) with a wrong prevalence. Subgroups of texts do change."""

AFTER_REFUTATION = MappingProxyType({COLUMNS: Assumption.COVARIATE, SIGNAL: Assumption.BETWEEN})
"""What the estimate rests on after a refutation."""

WeightedRows = tuple[Indices, Weights | None]
"""Rows of items, and their weights."""

MOVED = 0.1
"""Change of prevalence from which SubclassSLD is trusted in spite of a refutation."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """One classifier: the models of its folds, and an SLD fitted on their posteriors.

    loss: mean out-of-fold log-loss on the training items.
    """

    models: tuple[Any, ...]
    out_of_fold: Posteriors
    sld: SLD
    loss: float

    def committee(self, X: Any, n_classes: int) -> Posteriors:
        """Posteriors by each model, (n_members, n_items, n_classes)."""
        codes = np.arange(n_classes)
        return np.stack([predict_posteriors(model, X, codes) for model in self.models])


@dataclass(frozen=True, eq=False)
class Seen:
    """Items as the assumptions see them.

    committees: posteriors by the models of each classifier, (n_members, n_items, n_classes) each.
    clusters: for SubclassSLD. position: for the test, (n_items, d).
    """

    committees: tuple[Posteriors, ...]
    clusters: Clusters
    position: Reals

    def __len__(self) -> int:
        return len(self.position)

    def __getitem__(self, rows: Indices) -> "Seen":
        committees = tuple(committee[:, rows] for committee in self.committees)
        return Seen(committees, self.clusters[rows], self.position[rows])

    @classmethod
    def joined(cls, parts: Sequence["Seen"]) -> "Seen":
        """The items of all parts, concatenated."""
        by_classifier = zip(*(part.committees for part in parts), strict=True)
        return cls(
            tuple(np.concatenate(members, axis=1) for members in by_classifier),
            Clusters.joined([part.clusters for part in parts]),
            np.concatenate([part.position for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class FeatureView:
    """Turns the features of items into what is seen of them."""

    learnt: tuple[Learnt, ...]
    division: Division
    reference: Reference
    n_classes: int

    @property
    def training(self) -> Clusters:
        """The clusters of the training items, which is all that is kept of their features."""
        return self.division.training

    @in_one_thread
    def __call__(self, features: Any) -> Seen:
        """What is seen of other items."""
        X = _narrow(feature_matrix(features))
        committees = tuple(learnt.committee(X, self.n_classes) for learnt in self.learnt)
        return Seen(committees, self.division(X), self.reference.place(X))


@dataclass(frozen=True, eq=False)
class GuardedItems:
    """Items for every assumption.

    subclasses: for SubclassSLD. By each classifier and each of its models, (n_classes, n_items):
    calibrated, posteriors for PCC; ratios, for SLD. position: for the test.
    """

    subclasses: SubclassItems
    calibrated: Sequence[Sequence[Reals]]
    ratios: Sequence[Sequence[Reals]]
    position: Reals
    cells: Codes


class GuardedSLD(AbstractGuarded):
    """Guarded SLD: SubclassSLD unless the sample's features refute it, then PCC.

    `examined(estimate)` says for each sample whether its answer is an interval or a range, and why,
    with the p-values of `score_test` and the limits of the range;
    `quantshift.quantifiers.guarded_intervals` has the limits of every answer. The diagnostics are
    `refuted`, `in_doubt`, `auc`, `z` and `explained` (the share of the difference from the training
    items) of the test by a classifier. Others, (..., n_classes) each, are `mixed`, SubclassSLD's
    estimate; `covariate`, PCC's; `covariate_by_classifier` (PCC) and `prior_by_classifier` (SLD),
    (..., n_classifiers, n_classes); and `members` (..., n_members, n_classes), PCC by each model of
    the better classifier, which has not seen one fold and shows how much PCC depends on the
    training items. The rest is what `examined` needs to test the sample, if it has not been tested:
    for signals the tests do not change the estimate.

    Parameters
    ----------
    assume : {"prior", "covariate"}, optional
        None, or an assumption that you declare: "prior" (estimates are SubclassSLD's) or
        "covariate" (PCC's). The tests are made all the same.
    mode : {"auto", "columns", "signal"}
        The kind of X, which matters after a refutation. "columns": causes of the label, as in most
        tables; "signal": effects of the label, as in texts. "auto" treats up to 200 features as
        columns and more as a signal, in a data frame as in a matrix.
    classifiers : sequence of classifiers, optional
        Candidates, of which the one with the lower log-loss is used. Default: logistic regression
        and histogram boosting; with more than 300 sparse features logistic regression.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors, and their seed.
    random_state : int
        Folds of the out-of-fold posteriors, and their seed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> from sklearn.linear_model import LogisticRegression
    >>> quantifier = GuardedSLD(classifiers=[LogisticRegression()]).fit(X, y)
    >>> quantifier.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    """

    recommended: ClassVar[str] = "you do not know what has changed: the default of `quantify`"
    tags: ClassVar[Tags] = Tags(
        assumption="P(X|Y, cluster) is the same in the sample; where its features refute that, "
        "P(Y|X) is",
        plain_assumption="within each group of similar items, items of a class look as they did in "
        "training; where the items contradict that, items that look alike have the label as often "
        "as in training",
        sees=FEATURES,
        beyond_prior_shift=True,
        no_interval="replicates do not show which assumption holds; use guarded_intervals, which "
        "gives an interval where the items support one, and a range elsewhere",
    )
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "refuted": "bool",
            "auc": "float",
            "z": "float",
            "explained": "float",
            "in_doubt": "bool",
        }
    )

    learnt_: tuple[Learnt, ...]
    best_: Learnt
    subclass_sld_: SubclassSLD
    training_: ModelledTraining
    scored_: ScoredTraining
    mixed_training_: MixedItems
    mode_: str

    def __init__(
        self,
        *,
        assume: Literal["prior", "covariate"] | None = None,
        mode: Literal["auto", "columns", "signal"] = "auto",
        classifiers: Sequence[Classifier] | None = None,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.assume = assume
        self.mode = mode
        self.classifiers = classifiers
        self.cv = cv
        self.random_state = random_state

    def examined(self, estimate: Estimate) -> ExaminedSamples:
        """What tests say about the samples of an estimate that it has made."""
        one = estimate.prevalence.ndim == 1
        diagnostics = {k: v[np.newaxis] if one else v for k, v in estimate.diagnostics.items()}
        p_hat = np.atleast_2d(estimate.prevalence)
        if "p_values" not in diagnostics:
            samples = zip(diagnostics["cell_counts"], diagnostics["feature_means"], strict=True)
            diagnostics |= in_arrays(
                [self.scored_.test(counts, means) for counts, means in samples]
            )
        after = AFTER_REFUTATION[self.mode_]
        declared = None if self.assume is None else Assumption(self.assume)
        replaced = (diagnostics["refuted"] & ~diagnostics["in_doubt"]).tolist()
        rests_on = [declared or (after if each else Assumption.PRIOR) for each in replaced]
        return examined(
            p_hat,
            diagnostics,
            rests_on,
            declared=declared,
            chosen=self.chosen_,
            tested_prior=FAMILY[self.mode_] == "prior",
            informative=not self.plain_.is_uninformative_,
        )

    @property
    def chosen_(self) -> int:
        """The position of the classifier with the lower log-loss."""
        return self.learnt_.index(self.best_)

    @property
    def plain_(self) -> SLD:
        """SLD on the posteriors of that classifier."""
        return self.best_.sld

    @property
    def unguarded_(self) -> SubclassSLD:
        """SubclassSLD, which it is while nothing is refuted."""
        return self.subclass_sld_

    def refitter(self) -> Callable[[Indices], Self]:
        """Models, clusters and the test stay; what is learnt from posteriors is refitted."""
        check_is_fitted(self, "classes_")
        best, refit_subclasses = self.chosen_, self.subclass_sld_.refitter()

        def refit(rows: Indices) -> Any:
            replicate = copy(self)
            replicate._set_training(
                self.held_out_.take(rows), self.held_out_codes_[rows], self.classes_
            )
            replicate.learnt_ = tuple(
                replace(learnt, out_of_fold=learnt.out_of_fold[rows], sld=learnt.sld.refit(rows))
                for learnt in self.learnt_
            )
            replicate.best_, replicate.subclass_sld_ = (
                replicate.learnt_[best],
                refit_subclasses(rows),
            )
            return replicate

        return refit

    @in_one_thread
    def _learn(self, items: Items, codes: Codes) -> None:
        if items.features is None or isinstance(items.features, Clusters):
            raise UserError("GuardedSLD needs the features of the training items: give them")
        n_classes, weights = len(self.classes_), items.weights
        X = _narrow(feature_matrix(items.features))
        self.mode_ = kind_of_features(X) if self.mode == AUTO else self.mode
        folds = folds_of(self.cv, codes, seed=self.random_state)
        rivals = self.classifiers or _default_classifiers(X)
        self.learnt_ = tuple(
            _learnt(rival, X, codes, n_classes, folds, weights, self.random_state)
            for rival in rivals
        )
        self.best_ = min(self.learnt_, key=lambda learnt: learnt.loss)
        self.subclass_sld_ = SubclassSLD(random_state=self.random_state)
        division = self.subclass_sld_.reduction(X, codes, weights)
        self.held_out_ = Items(self.best_.out_of_fold, None, division.training, weights)
        self.subclass_sld_.fit_items(self.held_out_, codes, reduction=division)
        reference = Reference.of(X, seed=self.random_state)
        self.training_ = ModelledTraining.of(
            reference, codes, n_classes, division.training, weights
        )
        self.scored_ = ScoredTraining.of(
            self.best_.out_of_fold,
            codes,
            reference.position,
            weights=weights,
            seed=self.random_state,
        )
        calibrated = self.plain_.calibrator_(self.best_.out_of_fold)
        self.mixed_training_ = MixedItems.of(
            calibrated, reference.position, weights, seed=self.random_state
        )
        self.reduction_ = FeatureView(self.learnt_, division, reference, n_classes)

    def unguarded_items(self, items: Items) -> Items:
        """The items (as `items(X)` returns them) as `subclass_sld_` sees them."""
        seen = self._seen(items)
        best = seen.committees[self.chosen_]
        return Items(best.mean(axis=0), best, seen.clusters, items.weights)

    def calibrated_members(self, items: Items) -> Posteriors:
        """Posteriors for PCC by each model of that classifier, (n_members, n_items, n_classes)."""
        members = self._seen(items).committees[self.chosen_]
        return np.stack([self.plain_.calibrator_(member) for member in members])

    @property
    def reference_(self) -> Reference:
        """The training items that the test by a classifier compares a sample with."""
        return self.training_.reference

    def training_positions(self) -> tuple[Reals, Codes] | None:
        """The standardised features of the training items, and their codes.

        None for texts and signals: their positions are learnt from these very items, and those of
        other items differ from them even if nothing has changed.
        """
        if self.mode_ != COLUMNS:
            return None
        return self.reference_.position, self.training_.codes

    def positions(self, items: Items) -> Reals:
        """The features of other items, standardised in the same way."""
        return self._seen(items).position

    def _seen(self, items: Items) -> Seen:
        if isinstance(items.features, Seen):
            return items.features
        if items.features is None:
            raise UserError("GuardedSLD needs features: give those of the items")
        assert isinstance(self.reduction_, FeatureView)
        return self.reduction_(items.features)

    def _represent_items(self, items: Items) -> GuardedItems:
        seen = self._seen(items)
        calibrated, ratios = [], []
        for learnt, members in zip(self.learnt_, seen.committees, strict=True):
            calibrated.append(
                [np.ascontiguousarray(learnt.sld.calibrator_(member).T) for member in members]
            )
            ratios.append([learnt.sld._represent(member) for member in members])
        subclass_items = self.subclass_sld_._represent_items(self.unguarded_items(items))
        cells = self.scored_.place(seen.committees[self.chosen_])
        return GuardedItems(subclass_items, calibrated, ratios, seen.position, cells)

    @in_one_thread
    def _solve(
        self, representation: GuardedItems, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        mixed, diagnostics = self.subclass_sld_._solve(representation.subclasses, index, weights)
        shares = modelled_shares(diagnostics, FAMILY[self.mode_])
        by_member = [
            np.stack([sample_means(rows, index, weights) for rows in members], axis=1)
            for members in representation.calibrated
        ]
        pcc = [members.mean(axis=1) for members in by_member]
        sld = [
            np.mean([learnt.sld._solve(rows, index, weights)[0] for rows in members], axis=0)
            for learnt, members in zip(self.learnt_, representation.ratios, strict=True)
        ]
        samples = [
            self._distinct(representation, f, rows, weights)
            for f, rows in zip(shares, index, strict=True)
        ]
        tests = [
            self.training_.compared(representation.position[rows], f, FAMILY[self.mode_], w)
            for f, (rows, w) in zip(shares, samples, strict=True)
        ]
        counts, means = self._described(representation, samples)
        by_features = np.array([test.refuted for test in tests])
        by_scores, in_doubt = np.zeros((2, len(index)), dtype=bool)
        tested: Diagnostics = {}
        if FAMILY[self.mode_] == "prior":
            tested = in_arrays(
                [self.scored_.test(*described) for described in zip(counts, means, strict=True)]
            )
            by_features |= refuting(tested, BY_FEATURES)
            by_scores = refuting(tested, BY_SCORES)
            in_doubt = by_features & ~by_scores & np.array([test.mostly_explains for test in tests])
            tested = {**tested, **self._jointly(representation, samples, by_features)}
        refuted, covariate = by_features | by_scores, pcc[self.chosen_]
        p_hat = self._chosen(mixed, covariate, refuted & ~in_doubt)
        return p_hat / p_hat.sum(axis=1, keepdims=True), {
            "refuted": refuted,
            "auc": np.array([test.auc for test in tests]),
            "z": np.array([test.z for test in tests]),
            "explained": np.array([test.explained for test in tests]),
            "in_doubt": in_doubt,
            "mixed": mixed,
            "covariate": covariate,
            "covariate_by_classifier": np.stack(pcc, axis=1),
            "prior_by_classifier": np.stack(sld, axis=1),
            "members": by_member[self.chosen_],
            "label_variance": _label_variance(
                representation.calibrated[self.chosen_], index, weights
            ),
            "cell_counts": counts,
            "feature_means": means,
            **tested,
        }

    def _chosen(self, mixed: Prevalences, covariate: Prevalences, refuted: Flags) -> Prevalences:
        """The estimates, (n_samples, n_classes), given those under the assumptions."""
        if self.assume == Assumption.PRIOR:
            return mixed
        if self.assume == Assumption.COVARIATE:
            return covariate
        alternative = covariate
        if AFTER_REFUTATION[self.mode_] == Assumption.BETWEEN:
            moved = np.abs(mixed - self.prior_).sum(axis=1, keepdims=True) / 2
            alternative = covariate + np.minimum(moved / MOVED, 1.0) * (mixed - covariate)
        return np.where(refuted[:, np.newaxis], alternative, mixed)

    def _distinct(
        self, seen: GuardedItems, shares: Reals, rows: Indices, weights: Weights | None
    ) -> WeightedRows:
        """A sample as the tests see it: copies of an item are one item with their weight."""
        sample_weights = None if weights is None else weights[rows]
        kept, of_kept = self.training_.distinct(seen.position[rows], shares, sample_weights)
        return rows[kept], of_kept

    def _jointly(
        self, seen: GuardedItems, samples: Sequence[WeightedRows], selected: Flags
    ) -> Diagnostics:
        """Limits of `mixed_shift` for selected samples, (n_samples, n_classes); NaN elsewhere."""
        low, high = np.full((2, len(samples), len(self.classes_)), np.nan)
        q = np.mean(seen.calibrated[self.chosen_], axis=0).T
        for i in np.flatnonzero(selected).tolist():
            rows, weights = samples[i]
            items = MixedItems.of(q[rows], seen.position[rows], weights, seed=self.random_state)
            shift = mixed_shift(self.mixed_training_, items)
            low[i], high[i] = shift.low, shift.high
        return {"jointly_low": low, "jointly_high": high}

    def _described(
        self, seen: GuardedItems, samples: Sequence[WeightedRows]
    ) -> tuple[Reals, Reals]:
        """What `score_test` needs: counts of cells and means of features, a row per sample."""
        counts = [self.scored_.counts_of(seen.cells[:, rows], w) for rows, w in samples]
        means = [np.average(seen.position[rows], axis=0, weights=w) for rows, w in samples]
        return np.stack(counts), np.stack(means)


def _label_variance(calibrated: Sequence[Reals], index: Indices, weights: Weights | None) -> Reals:
    """Mean of q (1 - q) over the items of each sample, q the mean posterior of the models."""
    q = np.mean(calibrated, axis=0)
    return sample_means(np.ascontiguousarray(q * (1 - q)), index, weights)


def _learnt(
    classifier: BaseEstimator,
    X: Any,
    codes: Codes,
    n_classes: int,
    folds: Indices,
    weights: Weights | None,
    seed: int,
) -> Learnt:
    posteriors, models = cross_fit(
        classifier, X, codes, np.arange(n_classes), folds, weights=weights
    )
    true_posteriors = posteriors[np.arange(len(codes)), codes]
    loss = -np.average(np.log(np.maximum(true_posteriors, 1e-12)), weights=weights)
    sld = SLD(random_state=seed).fit_posteriors(posteriors, codes, sample_weight=weights)
    return Learnt(models, posteriors, sld, float(loss))


def _default_classifiers(X: Any) -> list[BaseEstimator]:
    if issparse(X):
        return [LogisticRegression(C=10.0, max_iter=2000)]
    from sklearn.ensemble import HistGradientBoostingClassifier

    boosting = HistGradientBoostingClassifier(
        max_iter=100, learning_rate=0.06, max_leaf_nodes=12, early_stopping=False, random_state=0
    )
    return [make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)), boosting]


def _narrow(X: Any) -> Any:
    """A few sparse features as a dense matrix, which every classifier accepts."""
    return X.toarray() if issparse(X) and X.shape[1] <= WIDE else X
