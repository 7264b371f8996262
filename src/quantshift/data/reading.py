"""Tables of any common format: CSV, TSV, JSON lines, Parquet, Excel, data frames.

`open_table` gives chunks of rows: only the columns asked for are read, a few thousand rows at a
time, so that memory does not grow with the file (Excel workbooks, a million rows at most, are read
whole). `read_frame` gives a file as one frame. A file that is not what its name says, or cannot be
read, ends in a `DataError` of one line.
"""

import csv
import difflib
import gzip
import io
import json
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import polars as pl
import polars.selectors as cs
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from quantshift.corpora.readers import BLOCK_BYTES, BYTE_ORDER_MARK, GZIP_MAGIC, explained
from quantshift.errors import DataError, UserError

Source: TypeAlias = str | Path | Any
"""A path, or a data frame of any library that speaks Arrow (pandas, polars, pyarrow)."""

Progress: TypeAlias = Callable[[str, int, int], None] | None
"""Takes what is being worked on, how much is done and how much there is in all."""

ROWS = 4096
MISSING = frozenset({"", "nan", "NaN"})
"""What stands for nothing in files without types; pandas writes the last two."""

LONGEST_WAIT = 200
"""Milliseconds to wait for threads of the CSV parser."""

UNREADABLE = "\ufffd"
"""Stands for what is not UTF-8."""

FORMATS = MappingProxyType(
    {
        ".csv": "csv",
        ".tsv": "csv",
        ".jsonl": "json",
        ".ndjson": "json",
        ".json": "json",
        ".parquet": "parquet",
        ".xlsx": "excel",
        ".xls": "excel",
    }
)
"""Format by the ending of the name; CSV and JSON lines also with .gz behind."""

FRAME_FORMATS = MappingProxyType({**FORMATS, ".txt": "csv"})
"""The same for whole frames: some data sets (LeQua's) call their CSV files .txt."""

_MAGIC = MappingProxyType(
    {
        b"PAR1": "a Parquet file",
        b"PK\x03\x04": "an Excel workbook",
        b"\xd0\xcf\x11\xe0": "an Excel workbook",
        GZIP_MAGIC: "a gzip file",
        b"\xff\xfe": "text in UTF-16",
        b"\xfe\xff": "text in UTF-16",
        b"%PDF": "a PDF document",
    }
)
"""How files begin that must not be taken for lines of text."""

