"""Tables in CSV: one line per cell, which any tool can filter and pivot."""

from collections.abc import Iterator

from quantshift.base.storage.csv_text import csv_text
from quantshift.lab.report.tables.table import ReportTable, spoken_mathematics, with_mathematics

FIELDS = ("row", "group", "column", "value", "mark", "n", "samples")


def csv_table(table: ReportTable) -> str:
    """The cells of the table, values in full precision; missing ones are empty."""
    return csv_text([FIELDS, *_lines(table)])


def _lines(table: ReportTable) -> Iterator[list[object]]:
    for row in table.rows:
        for (group, column), cell in zip(table.columns, row.cells, strict=True):
            names = [_text(row.label), _text(group.text), _text(column)]
            yield [*names, cell.value, cell.mark, cell.n, cell.samples]


def _text(text: str) -> str:
    return with_mathematics(text, str, spoken_mathematics)
