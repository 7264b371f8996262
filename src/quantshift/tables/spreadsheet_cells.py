"""Cells that pass through a spreadsheet program safely and come back unchanged.

A spreadsheet takes a cell that begins with = + - @ or a tab for a formula, which may run a program.
Such cells get an apostrophe in front, which makes them text and is removed on reading. The same
goes for text after a line break, a tab or a semicolon within a cell, where a program that expects
another delimiter would begin a new cell. Numbers stay as they are. Reference: OWASP, "CSV
Injection".
"""

import re
from collections.abc import Sequence

from quantshift.tables.columns.cell_names import DECIMAL, Cell, mapped, number_of, text_of

_BEGINNING = r"(^|[;\t\r\n])"
_FORMULA = r"""(?=['" ]*[=+\-@\t\r\n＝＋－＠])"""
_HARMFUL = re.compile(_BEGINNING + _FORMULA)
_ESCAPED = re.compile(_BEGINNING + "'" + _FORMULA)


def escaped(cell: str) -> str:
    """The cell as text that no spreadsheet takes for a formula.

    >>> escaped("=1+1"), escaped("-1.5"), escaped("fine")
    ("'=1+1", '-1.5', 'fine')
    """
    return cell if DECIMAL.fullmatch(cell) else _HARMFUL.sub(r"\1'", cell)


def unescaped(cell: str) -> str:
    """Undo `escaped`.

    >>> unescaped("'=1+1"), unescaped("'quoted'")
    ('=1+1', "'quoted'")
    """
    return _ESCAPED.sub(r"\1", cell)


def comparable(cells: Sequence[Cell]) -> list[str]:
    """The cells of a column in a form that files and spreadsheet programs do not change.

    1 and 1.0 become equal, as do true and TRUE, a missing value and an empty cell, and all kinds of
    white space.

    >>> comparable(["1.0", " a \\n b", "TRUE", None]), comparable([1, 2])
    (['1.0', 'a b', 'true', ''], ['1.0', '2.0'])
    """
    return mapped(cells, _comparable)


def _comparable(cell: Cell) -> str:
    text = " ".join((text_of(cell) or "").split())
    lower = text.lower()
    if lower in ("true", "false"):
        return lower
    return text_of(number_of(text)) or text
