"""Smaller frames for millions of rows: only the columns that are needed, text as categories."""

from collections.abc import Iterable

import polars as pl

OUTCOME = (
    *("experiment", "dataset", "cell", "stratum", "sample", "method", "facet", "part"),
    *("degree", "error", "signed"),
)
"""The columns that statistics of errors need, apart from the coordinates."""


def lean(frame: pl.DataFrame, columns: Iterable[str] | None = None) -> pl.DataFrame:
    """The rows with these columns (those that exist; None: all), text as categories.

    Categories compare, sort and print like the texts they stand for, and group many times faster.
    """
    names = frame.columns if columns is None else dict.fromkeys(columns)
    selected = frame.select(name for name in names if name in frame.columns)
    return selected.with_columns(pl.col(pl.String).cast(pl.Categorical))


def spelt(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with categories turned back into text, as in all frames of statistics."""
    return frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
