"""Cells that pass through a spreadsheet program safely and come back unchanged.

A spreadsheet takes a cell that begins with = + - @ or a tab for a formula, which may run a program.
Such cells get an apostrophe in front, which makes them text and is removed on reading. The same
goes for text after a line break, a tab or a semicolon within a cell, where a program that expects
another delimiter would begin a new cell. Numbers stay as they are. Reference: OWASP, "CSV
Injection".
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quantshift.tables.columns.cell_names import DECIMAL, number_of

if TYPE_CHECKING:
    import polars as pl

_BEGINNING = r"(^|[;\t\r\n])"
_FORMULA = r"""['" ]*[=+\-@\t\r\n＝＋－＠]"""
_HARMFUL = re.compile(f"{_BEGINNING}(?={_FORMULA})")
_ESCAPED = re.compile(f"{_BEGINNING}'(?={_FORMULA})")


def escaped(cell: str) -> str:
    """The cell as text that no spreadsheet takes for a formula.

    >>> escaped("=1+1"), escaped("-1.5"), escaped("fine")
    ("'=1+1", '-1.5', 'fine')
    """
    return cell if DECIMAL.fullmatch(cell) else _HARMFUL.sub(r"\1'", cell)


def escaped_column(column: "pl.Series") -> "pl.Series":
    """The column; texts that a spreadsheet would take for formulas are escaped."""
    import polars as pl

    if column.dtype in (pl.Date, pl.Datetime, pl.Categorical):
        column = column.cast(pl.String)
    if column.dtype != pl.String:
        return column
    harmful = column.str.contains(_BEGINNING + _FORMULA).fill_null(False)
    if not harmful.any():
        return column
    cells = {cell: escaped(cell) for cell in column.filter(harmful).unique().to_list()}
    return column.replace(cells)


def unescaped(cell: str) -> str:
    """Undo `escaped`.

    >>> unescaped("'=1+1"), unescaped("'quoted'")
    ('=1+1', "'quoted'")
    """
    return _ESCAPED.sub(r"\1", cell)


def comparable(cells: Sequence[str | None]) -> list[str]:
    """The cells of a column in a form that files and spreadsheet programs do not change.

    1 and 1.0 become equal, as do true and TRUE, a missing value and an empty cell, and all kinds of
    white space.

    >>> comparable(["1", " a \\n b", "TRUE", None])
    ['1.0', 'a b', 'true', '']
    """
    results = {cell: _comparable(cell or "") for cell in set(cells)}
    return [results[cell] for cell in cells]


def _comparable(cell: str) -> str:
    text = " ".join(cell.split())
    lower = text.lower()
    if lower in ("true", "false"):
        return lower
    number = number_of(text)
    return text if number is None else repr(number)
