"""Tables of any common format: CSV, TSV, JSON lines, Parquet, Excel, data frames.

`open_table` gives chunks of rows: only the columns asked for are read, a few thousand rows at a
time, so that memory does not grow with the file (Excel workbooks, a million rows at most, are read
whole). `read_frame` gives a file as one frame. A file that is not what its name says, or cannot be
read, ends in a `DataError` of one line; so does a quote gone wrong in a CSV file (see
`corpora.quoting`), unless the file is read line by line, which is called lenient.
"""

import csv
import difflib
import gzip
import io
import json
import re
import sys
import time
import zipfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import polars as pl
import polars.selectors as cs
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from quantshift.corpora.quoting import BYTE_ORDER_MARK, check_quotes, line_by_line
from quantshift.corpora.readers import BLOCK_BYTES, GZIP_MAGIC, explained, first_row
from quantshift.corpora.spool import Spool
from quantshift.data.places import STANDARD_INPUT, is_piped, matches, spooled
from quantshift.errors import DataError, UserError

Source: TypeAlias = str | Path | Any
"""A path, `-` for standard input, a pattern such as `part*.csv`, a folder of tables, a data frame
of any library that speaks Arrow (pandas, polars, pyarrow), or a list of these."""

Progress: TypeAlias = Callable[[str, int, int], None] | None
"""Takes what is being worked on, how much is done and how much there is in all."""

ROWS = 4096
MISSING = frozenset({"", "nan", "NaN"})
"""What stands for nothing in files without types; pandas writes the last two."""

MOST_OF_A_HEADER = 1 << 16
"""Bytes in which to look for what separates the names of columns."""

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
        b"PK\x03\x04": "a zip archive",
        b"\xd0\xcf\x11\xe0": "an Excel workbook",
        GZIP_MAGIC: "a gzip file",
        b"\xff\xfe": "text in UTF-16",
        b"\xfe\xff": "text in UTF-16",
        b"%PDF": "a PDF document",
    }
)
"""How files begin that must not be taken for lines of text."""

_QUOTED = re.compile(rb'"[^"]*"')

_EXPECTED = MappingProxyType({"parquet": "a Parquet file", "excel": "an Excel workbook"})


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
                f"({self.first_ragged}); mend them"
            )
        return self

    def require(self, column: str) -> pl.Series:
        """The column, refused if there is none of that name, with the nearest that is one."""
        _require(self.name, self.columns.columns, column)
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
            _require(self.name, self.columns, column)
        with explained(self.name):
            yield from self.read(list(dict.fromkeys(wanted)))

    def require(self, wanted: Sequence[str]) -> None:
        """Refuse names that are no columns, with the nearest that is one, and nested columns."""
        for column in wanted:
            _require(self.name, self.columns, column)
            if column in self.nested:
                raise DataError(
                    f"{self.name}: the cells of {column!r} are lists or objects; give each of "
                    "their parts a column of its own"
                )


def _require(name: str, columns: Sequence[str], wanted: str) -> None:
    if wanted not in columns:
        near = difflib.get_close_matches(wanted, columns, n=1, cutoff=0.7)
        # Without a header the first row stands in its place, and may be long.
        shown = ", ".join([*(c[:20] for c in columns[:10]), *(["..."] * (len(columns) > 10))])
        hint = f"did you mean {near[0]!r}?" if near else f"there are {shown}"
        raise DataError(f"{name}: no column {wanted!r}; {hint}")
    if columns.count(wanted) > 1:
        raise DataError(f"{name}: there are two columns {wanted!r}; rename one")


def open_table(source: Source, *, name: str = "the table", lenient: bool = False) -> OpenTable:
    """The table of a source, which messages call `name` if it has none of its own.

    Several files, whether listed, matched by a pattern or in a folder, are one table. With
    `lenient` every line of a CSV file is a row, and a quote that does not fit is taken literally.
    """
    listed = list(source) if isinstance(source, list | tuple) else None
    files = [file for one in ([source] if listed is None else listed) for file in _files(one)]
    if not files:
        raise UserError(f"{name}: no file is named")
    tables = [_open(file, name, lenient=lenient) for file in files]
    if len(tables) == 1:
        return tables[0]
    whole = f"{tables[0].name} and {len(files) - 1} more" if listed is not None else str(source)
    return _joined(whole, tables)


