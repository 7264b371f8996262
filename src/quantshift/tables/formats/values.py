"""Tables of Python's values: of JSON and of arrays."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from quantshift.errors import UserError
from quantshift.tables.columns.cell_names import Cell, cell_of, text_of_value
from quantshift.tables.files.chunks import MISSING, ROWS, Chunk, OpenTable


def kind_of_value(value: Any) -> type:
    """The type of a value, to infer the type of its column."""
    # Integers that do not fit into 64 bits are kept as strings.
    return str if type(value) is int and not -(2**63) <= value < 2**63 else type(value)


def column_type(kinds: set[type]) -> type:
    """The type of a column with values of these types; strings if they have none in common."""
    kinds = kinds - {type(None)}
    if kinds in ({bool}, {int}):
        return next(iter(kinds))
    return float if kinds and kinds <= {int, float} else str


def typed_cells(values: Sequence[Any], type_: type) -> list[Cell]:
    """The values as a column of this type; None for every kind of missing value."""
    if type_ is str:
        return text_cells([None if value is None else text_of_value(value) for value in values])
    if type_ is float:
        return [None if v is None or v != v else float(v) for v in values]
    return list(values)


def text_cells(cells: Sequence[str | None]) -> list[Cell]:
    """The cells of a file without types; None for those that are missing values."""
    return [None if cell is None or cell.strip() in MISSING else cell for cell in cells]


def table_of_values(name: str, columns: Mapping[str, Sequence[Any]]) -> OpenTable:
    """The table of columns in memory, of values of any kind."""
    types = {key: column_type({kind_of_value(v) for v in columns[key]}) for key in columns}
    converted = {key: typed_cells(columns[key], types[key]) for key in columns}
    nested = frozenset(
        key for key in columns if any(isinstance(value, dict | list) for value in columns[key])
    )

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        import polars as pl

        frame = pl.DataFrame(converted, schema=types)
        for start in range(0, len(frame), ROWS):
            yield Chunk(1 + start, frame.select(requested).slice(start, ROWS))

    return OpenTable(name, tuple(columns), types, read, nested)


def is_pandas(source: Any) -> bool:
    """Whether this is a frame of pandas."""
    has_rows = hasattr(source, "iloc") and hasattr(source, "columns")
    return has_rows and not isinstance(source, type)


def pandas_values(column: Any) -> list[Any]:
    """The values of a column of pandas, or of one of its arrays; None where it has none."""
    if column.dtype.kind == "M" and getattr(column.dtype, "tz", None) is None:
        moments = column.to_numpy()
        texts = np.char.replace(np.datetime_as_string(moments), "T", " ").tolist()
        return [None if gap else text for gap, text in zip(np.isnat(moments), texts, strict=True)]
    objects, gaps = column.astype(object).tolist(), column.isna().tolist()
    values = [None if gap else value for value, gap in zip(objects, gaps, strict=True)]
    kinds = {type(value) for value in values}
    # Values of several types are strings, as they are printed.
    return values if len(kinds - {type(None)}) > 1 else [cell_of(value) for value in values]


def check_is_frame(source: Any, name: str) -> None:
    """Refuse what is neither a frame of pandas nor one that can be read as Arrow."""
    if isinstance(source, type) or not hasattr(source, "__arrow_c_stream__"):
        raise UserError(f"{name} must be a path or a data frame, got {type(source).__name__}")
