"""What the user's columns mean, and the items they make.

An item is a text, a vector of numbers, or posteriors of the user's own model. Rows that hold
nothing to work on are left out and counted; a cell that makes no sense is an error that names its
row.
"""

import datetime
import math
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quantshift.data.reading import Chunk, OpenTable
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.types import Indices

Values: TypeAlias = list[str] | NDArray[np.float64]
"""Texts, or a row of numbers per item."""

EVERY = ("day", "week", "month")
"""Into what stretches of time dates can be put together."""


@dataclass(frozen=True)
class Columns:
    """The names of the columns: one of text, features or posteriors; and the label in training."""

    label: str | None = None
    text: str | None = None
    features: tuple[str, ...] = ()
    posteriors: tuple[str, ...] = ()

    @property
    def content(self) -> tuple[str, ...]:
        """The columns an item is made of."""
        return (self.text,) if self.text is not None else self.features or self.posteriors

    @property
    def kind(self) -> str:
        """What items are: text, features or posteriors."""
        if self.text is not None:
            return "text"
        return "features" if self.features else "posteriors"


@dataclass(frozen=True)
class Grouping:
    """Into which batches rows are put: by a column's values, or by day, week or month of a date."""

    column: str
    every: str | None = None


@dataclass(frozen=True, eq=False)
class TableItems:
    """Items of consecutive rows of a table.

    rows: their numbers in the table, from 1.
    values: what they are; labels and groups: as strings, if asked for.
    left_out: rows without content (or label, or group).
    """

    rows: NDArray[np.int64]
    values: Values
    labels: list[str]
    groups: list[str]
    left_out: int
    undecodable: int
    ragged: int

    def take(self, rows: Indices) -> "TableItems":
        """The items at these positions; what was left out of the table stays counted."""
        values = self.values
        return replace(
            self,
            rows=self.rows[rows],
            values=[values[i] for i in rows] if isinstance(values, list) else values[rows],
            labels=_taken(self.labels, rows),
            groups=_taken(self.groups, rows),
        )

    @classmethod
    def joined(cls, parts: Sequence["TableItems"]) -> "TableItems":
        """The items of all parts, one behind the other."""
        values: Values
        if isinstance(parts[0].values, list):
            values = [value for part in parts for value in part.values]
        else:
            values = np.concatenate([np.asarray(part.values) for part in parts])
        return cls(
            rows=np.concatenate([part.rows for part in parts]),
            values=values,
            labels=[label for part in parts for label in part.labels],
            groups=[group for part in parts for group in part.groups],
            left_out=sum(part.left_out for part in parts),
            undecodable=sum(part.undecodable for part in parts),
            ragged=sum(part.ragged for part in parts),
        )


NO_ITEMS = TableItems(np.empty(0, np.int64), [], [], [], 0, 0, 0)


def resolve(columns: Columns, table: OpenTable, *, without: Sequence[str] = ()) -> Columns:
    """The columns checked against a table; all numeric columns if none are named.

    without: columns that are not part of an item, such as those of dates or numbers of items.
    """
    named = [bool(columns.text), bool(columns.features), bool(columns.posteriors)]
    if sum(named) > 1:
        raise UserError("name one of text, features or posteriors, not several")
    if columns.label is not None:
        table.require([columns.label])
    if not any(named):
        columns = replace(columns, features=_numeric_columns(table, {columns.label, *without}))
    table.require(columns.content)
    if columns.label in columns.content:
        raise UserError(f"{columns.label!r} is the label: it cannot be part of the items too")
    return columns


def read_items(
    table: OpenTable, columns: Columns, *, labelled: bool, grouping: Grouping | None = None
) -> Generator[TableItems]:
    """The items of a table, chunk by chunk; to be closed if not read out."""
    if grouping is not None and grouping.every is not None and grouping.every not in EVERY:
        raise unknown_name("stretch of time", grouping.every, EVERY)
    wanted = [*columns.content]
    if labelled and columns.label is not None:
        wanted.append(columns.label)
    if grouping is not None:
        wanted.append(grouping.column)
    with closing(table.chunks(wanted)) as chunks:
        for chunk in chunks:
            yield _items(table, chunk, columns, labelled=labelled, grouping=grouping)


