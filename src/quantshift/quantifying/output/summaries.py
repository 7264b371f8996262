"""A quantification and a model in a few lines, for the interactive shell."""

from collections.abc import Iterator

from quantshift.answers.kinds import limits_head
from quantshift.answers.notebook import MOST_ROWS, Summary
from quantshift.answers.shares import headline_share
from quantshift.answers.text import column_names, shown
from quantshift.answers.words import estimates_and_limits, shortened
from quantshift.quantifying.output.advice import accuracy_text
from quantshift.quantifying.output.result import Quantification
from quantshift.quantifying.output.text import (
    alarms,
    answer,
    declared_line,
    extremes,
    marks,
    several_head,
)
from quantshift.quantifying.training.model import Model


def summary_of(result: Quantification) -> Summary:
    """The shares of one batch, or the share of the headline class in each of several batches."""
    return Summary(_notes(result), _table(result))


def model_lines(model: Model) -> Iterator[str]:
    """What a model was trained on, and how."""
    training, columns = model.training, model.columns
    if model.is_trained:
        counts = ", ".join(
            f"{shortened(model.names[label])} {n:,}"
            for label, n in list(training.counts.items())[:MOST_ROWS]
        )
        more = ", ..." if len(training.counts) > MOST_ROWS else ""
        yield (
            f"Model of {shortened(columns.label or '')!r}, trained on {training.n_items:,} rows of "
            f"{shortened(training.source)} ({counts}{more})"
        )
    else:
        yield f"Model without training, of {len(model.classes):,} classes"
    left_out = f"; {len(columns.left_out):,} left out" if columns.left_out else ""
    yield f"Columns  {len(columns.content):,} used: {column_names(columns.content)}{left_out}"
    accuracy = training.accuracy
    how = "" if accuracy is None else f"; {accuracy_text(training.classifier, accuracy)}"
    yield f"Method   {model.method}{how}"
    if model.groups is not None:
        yield f"Groups   {len(model.groups.groups):,} of {shortened(model.groups.column)!r}"


def _notes(result: Quantification) -> list[str]:
    several = len(result.batches) > 1
    headline = extremes(result) if several else [answer(result, result.batches[0])]
    return [*headline, *declared_line(result), *alarms(result)]


def _table(result: Quantification) -> list[list[str]]:
    if len(result.batches) == 1:
        (batch,) = result.batches
        interval = limits_head(batch.kind, result.level)
        rows = [
            [shown(result, share.label), *cells, ""]
            for share, cells in zip(batch.shares, estimates_and_limits(batch.shares), strict=True)
        ]
        return [["class", "share", interval, ""], *rows]
    texts = estimates_and_limits([headline_share(result, batch) for batch in result.batches])
    rows = [
        [shortened(batch.name), f"{batch.n_items:,}", *cells, ", ".join(marks(batch))]
        for batch, cells in zip(result.batches, texts, strict=True)
    ]
    head = several_head(result)
    return [["batch", "items", shown(result, result.headline), head, ""], *rows]
