"""Duplicates among the training items.

A held-out row is not unseen if the classifier has learnt from a copy of it, so copies share a fold.
But equal rows need not be copies: in a table of a few categories many people have equal rows. Equal
rows are taken as copies if one of the columns is a text of several words. Without one they are
taken as copies if their labels nearly always agree and no column contradicts it. A column
contradicts it if rows that agree in all other columns often differ in this one, and agree no more
often than its cells do by chance; think of people who are alike except for their sex. The chance
that two cells agree is estimated from the table without its copies, and is at least one over the
number of values that the column can have (60 for whole numbers from 1 to 60).
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.base.types import Codes, Indices
from quantshift.tables.columns.kinds import TEXT, Column, as_kind

SAME_LABEL = 0.99
"""Equal rows can be copies if at least this share of their pairs have the same label."""

OFTEN_DIFFERENT, NEAR_CHANCE = 0.8, 10.0
"""A column contradicts copies if, among pairs of rows that agree in all other columns, it agrees in
less than the first share, and in at most this many times the share that chance explains."""


def copies(frame: pl.DataFrame, columns: Sequence[Column], codes: Codes) -> Indices | None:
    """The item number of every row, equal for copies; None if there are no copies."""
    cells = [as_kind(frame[column.name], column) for column in columns]
    hashes = np.stack([column.hash(seed=i).to_numpy() for i, column in enumerate(cells)])
    rows = hashes.sum(axis=0, dtype=np.uint64)
    _, first, numbers = np.unique(rows, return_index=True, return_inverse=True)
    items = numbers * (int(codes.max()) + 1) + codes
    if len(np.unique(items)) == len(items):
        return None
    if not any(column.kind == TEXT for column in columns):
        if _equal_pairs(items) < SAME_LABEL * _equal_pairs(rows):
            return None
        distinct = [column[np.sort(first)] for column in cells]
        if any(_contradicts(rows, *column) for column in zip(hashes, distinct, strict=True)):
            return None
    return np.asarray(items, dtype=np.int64)


def _contradicts(rows: NDArray[np.uint64], column: NDArray[np.uint64], distinct: pl.Series) -> bool:
    """Whether a column shows that equal rows are not copies.

    rows, column: hashes of the rows, and of the cells of the column. distinct: its cells without
    copies.
    """
    equal = _equal_pairs(rows) / _equal_pairs(rows - column)
    return equal < OFTEN_DIFFERENT and equal <= NEAR_CHANCE * _equal_by_chance(distinct)


def _equal_by_chance(column: pl.Series) -> float:
    """The probability that two cells agree by chance."""
    counts = column.value_counts(name="rows")["rows"].to_numpy().astype(np.float64)
    pairs = max(len(column) * (len(column) - 1), 1)
    return float(max((counts * (counts - 1)).sum() / pairs, 1 / _n_possible(column)))


def _n_possible(column: pl.Series) -> float:
    """How many values a column can have; numbers range evenly from the lowest to the highest."""
    values = column.drop_nulls().unique()
    if not values.dtype.is_float() or len(values) < 2:
        return max(len(values), 1)
    ascending = np.sort(values.to_numpy()) / 2
    with np.errstate(over="ignore"):
        possible = (ascending[-1] - ascending[0]) / np.diff(ascending).min() + 1
    return float(possible)


def _equal_pairs(groups: NDArray[np.integer]) -> float:
    sizes = np.unique(groups, return_counts=True)[1].astype(np.float64)
    return float((sizes * (sizes - 1) / 2).sum())
