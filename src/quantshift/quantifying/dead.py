"""Columns of the training table that have lost what they said in the samples.

A model that is fitted for these samples does without them. Reading ends as soon as every column is
seen to be alive: in a healthy sample, with its first rows.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing

import polars as pl

from quantshift.answers.columns import LeftOutColumn
from quantshift.base.types import Codes
from quantshift.claims.findings import Finding
from quantshift.measuring.columns.dead_columns import DeadColumn, Death, dead_column
from quantshift.measuring.columns.sample_profile import SampleCells
from quantshift.measuring.columns.training_profile import training_profile
from quantshift.prevalence.weights import Weights
from quantshift.quantifying.findings import TrainingFindings
from quantshift.tables.columns.kinds import DATE, NUMBER, Column, as_kind
from quantshift.tables.reading import OpenTable

MOST_DISTINCT = 10_000
"""The most different rows that are counted."""

MOST_DATES = 20_000
"""So many rows whose dates are all later than those of training are enough."""

TYPES: dict[str, pl.DataType] = {NUMBER: pl.Float64(), DATE: pl.Datetime("us")}
"""Samples may hold the same numbers and dates as cells of different types."""

REASONS = {
    Death.EMPTY: "empty in the sample",
    Death.CONSTANT: "always the same in the sample",
    Death.LATER: "all its dates in the sample are later than those of training",
}


def dead_in_samples(
    samples: Sequence[OpenTable],
    columns: Sequence[Column],
    training: pl.DataFrame,
    codes: Codes,
    weights: Weights | None = None,
) -> list[DeadColumn]:
    """Which of the columns are dead in all samples together; none if there would be no others.

    training: the values of the labelled rows, whose classes the codes are.
    """
    kept = _Kept(columns, training)
    for sample in samples:
        kept.read(sample)
        if not kept.cells:
            return []
    if not kept.n_read:
        return []
    suspects = [column for column in columns if column.name in kept.cells]
    profile = training_profile(training, codes, suspects, weights=weights)
    cells = SampleCells.of(profile, kept.frame)
    dead = [
        dead_column(each, cells.columns[each.column.name], profile.items, len(kept.distinct))
        for each in profile.columns
    ]
    found = [each for each in dead if each is not None]
    return found if len(found) < len(columns) else []


def left_out_for(dead: Sequence[DeadColumn]) -> Iterator[LeftOutColumn]:
    """Dead columns with the reason."""
    return (LeftOutColumn(column.name, REASONS[column.death]) for column in dead)


def findings_about(dead: Sequence[DeadColumn]) -> Iterator[Finding]:
    """What is said about dead columns."""
    for column in dead:
        if column.death is Death.LATER:
            yield TrainingFindings.LATER_DATES.found(column=column.name)
        else:
            yield TrainingFindings.DEAD_COLUMN.found(
                column=column.name, death=column.death.value, share=column.share
            )


class _Kept:
    """One cell of each column that may be dead, as far as the samples have been read.

    cells: by column, the value of all rows so far, or the earliest date; latest: of the dates in
    training. distinct: hashes of different rows.
    """

    def __init__(self, columns: Sequence[Column], training: pl.DataFrame) -> None:
        self.columns = list(columns)
        self.latest = {
            column.name: as_kind(training[column.name], column).cast(TYPES[DATE]).max()
            for column in columns
            if column.kind == DATE
        }
        self.cells: dict[str, pl.Series | None] = {column.name: None for column in columns}
        self.distinct: set[int] = set()
        self.n_read = 0

    @property
    def frame(self) -> pl.DataFrame:
        """The cells in a row."""
        return pl.DataFrame([cell for cell in self.cells.values() if cell is not None])

    def read(self, sample: OpenTable) -> None:
        """Read the rows of a sample, until all columns are seen to be alive."""
        names = [column.name for column in self.columns]
        with closing(sample.chunks(names)) as chunks:
            for chunk in chunks:
                frame = chunk.columns.select(names)
                if not len(frame):
                    continue
                self._add(frame)
                if not self.cells or self._only_dates():
                    return

    def _add(self, frame: pl.DataFrame) -> None:
        self.n_read += len(frame)
        for column in self.columns:
            if column.name in self.cells:
                cells = as_kind(frame[column.name], column)
                kept = self._kept(column, cells.cast(TYPES.get(column.kind, cells.dtype)))
                if kept is None:
                    del self.cells[column.name]
                else:
                    self.cells[column.name] = kept
        if self.cells and len(self.distinct) < MOST_DISTINCT:
            self.distinct.update(frame.hash_rows().unique()[:MOST_DISTINCT].to_list())

    def _kept(self, column: Column, cells: pl.Series) -> pl.Series | None:
        """The cell that stands for all so far; None if the column is alive."""
        before = self.cells[column.name]
        if before is not None:
            cells = pl.concat([before, cells])
        if column.kind == DATE and not cells.null_count():
            first, latest = cells.min(), self.latest[column.name]
            if latest is not None and first > latest:  # type: ignore[operator]
                return pl.Series(column.name, [first], dtype=cells.dtype)
        return cells[:1] if cells.n_unique() == 1 else None

    def _only_dates(self) -> bool:
        """Whether enough rows are read for all columns that are left."""
        later = set(self.latest) & set(self.cells)
        return self.n_read >= MOST_DATES and len(later) == len(self.cells)
