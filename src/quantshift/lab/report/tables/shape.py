"""Splits tables that are too wide to read into several narrower ones.

A group of columns becomes a table of its own. If one group is still too wide, as with forty
methods, rows and columns are swapped, so that each method is a row. If the table is then too wide
because there were many rows, it is cut into pieces that all end with the totals.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from quantshift.lab.report.tables.table import Cell, ColumnGroup, ReportTable, Row

WIDEST = 24
"""The most columns of a table; the paper's widest has 18."""

IN_GROUPS = ", in each group of columns"
"""Part of a legend that only applies to tables with several groups."""

BOLD, TESTED = "Bold: the lowest error in its", "Others: paired Wilcoxon signed-rank test"
"""The beginnings of the sentences of a legend that explain marks."""

NO_WINNER = (
    "No method is marked as the best: all of them fail under this shift, which unlabelled items "
    "cannot show."
)

_MEASURE = ": mean "
"""Separates the title in a caption from what was measured."""


def fitted(table: ReportTable, *, corner: str = "method") -> list[ReportTable]:
    """The table, or the tables it is split into; `corner`: what its columns are."""
    if len(table.columns) <= WIDEST:
        return [table]
    if len(table.groups) > 1:
        return [
            piece
            for number in range(len(table.groups))
            for piece in fitted(_of_group(table, number), corner=corner)
        ]
    return _in_pieces(_turned(table, corner))


def retitled(table: ReportTable, *, name: str, title: str) -> ReportTable:
    """The table with something added to its name and to the title in its caption."""
    head, measured, measure_name = table.caption.partition(_MEASURE)
    return replace(table, name=table.name + name, caption=f"{head}{title}{measured}{measure_name}")


def unmarked(table: ReportTable) -> ReportTable:
    """The table without a winner: no cell is marked, and the legend says why."""
    return replace(
        table,
        rows=tuple(
            replace(row, cells=tuple(replace(cell, mark="") for cell in row.cells))
            for row in table.rows
        ),
        legend=(
            NO_WINNER,
            *(text for text in table.legend if not text.startswith((BOLD, TESTED))),
        ),
    )


def slug(text: str) -> str:
    """A text as part of a file name.

    >>> slug("$p_U = 0.25$"), slug("(0.2, 0.8)")
    ('p_U-0.25', '0.2-0.8')
    """
    return re.sub(r"[^\w.]+", "-", text).strip("-.")


def _of_group(table: ReportTable, number: int) -> ReportTable:
    group = table.groups[number]
    start = sum(len(other.columns) for other in table.groups[:number])
    end = start + len(group.columns)
    titled = retitled(
        table,
        name=f"-{slug(group.text) or number + 1}",
        title=f", {group.text}" if group.text else "",
    )
    return replace(
        titled,
        groups=(replace(group, text=""),),
        rows=tuple(replace(row, cells=row.cells[start:end]) for row in table.rows),
        legend=tuple(sentence.replace(IN_GROUPS, "") for sentence in table.legend),
    )


def _turned(table: ReportTable, corner: str) -> ReportTable:
    """The table with rows as columns; totals become the last group of columns."""
    (group,) = table.groups
    ordered = [*_body(table.rows), *_totals(table.rows)]
    body, totals = (
        tuple(row.label for row in rows) for rows in (_body(table.rows), _totals(table.rows))
    )
    return replace(
        table,
        corner=corner,
        groups=tuple(
            ColumnGroup(text, labels, shaded=group.shaded)
            for text, labels in ((table.corner, body), ("", totals))
            if labels
        ),
        rows=tuple(
            Row(name, tuple(row.cells[column] for row in ordered), value=name)
            for column, name in enumerate(group.columns)
        ),
        legend=tuple(sentence.replace("its row", "its column") for sentence in table.legend),
    )


def _in_pieces(table: ReportTable) -> list[ReportTable]:
    """Pieces of a turned table with at most `WIDEST` columns, totals in each."""
    body, *totals = table.groups
    n_totals = sum(len(group.columns) for group in totals)
    size = max(WIDEST - n_totals, 1)
    starts = range(0, len(body.columns), size)
    if len(starts) == 1:
        return [table]

    def chosen(cells: Sequence[Cell], start: int) -> tuple[Cell, ...]:
        return (
            *cells[start : min(start + size, len(body.columns))],
            *cells[len(body.columns) :],
        )

    return [
        replace(
            retitled(table, name=f"-{number}", title=f", piece {number} of {len(starts)}"),
            groups=(replace(body, columns=body.columns[start : start + size]), *totals),
            rows=tuple(replace(row, cells=chosen(row.cells, start)) for row in table.rows),
        )
        for number, start in enumerate(starts, start=1)
    ]


def _body(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if not row.total]


def _totals(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.total]
