"""Columns that rows are counted by: which types they may have, and their values as text."""

from collections.abc import Mapping, Sequence

import polars as pl

from quantshift.errors import UserError


def key_texts(keys: pl.Series) -> pl.Series:
    """Keys as text, as databases write them: times without the zeros at the end of a second."""
    texts = keys.cast(pl.String)
    if not isinstance(keys.dtype, pl.Datetime):
        return texts
    zone = r"((?:[+-]\d\d:\d\d)?)$"
    return texts.str.replace(r"(\.\d*?)0+" + zone, "${1}${2}").str.replace(r"\." + zone, "${1}")


def check_types(
    types: Mapping[str, pl.DataType], scores: Sequence[str], keys: Sequence[str]
) -> None:
    """Refuse columns of scores that are not numbers, and keys that databases write differently."""
    for name in scores:
        kind = types[name]
        if not (kind.is_numeric() or kind in (pl.Boolean, pl.Null) or is_text(kind)):
            raise UserError(
                f"column {name!r} holds {_noun(kind)}: a score is a number from 0 to 1",
                arguments=["score", "posteriors"],
            )
    for key in keys:
        kind = types[key]
        by_itself = kind.is_integer() or kind.is_decimal() or kind in (pl.Boolean, pl.Null)
        is_time = kind.is_temporal() and kind != pl.Duration
        if not (by_itself or is_time or is_text(kind)):
            raise UserError(
                f"column {key!r} holds {_noun(kind)}: rows are counted by text, whole numbers or "
                "dates",
                arguments=["batch", "by", "label"],
            )


def is_text(kind: pl.DataType) -> bool:
    """Whether a column holds texts, also if they are stored as categories."""
    return kind in (pl.String, pl.Categorical, pl.Enum)


def _noun(kind: pl.DataType) -> str:
    if kind.is_float():
        return "decimal numbers"
    if kind.is_nested():
        return "lists"
    names = {pl.Binary: "bytes", pl.Duration: "durations"}
    return names.get(kind.base_type(), "dates or times" if kind.is_temporal() else f"{kind}")
