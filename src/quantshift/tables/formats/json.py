"""Files of JSON: an object per line, or the results of an evaluation tool.

The columns are the union of the keys.
"""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from quantshift.errors import DataError
from quantshift.tables.cells import ListedCells
from quantshift.tables.chunks import ROWS, Chunk, OpenTable
from quantshift.tables.formats.evaluations import evaluation_layout
from quantshift.tables.formats.table_format import TableFile, TableFormat
from quantshift.tables.formats.values import column_type, kind_of_value, typed_cells
from quantshift.tables.quotes import BYTE_ORDER_MARK

Objects = Callable[[], Iterator[tuple[dict[str, Any], bool]]]
"""The rows of a table, each with whether it had bytes that are not UTF-8."""


def _open(file: TableFile) -> OpenTable:
    """The table of a file of lines, or of a document whose layout is known."""
    rows = _document_rows(file)
    if rows is not None:
        return table_of_objects(file.name, lambda: ((row, False) for row in rows))
    return table_of_objects(file.name, lambda: _lines(file))


def _document_rows(file: TableFile) -> list[dict[str, Any]] | None:
    """The rows of a single document: the results of an evaluation tool, or a list of such rows.

    None for any other file, which is read line by line.
    """
    with file.lines() as lines:
        filled = (line for line in lines if line.strip())
        first, second = next(filled, b""), next(filled, None)
        document = _parsed(first)
        if isinstance(document, dict) and second is not None:
            return None
    if document is None:
        with file.lines() as lines:
            document = _parsed(lines.read())
    if isinstance(document, list):
        layouts = [evaluation_layout(each) for each in document]
        if layouts and all(layouts):
            return [row for each in document for row in _rows_of_line(each)]
    layout = evaluation_layout(document)
    return None if layout is None else list(layout.rows(document))


def _parsed(content: bytes) -> Any:
    """The document; None if the content is not one."""
    try:
        return json.loads(content.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError):
        return None


def _rows_of_line(record: dict[str, Any]) -> list[dict[str, Any]]:
    """A line as it is, or as the rows of an evaluation tool."""
    layout = evaluation_layout(record)
    return [record] if layout is None else list(layout.rows(record))


def _lines(file: TableFile) -> Iterator[tuple[dict[str, Any], bool]]:
    with file.lines() as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            text, was_undecodable = _text_of_line(line.removeprefix(BYTE_ORDER_MARK))
            try:
                record = json.loads(text, object_pairs_hook=_object)
            except _DoubledKeyError as error:
                raise DataError(
                    f"{file.name}: line {number}: two values are called {error.key!r}; rename one"
                ) from error
            except (ValueError, RecursionError) as error:
                raise DataError(
                    f"{file.name}: line {number} is not a JSON object{_hint(text)}"
                ) from error
            if not isinstance(record, dict):
                raise DataError(f"{file.name}: line {number} is not a JSON object{_hint(text)}")
            for row in _rows_of_line(record):
                yield row, was_undecodable


def table_of_objects(name: str, objects: Objects) -> OpenTable:
    """The table of rows that are read again for each pass.

    A column has the type that all its values share.
    """
    # All rows are scanned first, because a key or a type may turn up late.
    kinds: dict[str, set[type]] = {}
    for record, _ in objects():
        for key, value in record.items():
            kinds.setdefault(key, set()).add(kind_of_value(value))
    types = {key: column_type(kinds[key]) for key in kinds}

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        rows: list[dict[str, Any]] = []
        first, undecodable = 1, 0
        for record, was_undecodable in objects():
            rows.append(record)
            undecodable += was_undecodable
            if len(rows) == ROWS:
                yield Chunk(first, _cells(rows, requested, types), undecodable)
                first, rows, undecodable = first + len(rows), [], 0
        if rows:
            yield Chunk(first, _cells(rows, requested, types), undecodable)

    nested = frozenset(key for key in kinds if kinds[key] & {dict, list})
    return OpenTable(name, tuple(kinds), types, read, nested)


class _DoubledKeyError(Exception):
    """Two values of an object have the same key."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its keys and values; a key that occurs twice is an error."""
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DoubledKeyError(next(key for key in keys if keys.count(key) > 1))
    return record


def _text_of_line(line: bytes) -> tuple[str, bool]:
    try:
        return line.decode("utf-8"), False
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace"), True


def _hint(text: str) -> str:
    return "; write one object per line instead of one array" if text.lstrip()[:1] == "[" else ""


def _cells(
    rows: Sequence[Mapping[str, Any]], requested: Sequence[str], types: Mapping[str, type]
) -> ListedCells:
    columns = {
        name: typed_cells([row.get(name) for row in rows], types[name]) for name in requested
    }
    return ListedCells(columns, types)


def _recognises(_: Path, start: bytes) -> bool:
    return start.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")


JSON_LINES = TableFormat(
    name="JSON lines",
    endings=(".jsonl", ".ndjson", ".json"),
    gzipped=True,
    recognises=_recognises,
    open=_open,
)
