"""Files of tables: their format, by name and content."""

import gzip
from pathlib import Path
from types import MappingProxyType

from quantshift.base.storage.archives import check_gzip
from quantshift.errors import DataError, UserError
from quantshift.tables.files.places import STANDARD_INPUT, check_name, is_piped, spooled
from quantshift.tables.formats import (
    LINES_OF_TEXT,
    endings_of,
    format_of,
    known_endings,
    known_formats,
    sheet_of,
)
from quantshift.tables.formats.table_format import TableFile, TableFormat

GZIP, ZIP = "a gzip file", "a zip archive"

_NO_TABLES = MappingProxyType(
    {
        b"PK\x03\x04": ZIP,
        b"\x1f\x8b": GZIP,
        b"\xff\xfe\0\0": "text in UTF-32",
        b"\0\0\xfe\xff": "text in UTF-32",
        b"\xff\xfe": "text in UTF-16",
        b"\xfe\xff": "text in UTF-16",
        b"%PDF": "a PDF document",
    }
)
"""The first bytes of files that are not tables, and must not be read as lines of text."""


def table_file(source: str | Path, *, whole: bool = False) -> TableFile:
    """The file of a source, refused if its content does not match its name.

    whole: the file is read as one frame.
    """
    if is_piped(source):
        return _piped(source)
    check_name(source)
    path, sheet = sheet_of(source)
    format_ = format_of(path, whole=whole)
    if format_ is None:
        raise UserError(
            f"{path}: unknown format {''.join(path.suffixes[-2:])!r}; known: "
            f"{known_endings(whole=whole)}"
        )
    compressed, ending = endings_of(path)
    file = TableFile(str(source), path, format_, ending, compressed, sheet=sheet)
    check_content(file)
    return file


def check_content(file: TableFile) -> None:
    """Refuse a file whose content does not match its name."""
    start = _start(file.path)
    if not start:
        raise DataError(f"{file.name}: the file is empty")
    if file.format.magic:
        # Perhaps a truncated file: its reader gives a better error.
        if not start.startswith(file.format.magic):
            raise _misnamed(file, file.format.described)
        return
    content = _content(file.path, start)
    if file.compressed:
        if content != GZIP:
            raise _misnamed(file, GZIP)
        check_gzip(file.name, file.path)
        return
    if content.startswith("text in"):
        raise DataError(f"{file.name}: {content}; save it as UTF-8")
    if content:
        cure = "unpack" if content == ZIP else "rename"
        raise DataError(f"{file.name}: {content}, though its name ends in {file.ending}; {cure} it")
    if b"\0" in start:
        raise DataError(
            f"{file.name}: not a text file, though its name ends in {file.ending}; save it as text "
            "in UTF-8"
        )


def _misnamed(file: TableFile, expected: str) -> DataError:
    return DataError(f"{file.name}: not {expected}, though its name says so; rename it")


def _piped(source: str | Path) -> TableFile:
    """The content of a pipe; its first bytes give its format."""
    name = "standard input" if str(source) == STANDARD_INPUT else str(source)
    spool = spooled(source)
    start = _start(spool.path)
    compressed = _content(spool.path, start) == GZIP
    if compressed:
        with gzip.open(spool.path) as unpacked:
            start = unpacked.read(1024)
    if not start.strip():
        raise DataError(f"{name}: empty; it can be read only once")
    recognised = _format_of_content(spool.path, start)
    format_ = (
        LINES_OF_TEXT
        if recognised is None or (compressed and not recognised.gzipped)
        else recognised
    )
    file = TableFile(name, spool.path, format_, format_.endings[0], compressed, spool)
    check_content(file)
    return file


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1024)


def _format_of_content(path: Path, start: bytes) -> TableFormat | None:
    return next((format_ for format_ in known_formats() if format_.is_content(path, start)), None)


def _content(path: Path, start: bytes) -> str:
    """What a file is, if it is not lines of text; "" otherwise."""
    format_ = _format_of_content(path, start)
    if format_ is not None and format_.described:
        return format_.described
    return next((what for magic, what in _NO_TABLES.items() if start.startswith(magic)), "")
