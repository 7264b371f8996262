"""Data frames of any library, and columns of Python values."""

import json
from collections.abc import Generator, Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from quantshift.base.imports import extra_needed
from quantshift.errors import DataError, UserError
from quantshift.tables.chunks import ROWS, Chunk, OpenTable, check_names, polars_frame, without_gaps


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
    with extra_needed("data frames of other libraries than polars"):
        import pyarrow as pa
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


def arrow_types(schema: Any) -> tuple[dict[str, pl.DataType], frozenset[str]]:
    """The types of an Arrow schema's columns in chunks, and the columns that are nested."""
    import pyarrow as pa

    empty = [polars_frame(pa.table([[]], schema=pa.schema([field]))) for field in schema]
    types = {column.columns[0]: plain(column).dtypes[0] for column in empty}
    nested = frozenset(field.name for field in schema if pa.types.is_nested(field.type))
    return types, nested


def kind_of_value(value: Any) -> type:
    """The type of a value, to infer the type of its column."""
    # Integers that do not fit into 64 bits are kept as strings.
    return str if type(value) is int and not -(2**63) <= value < 2**63 else type(value)


def column_type(kinds: set[type]) -> pl.DataType:
    """The type of a column with values of these types; strings if they have none in common."""
    kinds = kinds - {type(None)}
    if kinds == {bool}:
        return pl.Boolean()
    if kinds == {int}:
        return pl.Int64()
    return pl.Float64() if kinds and kinds <= {int, float} else pl.String()


def series_of(values: Sequence[Any], kind: pl.DataType) -> pl.Series:
    """The values as a column of this type."""
    if kind == pl.String:
        values = [value if value is None else _string(value) for value in values]
    return pl.Series(values, dtype=kind)


def _string(value: Any) -> str:
    if isinstance(value, str):
        # JSON allows lone surrogates, UTF-8 does not.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict | list):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)
