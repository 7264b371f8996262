"""Sheets that people have filled in: their labels, in the order of labelling.

The order is that of the plan, or that of a column `place`, never that of the rows.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from quantshift.base.nouns import counted
from quantshift.claims.findings import Finding
from quantshift.errors import DataError
from quantshift.labelling.findings import SheetFindings
from quantshift.labelling.sheets.content import texts_of
from quantshift.labelling.sheets.sheet_columns import (
    CHECK,
    OWN,
    PLACE,
    PLAN,
    Texts,
    is_sheet,
    number_from_one,
    places_in_plan,
)
from quantshift.tables.columns.labels import label_names
from quantshift.tables.files.spreadsheet_cells import unescaped
from quantshift.tables.reading import OpenTable

if TYPE_CHECKING:
    import polars as pl

Key = TypeVar("Key", bound=Hashable)

MOST_GAPS = 3
"""Places without a label that a message names."""

MOST_SKIPPED = 0.05
"""Share of the places up to the last label that may have none in an audit with a single look: an
item that nobody can decide. More may be a choice of items, which no interval would be valid for."""


@dataclass(frozen=True, eq=False)
class FilledSheet:
    """The labelled rows of a table that people filled in: their numbers, labels and other cells.

    unlabelled: rows without a label; removed: rows of the plan that are no longer there. places:
    those of the labelled rows in the order of labelling, from 1; None if they are not known.
    """

    name: str
    numbers: list[int]
    labels: list[str]
    cells: Texts
    unlabelled: int
    removed: int = 0
    places: list[int] | None = None


def is_drawn(table: OpenTable, own_columns: Iterable[str]) -> bool:
    """Whether this is a sheet of a plan. own_columns: those of the tables it may be drawn from."""
    names = names_on_sheet(table)
    columns = [names[name] for name in (PLAN, CHECK) if name in names]
    with closing(table.chunks(columns or table.columns[:1])) as chunks:
        first = next(iter(chunks), None)
    cells = {} if first is None else texts_of(first.columns.select(columns))
    return is_sheet(names, cells, own_columns)


def read_sheet(
    table: OpenTable, *, label: str, beside: Sequence[str], missing: Sequence[str] | None
) -> FilledSheet:
    """The labelled rows of a sheet, with those of the columns in `beside` that it has."""
    # A sheet that quantshift wrote is escaped, headers too; a user's own table is not.
    is_escaped = CHECK in table.columns
    names = names_on_sheet(table)
    columns = [label, *(name for name in beside if name in names)]
    raw = [names.get(name, name) for name in dict.fromkeys(columns)]
    numbers: list[int] = []
    label_texts: list[str] = []
    cells: dict[str, list[str | None]] = {name: [] for name in raw}
    unlabelled = 0
    with closing(table.chunks(raw)) as chunks:
        for chunk in chunks:
            given = chunk.columns[names.get(label, label)]
            labels = label_names(_unescaped(given) if is_escaped else given, missing).to_list()
            labelled = [i for i, name in enumerate(labels) if name is not None]
            unlabelled += len(labels) - len(labelled)
            label_texts += [name for name in labels if name is not None]
            numbers += [chunk.first + i for i in labelled]
            for name, texts in texts_of(chunk.columns[labelled]).items():
                cells[name] += texts
    if is_escaped:
        cells = {
            unescaped(name): [None if text is None else unescaped(text) for text in texts]
            for name, texts in cells.items()
        }
    del cells[label]
    return FilledSheet(table.name, numbers, label_texts, cells, unlabelled)


def _unescaped(column: "pl.Series") -> "pl.Series":
    import polars as pl

    if column.dtype != pl.String:
        return column
    texts = [None if cell is None else unescaped(cell) for cell in column.to_list()]
    return pl.Series(column.name, texts, dtype=pl.String)


def names_on_sheet(table: OpenTable) -> dict[str, str]:
    """Column names as the sample has them, and as the sheet has them, perhaps escaped."""
    is_escaped = CHECK in table.columns
    return {(unescaped(name) if is_escaped else name): name for name in table.columns}


def in_order_of_plan(sheet: FilledSheet, *, drawn_by: str, more: Sequence[str] = ()) -> FilledSheet:
    """The sheet of a plan with its rows in the order of the plan, whatever that of the file is.

    more: columns that it was written with, besides those that every sheet has.
    """
    needed = [*OWN[:-1], *more, OWN[-1]]
    places, n_rows = places_in_plan(
        sheet.name, sheet.numbers, sheet.cells, drawn_by=drawn_by, needed=needed
    )
    removed = max(n_rows - len(places) - sheet.unlabelled, 0)
    return replace(_sorted(sheet, places), removed=removed)


def in_order_of_places(sheet: FilledSheet, *, drawn_by: str) -> FilledSheet:
    """A user's own table in the order in which its items were labelled."""
    if PLACE not in sheet.cells:
        raise DataError(
            f"{sheet.name}: a sequential audit needs the order of labelling: label a sheet of "
            f"{drawn_by}, or number the items in a column {PLACE!r}, from 1"
        )
    places = [
        place_in_order(f"{sheet.name}: row {number}", cell)
        for number, cell in zip(sheet.numbers, sheet.cells[PLACE], strict=True)
    ]
    rows_by_key(sheet, places, lambda place: f"place {place}")
    return _sorted(sheet, places)


