"""A quantification in a few lines, for a prompt or a notebook."""

from html import escape
from itertools import islice

from quantshift.own_data.rendering import alarms, aligned, answer, estimate_said, marks, shown
from quantshift.own_data.result import Quantification
from quantshift.own_data.words import limits, shortened

MOST_ROWS = 10
"""Of classes or batches; the rest is counted."""


def short_text(result: Quantification) -> str:
    """The shares of one batch, or the headline's share in each of several."""
    head, *rows = _table(result)
    lines = [*alarms(result), *aligned([head, *rows[:MOST_ROWS]])]
    if len(rows) > MOST_ROWS:
        lines.append(f"... and {len(rows) - MOST_ROWS:,} more")
    if len(result.batches) == 1:
        lines = [answer(result, result.batches[0]), *lines]
    return "\n".join(lines)


def short_table(result: Quantification) -> str:
    """The same as HTML, without scripts or styles that reach beyond the table."""
    head, *rows = _table(result)
    notes = [*alarms(result)]
    if len(result.batches) == 1:
        notes.insert(0, answer(result, result.batches[0]))
    if len(rows) > MOST_ROWS:
        notes.append(f"... and {len(rows) - MOST_ROWS:,} more")
    lines = ["<table><thead><tr>", *(f"<th>{escape(cell)}</th>" for cell in head), "</tr></thead>"]
    for row in islice(rows, MOST_ROWS):
        lines += ["<tr>", *(f"<td>{escape(cell)}</td>" for cell in row), "</tr>"]
    told = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<div>{told}{''.join(lines)}</table></div>"


def _table(result: Quantification) -> list[list[str]]:
    interval = f"{100 * result.level:g} % interval"
    if len(result.batches) == 1:
        (batch,) = result.batches
        rows = [
            [shown(result, s.label), estimate_said(s), limits(s.low, s.high), ""]
            for s in batch.shares
        ]
        return [["class", "share", interval, ""], *rows]
    rows = []
    for batch in result.batches:
        share = next(s for s in batch.shares if s.label == result.headline)
        told = [estimate_said(share), limits(share.low, share.high), ", ".join(marks(batch))]
        rows.append([shortened(batch.name), f"{batch.n_items:,}", *told])
    return [["batch", "items", shown(result, result.headline), interval, ""], *rows]
