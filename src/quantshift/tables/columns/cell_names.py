"""Columns as names, texts and numbers; single values of Python as cells, and in messages.

polars is imported when a column is there, so that the options of a command do not wait for it.
"""

import datetime
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import polars as pl

Cell: TypeAlias = str | int | float | bool | None
"""A value of a table; None where it is missing."""

LARGEST_WHOLE = 2**53
"""The largest integer up to which floats represent all integers."""

DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A finite number, as most programs write it."""

_WHOLE = r"^([+-]?\d+)\.0*$"


def names_of(column: "pl.Series") -> "pl.Series":
    """The values as names: integers without a decimal point, strings without surrounding blanks.

    >>> import polars as pl
    >>> names_of(pl.Series(["1.0", " 1 ", "a", None])).to_list()
    ['1', '1', 'a', None]
    >>> names_of(pl.Series([1.0, 2.5])).to_list()
    ['1', '2.5']
    """
    import polars as pl

    if column.dtype.is_float():
        is_whole = (column.abs() <= LARGEST_WHOLE) & (column == column.round())
        whole_ones = column.set(~is_whole.fill_null(False), None).cast(pl.Int64)
        names = whole_ones.cast(pl.String).fill_null(column.fill_nan(None).cast(pl.String))
        return names.rename(column.name)
    # One expression: each step by itself would start polars' engine again.
    words = pl.all().str.strip_chars().str.replace(_WHOLE, "${1}")
    return as_texts(column).to_frame().select(words.replace("", None)).to_series()


def names_of_texts(texts: Sequence[str | None]) -> list[str | None]:
    """The names in the cells of a file without types."""
    import polars as pl

    return names_of(pl.Series(texts, dtype=pl.String)).to_list()


def as_texts(column: "pl.Series") -> "pl.Series":
    """The cells as texts; lists and objects as Python prints them."""
    import polars as pl

    if column.dtype.is_nested():
        return pl.Series(column.name, [_printed(v) for v in column.to_list()], dtype=pl.String)
    return column.cast(pl.String)


def _printed(value: object) -> str | None:
    if value is None:
        return None
    plain = getattr(value, "tolist", None) or getattr(value, "to_list", None)
    return str(value if plain is None else plain())


def as_numbers(column: "pl.Series") -> "pl.Series":
    """The cells as numbers, which may be infinite or NaN; null for those that are not numbers.

    >>> import polars as pl
    >>> as_numbers(pl.Series(["1e3", " 7", "1_000", None])).to_list()
    [1000.0, 7.0, None, None]
    """
    import polars as pl

    if column.dtype == pl.String:
        return column.str.strip_chars().cast(pl.Float64, strict=False)
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    # Dates are not numbers, whatever a file of another format would hold.
    return pl.Series(column.name, [None] * len(column), dtype=pl.Float64)


def number_of(text: str) -> float | None:
    """The finite number that a text is; None for any other.

    >>> number_of("1e3"), number_of("1_000"), number_of(" 7")
    (1000.0, None, None)
    """
    return float(text) if DECIMAL.fullmatch(text) else None


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
    return repr(clipped(cell))


def clipped(cell: object) -> str:
    """The text of a cell, cut where it is long."""
    text = str(cell)
    return text if len(text) <= 30 else text[:30] + "..."