def expanded(sources: Sequence[Source]) -> list[Source]:
    """Each source that is to be a table of its own.

    That is every file that a pattern matches, and every file of a folder; but the Parquet files of
    a folder are one table.
    """
    found: list[Source] = []
    for source in sources:
        paths = matches(source) if isinstance(source, str | Path) else None
        for one in [source] if paths is None else paths:
            files = _files(one)
            is_parts = any(isinstance(f, Path) and f.suffix.lower() == ".parquet" for f in files)
            found += [one] if is_parts else files
    return found


def read_frame(
    path: Path, *, without: Sequence[str] = (), lenient: bool = False, progress: Progress = None
) -> Frame:
    """A file as one frame, without some of its columns; .txt is read as CSV.

    `progress` is called with the name of the file, the bytes read and the bytes in all.
    """
    with explained(str(path)):
        file = _file(path, FRAME_FORMATS, lenient=lenient)
        if file.kind == "csv":
            return _csv_frame(file, without, progress)
        if file.kind == "parquet":
            with pa.parquet.ParquetFile(file.path) as parquet:
                _check_names(file.name, parquet.schema_arrow.names)
                frame = _polars(parquet.read())
        elif file.kind == "excel":
            frame = _excel(file)
        else:
            table = _json_table(file)
            frame = pl.concat([chunk.columns for chunk in table.chunks(table.columns)])
    return Frame(file.name, _without_gaps(frame.drop(without, strict=False)))


def _files(source: Source) -> list[Source]:
    """The files of a pattern or a folder; any other source itself."""
    if not isinstance(source, str | Path) or str(source) == STANDARD_INPUT:
        return [source]
    paths = matches(source)
    if paths is not None:
        return [file for path in paths for file in _files(path)]
    if not Path(source).is_dir():
        return [source]
    inside = sorted(Path(source).iterdir())
    files = [p for p in inside if p.is_file() and p.name[0] not in "._" and _kind_of(p, FORMATS)]
    if not files:
        raise DataError(f"{source}: a folder without tables; name files")
    return list(files)


def _open(source: Source, name: str, *, lenient: bool) -> OpenTable:
    if not isinstance(source, str | Path):
        return _frame_table(name, _frame(source, name))
    with explained(str(source)):
        file = _file(source, FORMATS, lenient=lenient)
        if file.kind == "excel":
            return _frame_table(file.name, _excel(file))
        opener = {"csv": _csv_table, "json": _json_table, "parquet": _parquet_table}[file.kind]
        return opener(file)


def _joined(name: str, tables: Sequence[OpenTable]) -> OpenTable:
    """The rows of all tables, one behind the other; columns are matched by their names."""
    first = tables[0]
    for table in tables[1:]:
        for one, other in ((first, table), (table, first)):
            only = [column for column in one.columns if column not in other.columns]
            if only:
                raise DataError(
                    f"{name}: only {one.name} has a column {only[0][:30]!r}, {other.name} has "
                    "none; files that make one table need the same columns"
                )
    types = {name: _common_type([t.types[name] for t in tables]) for name in first.columns}

    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        start = 1
        for table in tables:
            with closing(table.chunks(wanted)) as chunks:
                for chunk in chunks:
                    where = f"{table.name}, {chunk.first_ragged}" if chunk.first_ragged else ""
                    columns = chunk.columns.cast({name: types[name] for name in wanted})
                    yield replace(chunk, first=start, columns=columns, first_ragged=where)
                    start += len(chunk)

    nested = frozenset[str]().union(*(table.nested for table in tables))
    return OpenTable(name, first.columns, types, read, nested)


