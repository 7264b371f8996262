"""The classifier on a batch: the usual measures without labels, as trained and after correction.

The evidence on the batch decides how far its probabilities may be corrected
(`quantshift.measuring.adapting.adaptation`) and whether limits are an interval or a range. Only
measures of predicted classes are estimated here, which cost little; `quantshift.performance` has
the others.
"""

from functools import cached_property

import numpy as np

from quantshift.base.types import Posteriors, Prevalences, Reals
from quantshift.claims import WIDEST, Assumption, Facts, Kind, decide, shares_by_assumption
from quantshift.classify.calibration.calibration import NoCalibration
from quantshift.items.items import Items, uneven
from quantshift.measuring.adapting.adaptation import strength_of
from quantshift.measuring.adapting.correction import Correction, smoothed
from quantshift.measuring.estimate import Measured, PerformanceEstimator, Sample, Use
from quantshift.measuring.measures.registry import chosen_measures
from quantshift.quantifiers.likelihood.sld import AbstractLikelihood
from quantshift.quantifying.estimating.unlabelled import Evidence, allow_for_unknown
from quantshift.quantifying.result import Audited, ClassifierPerformance, MeasureValue
from quantshift.quantifying.training.model import Model

BY_CLASS = ("accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1")
MOST_REPLICATES = 60

MOST_ITEMS = 2000
"""Replicates of larger batches use this many random items."""


def correction_for(model: Model, evidence: Evidence, n_items: int) -> Correction:
    """The correction of the model's probabilities that the evidence on a batch allows.

    n_items: of the batch. The strength is 0 where nothing can be estimated.
    """
    prior = model.base.prior_
    if evidence.no_estimate_reason or not model.is_trained:
        return Correction(prior, prior, 0.0)
    strength = strength_of(decide(facts_of(model, evidence)), evidence.p_doubles)
    trained = _trained(model)
    calibrator = NoCalibration() if trained is None else trained.calibrator_
    return Correction(prior, smoothed(_shares(evidence), n_items), strength, calibrator)


def corrections_for_either(
    model: Model, evidence: Evidence, n_items: int
) -> tuple[Correction, Correction] | None:
    """The corrections under prior and under covariate shift; None unless either may hold."""
    if evidence.grounds.kind is not Kind.EITHER:
        return None
    prior, trained = model.base.prior_, _trained(model)
    calibrator = NoCalibration() if trained is None else trained.calibrator_
    changed = smoothed(_shares(evidence), n_items)
    return (
        Correction(prior, changed, calibrator=calibrator),
        Correction(prior, prior, calibrator=calibrator),
    )


def facts_of(model: Model, evidence: Evidence) -> Facts:
    """What is known of the shares to which probabilities would be corrected.

    A chosen method that does not adjust assumes that the probabilities are right.
    """
    facts = evidence.facts
    if facts.rests_on is Assumption.METHOD and not model.quantifier.tags.adjusts:
        return Facts(Assumption.COVARIATE, declared=Assumption.COVARIATE)
    return facts


class PerformanceOfBatches:
    """The measures on one batch after another; all share the refits of the training side."""

    def __init__(self, model: Model, *, level: float, n_bootstrap: int, seed: int) -> None:
        self.model, self.level, self.seed = model, level, seed
        self.n_replicates = min(n_bootstrap, MOST_REPLICATES)

    @cached_property
    def estimator(self) -> PerformanceEstimator | None:
        """None if the model has no held-out probabilities to learn from."""
        trained = _trained(self.model)
        if trained is None or not self.model.is_trained or not len(self.model.held_out[0]):
            return None
        return PerformanceEstimator(
            trained,
            chosen_measures(BY_CLASS, costs=False),
            classes=self.model.classes,
            level=self.level,
            n_replicates=self.n_replicates,
            seed=self.seed,
            most_items=MOST_ITEMS,
        )

    @cached_property
    def training(self) -> Reals:
        """The values on held-out training items."""
        assert self.estimator is not None
        return self.estimator.in_training(_use(self.model.held_out[0]))

    def of(
        self, items: Items, evidence: Evidence, audit: Audited | None
    ) -> ClassifierPerformance | None:
        """The measures on one batch; None where they cannot be estimated.

        audit: if its labels contradict the shares, they contradict measures based on them too.
        """
        contradicted = audit is not None and audit.contradicts
        if evidence.no_estimate_reason or contradicted or self.estimator is None:
            return None
        weights = uneven(items.weights)
        if weights is not None:
            items = items.take(weights.nonzero()[0])
            weights = items.weights
        posteriors = self.model.posteriors(items)
        correction = correction_for(self.model, evidence, len(items))
        facts = facts_of(self.model, evidence)
        sample = Sample(posteriors, correction.prevalence, facts, weights, evidence.support)
        uses = [_use(posteriors)]
        if correction.strength > 0:
            uses.append(_use(correction(posteriors)))
        performances = self.estimator.of(sample, uses, self.training)
        unknown = (evidence.none_of_these or 0.0) if sample.grounds.kind.is_range else 0.0
        as_trained, *corrected = (
            tuple(_value(each, unknown) for each in use.measured) for use in performances
        )
        return ClassifierPerformance(
            kind=sample.grounds.kind,
            strength=correction.strength,
            as_trained=as_trained,
            corrected=corrected[0] if corrected else (),
            confusion=tuple(tuple(row) for row in performances[0].table.tolist()),
        )


def _use(posteriors: Posteriors) -> Use:
    return Use(posteriors, posteriors.argmax(axis=1))


def _trained(model: Model) -> AbstractLikelihood | None:
    return model.base if isinstance(model.base, AbstractLikelihood) else None


def _shares(evidence: Evidence) -> Prevalences:
    """The shares of the classes if only they changed."""
    found = shares_by_assumption(evidence.alternatives)
    return found.get(Assumption.PRIOR, evidence.interval.prevalence)


def _value(measured: Measured, unknown: float) -> MeasureValue:
    """A measure, whose limits allow for a share of items like those of no class."""
    low, high = allow_for_unknown(measured.low, measured.high, unknown)
    estimate = np.nan if unknown and high - low > WIDEST else measured.estimate
    numbers = (estimate, low, high, measured.training)
    return MeasureValue(
        measured.measure,
        measured.label,
        *(None if np.isnan(number) else float(number) for number in numbers),
    )
