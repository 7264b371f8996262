"""Labels that people gave to randomly chosen items of the sample, and the plan that chose them."""

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quantshift.audit import AuditPlan
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.files import write_whole
from quantshift.quantify.columns import Columns, label_name
from quantshift.quantify.model import Model
from quantshift.quantify.pool import Pool, digest
from quantshift.quantify.reading import Source, open_table

ITEM = "item"
"""Column of the items' row numbers in the sample, from 1, as `audit-plan` writes it."""


@dataclass(frozen=True)
class Labels:
    """Codes of the labelled items by their position in the pool, and what to warn of."""

    codes: Mapping[int, int]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AuditSheet:
    """A plan and the row numbers of its items in the sample, from 1, in random order."""

    plan: AuditPlan
    sample: Source
    columns: Columns
    rows: tuple[int, ...]


def write_audit_sheet(sheet: AuditSheet, path: str | Path) -> None:
    """The items to label as CSV: their number, an empty label, and all columns of the sample."""
    table = open_table(sheet.sample, name="the sample")
    label = sheet.columns.label or "label"
    shown = [name for name in table.columns if name not in (ITEM, label)]
    wanted = dict.fromkeys(sheet.rows)
    found: dict[int, list[Any]] = {}
    for chunk in table.chunks(shown):
        for offset, cells in enumerate(zip(*(chunk.columns[n] for n in shown), strict=True)):
            if chunk.first + offset in wanted:
                found[chunk.first + offset] = list(cells)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([ITEM, label, *shown])
    writer.writerows([row, "", *found[row]] for row in sheet.rows)
    write_whole(Path(path), text.getvalue().encode())


def read_audit(source: Source, model: Model, pool: Pool, *, n_tables: int) -> Labels:
    """The labels of an audited table, each found again among the items of the sample.

    By the column `item` if the table has one and there is one sample; else by the content.
    """
    label = model.columns.label
    if label is None:
        raise UserError("an audit needs the column of the labels; name it with --label")
    table = open_table(source, name="the audited table")
    by_number = ITEM in table.columns and n_tables == 1
    keys = [ITEM] if by_number else list(model.columns.content)
    places = _places(pool, by_number=by_number)
    codes: dict[int, int] = {}
    unlabelled = 0
    for chunk in table.chunks([*keys, label]):
        for offset, cells in enumerate(
            zip(*(chunk.columns[k] for k in [*keys, label]), strict=True)
        ):
            row, key, given = chunk.first + offset, cells[:-1], cells[-1]
            if given is None:
                unlabelled += 1
                continue
            place = places.get(_key(key, model, by_number=by_number), [])
            if not place:
                raise DataError(
                    f"{table.name}: row {row} is no item of the sample; audit items of the sample "
                    "itself (quantshift audit-plan draws them)"
                )
            codes[place.pop()] = _code(label_name(given), model, f"{table.name}: row {row}")
    warnings = []
    if unlabelled:
        warnings.append(
            f"{table.name}: {unlabelled} rows have no label; if these are the hard ones the audit "
            "is biased"
        )
    return Labels(codes, tuple(warnings))


def _places(pool: Pool, *, by_number: bool) -> dict[bytes | int, list[int]]:
    """Positions of items by number or by content; equal contents have several."""
    keys: Sequence[bytes | int] = pool.numbers.tolist() if by_number else pool.digests
    places: defaultdict[bytes | int, list[int]] = defaultdict(list)
    for position, key in enumerate(keys):
        places[key].append(position)
    return places


def _key(cells: tuple[object, ...], model: Model, *, by_number: bool) -> bytes | int:
    try:
        if by_number:
            return int(float(str(cells[0])))
        if model.columns.kind == "text":
            return digest(str(cells[0]))
        return digest(np.array([float(str(cell)) for cell in cells]))
    except ValueError:
        return -1


def _code(name: str, model: Model, where: str) -> int:
    if name not in model.classes:
        raise DataError(f"{where}: {unknown_name('label', name, model.classes)}")
    return model.classes.index(name)
