"""A format of tables, as one object: how its files are recognised, opened, read and written.

The formats are listed in `quantshift.tables.formats`. A new one is a module with such an object,
and a line there; every command reads it, and messages name it.
"""

import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from quantshift.tables.files.chunks import Frame, OpenTable, Progress
from quantshift.tables.files.places import Spool

if TYPE_CHECKING:
    import polars as pl

Rows: TypeAlias = Sequence[Sequence[str | None]]


@dataclass(frozen=True, kw_only=True)
class TableFormat:
    """A format of files that hold a table each.

    name            in messages
    endings         of file names, in lower case, with the dot
    open            a file as a table that is read in chunks
    frame           a file as one frame, without some columns; None: all chunks together
    frame_endings   further endings, of files that are only read as a whole
    gzipped         whether a file may be compressed, with .gz after its ending
    described       what a file of it is called, if it is not lines of text ("a Parquet file")
    magic           the first bytes of such a file; any of these
    recognises      whether a file, given its path and first bytes, is of this format (default: by
                    `magic`); it decides for pipes, which have no name
    has_sheets      whether a sheet may be named after the file, as in `sales.xlsx#March`
    joins_folder    whether all files of a folder are parts of one table
    line_by_line    a copy of the file in which every line is a row, whatever its quotes
    write           header and rows as the content of a file with this ending, for sheets to label
    stored          the rows as they are stored, in large parts, for sketches
    """

    name: str
    endings: tuple[str, ...]
    open: Callable[["TableFile"], OpenTable]
    frame: Callable[["TableFile", Sequence[str], Progress], Frame] | None = None
    frame_endings: tuple[str, ...] = ()
    gzipped: bool = False
    described: str = ""
    magic: tuple[bytes, ...] = ()
    recognises: Callable[[Path, bytes], bool] | None = None
    has_sheets: bool = False
    joins_folder: bool = False
    line_by_line: Callable[["TableFile"], "TableFile"] | None = None
    write: Callable[[str, Sequence[str], Rows], bytes] | None = None
    stored: Callable[[Path], "StoredRows"] | None = None

    def is_content(self, path: Path, start: bytes) -> bool:
        """Whether the file with these first bytes is of this format, whatever its name."""
        if self.recognises is not None:
            return self.recognises(path, start)
        return start.startswith(self.magic) if self.magic else False

    def read_frame(self, file: "TableFile", without: Sequence[str], progress: Progress) -> Frame:
        """The file as one frame, without some of its columns."""
        if self.frame is not None:
            return self.frame(file, without, progress)
        from quantshift.tables.formats.frames import without_gaps

        table = self.open(file)
        names = [name for name in table.columns if name not in set(without)]
        chunks = list(table.chunks(names))
        return Frame(
            file.name,
            without_gaps(table.joined(chunks, names)),
            sum(chunk.undecodable for chunk in chunks),
            sum(chunk.ragged for chunk in chunks),
            next((chunk.first_ragged for chunk in chunks if chunk.first_ragged), ""),
            table.findings,
        )


@dataclass(frozen=True)
class TableFile:
    """A file to read: its name in messages, its path and its format.

    spool: the temporary file that must exist while the file is read. has_replacements: bytes that
    were not UTF-8 have been replaced by U+FFFD. delimiter: "" if it is not known yet. sheet: the
    one of a workbook, "" if none is named.
    """

    name: str
    path: Path
    format: TableFormat
    ending: str
    compressed: bool
    spool: Spool | None = None
    has_replacements: bool = False
    delimiter: str = ""
    sheet: str = ""

    def open(self) -> Any:
        """The uncompressed bytes."""
        import pyarrow as pa

        # Arrow's file, because its threads could not read a Python file while Python exits.
        return pa.input_stream(str(self.path), compression="gzip" if self.compressed else None)

    def lines(self) -> Any:
        """A Python file, for iteration over its lines."""
        return gzip.open(self.path) if self.compressed else self.path.open("rb")


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows of a file as they are stored: gaps and NaN are told apart, and types are kept.

    columns: their names. sizes: the number of rows of each group that can be read by itself.
    read: the rows of some columns and groups (None: of all), as frames of at most this many rows.
    """

    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    read: "Callable[[Sequence[str], Sequence[int] | None, int], Iterator[pl.DataFrame]]"


@dataclass(frozen=True, kw_only=True)
class Database:
    """Tables in a kind of database, by URL.

    schemes   the beginnings of its URLs
    example   such a URL, for messages
    dialect   the SQL that it understands (`quantshift.sketches.sketch_sql`)
    open      the table of a URL
    types     the columns of that table, with the types they have in the database
    query     the result of a query in the database of a URL, as it is
    """

    schemes: tuple[str, ...]
    example: str
    dialect: str
    open: Callable[[str], OpenTable]
    types: "Callable[[str], dict[str, pl.DataType]]"
    query: "Callable[[str, str], pl.DataFrame]"
