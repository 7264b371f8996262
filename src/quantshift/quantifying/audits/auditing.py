"""Labels that people gave to randomly chosen items of the sample.

An audited table identifies its items by an id, if the sample has one. On a sheet that `audit-plan`
has drawn they have their row number in the sample, and their content must match the sample's;
otherwise they are found by their content alone. The order of labelling is that of the plan, or that
of a column `place`, never that of the rows.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from quantshift.base.nouns import counted
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.quantifying.audits.sheet_columns import (
    CHECK,
    ITEM,
    OWN,
    PLACE,
    PLAN,
    content_of,
    is_sheet,
    places_in_plan,
    whole_number,
)
from quantshift.quantifying.options import ColumnOptions
from quantshift.quantifying.output.advice import BIASED
from quantshift.quantifying.reading.pool import Pool, Wanted
from quantshift.quantifying.training.model import Model
from quantshift.tables.columns.kinds import names_of
from quantshift.tables.columns.labels import label_names
from quantshift.tables.columns.spelling import known_spellings
from quantshift.tables.reading import OpenTable, Source, open_table
from quantshift.tables.spreadsheet_cells import comparable, unescaped

DRAWN_BY = "quantshift audit-plan"
CURE = f"audit items of the sample itself ({DRAWN_BY} draws them)"


@dataclass(frozen=True, eq=False)
class AuditTable:
    """The labelled rows of an audited table, located in the samples, and warnings.

    rows: row number and class code of each; wanted: where each is, in the same order.
    """

    name: str
    rows: tuple[tuple[int, int], ...]
    wanted: Wanted
    warnings: tuple[str, ...]


Place = tuple[int, int]
"""A table's position among the samples, and a row in it, from 1."""


