"""Frames of millions of rows, made light: only the columns that are needed, names as numbers."""

from collections.abc import Iterable

import polars as pl

OUTCOME = (
    *("experiment", "dataset", "cell", "stratum", "sample", "method", "facet", "part"),
    *("degree", "error", "signed"),
)
"""What statistics of errors need of a row, coordinates apart."""


def lean(frame: pl.DataFrame, columns: Iterable[str] | None = None) -> pl.DataFrame:
    """The rows with these columns (those that there are; None: all), text as categories.

    Categories compare, sort and print like the texts they stand for, and group many times faster.
    """
    wanted = frame.columns if columns is None else dict.fromkeys(columns)
    kept = frame.select(name for name in wanted if name in frame.columns)
    return kept.with_columns(pl.col(pl.String).cast(pl.Categorical))


def spelt(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with categories as the texts they stand for, as in all frames of statistics."""
    return frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
