"""Mixed columns as numbers: a preparation that is fitted on training rows alone.

Numbers: gaps are filled with the median, columns are standardised, and a column that has gaps in
training gets an indicator of them. Truth values are numbers, 0 and 1. Categories: one column per
level (a gap is a level), levels with few training rows share one column, and a level that training
has not seen is ignored: all its columns are 0.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack

from quantshift.types import Indices

RARE = 10
"""Levels of fewer training rows share one column."""

DENSE_SHARE = 0.3
"""Matrices are dense if at least this share of a row is not zero."""

BLOCK_ROWS = 1 << 16
"""So many rows are prepared at a time to score them."""


@dataclass(frozen=True, eq=False)
class TableColumns:
    """The columns of a table as arrays.

    numbers: (n_rows, n_numbers), a gap is NaN. codes: (n_rows, n_categories), positions in the
    levels of each category, a gap is the position after the last level.
    """

    number_names: tuple[str, ...]
    numbers: NDArray[np.float64]
    category_names: tuple[str, ...]
    codes: NDArray[np.int32]
    levels: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> "TableColumns":
        """From a frame: columns of strings are categories, all others numbers."""
        words = [name for name in frame.columns if frame[name].dtype == pl.String]
        others = [name for name in frame.columns if name not in set(words)]
        levels = [frame[name].drop_nulls().unique().sort() for name in words]
        codes = np.empty((len(frame), len(words)), np.int32)
        for position, (name, known) in enumerate(zip(words, levels, strict=True)):
            places = frame[name].cast(pl.Enum(known)).to_physical().cast(pl.Int32)
            codes[:, position] = places.fill_null(len(known)).to_numpy()
        numbers = np.empty((len(frame), 0))
        if others:
            floats = frame.select(pl.col(others).cast(pl.Float64).fill_null(np.nan))
            numbers = floats.to_numpy(order="c")
        return cls(
            tuple(others),
            numbers,
            tuple(words),
            codes,
            tuple(tuple(known.to_list()) for known in levels),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def view(self, rows: ArrayLike) -> "TableView":
        """The table as the training rows prepare it."""
        train = np.asarray(rows)
        return TableView(
            self, Scaling.fit(self.numbers[train]), Encoding.fit(self.codes[train], self.levels)
        )


@dataclass(frozen=True, eq=False)
class Scaling:
    """How numbers are filled and scaled. indicated: the columns that get an indicator of gaps."""

    median: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    indicated: Indices

    @classmethod
    def fit(cls, numbers: NDArray[np.float64]) -> "Scaling":
        """From training rows; a column without a number in them becomes 0."""
        gaps = np.isnan(numbers)
        empty = gaps.all(axis=0)
        median = np.zeros(numbers.shape[1])
        median[~empty] = np.nanmedian(numbers[:, ~empty], axis=0)
        filled = np.where(gaps, median, numbers)
        mean, spread = filled.mean(axis=0), filled.std(axis=0)
        # Below this a spread is rounding: the column is constant.
        constant = spread <= 10 * np.finfo(np.float64).eps * np.abs(mean)
        scale = np.where(constant, 1.0, spread)
        return cls(median, mean, scale, np.flatnonzero(gaps.any(axis=0) & ~empty))

    def transform(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scaled numbers, then the indicators."""
        gaps = np.isnan(numbers)
        scaled = (np.where(gaps, self.median, numbers) - self.mean) / self.scale
        return np.hstack([scaled, gaps[:, self.indicated]])


@dataclass(frozen=True, eq=False)
class Encoding:
    """The column of every level of every category; -1 for levels that training has not seen.

    names: of the columns.
    """

    columns: tuple[NDArray[np.int64], ...]
    names: tuple[tuple[int, str], ...]

    @classmethod
    def fit(cls, codes: NDArray[np.int32], levels: tuple[tuple[str, ...], ...]) -> "Encoding":
        """From training rows: frequent levels in order, then the rare ones in one column."""
        columns: list[NDArray[np.int64]] = []
        names: list[tuple[int, str]] = []
        for category, known in enumerate(levels):
            counts = np.bincount(codes[:, category], minlength=len(known) + 1)
            frequent, rare = counts >= RARE, (counts > 0) & (counts < RARE)
            place = np.full(len(counts), -1)
            place[frequent] = len(names) + np.arange(frequent.sum())
            labels = np.array([*known, "(missing)"], dtype=object)
            names += [(category, str(label)) for label in labels[frequent]]
            if rare.any():
                place[rare] = len(names)
                names.append((category, "(rare)"))
            columns.append(place)
        return cls(tuple(columns), tuple(names))

    def transform(self, codes: NDArray[np.int32]) -> csr_array:
        """Indicators of the levels, (n_rows, n_columns)."""
        placed = np.empty(codes.shape, np.int64)
        for category, columns in enumerate(self.columns):
            placed[:, category] = columns[codes[:, category]]
        known = placed >= 0
        indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        data = np.ones(int(indptr[-1]))
        return csr_array((data, placed[known], indptr), shape=(len(codes), len(self.names)))


@dataclass(frozen=True, eq=False)
class TableView:
    """A table as one training set prepares it: the numbers, the indicators, the levels."""

    table: TableColumns
    scaling: Scaling
    encoding: Encoding

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the columns of the matrix are."""
        numbers = self.table.number_names
        return (
            *numbers,
            *(f"{numbers[i]} is missing" for i in self.scaling.indicated),
            *(f"{self.table.category_names[i]} = {level}" for i, level in self.encoding.names),
        )

    def transform(self, rows: ArrayLike) -> Any:
        """The matrix of the rows, (n_rows, n_features): dense, or CSR if it is mostly zeros."""
        chosen = np.asarray(rows)
        numbers = self.scaling.transform(self.table.numbers[chosen])
        levels = self.encoding.transform(self.table.codes[chosen])
        n_filled = numbers.shape[1] + len(self.table.levels)
        if n_filled >= DENSE_SHARE * len(self.names):
            return np.hstack([numbers, levels.toarray()])
        return hstack([csr_array(numbers), levels], format="csr")

    def scores(self, rows: ArrayLike, coef: ArrayLike, intercept: ArrayLike) -> NDArray[np.float64]:
        """Scores of the rows under k linear models (n_features, k), shape (n_rows, k)."""
        chosen, weights = np.asarray(rows), np.asarray(coef)
        scores = np.empty((len(chosen), weights.shape[1]))
        for start in range(0, len(chosen), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            scores[block] = self.transform(chosen[block]) @ weights + np.asarray(intercept)
        return scores
