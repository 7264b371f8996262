"""Labels that people gave to randomly chosen items of the sample.

An audited table identifies its items by an id, if the sample has one. On a sheet that `plan
quantify` has drawn they have their row number in the sample, and their content must match the
sample's; otherwise they are found by their content alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quantshift.claims.findings import Finding
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.labelling.sheets.filled import (
    count_gaps,
    in_order_of_places,
    in_order_of_plan,
    is_drawn,
    read_sheet,
    require_labels,
    skipped,
    without_labels,
)
from quantshift.labelling.sheets.matching import rows_by_content, rows_by_id, rows_by_number
from quantshift.labelling.sheets.sheet_columns import OWN
from quantshift.quantifying.options import ColumnOptions
from quantshift.quantifying.reading.pool import ItemsToFind, Pool
from quantshift.quantifying.training.model import Model
from quantshift.tables.columns.spelling import known_spellings
from quantshift.tables.reading import OpenTable, Source, open_table

DRAWN_BY = "quantshift plan quantify"


@dataclass(frozen=True, eq=False)
class AuditTable:
    """The labelled rows of an audited table, located in the samples, and findings.

    rows: row number and class code of each; to_find: where each is, in the same order.
    skipped: how many other rows may have been left without a label for what they are.
    """

    name: str
    rows: tuple[tuple[int, int], ...]
    to_find: ItemsToFind
    findings: tuple[Finding, ...]
    skipped: int


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
        sheet = in_order_of_places(sheet, drawn_by=DRAWN_BY)
    require_labels(sheet, model.columns.label)
    codes = [
        _code(name, model, f"{sheet.name}: row {number}")
        for number, name in zip(sheet.numbers, sheet.labels, strict=True)
    ]
    sheet_columns = set(sheet.cells)
    if sequential:
        count_gaps(sheet.name, sheet.places or (), sequential=True)
    n_skipped = skipped(sheet)
    findings = [without_labels(sheet.name, n_skipped)] if n_skipped else []
    if id_ is not None and id_ in sheet_columns:
        places = rows_by_id(sheet, id_, samples, drawn_by=DRAWN_BY)
    elif drawn and len(samples) == 1:
        content, reserved = model.columns.content, model.columns.label
        rows, edited = rows_by_number(sheet, samples[0], content, label=reserved, drawn_by=DRAWN_BY)
        places = [(0, row) for row in rows]
        findings += edited
    else:
        places = rows_by_content(sheet, model.columns.content, samples, drawn_by=DRAWN_BY)
    return AuditTable(
        name=sheet.name,
        rows=tuple(zip(sheet.numbers, codes, strict=True)),
        to_find=ItemsToFind({place: i for i, place in enumerate(places)}),
        findings=tuple(findings),
        skipped=n_skipped,
    )


def audited_codes(audit: AuditTable, pool: Pool) -> dict[int, int]:
    """Codes of the labelled items by their position in the pool."""
    positions = np.flatnonzero(pool.marks >= 0)
    position_of = dict(zip(pool.marks[positions].tolist(), positions.tolist(), strict=True))
    for i, (number, _) in enumerate(audit.rows):
        if i not in position_of:
            raise DataError(
                f"{audit.name}: row {number} is an item that was left out of the sample; remove "
                "its label"
            )
    return {position_of[i]: code for i, (_, code) in enumerate(audit.rows)}


def _code(name: str, model: Model, where: str) -> int:
    name = known_spellings([name], model.classes).get(name, name)
    if name not in model.classes:
        raise DataError(f"{where}: {unknown_name('label', name, model.classes)}")
    return model.classes.index(name)
