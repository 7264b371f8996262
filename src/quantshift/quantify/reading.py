"""Tables of any common format as chunks of rows: CSV, TSV, JSON lines, Parquet, Excel, data frames.

Only the columns asked for are read, a few thousand rows at a time, so that memory does not grow
with the file (Excel workbooks, a million rows at most, are read whole). A file that is not what its
name says, or cannot be read, ends in a `DataError` of one line.
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
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from quantshift.corpora.readers import BLOCK_BYTES, BYTE_ORDER_MARK, GZIP_MAGIC, explained
from quantshift.errors import DataError, UserError

Source: TypeAlias = str | Path | Any
"""A path, or a data frame of any library that speaks Arrow (pandas, polars, pyarrow)."""

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


@dataclass(frozen=True)
class Table:
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
            if column not in self.columns:
                near = difflib.get_close_matches(column, self.columns, n=1, cutoff=0.7)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {self._shown()}"
                raise DataError(f"{self.name}: no column {column!r}; {hint}")
            if self.columns.count(column) > 1:
                raise DataError(f"{self.name}: there are two columns {column!r}; rename one")

    def _shown(self) -> str:
        # Without a header the first row stands in its place, and may be long.
        names = [name[:20] for name in self.columns[:10]]
        return ", ".join([*names, *(["..."] if len(self.columns) > 10 else [])])


def open_table(source: Source, *, name: str = "the table") -> Table:
    """The table of a file or of a data frame, which messages call `name`."""
    if not isinstance(source, str | Path):
        return _frame_table(name, _frame(source, name))
    path = Path(source)
    compressed = path.suffix.lower() == ".gz"
    ending = Path(path.stem).suffix.lower() if compressed else path.suffix.lower()
    kind = FORMATS.get(ending)
    if kind is None or (compressed and kind not in ("csv", "json")):
        raise UserError(
            f"{path}: cannot tell the format from the ending {''.join(path.suffixes[-2:])!r}; "
            f"known: {', '.join(FORMATS)}, and .gz behind CSV, TSV and JSON lines"
        )
    with explained(str(path)):
        _check_content(path, kind, ending, compressed)
        if kind == "excel":
            return _frame_table(str(path), _excel(path))
        if kind == "parquet":
            return _parquet_table(path)
        return (_csv_table if kind == "csv" else _json_table)(path, ending, compressed)


def _check_content(path: Path, kind: str, ending: str, compressed: bool) -> None:
    with path.open("rb") as file:
        start = file.read(1024)
    if not start:
        raise DataError(f"{path}: the file is empty")
    found = next((what for magic, what in _MAGIC.items() if start.startswith(magic)), None)
    expected = _EXPECTED.get(kind, "a gzip file" if compressed else None)
    if expected is not None and found != expected:
        raise DataError(f"{path}: not {expected}, though its name says so; rename it")
    if expected is not None:
        return
    if found == "text in UTF-16":
        raise DataError(f"{path}: {found}; save it as UTF-8")
    if found is not None:
        raise DataError(f"{path}: {found}, though its name ends in {ending}; rename it")
    if b"\0" in start:
        raise DataError(f"{path}: not a text file, though its name ends in {ending}")


def _csv_table(path: Path, ending: str, compressed: bool) -> Table:
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

    return Table(str(path), names, read)


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


def _json_table(path: Path, ending: str, compressed: bool) -> Table:
    def objects() -> Iterator[tuple[dict[str, Any], bool]]:
        with gzip.open(path) if compressed else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                text, bad = _text_of_line(line.removeprefix(BYTE_ORDER_MARK))
                try:
                    found = json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise DataError(
                        f"{path}: line {number} is no JSON object{_hint(text)}"
                    ) from error
                if not isinstance(found, dict):
                    raise DataError(f"{path}: line {number} is no JSON object{_hint(text)}")
                yield found, bad

    names: dict[str, None] = {}
    for number, (found, _) in enumerate(objects()):
        if number == ROWS:
            break
        names.update(dict.fromkeys(found))

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        rows: list[dict[str, Any]] = []
        first, undecodable = 1, 0
        for found, bad in objects():
            rows.append({name: _plain(found.get(name)) for name in wanted})
            undecodable += bad
            if len(rows) == ROWS:
                yield Chunk(first, _columns(rows, wanted), undecodable)
                first, rows, undecodable = first + len(rows), [], 0
        if rows:
            yield Chunk(first, _columns(rows, wanted), undecodable)

    return Table(str(path), tuple(names), read)


def _text_of_line(line: bytes) -> tuple[str, bool]:
    try:
        return line.decode("utf-8"), False
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace"), True


def _hint(text: str) -> str:
    return "; write one object per line instead of one array" if text.lstrip()[:1] == "[" else ""


def _columns(rows: list[dict[str, Any]], wanted: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in wanted}


def _parquet_table(path: Path) -> Table:
    with pa.parquet.ParquetFile(path) as file:
        names = tuple(file.schema_arrow.names)

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        first = 1
        with pa.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS, columns=list(wanted), use_threads=False):
                columns = {n: [_plain(v) for v in batch.column(n).to_pylist()] for n in wanted}
                yield Chunk(first, columns)
                first += len(batch)

    return Table(str(path), names, read)


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


def _frame_table(name: str, frame: pl.DataFrame) -> Table:
    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        chosen, first = frame.select(wanted), 1
        for part in chosen.iter_slices(ROWS):
            columns = {n: [_plain(v) for v in part[n].to_list()] for n in wanted}
            yield Chunk(first, columns)
            first += len(part)

    return Table(name, tuple(frame.columns), read)


def _plain(value: Any) -> Any:
    """The value, None where it stands for nothing; bytes as text."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return None if value.strip() in MISSING else value
    return None if isinstance(value, float) and value != value else value
