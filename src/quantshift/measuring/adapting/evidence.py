"""What a sample shows about the shares of the classes, and how far that can be trusted.

A guarded method (`quantshift.quantifiers.base.guarding`) tests on the features of the sample
whether only the shares changed. If an assumption is declared there is nothing to test, and only a
quantifier is fitted. Where the features cannot be tested (cells that are missing or not numbers,
and no pipeline that prepares them) two tests of the scores remain, which are never evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.claims import Assumption, Facts
from quantshift.classify.classifier import cross_fit, predict_posteriors
from quantshift.classify.features import feature_matrix
from quantshift.errors import UserError
from quantshift.items.items import Items
from quantshift.measuring.adapting.coded_classifier import CodedClassifier
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.base.guarding import AUTO, AbstractGuarded, Assume
from quantshift.quantifiers.likelihood.examined_posteriors import examined_posteriors
from quantshift.quantifiers.likelihood.guarded_sld import GuardedSLD
from quantshift.quantifiers.likelihood.sld import SLD

ALPHA = 2.0
"""Prior of SLD's shares: as if one item of each class had been added to the sample. Probabilities
that are corrected to a share of zero would be zero, and then infinitely wrong: over eight tables
the log-loss was .340, without a prior .354, at the true shares .331."""


@dataclass(frozen=True, eq=False)
class SampleEvidence:
    """What one sample shows.

    prevalence: the shares of the classes if only they changed. facts: on which the kind of their
    answer depends.
    p_doubles: how likely a sample of selected items looks like this; None if it was not tested.
    support: log-likelihood of label shift minus that of selected items; None if an assumption is
    declared.
    """

    prevalence: Prevalences
    facts: Facts
    p_doubles: float | None = None
    support: float | None = None


@dataclass(frozen=True, eq=False)
class TrainingItems:
    """Labelled items, the classifier fitted on them, and the folds by which they are held out.

    classifier: unfitted, or frozen; fitted: the model whose posteriors are corrected.
    """

    X: Any
    codes: Codes
    classes: NDArray[Any]
    weights: Weights | None
    folds: Indices
    classifier: BaseEstimator | None
    fitted: Any
    seed: int

    def held_out_posteriors(self) -> Posteriors:
        """Posteriors by models that have not seen the items; those of a frozen model as given."""
        if isinstance(self.classifier, FrozenEstimator):
            return predict_posteriors(self.classifier, self.X, self.classes)
        posteriors, _ = cross_fit(
            self.classifier, self.X, self.codes, self.classes, self.folds, weights=self.weights
        )
        return posteriors


@dataclass(frozen=True, eq=False)
class FeatureSteps:
    """The features of items as a guarded method sees them.

    steps: the first steps of a pipeline that turn items into numbers; None: items are numbers.
    """

    steps: Pipeline | None

    def __call__(self, X: Any) -> Any:
        """The features of the items."""
        X = X if hasattr(X, "shape") or self.steps is not None else feature_matrix(X)
        return X if self.steps is None else self.steps.transform(X)


@dataclass(frozen=True, eq=False)
class Examiner:
    """Fitted on the training items, it says what samples show.

    plain: SLD on the held-out posteriors, which also calibrates them. quantifier: the user's, whose
    shares are used; None: those of `plain`. guard: tests the samples, on features
    made by `preparation`; None: nothing is tested, or only scores can be.
    """

    assume: Assume
    plain: SLD
    quantifier: AbstractQuantifier | None
    guard: AbstractGuarded | None
    preparation: FeatureSteps

    @classmethod
    def fit(
        cls, training: TrainingItems, quantifier: AbstractQuantifier | None, assume: Assume
    ) -> "Examiner":
        """Fit what the declaration needs. quantifier: unfitted, or None."""
        guard, preparation = None, FeatureSteps(None)
        is_guarded = isinstance(quantifier, AbstractGuarded)
        if assume == AUTO or is_guarded:
            guard, preparation = _fit_guard(training, quantifier if is_guarded else None)
        held_out = (
            training.held_out_posteriors() if guard is None else guard.plain_.held_out_posteriors_
        )
        plain = SLD(prior=ALPHA, random_state=training.seed).fit_posteriors(
            held_out,
            training.codes,
            classes=np.arange(len(training.classes)),
            sample_weight=training.weights,
        )
        fitted = None
        if quantifier is not None and not is_guarded:
            fitted = _fit_quantifier(quantifier, training, plain)
        return cls(assume, plain, fitted, guard, preparation)

    def examine(
        self,
        X: Any,
        posteriors: Posteriors,
        samples: Sequence[Indices],
        weights: Weights | None = None,
    ) -> list[SampleEvidence]:
        """What each sample of the items of X shows. posteriors: of these items, as trained."""
        prevalence = self._prevalence(X, posteriors, samples, weights)
        if self.assume in (Assumption.PRIOR, Assumption.COVARIATE):
            assumption = Assumption(self.assume)
            declared = Facts(assumption, declared=assumption)
            return [SampleEvidence(p, declared) for p in prevalence]
        if self.guard is None:
            examined = examined_posteriors(self.plain, posteriors, samples, weights=weights)
        else:
            items = self.guard.items(self.preparation(X), weights)
            examined = self.guard.examined(self.guard.estimate_items(items, list(samples)))
        tested = self.guard is not None
        return [
            SampleEvidence(
                prevalence[i],
                each.facts,
                float(each.p_values["doubles"]) if tested else None,
                float(each.support),
            )
            for i, each in enumerate(examined)
        ]

    def _prevalence(
        self, X: Any, posteriors: Posteriors, samples: Sequence[Indices], weights: Weights | None
    ) -> Prevalences:
        """The shares by the user's quantifier, or by SLD if there is none."""
        quantifier = self.plain if self.quantifier is None else self.quantifier
        if quantifier.tags.sees_posteriors_only:
            items = Items(posteriors, weights=weights)
        else:
            items = quantifier.items(X, weights)
        return quantifier.estimate_items(items, list(samples)).prevalence


