"""Tables whose columns have types: Parquet files and data frames."""

from collections.abc import Generator, Sequence
from typing import Any

import polars as pl
import polars.selectors as cs
import pyarrow as pa

from quantshift.errors import DataError, UserError
from quantshift.tables.chunks import ROWS, Chunk, OpenTable, check_names, polars_frame, without_gaps
from quantshift.tables.files import TableFile
from quantshift.tables.values import column_type, kind_of_value, series_of


def parquet_table(file: TableFile) -> OpenTable:
    """The table of a Parquet file."""
    # Imported inside functions, because most tables are not Parquet files.
    from pyarrow.parquet import ParquetFile

    with ParquetFile(file.path) as parquet:
        schema = parquet.schema_arrow

    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        first = 1
        with ParquetFile(file.path) as parquet:
            for batch in parquet.iter_batches(ROWS, columns=list(wanted), use_threads=False):
                yield Chunk(first, plain(polars_frame(batch)).select(wanted))
                first += len(batch)

    nested = frozenset(field.name for field in schema if pa.types.is_nested(field.type))
    empty = [polars_frame(pa.table([[]], schema=pa.schema([field]))) for field in schema]
    types = {column.columns[0]: plain(column).dtypes[0] for column in empty}
    return OpenTable(file.name, tuple(schema.names), types, read, nested)


def parquet_frame(file: TableFile) -> pl.DataFrame:
    """A Parquet file as one frame."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(file.path) as parquet:
        check_names(file.name, parquet.schema_arrow.names)
        return polars_frame(parquet.read())


def given_frame(source: Any, name: str) -> pl.DataFrame:
    """A data frame of any library as a polars frame."""
    if isinstance(source, pl.DataFrame):
        return source
    kind = type(source).__name__
    is_pandas = hasattr(source, "iloc") and hasattr(source, "columns")
    is_pandas &= not isinstance(source, type)
    if is_pandas:
        names = [str(column) for column in source.columns]
        check_names(name, names)
        source = source.set_axis(names, axis=1)
    if isinstance(source, type) or not hasattr(source, "__arrow_c_stream__"):
        raise UserError(f"{name} must be a path or a data frame, got {kind}")
    try:
        table = pa.table(source)
        check_names(name, table.schema.names)
        frame = polars_frame(table)
    except DataError:
        raise
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as error:
        if not is_pandas:
            raise UserError(
                f"{name} must be a path or a data frame, got {kind}; a single column is a data "
                "frame too: use its to_frame()"
            ) from error
        # A pandas column may hold values of several types.
        frame = pl.DataFrame({column: _mixed(source[column]) for column in names})
    if is_pandas:
        # Arrow takes truth values after a number for 0 and 1.
        objects = [column for column in names if source[column].dtype == object]
        frame = frame.with_columns(
            _mixed(source[column]).alias(column)
            for column in objects
            if frame[column].dtype.is_numeric()
        )
    # The index of a pandas frame is not a column.
    return frame.select(cs.exclude(cs.matches(r"^__index_level_\d+__$")))


def frame_table(name: str, frame: pl.DataFrame, notes: tuple[str, ...] = ()) -> OpenTable:
    """The table of a frame in memory."""

    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        first = 1
        for part in frame.select(wanted).iter_slices(ROWS):
            yield Chunk(first, plain(part))
            first += len(part)

    nested = frozenset(frame.select(cs.nested() | cs.object()).columns)
    types = dict(plain(frame.clear()).schema)
    return OpenTable(name, tuple(frame.columns), types, read, nested, notes)


def _mixed(column: Any) -> pl.Series:
    """A column of pandas that holds values of several types."""
    values = column.astype(object).where(column.notna(), None).tolist()
    return series_of(values, column_type({kind_of_value(value) for value in values}))


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with numbers, booleans, dates and strings only; missing values are null."""
    odd = frame.select(cs.nested() | cs.object() | cs.binary())
    return without_gaps(
        frame.with_columns(
            cs.categorical().cast(pl.String),
            cs.enum().cast(pl.String),
            cs.decimal().cast(pl.Float64),
            cs.by_dtype(pl.Null).cast(pl.String),
            *(series_of(column.to_list(), pl.String()).alias(column.name) for column in odd),
        )
    )
