"""An audit of a sketch: labelled items with their scores, in the order of labelling."""

from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from quantshift.base.types import Codes, Posteriors, Reals
from quantshift.claims.findings import Finding
from quantshift.errors import DataError
from quantshift.labelling.sheets.filled import (
    count_gaps,
    place_in_order,
    without_labels,
)
from quantshift.labelling.sheets.sheet_columns import PLACE
from quantshift.quantifying.training.model import Model
from quantshift.sketches.about import CELL
from quantshift.sketches.cells import rounded
from quantshift.sketches.cells import score as cells
from quantshift.sketches.counting.counter import ScoreColumns, scored_cells
from quantshift.sketches.counting.source_columns import key_texts
from quantshift.sketches.counting.table_rows import score_rows
from quantshift.sketches.estimating.batches import OwnBatch, batch_name
from quantshift.sketches.findings import SketchFindings
from quantshift.sketches.sketch_table import Sketch
from quantshift.tables.reading import Source, files_of, open_table

MOST_EXPANDED = 1 << 22
"""Items of a batch that are written out one by one for an audit with many looks."""

AUDIT = "the audit"
"""What messages call the table of labelled items."""


@dataclass(frozen=True, eq=False)
class AuditedItems:
    """Labelled items of a batch, in their order."""

    posteriors: Posteriors
    codes: Codes

    def beside(self, batch: OwnBatch) -> tuple[Posteriors, Reals, dict[int, int]]:
        """The cells of a batch and after them these items, which the cells count already.

        Returns the posteriors and counts of these rows, and the codes of the labelled ones by
        position.
        """
        first = len(batch.posteriors)
        return (
            np.concatenate([batch.posteriors, self.posteriors]),
            np.concatenate([batch.counts, np.zeros(len(self.codes))]),
            {first + i: int(code) for i, code in enumerate(self.codes)},
        )

    def uncounted(self, batch: OwnBatch) -> int:
        """How many of these items have scores that the batch does not have, or not as often."""
        if not batch.rows.height:
            return len(self.codes)
        counted: Counter[Hashable] = Counter()
        for key, n in zip(
            _counted_keys(batch), batch.counts.astype(np.int64).tolist(), strict=True
        ):
            counted[key] += n
        return (Counter(_keys(batch, self.posteriors)) - counted).total()

    def among(self, batch: OwnBatch) -> tuple[Posteriors, Reals, dict[int, int]]:
        """The items of a batch one by one, and which of them these are: any of the same cell."""
        n_items = batch.n_items
        if n_items > MOST_EXPANDED:
            raise DataError(
                f"batch {batch.name!r} has {n_items:,} items; an audit with many looks takes up to "
                f"{MOST_EXPANDED:,}: count by smaller batches, or look once"
            )
        ends = np.cumsum(batch.counts).astype(int).tolist()
        ranges: dict[Hashable, list[range]] = defaultdict(list)
        for key, begin, end in zip(_counted_keys(batch), [0, *ends], ends, strict=False):
            ranges[key].append(range(begin, end))
        unused = {key: chain.from_iterable(positions) for key, positions in ranges.items()}
        codes: dict[int, int] = {}
        for key, code in zip(_keys(batch, self.posteriors), self.codes, strict=True):
            position = next(unused.get(key, iter(())), None)
            if position is None:
                raise DataError(
                    f"the audit has an item of batch {batch.name!r} whose score is not among those "
                    "that were counted"
                )
            codes[position] = int(code)
        rows = np.repeat(batch.posteriors, batch.counts.astype(np.int64), axis=0)
        return rows, np.ones(len(rows)), codes


def _counted_keys(batch: OwnBatch) -> list[Hashable]:
    """What the items of each row have in common."""
    if batch.sketch.is_exact:
        return [tuple(row) for row in batch.posteriors.tolist()]
    columns = [CELL] if batch.is_wide else [CELL, *batch.sketch.about.codes]
    return list(batch.rows.select(columns).rows())


def _keys(batch: OwnBatch, posteriors: Posteriors) -> list[Hashable]:
    """The same for items with these posteriors."""
    if batch.sketch.is_exact:
        return [tuple(row) for row in posteriors.tolist()]
    about = batch.sketch.about
    if about.n_classes == 2:
        width = int(cells.width_of(batch.rows[CELL].to_numpy()[:1])[0])
        return [(cell,) for cell in cells.WIDTHS[width].of(posteriors[:, 1]).tolist()]
    largest, codes = rounded.rounded_cells(posteriors[:, np.argsort(batch.order)])
    if batch.is_wide:
        rows = rounded.middles(largest, codes)
        return [(cell,) for cell in about.joint.of(rows, largest).tolist()]
    return [tuple(row) for row in np.column_stack([largest, codes]).tolist()]


