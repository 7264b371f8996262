"""Labels that people gave to randomly chosen items of the sample."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from quantshift.data.reading import Chunk, Source, open_table
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.own_data.columns import label_name
from quantshift.own_data.model import Model
from quantshift.own_data.pool import Pool, Wanted, digest

ITEM = "item"
"""Column of the items' row numbers in the sample, from 1, as `audit-plan` writes it."""


@dataclass(frozen=True, eq=False)
class AuditTable:
    """The labelled rows of an audited table, and what to warn of.

    rows: number, key and code of each; wanted: the distinct keys.
    """

    name: str
    rows: tuple[tuple[int, bytes | int, int], ...]
    wanted: Wanted
    warnings: tuple[str, ...]


def read_audit(source: Source, model: Model, *, n_tables: int) -> AuditTable:
    """The labels of an audited table.

    Its items are known by the column `item` if the table has one and there is one sample; else by
    their content.
    """
    label = model.columns.label
    if label is None:
        raise UserError("an audit needs the column of the labels; name it", arguments=["label"])
    table = open_table(source, name="the audited table")
    by_number = ITEM in table.columns and n_tables == 1
    keys = [ITEM] if by_number else list(model.columns.content)
    rows: list[tuple[int, bytes | int, int]] = []
    unlabelled = 0
    with closing(table.chunks([*keys, label])) as chunks:
        for number, *key, given in numbered(chunks, [*keys, label]):
            if given is None:
                unlabelled += 1
                continue
            code = _code(label_name(given), model, f"{table.name}: row {number}")
            rows.append((number, _key(key, model, by_number=by_number), code))
    distinct = dict.fromkeys(key for _, key, _ in rows)
    warnings = []
    if unlabelled:
        warnings.append(
            f"{table.name}: {unlabelled} rows have no label; if these are the hard ones the audit "
            "is biased"
        )
    return AuditTable(
        name=table.name,
        rows=tuple(rows),
        wanted=Wanted({key: i for i, key in enumerate(distinct)}, by_number),
        warnings=tuple(warnings),
    )


def audited_codes(audit: AuditTable, pool: Pool) -> dict[int, int]:
    """Codes of the labelled items by their position in the pool."""
    places: defaultdict[int, list[int]] = defaultdict(list)
    for position in np.flatnonzero(pool.marks >= 0).tolist():
        places[int(pool.marks[position])].append(position)
    codes: dict[int, int] = {}
    for number, key, code in audit.rows:
        # Items of equal content are labelled one after the other.
        place = places[audit.wanted.keys[key]]
        if not place:
            raise DataError(
                f"{audit.name}: row {number} is no item of the sample; audit items of the sample "
                "itself (quantshift audit-plan draws them)"
            )
        codes[place.pop()] = code
    return codes


def numbered(chunks: Iterable[Chunk], names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The rows: their numbers in the table, and the cells of the named columns."""
    for chunk in chunks:
        cells = zip(*(chunk.columns[name] for name in names), strict=True)
        for number, row in enumerate(cells, start=chunk.first):
            yield number, *row


def _key(cells: Sequence[object], model: Model, *, by_number: bool) -> bytes | int:
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
