"""A quantification in a few lines, for the interactive shell or a notebook."""

from collections.abc import Iterator, Sequence
from html import escape

from quantshift.base.nouns import counted
from quantshift.quantifying.output.result import Quantification, SharesOfBatch
from quantshift.quantifying.output.text import (
    alarms,
    aligned,
    answer,
    column_names,
    extremes,
    headline_share,
    marks,
    several_head,
    shown,
)
from quantshift.quantifying.output.words import (
    accuracy_text,
    estimates_and_limits,
    limits_head,
    one_line,
    shortened,
)
from quantshift.quantifying.training.model import Model

MOST_ROWS = 10
"""The most rows of classes or batches to show; the rest are only counted."""

MOST_CLASSES = 4
"""The most classes in a line."""


def short_text(result: Quantification) -> str:
    """The shares of one batch, or the share of the headline class in each of several batches."""
    return few_lines(_notes(result), _table(result))


def short_table(result: Quantification) -> str:
    """The same as HTML, without scripts or styles that affect anything outside the table."""
    return small_table(_notes(result), _table(result))


def few_lines(notes: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """Sentences, the headline first, then the first rows of a table under its header."""
    head, *rows = table
    lines = [*notes, *aligned([head, *rows[:MOST_ROWS]]), *_more(rows)]
    return "\n".join(map(one_line, lines))


def small_table(notes: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """The same as HTML."""
    head, *rows = table
    lines = ["<table><thead><tr>", *(f"<th>{escape(cell)}</th>" for cell in head), "</tr></thead>"]
    for row in rows[:MOST_ROWS]:
        lines += ["<tr>", *(f"<td>{escape(cell)}</td>" for cell in row), "</tr>"]
    headline, *others = map(escape, notes)
    paragraphs = "".join(f"<p>{note}</p>" for note in others)
    more = "".join(f"<p>{note}</p>" for note in _more(rows))
    table_lines = f"{''.join(lines)}</table>"
    return f"<div><p><strong>{headline}</strong></p>{paragraphs}{table_lines}{more}</div>"


def batch_line(batch: SharesOfBatch) -> str:
    """The first shares of a batch."""
    shares = batch.shares[:MOST_CLASSES]
    found = zip(shares, estimates_and_limits(shares), strict=True)
    told = [f"{shortened(s.label)} {estimate} ({bounds})" for s, (estimate, bounds) in found]
    more = ["..."] * (len(batch.shares) > MOST_CLASSES)
    name, items = shortened(batch.name), counted(batch.n_items, "item")
    return f"<{type(batch).__name__} {name!r} of {items}: {', '.join([*told, *more])}>"


def model_lines(model: Model) -> Iterator[str]:
    """What a model was trained on, and how."""
    training, columns = model.training, model.columns
    if model.is_trained:
        counts = ", ".join(
            f"{shortened(model.names[label])} {n:,}"
            for label, n in list(training.counts.items())[:MOST_ROWS]
        )
        more = ", ..." * (len(training.counts) > MOST_ROWS)
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
    return [*headline, *alarms(result)]


def _more(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"... and {len(rows) - MOST_ROWS:,} more"] if len(rows) > MOST_ROWS else []


def _table(result: Quantification) -> list[list[str]]:
    if len(result.batches) == 1:
        (batch,) = result.batches
        interval = limits_head(batch.limits_are, result.level)
        rows = [
            [shown(result, share.label), *cells, ""]
            for share, cells in zip(batch.shares, estimates_and_limits(batch.shares), strict=True)
        ]
        return [["class", "share", interval, ""], *rows]
    found = estimates_and_limits([headline_share(result, batch) for batch in result.batches])
    rows = [
        [shortened(batch.name), f"{batch.n_items:,}", *cells, ", ".join(marks(batch))]
        for batch, cells in zip(result.batches, found, strict=True)
    ]
    head = several_head(result)
    return [["batch", "items", shown(result, result.headline), head, ""], *rows]
