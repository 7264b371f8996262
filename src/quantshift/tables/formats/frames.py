"""Data frames of any library as those of polars, and tables of them."""

from collections.abc import Generator, Sequence
from itertools import chain
from typing import Any

import polars as pl
import polars.selectors as cs
import pyarrow as pa

from quantshift.claims.findings import Finding
from quantshift.errors import DataError, UserError
from quantshift.tables.files.chunks import MISSING, ROWS, CellType, Chunk, OpenTable, check_names
from quantshift.tables.formats.values import (
    check_is_frame,
    column_type,
    is_pandas,
    kind_of_value,
    typed_cells,
)

_PYTHON_TYPES: dict[pl.DataType, type] = {
    pl.String(): str,
    pl.Int64(): int,
    pl.Float64(): float,
    pl.Boolean(): bool,
}


def given_frame(source: Any, name: str) -> pl.DataFrame:
    """A data frame of any library as a polars frame."""
    if isinstance(source, pl.DataFrame):
        return source
    of_pandas = is_pandas(source)
    if of_pandas:
        names = [str(column) for column in source.columns]
        check_names(name, names)
        source = source.set_axis(names, axis=1)
    check_is_frame(source, name)
    try:
        table = pa.table(source)
        check_names(name, table.schema.names)
        frame = polars_frame(table)
    except DataError:
        raise
    except (pa.ArrowException, TypeError, ValueError) as error:
        if not of_pandas:
            kind = type(source).__name__
            raise UserError(
                f"{name} must be a path or a data frame, got {kind}; a single column is a data "
                "frame too: use its to_frame()"
            ) from error
        # A pandas column may hold values of several types.
        frame = pl.DataFrame({column: _mixed(source[column]) for column in names})
    if of_pandas:
        # Arrow takes truth values after a number for 0 and 1.
        objects = [column for column in names if source[column].dtype == object]
        frame = frame.with_columns(
            _mixed(source[column]).alias(column)
            for column in objects
            if frame[column].dtype.is_numeric()
        )
    # The index of a pandas frame is not a column.
    return frame.select(cs.exclude(cs.matches(r"^__index_level_\d+__$")))


def frame_table(name: str, frame: pl.DataFrame, findings: tuple[Finding, ...] = ()) -> OpenTable:
    """The table of a frame in memory."""

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        first = 1
        for part in frame.select(requested).iter_slices(ROWS):
            yield Chunk(first, plain_frame(part))
            first += len(part)

    nested = frozenset(frame.select(cs.nested() | cs.object()).columns)
    types = {key: cell_type(kind) for key, kind in plain_frame(frame.clear()).schema.items()}
    return OpenTable(name, tuple(frame.columns), types, read, nested, findings)


def _mixed(column: Any) -> pl.Series:
    """A column of pandas that holds values of several types."""
    values = column.astype(object).where(column.notna(), None).tolist()
    type_ = column_type({kind_of_value(value) for value in values})
    return pl.Series(typed_cells(values, type_), dtype=pl.DataType.from_python(type_))


def plain_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with numbers, booleans, dates and strings only; missing values are null."""
    odd = frame.select(cs.nested() | cs.object() | cs.binary())
    return without_gaps(
        frame.with_columns(
            cs.categorical().cast(pl.String),
            cs.enum().cast(pl.String),
            cs.decimal().cast(pl.Float64),
            cs.by_dtype(pl.Null).cast(pl.String),
            *(
                pl.Series(column.name, typed_cells(column.to_list(), str), pl.String)
                for column in odd
            ),
        )
    )


def cell_type(kind: pl.DataType) -> CellType:
    """The type of a column with cells of this type of polars."""
    return _PYTHON_TYPES.get(kind, kind)


def arrow_types(schema: Any) -> tuple[dict[str, CellType], frozenset[str]]:
    """The types of an Arrow schema's columns in chunks, and the columns that are nested."""
    types: dict[str, CellType] = {}
    for field in schema:
        empty = plain_frame(polars_frame(pa.table([[]], schema=pa.schema([field]))))
        types |= {name: cell_type(kind) for name, kind in empty.schema.items()}
    nested = frozenset(field.name for field in schema if pa.types.is_nested(field.type))
    return types, nested


def polars_frame(table: Any) -> pl.DataFrame:
    """An Arrow table or batch as a frame with the same names; an ArrowInvalid if it is broken."""
    # Polars takes texts as they are, and panics if they are not UTF-8. A panic prints lines of its
    # own, so it is prevented where this is possible.
    table.validate(full=True)
    _check_descriptions(table.schema)
    try:
        frame = pl.DataFrame(table)
    except pl.exceptions.PanicException as error:
        raise _damaged() from error
    # Polars would invent a name for a column without one.
    frame.columns = table.schema.names
    return frame


def _check_descriptions(schema: Any) -> None:
    for described in (schema, *schema):
        for text in chain.from_iterable((described.metadata or {}).items()):
            try:
                text.decode()
            except UnicodeDecodeError as error:
                raise _damaged() from error


def _damaged() -> Exception:
    return pa.ArrowInvalid("the description of its columns is damaged")  # type: ignore[no-any-return]


def without_gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with null for every kind of missing value."""
    is_gap = cs.string().str.strip_chars().is_in(list(MISSING))
    return frame.with_columns(pl.when(~is_gap).then(cs.string()), cs.float().fill_nan(None))