MOST_GAPS = 3
"""Places without a label that a message names."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """The labelled rows of a table that people filled in: their numbers, labels and other cells.

    unlabelled: rows without a label; removed: rows of the plan that are no longer there. places:
    those of the labelled rows in the order of labelling, from 1; None if they are not known.
    """

    name: str
    numbers: list[int]
    labels: list[str]
    cells: pl.DataFrame
    unlabelled: int
    removed: int = 0
    places: list[int] | None = None


def read_audit(
    source: Source,
    model: Model,
    samples: Sequence[OpenTable],
    options: ColumnOptions,
    *,
    sequential: bool = False,
) -> AuditTable:
    """The labels of an audited table, and the items of the samples they are for.

    sequential: rows without a label at the end have not been labelled yet.
    """
    if model.columns.label is None:
        raise UserError("an audit needs the column of the labels; name it", arguments=["label"])
    id_ = options.id or model.columns.id
    table = open_table(source, name="the audited table", lenient=options.lenient)
    own_columns = {name for sample in samples for name in sample.columns}
    drawn = is_drawn(table, own_columns)
    beside = [name for name in (id_, *OWN, *model.columns.content) if name is not None]
    sheet = read_sheet(table, label=model.columns.label, beside=beside, missing=options.missing)
    if drawn:
        sheet = in_order_of_plan(sheet, drawn_by=DRAWN_BY)
    elif sequential:
        sheet = _in_order_of_places(sheet)
    require_labels(sheet, model.columns.label)
    codes = [
        _code(name, model, f"{sheet.name}: row {number}")
        for number, name in zip(sheet.numbers, sheet.labels, strict=True)
    ]
    known = set(sheet.cells.columns)
    if sequential:
        require_no_gaps(sheet.name, sheet.places or ())
    warnings = [] if sequential else left_open(sheet)
    if id_ is not None and id_ in known:
        places = _by_id(sheet, id_, samples)
    elif drawn and len(samples) == 1:
        content, reserved = model.columns.content, model.columns.label
        rows, notes = rows_by_number(sheet, samples[0], content, label=reserved)
        places = [(0, row) for row in rows]
        warnings += notes
    else:
        places = _by_content(sheet, model, samples)
    return AuditTable(
        name=sheet.name,
        rows=tuple(zip(sheet.numbers, codes, strict=True)),
        wanted=Wanted({place: i for i, place in enumerate(places)}),
        warnings=tuple(warnings),
    )


def audited_codes(audit: AuditTable, pool: Pool) -> dict[int, int]:
    """Codes of the labelled items by their position in the pool."""
    positions = np.flatnonzero(pool.marks >= 0)
    at = dict(zip(pool.marks[positions].tolist(), positions.tolist(), strict=True))
    for i, (number, _) in enumerate(audit.rows):
        if i not in at:
            raise DataError(
                f"{audit.name}: row {number} is an item that was left out of the sample; remove "
                "its label"
            )
    return {at[i]: code for i, (_, code) in enumerate(audit.rows)}


def is_drawn(table: OpenTable, own_columns: Iterable[str]) -> bool:
    """Whether this is a sheet of a plan. own_columns: those of the tables it may be drawn from."""
    names = names_on_sheet(table)
    shown = [names[name] for name in (PLAN, CHECK) if name in names]
    with closing(table.chunks(shown or table.columns[:1])) as chunks:
        first = next(iter(chunks), None)
    cells = pl.DataFrame() if first is None else first.columns
    return is_sheet(names, cells, own_columns)


def in_order_of_plan(sheet: Sheet, *, drawn_by: str, more: Sequence[str] = ()) -> Sheet:
    """The sheet of a plan with its rows in the order of the plan, whatever that of the file is.

    more: columns that it was written with, besides those that every sheet has.
    """
    needed = [*OWN[:-1], *more, OWN[-1]]
    places, n_rows = places_in_plan(
        sheet.name, sheet.numbers, sheet.cells, drawn_by=drawn_by, needed=needed
    )
    removed = max(n_rows - len(places) - sheet.unlabelled, 0)
    return replace(_sorted(sheet, places), removed=removed)


def _in_order_of_places(sheet: Sheet) -> Sheet:
    """A user's own table in the order in which its items were labelled."""
    if PLACE not in sheet.cells.columns:
        raise DataError(
            f"{sheet.name}: a sequential audit needs the order of labelling: label a sheet of "
            f"{DRAWN_BY}, or number the items in a column {PLACE!r}, from 1"
        )
    places = []
    for number, cell in zip(sheet.numbers, sheet.cells[PLACE], strict=True):
        place = whole_number(cell)
        if place is None:
            raise DataError(
                f"{sheet.name}: row {number}: {(cell or '')[:20]!r} is not a place in the order of "
                "labelling; number the items from 1"
            )
        places.append(place)
    _distinct(sheet, places, lambda place: f"place {place}")
    return _sorted(sheet, places)


def _sorted(sheet: Sheet, places: Sequence[int]) -> Sheet:
    order = np.argsort(np.array(places, dtype=np.int64), kind="stable").tolist()
    return replace(
        sheet,
        numbers=[sheet.numbers[i] for i in order],
        labels=[sheet.labels[i] for i in order],
        cells=sheet.cells[order],
        places=[places[i] for i in order],
    )


def require_labels(sheet: Sheet, label: str) -> None:
    """Refuse a sheet that nobody has filled in."""
    if not sheet.numbers:
        raise DataError(
            f"{sheet.name}: no row has a label; fill in the column {label!r} from the top, save "
            "the file, and run this again"
        )


def content_check(content: pl.DataFrame) -> list[str]:
    """A short digest of each row's content; the leading x keeps programs from reading a number."""
    return [
        f"x{hashlib.blake2b(key.encode(), digest_size=5).hexdigest()}"
        for key in _keys(comparable(content.select(sorted(content.columns))))
    ]


