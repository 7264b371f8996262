"""Markdown tables with columns of text."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; a bar inside a cell is escaped.

    >>> print(table(["key", "default"], [["seed", "0"]]))
    | key | default |
    |---|---|
    | seed | 0 |
    """
    lines = [header, *rows]
    cells = ["| " + " | ".join(map(_cell, line)) + " |" for line in lines]
    return "\n".join([cells[0], "|" + "---|" * len(header), *cells[1:]])


def code(text: object) -> str:
    """The text as code, or nothing if it is empty."""
    return f"`{text}`" if str(text) else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
