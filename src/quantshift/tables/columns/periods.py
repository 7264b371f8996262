"""Batches by date: how the dates of a column are written.

Dates are written as in ISO 8601, or all in another format of `tables.columns.dates`. Whether
03/04/2026 is in March or in April is decided by the whole column; if no row decides it, the column
is refused, or its cells are batches as they are if no day, week or month was asked for.
"""

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from quantshift.errors import DataError
from quantshift.tables.columns.dates import DATE_FORMATS, moments
from quantshift.tables.columns.kinds import names_of, shown
from quantshift.tables.reading import OpenTable

EVERY = ("day", "week", "month")
"""Periods by which dates can be grouped."""

FIRST_YEAR = 1000
"""Earlier years are years of two digits."""

ISO = "YYYY-MM-DD"
DAY_FIRST, MONTH_FIRST = "%d/%m/%Y", "%m/%d/%Y"


@dataclass(frozen=True)
class _Formats:
    """What the cells of a column tell about the format of its dates.

    best: the format that most cells have. wrong: the row and the cell of the first that has not.
    unclear: those of the first date that may be two, if the format is not decided.
    """

    best: str
    wrong: tuple[int, str] | None
    unclear: tuple[int, str] | None

    @property
    def decided(self) -> str | None:
        """The format of all cells, other than that of ISO; None if there is none."""
        if self.best == ISO or self.wrong is not None or self.unclear is not None:
            return None
        return self.best


@dataclass(eq=False)
class BatchNames:
    """The batches of rows by the values of a column, which are their names.

    If all are dates in one format, they are written as in ISO 8601: sorted, they are in the order
    of time, and a history takes them as one series.
    """

    table: OpenTable
    column: str
    _format: str | None = field(default=None, init=False)
    _is_known: bool = field(default=False, init=False)

    def of(self, cells: pl.Series) -> pl.Series:
        """The name of each cell; null if it is missing."""
        if cells.dtype != pl.String:
            return names_of(cells)
        if not self._is_known and cells.null_count() < len(cells):
            self._format, self._is_known = self._found(cells), True
        if self._format is None:
            return names_of(cells)
        names = {
            value: date.isoformat()
            for value, date in _dates(cells, self._format).items()
            if date is not None
        }
        return cells.replace_strict(names, default=None, return_dtype=pl.String)

    def _found(self, cells: pl.Series) -> str | None:
        """The format of all cells of the column; read only if the first may be a date."""
        first = cells.drop_nulls().head(1)
        if all(_dates(first, format_)[first[0]] is None for format_ in DATE_FORMATS[1:]):
            return None
        return _formats(_parts(self.table, self.column)).decided


@dataclass(eq=False)
class Periods:
    """The periods of the dates in a column of a table; `every`: day, week or month."""

    table: OpenTable
    column: str
    every: str
    _format: str = ISO
    _is_known: bool = field(default=False, init=False)

    def of(self, cells: pl.Series, first: int) -> list[str | None]:
        """The period of each cell, None if it is missing. first: the number of the first row."""
        dates = _dates(cells, self._format)
        wrong = _first_wrong(cells, dates)
        if wrong is not None and not self._is_known and cells.dtype == pl.String:
            self._format, self._is_known = self._found(), True
            dates = _dates(cells, self._format)
            wrong = _first_wrong(cells, dates)
        if wrong is not None:
            raise self._refused(first + wrong, cells[wrong])
        periods = {value: self._period(date) for value, date in dates.items() if date is not None}
        return [None if cell is None else periods.get(cell) for cell in cells.to_list()]

    def _period(self, date: datetime.date) -> str:
        if self.every == "week":
            year, week, _ = date.isocalendar()
            return f"{year:04d}-W{week:02d}"
        return date.isoformat()[: 10 if self.every == "day" else 7]

    def _found(self) -> str:
        """The format of all dates of the column; refused if there is none, or if two would do."""
        found = _formats(_parts(self.table, self.column))
        if found.wrong is not None:
            raise self._refused(*found.wrong)
        if found.unclear is not None:
            row, cell = found.unclear
            raise DataError(
                f"{self.table.name}: row {row}, column {self.column!r}: {shown(cell)} may be "
                f"DD/MM/YYYY or MM/DD/YYYY, and no row decides it; write {ISO}"
            )
        return found.best

    def _refused(self, row: int, cell: Any) -> DataError:
        return DataError(
            f"{self.table.name}: row {row}, column {self.column!r}: {shown(cell)} is not a date; "
            f"write {ISO}, or group by the values as they are, without `every`"
        )