def audited_items(
    audit: Source,
    counted: Sketch,
    model: Model,
    order: Sequence[int],
    column_names: Mapping[str, str],
    *,
    sequential: bool = False,
) -> tuple[dict[str, AuditedItems], int, list[Finding]]:
    """The labelled items of each batch, how many rows have no label, and findings about other rows.

    column_names: the names of the columns `label` and `batch`, if they differ. sequential: the
    items are in the order of labelling, which the column `place` has; rows without a label may then
    still be labelled later, and do not count.
    """
    columns = _audit_columns(counted, column_names, sequential=sequential)
    files = files_of(audit)
    if sequential:
        _require_places(files)
    labelled: dict[int, tuple[str, Posteriors, int]] = {}
    places_taken: set[int] = set()
    n_unlabelled = 0
    for row in _audited_rows(files, columns, counted):
        if row.label is None:
            n_unlabelled += 1
            continue
        place = _checked_place(row.place, places_taken) if sequential else len(places_taken)
        places_taken.add(place)
        if row.posteriors is not None:
            code = _code(row.label, model)
            labelled[place] = batch_name(counted, row.batch), row.posteriors[list(order)], code
    if not labelled:
        raise DataError(
            "the audit has no row with a label and a score; fill in the column "
            f"{columns.label!r}, and run this again"
        )
    findings: list[Finding] = []
    if sequential:
        count_gaps(AUDIT, places_taken, sequential=True)
        n_unlabelled = 0
    if n_unlabelled:
        findings.append(without_labels(AUDIT, n_unlabelled))
    if n_unscored := len(places_taken) - len(labelled):
        findings.append(SketchFindings.UNSCORED_LABELS.found(table=AUDIT, n=n_unscored))
    return _by_batch(labelled[place] for place in sorted(labelled)), n_unlabelled, findings


class _AuditedRow(NamedTuple):
    """A row of an audited table. posteriors: None if a score is missing or not usable."""

    label: str | None
    batch: str | None
    place: str | None
    posteriors: Posteriors | None


def _audit_columns(
    counted: Sketch, column_names: Mapping[str, str], *, sequential: bool
) -> ScoreColumns:
    classes = counted.about.classes
    single = len(classes) == 1
    return ScoreColumns.of(
        classes[0] if single else None,
        () if single else classes,
        column_names.get("batch", "batch") if counted.batches != [None] else None,
        [PLACE] if sequential else [],
        column_names.get("label", "label"),
    )


def _audited_rows(
    files: Iterable[Source], columns: ScoreColumns, counted: Sketch
) -> Iterator[_AuditedRow]:
    for rows in chain.from_iterable(score_rows(file, columns) for file in files):
        posteriors, cell = scored_cells(rows, columns)
        if counted.about.n_classes == 2:
            posteriors = np.column_stack([1 - posteriors[:, -1], posteriors[:, -1]])
        else:
            posteriors = posteriors / posteriors.sum(axis=1, keepdims=True)
        keys = [
            key_texts(rows[key]).to_list() if key in columns.keys else [None] * rows.height
            for key in (columns.label, columns.batch, PLACE)
        ]
        for row, is_usable, label, batch, place in zip(posteriors, cell >= 0, *keys, strict=True):
            yield _AuditedRow(label, batch, place, row if is_usable else None)


def _code(label: str, model: Model) -> int:
    if label not in model.classes:
        raise DataError(
            f"the audit has a label {label!r}; the classes are {', '.join(model.classes)}"
        )
    return model.classes.index(label)


def _by_batch(items: Iterable[tuple[str, Posteriors, int]]) -> dict[str, AuditedItems]:
    """Items in the order of labelling, by batch."""
    batches: dict[str, list[tuple[Posteriors, int]]] = defaultdict(list)
    for batch, posteriors, code in items:
        batches[batch].append((posteriors, code))
    return {
        batch: AuditedItems(
            np.array([row for row, _ in rows]), np.array([code for _, code in rows])
        )
        for batch, rows in batches.items()
    }


def uncounted_items(
    audited: Mapping[str, AuditedItems], batches: Mapping[str, OwnBatch]
) -> list[Finding]:
    """Labelled items that cannot be among those that the batches have counted."""
    matched = {name: items for name, items in audited.items() if name in batches}
    n = sum(items.uncounted(batches[name]) for name, items in matched.items())
    if not n:
        return []
    n_items = sum(len(items.codes) for items in matched.values())
    return [SketchFindings.UNCOUNTED_ITEMS.found(table=AUDIT, n=n, n_items=n_items)]


def _require_places(files: Sequence[Source]) -> None:
    for file in files:
        table = open_table(file, name="the audited table")
        if PLACE not in table.columns:
            raise DataError(
                f"{table.name}: a sequential audit needs the order of labelling: number the items "
                f"in a column {PLACE!r}, from 1"
            )


def _checked_place(cell: str | None, taken: Container[int]) -> int:
    place = place_in_order(AUDIT, cell)
    if place in taken:
        raise DataError(f"the audit: place {place} is labelled twice; number the items from 1")
    return place
