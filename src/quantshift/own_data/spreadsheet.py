"""Cells that go through a spreadsheet program and come back: harmless there, the same here.

A cell that begins with = + - @ or a tab is a formula to a spreadsheet, and may run a program. Such
cells get an apostrophe in front, which makes them text; it is taken off on reading. So does what
follows a line break, a tab or a semicolon within a cell, where a program that expects another
delimiter begins a new one. Numbers stay as they are. References: OWASP, "CSV Injection".
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
    """What `escaped` was given.

    >>> unescaped("'=1+1"), unescaped("'quoted'")
    ('=1+1', "'quoted'")
    """
    return _ESCAPED.sub(r"\1", cell)


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The cells as strings, as they are written to files without types."""
    return frame.select(pl.all().cast(pl.String, strict=False))


def comparable(frame: pl.DataFrame) -> pl.DataFrame:
    """The cells in a form that files and spreadsheet programs do not change.

    1 and 1.0, true and TRUE are the same; so are a gap and an empty cell, and any white space.
    """
    columns = []
    for name in frame.columns:
        cell = pl.col(name).cast(pl.String, strict=False).fill_null("")
        cell = cell.str.replace_all(r"\s+", " ").str.strip_chars()
        small = cell.str.to_lowercase()
        truth = pl.when(small.is_in(["true", "false"])).then(small)
        number = cell.cast(pl.Float64, strict=False).cast(pl.String)
        columns.append(pl.coalesce(truth, number, cell).alias(name))
    return frame.select(columns)