def _common_type(types: Sequence[pl.DataType]) -> pl.DataType:
    if all(type_ == types[0] for type_ in types):
        return types[0]
    return pl.Float64() if all(type_.is_numeric() for type_ in types) else pl.String()


@dataclass(frozen=True)
class _File:
    """A file to read: its name in messages, where it lies, and how it is written.

    held: what must not be let go of while the file is read. mended: what was not UTF-8 in it is
    now U+FFFD. delimiter: "" if it is to be found out.
    """

    name: str
    path: Path
    kind: str
    ending: str
    compressed: bool
    held: Spool | None = None
    mended: bool = False
    delimiter: str = ""

    def open(self) -> Any:
        """The unpacked bytes."""
        # A file of Arrow's own, not of Python's, which Arrow's threads could not read while it
        # ends.
        return pa.input_stream(str(self.path), compression="gzip" if self.compressed else None)

    def lines(self) -> Any:
        """The file as one of Python's, whose lines one can go through."""
        return gzip.open(self.path) if self.compressed else self.path.open("rb")


def _file(source: str | Path, formats: Mapping[str, str], *, lenient: bool) -> _File:
    if is_piped(source):
        file = _piped(source)
    else:
        path = Path(source)
        kind = _kind_of(path, formats)
        if kind is None:
            raise UserError(
                f"{path}: cannot tell the format from the ending {''.join(path.suffixes[-2:])!r}; "
                f"known: {', '.join(formats)}, and .gz behind CSV, TSV and JSON lines"
            )
        compressed, ending = _endings(path)
        file = _File(str(path), path, kind, ending, compressed)
        _check_content(file)
    if lenient and file.kind == "csv":
        delimiter = _delimiter(file, lenient=True)
        with file.lines() as lines:
            held = Spool(line_by_line(lines, delimiter))
        file = replace(file, path=held.path, compressed=False, held=held, delimiter=delimiter)
    return file


def _decodable(file: _File) -> _File:
    """A copy in which what is not UTF-8 is U+FFFD: one bad byte costs one cell, not the file."""
    with file.lines() as lines:
        held = Spool(line.decode("utf-8", "replace").encode() for line in lines)
    return replace(file, path=held.path, compressed=False, held=held, mended=True)


def _endings(path: Path) -> tuple[bool, str]:
    """Whether the name says that the file is compressed, and the ending that tells its format."""
    compressed = path.suffix.lower() == ".gz"
    return compressed, (Path(path.stem) if compressed else path).suffix.lower()


def _kind_of(path: Path, formats: Mapping[str, str]) -> str | None:
    compressed, ending = _endings(path)
    kind = formats.get(ending)
    return None if compressed and kind not in ("csv", "json") else kind


def _piped(source: str | Path) -> _File:
    """What comes in by a pipe, its format told by how it begins."""
    name = "standard input" if str(source) == STANDARD_INPUT else str(source)
    held = spooled(source)
    content = _content(held.path)
    compressed = content == "a gzip file"
    if compressed:
        with gzip.open(held.path) as unpacked:
            start = unpacked.read(1024)
    else:
        start = _start(held.path)
    if not start.strip():
        raise DataError(f"{name}: empty; it can be read once only")
    kind = {what: kind for kind, what in _EXPECTED.items()}.get(content or "")
    if kind is None:
        is_json = start.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")
        kind = "json" if is_json else "csv"
    file = _File(name, held.path, kind, ".jsonl" if kind == "json" else ".csv", compressed, held)
    _check_content(file)
    return file


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1024)


def _content(path: Path) -> str | None:
    """What a file is if it is not lines of text, as far as its beginning tells."""
    start = _start(path)
    content = next((what for magic, what in _MAGIC.items() if start.startswith(magic)), None)
    if content == "a zip archive" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if any(name.startswith("xl/") for name in archive.namelist()):
                return "an Excel workbook"
    return content


