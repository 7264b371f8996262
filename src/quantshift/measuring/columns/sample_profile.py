"""The cells of a sample's columns as positions in the training profile.

The columns are read once; batches, however many, are then counted by their indices.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import polars as pl

from quantshift.base.types import Flags, Indices, Reals
from quantshift.measuring.columns.training_profile import (
    ColumnProfile,
    LevelsProfile,
    ScaleProfile,
    TrainingProfile,
    levels_in,
    numbers_in,
    words_in,
)


@dataclass(frozen=True, eq=False)
class ScaleCells:
    """Numbers or days, NaN where missing.

    positions: the number of smaller thresholds of training; for a missing value, one more than all.
    """

    values: Reals
    positions: Indices

    def take(self, rows: Indices) -> "ScaleCells":
        """The cells of these rows."""
        return ScaleCells(self.values[rows], self.positions[rows])

    @property
    def gaps(self) -> Flags:
        """Which cells are missing."""
        return np.isnan(self.values)


@dataclass(frozen=True, eq=False)
class LevelCells:
    """Positions of the levels among those of training, then the new ones; -1 where missing."""

    positions: Indices
    new: tuple[str, ...]

    def take(self, rows: Indices) -> "LevelCells":
        """The cells of these rows."""
        return LevelCells(self.positions[rows], self.new)

    @property
    def gaps(self) -> Flags:
        """Which cells are missing."""
        return self.positions < 0


@dataclass(frozen=True, eq=False)
class WordCells:
    """The distinct words of the texts: positions among those of training, then the new ones.

    positions: of all words, text after text; text: the text that each word belongs to.
    """

    positions: Indices
    text: Indices
    new: tuple[str, ...]
    gaps: Flags

    def take(self, rows: Indices) -> "WordCells":
        """The words of these texts."""
        bounds = np.searchsorted(self.text, np.arange(len(self.gaps) + 1))
        lengths = np.diff(bounds)[rows]
        starts = np.cumsum(lengths) - lengths
        chosen = np.arange(lengths.sum()) + np.repeat(bounds[rows] - starts, lengths)
        text = np.repeat(np.arange(len(rows)), lengths)
        return WordCells(self.positions[chosen], text, self.new, self.gaps[rows])


ColumnCells: TypeAlias = ScaleCells | LevelCells | WordCells


@dataclass(frozen=True, eq=False)
class SampleCells:
    """The cells of the columns that training and sample have in common, by name."""

    columns: dict[str, ColumnCells]
    n_rows: int
    weights: Reals = field(repr=False)

    @classmethod
    def of(
        cls, profile: TrainingProfile, sample: pl.DataFrame, *, weights: Reals | None = None
    ) -> "SampleCells":
        """Read the columns of a table, typed or as strings."""
        item_weights = (
            np.ones(len(sample)) if weights is None else np.asarray(weights, dtype=np.float64)
        )
        columns = {
            name: _cells(column_profile, sample[name])
            for name, column_profile in zip(profile.names, profile.columns, strict=True)
            if name in sample
        }
        return cls(columns, len(sample), item_weights)

    def take(self, rows: Indices) -> "SampleCells":
        """The cells of these rows."""
        columns = {name: cells.take(rows) for name, cells in self.columns.items()}
        return SampleCells(columns, len(rows), self.weights[rows])


def _cells(profile: ColumnProfile, cells: pl.Series) -> ColumnCells:
    column = profile.column
    if isinstance(profile, ScaleProfile):
        values = numbers_in(cells, column)
        positions = np.searchsorted(profile.thresholds, values)
        positions[np.isnan(values)] = len(profile.thresholds) + 1
        return ScaleCells(values, positions)
    if isinstance(profile, LevelsProfile):
        positions, new = _places(levels_in(cells, column), profile.levels)
        return LevelCells(positions, new)
    words = words_in(cells, column)
    pairs = pl.DataFrame({"word": words, "text": np.arange(len(words))}).explode("word")
    pairs = pairs.drop_nulls("word")
    positions, new = _places(pairs["word"], profile.words)
    return WordCells(positions, pairs["text"].to_numpy(), new, words.is_null().to_numpy())


def _places(names: pl.Series, training_names: Sequence[str]) -> tuple[Indices, tuple[str, ...]]:
    """Positions among the names of training, then the new ones, sorted; -1 for null."""
    distinct = names.drop_nulls().unique()
    new = distinct.filter(~distinct.is_in(list(training_names))).sort().to_list()
    numbered = pl.DataFrame(
        {"name": [*training_names, *new], "place": np.arange(len(training_names) + len(new))},
        schema={"name": pl.String, "place": pl.Int64},
    )
    placed = pl.DataFrame({"name": names}).join(
        numbered, on="name", how="left", maintain_order="left"
    )
    return placed["place"].fill_null(-1).to_numpy().copy(), tuple(new)
