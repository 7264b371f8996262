"""Files of JSON: an object per line, or the results of an evaluation tool.

The columns are the union of the keys.
"""

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from quantshift.claims.findings import Finding
from quantshift.errors import DataError
from quantshift.tables.files.chunks import ROWS, Chunk, OpenTable
from quantshift.tables.files.quotes import BYTE_ORDER_MARK
from quantshift.tables.formats.evaluations import ReadRow, evaluation_layout
from quantshift.tables.formats.table_format import TableFile, TableFormat
from quantshift.tables.formats.values import column_type, kind_of_value, typed_cells

if TYPE_CHECKING:
    import polars as pl

Objects = Callable[[], Iterator[ReadRow]]
"""The rows of a table, which are read again for each pass."""


def _open(file: TableFile) -> OpenTable:
    """The table of a file of lines, or of a document whose layout is known."""
    results = _results(file)
    if results is None:
        return table_of_objects(file.name, lambda: _lines(file), identity=_identity_of_lines(file))
    rows = results.rows
    return table_of_objects(file.name, lambda: iter(rows), results.findings, results.identity)


class _Results(NamedTuple):
    """The results of an evaluation tool; findings, identity: see `OpenTable`."""

    rows: list[ReadRow]
    findings: tuple[Finding, ...]
    identity: tuple[str, ...]


def _identity_of_lines(file: TableFile) -> tuple[str, ...]:
    """The columns that say which lines are about one item, if an evaluation tool wrote them."""
    with file.lines() as lines:
        first = next((line for line in lines if line.strip()), b"")
    layout = evaluation_layout(_parsed(first))
    return () if layout is None else layout.identity


def _results(file: TableFile) -> _Results | None:
    """The rows of a single document of an evaluation tool, or of a list of them.

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
    documents = document if isinstance(document, list) else [document]
    layouts = [evaluation_layout(each) for each in documents]
    known = [layout for layout in layouts if layout is not None]
    if not known or len(known) < len(layouts):
        return None
    rows: list[ReadRow] = []
    findings: list[Finding] = []
    for number, (layout, each) in enumerate(zip(known, documents, strict=True), start=1):
        where = f"{file.name}: document {number}" if len(known) > 1 else file.name
        of_document = list(layout.rows(where, each))
        rows += of_document
        findings += layout.findings(each, len(of_document))
    return _Results(rows, tuple(findings), known[0].identity)


def _parsed(content: bytes) -> Any:
    """The document; None if the content is not one."""
    try:
        return json.loads(content.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError):
        return None


def _rows_of_line(where: str, record: dict[str, Any]) -> Iterator[ReadRow]:
    """A line as it is, or as the rows of an evaluation tool."""
    layout = evaluation_layout(record)
    return iter([ReadRow(record)]) if layout is None else layout.rows(where, record)


def _lines(file: TableFile) -> Iterator[ReadRow]:
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
            for row in _rows_of_line(f"{file.name}: line {number}", record):
                yield row._replace(was_undecodable=was_undecodable)


def table_of_objects(
    name: str,
    objects: Objects,
    findings: tuple[Finding, ...] = (),
    identity: tuple[str, ...] = (),
) -> OpenTable:
    """The table of rows that are read again for each pass.

    A column has the type that all its values share. findings, identity: see `OpenTable`.
    """
    # All rows are scanned first, because a key or a type may turn up late.
    kinds: dict[str, set[type]] = {}
    remarks = Counter[Finding]()
    for record, remark, _ in objects():
        for key, value in record.items():
            kinds.setdefault(key, set()).add(kind_of_value(value))
        if remark is not None:
            remarks[remark] += 1
    findings += tuple(r.with_numbers(n=n) for r, n in remarks.items())
    types = {key: column_type(kinds[key]) for key in kinds}

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        rows: list[dict[str, Any]] = []
        first, undecodable = 1, 0
        for record, _, was_undecodable in objects():
            rows.append(record)
            undecodable += was_undecodable
            if len(rows) == ROWS:
                yield Chunk(first, _cells(rows, requested, types), undecodable)
                first, rows, undecodable = first + len(rows), [], 0
        if rows:
            yield Chunk(first, _cells(rows, requested, types), undecodable)

    nested = frozenset(key for key in kinds if kinds[key] & {dict, list})
    known = tuple(column for column in identity if column in kinds)
    return OpenTable(name, tuple(kinds), types, read, nested, findings, known)


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
) -> "pl.DataFrame":
    import polars as pl

    columns = {
        name: typed_cells([row.get(name) for row in rows], types[name]) for name in requested
    }
    return pl.DataFrame(columns, schema={name: types[name] for name in requested})


def _recognises(_: Path, start: bytes) -> bool:
    return start.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")


JSON_LINES = TableFormat(
    name="JSON lines",
    endings=(".jsonl", ".ndjson", ".json"),
    gzipped=True,
    recognises=_recognises,
    open=_open,
)
