"""How often the classifier is right on a batch, and the sentence that says so.

Where label shift is refuted, or covariate shift assumed, it follows from how sure the classifier is
(ATC), else from its errors on each class in training and the shares that were found (LEAP).
"""

from functools import cached_property

from quantshift.accuracy import HeldOutErrors, sample_accuracy
from quantshift.intervals import training_replicate
from quantshift.own_data.evidence import Evidence
from quantshift.own_data.guard import ASSUMED, UNEXPLAINED
from quantshift.own_data.model import Model
from quantshift.own_data.result import Audited, ClassifierAccuracy
from quantshift.quantifiers.items import Items, uneven

MOST_REPLICATES = 200


class AccuracyOfBatches:
    """The accuracy on batch after batch; the replicates of the training side are shared."""

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
        """The same on drawn ones."""
        return [
            self.errors.drawn(training_replicate(self.model.base, number, seed=self.seed))
            for number in range(self.n_replicates)
        ]

    def of(
        self, items: Items, evidence: Evidence, audit: Audited | None
    ) -> ClassifierAccuracy | None:
        """Of one batch; None where nothing can be said of it.

        audit: labels that contradict the shares contradict what follows from them.
        """
        # Counting answers does not find the shares that LEAP needs.
        counts = not self.model.quantifier.adjusts
        unknown = evidence.why_not or counts or not self.model.is_trained
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
            said=said(estimate, low, high, training, self.level, kind),
        )


def said(
    estimate: float, low: float, high: float, training: float, level: float, kind: str | None
) -> str:
    """The sentence, and under which assumption it holds."""
    text = (
        f"The accuracy of the classifier on this sample is about {estimate:.0%} ({100 * level:g}% "
        f"interval {100 * low:.0f} to {high:.0%}; {training:.0%} in training)"
    )
    if kind == UNEXPLAINED:
        return (
            f"{text}, judging by its own confidence: label shift is refuted, and this holds "
            f"only if that "
            "confidence is well calibrated."
        )
    if kind == ASSUMED:
        return f"{text}, judging by its own confidence."
    return f"{text}."
