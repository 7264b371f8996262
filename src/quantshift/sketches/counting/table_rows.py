"""The rows of one table, of any size, part by part; a database counts its own."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import polars as pl

from quantshift.errors import DataError
from quantshift.sketches.about import COUNT
from quantshift.sketches.counting.counter import Counter, ScoreColumns
from quantshift.sketches.counting.source_columns import check_types
from quantshift.sketches.counting.source_files import keys_of_folders
from quantshift.sketches.counting.sql import counts_in_database
from quantshift.sketches.sketch_table import (
    is_sketch,
)
from quantshift.tables.files.broken_files import explained
from quantshift.tables.files.chunks import require_columns
from quantshift.tables.formats import database_of, format_of
from quantshift.tables.formats.frames import given_frame
from quantshift.tables.formats.table_format import StoredRows
from quantshift.tables.reading import (
    Source,
    open_table,
    shown_file,
)

PART_ROWS = 1 << 18
"""Rows that are in memory at once if a file is read as it is stored."""

FEW_ROWS = 1 << 17
"""Rows of other files that are counted at once."""


def count_file(
    counter: Counter, file: Source, groups: Sequence[int] | None = None
) -> Iterator[int]:
    """Count a table part by part, and yield the number of rows of each part.

    groups: the groups of stored rows to count; None: all.
    """
    columns = counter.columns
    database = database_of(file)
    if database is not None:
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
    for found in table.findings:
        warnings.warn(found.in_table(table.name).sentence, stacklevel=2)
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
