"""Cells that pass through a spreadsheet program safely and come back unchanged.

A spreadsheet takes a cell that begins with = + - @ or a tab for a formula, which may run a program.
Such cells get an apostrophe in front, which makes them text and is removed on reading. The same
goes for text after a line break, a tab or a semicolon within a cell, where a program that expects
another delimiter would begin a new cell. Numbers stay as they are. Reference: OWASP, "CSV
Injection".
"""

import re

import polars as pl

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_BEGINNING = r"(^|[;\t\r\n])"
_FORMULA = r"""(?=['" ]*[=+\-@\t\r\n＝＋－＠])"""
_HARMFUL = re.compile(_BEGINNING + _FORMULA)
_ESCAPED = re.compile(_BEGINNING + "'" + _FORMULA)


def escaped(cell: str) -> str:
    """The cell as text that no spreadsheet takes for a formula.

    >>> escaped("=1+1"), escaped("-1.5"), escaped("fine")
    ("'=1+1", '-1.5', 'fine')
    """
    return cell if _NUMBER.fullmatch(cell) else _HARMFUL.sub(r"\1'", cell)


def unescaped(cell: str) -> str:
    """Undo `escaped`.

    >>> unescaped("'=1+1"), unescaped("'quoted'")
    ('=1+1', "'quoted'")
    """
    return _ESCAPED.sub(r"\1", cell)


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The cells as strings, for file formats without types."""
    return frame.select(pl.all().cast(pl.String, strict=False))


def comparable(frame: pl.DataFrame) -> pl.DataFrame:
    """The cells in a form that files and spreadsheet programs do not change.

    1 and 1.0 become equal, as do true and TRUE, a missing value and an empty cell, and all kinds of
    white space.
    """
    columns = []
    for name in frame.columns:
        cell = pl.col(name).cast(pl.String, strict=False).fill_null("")
        cell = cell.str.replace_all(r"\s+", " ").str.strip_chars()
        lower = cell.str.to_lowercase()
        truth = pl.when(lower.is_in(["true", "false"])).then(lower)
        number = cell.cast(pl.Float64, strict=False).cast(pl.String)
        columns.append(pl.coalesce(truth, number, cell).alias(name))
    return frame.select(columns)
