"""The classifier's measures on a batch, in short lines."""

from collections.abc import Iterator

from quantshift.answers.text import shown
from quantshift.quantifying.result import AbstractQuantification, Batch, MeasureValue

WORTH_SAYING = 0.01
"""A correction that changes the accuracy by less is not mentioned."""


def performance_lines(result: AbstractQuantification, batch: Batch) -> Iterator[str]:
    """Precision and recall of the headline class, and what a correction does to the accuracy."""
    performance = batch.performance
    if performance is None:
        return
    lead = shown(result, result.headline)
    precision, recall = (
        performance.value(name, result.headline) for name in ("precision", "recall")
    )
    measures = [
        f"{name} {_with_limits(value)}"
        for name, value in (("precision", precision), ("recall", recall))
        if value is not None and value.low is not None
    ]
    if measures:
        what = " (ranges)" if performance.kind.is_range else ""
        yield f"For {lead}: {', '.join(measures)}{what}."
    before, after = performance.value("accuracy"), performance.value("accuracy", corrected=True)
    if before is None or after is None or before.estimate is None or after.estimate is None:
        return
    gain = after.estimate - before.estimate
    if gain >= WORTH_SAYING:
        partly = "partly " if performance.strength < 1 else ""
        yield (
            f"Probabilities that are {partly}corrected to these shares raise the accuracy to about "
            f"{after.estimate:.0%}."
        )


def performance_columns(result: AbstractQuantification) -> list[str]:
    """Headings of the measures of the headline class in a table by batch."""
    lead = shown(result, result.headline)
    return [f"{name}, {lead}" for name in ("precision", "recall")]


def performance_cells(result: AbstractQuantification) -> Iterator[list[str]]:
    """For each batch accuracy, precision, recall and the corrected accuracy; empty if unknown."""
    for batch in result.batches:
        performance = batch.performance
        if performance is None:
            yield []
            continue
        values = [
            performance.value("accuracy"),
            *(performance.value(name, result.headline) for name in ("precision", "recall")),
            performance.value("accuracy", corrected=True),
        ]
        yield ["" if value is None or value.low is None else _in_short(value) for value in values]


def _in_short(value: MeasureValue) -> str:
    assert value.low is not None
    assert value.high is not None
    limits = f"{100 * value.low:.0f} to {value.high:.0%}"
    return limits if value.estimate is None else f"{value.estimate:.0%} ({limits})"


def _with_limits(value: MeasureValue) -> str:
    return _in_short(value) if value.estimate is None else f"about {_in_short(value)}"
