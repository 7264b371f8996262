"""Tables in CSV: one line per cell, which any tool can filter and pivot."""

import csv
import io

from quantshift.report.tables.table import ReportTable, spoken_mathematics, with_mathematics

FIELDS = ("row", "group", "column", "value", "mark", "n", "samples")


def csv_table(table: ReportTable) -> str:
    """The cells of the table, values in full precision; missing ones are empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(FIELDS)
    for row in table.rows:
        for (group, column), cell in zip(table.columns, row.cells, strict=True):
            writer.writerow(
                [
                    _text(row.label),
                    _text(group.text),
                    _text(column),
                    cell.value,
                    cell.mark,
                    cell.n,
                    cell.samples,
                ]
            )
    return buffer.getvalue()


def _text(text: str) -> str:
    return with_mathematics(text, str, spoken_mathematics)
