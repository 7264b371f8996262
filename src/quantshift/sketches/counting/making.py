"""From tables to sketches: files of any size, part by part, databases, and clusters of machines."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.base.forks import uses_tables
from quantshift.base.options import suggests_arguments
from quantshift.base.types import Posteriors
from quantshift.errors import DataError, UserError
from quantshift.sketches.about import BATCH, BY, CELL, COUNT, LABEL, About
from quantshift.sketches.cells import score as cells
from quantshift.sketches.cells.score import NARROW, WIDE, ScoreCells
from quantshift.sketches.cells.widths import all_wide, most_narrow, totals_by_key
from quantshift.sketches.counting.source_columns import check_types, is_text, key_texts
from quantshift.sketches.counting.source_files import keys_of_folders, unchanged
from quantshift.sketches.counting.tally import Tally
from quantshift.sketches.sketch_table import (
    Sketch,
    added,
    binned,
    cells_of,
    check_size,
    is_sketch,
    rounded_columns,
)
from quantshift.tables.broken_files import explained
from quantshift.tables.chunks import require_columns
from quantshift.tables.formats import database_of, format_of
from quantshift.tables.formats.frames import given_frame
from quantshift.tables.formats.table_format import StoredRows
from quantshift.tables.reading import (
    Progress,
    Source,
    check_once,
    copy_notes,
    files_of,
    open_table,
    shown_file,
)

PART_ROWS = 1 << 18
"""Rows that are in memory at once if a file is read as it is stored."""

FEW_ROWS = 1 << 17
"""Rows of other files that are counted at once."""

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


@suggests_arguments
def sketch(
    source: Source,
    *,
    score: str | None = None,
    posteriors: Sequence[str] = (),
    batch: str | None = None,
    by: Sequence[str] = (),
    label: str | None = None,
    bins: bool = False,
    cluster: str | None = None,
    progress: Progress = None,
) -> Sketch:
    """Count the rows of tables by batch and score: an estimate needs nothing else.

    source: a path, a pattern, a folder, the URL of a table in a database, a data frame, or a list
        of these. Memory does not grow with the number of rows.
    score: column with the posterior of the second of two classes; or posteriors: a column for each
        class. batch: column whose values are the samples to quantify (default: one sample).
    by: further columns to count by. label: column of the true classes, for a sketch that methods
        are fitted on.
    bins: count by cells even if scores are few, as databases do. Labelled rows keep their scores
        all the same, as long as these are not very many.
    cluster: address of a Dask scheduler whose workers see the same files.

    Warns of files with the same content, and of hidden sheets of workbooks, which are not read.
    """
    columns = ScoreColumns.of(score, posteriors, batch, by, label)
    sources = source if isinstance(source, list | tuple) else [source]
    files = [file for one in sources for file in files_of(one)]
    if not files:
        raise UserError("no table is named", arguments=["source"])
    check_once(files)
    for note in copy_notes(files):
        warnings.warn(note, stacklevel=2)
    with unchanged([file for file in files if isinstance(file, str | Path)]):
        if cluster is not None:
            from quantshift.sketches.counting.cluster import sketch_on_cluster

            return sketch_on_cluster(files, columns, cluster, bins=bins, progress=progress)
        counter = Counter(columns, bins)
        done = 0
        for file in files:
            for n_rows in count_file(counter, file):
                done += n_rows
                if progress is not None:
                    progress(f"counting {shown_file(file)}", done, 0)
        return counter.sketch()


def count_file(
    counter: Counter, file: Source, groups: Sequence[int] | None = None
) -> Iterator[int]:
    """Count a table part by part, and yield the number of rows of each part.

    groups: the groups of stored rows to count; None: all.
    """
    columns = counter.columns
    database = database_of(file)
    if database is not None:
        from quantshift.sketches.counting.sql import counts_in_database

        types = database.types(str(file))
        require_columns(shown_file(file), list(types), columns.to_read)
        check_types(types, columns.scores, columns.keys)
        counts = counts_in_database(database, str(file), columns).table
        counter.add_counts(counts)
        yield int(counts[COUNT].sum())
        return
    for rows in score_rows(file, columns, groups):
        counter.add(rows)
        yield rows.height


def score_rows(
    file: Source, columns: ScoreColumns, groups: Sequence[int] | None = None
) -> Iterator[pl.DataFrame]:
    """The rows of a table, part by part, with the columns to read."""
    stored = stored_rows(file)
    parts = _rows(file, columns) if stored is None else _as_stored(file, stored, columns, groups)
    for rows in parts:
        if rows.height:
            check_types(rows.schema, columns.scores, columns.keys)
            yield rows


def stored_rows(file: Source) -> StoredRows | None:
    """The rows of a file as they are stored; None if its format has no such way to read them."""
    table_format = format_of(Path(file)) if isinstance(file, str | Path) else None
    if table_format is None or table_format.stored is None:
        return None
    with explained(str(file)):
        return table_format.stored(Path(file))


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


def _as_stored(
    file: Source, stored: StoredRows, columns: ScoreColumns, groups: Sequence[int] | None
) -> Iterator[pl.DataFrame]:
    path, stored_names = Path(file), stored.columns
    if is_sketch(path):
        raise DataError(f"{path}: a sketch, whose rows are counted already; use it as it is")
    folder_keys = {
        name: value for name, value in keys_of_folders(path).items() if name not in stored_names
    }
    require_columns(str(path), [*stored_names, *folder_keys], columns.to_read)
    names = [name for name in columns.to_read if name in stored_names]
    keys = [
        pl.lit(value, pl.String).alias(name)
        for name, value in folder_keys.items()
        if name in columns.to_read
    ]
    with explained(str(path)):
        for rows in stored.read(names, groups, PART_ROWS):
            yield rows.with_columns(keys)


def _rows(file: Source, columns: ScoreColumns) -> Iterator[pl.DataFrame]:
    if not isinstance(file, str | Path):
        # Not converted: a gap and NaN stay different, as in databases.
        frame = given_frame(file, "the table")
        require_columns("the table", frame.columns, columns.to_read)
        yield from frame.select(columns.to_read).iter_slices(PART_ROWS)
        return
    table = open_table(file)
    table.require(columns.to_read)
    for note in table.notes:
        warnings.warn(f"{table.name}: {note}", stacklevel=2)
    waiting: list[pl.DataFrame] = []
    with closing(table.chunks(columns.to_read)) as chunks:
        for chunk in chunks:
            waiting.append(chunk.columns)
            if chunk.ragged:
                # A row that cannot be read is one without a batch and a score.
                waiting.append(chunk.columns.clear(chunk.ragged))
            if sum(part.height for part in waiting) >= FEW_ROWS:
                yield pl.concat(waiting)
                waiting = []
    if waiting:
        yield pl.concat(waiting)


def _nothing(columns: ScoreColumns) -> pl.DataFrame:
    types = {name: pl.String() for name in columns.to_read}
    return pl.DataFrame(schema={**types, **{name: pl.Float64() for name in columns.scores}})
