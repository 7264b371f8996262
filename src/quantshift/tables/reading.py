"""Tables of every format: files (see `quantshift.tables.formats`), databases, data frames.

`open_table` gives chunks of rows: only the requested columns are read, a few thousand rows at a
time, so that memory does not grow with the file (Excel workbooks, a million rows at most, are read
at once). `read_frame` gives a file as one frame. A file that cannot be read, or whose content does
not match its name, raises a `DataError` of one line; so does a misplaced quote in a CSV file (see
`tables.quotes`), unless the file is read line by line (lenient).
"""

import os
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from quantshift.base.forks import TABLE_THREADS
from quantshift.base.storage.files import file_sha256
from quantshift.claims.findings import Finding
from quantshift.credentials import public_url
from quantshift.errors import DataError, UserError
from quantshift.tables.columns.findings import TableFindings
from quantshift.tables.files.broken_files import explained
from quantshift.tables.files.chunks import MISSING, CellType, Chunk, Frame, OpenTable, Progress
from quantshift.tables.files.places import STANDARD_INPUT, matches
from quantshift.tables.formats import database_of, format_of, known_urls
from quantshift.tables.formats.table_format import TableFile
from quantshift.tables.formats.values import check_is_frame
from quantshift.tables.table_files import table_file

__all__ = [
    "MISSING",
    "Chunk",
    "Frame",
    "OpenTable",
    "Progress",
    "Source",
    "check_once",
    "copied_files",
    "expanded",
    "files_of",
    "open_file",
    "open_table",
    "read_frame",
    "shown_file",
]

FEWEST_BYTES = 1024
"""Smaller files may well have the same content, such as those without rows."""

Source: TypeAlias = str | Path | Any
"""A path, `-` for standard input, a pattern such as `part*.csv`, a folder of tables, a sheet of a
workbook (`sales.xlsx#March`), the URL of a table in a database (`duckdb:///file.db?table=name`,
`postgresql://...?table=name`), a data frame of any library that supports Arrow (pandas, polars,
pyarrow), a table that is open already, or a list of these."""


def open_table(source: Source, *, name: str = "the table", lenient: bool = False) -> OpenTable:
    """The table of a source; messages call it `name` if it has no name.

    Several files, whether listed, matched by a pattern or in a folder, are one table. With
    `lenient`, every line of a CSV file is a row, and misplaced quotes are literal.
    """
    TABLE_THREADS.use()
    listed = list(source) if isinstance(source, list | tuple) else None
    sources = [source] if listed is None else listed
    files = [file for entry in sources for file in files_of(entry)]
    if not files:
        raise UserError(f"{name}: give at least one file")
    check_once(files)
    tables = [_open(file, name, lenient=lenient) for file in files]
    if len(tables) == 1:
        return tables[0]
    joined_name = (
        f"{tables[0].name} and {len(files) - 1} more" if listed is not None else str(source)
    )
    joined = _joined(joined_name, tables)
    return replace(joined, findings=(*joined.findings, *copied_files(files)))


def expanded(sources: Sequence[Source]) -> list[Source]:
    """Each source that is a separate table.

    That is every file that matches a pattern, and every file of a folder; but files of some formats
    (Parquet) in a folder are one table.
    """
    tables: list[Source] = []
    for source in sources:
        is_file = isinstance(source, str | Path) and database_of(source) is None
        paths = _matching(source) if is_file else None
        for path in [source] if paths is None else paths:
            files = files_of(path)
            tables += [path] if any(map(_is_part, files)) else files
    return tables


def read_frame(
    path: Path, *, without: Sequence[str] = (), lenient: bool = False, progress: Progress = None
) -> Frame:
    """A file as one frame, without some of its columns; .txt is read as CSV.

    `progress` is called with the name of the file, the bytes read and the total.
    """
    TABLE_THREADS.use()
    with explained(str(path)):
        file = _prepared(table_file(path, whole=True), lenient=lenient)
        return file.format.read_frame(file, without, progress)


def files_of(source: Source) -> list[Source]:
    """The files of a pattern or a folder; any other source itself."""
    if not isinstance(source, str | Path) or str(source) == STANDARD_INPUT:
        return [source]
    if database_of(source) is not None:
        return [source]
    paths = _matching(source)
    if paths is not None:
        return [file for path in paths for file in files_of(path)]
    if not Path(source).is_dir():
        return [source]
    inside = sorted(Path(source).iterdir())
    files = [p for p in inside if p.is_file() and p.name[0] not in "._" and format_of(p)]
    if not files:
        raise DataError(
            f"{source}: a folder without tables; give files, or a pattern such as '"
            f"{source}/**/*.parquet'"
        )
    return list(files)