def label_name(value: Any) -> str:
    """A label as a string, the same whatever file it comes from: 1.0 and 1 are '1'."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _items(
    table: OpenTable, chunk: Chunk, columns: Columns, *, labelled: bool, grouping: Grouping | None
) -> TableItems:
    needed = [chunk.columns[name] for name in columns.content]
    if labelled and columns.label is not None:
        needed.append(chunk.columns[columns.label])
    if grouping is not None:
        needed.append(chunk.columns[grouping.column])
    kept = [i for i, row in enumerate(zip(*needed, strict=True)) if None not in row]
    numbers = [chunk.first + i for i in kept]
    values: Values
    if columns.text is not None:
        values = [str(chunk.columns[columns.text][i]) for i in kept]
    else:
        values = np.empty((len(kept), len(columns.content)))
        for position, name in enumerate(columns.content):
            cells = chunk.columns[name]
            values[:, position] = [
                _number(cells[i], table.name, number, name)
                for i, number in zip(kept, numbers, strict=True)
            ]
    labels, groups = [], []
    if labelled and columns.label is not None:
        labels = [label_name(chunk.columns[columns.label][i]) for i in kept]
    if grouping is not None:
        groups = [
            _group(chunk.columns[grouping.column][i], grouping, table.name, number)
            for i, number in zip(kept, numbers, strict=True)
        ]
    return TableItems(
        rows=np.array(numbers, dtype=np.int64),
        values=values,
        labels=labels,
        groups=groups,
        left_out=len(chunk) - len(kept),
        undecodable=chunk.undecodable,
        ragged=chunk.ragged,
    )


def _number(value: Any, name: str, row: int, column: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(
            f"{name}: row {row}, column {column!r}: {_shown(value)} is no number; mend the cell or "
            "leave the column out"
        )
    return number


def _group(value: Any, grouping: Grouping, name: str, row: int) -> str:
    if grouping.every is None:
        return label_name(value)
    date = _date(value)
    if date is None:
        raise DataError(
            f"{name}: row {row}, column {grouping.column!r}: {_shown(value)} is no date; write "
            "YYYY-MM-DD, or group by the values as they are, without `every`"
        )
    if grouping.every == "week":
        year, week, _ = date.isocalendar()
        return f"{year}-W{week:02d}"
    return date.isoformat()[: 10 if grouping.every == "day" else 7]


def _date(value: Any) -> datetime.date | None:
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.datetime.fromisoformat(str(value).strip()).date()
    except ValueError:
        return None


def _numeric_columns(table: OpenTable, without: set[str | None]) -> tuple[str, ...]:
    candidates = [name for name in table.columns if name not in without]
    numbers: tuple[str, ...] = ()
    if candidates:
        with closing(table.chunks(candidates)) as chunks:
            first = next(chunks, None)
        cells = {} if first is None else first.columns
        numbers = tuple(name for name in candidates if _is_numeric(cells.get(name, [])))
    if not numbers:
        raise UserError(
            f"{table.name}: no numeric columns to work on among {', '.join(table.columns)}; name "
            "the column of the texts",
            arguments=["text"],
        )
    return numbers


def _taken(names: list[str], rows: Indices) -> list[str]:
    # Labels and groups are there if they were asked for.
    return [names[i] for i in rows] if names else []


def _is_numeric(cells: Sequence[Any]) -> bool:
    present = [cell for cell in cells if cell is not None]
    try:
        return bool(present) and all(math.isfinite(float(cell)) for cell in present)
    except (TypeError, ValueError):
        return False


def _shown(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= 30 else text[:30] + "...")
