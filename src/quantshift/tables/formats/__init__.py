"""The formats of tables: the only place that lists them.

A format is an object in a module of its own (`TableFormat`, or `Database` for tables behind URLs).
Everything that depends on a format asks its object, so that a line in one of these lists is enough
for all commands.
"""

import re
from pathlib import Path
from typing import Any

from quantshift.base.nouns import listed
from quantshift.errors import UserError
from quantshift.tables.formats.arff import ARFF
from quantshift.tables.formats.csv import CSV
from quantshift.tables.formats.databases import DUCKDB, POSTGRESQL
from quantshift.tables.formats.inspect_log import INSPECT_LOG
from quantshift.tables.formats.json import JSON_LINES
from quantshift.tables.formats.parquet import PARQUET
from quantshift.tables.formats.table_format import Database, TableFormat
from quantshift.tables.formats.workbooks import EXCEL

GZIP = ".gz"

_FORMATS: list[TableFormat] = [CSV, JSON_LINES, PARQUET, EXCEL, INSPECT_LOG, ARFF]
_DATABASES: tuple[Database, ...] = (DUCKDB, POSTGRESQL)

LINES_OF_TEXT = CSV
"""The format of lines of text that no other format recognises as its own."""


def known_formats() -> tuple[TableFormat, ...]:
    """All formats of files."""
    return tuple(_FORMATS)


def register_format(new: TableFormat) -> None:
    """Make a format known to all readers and commands of this process."""
    for ending in (*new.endings, *new.frame_endings):
        taken = next((f for f in _FORMATS if ending in (*f.endings, *f.frame_endings)), None)
        if taken is not None:
            raise UserError(f"files that end in {ending} are {taken.name}; choose other endings")
        if not re.fullmatch(r"\.[^./\s]+", ending) or ending != ending.lower() or ending == GZIP:
            raise UserError(f"{ending!r} is not an ending of file names; give e.g. '.psv'")
    _FORMATS.append(new)


def withdraw_format(registered: TableFormat) -> None:
    """Undo `register_format`."""
    _FORMATS.remove(registered)


def format_of(path: Path, *, whole: bool = False) -> TableFormat | None:
    """The format of a file by its name; None if it is not a table.

    whole: the file is read as one frame.
    """
    compressed, ending = endings_of(path)
    for format_ in _FORMATS:
        if ending in format_.endings or (whole and ending in format_.frame_endings):
            return None if compressed and not format_.gzipped else format_
    return None


def endings_of(path: Path) -> tuple[bool, str]:
    """Whether the name ends in .gz, and the ending that gives the format."""
    compressed = path.suffix.lower() == GZIP
    return compressed, (Path(path.stem) if compressed else path).suffix.lower()


def database_of(source: Any) -> Database | None:
    """The kind of database of a source, if it is the URL of a table in one."""
    if not isinstance(source, str):
        return None
    scheme, separator, _ = source.partition("://")
    databases = (database for database in _DATABASES if scheme in database.schemes)
    return next(databases, None) if separator else None


def sheet_of(source: str | Path) -> tuple[Path, str]:
    """The path of a source and the sheet that is named after it, as in `sales.xlsx#March`."""
    with_sheets = "|".join(re.escape(e) for f in _FORMATS if f.has_sheets for e in f.endings)
    match = re.fullmatch(rf"(.*(?:{with_sheets}))#([^/]+)", str(source), re.I | re.S)
    if match is not None and not Path(source).exists():
        return Path(match.group(1)), match.group(2)
    return Path(source), ""


def known_endings(*, whole: bool = False) -> str:
    """The endings of tables in words, for messages and help."""
    endings = [e for f in _FORMATS for e in (*f.endings, *(f.frame_endings if whole else ()))]
    return f"{', '.join(endings)}, and .gz after {listed([f.name for f in _FORMATS if f.gzipped])}"


PACKAGE_ENDINGS = known_endings(whole=True)
"""The endings of the package's own formats in words, for help: it is made when a command is first
imported, and must not depend on what is registered by then."""


def known_urls() -> str:
    """The URLs of tables in words, for messages."""
    return ", ".join(database.example for database in _DATABASES)
