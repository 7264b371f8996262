"""A quantification in a few lines, for the interactive shell or a notebook."""

from collections.abc import Sequence
from html import escape

from quantshift.own_data.rendering import (
    alarms,
    aligned,
    answer,
    estimate_text,
    marks,
    several_head,
    shown,
)
from quantshift.own_data.result import Quantification
from quantshift.own_data.words import limits, limits_head, one_line, shortened

MOST_ROWS = 10
"""The most rows of classes or batches to show; the rest are only counted."""


def short_text(result: Quantification) -> str:
    """The shares of one batch, or the share of the headline class in each of several batches."""
    return few_lines(_notes(result), _table(result))


def short_table(result: Quantification) -> str:
    """The same as HTML, without scripts or styles that affect anything outside the table."""
    return small_table(_notes(result), _table(result))


def few_lines(notes: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """Sentences, then the first rows of a table under its header."""
    head, *rows = table
    lines = [*notes, *aligned([head, *rows[:MOST_ROWS]]), *_more(rows)]
    return "\n".join(map(one_line, lines))


def small_table(notes: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """The same as HTML."""
    head, *rows = table
    lines = ["<table><thead><tr>", *(f"<th>{escape(cell)}</th>" for cell in head), "</tr></thead>"]
    for row in rows[:MOST_ROWS]:
        lines += ["<tr>", *(f"<td>{escape(cell)}</td>" for cell in row), "</tr>"]
    paragraphs = "".join(f"<p>{escape(note)}</p>" for note in (*notes, *_more(rows)))
    return f"<div>{paragraphs}{''.join(lines)}</table></div>"


def _notes(result: Quantification) -> list[str]:
    first = [answer(result, result.batches[0])] if len(result.batches) == 1 else []
    return [*first, *alarms(result)]


def _more(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"... and {len(rows) - MOST_ROWS:,} more"] if len(rows) > MOST_ROWS else []


def _table(result: Quantification) -> list[list[str]]:
    if len(result.batches) == 1:
        (batch,) = result.batches
        interval = limits_head(batch.limits_are, result.level)
        rows = [
            [shown(result, s.label), estimate_text(s), limits(s.low, s.high), ""]
            for s in batch.shares
        ]
        return [["class", "share", interval, ""], *rows]
    rows = []
    for batch in result.batches:
        share = next(s for s in batch.shares if s.label == result.headline)
        cells = [estimate_text(share), limits(share.low, share.high), ", ".join(marks(batch))]
        rows.append([shortened(batch.name), f"{batch.n_items:,}", *cells])
    head = several_head(result)
    return [["batch", "items", shown(result, result.headline), head, ""], *rows]