def read_sheet(
    table: OpenTable, *, label: str, beside: Sequence[str], missing: Sequence[str] | None
) -> Sheet:
    """The labelled rows of a sheet, with those of the columns in `beside` that it has."""
    # A sheet that quantshift wrote is escaped, headers too; a user's own table is not.
    is_escaped = CHECK in table.columns
    names = names_on_sheet(table)
    shown = [label, *(name for name in beside if name in names)]
    raw = [names.get(name, name) for name in dict.fromkeys(shown)]
    numbers: list[int] = []
    names_given: list[str] = []
    parts: list[pl.DataFrame] = []
    unlabelled = 0
    with closing(table.chunks(raw)) as chunks:
        for chunk in chunks:
            given = chunk.columns[names.get(label, label)]
            if is_escaped and given.dtype == pl.String:
                given = given.map_elements(unescaped, pl.String)
            labels = label_names(given, missing)
            labelled = labels.is_not_null()
            unlabelled += int((~labelled).sum())
            labelled_rows = (np.flatnonzero(labelled.to_numpy()) + chunk.first).tolist()
            names_given += labels.drop_nulls().to_list()
            numbers += labelled_rows
            part = chunk.columns.filter(labelled).select(pl.all().cast(pl.String, strict=False))
            parts.append(part)
    cells = pl.concat(parts) if parts else pl.DataFrame(schema=dict.fromkeys(raw, pl.String))
    if is_escaped:
        cells = cells.select(pl.all().map_elements(unescaped, pl.String))
        cells = cells.rename({name: unescaped(name) for name in cells.columns})
    return Sheet(table.name, numbers, names_given, cells.drop(label), unlabelled)


def names_on_sheet(table: OpenTable) -> dict[str, str]:
    """Column names as the sample has them, and as the sheet has them, perhaps escaped."""
    is_escaped = CHECK in table.columns
    return {(unescaped(name) if is_escaped else name): name for name in table.columns}


def left_open(sheet: Sheet) -> list[str]:
    """A warning if there are rows without a label, or rows of the plan that are gone."""
    if sheet.removed:
        n_rows = len(sheet.numbers) + sheet.unlabelled + sheet.removed
        return [
            f"{sheet.name}: {sheet.removed + sheet.unlabelled} of the {n_rows} rows of its plan "
            f"have no label or were removed; if these are the hard ones, {BIASED}"
        ]
    return [without_labels(sheet.name, sheet.unlabelled)] if sheet.unlabelled else []


def without_labels(name: str, n_rows: int) -> str:
    """The warning of rows of an audited table that have no label."""
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


def rows_by_number(
    sheet: Sheet,
    sample: OpenTable,
    columns: Sequence[str],
    *,
    label: str,
    drawn_by: str = DRAWN_BY,
) -> tuple[list[int], list[str]]:
    """The rows of the sample that correspond to the items of a sheet, and warnings.

    sheet: one in the order of its plan, hence with numbers of items. columns: those by which
    content is compared. drawn_by: the command that draws such a sheet.
    """
    cure = f"audit items of the sample itself ({drawn_by} draws them)"
    rows = [int(float(cell)) for cell in sheet.cells[ITEM]]
    wanted = _distinct(sheet, rows, lambda row: f"item {row}")
    reserved = {*OWN, label}
    shared = [n for n in columns if n in sheet.cells.columns and n not in reserved]
    content, n_rows = _rows_of(sample, columns, wanted)
    for number, row in zip(sheet.numbers, rows, strict=True):
        if row not in content:
            raise DataError(
                f"{sheet.name}: row {number}: item {row} of a sample of {n_rows} rows; {cure}"
            )
    sample_content = pl.concat([content[row] for row in rows]) if rows else pl.DataFrame()
    return rows, _compared(sheet, rows, sample_content, shared, drawn_by)


def _by_id(sheet: Sheet, column: str, samples: Sequence[OpenTable]) -> list[Place]:
    ids = names_of(sheet.cells[column]).fill_null("").to_list()
    wanted = _distinct(sheet, ids, lambda id_: f"id {id_!r}")
    found: dict[str, Place] = {}
    for position, table in enumerate(samples):
        with closing(table.chunks([column])) as chunks:
            for chunk in chunks:
                names = names_of(chunk.columns[column]).fill_null("")
                for row, name in enumerate(names.to_list(), start=chunk.first):
                    if not name or name not in wanted:
                        continue
                    if name in found:
                        raise DataError(
                            f"{table.name}: row {row}: duplicate id {name!r}; ids of audited items "
                            "must be unique"
                        )
                    found[name] = (position, row)
    for number, name in zip(sheet.numbers, ids, strict=True):
        if name not in found:
            raise DataError(
                f"{sheet.name}: row {number}: there is no id {name!r} in the sample; {CURE}"
            )
    return [found[name] for name in ids]


