"""The accuracy of the classifier on a batch, out of all its measures, and a sentence about it."""

from quantshift.claims import Kind
from quantshift.quantifying.result import ClassifierAccuracy, ClassifierPerformance


def accuracy_of(
    performance: ClassifierPerformance, level: float, *, by_confidence: bool
) -> ClassifierAccuracy:
    """The accuracy as trained.

    by_confidence: whether it rests on the classifier's own probabilities alone, because they are
    declared to be right.
    """
    value = next(
        each for each in performance.as_trained if (each.measure, each.label) == ("accuracy", None)
    )
    assert value.low is not None
    assert value.high is not None
    assert value.training is not None
    return ClassifierAccuracy(
        label=value.measure,
        estimate=value.estimate,
        low=value.low,
        high=value.high,
        training=value.training,
        sentence=_sentence(
            value.estimate,
            f"{100 * value.low:.0f} to {value.high:.0%}",
            f"{value.training:.0%} in training",
            performance.kind,
            f"{100 * level:g}%",
            by_confidence=by_confidence,
        ),
    )


def _sentence(
    estimate: float | None,
    limits: str,
    in_training: str,
    kind: Kind,
    level: str,
    *,
    by_confidence: bool,
) -> str:
    """The accuracy in words, with what it rests on."""
    if estimate is None:
        return (
            "The accuracy of the classifier on this sample cannot be estimated without labels: the "
            f"assumptions allow {limits} ({in_training})."
        )
    about = f"The accuracy of the classifier on this sample is about {estimate:.0%}"
    if kind.is_range:
        return f"{about} (range {limits}, not a confidence interval; {in_training})."
    basis = ", judging by its own confidence" if by_confidence else ""
    return f"{about} ({level} interval {limits}; {in_training}){basis}."
