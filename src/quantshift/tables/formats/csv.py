"""CSV files with any common delimiter: quotes are checked, ragged rows are counted."""

import csv
import io
import itertools
import re
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.csv

from quantshift.errors import DataError
from quantshift.tables.broken_files import LONGEST_ROW
from quantshift.tables.chunks import (
    ROWS,
    Chunk,
    Frame,
    OpenTable,
    Progress,
    check_names,
    polars_frame,
    without_gaps,
)
from quantshift.tables.formats.table_format import Rows, TableFile, TableFormat
from quantshift.tables.places import Spool
from quantshift.tables.quotes import BYTE_ORDER_MARK, check_quotes, line_by_line

BLOCK_BYTES = LONGEST_ROW
"""The size of the blocks that are parsed."""

TABBED = ".tsv"
"""The ending of files whose cells are separated by tabs."""

MOST_OF_A_HEADER = 1 << 16
"""The number of bytes in which to look for the delimiter of the header."""

LONGEST_WAIT = 200
"""The most milliseconds to wait for threads of the CSV parser."""

UNREADABLE = "\ufffd"
"""The replacement for bytes that are not UTF-8."""

_QUOTED = re.compile(rb'"[^"]*"')

_DECLARED = re.compile(rb"""(\xef\xbb\xbf)?"?sep=([,;|:\t])"?(?=\r?\n)""", re.IGNORECASE)
"""The first line of a file for Excel that declares its delimiter: sep=;"""


def _open(file: TableFile) -> OpenTable:
    file, names, delimiter, empty_lines = _checked(file)

    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        first, ragged, located = 1, [0], False

        def skip(_: Any) -> str:
            ragged[0] += 1
            return "skip"

        def where() -> str:
            return _first_ragged(file, delimiter, len(names)) if ragged[0] and not located else ""

        with (
            _released_by_threads(skip),
            file.open() as stream,
            closing(_csv_batches(stream, delimiter, wanted, skip, empty_lines)) as batches,
        ):
            for batch in batches:
                for start in range(0, len(batch), ROWS):
                    part = _text_frame(batch.slice(start, ROWS))
                    yield Chunk(first, part, _undecodable(file, part), ragged[0], where())
                    located = located or ragged[0] > 0
                    ragged[0] = 0
                    first += len(part)
            if ragged[0]:
                no_rows = pl.DataFrame(schema=dict.fromkeys(wanted, pl.String))
                yield Chunk(first, no_rows, 0, ragged[0], where())

    return OpenTable(file.name, names, dict.fromkeys(names, pl.String()), read)


def _frame(file: TableFile, without: Sequence[str], progress: Progress) -> Frame:
    file, names, delimiter, empty_lines = _checked(file)
    check_names(file.name, names)
    wanted = [name for name in names if name not in set(without)]
    parts = [pl.DataFrame(schema=dict.fromkeys(wanted, pl.String))]
    ragged, size = [0], file.path.stat().st_size

    def skip(_: Any) -> str:
        ragged[0] += 1
        return "skip"

    with (
        _released_by_threads(skip),
        pa.OSFile(str(file.path)) as raw,
        pa.CompressedInputStream(raw, "gzip") if file.compressed else raw as stream,
        closing(_csv_batches(stream, delimiter, wanted, skip, empty_lines)) as batches,
    ):
        for batch in batches:
            parts.append(_text_frame(batch))
            if progress is not None:
                progress(Path(file.name).name, raw.tell(), size)
    frame = pl.concat(parts).rechunk()
    where = _first_ragged(file, delimiter, len(names)) if ragged[0] else ""
    return Frame(file.name, frame, _undecodable(file, frame), ragged[0], where)


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


def _first_ragged(file: TableFile, delimiter: str, n_columns: int) -> str:
    """The line of the first row with too many or too few cells."""
    with file.lines() as raw:
        text = io.TextIOWrapper(raw, "utf-8", "replace", newline="")
        rows, line = csv.reader(text, delimiter=delimiter), 1
        try:
            for row in rows:
                if row and len(row) != n_columns:
                    return f"line {line}"
                line = rows.line_num + 1
        except csv.Error:  # a cell that is too large for this reader
            pass
    return ""


def _text_frame(batch: Any) -> pl.DataFrame:
    return without_gaps(polars_frame(batch))


def _undecodable(file: TableFile, frame: pl.DataFrame) -> int:
    """The number of cells in which bytes were replaced."""
    if not file.has_replacements:
        return 0
    return sum(int(column.str.contains(UNREADABLE, literal=True).sum()) for column in frame)


def _csv_batches(
    file: Any,
    delimiter: str,
    wanted: Sequence[str],
    skip: Callable[[Any], str],
    empty_lines: int | None,
) -> Generator[Any]:
    """The rows; empty_lines: how many precede the header if later ones are missing cells."""
    try:
        batches = pa.csv.open_csv(
            file,
            read_options=pa.csv.ReadOptions(
                block_size=BLOCK_BYTES, use_threads=False, skip_rows=empty_lines or 0
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                invalid_row_handler=skip,
                ignore_empty_lines=empty_lines is None,
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=list(wanted), column_types=dict.fromkeys(wanted, pa.large_string())
            ),
        )
    except pa.ArrowInvalid as error:
        # A header without a line break at its end is a table without rows, too.
        if "Empty CSV" in str(error):
            return
        raise
    yield from batches


@contextmanager
def _released_by_threads(function: Callable[[Any], str]) -> Iterator[None]:
    """Wait at the end until Arrow's threads no longer hold a reference to the function.

    The parser reads ahead in a thread. If that thread drops the last reference to a Python object
    while the interpreter exits (shortly after an error in the file), the process is aborted.
    """
    references_before = sys.getrefcount(function)
    try:
        yield
    finally:
        for _ in range(LONGEST_WAIT):
            if sys.getrefcount(function) <= references_before:
                break
            time.sleep(0.001)


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


def _checked(file: TableFile) -> tuple[TableFile, tuple[str, ...], str, int | None]:
    """A CSV file with checked quotes, the names of its columns, and its delimiter.

    Last, if the table has a single column, the number of empty lines before the header: the empty
    lines after it are missing cells. In other tables they are no rows (None).
    """
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
    return file if is_utf8 else _decodable(file), names, delimiter, empty_lines


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
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if ending == TABBED else ",")
    writer.writerows([header, *rows])
    return text.getvalue().encode()


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
