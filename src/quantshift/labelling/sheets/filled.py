"""Sheets that people have filled in: their labels, in the order of labelling.

The order is that of the plan, or that of a column `place`, never that of the rows.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

import numpy as np

from quantshift.base.nouns import counted
from quantshift.errors import DataError
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
from quantshift.tables.columns.cell_names import text_of
from quantshift.tables.columns.labels import labels_of_cells
from quantshift.tables.reading import OpenTable
from quantshift.tables.spreadsheet_cells import unescaped

Key = TypeVar("Key", bound=Hashable)

BIASED = "the audit is biased"
"""How warnings about labels that may not be those of random items end."""

MOST_GAPS = 3
"""Places without a label that a message names."""


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
    cells = {} if first is None else {name: first.cells.values(name) for name in columns}
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
    label_names: list[str] = []
    cells: dict[str, list[str | None]] = {name: [] for name in raw}
    unlabelled = 0
    with closing(table.chunks(raw)) as chunks:
        for chunk in chunks:
            label_cells = chunk.cells.values(names.get(label, label))
            if is_escaped:
                label_cells = [
                    unescaped(cell) if isinstance(cell, str) else cell for cell in label_cells
                ]
            labels = labels_of_cells(label_cells, missing)
            labelled = [i for i, name in enumerate(labels) if name is not None]
            unlabelled += len(labels) - len(labelled)
            label_names += [name for name in labels if name is not None]
            numbers += [chunk.first + i for i in labelled]
            for name, texts in cells.items():
                values = chunk.cells.values(name)
                texts += [text_of(values[i]) for i in labelled]
    if is_escaped:
        cells = {
            unescaped(name): [None if text is None else unescaped(text) for text in texts]
            for name, texts in cells.items()
        }
    del cells[label]
    return FilledSheet(table.name, numbers, label_names, cells, unlabelled)


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


def left_open(sheet: FilledSheet) -> list[str]:
    """A warning if there are rows without a label, or rows of the plan that are gone."""
    if sheet.removed:
        n_rows = len(sheet.numbers) + sheet.unlabelled + sheet.removed
        return [
            f"{sheet.name}: {sheet.removed + sheet.unlabelled} of the {n_rows} rows of its plan "
            f"have no label or were removed; if these are the hard ones, {BIASED}"
        ]
    return [without_labels(sheet.name, sheet.unlabelled)] if sheet.unlabelled else []


def without_labels(name: str, n_rows: int) -> str:
    """The warning about rows of an audited table that have no label."""
    return f"{name}: {n_rows} rows have no label; if these are the hard ones, {BIASED}"


def require_no_gaps(name: str, labelled: Iterable[int]) -> None:
    """Refuse rows without a label, or rows that are gone, before others that have a label.

    name: of the table; labelled: the places of the rows with a label.

    Those may be the hard ones, so that no interval would be valid at every look.
    """
    places = set(labelled)
    last = max(places, default=0)
    n_gaps = last - len(places)
    if n_gaps <= 0:
        return
    first = islice((place for place in range(1, last) if place not in places), MOST_GAPS)
    more = f" and {n_gaps - MOST_GAPS:,} more" if n_gaps > MOST_GAPS else ""
    raise DataError(
        f"{name}: {counted(n_gaps, 'row')} before the last label without a label, or removed "
        f"(place {', '.join(map(str, first))}{more}): if these are the hard ones, the audit is "
        "biased, and no interval is valid; label them from the top and put back what was removed, "
        "or do without the sequential audit",
        arguments=["sequential"],
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