def open_file(file: TableFile, *, lenient: bool = False) -> OpenTable:
    """The table of a file whose format is known."""
    file = _prepared(file, lenient=lenient)
    return file.format.open(file)


def check_once(files: Sequence[Source]) -> None:
    """Refuse a file that is named twice, since its rows would be counted twice."""
    seen: set[str] = set()
    for file in files:
        if not isinstance(file, str | Path) or str(file) == STANDARD_INPUT:
            continue
        location = str(file) if database_of(file) else os.path.realpath(file)
        if location in seen:
            raise UserError(
                f"{shown_file(file)} is named twice, and would be counted twice; name it once"
            )
        seen.add(location)


def copied_files(files: Sequence[Source]) -> list[Finding]:
    """Files that have the same content, such as backups: their rows would count twice."""
    paths = [Path(f) for f in files if isinstance(f, str | Path) and not database_of(f)]
    by_size: dict[int, list[Path]] = {}
    for path in paths:
        if path.is_file() and (size := path.stat().st_size) >= FEWEST_BYTES:
            by_size.setdefault(size, []).append(path)
    findings = []
    for alike in by_size.values():
        first: dict[str, Path] = {}
        for path in alike if len(alike) > 1 else ():
            same = first.setdefault(file_sha256(path), path)
            if same != path:
                findings.append(TableFindings.COPIED_FILES.found(first=same.name, second=path.name))
    return findings


def shown_file(source: Source) -> str:
    """A source in messages."""
    if database_of(source):
        return public_url(str(source))
    return Path(source).name if isinstance(source, str | Path) else "the table"


def _open(source: Source, name: str, *, lenient: bool) -> OpenTable:
    if isinstance(source, OpenTable):
        return source
    if not isinstance(source, str | Path):
        return _table_of_frame(source, name)
    database = database_of(source)
    if database is not None:
        return database.open(str(source))
    with explained(str(source)):
        return open_file(table_file(source), lenient=lenient)


def _table_of_frame(source: Any, name: str) -> OpenTable:
    """The table of a data frame."""
    check_is_frame(source, name)
    from quantshift.tables.formats.frames import frame_table, given_frame

    return frame_table(name, given_frame(source, name))


def _prepared(file: TableFile, *, lenient: bool) -> TableFile:
    """The file to read; if lenient, with every line as a row where the format has lines."""
    rewritten = file.format.line_by_line if lenient else None
    return file if rewritten is None else rewritten(file)


def _is_part(source: Source) -> bool:
    """Whether the files of its folder are one table."""
    format_ = format_of(source) if isinstance(source, Path) else None
    return format_ is not None and format_.joins_folder


def _matching(source: str | Path) -> list[Path] | None:
    """The files that match a pattern; None if it is not one."""
    scheme, separator, _ = str(source).partition("://")
    if separator and "/" not in scheme and not os.path.lexists(source):
        raise UserError(
            f"{scheme}:// addresses cannot be read; known: {known_urls()}, and files on this "
            "machine"
        )
    return matches(source)


def _joined(name: str, tables: Sequence[OpenTable]) -> OpenTable:
    """The rows of all tables, one after the other; columns are matched by name."""
    first = tables[0]
    for table in tables[1:]:
        for one_table, other in ((first, table), (table, first)):
            unmatched = [column for column in one_table.columns if column not in other.columns]
            if unmatched:
                raise DataError(
                    f"{name}: {one_table.name} has a column {unmatched[0][:30]!r}, {other.name} "
                    "has not; files that form one table need the same columns"
                )
    types = {name: _common_type([t.types[name] for t in tables]) for name in first.columns}

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        start = 1
        for table in tables:
            with closing(table.chunks(requested)) as chunks:
                for chunk in chunks:
                    where = f"{table.name}, {chunk.first_ragged}" if chunk.first_ragged else ""
                    common: Any = {name: types[name] for name in chunk.columns.columns}
                    columns = chunk.columns.cast(common)
                    yield replace(chunk, first=start, columns=columns, first_ragged=where)
                    start += len(chunk)

    nested = frozenset[str]().union(*(table.nested for table in tables))
    findings = tuple(f.in_table(table.name) for table in tables for f in table.findings)
    identities = {table.identity for table in tables}
    identity = first.identity if len(identities) == 1 else ()
    return OpenTable(name, first.columns, types, read, nested, findings, identity)


def _common_type(types: Sequence[CellType]) -> CellType:
    if all(type_ == types[0] for type_ in types):
        return types[0]
    return float if all(map(_is_numeric, types)) else str


def _is_numeric(type_: CellType) -> bool:
    return type_ in (int, float) if isinstance(type_, type) else type_.is_numeric()
