"""The rows of a CSV file whose quotes have been checked, in blocks of texts, parsed by Arrow."""

import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from quantshift.tables.files.broken_files import LONGEST_ROW
from quantshift.tables.formats.table_format import TableFile

if TYPE_CHECKING:
    import polars as pl

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

    columns: "pl.DataFrame"
    ragged: int
    bytes_read: int


def csv_blocks(file: TableFile, layout: Layout, requested: Sequence[str]) -> Generator[Block]:
    """The blocks of the requested columns; the last has no rows."""
    import polars as pl
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
            yield Block(without_gaps(polars_frame(batch)), counted, raw.tell())
    no_rows = pl.DataFrame(schema=dict.fromkeys(requested, pl.String))
    yield Block(no_rows, ragged, file.path.stat().st_size)


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
