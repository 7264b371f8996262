"""The items of tables that the rows of a sheet are about: by number, by id or by their content."""

from collections import defaultdict
from collections.abc import Sequence, Set
from contextlib import closing

import numpy as np

from quantshift.claims.findings import Finding
from quantshift.errors import DataError
from quantshift.labelling.findings import SheetFindings
from quantshift.labelling.sheets.content import content_check, content_keys, texts_of
from quantshift.labelling.sheets.filled import FilledSheet, rows_by_key
from quantshift.labelling.sheets.sheet_columns import CHECK, ITEM, OWN, Texts, content_of
from quantshift.tables.columns.cell_names import names_of, names_of_texts
from quantshift.tables.files.spreadsheet_cells import comparable
from quantshift.tables.reading import OpenTable

Location = tuple[int, int]
"""A table's position among several, and a row in it, from 1."""


def rows_by_number(
    sheet: FilledSheet,
    sample: OpenTable,
    columns: Sequence[str],
    *,
    label: str,
    drawn_by: str,
) -> tuple[list[int], list[Finding]]:
    """The rows of the sample that correspond to the items of a sheet, and findings.

    sheet: one in the order of its plan, hence with numbers of items. columns: those by which
    content is compared. drawn_by: the command that draws such a sheet.
    """
    rows = [int(float(cell or "")) for cell in sheet.cells[ITEM]]
    numbers = rows_by_key(sheet, rows, lambda row: f"item {row}")
    reserved = {*OWN, label}
    shared = [n for n in columns if n in sheet.cells and n not in reserved]
    content, positions, n_rows = _rows_of(sample, columns, numbers.keys())
    for number, row in zip(sheet.numbers, rows, strict=True):
        if row not in positions:
            raise DataError(
                f"{sheet.name}: row {number}: item {row} of a sample of {n_rows} rows; "
                f"{_cure(drawn_by)}"
            )
    in_order = [positions[row] for row in rows]
    sample_content = {name: [texts[i] for i in in_order] for name, texts in content.items()}
    return rows, _compared(sheet, rows, sample_content, shared, drawn_by)


def rows_by_id(
    sheet: FilledSheet, column: str, samples: Sequence[OpenTable], *, drawn_by: str
) -> list[Location]:
    """The locations of the items whose ids are on the sheet."""
    ids = [name or "" for name in names_of_texts(sheet.cells[column])]
    labelled = rows_by_key(sheet, ids, lambda id_: f"id {id_!r}")
    locations: dict[str, Location] = {}
    for position, table in enumerate(samples):
        with closing(table.chunks([column])) as chunks:
            for chunk in chunks:
                names = names_of(chunk.columns[column])
                for row, name in enumerate(names, start=chunk.first):
                    if not name or name not in labelled:
                        continue
                    if name in locations:
                        raise DataError(
                            f"{table.name}: row {row}: duplicate id {name!r}; ids of audited items "
                            "must be unique"
                        )
                    locations[name] = (position, row)
    for number, name in zip(sheet.numbers, ids, strict=True):
        if name not in locations:
            raise DataError(
                f"{sheet.name}: row {number}: there is no id {name!r} in the sample; "
                f"{_cure(drawn_by)}"
            )
    return [locations[name] for name in ids]


def rows_by_content(
    sheet: FilledSheet, content: Sequence[str], samples: Sequence[OpenTable], *, drawn_by: str
) -> list[Location]:
    """The locations of the items with the same cells in the columns of the content."""
    for name in content:
        if name not in sheet.cells:
            raise DataError(
                f"{sheet.name}: has neither a column {ITEM!r} nor the column {name!r} to identify "
                f"items by; {_cure(drawn_by)}"
            )
    keys = content_keys({name: sheet.cells[name] for name in content})
    labelled, locations = set(keys), defaultdict(list)
    for position, table in enumerate(samples):
        with closing(table.chunks(content)) as chunks:
            for chunk in chunks:
                row_keys = content_keys(texts_of(chunk.columns.select(content)))
                for row, key in enumerate(row_keys, start=chunk.first):
                    if key in labelled:
                        locations[key].append((position, row))
    matched = []
    for number, key in zip(sheet.numbers, keys, strict=True):
        # Items with equal content get their labels in the order of the sheet.
        if not locations[key]:
            raise DataError(
                f"{sheet.name}: row {number} is not an item of the sample; {_cure(drawn_by)}"
            )
        matched.append(locations[key].pop(0))
    return matched


def _compared(
    sheet: FilledSheet,
    rows: Sequence[int],
    sample_content: Texts,
    shared: Sequence[str],
    drawn_by: str,
) -> list[Finding]:
    """Reject a sheet whose items are not those of the sample; find cells that differ."""
    if not rows:
        return []
    agree = np.zeros((len(rows), len(shared)), dtype=bool)
    for j, name in enumerate(shared):
        both = zip(comparable(sheet.cells[name]), comparable(sample_content[name]), strict=True)
        agree[:, j] = [on_sheet == in_sample for on_sheet, in_sample in both]
    exact = agree.all(axis=1) if shared else np.zeros(len(rows), dtype=bool)
    checks = zip(content_check(sample_content), sheet.cells[CHECK], strict=True)
    exact |= np.array([check == content_of(written) for check, written in checks])
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
        return [SheetFindings.EDITED_CELLS.found(table=sheet.name, n=n_edited)]
    return []


def _rows_of(
    table: OpenTable, columns: Sequence[str], numbers: Set[int]
) -> tuple[dict[str, list[str | None]], dict[int, int], int]:
    """Some rows of a table, their positions among these by number, and how many rows it has."""
    content: dict[str, list[str | None]] = {name: [] for name in columns}
    positions: dict[int, int] = {}
    last = 0
    with closing(table.chunks(columns)) as chunks:
        for chunk in chunks:
            last = chunk.first + len(chunk) - 1
            rows = [row for row in range(chunk.first, last + 1) if row in numbers]
            positions |= {row: len(positions) + i for i, row in enumerate(rows)}
            taken = chunk.columns[[row - chunk.first for row in rows]]
            for name, texts in texts_of(taken).items():
                content[name] += texts
    return content, positions, last


def _cure(drawn_by: str) -> str:
    return f"audit items of the sample itself ({drawn_by} draws them)"