def _fit_quantifier(
    quantifier: AbstractQuantifier, training: TrainingItems, plain: SLD
) -> AbstractQuantifier:
    """The user's quantifier, with the classifier if it has none of its own."""
    own: AbstractQuantifier = clone(quantifier)
    if isinstance(own, AbstractClassifying) and own.tags.sees_posteriors_only:
        return own.fit_posteriors(
            plain.held_out_posteriors_,
            training.codes,
            classes=np.arange(len(training.classes)),
            sample_weight=training.weights,
        )
    options = own.get_params(deep=False)
    if "classifier" in options and options["classifier"] is None:
        own.set_params(classifier=training.classifier)
    return own.fit(training.X, training.classes[training.codes], training.weights)


def _fit_guard(
    training: TrainingItems, quantifier: AbstractQuantifier | None
) -> tuple[AbstractGuarded | None, FeatureSteps]:
    """The guarded method on features that are numbers; None if there are none."""
    classifier, steps = training.classifier, None
    X = training.X
    if not _is_numeric(X):
        fitted = training.fitted
        frozen = isinstance(fitted, FrozenEstimator)
        pipeline = fitted.estimator if frozen else fitted
        if not isinstance(pipeline, Pipeline) or len(pipeline) < 2:
            return None, FeatureSteps(None)
        steps = pipeline[:-1]
        X = steps.transform(X)
        if not _is_numeric(X):
            return None, FeatureSteps(None)
        last = pipeline[-1]
        classifier = FrozenEstimator(last) if frozen else last
    coded = CodedClassifier(classifier, training.classes)
    if quantifier is None:
        guard: Any = GuardedSLD(classifiers=[coded], random_state=training.seed)
    else:
        guard = clone(quantifier)
        if guard.get_params(deep=False)["classifiers"] is None:
            guard.set_params(classifiers=[coded])
    guard.set_params(cv=training.folds)
    preparation = FeatureSteps(steps)
    return guard.fit(preparation(training.X), training.codes, training.weights), preparation


def _is_numeric(X: Any) -> bool:
    try:
        feature_matrix(X)
    except UserError:
        return False
    return True