def dates_of_names(names: Iterable[str]) -> dict[str, str]:
    """The names of batches that are dates, as in ISO 8601; empty unless all have one format.

    >>> dates_of_names(["01/02/2026", "28/01/2026"])
    {'01/02/2026': '2026-02-01', '28/01/2026': '2026-01-28'}
    >>> dates_of_names(["01/02/2026", "02/01/2026"]), dates_of_names(["north", "south"])
    ({}, {})
    """
    cells = pl.Series(list(names), dtype=pl.String)
    format_ = _formats([(1, cells)]).decided
    dates = {} if format_ is None else _dates(cells, format_)
    return {name: date.isoformat() for name, date in dates.items() if date is not None}


def _formats(parts: Iterable[tuple[int, pl.Series]]) -> _Formats:
    """The format of the dates in a column, given as its parts and the number of their first row."""
    formats = (ISO, *DATE_FORMATS[1:])
    n_wrong: Counter[str] = Counter()
    first_wrong: dict[str, tuple[int, str]] = {}
    unclear: tuple[int, str] | None = None
    for first, cells in parts:
        dates = {format_: _dates(cells, format_) for format_ in formats}
        for format_ in formats:
            wrong = _first_wrong(cells, dates[format_])
            if wrong is not None:
                found = dates[format_]
                n_wrong[format_] += sum(c is not None and found[c] is None for c in cells)
                first_wrong.setdefault(format_, (first + wrong, cells[wrong]))
        by_day, by_month = dates[DAY_FIRST], dates[MONTH_FIRST]
        for row, cell in enumerate(cells.to_list()) if unclear is None else ():
            both = cell is not None and by_day[cell] is not None and by_month[cell] is not None
            if both and by_day[cell] != by_month[cell]:
                unclear = first + row, cell
                break
    best = min(formats, key=lambda format_: n_wrong[format_])
    is_decided = bool(n_wrong[DAY_FIRST] or n_wrong[MONTH_FIRST])
    return _Formats(best, first_wrong.get(best), None if is_decided else unclear)


def _parts(table: OpenTable, column: str) -> Iterator[tuple[int, pl.Series]]:
    with closing(table.chunks([column])) as chunks:
        for chunk in chunks:
            yield chunk.first, chunk.columns[column]


def _dates(cells: pl.Series, format_: str) -> dict[Any, datetime.date | None]:
    """The date of each different cell; None if it is none in this format."""
    values = cells.unique(maintain_order=True).drop_nulls()
    if format_ == ISO or cells.dtype != pl.String:
        return {value: _iso_date(value) for value in values.to_list()}
    dates = moments(values, format_).to_list()
    return {
        value: date if date is not None and date.year >= FIRST_YEAR else None
        for value, date in zip(values.to_list(), dates, strict=True)
    }


def _first_wrong(cells: pl.Series, dates: Mapping[Any, datetime.date | None]) -> int | None:
    """The position of the first cell that is not missing and not a date."""
    # Different cells are in the order in which they occur.
    wrong = next((value for value, date in dates.items() if date is None and value == value), None)
    return None if wrong is None else cells.to_list().index(wrong)


def _iso_date(value: Any) -> datetime.date | None:
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    if isinstance(value, float) and math.isnan(value):
        return None
    try:
        return datetime.datetime.fromisoformat(str(value).strip()).date()
    except ValueError:
        return None
