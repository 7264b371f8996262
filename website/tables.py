"""Markdown tables with text columns."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars inside cells are escaped.

    >>> print(table(["key", "default"], [["seed", "0"]]))
    | key | default |
    |---|---|
    | seed | 0 |
    """
    lines = [header, *rows]
    cells = ["| " + " | ".join(map(_cell, line)) + " |" for line in lines]
    return "\n".join([cells[0], "|" + "---|" * len(header), *cells[1:]])


def code(text: object) -> str:
    """The text as code; empty if the text is."""
    return f"`{text}`" if str(text) else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
