"""Columns of Python values: the type that all values share, or strings if there is none."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl


def kind_of_value(value: Any) -> type:
    """The type of a value, to infer the type of its column."""
    # Integers that do not fit into 64 bits are kept as strings.
    return str if type(value) is int and not -(2**63) <= value < 2**63 else type(value)


def column_type(kinds: set[type]) -> pl.DataType:
    """The type of a column with values of these types; strings if they have none in common."""
    kinds = kinds - {type(None)}
    if kinds == {bool}:
        return pl.Boolean()
    if kinds == {int}:
        return pl.Int64()
    return pl.Float64() if kinds and kinds <= {int, float} else pl.String()


def series_of(values: Sequence[Any], kind: pl.DataType) -> pl.Series:
    """The values as a column of this type."""
    if kind == pl.String:
        values = [value if value is None else _string(value) for value in values]
    return pl.Series(values, dtype=kind)


def _string(value: Any) -> str:
    if isinstance(value, str):
        # JSON allows lone surrogates, UTF-8 does not.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict | list):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)