def _check_content(file: _File) -> None:
    start, content = _start(file.path), _content(file.path)
    if not start:
        raise DataError(f"{file.name}: the file is empty")
    expected = _EXPECTED.get(file.kind, "a gzip file" if file.compressed else None)
    if content == "a zip archive" and file.kind == "excel":
        # Perhaps a workbook that was cut off: its reader knows more.
        return
    if expected is not None and content != expected:
        raise DataError(f"{file.name}: not {expected}, though its name says so; rename it")
    if expected is not None:
        return
    if content == "text in UTF-16":
        raise DataError(f"{file.name}: {content}; save it as UTF-8")
    if content is not None:
        cure = "unpack" if content == "a zip archive" else "rename"
        raise DataError(f"{file.name}: {content}, though its name ends in {file.ending}; {cure} it")
    if b"\0" in start:
        raise DataError(f"{file.name}: not a text file, though its name ends in {file.ending}")


def _csv_table(file: _File) -> OpenTable:
    file, names, delimiter = _checked(file)

    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        first, ragged, told = 1, [0], False

        def skip(_: Any) -> str:
            ragged[0] += 1
            return "skip"

        def where() -> str:
            return _first_ragged(file, delimiter, len(names)) if ragged[0] and not told else ""

        with (
            _let_go_of(skip),
            file.open() as stream,
            closing(_csv_batches(stream, delimiter, wanted, skip)) as batches,
        ):
            for batch in batches:
                for start in range(0, len(batch), ROWS):
                    part = _text_frame(batch.slice(start, ROWS))
                    yield Chunk(first, part, _undecodable(file, part), ragged[0], where())
                    told = told or ragged[0] > 0
                    ragged[0] = 0
                    first += len(part)
            if ragged[0]:
                nothing = pl.DataFrame(schema=dict.fromkeys(wanted, pl.String))
                yield Chunk(first, nothing, 0, ragged[0], where())

    return OpenTable(file.name, names, dict.fromkeys(names, pl.String()), read)


def _csv_frame(file: _File, without: Sequence[str], progress: Progress) -> Frame:
    file, names, delimiter = _checked(file)
    _check_names(file.name, names)
    wanted = [name for name in names if name not in set(without)]
    parts = [pl.DataFrame(schema=dict.fromkeys(wanted, pl.String))]
    ragged, size = [0], file.path.stat().st_size

    def skip(_: Any) -> str:
        ragged[0] += 1
        return "skip"

    with (
        _let_go_of(skip),
        pa.OSFile(str(file.path)) as raw,
        pa.CompressedInputStream(raw, "gzip") if file.compressed else raw as stream,
        closing(_csv_batches(stream, delimiter, wanted, skip)) as batches,
    ):
        for batch in batches:
            parts.append(_text_frame(batch))
            if progress is not None:
                progress(Path(file.name).name, raw.tell(), size)
    frame = pl.concat(parts).rechunk()
    where = _first_ragged(file, delimiter, len(names)) if ragged[0] else ""
    return Frame(file.name, frame, _undecodable(file, frame), ragged[0], where)


def _first_ragged(file: _File, delimiter: str, n_columns: int) -> str:
    """The line of the first row with too many or too few cells."""
    with file.lines() as raw:
        text = io.TextIOWrapper(raw, "utf-8", "replace", newline="")
        rows, line = csv.reader(text, delimiter=delimiter), 1
        try:
            for row in rows:
                if row and len(row) != n_columns:
                    return f"line {line}"
                line = rows.line_num + 1
        except csv.Error:  # a cell larger than this reader takes
            pass
    return ""


