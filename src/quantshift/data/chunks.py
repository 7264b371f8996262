"""What reading a table gives: chunks of rows, a whole frame, an opened table."""

import difflib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl
import polars.selectors as cs

from quantshift.corpora.readers import explained
from quantshift.errors import DataError

Progress: TypeAlias = Callable[[str, int, int], None] | None
"""Takes what is being worked on, how much is done and how much there is in all."""

ROWS = 4096
MISSING = frozenset({"", "nan", "NaN"})
"""What stands for nothing in files without types; pandas writes the last two."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows; the last chunk has none if it only tells what was left out at the end.

    first: the number of the first row, from 1 (a header is not counted).
    columns: strings if the file has no types, else its own; a gap is null.
    undecodable: cells that were not UTF-8; what could not be read in them is U+FFFD.
    ragged: rows left out because they have too many or too few cells; first_ragged: where the first
    of the table is, "line 7", in the chunk that tells of it.
    """

    first: int
    columns: pl.DataFrame
    undecodable: int = 0
    ragged: int = 0
    first_ragged: str = ""

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Frame:
    """A whole table: the file's types, strings where it has none; a gap is null.

    undecodable: cells that were not UTF-8; what could not be read in them is U+FFFD.
    ragged: rows left out because they have too many or too few cells; first_ragged: where the first
    is, "line 7".
    """

    name: str
    columns: pl.DataFrame
    undecodable: int = 0
    ragged: int = 0
    first_ragged: str = ""

    def whole(self) -> "Frame":
        """The frame itself, refused if rows had to be left out: those of other files go by them."""
        if self.ragged:
            raise DataError(
                f"{self.name}: {self.ragged} rows have too many or too few cells "
                f"({self.first_ragged}); fix them"
            )
        return self

    def require(self, column: str) -> pl.Series:
        """The column, refused if there is none of that name, with the nearest that is one."""
        require_column(self.name, self.columns.columns, column)
        return self.columns[column]


@dataclass(frozen=True)
class OpenTable:
    """A table that has been opened: its name in messages, its columns, and a way to read it.

    types: of the columns in all chunks. nested: the columns whose cells are lists or objects;
    chunks have them as JSON.
    """

    name: str
    columns: tuple[str, ...]
    types: Mapping[str, pl.DataType]
    read: Callable[[Sequence[str]], Generator[Chunk]]
    nested: frozenset[str] = frozenset()

    def chunks(self, wanted: Sequence[str]) -> Generator[Chunk]:
        """The chunks with the wanted columns, which must be there; to be closed if not read out."""
        for column in wanted:
            require_column(self.name, self.columns, column)
        with explained(self.name):
            yield from self.read(list(dict.fromkeys(wanted)))

    def require(self, wanted: Sequence[str]) -> None:
        """Refuse names that are no columns, with the nearest that is one, and nested columns."""
        for column in wanted:
            require_column(self.name, self.columns, column)
            if column in self.nested:
                raise DataError(
                    f"{self.name}: the cells of {column!r} are lists or objects; give each of "
                    "their parts a column of its own"
                )


def check_names(file: str, names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{file}: there are two columns {twice!r}; rename one")


def polars_frame(table: Any) -> pl.DataFrame:
    """A table or batch of Arrow as a frame with the same names."""
    frame = pl.DataFrame(table)
    # A column without a name would be given one.
    frame.columns = table.schema.names
    return frame


def without_gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """Null for whatever stands for nothing."""
    is_gap = cs.string().str.strip_chars().is_in(list(MISSING))
    return frame.with_columns(pl.when(~is_gap).then(cs.string()), cs.float().fill_nan(None))


def require_column(name: str, columns: Sequence[str], wanted: str) -> None:
    """Refuse a name that is no column, with the nearest that is one."""
    if wanted not in columns:
        near = difflib.get_close_matches(wanted, columns, n=1, cutoff=0.7)
        # Without a header the first row stands in its place, and may be long.
        shown = ", ".join([*(c[:20] for c in columns[:10]), *(["..."] * (len(columns) > 10))])
        hint = f"did you mean {near[0]!r}?" if near else f"there are {shown}"
        raise DataError(f"{name}: no column {wanted!r}; {hint}")
    if columns.count(wanted) > 1:
        raise DataError(f"{name}: there are two columns {wanted!r}; rename one")


def require_columns(name: str, columns: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse names that are no columns of a file, with the nearest that is one."""
    for column in wanted:
        require_column(name, columns, column)
