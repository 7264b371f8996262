"""The accuracy of the classifier on a batch, estimated without labels, and a sentence about it.

Where label shift is refuted, or covariate shift is assumed, it is estimated from the classifier's
confidence (ATC); otherwise from its error rates on each class in training and the estimated shares
(LEAP).
"""

from functools import cached_property

from quantshift.diagnosis.accuracy import HeldOutErrors, sample_accuracy
from quantshift.intervals.prediction import training_replicate
from quantshift.quantifiers.base.items import Items, uneven
from quantshift.quantifying.estimating.after_refutation import ASSUMED, UNEXPLAINED
from quantshift.quantifying.estimating.evidence import Evidence
from quantshift.quantifying.output.result import Audited, ClassifierAccuracy
from quantshift.quantifying.training.model import Model

MOST_REPLICATES = 200


class AccuracyOfBatches:
    """The accuracy on one batch after another; all share the replicates of the training side."""

    def __init__(self, model: Model, *, level: float, n_bootstrap: int, seed: int) -> None:
        self.model, self.level, self.seed = model, level, seed
        self.n_replicates = min(n_bootstrap, MOST_REPLICATES)

    @cached_property
    def errors(self) -> HeldOutErrors:
        """On the held-out training items."""
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
        unknown = evidence.why_not or only_counts or not self.model.is_trained
        if unknown or not len(self.model.held_out[0]) or (audit is not None and audit.contradicts):
            return None
        kind = None if evidence.shift is None else evidence.shift.kind
        method = "atc" if kind in (UNEXPLAINED, ASSUMED) else "leap"
        weights = uneven(items.weights)
        if weights is not None:
            items = items.take(weights.nonzero()[0])
        estimate, low, high = sample_accuracy(
            self.errors,
            self.replicates,
            self.model.posteriors(items),
            evidence.interval.prevalence,
            evidence.interval.replicates,
            method=method,
            level=self.level,
            seed=self.seed,
            weights=uneven(items.weights),
        )
        training = self.errors.accuracy
        return ClassifierAccuracy(
            estimate=estimate,
            low=low,
            high=high,
            training=training,
            method=method.upper(),
            said=accuracy_sentence(estimate, low, high, training, self.level, kind),
        )


def accuracy_sentence(
    estimate: float, low: float, high: float, training: float, level: float, kind: str | None
) -> str:
    """The accuracy in a sentence, with the assumption under which it holds."""
    text = (
        f"The accuracy of the classifier on this sample is about {estimate:.0%} ({100 * level:g}% "
        f"interval {100 * low:.0f} to {high:.0%}; {training:.0%} in training)"
    )
    if kind == UNEXPLAINED:
        return (
            f"{text}, judging by its own confidence: label shift is ruled out, and this holds only "
            "if that confidence is well calibrated."
        )
    if kind == ASSUMED:
        return f"{text}, judging by its own confidence."
    return f"{text}."
