"""An answer in a few lines, for the interactive shell or a notebook."""

from collections.abc import Sequence
from typing import NamedTuple

from quantshift.answers.shares import SharesOfBatch
from quantshift.answers.text import aligned
from quantshift.answers.words import estimates_and_limits, one_line, shortened
from quantshift.base.nouns import counted

MOST_ROWS = 10
"""The most rows of classes or batches to show; the rest are only counted."""

MOST_CLASSES = 4
"""The most classes in a line."""


class Summary(NamedTuple):
    """Sentences, the headline first, and a table with its header; some of its rows are shown."""

    notes: Sequence[str]
    table: Sequence[Sequence[str]]


def few_lines(notes: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """Sentences, the headline first, then the first rows of a table under its header."""
    head, *rows = table
    lines = [*notes, *aligned([head, *rows[:MOST_ROWS]]), *_more(rows)]
    return "\n".join(map(one_line, lines))


def small_table(notes: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """The same as HTML."""
    from html import escape  # late, because it reads a list of two thousand names

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
    texts_of_shares = zip(shares, estimates_and_limits(shares), strict=True)
    texts = [
        f"{shortened(s.label)} {estimate} ({bounds})" for s, (estimate, bounds) in texts_of_shares
    ]
    more = ["..."] if len(batch.shares) > MOST_CLASSES else []
    name, items = shortened(batch.name), counted(batch.n_items, "item")
    return f"<{type(batch).__name__} {name!r} of {items}: {', '.join([*texts, *more])}>"


def _more(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"... and {len(rows) - MOST_ROWS:,} more"] if len(rows) > MOST_ROWS else []
