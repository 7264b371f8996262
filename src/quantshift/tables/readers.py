"""From files to blocks of rows: decompression, lines and tables, with bounded memory.

A file has one part, a zip archive one per member. The parts' blocks are read lazily, a few
megabytes at a time. Every damage to a file ends in a `DataError` that names the file and, if
possible, the line.
"""

import csv
import io
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.csv

from quantshift.errors import DataError, unknown_name
from quantshift.tables.quotes import BYTE_ORDER_MARK, check_quotes, line_by_line
from quantshift.tables.review_layouts import Layout, layout_of
from quantshift.tables.spool import Spool

BLOCK_BYTES = 1 << 22
LONGEST_LINE = 1 << 26
PARQUET_ROWS = 4096
PARQUET_BUFFER = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"

Stream: TypeAlias = Any
"""A binary file object; pyarrow's streams have no type annotations."""

TableRow: TypeAlias = tuple[Any, bytes | None] | None


@dataclass(frozen=True)
class Columns:
    """The names of the two columns that are read from a table."""

    text: str = "text"
    stars: str = "stars"


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a part: raw lines, or (star, text) pairs of a table.

    `first` is the number of the first row, from 1 (a header is not counted); a table's row with
    the wrong number of columns is None. `position` is the position in the source file, in bytes.
    """

    first: int
    rows: bytes | Sequence[TableRow]
    position: int


@dataclass(frozen=True)
class Part:
    """A whole file, or a member of an archive."""

    name: str
    layout: Layout
    blocks: Iterator[Block]


def read_parts(
    path: Path, columns: Columns, *, lenient: bool = False
) -> Generator[Part, None, None]:
    """The parts of a file; consume each part's blocks before you request the next part.

    With `lenient`, every line of a CSV or TSV file is a row, whatever its quotes.
    """
    name = str(path)
    with explained(name), ExitStack() as files:
        raw = files.enter_context(path.open("rb"))
        if path.suffix.lower() == ".zip":
            yield from _zip_parts(name, raw, columns, lenient=lenient)
            return
        compressed = path.suffix.lower() == ".gz"
        layout = layout_of(path.stem if compressed else path.name)
        if layout.name == "parquet":
            if compressed:
                raise DataError(f"{name}: a Parquet file must not be gzipped; unpack it first")
            blocks = _parquet_blocks(name, raw, columns)
        else:
            _check_magic(name, raw, compressed=compressed)

            def reopen() -> Stream:
                # A new handle each time: Arrow reads ahead in a thread, and an abandoned reader
                # would move the position of the next one.
                nonlocal raw
                raw = files.enter_context(path.open("rb"))
                return _unpacked(raw, compressed)

            size = path.stat().st_size

            def position() -> int:
                return size if raw.closed else raw.tell()

            blocks = _blocks(name, layout, reopen, position, columns, lenient=lenient)
        yield Part(name, layout, _explain_blocks(name, blocks))


def _zip_parts(
    archive_name: str, raw: Stream, columns: Columns, *, lenient: bool
) -> Iterator[Part]:
    with zipfile.ZipFile(raw) as archive:
        members = [m for m in archive.infolist() if not m.is_dir() and not _is_metadata(m.filename)]
        if not members:
            raise DataError(f"{archive_name}: the archive is empty")
        for member in members:
            name = f"{archive_name}:{member.filename}"
            layout = layout_of(member.filename)
            if layout.name == "parquet":
                raise DataError(f"{name}: Parquet in an archive is not supported; unpack it first")
            opener = _opener(archive, member)
            blocks = _blocks(name, layout, opener, raw.tell, columns, lenient=lenient)
            yield Part(name, layout, _explain_blocks(name, blocks))


def _opener(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[], Stream]:
    return lambda: archive.open(member)


def _is_metadata(name: str) -> bool:
    """Whether a member of an archive is metadata of an operating system."""
    return name.startswith("__MACOSX/") or Path(name).name.startswith(".")


def _unpacked(raw: Stream, compressed: bool) -> Stream:
    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "gzip") if compressed else raw


def _check_magic(name: str, raw: Stream, *, compressed: bool) -> None:
    magic = raw.read(len(GZIP_MAGIC))
    if compressed and magic and magic != GZIP_MAGIC:
        raise DataError(f"{name}: not a gzip file, though its name ends in .gz; rename it")
    if not compressed and magic == GZIP_MAGIC:
        raise DataError(f"{name}: a gzip file, though its name does not end in .gz; rename it")


def _blocks(
    name: str,
    layout: Layout,
    reopen: Callable[[], Stream],
    position: Callable[[], int],
    columns: Columns,
    *,
    lenient: bool,
) -> Iterator[Block]:
    if layout.unit == "line":
        return _line_blocks(name, reopen(), position)
    delimiter = "," if layout.name == "csv" else "\t"
    if lenient:
        reopen = _rewritten(reopen, partial(line_by_line, delimiter=delimiter))
    return _csv_blocks(name, reopen, position, columns, delimiter)


def _rewritten(
    reopen: Callable[[], Stream], rewrite: Callable[[Iterable[bytes]], Iterable[bytes]]
) -> Callable[[], Stream]:
    """The file with rewritten lines, in a temporary copy."""

    @cache
    def spool() -> Spool:
        return Spool(rewrite(_lines(reopen())))

    return lambda: pa.OSFile(str(spool().path))


def _as_latin(lines: Iterable[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines):
        text = line if number else line.removeprefix(BYTE_ORDER_MARK)
        yield text.decode("latin-1").encode("utf-8")


def _lines(stream: Stream) -> Iterator[bytes]:
    remainder = b""
    while chunk := stream.read(BLOCK_BYTES):
        *lines, remainder = (remainder + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)
    yield remainder


def _line_blocks(name: str, stream: Stream, position: Callable[[], int]) -> Iterator[Block]:
    """Whole lines, split only at line feeds: a text may contain other Unicode line separators."""
    first, remainder = 1, b""
    while chunk := stream.read(BLOCK_BYTES):
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            remainder += chunk
            if len(remainder) > LONGEST_LINE:
                raise DataError(
                    f"{name}: line {first} is longer than {LONGEST_LINE >> 20} MB; "
                    "is this one review per line?"
                )
            continue
        lines, remainder = remainder + chunk[:cut], chunk[cut:]
        yield Block(first, _without_mark(lines, first), position())
        first += lines.count(b"\n")
    if remainder:
        yield Block(first, _without_mark(remainder, first), position())


def _without_mark(lines: bytes, first: int) -> bytes:
    return lines.removeprefix(BYTE_ORDER_MARK) if first == 1 else lines


def _csv_blocks(
    name: str,
    reopen: Callable[[], Stream],
    position: Callable[[], int],
    columns: Columns,
    delimiter: str,
) -> Iterator[Block]:
    ragged: deque[int] = deque()

    def skip(row: Any) -> str:
        # Arrow numbers rows from 1, including the header.
        ragged.append(row.number - 1)
        return "skip"

    parse = pa.csv.ParseOptions(
        delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
    )
    read = pa.csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False)
    names = first_row(name, reopen().read(BLOCK_BYTES), delimiter)
    _check_columns(name, names, columns)
    is_utf8 = check_quotes(name, reopen(), delimiter, names)
    wanted = [columns.stars, columns.text]
    if not is_utf8:
        # Arrow skips a row of the wrong length only if it can decode it. As Latin-1, all bytes can
        # be decoded, and the original bytes of each cell can be recovered.
        reopen = _rewritten(reopen, _as_latin)
        wanted = [column.encode().decode("latin-1") for column in wanted]
    # Bytes, not strings: an undecodable text should affect one row, not the whole file.
    convert = pa.csv.ConvertOptions(
        include_columns=wanted, column_types=dict.fromkeys(wanted, pa.binary())
    )
    reader = pa.csv.open_csv(
        reopen(), read_options=read, parse_options=parse, convert_options=convert
    )
    first = 1
    for batch in reader:
        rows = _pairs(batch.column(0), batch.column(1))
        if not is_utf8:
            rows = [row and (_latin(row[0]), _latin(row[1])) for row in rows]
        # The parser is ahead of the batches: a ragged row may belong to a later one.
        while ragged and ragged[0] - first <= len(rows):
            rows.insert(ragged.popleft() - first, None)
        yield Block(first, rows, position())
        first += len(rows)
    if ragged:
        yield Block(first, [None] * len(ragged), position())


def first_row(name: str, start: bytes, delimiter: str) -> tuple[str, ...]:
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


def _latin(cell: bytes | None) -> bytes | None:
    return cell if cell is None else cell.decode("utf-8").encode("latin-1")


def _parquet_blocks(name: str, raw: Stream, columns: Columns) -> Iterator[Block]:
    first, size = 1, raw.seek(0, 2)
    raw.seek(0)
    from pyarrow.parquet import ParquetFile  # here, because most tables are not Parquet

    with ParquetFile(raw, buffer_size=PARQUET_BUFFER) as file:
        schema = file.schema_arrow
        _check_columns(name, schema.names, columns)
        kind = schema.field(columns.text).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not _holds_text(kind):
            raise DataError(f"{name}: column {columns.text!r} holds {kind}, not text")
        total = max(1, file.metadata.num_rows)
        # Few rows at a time and no read-ahead: a row may be long.
        for batch in file.iter_batches(
            PARQUET_ROWS, columns=[columns.stars, columns.text], use_threads=False
        ):
            stars, texts = batch.column(columns.stars), batch.column(columns.text)
            rows = _pairs(_plain(stars), _plain(texts).cast(pa.large_binary()))
            yield Block(first, rows, size * (first - 1 + len(rows)) // total)
            first += len(rows)


def _pairs(stars: Any, texts: Any) -> list[TableRow]:
    values = stars.to_pylist()
    encoded = (value.encode() if isinstance(value, str) else value for value in values)
    return list(zip(encoded, texts.to_pylist(), strict=True))


def _plain(column: Any) -> Any:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _holds_text(kind: Any) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )


def _check_columns(name: str, names: Sequence[str], columns: Columns) -> None:
    for role, column in (("text", columns.text), ("stars", columns.stars)):
        if column not in names:
            # Without a header, the first row is taken for it and may be long.
            error = unknown_name("column", column, [shown[:20] for shown in names[:20]])
            raise DataError(
                f"{name}: {error}; name the {role} column (a file star<TAB>text without a header "
                "must end in .txt)",
                arguments=[f"{role}_column"],
            )
        if list(names).count(column) > 1:
            raise DataError(f"{name}: two columns are called {column!r}; rename one")


def _explain_blocks(name: str, blocks: Iterator[Block]) -> Iterator[Block]:
    with explained(name):
        yield from blocks


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn the libraries' errors for a broken file into an error of one line for the user."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"{name}: no such file") from error
    except IsADirectoryError as error:
        raise DataError(f"{name}: a folder, not a file; give its files") from error
    except PermissionError as error:
        raise DataError(f"{name}: not readable (permission denied)") from error
    except zipfile.BadZipFile as error:
        raise DataError(f"{name}: not a readable zip archive ({error})") from error
    except (EOFError, zlib.error) as error:
        raise DataError(f"{name}: truncated or damaged archive; download it again") from error
    except (RuntimeError, NotImplementedError) as error:
        # zipfile raises these for a password and for an unknown compression method.
        raise DataError(f"{name}: cannot unpack ({error})") from error
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(f"{name}: {_reason(error)}") from error
    except OSError as error:
        reason = str(error)
        if "ompressed stream" in reason or "zlib" in reason:
            raise DataError(
                f"{name}: truncated or damaged gzip file ({reason}); download it again"
            ) from error
        raise DataError(f"{name}: cannot be read ({reason})") from error


def _reason(error: Exception) -> str:
    reason = str(error).splitlines()[0]
    if "Empty CSV" in reason:
        return "the file is empty"
    if "straddling" in reason:
        return f"a row is longer than {BLOCK_BYTES >> 20} MB; is every row on its own line?"
    if "Parquet" in reason or "parquet" in reason:
        return f"not a readable Parquet file ({reason})"
    return f"its content does not match its file name ({reason})"
