"""Copies among the training items: rows that are the same item twice.

A copy that is held out while its twin is learnt from is not unseen, so copies share a fold.
But equal rows need not be copies: in a table of a few categories many people are alike. Equal rows
are copies if there is a text of several words among the columns. Without one they are copies if
their labels are equal nearly always, and no column contradicts it. A column contradicts it if rows
that are equal in all other columns are often different in this one, and equal no more often than
its cells are by chance: people who are alike in all but their sex, say. By chance two cells are
equal as often as in the table without its copies, and at least as often as the number of values
says that the column may have: whole numbers from 1 to 60 are 60.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.data.columns import TEXT, Column, as_kind
from quantshift.types import Codes, Indices

SAME_LABEL = 0.99
"""The share of pairs of equal rows with one label from which equal rows may be copies."""

OFTEN_DIFFERENT, NEAR_CHANCE = 0.8, 10.0
"""A column contradicts copies if it is equal in a smaller share of the pairs of rows that are equal
otherwise, and in no more than so many times the share that chance explains."""


def copies(frame: pl.DataFrame, columns: Sequence[Column], codes: Codes) -> Indices | None:
    """For every row the number of its item, equal for copies; None if there are no copies."""
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
        if any(_contradicts(rows, own, c) for own, c in zip(hashes, distinct, strict=True)):
            return None
    return np.asarray(items, dtype=np.int64)


def _contradicts(rows: NDArray[np.uint64], own: NDArray[np.uint64], distinct: pl.Series) -> bool:
    """Whether a column shows that equal rows are not copies. distinct: its cells without copies."""
    equal = _equal_pairs(rows) / _equal_pairs(rows - own)
    return equal < OFTEN_DIFFERENT and equal <= NEAR_CHANCE * _equal_by_chance(distinct)


def _equal_by_chance(column: pl.Series) -> float:
    """How likely two cells are equal by chance."""
    counts = column.value_counts(name="rows")["rows"].to_numpy().astype(np.float64)
    pairs = max(len(column) * (len(column) - 1), 1)
    return float(max((counts * (counts - 1)).sum() / pairs, 1 / _n_possible(column)))


def _n_possible(column: pl.Series) -> float:
    """How many values a column may have: of numbers, those from the first to the last."""
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
