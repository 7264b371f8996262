"""Columns of a sample that have lost what they said in training.

A column is dead in a sample if it is empty or always the same there, and so many rows like that are
improbable whatever the shares of the classes: at most max_k q_k ^ n, if q_k of the training rows of
class k look like that. A rare flag that is never set in a small sample is not dead, nor is a
column that is nearly always the same. Dates are dead if all are later than those of training.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl
from numpy.random import Generator

from quantshift.base.types import Reals
from quantshift.measuring.columns.sample_profile import (
    ColumnCells,
    LevelCells,
    ScaleCells,
)
from quantshift.measuring.columns.training_profile import (
    POSTERIOR,
    ColumnProfile,
    LevelsProfile,
    ScaleProfile,
    WordsProfile,
)
from quantshift.tables.columns.kinds import DATE

BY_CHANCE = 1e-4
"""Rows that all look the same are no surprise if they are more likely than this."""


class Death(StrEnum):
    """What has become of a column."""

    EMPTY = "empty"
    CONSTANT = "constant"
    LATER = "later"


@dataclass(frozen=True)
class DeadColumn:
    """A column that has lost what it said.

    share: of the training rows that look like all rows of the sample.
    """

    name: str
    death: Death
    share: float


def dead_column(
    profile: ColumnProfile, cells: ColumnCells, items: Reals, n_distinct: int
) -> DeadColumn | None:
    """The column, if it is dead; None if it is not.

    items: of training, of each class; n_distinct: different rows of the sample.
    """
    if profile.column.kind == POSTERIOR or not len(cells.gaps):
        return None
    found = _alike(profile, cells)
    if found is None:
        return None
    death, counts = found
    items = profile.items if isinstance(profile, WordsProfile) else items
    # The value may be one of training that was not seen: one more item of each class has it.
    likeliest = ((counts + 1) / (items + 1)).max()
    if death is not Death.LATER and min(likeliest, 1.0) ** n_distinct > BY_CHANCE:
        return None
    return DeadColumn(profile.column.name, death, float(counts.sum() / max(items.sum(), 1e-300)))


def _alike(profile: ColumnProfile, cells: ColumnCells) -> tuple[Death, Reals] | None:
    """What all cells have in common, and how many training items of each class have it too."""
    if cells.gaps.all():
        return Death.EMPTY, profile.gaps
    if isinstance(profile, ScaleProfile) and isinstance(cells, ScaleCells):
        if cells.gaps.any() or not len(profile.thresholds):
            return None
        lowest, highest = cells.values.min(), cells.values.max()
        if profile.column.kind == DATE and lowest > profile.highest:
            return Death.LATER, np.zeros_like(profile.gaps)
        return (Death.CONSTANT, _near(profile, lowest)) if lowest == highest else None
    if isinstance(profile, LevelsProfile) and isinstance(cells, LevelCells):
        level = int(cells.positions[0])
        if level < 0 or (cells.positions != level).any():
            return None
        seen = level < len(profile.levels)
        return Death.CONSTANT, profile.counts[:, level] if seen else profile.rest
    return None


def _near(profile: ScaleProfile, value: float) -> Reals:
    """Training items of each class up to the threshold at this value, from the one before."""
    at = int(np.searchsorted(profile.thresholds, value))
    if at == len(profile.thresholds) or value < profile.lowest:
        return np.zeros_like(profile.gaps)
    return profile.at_most[:, at] - (profile.at_most[:, at - 1] if at else 0.0)


def drawn_like_training(profile: ColumnProfile, n: int, rng: Generator) -> pl.Series | None:
    """Cells as in training, whatever the class; None for texts, of which only words are known."""
    name = profile.column.name
    if isinstance(profile, LevelsProfile):
        cells: list[str | None] = [*profile.levels, None]
        counts = np.append(profile.counts.sum(axis=0), profile.gaps.sum())
        return pl.Series(name, [cells[i] for i in _drawn(counts, n, rng)], dtype=pl.String)
    if isinstance(profile, ScaleProfile):
        counts = np.append(np.diff(profile.at_most.sum(axis=0), prepend=0.0), profile.gaps.sum())
        values = np.append(profile.thresholds, np.nan)[_drawn(counts, n, rng)]
        numbers = pl.Series(name, values).fill_nan(None)
        if profile.column.kind != DATE:
            return numbers
        return (numbers * 86_400e6).cast(pl.Int64).cast(pl.Datetime("us"))
    return None


def _drawn(counts: Reals, n: int, rng: Generator) -> list[int]:
    return [int(i) for i in rng.choice(len(counts), n, p=counts / counts.sum())]
