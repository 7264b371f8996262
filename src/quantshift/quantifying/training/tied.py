"""Columns that are tied to the batches or to time.

If a sample is divided by month, a copy of the date, the number of the month or a running number
differ between batches by definition: the batch follows from their value. As features they would
mark every batch as unlike training. If rows are ordered in time, the year or a running number is
beyond its earlier range in all rows to come.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from quantshift.answers.batch_names import NO_GROUP
from quantshift.quantifying.columns import ItemColumns, TableItems, read_items
from quantshift.quantifying.options import Grouping
from quantshift.tables.columns.kinds import typed
from quantshift.tables.reading import OpenTable

MOST_READ = 20_000
"""This many rows of each table are read to see whether a column is tied."""

FEWEST_ROWS = 5
"""Smaller batches do not count, and there must be two others."""

MOST_DISTINCT = 0.5
"""Words that are nearly all different belong to a batch each, and are not tied to it."""


def tied_columns(
    tables: Sequence[OpenTable], grouping: Grouping, names: Sequence[str]
) -> tuple[str, ...]:
    """Which of the columns tell the batch of every row."""
    others = [name for name in names if name != grouping.column]
    parts = [part for table in tables for part in _first_rows(table, grouping, others)]
    if not parts or not others:
        return ()
    items = TableItems.joined(parts)
    sizes = items.groups.value_counts()
    large = sizes.filter((pl.col("count") >= FEWEST_ROWS) & (pl.col(items.groups.name) != NO_GROUP))
    if len(large) < 2:
        return ()
    in_large_batch = items.groups.is_in(large[items.groups.name].implode())
    batches, values = items.groups.filter(in_large_batch), items.values.filter(in_large_batch)
    codes = batches.rank("dense").to_numpy()
    return tuple(name for name in others if _is_tied(values[name], codes))


def rising_columns(values: pl.DataFrame, times: pl.Series) -> tuple[str, ...]:
    """Which columns of numbers and dates never fall as time goes on, and take three values or more.

    times: of the rows, dates or numbers as strings.
    """
    order = typed(times.replace(NO_GROUP, None)).rank("dense")
    return tuple(name for name in values.columns if _rises(values[name], order))


def _rises(column: pl.Series, order: pl.Series) -> bool:
    if column.dtype.is_nested():
        return False
    cells = typed(column)
    if not (cells.dtype.is_numeric() or cells.dtype.is_temporal()):
        return False
    both = pl.DataFrame({"time": order, "value": cells.rank("dense")}).drop_nulls()
    if 2 * len(both) < len(cells) or both["value"].n_unique() < 3:
        return False
    by_time = both.group_by("time").agg(
        pl.col("value").min().alias("low"), pl.col("value").max().alias("high")
    )
    by_time = by_time.sort("time")
    return bool((by_time["low"][1:] >= by_time["high"][:-1]).all())


def _first_rows(table: OpenTable, grouping: Grouping, names: Sequence[str]) -> list[TableItems]:
    parts, n_read = [], 0
    reading = read_items(table, ItemColumns(names, grouping=grouping))
    for part in reading:
        parts.append(part)
        n_read += len(part.rows)
        if n_read >= MOST_READ:
            break
    reading.close()
    return parts


def _is_tied(column: pl.Series, batches: np.ndarray) -> bool:
    """Whether every value belongs to one batch and no two batches of numbers or dates overlap."""
    if column.dtype.is_nested():
        return False
    values = typed(column)
    filled = values.is_not_null()
    if 2 * int(filled.sum()) < len(filled):
        return False
    codes = batches[filled.to_numpy()]
    ranks = values.drop_nulls().rank("dense").to_numpy()
    n_values, n_batches = len(np.unique(ranks)), len(np.unique(codes))
    if n_batches < 2 or n_values < n_batches:
        return False
    one_batch_each = len(np.unique(np.stack([ranks, codes]), axis=1).T) == n_values
    if not one_batch_each:
        return False
    if values.dtype == pl.String:
        return n_values <= MOST_DISTINCT * len(ranks)
    in_order = codes[np.argsort(ranks, kind="stable")]
    return int((np.diff(in_order) != 0).sum()) == n_batches - 1