def place_in_order(where: str, cell: str | None) -> int:
    """The number in a cell. where: a table and its row, for the error if there is no number."""
    place = number_from_one(cell)
    if place is None:
        raise DataError(
            f"{where}: {(cell or '')[:20]!r} is not a place in the order of labelling; number the "
            "items from 1"
        )
    return place


def _sorted(sheet: FilledSheet, places: Sequence[int]) -> FilledSheet:
    order = np.argsort(np.array(places, dtype=np.int64), kind="stable").tolist()
    return replace(
        sheet,
        numbers=[sheet.numbers[i] for i in order],
        labels=[sheet.labels[i] for i in order],
        cells={name: [texts[i] for i in order] for name, texts in sheet.cells.items()},
        places=[places[i] for i in order],
    )


def require_labels(sheet: FilledSheet, label: str) -> None:
    """Refuse a sheet that nobody has filled in."""
    if not sheet.numbers:
        raise DataError(
            f"{sheet.name}: no row has a label; fill in the column {label!r} from the top, save "
            "the file, and run this again"
        )


def left_open(sheet: FilledSheet) -> list[Finding]:
    """A finding if there are rows without a label, or rows of the plan that are gone."""
    if sheet.removed:
        n = sheet.removed + sheet.unlabelled
        n_rows = len(sheet.numbers) + n
        return [SheetFindings.ROWS_OF_PLAN_GONE.found(table=sheet.name, n=n, n_rows=n_rows)]
    return [without_labels(sheet.name, sheet.unlabelled)] if sheet.unlabelled else []


def without_labels(name: str, n_rows: int) -> Finding:
    """That rows of an audited table have no label."""
    return SheetFindings.ROWS_WITHOUT_LABEL.found(table=name, n=n_rows)


def skipped(sheet: FilledSheet) -> int:
    """Rows without a label that may have been left out for what they are.

    Those before the last label; in a table without an order of labelling, any.
    """
    return sheet.unlabelled if sheet.places is None else count_gaps(sheet.name, sheet.places)


def count_gaps(name: str, labelled: Iterable[int], *, sequential: bool = False) -> int:
    """How many places before the last label have none, or are gone; too many are refused.

    name: of the table; labelled: the places of the rows with a label.

    Those may be the hard ones. No interval would be valid at every look, so that a sequential audit
    has none; otherwise they are few, and what the answer stands on says so.
    """
    places = set(labelled)
    last = max(places, default=0)
    n_gaps = last - len(places)
    is_few = n_gaps <= MOST_SKIPPED * last
    if not n_gaps or (is_few and not sequential):
        return n_gaps
    first = islice((place for place in range(1, last) if place not in places), MOST_GAPS)
    more = f" and {n_gaps - MOST_GAPS:,} more" if n_gaps > MOST_GAPS else ""
    or_once = ", or do without the sequential audit" if is_few else ""
    raise DataError(
        f"{name}: {counted(n_gaps, 'row')} before the last label without a label, or removed "
        f"(place {', '.join(map(str, first))}{more}): if these are the hard ones, the audit is "
        "biased, and no interval is valid; label them from the top and put back what was removed"
        f"{or_once}",
        arguments=["sequential"] if is_few else [],
    )


def rows_by_key(
    sheet: FilledSheet, keys: Sequence[Key], describe: Callable[[Key], str]
) -> dict[Key, int]:
    """The keys and the rows of the sheet that have them; no key may occur twice.

    describe: a key in the words of a message.
    """
    rows: dict[Key, int] = {}
    for number, key in zip(sheet.numbers, keys, strict=True):
        if key in rows:
            raise DataError(
                f"{sheet.name}: {describe(key)} is labelled twice (rows {rows[key]} and {number}); "
                "remove one"
            )
        rows[key] = number
    return rows
