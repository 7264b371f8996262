"""Parquet files: columns with types, read batch by batch."""

import io
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quantshift.tables.files.chunks import ROWS, Chunk, Frame, OpenTable, Progress, check_names
from quantshift.tables.formats.table_format import Rows, StoredRows, TableFile, TableFormat

if TYPE_CHECKING:
    import polars as pl


def _libraries() -> tuple[Any, Any]:
    """The reader of Parquet files, and the module that makes frames of its batches."""
    # Imported late, because most tables are not Parquet files.
    from pyarrow.parquet import ParquetFile

    from quantshift.tables.formats import frames

    return ParquetFile, frames


def _open(file: TableFile) -> OpenTable:
    ParquetFile, frames = _libraries()
    with ParquetFile(file.path) as parquet:
        schema = parquet.schema_arrow

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        first = 1
        with ParquetFile(file.path) as parquet:
            for batch in parquet.iter_batches(ROWS, columns=list(requested), use_threads=False):
                frame = frames.plain_frame(frames.polars_frame(batch)).select(requested)
                yield Chunk(first, frame)
                first += len(batch)

    types, nested = frames.arrow_types(schema)
    return OpenTable(file.name, tuple(schema.names), types, read, nested)


def _frame(file: TableFile, without: Sequence[str], _: Progress) -> Frame:
    ParquetFile, frames = _libraries()
    with ParquetFile(file.path) as parquet:
        check_names(file.name, parquet.schema_arrow.names)
        frame = frames.polars_frame(parquet.read())
    return Frame(file.name, frames.without_gaps(frame.drop(without, strict=False)))


def _stored(path: Path) -> StoredRows:
    ParquetFile, frames = _libraries()
    with ParquetFile(path) as parquet:
        columns = tuple(parquet.schema_arrow.names)
        groups = range(parquet.num_row_groups)
        sizes = tuple(parquet.metadata.row_group(group).num_rows for group in groups)

    def read(
        requested: Sequence[str], groups: Sequence[int] | None, n_rows: int
    ) -> "Iterator[pl.DataFrame]":
        with ParquetFile(path, pre_buffer=False) as parquet:
            for batch in parquet.iter_batches(n_rows, row_groups=groups, columns=list(requested)):
                yield frames.polars_frame(batch)

    return StoredRows(columns, sizes, read)


def _written(_: str, header: Sequence[str], rows: Rows) -> bytes:
    import polars as pl

    data = io.BytesIO()
    schema = dict.fromkeys(header, pl.String)
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(data)
    return data.getvalue()


PARQUET = TableFormat(
    name="Parquet",
    endings=(".parquet",),
    described="a Parquet file",
    magic=(b"PAR1",),
    open=_open,
    frame=_frame,
    joins_folder=True,
    write=_written,
    stored=_stored,
)
