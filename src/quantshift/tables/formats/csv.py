"""CSV files with any common delimiter: quotes are checked, ragged rows are counted."""

import csv
import io
import itertools
import re
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quantshift.base.storage.csv_text import csv_text
from quantshift.errors import DataError
from quantshift.tables.files.chunks import (
    ROWS,
    Chunk,
    Frame,
    OpenTable,
    Progress,
    check_names,
)
from quantshift.tables.files.places import Spool
from quantshift.tables.files.quotes import BYTE_ORDER_MARK, check_quotes, line_by_line
from quantshift.tables.formats.csv_rows import BLOCK_BYTES, Layout, csv_blocks
from quantshift.tables.formats.table_format import Rows, TableFile, TableFormat

if TYPE_CHECKING:
    import polars as pl

TABBED = ".tsv"
"""The ending of files whose cells are separated by tabs."""

MOST_OF_A_HEADER = 1 << 16
"""The number of bytes in which to look for the delimiter of the header."""

UNREADABLE = "\ufffd"
"""The replacement for bytes that are not UTF-8."""

_QUOTED = re.compile(rb'"[^"]*"')

_DECLARED = re.compile(rb"""(\xef\xbb\xbf)?"?sep=([,;|:\t])"?(?=\r?\n)""", re.IGNORECASE)
"""The first line of a file for Excel that declares its delimiter: sep=;"""


def _open(file: TableFile) -> OpenTable:
    file, layout = _checked(file)

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        first, located = 1, False
        with closing(csv_blocks(file, layout, requested)) as blocks:
            for block in blocks:
                ragged = block.ragged
                # If only ragged rows are left, an empty chunk reports them.
                n_rows = max(len(block.columns), 1) if ragged else len(block.columns)
                for start in range(0, n_rows, ROWS):
                    part = block.columns.slice(start, ROWS)
                    where = _first_ragged(file, layout) if ragged and not located else ""
                    yield Chunk(first, part, _undecodable(file, part), ragged, where)
                    located = located or ragged > 0
                    ragged = 0
                    first += len(part)

    names = layout.names
    return OpenTable(file.name, names, dict.fromkeys(names, str), read)


def _frame(file: TableFile, without: Sequence[str], progress: Progress) -> Frame:
    import polars as pl

    file, layout = _checked(file)
    check_names(file.name, layout.names)
    names = [name for name in layout.names if name not in set(without)]
    parts, ragged, size = [], 0, file.path.stat().st_size
    for block in csv_blocks(file, layout, names):
        parts.append(block.columns)
        ragged += block.ragged
        if progress is not None:
            progress(Path(file.name).name, block.bytes_read, size)
    frame = pl.concat(parts).rechunk()
    where = _first_ragged(file, layout) if ragged else ""
    return Frame(file.name, frame, _undecodable(file, frame), ragged, where)


def _line_by_line(file: TableFile) -> TableFile:
    """A copy in which every line is a row, and misplaced quotes are literal."""
    file = _with_declared_delimiter(file)
    delimiter = _delimiter(file, lenient=True)
    with file.lines() as lines:
        spool = Spool(line_by_line(lines, delimiter))
    return replace(file, path=spool.path, compressed=False, spool=spool, delimiter=delimiter)


def _decodable(file: TableFile) -> TableFile:
    """A copy with U+FFFD for bytes that are not UTF-8: a bad byte affects one cell only."""
    with file.lines() as lines:
        spool = Spool(line.decode("utf-8", "replace").encode() for line in lines)
    return replace(file, path=spool.path, compressed=False, spool=spool, has_replacements=True)


def _first_ragged(file: TableFile, layout: Layout) -> str:
    """The line of the first row with too many or too few cells."""
    with file.lines() as raw:
        text = io.TextIOWrapper(raw, "utf-8", "replace", newline="")
        rows, line = csv.reader(text, delimiter=layout.delimiter), 1
        try:
            for row in rows:
                if row and len(row) != len(layout.names):
                    return f"line {line}"
                line = rows.line_num + 1
        except csv.Error:  # a cell that is too large for this reader
            pass
    return ""


def _undecodable(file: TableFile, texts: "pl.DataFrame") -> int:
    """The number of cells in which bytes were replaced."""
    if not file.has_replacements:
        return 0
    return sum(int(text.str.contains(UNREADABLE, literal=True).sum()) for text in texts)


def _beginning(file: TableFile) -> bytes:
    with file.open() as stream:
        return bytes(stream.read(BLOCK_BYTES))


def _delimiter(file: TableFile, *, lenient: bool = False) -> str:
    if file.delimiter:
        return file.delimiter
    start = _beginning(file)[:MOST_OF_A_HEADER].removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n")
    if lenient:
        start = start.split(b"\n", 1)[0]
    line = _QUOTED.sub(b"", start).split(b"\n", 1)[0]
    # In much of Europe, spreadsheets write CSV files with semicolons.
    return "\t" if file.ending == TABBED else max(",;\t", key=lambda d: line.count(d.encode()))


def _checked(file: TableFile) -> tuple[TableFile, Layout]:
    """A CSV file with checked quotes, and its layout."""
    file = _with_declared_delimiter(file)
    delimiter = _delimiter(file)
    start = _beginning(file)
    names = _first_row(file.name, start, delimiter)
    with file.open() as stream:
        is_utf8 = check_quotes(file.name, stream, delimiter, names)
    empty_lines = None
    if len(names) == 1:
        before = re.match(rb"[\r\n]*", start.removeprefix(BYTE_ORDER_MARK))
        ends = before.group() if before else b""
        empty_lines = ends.count(b"\n") or ends.count(b"\r")
    return file if is_utf8 else _decodable(file), Layout(names, delimiter, empty_lines)


def _with_declared_delimiter(file: TableFile) -> TableFile:
    """The file with the delimiter that its first line declares, and that line emptied."""
    declared = None if file.delimiter else _DECLARED.match(_beginning(file))
    if declared is None:
        return file
    with file.lines() as lines:
        next(lines)
        spool = Spool(itertools.chain([b"\n"], lines))
    delimiter = declared.group(2).decode("ascii")
    return replace(file, path=spool.path, compressed=False, spool=spool, delimiter=delimiter)


def _first_row(name: str, start: bytes, delimiter: str) -> tuple[str, ...]:
    """The names of the columns in the first row of a CSV file, given its first bytes."""
    text = start.removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n").decode("utf-8", "replace")
    try:
        names = tuple(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), []))
    except csv.Error as error:
        raise DataError(f"{name}: the first row is not a header ({error})") from error
    if not names:
        raise DataError(f"{name}: the file is empty")
    if any("\ufffd" in column for column in names):
        raise DataError(f"{name}: the names of the columns are not UTF-8; save the file as UTF-8")
    return names


def _written(ending: str, header: Sequence[str], rows: Rows) -> bytes:
    return csv_text([header, *rows], delimiter="\t" if ending == TABBED else ",").encode()


CSV = TableFormat(
    name="CSV",
    endings=(".csv", TABBED),
    # Some data sets (LeQua's) call their CSV files .txt.
    frame_endings=(".txt",),
    gzipped=True,
    open=_open,
    frame=_frame,
    line_by_line=_line_by_line,
    write=_written,
)
