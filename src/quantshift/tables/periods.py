"""Batches by date.

Dates are written as in ISO 8601, or all in another format (`tables.columns.written_dates`). If no
row of the column decides which one, the column is refused, or its cells are batches as they are if
no day, week or month was asked for.
"""

import datetime
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from quantshift.errors import DataError
from quantshift.tables.columns.cell_names import names_of, shown
from quantshift.tables.columns.written_dates import (
    ISO,
    OTHER_FORMATS,
    date_formats,
    dates_in,
    first_wrong,
)
from quantshift.tables.files.chunks import OpenTable

EVERY = ("day", "week", "month")
"""Periods by which dates can be grouped."""


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
            self._format, self._is_known = self._decided_format(cells), True
        if self._format is None:
            return names_of(cells)
        names = {
            value: date.isoformat()
            for value, date in dates_in(cells, self._format).items()
            if date is not None
        }
        return cells.replace_strict(names, default=None, return_dtype=pl.String)

    def _decided_format(self, cells: pl.Series) -> str | None:
        """The format of all cells of the column; read only if the first may be a date."""
        first = cells.drop_nulls().head(1)
        if all(dates_in(first, format_)[first[0]] is None for format_ in OTHER_FORMATS):
            return None
        return date_formats(_parts(self.table, self.column)).decided


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
        values = cells.to_list()
        dates = dates_in(values, self._format)
        wrong = first_wrong(values, dates)
        if wrong is not None and not self._is_known and cells.dtype == pl.String:
            self._format, self._is_known = self._decided_format(), True
            dates = dates_in(values, self._format)
            wrong = first_wrong(values, dates)
        if wrong is not None:
            raise self._refused(first + wrong, values[wrong])
        periods = {value: self._period(date) for value, date in dates.items() if date is not None}
        return [None if cell is None else periods.get(cell) for cell in values]

    def _period(self, date: datetime.date) -> str:
        if self.every == "week":
            year, week, _ = date.isocalendar()
            return f"{year:04d}-W{week:02d}"
        return date.isoformat()[: 10 if self.every == "day" else 7]

    def _decided_format(self) -> str:
        """The format of all dates of the column; refused if there is none, or if two would do."""
        formats = date_formats(_parts(self.table, self.column))
        if formats.wrong is not None:
            raise self._refused(*formats.wrong)
        if formats.unclear is not None:
            row, cell = formats.unclear
            raise DataError(
                f"{self.table.name}: row {row}, column {self.column!r}: {shown(cell)} may be "
                f"DD/MM/YYYY or MM/DD/YYYY, and no row decides it; write {ISO}"
            )
        return formats.best

    def _refused(self, row: int, cell: Any) -> DataError:
        return DataError(
            f"{self.table.name}: row {row}, column {self.column!r}: {shown(cell)} is not a date; "
            f"write {ISO}, or group by the values as they are, without `every`"
        )


def _parts(table: OpenTable, column: str) -> Iterator[tuple[int, list[Any]]]:
    with closing(table.chunks([column])) as chunks:
        for chunk in chunks:
            yield chunk.first, chunk.columns[column].to_list()
