"""Files of JSON lines: an object per line; the columns are the union of their keys."""

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from quantshift.errors import DataError
from quantshift.tables.chunks import ROWS, Chunk, OpenTable, without_gaps
from quantshift.tables.formats.frames import column_type, kind_of_value, series_of
from quantshift.tables.formats.table_format import TableFile, TableFormat
from quantshift.tables.quotes import BYTE_ORDER_MARK


def _open(file: TableFile) -> OpenTable:
    """The table, with the type that all values of a column share."""

    def objects() -> Iterator[tuple[dict[str, Any], bool]]:
        with file.lines() as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                text, was_undecodable = _text_of_line(line.removeprefix(BYTE_ORDER_MARK))
                try:
                    record = json.loads(text, object_pairs_hook=_object)
                except _DoubledKeyError as error:
                    raise DataError(
                        f"{file.name}: line {number}: two values are called {error.key!r}; rename "
                        "one"
                    ) from error
                except (ValueError, RecursionError) as error:
                    raise DataError(
                        f"{file.name}: line {number} is not a JSON object{_hint(text)}"
                    ) from error
                if not isinstance(record, dict):
                    raise DataError(f"{file.name}: line {number} is not a JSON object{_hint(text)}")
                yield record, was_undecodable

    # The whole file is scanned first, because a key or a type may turn up late.
    kinds: dict[str, set[type]] = {}
    for record, _ in objects():
        for name, value in record.items():
            kinds.setdefault(name, set()).add(kind_of_value(value))
    types = {name: column_type(kinds[name]) for name in kinds}

    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        rows: list[dict[str, Any]] = []
        first, undecodable = 1, 0
        for record, was_undecodable in objects():
            rows.append(record)
            undecodable += was_undecodable
            if len(rows) == ROWS:
                yield Chunk(first, _record_frame(rows, wanted, types), undecodable)
                first, rows, undecodable = first + len(rows), [], 0
        if rows:
            yield Chunk(first, _record_frame(rows, wanted, types), undecodable)

    nested = frozenset(name for name in kinds if kinds[name] & {dict, list})
    return OpenTable(file.name, tuple(kinds), types, read, nested)


class _DoubledKeyError(Exception):
    """Two values of an object have the same key."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its keys and values, of which the last would win."""
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


def _record_frame(
    rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], types: Mapping[str, pl.DataType]
) -> pl.DataFrame:
    return without_gaps(
        pl.DataFrame(
            {name: series_of([row.get(name) for row in rows], types[name]) for name in wanted}
        )
    )


def _recognises(_: Path, start: bytes) -> bool:
    return start.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")


JSON_LINES = TableFormat(
    name="JSON lines",
    endings=(".jsonl", ".ndjson", ".json"),
    gzipped=True,
    recognises=_recognises,
    open=_open,
)
