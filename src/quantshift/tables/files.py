"""Files of tables: their format, by name and content, and how to open them."""

import gzip
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from quantshift.errors import DataError, UserError
from quantshift.tables.places import STANDARD_INPUT, check_length, is_piped, spooled
from quantshift.tables.quotes import BYTE_ORDER_MARK
from quantshift.tables.readers import GZIP_MAGIC
from quantshift.tables.spool import Spool

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
"""Format by file extension; CSV and JSON lines may have .gz added."""

FRAME_FORMATS = MappingProxyType({**FORMATS, ".txt": "csv"})
"""The same for whole frames: some data sets (LeQua's) call their CSV files .txt."""

_MAGIC = MappingProxyType(
    {
        b"PAR1": "a Parquet file",
        b"PK\x03\x04": "a zip archive",
        b"\xd0\xcf\x11\xe0": "an Excel workbook",
        GZIP_MAGIC: "a gzip file",
        b"\xff\xfe\0\0": "text in UTF-32",
        b"\0\0\xfe\xff": "text in UTF-32",
        b"\xff\xfe": "text in UTF-16",
        b"\xfe\xff": "text in UTF-16",
        b"%PDF": "a PDF document",
    }
)
"""The first bytes of files that must not be read as lines of text."""

_NAMED_SHEET = re.compile(r"(.*\.xlsx?)#([^/]+)", re.IGNORECASE | re.DOTALL)
"""A workbook, and the sheet that is named after it."""

_EXPECTED = MappingProxyType({"parquet": "a Parquet file", "excel": "an Excel workbook"})


@dataclass(frozen=True)
class TableFile:
    """A file to read: its name in messages, its path and its format.

    spool: the temporary file that must exist while the file is read. has_replacements: bytes that
    were not UTF-8 have been replaced by U+FFFD. delimiter: "" if it is not known yet. sheet: of a
    workbook, "" if none is named.
    """

    name: str
    path: Path
    kind: str
    ending: str
    compressed: bool
    spool: Spool | None = None
    has_replacements: bool = False
    delimiter: str = ""
    sheet: str = ""

    def open(self) -> Any:
        """The uncompressed bytes."""
        # Arrow's file, because its threads could not read a Python file while Python exits.
        return pa.input_stream(str(self.path), compression="gzip" if self.compressed else None)

    def lines(self) -> Any:
        """A Python file, for iteration over its lines."""
        return gzip.open(self.path) if self.compressed else self.path.open("rb")


def table_file(source: str | Path, formats: Mapping[str, str]) -> TableFile:
    """The file of a source, refused if its content does not match its name."""
    if is_piped(source):
        return _piped(source)
    check_length(source)
    path, sheet = sheet_of(source)
    kind = kind_of(path, formats)
    if kind is None:
        raise UserError(
            f"{path}: unknown format {''.join(path.suffixes[-2:])!r}; known: "
            f"{', '.join(formats)}, and .gz after CSV, TSV and JSON lines"
        )
    compressed, ending = _endings(path)
    file = TableFile(str(source), path, kind, ending, compressed, sheet=sheet)
    _check_content(file)
    return file


def sheet_of(source: str | Path) -> tuple[Path, str]:
    """The path of a source and the sheet that is named after it, as in `sales.xlsx#March`."""
    named = _NAMED_SHEET.fullmatch(str(source))
    if named is not None and not Path(source).exists():
        return Path(named.group(1)), named.group(2)
    return Path(source), ""


def _endings(path: Path) -> tuple[bool, str]:
    """Whether the name ends in .gz, and the extension that gives the format."""
    compressed = path.suffix.lower() == ".gz"
    return compressed, (Path(path.stem) if compressed else path).suffix.lower()


def kind_of(path: Path, formats: Mapping[str, str]) -> str | None:
    """The format by file extension; None if unknown."""
    compressed, ending = _endings(path)
    kind = formats.get(ending)
    return None if compressed and kind not in ("csv", "json") else kind


def _piped(source: str | Path) -> TableFile:
    """The content of a pipe; its first bytes give its format."""
    name = "standard input" if str(source) == STANDARD_INPUT else str(source)
    spool = spooled(source)
    content = _content(spool.path)
    compressed = content == "a gzip file"
    if compressed:
        with gzip.open(spool.path) as unpacked:
            start = unpacked.read(1024)
    else:
        start = _start(spool.path)
    if not start.strip():
        raise DataError(f"{name}: empty; it can be read only once")
    kind = {description: kind for kind, description in _EXPECTED.items()}.get(content or "")
    if kind is None:
        is_json = start.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")
        kind = "json" if is_json else "csv"
    file = TableFile(
        name, spool.path, kind, ".jsonl" if kind == "json" else ".csv", compressed, spool
    )
    _check_content(file)
    return file


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1024)


def _content(path: Path) -> str | None:
    """The kind of a file that is not lines of text, recognised by its first bytes."""
    start = _start(path)
    content = next(
        (description for magic, description in _MAGIC.items() if start.startswith(magic)), None
    )
    if content == "a zip archive" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if any(name.startswith("xl/") for name in archive.namelist()):
                return "an Excel workbook"
    return content


def _check_content(file: TableFile) -> None:
    start, content = _start(file.path), _content(file.path)
    if not start:
        raise DataError(f"{file.name}: the file is empty")
    expected = _EXPECTED.get(file.kind, "a gzip file" if file.compressed else None)
    if content == "a zip archive" and file.kind == "excel":
        # Perhaps a truncated workbook: its reader gives a better error.
        return
    if expected is not None and content != expected:
        raise DataError(f"{file.name}: not {expected}, though its name says so; rename it")
    if expected is not None:
        return
    if content is not None and content.startswith("text in"):
        raise DataError(f"{file.name}: {content}; save it as UTF-8")
    if content is not None:
        cure = "unpack" if content == "a zip archive" else "rename"
        raise DataError(f"{file.name}: {content}, though its name ends in {file.ending}; {cure} it")
    if b"\0" in start:
        raise DataError(f"{file.name}: not a text file, though its name ends in {file.ending}")