def _check_names(file: str, names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{file}: there are two columns {twice!r}; rename one")


def _text_frame(batch: Any) -> pl.DataFrame:
    return _without_gaps(_polars(batch))


def _undecodable(file: _File, frame: pl.DataFrame) -> int:
    """Cells in which something was replaced."""
    if not file.mended:
        return 0
    return sum(int(column.str.contains(UNREADABLE, literal=True).sum()) for column in frame)


def _polars(table: Any) -> pl.DataFrame:
    frame = pl.DataFrame(table)
    # A column without a name would be given one.
    frame.columns = table.schema.names
    return frame


def _without_gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """Null for whatever stands for nothing."""
    is_gap = cs.string().str.strip_chars().is_in(list(MISSING))
    return frame.with_columns(pl.when(~is_gap).then(cs.string()), cs.float().fill_nan(None))


def _csv_batches(
    file: Any, delimiter: str, wanted: Sequence[str], skip: Callable[[Any], str]
) -> Generator[Any]:
    try:
        batches = pa.csv.open_csv(
            file,
            read_options=pa.csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=list(wanted), column_types=dict.fromkeys(wanted, pa.large_string())
            ),
        )
    except pa.ArrowInvalid as error:
        # A header without a line end is a header without rows, as with one.
        if "Empty CSV" in str(error):
            return
        raise
    yield from batches


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


def _beginning(file: _File) -> bytes:
    with file.open() as stream:
        return bytes(stream.read(BLOCK_BYTES))


def _delimiter(file: _File, *, lenient: bool = False) -> str:
    if file.delimiter:
        return file.delimiter
    start = _beginning(file)[:MOST_OF_A_HEADER].removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n")
    if lenient:
        start = start.split(b"\n", 1)[0]
    line = _QUOTED.sub(b"", start).split(b"\n", 1)[0]
    # A spreadsheet of much of Europe separates by semicolons and calls it CSV all the same.
    return "\t" if file.ending == ".tsv" else max(",;\t", key=lambda d: line.count(d.encode()))


def _checked(file: _File) -> tuple[_File, tuple[str, ...], str]:
    """A CSV file without faults in its quotes, the names of its columns, what separates them."""
    delimiter = _delimiter(file)
    names = first_row(file.name, _beginning(file), delimiter)
    with file.open() as stream:
        is_utf8 = check_quotes(file.name, stream, delimiter, names)
    return file if is_utf8 else _decodable(file), names, delimiter


def _json_table(file: _File) -> OpenTable:
    def objects() -> Iterator[tuple[dict[str, Any], bool]]:
        with file.lines() as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                text, bad = _text_of_line(line.removeprefix(BYTE_ORDER_MARK))
                try:
                    record = json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise DataError(
                        f"{file.name}: line {number} is no JSON object{_hint(text)}"
                    ) from error
                if not isinstance(record, dict):
                    raise DataError(f"{file.name}: line {number} is no JSON object{_hint(text)}")
                yield record, bad

    # The whole file is looked through: a key or a type may turn up late.
    kinds: dict[str, set[type]] = {}
    for record, _ in objects():
        for name, value in record.items():
            kinds.setdefault(name, set()).add(_json_kind(value))
    types = {name: _column_type(kinds[name]) for name in kinds}

    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        rows: list[dict[str, Any]] = []
        first, undecodable = 1, 0
        for record, bad in objects():
            rows.append(record)
            undecodable += bad
            if len(rows) == ROWS:
                yield Chunk(first, _record_frame(rows, wanted, types), undecodable)
                first, rows, undecodable = first + len(rows), [], 0
        if rows:
            yield Chunk(first, _record_frame(rows, wanted, types), undecodable)

    nested = frozenset(name for name in kinds if kinds[name] & {dict, list})
    return OpenTable(file.name, tuple(kinds), types, read, nested)


def _text_of_line(line: bytes) -> tuple[str, bool]:
    try:
        return line.decode("utf-8"), False
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace"), True


def _hint(text: str) -> str:
    return "; write one object per line instead of one array" if text.lstrip()[:1] == "[" else ""


def _json_kind(value: Any) -> type:
    # Whole numbers that no column of 64 bits can hold are kept as strings.
    return str if type(value) is int and not -(2**63) <= value < 2**63 else type(value)


