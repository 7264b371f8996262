"""Ways to damage a file: bytes, lines, cells of CSV, values of JSON, columns of Parquet.

Every mutation is a function of bytes and a generator, and gives other bytes, or the same if there
is nothing to change. Those of a format leave bytes alone that they cannot read.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Mutation = Callable[[bytes, np.random.Generator], bytes]

HOSTILE_CELLS = (
    *("", "NaN", "inf", "-1", "1e400", "99999999999999999999", "0.5.5", "TRUE", "ü\u200b", "\x00"),
    *("2026-13-45", '"', "x" * 300, "-0", "1,5", "0x10", " ", "null", "\ufeff", "=1+1"),
)
HOSTILE_VALUES = (
    *(None, True, 0, -1, 2**63, 10**400, 1e308, float("nan"), "", "x", "\x00", [], {}, [[]]),
    *({"": None}, ["x", 1], "1", -0.5, [None]),
)


def flip_bit(content: bytes, rng: np.random.Generator) -> bytes:
    """One bit."""
    return _with_bytes(content, [_place(content, rng)], rng)


def flip_bits(content: bytes, rng: np.random.Generator) -> bytes:
    """Up to twenty bits."""
    return _with_bytes(content, [_place(content, rng) for _ in range(rng.integers(2, 20))], rng)


def cut_off(content: bytes, rng: np.random.Generator) -> bytes:
    """The end is lost, as of a download."""
    return content[: _place(content, rng)]


def cut_out(content: bytes, rng: np.random.Generator) -> bytes:
    """A piece is lost."""
    start = _place(content, rng)
    return content[:start] + content[start + int(rng.integers(1, 64)) :]


def repeat_piece(content: bytes, rng: np.random.Generator) -> bytes:
    """A piece is there twice."""
    start = _place(content, rng)
    end = start + int(rng.integers(1, 64))
    return content[:end] + content[start:end] + content[end:]


def blank_piece(content: bytes, rng: np.random.Generator) -> bytes:
    """A piece is zero, as of a block that was never written."""
    start = _place(content, rng)
    n = min(int(rng.integers(1, 512)), len(content) - start)
    return content[:start] + bytes(n) + content[start + n :]


def insert_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Bytes that do not belong there."""
    start = _place(content, rng)
    return content[:start] + rng.bytes(int(rng.integers(1, 9))) + content[start:]


def repeat_line(content: bytes, rng: np.random.Generator) -> bytes:
    """A line is there twice."""
    lines = content.splitlines(keepends=True)
    i = _place(lines, rng)
    return b"".join([*lines[: i + 1], *lines[i:]])


def lose_line(content: bytes, rng: np.random.Generator) -> bytes:
    """A line is lost."""
    lines = content.splitlines(keepends=True)
    i = _place(lines, rng)
    return b"".join([*lines[:i], *lines[i + 1 :]])


def lose_lines(content: bytes, rng: np.random.Generator) -> bytes:
    """All lines from one on are lost, as in an export with a limit."""
    lines = content.splitlines(keepends=True)
    return b"".join(lines[: _place(lines, rng)])


def exchange_lines(content: bytes, rng: np.random.Generator) -> bytes:
    """Two lines have each other's place."""
    lines = content.splitlines(keepends=True)
    i, j = _place(lines, rng), _place(lines, rng)
    if lines:
        lines[i], lines[j] = lines[j], lines[i]
    return b"".join(lines)


def change_digit(content: bytes, rng: np.random.Generator) -> bytes:
    """A digit is another one."""
    digits = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
    if not digits:
        return content
    i = digits[_place(digits, rng)]
    return content[:i] + bytes([48 + int(rng.integers(10))]) + content[i + 1 :]


def exchange_columns(content: bytes, rng: np.random.Generator) -> bytes:
    """Two columns have each other's cells, below the same names."""

    def change(rows: list[list[str]]) -> None:
        i, j = (int(k) for k in rng.integers(len(rows[0]), size=2))
        for row in rows[1:]:
            if len(row) == len(rows[0]):
                row[i], row[j] = row[j], row[i]

    return _csv(content, change)


def rename_column(content: bytes, rng: np.random.Generator) -> bytes:
    """A column has the name of another one, or none."""

    def change(rows: list[list[str]]) -> None:
        names = rows[0]
        others = ("", "x", names[_place(names, rng)], names[0].upper())
        names[_place(names, rng)] = others[int(rng.integers(4))]

    return _csv(content, change)


def lose_column(content: bytes, rng: np.random.Generator) -> bytes:
    """A column is lost."""

    def change(rows: list[list[str]]) -> None:
        i = _place(rows[0], rng)
        rows[:] = [row[:i] + row[i + 1 :] for row in rows]

    return _csv(content, change)


def change_cell(content: bytes, rng: np.random.Generator) -> bytes:
    """A cell holds something else."""

    def change(rows: list[list[str]]) -> None:
        row = rows[_place(rows, rng)]
        if row:
            row[_place(row, rng)] = HOSTILE_CELLS[int(rng.integers(len(HOSTILE_CELLS)))]

    return _csv(content, change)


def change_column(content: bytes, rng: np.random.Generator) -> bytes:
    """All cells of a column hold something else: another type."""

    def change(rows: list[list[str]]) -> None:
        i, cell = _place(rows[0], rng), HOSTILE_CELLS[int(rng.integers(len(HOSTILE_CELLS)))]
        for row in rows[1:]:
            if i < len(row):
                row[i] = cell

    return _csv(content, change)