def _compared(
    sheet: Sheet,
    rows: Sequence[int],
    sample_content: pl.DataFrame,
    shared: Sequence[str],
    drawn_by: str,
) -> list[str]:
    """Reject a sheet whose items are not those of the sample; warn of cells that differ."""
    if not rows:
        return []
    on_sheet, in_sample = (
        comparable(sheet.cells.select(shared)),
        comparable(sample_content.select(shared)),
    )
    agree = np.zeros((len(rows), len(shared)), dtype=bool)
    for j, name in enumerate(shared):
        agree[:, j] = (on_sheet[name] == in_sample[name]).to_numpy()
    exact = agree.all(axis=1) if shared else np.zeros(len(rows), dtype=bool)
    checks = zip(content_check(sample_content), sheet.cells[CHECK], strict=True)
    exact |= np.array([check == content_of(given) for check, given in checks])
    # A few cells may have been edited, or changed by a spreadsheet; most rows must be unchanged.
    close = agree.mean(axis=1) >= 0.5 if shared else exact
    acceptable = exact | (close & (exact.mean() >= 0.5))
    if not acceptable.all():
        first = int(np.flatnonzero(~exact)[0])
        raise DataError(
            f"{sheet.name}: row {sheet.numbers[first]}: item {rows[first]} of the sample has "
            "different content; the sheet belongs to another table, or the rows were reordered: "
            f"draw a new one ({drawn_by})"
        )
    n_edited = int((~exact).sum())
    if n_edited:
        return [f"{sheet.name}: {n_edited} items have cells that differ from the sample's"]
    return []


def _by_content(sheet: Sheet, model: Model, samples: Sequence[OpenTable]) -> list[Place]:
    content = list(model.columns.content)
    for name in content:
        if name not in sheet.cells.columns:
            raise DataError(
                f"{sheet.name}: has neither a column {ITEM!r} nor the column {name!r} to identify "
                f"items by; {CURE}"
            )
    keys = _keys(comparable(sheet.cells.select(content)))
    wanted, places = set(keys), defaultdict(list)
    for position, table in enumerate(samples):
        with closing(table.chunks(content)) as chunks:
            for chunk in chunks:
                row_keys = _keys(comparable(chunk.columns.select(content)))
                for row, key in enumerate(row_keys, start=chunk.first):
                    if key in wanted:
                        places[key].append((position, row))
    found = []
    for number, key in zip(sheet.numbers, keys, strict=True):
        # Items with equal content get their labels in the order of the sheet.
        if not places[key]:
            raise DataError(f"{sheet.name}: row {number} is not an item of the sample; {CURE}")
        found.append(places[key].pop(0))
    return found


def _rows_of(
    table: OpenTable, columns: Sequence[str], wanted: Mapping[Any, int]
) -> tuple[dict[int, pl.DataFrame], int]:
    """The wanted rows of a table, each as a frame of one row, and how many rows the table has."""
    rows: dict[int, pl.DataFrame] = {}
    last = 0
    with closing(table.chunks(columns)) as chunks:
        for chunk in chunks:
            last = chunk.first + len(chunk) - 1
            for row in wanted.keys() & set(range(chunk.first, last + 1)):
                rows[row] = chunk.columns[row - chunk.first]
    return rows, last


def _distinct(sheet: Sheet, keys: Sequence[Any], shown: Any) -> dict[Any, int]:
    """The keys and the rows of the sheet that have them; no key may occur twice."""
    rows: dict[Any, int] = {}
    for number, key in zip(sheet.numbers, keys, strict=True):
        if key in rows:
            raise DataError(
                f"{sheet.name}: {shown(key)} is labelled twice (rows {rows[key]} and {number}); "
                "remove one"
            )
        rows[key] = number
    return rows


def _keys(cells: pl.DataFrame) -> list[str]:
    return cells.select(pl.concat_str(pl.all(), separator="\x1f")).to_series().to_list()


def _code(name: str, model: Model, where: str) -> int:
    name = known_spellings([name], model.classes).get(name, name)
    if name not in model.classes:
        raise DataError(f"{where}: {unknown_name('label', name, model.classes)}")
    return model.classes.index(name)
