"""The accuracy of the classifier on a batch, estimated without labels, and a sentence about it.

Where label shift is refuted, or covariate shift is declared, it is estimated from the change of the
classifier's mean confidence; where there is evidence for label shift, from its error rates on each
class in training and the estimated shares (LEAP); where there is evidence for neither, between the
two, as for other measures (`quantshift.adapting.adaptation`). The limits are those of all
estimators that the evidence leaves possible; if a range is too wide to act upon, as with shares,
there is no estimate.
"""

from collections.abc import Mapping
from functools import cached_property

from quantshift.adapting.adaptation import label_shift_weight
from quantshift.answers.kinds import RANGE
from quantshift.diagnosis.accuracy import HeldOutErrors, sample_accuracy
from quantshift.intervals.engine import training_replicate
from quantshift.quantifiers.base.guarding import AGREEMENT, COVARIATE, NO_EVIDENCE, REFUTED, WIDEST
from quantshift.quantifiers.base.items import Items, uneven
from quantshift.quantifying.estimating.decision import Decision, Evidence, allow_for_unknown
from quantshift.quantifying.output.result import Audited, ClassifierAccuracy
from quantshift.quantifying.training.model import Model

MOST_REPLICATES = 200

BY_CONFIDENCE = ("confidence", "atc")
EVERY = ("leap", *BY_CONFIDENCE)
"""The estimators: those that rely on the classifier's confidence, and all."""


class AccuracyOfBatches:
    """The accuracy on one batch after another; all share the replicates of the training side."""

    def __init__(self, model: Model, *, level: float, n_bootstrap: int, seed: int) -> None:
        self.model, self.level, self.seed = model, level, seed
        self.n_replicates = min(n_bootstrap, MOST_REPLICATES)

    @cached_property
    def errors(self) -> HeldOutErrors:
        """The errors on the held-out training items."""
        held_out, codes = self.model.held_out
        weights = self.model.base.held_out_.weights
        return HeldOutErrors(held_out, codes, len(self.model.classes), weights)

    @cached_property
    def replicates(self) -> list[HeldOutErrors]:
        """The same on bootstrap replicates of these items."""
        return [
            self.errors.drawn(training_replicate(self.model.base, number, seed=self.seed))
            for number in range(self.n_replicates)
        ]

    def of(
        self, items: Items, evidence: Evidence, audit: Audited | None
    ) -> ClassifierAccuracy | None:
        """The accuracy on one batch; None where it cannot be estimated.

        audit: if its labels contradict the shares, they contradict an accuracy based on them too.
        """
        # LEAP needs adjusted shares: those of a method that only counts predictions are biased.
        only_counts = not self.model.quantifier.tags.adjusts
        unknown = evidence.no_estimate_reason or only_counts or not self.model.is_trained
        if unknown or not len(self.model.held_out[0]) or (audit is not None and audit.contradicts):
            return None
        weights = uneven(items.weights)
        if weights is not None:
            items = items.take(weights.nonzero()[0])
        methods, possible = methods_for(evidence.decision, evidence.support)
        estimates = {method: self._by(method, items, evidence) for method in possible}
        training, level = self.errors.accuracy, self.level
        low = min(limits[1] for limits in estimates.values())
        high = max(limits[2] for limits in estimates.values())
        if evidence.decision.kind == RANGE and evidence.none_of_these is not None:
            # Predictions for items like those of no class may all be wrong.
            low, high = allow_for_unknown(low, high, evidence.none_of_these)
        estimate = None
        if evidence.decision.kind != RANGE or high - low <= WIDEST:
            estimate = sum(weight * estimates[method][0] for method, weight in methods.items())
        return ClassifierAccuracy(
            estimate=estimate,
            low=low,
            high=high,
            training=training,
            method=" and ".join(method.upper() for method in methods),
            sentence=accuracy_sentence(estimate, low, high, training, level, evidence.decision),
        )

    def _by(self, method: str, items: Items, evidence: Evidence) -> tuple[float, float, float]:
        return sample_accuracy(
            self.errors,
            self.replicates,
            Items(self.model.posteriors(items), weights=uneven(items.weights)),
            evidence.interval.prevalence,
            evidence.interval.replicates,
            method=method,
            level=self.level,
            seed=self.seed,
        )


def methods_for(
    decision: Decision, support: float | None = None
) -> tuple[Mapping[str, float], tuple[str, ...]]:
    """The estimators that the evidence supports, with their weights; and those whose limits count.

    support: of label shift by the sample, as in `quantshift.adapting.adaptation`; None: unknown.
    """
    if decision.reason in (NO_EVIDENCE, AGREEMENT):
        weight = label_shift_weight(decision.reason, support)
        return {"leap": weight, "confidence": 1 - weight}, EVERY
    if decision.reason == REFUTED:
        return {"confidence": 1.0}, EVERY
    if decision.rests_on == COVARIATE:
        return {"confidence": 1.0}, BY_CONFIDENCE
    return {"leap": 1.0}, ("leap",)


def accuracy_sentence(
    estimate: float | None,
    low: float,
    high: float,
    training: float,
    level: float,
    decision: Decision,
) -> str:
    """The accuracy in a sentence, with the assumption under which it holds."""
    limits = f"{100 * low:.0f} to {high:.0%}"
    in_training = f"{training:.0%} in training"
    if estimate is None:
        return (
            "The accuracy of the classifier on this sample cannot be estimated without labels: the "
            f"assumptions allow {limits} ({in_training})."
        )
    if decision.kind == RANGE:
        return (
            f"The accuracy of the classifier on this sample is about {estimate:.0%} (range "
            f"{limits}, not a confidence interval; {in_training})."
        )
    text = (
        f"The accuracy of the classifier on this sample is about {estimate:.0%} ({100 * level:g}% "
        f"interval {limits}; {in_training})"
    )
    by_confidence = ", judging by its own confidence" if decision.rests_on == COVARIATE else ""
    return f"{text}{by_confidence}."