def change_value(content: bytes, rng: np.random.Generator) -> bytes:
    """A value of JSON is another one, or of another type."""

    def change(holder: Any, key: Any) -> None:
        old = holder[key]
        if isinstance(old, int | float) and not isinstance(old, bool) and rng.random() < 0.5:
            holder[key] = old + (1 if rng.random() < 0.5 else -0.25)
        else:
            holder[key] = HOSTILE_VALUES[int(rng.integers(len(HOSTILE_VALUES)))]

    return _json(content, rng, change)


def lose_value(content: bytes, rng: np.random.Generator) -> bytes:
    """A key or an entry of JSON is lost."""

    def change(holder: Any, key: Any) -> None:
        del holder[key]

    return _json(content, rng, change)


def rename_key(content: bytes, rng: np.random.Generator) -> bytes:
    """A key of JSON has another name."""

    def change(holder: Any, key: Any) -> None:
        if isinstance(holder, dict):
            holder[f"{key}_"] = holder.pop(key)
        else:
            holder.insert(key, holder[key])

    return _json(content, rng, change)


def nest_value(content: bytes, rng: np.random.Generator) -> bytes:
    """A value of JSON is nested deep."""

    def change(holder: Any, key: Any) -> None:
        for _ in range(int(rng.integers(1, 200))):
            holder[key] = [holder[key]]

    return _json(content, rng, change)


def change_table(content: bytes, rng: np.random.Generator) -> bytes:
    """Columns of a Parquet file are exchanged, lost or of another type; rows lost or repeated."""
    try:
        table = pq.read_table(io.BytesIO(content))
    except (pa.ArrowException, OSError):
        return content
    n, k = table.num_rows, table.num_columns
    if not n or not k:
        return content
    i, j = (int(place) for place in rng.integers(k, size=2))
    kind = int(rng.integers(7))
    if kind == 0:
        table = table.slice(0, int(rng.integers(n)))
    elif kind == 1:
        rows = np.sort(rng.integers(n, size=n))
        table = table.take(pa.array(rows))
    elif kind == 2:
        columns = [*table.columns]
        columns[i], columns[j] = columns[j], columns[i]
        names = table.schema.names
        table = pa.table(columns, names=names).replace_schema_metadata(table.schema.metadata)
    elif kind == 3:
        table = table.remove_column(i)
    elif kind == 4:
        names = [*table.schema.names]
        names[i] = names[j]
        table = table.rename_columns(names)
    elif kind == 5:
        table = table.set_column(i, table.schema.names[i], _other_type(table.column(i), rng))
    else:
        mask = np.zeros(n, dtype=bool)
        mask[_place(mask, rng)] = True
        gaps = pa.nulls(n, table.schema.types[i])
        column = pa.compute.if_else(pa.array(mask), gaps, table.column(i))
        table = table.set_column(i, table.schema.names[i], column)
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


BYTES: tuple[Mutation, ...] = (
    *(flip_bit, flip_bits, cut_off, cut_out, repeat_piece, blank_piece, insert_bytes),
)
LINES: tuple[Mutation, ...] = (*(repeat_line, lose_line, lose_lines, exchange_lines, change_digit),)
CELLS: tuple[Mutation, ...] = (
    *(exchange_columns, rename_column, lose_column, change_cell, change_column),
)
VALUES: tuple[Mutation, ...] = (change_value, lose_value, rename_key, nest_value)

BY_ENDING: Mapping[str, tuple[Mutation, ...]] = {
    ".csv": (*BYTES, *LINES, *CELLS, *CELLS),
    ".json": (*BYTES, *LINES, *VALUES, *VALUES),
    ".jsonl": (*BYTES, *LINES),
    ".toml": (*BYTES, *LINES, change_digit),
    ".parquet": (*BYTES, flip_bit, change_table, change_table, change_table),
}


def mutations_of(name: str) -> tuple[Mutation, ...]:
    """What may happen to a file of this name; single bits most often."""
    ending = name[name.rindex(".") :] if "." in name else ""
    return (flip_bit, flip_bit, *BY_ENDING.get(ending, BYTES))


def _place(sequence: Any, rng: np.random.Generator) -> int:
    return int(rng.integers(max(len(sequence), 1)))


def _with_bytes(content: bytes, places: list[int], rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for place in places:
        if place < len(changed):
            changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _csv(content: bytes, change: Callable[[list[list[str]]], None]) -> bytes:
    try:
        rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    except (UnicodeError, csv.Error):
        return content
    if not rows or not rows[0]:
        return content
    change(rows)
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _json(content: bytes, rng: np.random.Generator, change: Callable[[Any, Any], None]) -> bytes:
    try:
        value = json.loads(content)
    except ValueError:
        return content
    places: list[tuple[Any, Any]] = []
    unseen = [value]
    while unseen:
        holder = unseen.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            places.append((holder, key))
            if isinstance(holder[key], dict | list):
                unseen.append(holder[key])
    if places:
        change(*places[int(rng.integers(len(places)))])
    return json.dumps(value, indent=1).encode()


def _other_type(column: Any, rng: np.random.Generator) -> Any:
    """The column as texts, numbers, truth values, dates, lists or bytes."""
    n = len(column)
    numbers = np.arange(n)
    others = (
        pa.array([str(value) for value in column.to_pylist()]),
        pa.array(numbers * 0.5),
        pa.array(numbers % 2 == 0),
        pa.array(numbers, pa.int32()).cast(pa.date32()),
        pa.array([[1.0]] * n),
        pa.array([b"\xff\xfe"] * n),
        pa.nulls(n),
        pa.array(numbers, pa.int64()).cast(pa.timestamp("ns")),
        pa.array(["a", "b"] * (n // 2) + ["a"] * (n % 2)).dictionary_encode(),
    )
    return others[int(rng.integers(len(others)))]