def _column_type(kinds: set[type]) -> pl.DataType:
    """The type of a column with values of these kinds; strings if they do not go together."""
    kinds = kinds - {type(None)}
    if kinds == {bool}:
        return pl.Boolean()
    if kinds == {int}:
        return pl.Int64()
    return pl.Float64() if kinds and kinds <= {int, float} else pl.String()


def _record_frame(
    rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], types: Mapping[str, pl.DataType]
) -> pl.DataFrame:
    return _without_gaps(
        pl.DataFrame(
            {name: _series([row.get(name) for row in rows], types[name]) for name in wanted}
        )
    )


def _series(values: Sequence[Any], kind: pl.DataType) -> pl.Series:
    if kind == pl.String:
        values = [value if value is None else _string(value) for value in values]
    return pl.Series(values, dtype=kind)


def _string(value: Any) -> str:
    if isinstance(value, str):
        # Half of a pair of surrogates is allowed in JSON, and nowhere else.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict | list):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


def _parquet_table(file: _File) -> OpenTable:
    with pa.parquet.ParquetFile(file.path) as parquet:
        schema = parquet.schema_arrow

    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        first = 1
        with pa.parquet.ParquetFile(file.path) as parquet:
            for batch in parquet.iter_batches(ROWS, columns=list(wanted), use_threads=False):
                yield Chunk(first, _plain(_polars(batch)).select(wanted))
                first += len(batch)

    nested = frozenset(field.name for field in schema if pa.types.is_nested(field.type))
    empty = [_polars(pa.table([[]], schema=pa.schema([field]))) for field in schema]
    types = {column.columns[0]: _plain(column).dtypes[0] for column in empty}
    return OpenTable(file.name, tuple(schema.names), types, read, nested)


def _excel(file: _File) -> pl.DataFrame:
    try:
        return pl.read_excel(file.path.read_bytes(), infer_schema_length=None)
    except ModuleNotFoundError as error:
        raise UserError(
            f"{file.name}: reading Excel needs fastexcel; install it with: pip install "
            "'quantshift[excel]', or save the sheet as CSV"
        ) from error
    except pl.exceptions.NoDataError as error:
        raise DataError(f"{file.name}: the first sheet is empty") from error
    except Exception as error:  # the reader raises errors of its own for a broken workbook
        raise DataError(
            f"{file.name}: not a readable workbook ({str(error).splitlines()[0]})"
        ) from error


def _frame(source: Any, name: str) -> pl.DataFrame:
    if isinstance(source, pl.DataFrame):
        return source
    if not hasattr(source, "__arrow_c_stream__"):
        raise UserError(f"{name} must be a path or a data frame, got {type(source).__name__}")
    try:
        frame = _polars(pa.table(source))
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # A column of pandas may hold values of several types.
        frame = pl.DataFrame({str(c): _mixed(source[c].tolist()) for c in source.columns})
    # The index of pandas is no column.
    return frame.select(cs.exclude(cs.matches(r"^__index_level_\d+__$")))


def _mixed(values: Sequence[Any]) -> pl.Series:
    values = [None if value != value else value for value in values]
    return _series(values, _column_type({_json_kind(value) for value in values}))


def _frame_table(name: str, frame: pl.DataFrame) -> OpenTable:
    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        first = 1
        for part in frame.select(wanted).iter_slices(ROWS):
            yield Chunk(first, _plain(part))
            first += len(part)

    nested = frozenset(frame.select(cs.nested() | cs.object()).columns)
    types = dict(_plain(frame.clear()).schema)
    return OpenTable(name, tuple(frame.columns), types, read, nested)


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Values that are numbers, truth values, dates or strings; gaps are null."""
    odd = frame.select(cs.nested() | cs.object() | cs.binary())
    return _without_gaps(
        frame.with_columns(
            cs.categorical().cast(pl.String),
            cs.enum().cast(pl.String),
            cs.decimal().cast(pl.Float64),
            cs.by_dtype(pl.Null).cast(pl.String),
            *(_series(column.to_list(), pl.String()).alias(column.name) for column in odd),
        )
    )
