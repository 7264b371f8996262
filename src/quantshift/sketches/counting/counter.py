"""Counts of rows by key and score: parts are added up, and a few of them are kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.base.forks import uses_tables
from quantshift.base.types import Posteriors
from quantshift.errors import UserError
from quantshift.sketches.about import BATCH, BY, CELL, COUNT, LABEL, About
from quantshift.sketches.cells import score as cells
from quantshift.sketches.cells.score import NARROW, WIDE, ScoreCells
from quantshift.sketches.counting.source_columns import is_text, key_texts
from quantshift.sketches.counting.tally import Tally
from quantshift.sketches.sketch_table import (
    Sketch,
    added,
    binned,
    cells_of,
    check_size,
    rounded_columns,
)
from quantshift.sketches.widths import all_wide, most_narrow, totals_by_key

FIRST_ROWS = 1 << 14
"""Rows of a part that decide whether it may have few different scores."""

GROUP = "group"

COMPACT_ROWS = 1 << 20
"""Counts of parts that are kept before they are added up."""


@dataclass(frozen=True)
class ScoreColumns:
    """The columns of scores and keys in a table."""

    scores: tuple[str, ...]
    batch: str | None = None
    by: tuple[str, ...] = ()
    label: str | None = None

    @property
    def about(self) -> About:
        """The description of a sketch of these columns."""
        return About(self.scores, self.by, self.label)

    @property
    def to_read(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys([*self.scores, *self.keys]))

    @property
    def keys(self) -> list[str]:
        """The columns to count by."""
        return [key for key in (self.batch, *self.by, self.label) if key is not None]

    @classmethod
    def of(
        cls,
        score: str | None,
        posteriors: Sequence[str],
        batch: str | None,
        by: Sequence[str],
        label: str | None,
    ) -> "ScoreColumns":
        """The columns with these names, checked."""
        if (score is None) == (not posteriors):
            raise UserError(
                "name the column of the score, or those of the posteriors of all classes",
                arguments=["score", "posteriors"],
            )
        if len(posteriors) == 1:
            raise UserError(
                "posteriors need a column for each class; a single column is a score",
                arguments=["score"],
            )
        names = tuple(posteriors) if score is None else (score,)
        every = [*names, *by, *(key for key in (batch, label) if key is not None)]
        twice = next((name for name in every if every.count(name) > 1), None)
        if twice is not None:
            raise UserError(
                f"column {twice!r} is named twice; name each column for one purpose",
                arguments=["score", "posteriors", "batch", "by", "label"],
            )
        return cls(names, batch, tuple(by), label)


@dataclass(eq=False)
class Counter:
    """Adds up parts; holds the counts of a few of them, never rows.

    bins: count by cells in any case, as databases do; but not if rows are labelled.
    """

    columns: ScoreColumns
    bins: bool = False
    _parts: list[pl.DataFrame] = field(default_factory=list)
    _tally: Tally | None = None
    _n_usable: int = 0

    def __post_init__(self) -> None:
        self.bins = self.bins and self.columns.label is None

    def add(self, rows: pl.DataFrame) -> None:
        """Count the rows of a table that has the columns to read."""
        if not rows.height:
            return
        about = self.columns.about
        tallied_wide = self._tally is not None and self._tally.is_wide
        posteriors, cell = scored_cells(rows, self.columns, WIDE if tallied_wide else NARROW)
        if about.n_classes == 2 and not about.labelled:
            # The same cells of every batch occur again and again.
            self.bins = self.bins or not _are_few(posteriors[:, -1:], cell, about.most_values)
            if self.bins:
                self._tally = self._tally or Tally(about)
                if self._tally.add(*_groups(rows, self.columns), cell):
                    return
        self.add_counts(_counts(rows, self.columns, posteriors, cell, exact=not self.bins))

    def add_counts(self, counts: pl.DataFrame) -> None:
        """Add what has been counted elsewhere."""
        about = self.columns.about
        part = binned(about, counts) if self.bins else counts
        used = counts[CELL].is_between(0, about.end_of_rows, closed="left")
        self._n_usable += int(counts[COUNT].filter(used).sum())
        # Once the scores are many, cells are all that will be kept.
        self.bins = self.bins or about.values[0] not in counts.columns
        self._parts.append(all_wide(about, part) if self._all_wide else part)
        if sum(part.height for part in self._parts[1:]) > COMPACT_ROWS:
            self._parts = [added(about, self._parts)]
            check_size(self._parts[0])

    @uses_tables
    def sketch(self) -> Sketch:
        """The sketch of everything that was added."""
        about = self.columns.about
        parts = self._parts
        if self._tally is not None and self._tally.has_counts:
            counts = [binned(about, part) for part in parts]
            rest = [part for part in counts if not self._tally.add_counts(part)]
            tallied = self._tally.table()
            if not rest:
                return Sketch.of_sorted(about, tallied)
            parts = [tallied, *rest]
        return Sketch.of(about, parts or [counts_of(_nothing(self.columns), self.columns)])

    @property
    def _all_wide(self) -> bool:
        """Whether there are so many rows that every batch will be in the widest cells."""
        about = self.columns.about
        return self.bins and not about.labelled and self._n_usable > most_narrow(about)


def counts_of(rows: pl.DataFrame, columns: ScoreColumns) -> pl.DataFrame:
    """How many rows there are of each key and cell and, if scores are few, of each score."""
    return _counts(rows, columns, *scored_cells(rows, columns), exact=True)


def _counts(
    rows: pl.DataFrame,
    columns: ScoreColumns,
    posteriors: Posteriors,
    cell: cells.Cells,
    *,
    exact: bool,
) -> pl.DataFrame:
    about = columns.about
    keys, groups = _groups(rows, columns)
    counted = pl.DataFrame({GROUP: groups, CELL: cell})
    used = (cell >= 0)[:, np.newaxis]
    scores = posteriors[:, -1:] if about.n_classes == 2 else posteriors
    if exact and _are_few(scores, cell, about.most_values):
        # Minus zero is zero, and a row that is left out has no score.
        values = np.where(used, scores + 0.0, np.nan)
        columns_of_values = {name: values[:, k] for k, name in enumerate(about.values)}
        valued = counted.with_columns(
            pl.Series(name, column).fill_nan(None) for name, column in columns_of_values.items()
        )
        totals = valued.group_by([GROUP, CELL, *about.values]).agg(_number())
        by_score = added(about, [_with_keys(totals, keys, [*about.values, COUNT])])
        if about.values[0] in by_score.columns:
            return by_score
    if about.n_classes > 2:
        counted = counted.select(GROUP).with_columns(rounded_columns(about, cell, posteriors))
    counted = counted.with_columns(pl.lit(1, pl.Int64).alias(COUNT))
    numbers = [*about.totals, COUNT]
    totals = totals_by_key(counted, [GROUP, CELL, *about.codes], numbers)
    return _with_keys(totals, keys, [*about.codes, *numbers])


def scored_cells(
    rows: pl.DataFrame, columns: ScoreColumns, kind: ScoreCells = NARROW
) -> tuple[Posteriors, cells.Cells]:
    """The scores of rows, with gaps filled, and their cells. kind: the cells of two classes."""
    scores = rows.select(
        # Categories are text.
        (pl.col(name).cast(pl.String) if is_text(rows.schema[name]) else pl.col(name))
        .cast(pl.Float64, strict=False)
        .alias(f"score {k}")
        for k, name in enumerate(columns.scores)
    )
    has_gaps = any(column.null_count() for column in scores)
    posteriors = (scores.fill_null(0.5) if has_gaps else scores).to_numpy()
    cell = cells_of(posteriors, kind)
    if has_gaps:
        missing = scores.select(pl.any_horizontal(pl.all().is_null())).to_series()
        cell[missing.to_numpy()] = cells.MISSING
    return posteriors, cell


def _are_few(scores: NDArray[np.float64], cell: cells.Cells, most: int) -> bool:
    """Whether there may be few different scores, judging by the first rows."""
    first = scores[:FIRST_ROWS][cell[:FIRST_ROWS] >= 0]
    return pl.DataFrame(first).n_unique() <= most


def _number() -> pl.Expr:
    return pl.len().cast(pl.Int64).alias(COUNT)


def _with_keys(totals: pl.DataFrame, keys: pl.DataFrame, numbers: Sequence[str]) -> pl.DataFrame:
    return pl.concat([keys[totals[GROUP]], totals], how="horizontal").select(
        [*keys.columns, CELL, *numbers]
    )


def _groups(rows: pl.DataFrame, columns: ScoreColumns) -> tuple[pl.DataFrame, cells.Cells]:
    """The keys that occur, as text, and which of them each row has."""
    key_columns = [(BATCH, columns.batch), *((BY + name, name) for name in columns.by)]
    if columns.label is not None:
        key_columns.append((LABEL, columns.label))
    groups = np.zeros(rows.height, dtype=np.int64)
    texts = pl.DataFrame({"": [0]})
    for alias, name in key_columns:
        if name is None:
            texts = texts.with_columns(pl.lit(None, dtype=pl.String).alias(alias))
            continue
        encoded = rows[name].rechunk().to_arrow().dictionary_encode()
        levels = key_texts(pl.Series(alias, encoded.dictionary))
        with_gap = pl.DataFrame([levels.extend_constant(None, 1)])
        codes = encoded.indices.fill_null(len(levels)).to_numpy().astype(np.int64)
        groups = groups * len(with_gap) + codes
        texts = texts.join(with_gap, how="cross", maintain_order="left_right")
        if texts.height > rows.height + 1:
            occurring, groups = np.unique(groups, return_inverse=True)
            texts = texts[occurring]
    return texts.drop(""), groups


def _nothing(columns: ScoreColumns) -> pl.DataFrame:
    types = {name: pl.String() for name in columns.to_read}
    return pl.DataFrame(schema={**types, **{name: pl.Float64() for name in columns.scores}})
