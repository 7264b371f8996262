"""From tables to sketches: files of any size, part by part, databases, and clusters of machines."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from quantshift.corpora.readers import explained
from quantshift.data.chunks import require_columns
from quantshift.data.databases import is_database
from quantshift.data.reading import Progress, Source, files_of, open_table
from quantshift.data.typed_tables import given_frame
from quantshift.errors import UserError
from quantshift.sketches import cells
from quantshift.sketches.sketch_table import (
    BATCH,
    BY,
    CELL,
    COUNT,
    LABEL,
    About,
    Sketch,
    added,
    binned,
    check_size,
    joint_and_marginal,
)
from quantshift.sketches.tally import WIDTH, Tally
from quantshift.types import Posteriors

PART_ROWS = 1 << 18
"""Rows of a Parquet file that are in memory at once."""

FEW_ROWS = 1 << 17
"""Rows of other files that are counted at once."""

FIRST_ROWS = 1 << 14
"""Rows of a part that tell whether its scores may be few."""

MOST_COUNTED = 1 << 20
"""Cells of all keys of a part that are counted in one array."""

GROUP = "group"

COMPACT_ROWS = 1 << 20
"""Counts of parts that are kept before they are added up."""


@dataclass(frozen=True)
class Columns:
    """Where scores and keys stand in a table."""

    scores: tuple[str, ...]
    batch: str | None = None
    by: tuple[str, ...] = ()
    label: str | None = None

    @property
    def about(self) -> About:
        """What a sketch of these columns is of."""
        return About(self.scores, self.by, self.label)

    @property
    def wanted(self) -> list[str]:
        """The columns to read."""
        keys = [self.batch, *self.by, self.label]
        return list(dict.fromkeys([*self.scores, *(key for key in keys if key is not None)]))

    @classmethod
    def of(
        cls,
        score: str | None,
        posteriors: Sequence[str],
        batch: str | None,
        by: Sequence[str],
        label: str | None,
    ) -> "Columns":
        """The columns that were named."""
        if (score is None) == (not posteriors):
            raise UserError(
                "name the column of the score, or those of the posteriors of all classes",
                arguments=["score", "posteriors"],
            )
        if len(posteriors) == 1:
            raise UserError("posteriors need a column for each class", arguments=["score"])
        names = tuple(posteriors) if score is None else (score,)
        if len(set(names)) < len(names) or len(set(by)) < len(by):
            raise UserError("a column is named twice", arguments=["posteriors", "by"])
        return cls(names, batch, tuple(by), label)


@dataclass(eq=False)
class Counter:
    """Adds up parts; holds the counts of a few of them, never rows.

    bins: count by cells in any case, as databases do.
    """

    columns: Columns
    bins: bool = False
    _parts: list[pl.DataFrame] = field(default_factory=list)
    _tally: Tally | None = None

    def add(self, rows: pl.DataFrame) -> None:
        """Count the rows of a table that has the wanted columns."""
        if not rows.height:
            return
        about = self.columns.about
        if self.bins and about.n_classes == 2:
            # Scores are many by now, and cells of every batch are met again and again.
            self._tally = self._tally or Tally()
            keys, groups = _groups(rows, self.columns)
            if self._tally.add(keys, groups, scored_cells(rows, self.columns)[1]):
                return
        self.add_counts(counts_of(rows, self.columns, exact=not self.bins))

    def add_counts(self, counts: pl.DataFrame) -> None:
        """Add what has been counted elsewhere."""
        about = self.columns.about
        self._parts.append(binned(about, counts) if self.bins else counts)
        # Once the scores are many, cells are all that will be kept.
        self.bins = self.bins or about.values[0] not in counts.columns
        if sum(part.height for part in self._parts[1:]) > COMPACT_ROWS:
            self._parts = [added(about, self._parts)]
            check_size(self._parts[0])

    def sketch(self) -> Sketch:
        """All that was added."""
        about = self.columns.about
        if self._tally is not None and self._tally.has_counts:
            counts = [binned(about, part) for part in self._parts]
            rest = [part for part in counts if not self._tally.add_counts(part)]
            tallied = self._tally.table(about.keys)
            if not rest:
                return Sketch.of_sorted(about, tallied)
            return Sketch.of(about, [tallied, *rest])
        parts = self._parts or [counts_of(_nothing(self.columns), self.columns, exact=True)]
        return Sketch.of(about, parts)


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
    """Count the rows of tables by batch and score: all that an estimate needs of them.

    source: a path, a pattern, a folder, the URL of a table in a database, a data frame, or a list
        of these. Memory does not grow with the number of rows.
    score: column with the posterior of the second of two classes; or posteriors: a column for each
        class. batch: column whose values are the samples to quantify (default: one sample).
    by: further columns to count by. label: column of the true classes, for a sketch that methods
        are fitted on.
    bins: count by cells even if scores are few, as databases do.
    cluster: address of a Dask scheduler whose workers see the same files.
    """
    columns = Columns.of(score, posteriors, batch, by, label)
    sources = source if isinstance(source, list | tuple) else [source]
    files = [file for one in sources for file in files_of(one)]
    if not files:
        raise UserError("no table is named", arguments=["source"])
    if cluster is not None:
        from quantshift.sketches.cluster import sketch_on_cluster

        return sketch_on_cluster(files, columns, cluster, bins=bins, progress=progress)
    counter = Counter(columns, bins)
    done = 0
    for file in files:
        for n_rows in count_file(counter, file):
            done += n_rows
            if progress is not None:
                progress(f"counting {_named(file)}", done, 0)
    return counter.sketch()


def count_file(
    counter: Counter, file: Source, row_groups: Sequence[int] | None = None
) -> Iterator[int]:
    """Count a table part by part, and tell how many rows each has. row_groups: of Parquet."""
    columns = counter.columns
    if is_database(file):
        from quantshift.sketches.sql import counts_in_database

        counts = counts_in_database(str(file), columns).table
        counter.add_counts(counts)
        yield int(counts[COUNT].sum())
        return
    for rows in rows_of(file, columns, row_groups):
        counter.add(rows)
        yield rows.height


def rows_of(
    file: Source, columns: Columns, row_groups: Sequence[int] | None = None
) -> Iterator[pl.DataFrame]:
    """The rows of a table, part by part, with the wanted columns."""
    parts = (
        _parquet_rows(Path(file), columns, row_groups) if is_parquet(file) else _rows(file, columns)
    )
    for rows in parts:
        if rows.height:
            check_keys(rows.schema, columns)
            yield rows


def is_parquet(file: Source) -> bool:
    """Whether a source is a Parquet file."""
    return isinstance(file, str | Path) and Path(file).suffix.lower() == ".parquet"


def counts_of(rows: pl.DataFrame, columns: Columns, *, exact: bool) -> pl.DataFrame:
    """How many rows there are of each key and cell and, if few, of each score."""
    about = columns.about
    posteriors, cell = scored_cells(rows, columns)
    keys, groups = _groups(rows, columns)
    counted = pl.DataFrame({GROUP: groups, CELL: cell})
    used = (cell >= 0)[:, np.newaxis]
    kept = posteriors[:, -1:] if about.n_classes == 2 else posteriors
    if exact and _are_few(kept, about.most_values):
        # Minus zero is zero, and a row that is left out has no score.
        values = np.where(used, kept + 0.0, np.nan)
        named = {name: values[:, k] for k, name in enumerate(about.values)}
        valued = counted.with_columns(
            pl.Series(name, column).fill_nan(None) for name, column in named.items()
        )
        totals = valued.group_by([GROUP, CELL, *about.values]).agg(_number())
        by_score = added(about, [_with_keys(totals, keys, [*about.values, COUNT])])
        if about.values[0] in by_score.columns:
            return by_score
    if about.n_classes > 2:
        once = np.ones(len(cell), dtype=np.int64)
        totals = joint_and_marginal(about, counted.select(GROUP), cell, posteriors, once)
    else:
        totals = _numbers(groups, cell, keys.height)
    return _with_keys(totals, keys, [*about.totals, COUNT])


def scored_cells(rows: pl.DataFrame, columns: Columns) -> tuple[Posteriors, cells.Cells]:
    """The scores of rows, with something in every gap, and their cells."""
    scores = rows.select(
        pl.col(name).cast(pl.Float64, strict=False).alias(f"score {k}")
        for k, name in enumerate(columns.scores)
    )
    has_gaps = any(column.null_count() for column in scores)
    posteriors = (scores.fill_null(0.5) if has_gaps else scores).to_numpy()
    cell = cells.cells_of(posteriors, labelled=columns.label is not None)
    if has_gaps:
        missing = scores.select(pl.any_horizontal(pl.all().is_null())).to_series()
        cell[missing.to_numpy()] = cells.MISSING
    return posteriors, cell


def _are_few(scores: NDArray[np.float64], most: int) -> bool:
    """Whether the first rows leave it open that there are few different scores."""
    return pl.DataFrame(scores[:FIRST_ROWS]).n_unique() <= most + 1


def _number() -> pl.Expr:
    return pl.len().cast(pl.Int64).alias(COUNT)


def _numbers(groups: cells.Cells, cell: cells.Cells, n_groups: int) -> pl.DataFrame:
    """How many rows there are of each group and cell of a score."""
    place = groups * WIDTH + (cell - cells.OUTSIDE)
    if n_groups * WIDTH > MOST_COUNTED:
        totals = pl.Series(CELL, place).value_counts(name=COUNT)
        occupied, counts = totals[CELL].to_numpy(), totals[COUNT].cast(pl.Int64).to_numpy()
    else:
        everywhere = np.bincount(place, minlength=n_groups * WIDTH)
        occupied = np.flatnonzero(everywhere)
        counts = everywhere[occupied]
    return pl.DataFrame(
        {GROUP: occupied // WIDTH, CELL: occupied % WIDTH + cells.OUTSIDE, COUNT: counts}
    )


def _with_keys(totals: pl.DataFrame, keys: pl.DataFrame, numbers: Sequence[str]) -> pl.DataFrame:
    return pl.concat([keys[totals[GROUP]], totals], how="horizontal").select(
        [*keys.columns, CELL, *numbers]
    )


def _groups(rows: pl.DataFrame, columns: Columns) -> tuple[pl.DataFrame, cells.Cells]:
    """The keys that occur, as text, and which of them each row has."""
    named = [(BATCH, columns.batch), *((BY + name, name) for name in columns.by)]
    if columns.label is not None:
        named.append((LABEL, columns.label))
    groups = np.zeros(rows.height, dtype=np.int64)
    texts = pl.DataFrame({"": [0]})
    for alias, name in named:
        if name is None:
            texts = texts.with_columns(pl.lit(None, dtype=pl.String).alias(alias))
            continue
        encoded = rows[name].rechunk().to_arrow().dictionary_encode()
        known = pl.Series(alias, encoded.dictionary).cast(pl.String)
        with_gap = pl.DataFrame([known.extend_constant(None, 1)])
        codes = encoded.indices.fill_null(len(known)).to_numpy().astype(np.int64)
        groups = groups * len(with_gap) + codes
        texts = texts.join(with_gap, how="cross", maintain_order="left_right")
        if texts.height > rows.height + 1:
            occurring, groups = np.unique(groups, return_inverse=True)
            texts = texts[occurring]
    return texts.drop(""), groups


def check_keys(types: Mapping[str, pl.DataType], columns: Columns) -> None:
    """Refuse columns of decimal numbers as keys: databases write them in different ways."""
    for name in [columns.batch, *columns.by, columns.label]:
        kind = None if name is None else types.get(name)
        if kind is not None and (kind.is_float() or kind.is_nested()):
            raise UserError(
                f"column {name!r} holds {'decimal numbers' if kind.is_float() else 'lists'}: rows "
                "are counted by text, whole numbers or dates",
                arguments=["batch", "by"],
            )


def _parquet_rows(
    path: Path, columns: Columns, row_groups: Sequence[int] | None
) -> Iterator[pl.DataFrame]:
    with explained(str(path)), pa.parquet.ParquetFile(path, pre_buffer=False) as file:
        require_columns(str(path), file.schema_arrow.names, columns.wanted)
        batches = file.iter_batches(PART_ROWS, row_groups=row_groups, columns=columns.wanted)
        for batch in batches:
            yield pl.DataFrame(batch)


def _rows(file: Source, columns: Columns) -> Iterator[pl.DataFrame]:
    if not isinstance(file, str | Path):
        # As it is: a gap and NaN are told apart, as databases do.
        frame = given_frame(file, "the table")
        require_columns("the table", frame.columns, columns.wanted)
        yield from frame.select(columns.wanted).iter_slices(PART_ROWS)
        return
    table = open_table(file)
    table.require(columns.wanted)
    waiting: list[pl.DataFrame] = []
    with closing(table.chunks(columns.wanted)) as chunks:
        for chunk in chunks:
            waiting.append(chunk.columns)
            if sum(part.height for part in waiting) >= FEW_ROWS:
                yield pl.concat(waiting)
                waiting = []
    if waiting:
        yield pl.concat(waiting)


def _nothing(columns: Columns) -> pl.DataFrame:
    types = {name: pl.String() for name in columns.wanted}
    return pl.DataFrame(schema={**types, **{name: pl.Float64() for name in columns.scores}})


def _named(file: Source) -> str:
    if is_database(file):
        from quantshift.data.databases import shown

        return shown(str(file))
    return Path(file).name if isinstance(file, str | Path) else "the table"
