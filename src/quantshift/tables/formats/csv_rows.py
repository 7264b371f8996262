"""The rows of a CSV file whose quotes have been checked, in blocks of texts.

Arrow parses them where it and polars are installed. Python's own parser, several times slower,
gives the same rows where they are not.
"""

import csv
import io
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from quantshift.base.arrow import installed_arrow
from quantshift.errors import DataError
from quantshift.tables.broken_files import LONGEST_ROW, TOO_LONG
from quantshift.tables.cells import AbstractCells, FrameCells, ListedCells
from quantshift.tables.chunks import ROWS
from quantshift.tables.formats.table_format import TableFile
from quantshift.tables.formats.values import text_cells

BLOCK_BYTES = LONGEST_ROW
"""The size of the blocks that Arrow parses."""

LONGEST_WAIT = 200
"""The most milliseconds to wait for threads of Arrow's parser."""


class Layout(NamedTuple):
    """What is known about a CSV file before its rows are parsed.

    names: those of its columns. empty_lines: if the table has a single column, the number of empty
    lines before the header: the empty lines after it are missing cells. In other tables empty lines
    are not rows (None).
    """

    names: tuple[str, ...]
    delimiter: str
    empty_lines: int | None


class Block(NamedTuple):
    """Consecutive rows, as texts without gaps.

    ragged: rows with too many or too few cells that were left out since the last block.
    bytes_read: how many bytes of the file have been read so far.
    """

    cells: AbstractCells
    ragged: int
    bytes_read: int


def csv_blocks(file: TableFile, layout: Layout, requested: Sequence[str]) -> Generator[Block]:
    """The blocks of the requested columns; the last has no rows."""
    parsed = _python_blocks if installed_arrow() is None else _arrow_blocks
    yield from parsed(file, layout, requested)


def _arrow_blocks(file: TableFile, layout: Layout, requested: Sequence[str]) -> Generator[Block]:
    import pyarrow as pa

    from quantshift.tables.formats.frames import polars_frame, without_gaps

    ragged = 0

    def skip(_: Any) -> str:
        nonlocal ragged
        ragged += 1
        return "skip"

    with (
        _released_by_threads(skip),
        pa.OSFile(str(file.path)) as raw,
        pa.CompressedInputStream(raw, "gzip") if file.compressed else raw as stream,
        closing(_batches(stream, layout, requested, skip)) as batches,
    ):
        for batch in batches:
            counted, ragged = ragged, 0
            yield Block(FrameCells(without_gaps(polars_frame(batch))), counted, raw.tell())
    yield Block(_no_rows(requested), ragged, file.path.stat().st_size)


def _batches(
    stream: Any, layout: Layout, requested: Sequence[str], skip: Callable[[Any], str]
) -> Generator[Any]:
    import pyarrow as pa
    import pyarrow.csv

    try:
        batches = pa.csv.open_csv(
            stream,
            read_options=pa.csv.ReadOptions(
                block_size=BLOCK_BYTES, use_threads=False, skip_rows=layout.empty_lines or 0
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=layout.delimiter,
                newlines_in_values=True,
                invalid_row_handler=skip,
                ignore_empty_lines=layout.empty_lines is None,
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=list(requested),
                column_types=dict.fromkeys(requested, pa.large_string()),
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


def _python_blocks(file: TableFile, layout: Layout, requested: Sequence[str]) -> Generator[Block]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_ROW))
    positions = [layout.names.index(name) for name in requested]
    rows: list[list[str]] = []
    ragged = 0
    with file.lines() as raw:
        text = io.TextIOWrapper(raw, "utf-8-sig", newline="")
        try:
            for row in _after_header(csv.reader(text, delimiter=layout.delimiter), layout):
                if sum(map(len, row)) > LONGEST_ROW:  # other libraries may have raised the limit
                    raise csv.Error
                if len(row) == len(layout.names):
                    rows.append(row)
                else:
                    ragged += 1
                if len(rows) == ROWS:
                    yield Block(_cells_of(rows, requested, positions), ragged, raw.tell())
                    rows, ragged = [], 0
        except csv.Error as error:  # a cell that is too large
            raise DataError(f"{file.name}: {TOO_LONG}") from error
        if rows:
            yield Block(_cells_of(rows, requested, positions), ragged, raw.tell())
            ragged = 0
    yield Block(_no_rows(requested), ragged, file.path.stat().st_size)


def _after_header(rows: Iterator[list[str]], layout: Layout) -> Iterator[list[str]]:
    next((row for row in rows if row), None)
    for row in rows:
        if row:
            yield row
        elif layout.empty_lines is not None:
            yield [""]


def _cells_of(
    rows: Sequence[list[str]], requested: Sequence[str], positions: Sequence[int]
) -> ListedCells:
    columns = {
        name: text_cells([row[position] for row in rows])
        for name, position in zip(requested, positions, strict=True)
    }
    return ListedCells(columns, dict.fromkeys(requested, str))


def _no_rows(requested: Sequence[str]) -> ListedCells:
    return ListedCells({name: [] for name in requested}, dict.fromkeys(requested, str))
