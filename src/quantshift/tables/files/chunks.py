"""The results of reading a table: chunks of rows, a whole frame, an open table."""

import difflib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from quantshift.claims.findings import Finding
from quantshift.errors import DataError
from quantshift.tables.columns.spelling import as_written, spelling_key
from quantshift.tables.files.broken_files import explained

if TYPE_CHECKING:
    import polars as pl

CellType: TypeAlias = "type | pl.DataType"
"""The type of a column: str, int, float or bool, or one of polars for all other columns."""

Progress: TypeAlias = Callable[[str, int, int], None] | None
"""Takes the name of the current step, how much of it is done and the total."""

ROWS = 4096
MISSING = frozenset({"", "nan", "NaN"})
"""Cells that are missing values in files without types; pandas writes the last two."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows; the last chunk is empty if rows were left out at the end of the table.

    first: the number of the first row, from 1 (a header is not counted).
    columns: strings if the file has no types, otherwise with its types; missing values are null.
    undecodable: cells that were not UTF-8; invalid bytes in them are replaced by U+FFFD.
    ragged: rows left out because they have too many or too few cells; first_ragged: the position of
    the table's first such row ("line 7"), in the first chunk with one.
    """

    first: int
    columns: "pl.DataFrame"
    undecodable: int = 0
    ragged: int = 0
    first_ragged: str = ""

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Frame:
    """A whole table with the file's types, or strings if it has none; missing values are null.

    undecodable: cells that were not UTF-8; invalid bytes in them are replaced by U+FFFD.
    ragged: rows left out because they have too many or too few cells; first_ragged: the position of
    the first one ("line 7"). findings: what else the user should know about it.
    """

    name: str
    columns: "pl.DataFrame"
    undecodable: int = 0
    ragged: int = 0
    first_ragged: str = ""
    findings: tuple[Finding, ...] = ()

    def whole(self) -> "Frame":
        """The frame itself, refused if rows were left out: other files refer to its row numbers."""
        if self.ragged:
            raise DataError(
                f"{self.name}: {self.ragged} rows have too many or too few cells "
                f"({self.first_ragged}); fix them"
            )
        return self

    def require(self, column: str) -> "pl.Series":
        """The column; an unknown name is an error that suggests the nearest one."""
        require_column(self.name, self.columns.columns, column)
        return self.columns[column]


@dataclass(frozen=True)
class OpenTable:
    """A table that has been opened: its name in messages, its columns, and a way to read it.

    types: those of the columns in all chunks. nested: the columns whose cells are lists or objects,
    which chunks contain as JSON. findings: what else the user should know about it. identity: the
    columns that say which rows are about one item, if its format knows them.
    """

    name: str
    columns: tuple[str, ...]
    types: Mapping[str, CellType]
    read: Callable[[Sequence[str]], Generator[Chunk]]
    nested: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()
    identity: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_names(self.name, self.columns)

    def chunks(self, columns: Sequence[str]) -> Generator[Chunk]:
        """The chunks with these columns, which must exist; close it if not read to the end."""
        for column in columns:
            require_column(self.name, self.columns, column)
        with explained(self.name):
            yield from self.read(list(dict.fromkeys(columns)))

    def joined(self, chunks: Iterable[Chunk], columns: Sequence[str]) -> "pl.DataFrame":
        """The rows of chunks of these columns, one after the other."""
        import polars as pl

        types: dict[str, Any] = {name: self.types[name] for name in columns}
        return pl.concat([pl.DataFrame(schema=types), *(chunk.columns for chunk in chunks)])

    def require(self, columns: Sequence[str]) -> None:
        """Refuse nested columns, and unknown names with a suggestion."""
        for column in columns:
            require_column(self.name, self.columns, column)
            if column in self.nested:
                raise DataError(
                    f"{self.name}: the cells of {column!r} are lists or objects; split them into "
                    "separate columns"
                )


def check_names(file: str, names: Sequence[str]) -> None:
    """Refuse two columns with the same name."""
    twice = next((name for name, n in Counter(names).items() if n > 1), None)
    if twice is not None:
        raise DataError(f"{file}: two columns are called {twice!r}; rename one")


def nearest_column(column: str, columns: Sequence[str]) -> str | None:
    """The column whose name looks like that of one that is not there.

    >>> nearest_column("age", ["income", "Age"]), nearest_column("age", ["income"])
    ('Age', None)
    """
    alike = [other for other in columns if spelling_key(other) == spelling_key(column)]
    return next(iter(alike or difflib.get_close_matches(column, columns, n=1, cutoff=0.7)), None)


def require_column(name: str, columns: Sequence[str], column: str) -> None:
    """Refuse an unknown column, and suggest the nearest one."""
    if column not in columns:
        near = nearest_column(column, columns)
        # Without a header, the first row is taken for it and may be long.
        shown = [name[:20] for name in columns[:10]]
        if len(columns) > 10:
            shown.append("...")
        hint = f"there are {', '.join(shown)}"
        if near is not None:
            hint = f"did you mean {as_written(near)}?"
            if near != near.strip():
                hint = f"there is {near!r}: remove the blanks in its name"
        raise DataError(f"{name}: no column {column!r}; {hint}")
    if columns.count(column) > 1:
        raise DataError(f"{name}: two columns are called {column!r}; rename one")


def require_columns(name: str, columns: Sequence[str], required: Sequence[str]) -> None:
    """Refuse unknown columns, and suggest the nearest ones."""
    for column in required:
        require_column(name, columns, column)