_EXPECTED = MappingProxyType({"parquet": "a Parquet file", "excel": "an Excel workbook"})


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows. first: the number of the first, from 1 (a header is not counted).

    undecodable: cells that were not UTF-8; what could not be read in them is U+FFFD.
    ragged: rows left out because they have too many or too few cells.
    """

    first: int
    columns: Mapping[str, list[Any]]
    undecodable: int = 0
    ragged: int = 0

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True, eq=False)
class Frame:
    """A whole table: the file's types, strings where it has none; a gap is null.

    undecodable: cells that were not UTF-8; what could not be read in them is U+FFFD.
    ragged: rows left out because they have too many or too few cells.
    """

    name: str
    columns: pl.DataFrame
    undecodable: int = 0
    ragged: int = 0

    def require(self, column: str) -> pl.Series:
        """The column, refused if there is none of that name, with the nearest that is one."""
        _require(self.name, self.columns.columns, column)
        return self.columns[column]


@dataclass(frozen=True)
class OpenTable:
    """A table that has been opened: its name in messages, its columns, and a way to read it."""

    name: str
    columns: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterator[Chunk]]

    def chunks(self, wanted: Sequence[str]) -> Generator[Chunk]:
        """The chunks with the wanted columns, which must be there; to be closed if not read out."""
        self.require(wanted)
        with explained(self.name):
            yield from self.read(list(dict.fromkeys(wanted)))

    def require(self, wanted: Sequence[str]) -> None:
        """Refuse names that are no columns, with the nearest that is one."""
        for column in wanted:
            _require(self.name, self.columns, column)


def _require(name: str, columns: Sequence[str], wanted: str) -> None:
    if wanted not in columns:
        near = difflib.get_close_matches(wanted, columns, n=1, cutoff=0.7)
        # Without a header the first row stands in its place, and may be long.
        shown = ", ".join([*(c[:20] for c in columns[:10]), *(["..."] * (len(columns) > 10))])
        hint = f"did you mean {near[0]!r}?" if near else f"there are {shown}"
        raise DataError(f"{name}: no column {wanted!r}; {hint}")
    if columns.count(wanted) > 1:
        raise DataError(f"{name}: there are two columns {wanted!r}; rename one")


def open_table(source: Source, *, name: str = "the table") -> OpenTable:
    """The table of a file or of a data frame, which messages call `name`."""
    if not isinstance(source, str | Path):
        return _frame_table(name, _frame(source, name))
    path = Path(source)
    kind, ending, compressed = _format(path, FORMATS)
    with explained(str(path)):
        _check_content(path, kind, ending, compressed)
        if kind == "excel":
            return _frame_table(str(path), _excel(path))
        if kind == "parquet":
            return _parquet_table(path)
        return (_csv_table if kind == "csv" else _json_table)(path, ending, compressed)


def read_frame(path: Path, *, without: Sequence[str] = (), progress: Progress = None) -> Frame:
    """A file as one frame, without some of its columns; .txt is read as CSV.

    `progress` is called with the name of the file, the bytes read and the bytes in all.
    """
    kind, ending, compressed = _format(path, FRAME_FORMATS)
    with explained(str(path)):
        _check_content(path, kind, ending, compressed)
        if kind == "csv":
            return _csv_frame(path, ending, compressed, without, progress)
        if kind == "parquet":
            with pa.parquet.ParquetFile(path) as file:
                _check_names(path, file.schema_arrow.names)
                frame = pl.DataFrame(file.read())
        elif kind == "excel":
            frame = _excel(path)
        else:
            table = _json_table(path, ending, compressed)
            parts = [pl.DataFrame(c.columns, strict=False) for c in table.chunks(table.columns)]
            frame = pl.concat(parts, how="vertical_relaxed")
    return Frame(str(path), _without_gaps(frame.drop(without, strict=False)))


def _format(path: Path, formats: Mapping[str, str]) -> tuple[str, str, bool]:
    """The format, the ending that told it, and whether the file is compressed."""
    compressed = path.suffix.lower() == ".gz"
    ending = Path(path.stem).suffix.lower() if compressed else path.suffix.lower()
    kind = formats.get(ending)
    if kind is None or (compressed and kind not in ("csv", "json")):
        raise UserError(
            f"{path}: cannot tell the format from the ending {''.join(path.suffixes[-2:])!r}; "
            f"known: {', '.join(formats)}, and .gz behind CSV, TSV and JSON lines"
        )
    return kind, ending, compressed


def _check_content(path: Path, kind: str, ending: str, compressed: bool) -> None:
    with path.open("rb") as file:
        start = file.read(1024)
    if not start:
        raise DataError(f"{path}: the file is empty")
    content = next((what for magic, what in _MAGIC.items() if start.startswith(magic)), None)
    expected = _EXPECTED.get(kind, "a gzip file" if compressed else None)
    if expected is not None and content != expected:
        raise DataError(f"{path}: not {expected}, though its name says so; rename it")
    if expected is not None:
        return
    if content == "text in UTF-16":
        raise DataError(f"{path}: {content}; save it as UTF-8")
    if content is not None:
        raise DataError(f"{path}: {content}, though its name ends in {ending}; rename it")
    if b"\0" in start:
        raise DataError(f"{path}: not a text file, though its name ends in {ending}")


def _csv_table(path: Path, ending: str, compressed: bool) -> OpenTable:
    names, delimiter = _header(path, ending, compressed)

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        first, ragged = 1, [0]

        def skip(_: Any) -> str:
            ragged[0] += 1
            return "skip"

        with (
            _let_go_of(skip),
            _bytes_of(path, compressed) as file,
            closing(_csv_batches(file, delimiter, wanted, skip)) as batches,
        ):
            for batch in batches:
                for start in range(0, len(batch), ROWS):
                    part = batch.slice(start, ROWS)
                    bad = [0]
                    columns = {
                        name: [_decoded(cell, bad) for cell in part.column(i).to_pylist()]
                        for i, name in enumerate(wanted)
                    }
                    yield Chunk(first, columns, bad[0], ragged[0])
                    ragged[0] = 0
                    first += len(part)

    return OpenTable(str(path), names, read)


def _csv_frame(
    path: Path, ending: str, compressed: bool, without: Sequence[str], progress: Progress
) -> Frame:
    names, delimiter = _header(path, ending, compressed)
    _check_names(path, names)
    wanted = [name for name in names if name not in set(without)]
    parts = [pl.DataFrame(schema=dict.fromkeys(wanted, pl.String))]
    undecodable, ragged, size = [0], [0], path.stat().st_size

    def skip(_: Any) -> str:
        ragged[0] += 1
        return "skip"

    with (
        _let_go_of(skip),
        pa.OSFile(str(path)) as raw,
        pa.CompressedInputStream(raw, "gzip") if compressed else raw as file,
        closing(_csv_batches(file, delimiter, wanted, skip)) as batches,
    ):
        for batch in batches:
            columns = [_strings(batch.column(i), undecodable) for i in range(len(wanted))]
            parts.append(_without_gaps(pl.DataFrame(pa.table(columns, names=wanted))))
            if progress is not None:
                progress(path.name, raw.tell(), size)
    return Frame(str(path), pl.concat(parts).rechunk(), undecodable[0], ragged[0])


def _check_names(path: Path, names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{path}: there are two columns {twice!r}; rename one")


def _strings(cells: Any, undecodable: list[int]) -> Any:
    try:
        return cells.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array([_decoded(c, undecodable) for c in cells.to_pylist()], pa.large_string())


def _without_gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """Null for whatever stands for nothing."""
    is_gap = cs.string().str.strip_chars().is_in(list(MISSING))
    return frame.with_columns(pl.when(~is_gap).then(cs.string()), cs.float().fill_nan(None))


def _csv_batches(
    file: Any, delimiter: str, wanted: Sequence[str], skip: Callable[[Any], str]
) -> Generator[Any]:
    yield from pa.csv.open_csv(
        file,
        read_options=pa.csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
        parse_options=pa.csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
        ),
        # Bytes, not strings: one undecodable cell must cost one cell, not the file.
        convert_options=pa.csv.ConvertOptions(
            include_columns=list(wanted), column_types={name: pa.binary() for name in wanted}
        ),
    )


@contextmanager
def _let_go_of(function: Callable[[Any], str]) -> Iterator[None]:
    """Waits at the end until Arrow's threads no longer hold a function of ours.

    The parser reads ahead in a thread. If that drops the last reference to a Python object while
    the interpreter ends (soon after the file, in case of an error), the process is aborted.
    """
    own = sys.getrefcount(function)
    try:
        yield
    finally:
        for _ in range(LONGEST_WAIT):
            if sys.getrefcount(function) <= own:
                break
            time.sleep(0.001)


def _bytes_of(path: Path, compressed: bool) -> Any:
    # A file of Arrow's own, not of Python's, which Arrow's threads could not read while it ends.
    return pa.input_stream(str(path), compression="gzip" if compressed else None)


def _header(path: Path, ending: str, compressed: bool) -> tuple[tuple[str, ...], str]:
    """Names of the columns, and what separates them."""
    with _bytes_of(path, compressed) as file:
        start = bytes(file.read(BLOCK_BYTES)).removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n")
    # A spreadsheet of much of Europe separates by semicolons and calls it CSV all the same.
    line = start.split(b"\n", 1)[0]
    delimiter = "\t" if ending == ".tsv" else max(",;\t", key=lambda d: line.count(d.encode()))
    rows = csv.reader(
        io.StringIO(start.decode("utf-8", "replace"), newline=""), delimiter=delimiter
    )
    try:
        names = tuple(next(rows, []))
    except csv.Error as error:
        raise DataError(f"{path}: the first row is no header ({error})") from error
    if any(UNREADABLE in name for name in names):
        raise DataError(f"{path}: the names of the columns are not UTF-8; save the file as UTF-8")
    return names, delimiter


def _decoded(cell: bytes | None, bad: list[int]) -> str | None:
    if cell is None:
        return None
    try:
        text = cell.decode("utf-8")
    except UnicodeDecodeError:
        bad[0] += 1
        text = cell.decode("utf-8", "replace")
    return None if text.strip() in MISSING else text


def _json_table(path: Path, ending: str, compressed: bool) -> OpenTable:
    def objects() -> Iterator[tuple[dict[str, Any], bool]]:
        with gzip.open(path) if compressed else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                text, bad = _text_of_line(line.removeprefix(BYTE_ORDER_MARK))
                try:
                    record = json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise DataError(
                        f"{path}: line {number} is no JSON object{_hint(text)}"
                    ) from error
                if not isinstance(record, dict):
                    raise DataError(f"{path}: line {number} is no JSON object{_hint(text)}")
                yield record, bad

    names: dict[str, None] = {}
    for number, (record, _) in enumerate(objects()):
        if number == ROWS:
            break
        names.update(dict.fromkeys(record))

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        rows: list[dict[str, Any]] = []
        first, undecodable = 1, 0
        for record, bad in objects():
            rows.append({name: _plain(record.get(name)) for name in wanted})
            undecodable += bad
            if len(rows) == ROWS:
                yield Chunk(first, _columns(rows, wanted), undecodable)
                first, rows, undecodable = first + len(rows), [], 0
        if rows:
            yield Chunk(first, _columns(rows, wanted), undecodable)

    return OpenTable(str(path), tuple(names), read)


def _text_of_line(line: bytes) -> tuple[str, bool]:
    try:
        return line.decode("utf-8"), False
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace"), True


def _hint(text: str) -> str:
    return "; write one object per line instead of one array" if text.lstrip()[:1] == "[" else ""


def _columns(rows: list[dict[str, Any]], wanted: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in wanted}


def _parquet_table(path: Path) -> OpenTable:
    with pa.parquet.ParquetFile(path) as file:
        names = tuple(file.schema_arrow.names)

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        first = 1
        with pa.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS, columns=list(wanted), use_threads=False):
                columns = {n: [_plain(v) for v in batch.column(n).to_pylist()] for n in wanted}
                yield Chunk(first, columns)
                first += len(batch)

    return OpenTable(str(path), names, read)


def _excel(path: Path) -> pl.DataFrame:
    try:
        return pl.read_excel(path, infer_schema_length=None)
    except ModuleNotFoundError as error:
        raise UserError(
            f"{path}: reading Excel needs fastexcel; install it with: pip install "
            "'quantshift[excel]', or save the sheet as CSV"
        ) from error
    except pl.exceptions.NoDataError as error:
        raise DataError(f"{path}: the first sheet is empty") from error
    except Exception as error:  # the reader raises errors of its own for a broken workbook
        raise DataError(
            f"{path}: not a readable workbook ({str(error).splitlines()[0]})"
        ) from error


def _frame(source: Any, name: str) -> pl.DataFrame:
    if isinstance(source, pl.DataFrame):
        return source
    if not hasattr(source, "__arrow_c_stream__"):
        raise UserError(f"{name} must be a path or a data frame, got {type(source).__name__}")
    return pl.DataFrame(pa.table(source))


def _frame_table(name: str, frame: pl.DataFrame) -> OpenTable:
    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        chosen, first = frame.select(wanted), 1
        for part in chosen.iter_slices(ROWS):
            columns = {n: [_plain(v) for v in part[n].to_list()] for n in wanted}
            yield Chunk(first, columns)
            first += len(part)

    return OpenTable(name, tuple(frame.columns), read)


def _plain(value: Any) -> Any:
    """The value, None where it stands for nothing; bytes as text."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return None if value.strip() in MISSING else value
    return None if isinstance(value, float) and value != value else value
