"""Single cells as texts, numbers and names, and how messages show them.

They are what polars makes of whole columns (`kinds.names_of` and its casts), so that one file gives
the same names to `judge`, which works on cells, and to commands that work on frames.
"""

import datetime
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

Cell: TypeAlias = str | int | float | bool | None
"""A value of a table; None where it is missing."""

Made = TypeVar("Made")

LARGEST_WHOLE = 2**53
"""The largest integer up to which floats represent all integers."""

BLANKS = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""White space in the sense of Unicode; Python's own also has four control characters."""

FIXED_EXPONENT = -5
"""The smallest exponent of floats that are written without one."""

DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A finite number, as most programs write it."""

_WHOLE = re.compile(r"([+-]?\d+)\.0*")
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?|inf|infinity|nan)",
    re.IGNORECASE,
)


def mapped(cells: Sequence[Cell], function: Callable[[Any], Made]) -> list[Made]:
    """The function of each cell, called once for equal ones; the cells have one type."""
    results = {cell: function(cell) for cell in set(cells)}
    return [results[cell] for cell in cells]


def text_of(cell: Cell) -> str | None:
    """A cell as text.

    >>> text_of(True), text_of(7), text_of(1e-7), text_of(0.00001), text_of(None)
    ('true', '7', '1e-7', '0.00001', None)
    """
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return _float_text(cell) if isinstance(cell, float) else str(cell)


def _float_text(number: float) -> str:
    if number != number:
        return "NaN"
    text = repr(number)
    digits, has_small, exponent = text.partition("e-")
    if not has_small:
        return text
    if -int(exponent) < FIXED_EXPONENT:
        return f"{digits}e-{int(exponent)}"
    n_digits = len(digits.lstrip("-").replace(".", ""))
    return f"{number:.{int(exponent) + n_digits - 1}f}"


def number_of(cell: Cell) -> float | None:
    """A cell as a number, which may be infinite or NaN; None if it is not a number.

    >>> number_of("1e3"), number_of(True), number_of("1_000"), number_of(" 7")
    (1000.0, 1.0, None, None)
    """
    if isinstance(cell, str):
        return float(cell) if _NUMBER.fullmatch(cell) else None
    return None if cell is None else float(cell)


def names_of_cells(cells: Sequence[Cell]) -> list[str | None]:
    """The values as names: integers without a decimal point, strings without surrounding blanks.

    >>> names_of_cells(["1.0", " 1 ", "a", "", None]), names_of_cells([1.0, 2.5])
    (['1', '1', 'a', None, None], ['1', '2.5'])
    """
    return mapped(cells, _name)


def _name(cell: Cell) -> str | None:
    if isinstance(cell, float):
        if cell != cell:
            return None
        is_whole = abs(cell) <= LARGEST_WHOLE and cell.is_integer()
        return str(int(cell)) if is_whole else _float_text(cell)
    text = text_of(cell)
    if text is None:
        return None
    text = text.strip(BLANKS)
    whole = _WHOLE.fullmatch(text)
    return (whole[1] if whole else text) or None


def cell_of(value: Any) -> Cell:
    """Any value of Python as a cell: a number, a truth value or a text.

    >>> cell_of(float("nan")), cell_of(["a"]), cell_of(datetime.date(2026, 1, 2)), cell_of(2**70)
    (None, '["a"]', '2026-01-02', '1180591620717411303424')
    """
    if hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()  # a number of numpy
    if value is None or value != value:
        return None
    if type(value) is int and not -(2**63) <= value < 2**63:
        return str(value)  # more than 64 bits
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", "microseconds")
    return value if isinstance(value, bool | int | float) else text_of_value(value)


def text_of_value(value: Any) -> str:
    """Any value of Python as text; lists and objects as JSON."""
    if isinstance(value, str):
        # JSON allows lone surrogates, UTF-8 does not.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict | list):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


def shown(cell: object) -> str:
    """A cell as messages show it."""
    text = str(cell)
    return repr(text if len(text) <= 30 else text[:30] + "...")
