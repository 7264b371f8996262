"""Batches by day, week or month: how the dates of a column are written.

Dates are written as in ISO 8601, or all in another format of `data.dates`. Whether 03/04/2026 is in
March or in April is decided by the whole column; if no row decides it, the column is refused.
"""

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from quantshift.errors import DataError
from quantshift.tables.columns.dates import DATE_FORMATS, moments
from quantshift.tables.columns.kinds import shown
from quantshift.tables.reading import OpenTable

EVERY = ("day", "week", "month")
"""Periods by which dates can be grouped."""

FIRST_YEAR = 1000
"""Earlier years are years of two digits."""

ISO = "YYYY-MM-DD"
DAY_FIRST, MONTH_FIRST = "%d/%m/%Y", "%m/%d/%Y"


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
        formats = (ISO, *DATE_FORMATS[1:])
        n_wrong: Counter[str] = Counter()
        first_wrong: dict[str, tuple[int, str]] = {}
        unclear: tuple[int, str] | None = None
        for first, cells in self._parts():
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
        if n_wrong[best]:
            raise self._refused(*first_wrong[best])
        if unclear is not None and not n_wrong[DAY_FIRST] and not n_wrong[MONTH_FIRST]:
            row, cell = unclear
            raise DataError(
                f"{self.table.name}: row {row}, column {self.column!r}: {shown(cell)} may be "
                f"DD/MM/YYYY or MM/DD/YYYY, and no row decides it; write {ISO}"
            )
        return best

    def _parts(self) -> Iterator[tuple[int, pl.Series]]:
        with closing(self.table.chunks([self.column])) as chunks:
            for chunk in chunks:
                yield chunk.first, chunk.columns[self.column]

    def _refused(self, row: int, cell: Any) -> DataError:
        return DataError(
            f"{self.table.name}: row {row}, column {self.column!r}: {shown(cell)} is not a date; "
            f"write {ISO}, or group by the values as they are, without `every`"
        )


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
