"""The cells of consecutive rows: columns of Python's values, or a frame of polars.

`judge` and sheets of labels work on values (`values`), so that they need no other package. What
works on many columns of many rows takes the frame (`frame`). Each kind of cells gives both.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

from quantshift.tables.columns.cell_names import Cell, number_of, text_of

if TYPE_CHECKING:
    import polars as pl

CellType: TypeAlias = "type | pl.DataType"
"""The type of a column: str, int, float or bool, or one of polars for all other columns."""

Columns: TypeAlias = Mapping[str, Sequence[Cell]]
"""Columns of values by their names, all of one length."""


class AbstractCells(ABC):
    """The cells of consecutive rows; None or null where a value is missing."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @abstractmethod
    def values(self, name: str) -> list[Cell]:
        """A column, all of one type: str, int, float or bool; dates and times are texts."""

    @abstractmethod
    def frame(self) -> "pl.DataFrame":
        """All columns, with their types."""

    @abstractmethod
    def select(self, names: Sequence[str]) -> "AbstractCells":
        """Some of the columns, in this order."""

    @abstractmethod
    def slice(self, start: int, n_rows: int) -> "AbstractCells":
        """At most n_rows rows, beginning with row `start`, counted from 0."""

    @abstractmethod
    def cast(self, types: Mapping[str, CellType]) -> "AbstractCells":
        """The columns with types that hold all values of those that they have."""


@final
class ListedCells(AbstractCells):
    """Columns of values; types: str, int, float or bool for each."""

    def __init__(self, columns: Mapping[str, list[Cell]], types: Mapping[str, CellType]) -> None:
        self._columns = dict(columns)
        self._types = {name: types[name] for name in self._columns}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def values(self, name: str) -> list[Cell]:
        """A column."""
        return self._columns[name]

    def frame(self) -> "pl.DataFrame":
        """The frame of polars, made when it is first asked for."""
        return self._frame

    @cached_property
    def _frame(self) -> "pl.DataFrame":
        import polars as pl

        return pl.DataFrame(self._columns, schema=self._types)

    def select(self, names: Sequence[str]) -> "ListedCells":
        """Some of the columns, in this order."""
        return ListedCells({name: self._columns[name] for name in names}, self._types)

    def slice(self, start: int, n_rows: int) -> "ListedCells":
        """Some of the rows."""
        if start == 0 and n_rows >= len(self):
            return self
        parts = {name: cells[start : start + n_rows] for name, cells in self._columns.items()}
        return ListedCells(parts, self._types)

    def cast(self, types: Mapping[str, CellType]) -> "ListedCells":
        """The columns with the types that they share with those of other files."""
        converted = {
            name: cells if types[name] == self._types[name] else _converted(cells, types[name])
            for name, cells in self._columns.items()
        }
        return ListedCells(converted, types)


@final
class FrameCells(AbstractCells):
    """A frame of polars."""

    def __init__(self, frame: "pl.DataFrame") -> None:
        self._frame = frame

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._frame.columns)

    def __len__(self) -> int:
        return len(self._frame)

    def values(self, name: str) -> list[Cell]:
        """A column."""
        import polars as pl

        column = self._frame[name]
        if column.dtype == pl.Float32:
            # The number that was written: 0.1, not the nearest one of 32 bits.
            column = column.cast(pl.String).cast(pl.Float64)
        elif column.dtype == pl.Duration:
            return [None if cell is None else str(cell) for cell in column]
        elif column.dtype.is_temporal():
            column = column.cast(pl.String)
        return column.to_list()

    def frame(self) -> "pl.DataFrame":
        """The frame itself."""
        return self._frame

    def select(self, names: Sequence[str]) -> "FrameCells":
        """Some of the columns, in this order."""
        return FrameCells(self._frame.select(names))

    def slice(self, start: int, n_rows: int) -> "FrameCells":
        """Some of the rows."""
        return FrameCells(self._frame.slice(start, n_rows))

    def cast(self, types: Mapping[str, CellType]) -> "FrameCells":
        """The columns with the types that they share with those of other files."""
        dtypes: Any = {name: types[name] for name in self._frame.columns}
        return FrameCells(self._frame.cast(dtypes))


def _converted(cells: Sequence[Cell], type_: CellType) -> list[Cell]:
    convert = number_of if type_ is float else text_of
    return [convert(cell) for cell in cells]


def joined_columns(parts: Iterable[AbstractCells], names: Sequence[str]) -> dict[str, list[Cell]]:
    """The values of columns in all parts, one after the other."""
    columns: dict[str, list[Cell]] = {name: [] for name in names}
    for part in parts:
        for name, cells in columns.items():
            cells += part.values(name)
    return columns


def taken_rows(columns: Columns, positions: Iterable[int]) -> dict[str, list[Cell]]:
    """Some rows of columns, in the order of the positions."""
    rows = list(positions)
    return {name: [cells[row] for row in rows] for name, cells in columns.items()}
