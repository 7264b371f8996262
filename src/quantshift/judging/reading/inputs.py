"""A table of verdicts, some of them with labels: read, joined, and turned into codes.

Labels stand in a column of the same table, partly filled; or in a second table, whose rows are
found in the first by an id or, on a sheet that `plan judge` has drawn, by their number; or they are
of other items altogether, with verdicts of their own. No row is lost without being counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quantshift.answers.batch_names import NO_GROUP, title_of
from quantshift.answers.rows import NO_LABEL, RAGGED, Rows, undecodable_cells
from quantshift.base.types import Codes, Flags
from quantshift.claims.findings import Finding
from quantshift.claims.sentences import filled
from quantshift.errors import DataError, UserError
from quantshift.judging.findings import CHANGED_VERDICTS, JudgeTableFindings
from quantshift.judging.items.annotators import Votes, majority
from quantshift.judging.items.meaning import Meaning, guessed_map, meaning, two_labels
from quantshift.judging.reading.options import JudgeOptions
from quantshift.labelling.sheets.filled import (
    FilledSheet,
    in_order_of_plan,
    is_drawn,
    left_open,
    read_sheet,
    require_labels,
)
from quantshift.labelling.sheets.matching import rows_by_number
from quantshift.labelling.sheets.sheet_columns import OWN, PROBABILITY
from quantshift.tables.columns.cell_names import as_numbers, names_of, names_of_texts
from quantshift.tables.columns.findings import TableFindings
from quantshift.tables.columns.labels import label_names
from quantshift.tables.columns.spelling import (
    is_number,
    known_spellings,
    odd_labels,
    respelt_labels,
    spelling_key,
    usual_spellings,
)
from quantshift.tables.reading import OpenTable, Source, check_once, open_table

if TYPE_CHECKING:
    import polars as pl

NO_VERDICT, NO_SCORE = "no verdict", "no score"
"""Why rows are left out."""

NONE_GIVEN = "(none)"
"""The verdict of a judge that is silent where another speaks."""

MUCH = 0.05
"""A verdict that another table lacks is not just a rare one if at least this share has it."""

MOST_CHANGED = 0.5
"""The share of the disagreement by chance that the verdicts about the same items may have."""

DRAWN_BY = "quantshift plan judge"


Columns: TypeAlias = "Mapping[str, pl.Series]"
"""Columns of a table by their names."""


@dataclass(frozen=True, eq=False)
class ReadItems:
    """The items of a table, or those labelled elsewhere.

    numbers: of their rows, from 1. verdicts: codes, (n_items, n_judges); None with scores alone.
    labels: codes of classes, -1 where there is none. inclusion: the probability with which a
    labelled item was chosen, NaN for the others; None if unknown. clusters: codes, the same in
    both tables; weights: how much each item counts. other_labels: where people are undecided, the
    label that as many of them gave; else the same.
    """

    numbers: NDArray[np.int64]
    verdicts: Codes | None
    score: NDArray[np.float64] | None
    labels: Codes
    ids: tuple[str | None, ...] | None = None
    groups: tuple[str, ...] | None = None
    inclusion: NDArray[np.float64] | None = None
    clusters: Codes | None = None
    weights: NDArray[np.float64] | None = None
    other_labels: Codes | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def labelled(self) -> Flags:
        """Which items have a label."""
        return np.asarray(self.labels >= 0)

    @property
    def undecided(self) -> Flags:
        """On which of the items people are undecided."""
        if self.other_labels is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.other_labels != self.labels)

    def otherwise_decided(self) -> "ReadItems":
        """The same with the other label where people are undecided."""
        return self if self.other_labels is None else replace(self, labels=self.other_labels)

    def only_decided(self) -> "ReadItems":
        """The same without a label where people are undecided."""
        if not self.undecided.any():
            return self
        return replace(self, labels=np.where(self.undecided, -1, self.labels))

    def take(self, positions: NDArray[Any]) -> "ReadItems":
        """Some of the items, in the order of the positions."""
        return ReadItems(
            self.numbers[positions],
            None if self.verdicts is None else self.verdicts[positions],
            None if self.score is None else self.score[positions],
            self.labels[positions],
            None if self.ids is None else tuple(self.ids[i] for i in positions),
            None if self.groups is None else tuple(self.groups[i] for i in positions),
            None if self.inclusion is None else self.inclusion[positions],
            None if self.clusters is None else self.clusters[positions],
            None if self.weights is None else self.weights[positions],
            None if self.other_labels is None else self.other_labels[positions],
        )


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """All that was read; external: items that are not among `items`, all of them labelled.

    beside: further columns of the items; beside_external: of those that are not among them.
    """

    name: str
    table: OpenTable
    items: ReadItems
    external: ReadItems | None
    meaning: Meaning
    rows: tuple[Rows, ...]
    findings: tuple[Finding, ...]
    beside: Columns
    beside_external: "Columns | None" = None
    votes: Votes | None = None


Names: TypeAlias = list[str | None]
"""The names in the cells of a column; None where there is none."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """The rows of a table that can be used, as names and numbers, before they are codes.

    same_item: without a column of ids, what the format of the table says to be alike in rows about
    one item.
    """

    table: OpenTable
    numbers: NDArray[np.int64]
    verdicts: tuple[list[str], ...]
    score: NDArray[np.float64] | None
    labels: Names
    ids: Names | None
    groups: list[str] | None
    rows: Rows
    findings: tuple[Finding, ...]
    beside: Columns
    inclusion: NDArray[np.float64] | None = None
    clusters: Names | None = None
    weights: NDArray[np.float64] | None = None
    other_labels: Names | None = None
    votes: Votes | None = None
    people: Names | None = None
    same_item: Names | None = None

    def take(self, positions: NDArray[Any]) -> "_Cells":
        """Some of the rows, in the order of the positions; what is about the table stays."""
        rows = positions.tolist()
        columns: dict[str, Any] = {}
        for field in fields(self):
            column = getattr(self, field.name)
            if isinstance(column, np.ndarray):
                columns[field.name] = column[positions]
            elif isinstance(column, list):
                columns[field.name] = [column[i] for i in rows]
        verdicts = tuple([column[i] for i in rows] for column in self.verdicts)
        votes = None if self.votes is None else tuple(self.votes[i] for i in rows)
        beside = {name: column[rows] for name, column in self.beside.items()}
        return replace(self, **columns, verdicts=verdicts, votes=votes, beside=beside)


def read_judged(
    table: Source, labelled: Source | None, options: JudgeOptions, *, labels_needed: bool = True
) -> JudgedTable:
    """The table, with the labels that are in it or in a second table."""
    if not options.verdict and options.score is None:
        raise UserError(
            "name the column of the verdicts, or that of a score", arguments=["verdict", "score"]
        )
    _check_roles(options)
    opened = open_table(table, name="the table", lenient=options.lenient)
    if labelled is None and {*OWN, PROBABILITY} <= set(opened.columns):
        raise UserError(
            f"{opened.name} is a sheet of {DRAWN_BY}, and its items are not all items: name the "
            "table that they were drawn from, and the sheet as the table of the labels",
            arguments=["labelled"],
        )
    has_labels = options.label is not None and options.label in opened.columns
    if options.people:
        opened.require(options.people)
    elif labels_needed and options.label is not None and labelled is None:
        opened.require([options.label])
    if labelled is not None and (options.people or options.annotator is not None):
        raise UserError(
            "labels of several people are columns or rows of the table itself; leave out the other "
            "table",
            arguments=["labelled"],
        )
    beside = None
    if labelled is not None:
        if options.label is None:
            raise UserError("name the column of the labels", arguments=["label"])
        _check_another(table, labelled)
        beside = open_table(labelled, name="the labelled table", lenient=options.lenient)
    is_sheet = beside is not None and not options.external and is_drawn(beside, opened.columns)
    of_others = options.external or (not is_sheet and options.id is None)
    read = options
    if beside is not None and of_others:
        # Judges may err by columns of either table.
        read = options.scanning_only(opened.columns)
    cells = _cells(opened, read, options.label if has_labels else None)
    if options.annotator is not None:
        cells = _one_row_an_item(cells, options)
    if beside is None:
        return _coded(cells, None, [], options)
    if of_others:
        return _coded(cells, _labelled_elsewhere(beside, options), [], options)
    join = _with_sheet if is_sheet else _with_labels_by_id
    cells, rows = join(cells, beside, options)
    return _coded(cells, None, [rows], options)


def _check_another(table: Source, labelled: Source) -> None:
    """Refuse the same table for both: its labels would be counted twice."""
    if labelled is table and not isinstance(table, str | Path):
        raise UserError(
            "the labelled table is the table itself, whose labels are read anyway; leave it out",
            arguments=["labelled"],
        )
    check_once([table, labelled])


def _check_roles(options: JudgeOptions) -> None:
    roles: dict[str, str] = {}
    columns = [(name, "a verdict") for name in options.verdict]
    columns += [(name, "a label") for name in options.people]
    others = (
        (None if options.people else options.label, "the label"),
        (options.score, "the score"),
        (options.weights, "the weight"),
    )
    columns += [(name, role) for name, role in others if name]
    for name, role in columns:
        if name in roles:
            raise UserError(f"column {name!r} is {roles[name]} and cannot be {role} as well")
        roles[name] = role
    # These may be one column, but none of those above.
    several = (
        (options.id, "the id"),
        (options.cluster, "the cluster"),
        (options.annotator, "the annotator"),
    )
    for column, role in several:
        if column in roles:
            raise UserError(f"column {column!r} is {roles[column]} and cannot be {role} as well")
    if options.by is not None and options.by == options.label:
        raise UserError(
            f"column {options.by!r} is the label; groups need another", arguments=["by"]
        )


def _cells(table: OpenTable, options: JudgeOptions, label: str | None) -> _Cells:
    beside = options.beside(table.columns)
    labels = [label] if label is not None else []
    has_names = options.id or options.cluster or options.annotator
    identity = () if has_names is not None else table.identity
    names = list(dict.fromkeys([*options.columns, *labels, *options.people, *beside]))
    table.require(names)
    names += [name for name in identity if name not in names]
    with closing(table.chunks(names)) as chunks:
        parts = list(chunks)
    ragged = sum(part.ragged for part in parts)
    columns = table.joined(parts, names)
    n_rows = len(columns)
    verdicts = [label_names(columns[name]).to_list() for name in options.verdict]
    silent = np.logical_and.reduce([_missing(v) for v in verdicts]) if verdicts else None
    score = None if options.score is None else _numbers(columns[options.score], table.name)
    none = np.zeros(n_rows, dtype=bool)
    no_verdict = none if silent is None else silent
    no_score = none if score is None else np.isnan(score) & ~no_verdict
    positions = np.flatnonzero(~no_verdict & ~no_score)
    left_out = {NO_VERDICT: no_verdict.sum(), NO_SCORE: no_score.sum(), RAGGED: ragged}
    rows = _rows(table, n_rows + ragged, len(positions), left_out)
    lost = 0 if label is None else _labelled_but_left_out(columns[label], options, positions)
    if len(positions) < n_rows:
        columns = columns[positions]
        verdicts = [[column[i] for i in positions] for column in verdicts]

    def named(column: str | None) -> Names | None:
        return None if column is None else names_of(columns[column]).to_list()

    votes = _votes(columns, len(positions), options) if options.people else None
    decided, other_labels = _labels(columns, len(positions), label, votes, options)
    findings = [finding.in_table(table.name) for finding in table.findings]
    findings += undecodable_cells(table.name, sum(part.undecodable for part in parts))
    if lost:
        findings.append(JudgeTableFindings.LABELLED_BUT_LEFT_OUT.found(table=rows.source, n=lost))
    return _Cells(
        table,
        positions + 1,
        tuple(_filled(column, NONE_GIVEN) for column in verdicts),
        None if score is None else score[positions],
        decided,
        named(options.id),
        None if options.by is None else _filled(names_of(columns[options.by]), NO_GROUP),
        rows,
        tuple(findings),
        {name: columns[name] for name in beside},
        clusters=named(options.cluster),
        weights=None
        if options.weights is None
        else _weights(columns[options.weights], positions, table),
        other_labels=other_labels,
        votes=votes,
        people=named(options.annotator),
        same_item=_joined_names([names_of(columns[name]).to_list() for name in identity]),
    )


def _joined_names(columns: Sequence[Names]) -> Names | None:
    """The names in the cells of several columns as one; None if the last of them is missing."""
    if not columns:
        return None
    rows = zip(*columns, strict=True)
    return [None if row[-1] is None else "\x1f".join(name or "" for name in row) for row in rows]


def _missing(names: Names) -> Flags:
    return np.array([name is None for name in names], dtype=bool)


def _filled(names: Iterable[str | None], otherwise: str) -> list[str]:
    """The names, with another one where there is none."""
    return [otherwise if name is None else name for name in names]


def _present(names: Iterable[str | None]) -> Iterator[str]:
    """The names that are not missing."""
    return (name for name in names if name is not None)


def _replaced(names: Iterable[Any], others: Mapping[str, str]) -> list[Any]:
    """The names, some of them replaced."""
    return [others.get(name, name) for name in names]


def _labels(
    columns: "pl.DataFrame",
    n_rows: int,
    label: str | None,
    votes: Votes | None,
    options: JudgeOptions,
) -> tuple[Names, Names | None]:
    """The label of each row, and where people are undecided the other one."""
    if votes is not None:
        return _decided(votes)
    if label is not None:
        return label_names(columns[label], options.missing).to_list(), None
    return [None] * n_rows, None


def _decided(votes: Votes) -> tuple[Names, Names]:
    both = [majority(item_votes) for item_votes in votes]
    return [one for one, _ in both], [other for _, other in both]


def _votes(columns: "pl.DataFrame", n_rows: int, options: JudgeOptions) -> Votes:
    """What each person says about each row, in one spelling."""
    people = columns.select(options.people)
    names = {p.name: label_names(p, options.missing).to_list() for p in people}
    counts = Counter(name for column in names.values() for name in _present(column))
    usual = usual_spellings(counts, options.classes)
    labels = {name: _replaced(column, usual) for name, column in names.items()}
    return tuple(
        {name: column[i] for name, column in labels.items() if column[i] is not None}
        for i in range(n_rows)
    )


def _one_row_an_item(cells: _Cells, options: JudgeOptions) -> _Cells:
    """A table with a row for each item and person as one with a row for each item."""
    if cells.ids is None or cells.people is None:
        raise UserError("a column of annotators needs the id of the items", arguments=["id"])
    counts = Counter(_present(cells.labels))
    labels = _replaced(cells.labels, usual_spellings(counts, options.classes))
    groups = [""] * len(labels) if cells.groups is None else cells.groups
    items: dict[tuple[str | None, str], int] = {}
    votes: list[dict[str, str]] = []
    first_rows: list[int] = []
    for i, key in enumerate(zip(cells.ids, groups, strict=True)):
        item = items.setdefault(key, len(votes)) if key[0] is not None else len(votes)
        if item == len(votes):
            votes.append({})
            first_rows.append(i)
        person, label = cells.people[i], labels[i]
        if any(column[i] != column[first_rows[item]] for column in cells.verdicts):
            raise DataError(
                f"{cells.table.name}: row {cells.numbers[i]}: the item {key[0]!r} has another "
                f"verdict than in row {cells.numbers[first_rows[item]]}; an item has one"
            )
        if label is None:
            continue
        if person in votes[item]:
            raise DataError(
                f"{cells.table.name}: row {cells.numbers[i]}: {person!r} labels the item "
                f"{key[0]!r} twice; leave one"
            )
        votes[item][str(person)] = label
    one, other = _decided(tuple(votes))
    item_rows = replace(cells.take(np.array(first_rows, dtype=np.int64)), people=None)
    return replace(item_rows, labels=one, other_labels=other, votes=tuple(votes))


def _rows(table: OpenTable, read: int, used: int, left_out: Mapping[str, int]) -> Rows:
    return Rows(title_of(table), read, used, {why: int(n) for why, n in left_out.items() if n})


def _labelled_but_left_out(
    cells: "pl.Series", options: JudgeOptions, positions: NDArray[Any]
) -> int:
    present = label_names(cells, options.missing).is_not_null().to_numpy()
    return int(present.sum() - present[positions].sum())


def _numbers(column: "pl.Series", name: str) -> NDArray[np.float64]:
    numbers = as_numbers(column)
    odd = np.flatnonzero((numbers.is_null() & column.is_not_null()).to_numpy())
    if len(odd):
        row = int(odd[0])
        raise DataError(
            f"{name}: row {row + 1}: the score {str(column[row])[:20]!r} is not a number; if these "
            "are verdicts, give them as such",
            arguments=["verdict"],
        )
    values = numbers.to_numpy()
    return np.where(np.isfinite(values), values, np.nan)


def _weights(column: "pl.Series", positions: NDArray[Any], table: OpenTable) -> NDArray[np.float64]:
    """The weights in a column; positions: the rows of the table that it comes from."""
    numbers = as_numbers(column).to_numpy()
    wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"{table.name}: row {positions[first] + 1}: the weight {str(column[first])[:20]!r} is "
            "not a number of 0 or more",
            arguments=["weights"],
        )
    if not numbers.any():
        raise DataError(f"{table.name}: all weights are 0", arguments=["weights"])
    return np.asarray(numbers, dtype=np.float64)


def _with_sheet(cells: _Cells, beside: OpenTable, options: JudgeOptions) -> tuple[_Cells, Rows]:
    """The table with the labels of a sheet that was drawn from it."""
    label = options.label or ""
    content = [name for name in cells.table.columns if name != label]
    sheet = read_sheet(
        beside,
        label=label,
        beside=list(dict.fromkeys([*OWN, PROBABILITY, *content])),
        missing=options.missing,
    )
    sheet = in_order_of_plan(sheet, drawn_by=DRAWN_BY, more=[PROBABILITY])
    require_labels(sheet, label)
    rows, edited = rows_by_number(sheet, cells.table, content, label=label, drawn_by=DRAWN_BY)
    positions_by_number = {int(number): i for i, number in enumerate(cells.numbers)}
    positions = [
        _judged_position(positions_by_number.get(row), f"{sheet.name}: row {number}: item {row}")
        for number, row in zip(sheet.numbers, rows, strict=True)
    ]
    cells = _with_labels(cells, sheet, positions)
    inclusion = np.full(len(cells.numbers), np.nan)
    inclusion[positions] = _probabilities(sheet)
    # Nobody knows how labels that are not on the sheet were chosen.
    unplanned = ~_missing(cells.labels) & np.isnan(inclusion)
    extra = []
    if unplanned.any():
        extra.append(
            JudgeTableFindings.LABELS_NOT_ON_SHEET.found(
                table=cells.rows.source, n=int(unplanned.sum()), sheet=title_of(beside)
            )
        )
    labels = [None if out else label for label, out in zip(cells.labels, unplanned, strict=True)]
    found = (*cells.findings, *left_open(sheet), *edited, *extra)
    joined = replace(cells, labels=labels, inclusion=inclusion, findings=found)
    return joined, _rows_of(beside, sheet)


def _judged_position(position: int | None, what: str) -> int:
    """The position of an item of the sheet; refuse one that has no verdict."""
    if position is None:
        raise DataError(f"{what} has no verdict in the table; remove its label")
    return position


def _probabilities(sheet: FilledSheet) -> NDArray[np.float64]:
    import polars as pl

    values = as_numbers(pl.Series(sheet.cells[PROBABILITY], dtype=pl.String)).to_numpy()
    wrong = ~((values > 0) & (values <= 1))
    if wrong.any():
        row = sheet.numbers[int(np.flatnonzero(wrong)[0])]
        raise DataError(
            f"{sheet.name}: row {row}: the column {PROBABILITY!r} has no probability; leave it as "
            f"{DRAWN_BY} wrote it"
        )
    return values


def _with_labels_by_id(
    cells: _Cells, beside: OpenTable, options: JudgeOptions
) -> tuple[_Cells, Rows]:
    """The table with the labels of another, found by their ids (and groups, if both have them)."""
    id_, label = options.id or "", options.label or ""
    keys = [id_, *([options.by] if options.by in beside.columns and options.by is not None else [])]
    beside.require([label, *keys])
    judges = [name for name in options.verdict if name in beside.columns]
    sheet = read_sheet(beside, label=label, beside=[*keys, *judges], missing=options.missing)
    grouped = len(keys) > 1
    keys_of_items = list(
        zip(
            cells.ids if cells.ids is not None else [],
            cells.groups if grouped and cells.groups is not None else [""] * len(cells.numbers),
            strict=True,
        )
    )
    names = names_of_texts(sheet.cells[id_])
    groups = [""] * len(names)
    if grouped:
        groups = _filled(names_of_texts(sheet.cells[keys[1]]), NO_GROUP)
    positions: dict[tuple[str | None, str], int] = {}
    twice: set[tuple[str | None, str]] = set()
    for i, key in enumerate(keys_of_items):
        if key in positions:
            twice.add(key)
        positions[key] = i
    matched, missing = [], []
    seen: dict[tuple[str | None, str], int] = {}
    for number, key in zip(sheet.numbers, zip(names, groups, strict=True), strict=True):
        where = f"{sheet.name}: row {number}: id {key[0]!r}"
        if key in seen:
            raise DataError(f"{where} is labelled twice (row {seen[key]} too); remove one")
        if key in twice:
            raise DataError(
                f"{where} is that of several rows of {cells.rows.source}; ids of "
                "labelled items must be distinct"
            )
        seen[key] = number
        if key not in positions:
            missing.append((number, key[0]))
        matched.append(positions.get(key, -1))
    if missing:
        number, name = missing[0]
        raise DataError(
            f"{sheet.name}: {len(missing)} of {len(seen)} labelled ids are not in "
            f"{cells.rows.source}, the first in row {number} ({name!r}); remove them, or, if these "
            "are other items with verdicts of their own, say that they were labelled elsewhere",
            arguments=["labels"],
        )
    for judge in judges:
        verdicts = cells.verdicts[options.verdict.index(judge)]
        changed = _changed_verdicts(sheet, judge, [verdicts[i] for i in matched], cells.rows.source)
        cells = replace(cells, findings=(*cells.findings, *changed))
    return _with_labels(cells, sheet, matched), _rows_of(beside, sheet)


def _changed_verdicts(
    sheet: FilledSheet, judge: str, here: Sequence[str], source: str
) -> Iterator[Finding]:
    """A finding if the judge says something else about the labelled items in the other table.

    Refused if the two agree hardly more than about different items, as where ids are numbers.
    here: the verdicts of the table, in the order of the sheet.
    """
    there = names_of_texts(sheet.cells[judge])
    pairs = [
        (number, spelling_key(one), spelling_key(other))
        for number, one, other in zip(sheet.numbers, here, there, strict=True)
        if other is not None
    ]
    changed = [number for number, one, other in pairs if one != other]
    if not changed:
        return
    ours, theirs = (Counter(pair[i] for pair in pairs) for i in (1, 2))
    by_chance = len(pairs) - sum(n * theirs[name] for name, n in ours.items()) / len(pairs)
    found = JudgeTableFindings.CHANGED_VERDICTS.found(
        table=sheet.name,
        judge=judge,
        n=len(changed),
        n_items=len(pairs),
        source=source,
        row=changed[0],
    )
    if len(changed) > MOST_CHANGED * by_chance:
        raise DataError(
            f"{sheet.name}: {filled(CHANGED_VERDICTS, found.numbers)}: are the ids those of the "
            "same items? If they are other items, say that they were labelled elsewhere; if the "
            "judge has changed, remove its column there",
            arguments=["labels"],
        )
    yield found


def _rows_of(table: OpenTable, sheet: FilledSheet) -> Rows:
    used = len(sheet.numbers)
    return _rows(table, used + sheet.unlabelled, used, {NO_LABEL: sheet.unlabelled})


def _with_labels(cells: _Cells, sheet: FilledSheet, positions: Sequence[int]) -> _Cells:
    labels = list(cells.labels)
    for number, position, label in zip(sheet.numbers, positions, sheet.labels, strict=True):
        if labels[position] is not None and labels[position] != label:
            raise DataError(
                f"{sheet.name}: row {number} says {label!r} where {cells.rows.source} says "
                f"{labels[position]!r}; decide on one"
            )
        labels[position] = label
    return replace(cells, labels=labels)


def _labelled_elsewhere(beside: OpenTable, options: JudgeOptions) -> _Cells:
    here = [name if name in beside.columns else None for name in (options.cluster, options.weights)]
    read_options = options.scanning_only(beside.columns)
    # Sources of labelled items are read as the groups of the items are.
    read_options = replace(
        read_options, id=None, by=options.source, cluster=here[0], weights=here[1]
    )
    read_options = replace(read_options, first=None, every_column=False)
    cells = _cells(beside, read_options, options.label)
    labelled = ~_missing(cells.labels)
    positions = np.flatnonzero(labelled)
    n_open = int((~labelled).sum())
    left_out = {**cells.rows.left_out, **({NO_LABEL: n_open} if n_open else {})}
    return replace(
        cells.take(positions), rows=replace(cells.rows, used=len(positions), left_out=left_out)
    )


def _coded(
    cells: _Cells,
    others: _Cells | None,
    joined: Sequence[Rows],
    options: JudgeOptions,
) -> JudgedTable:
    """Names become codes, the same in both tables."""
    if not len(cells.numbers):
        raise DataError(f"{cells.table.name}: no row has a verdict or a score; nothing to judge")
    cells, repeated = _repeated_ids(cells)
    both = [cells, *([] if others is None else [others])]
    both, spelled, respelt = _spelled_alike(both, options)
    if others is not None:
        both[1], matched = _matched_verdicts(both[0], both[1], options)
        respelt += matched
    verdicts = {
        name: _distinct([part.verdicts[j] for part in both])
        for j, name in enumerate(options.verdict)
    }
    counts = Counter(name for part in both for name in _present(part.labels))
    usual = usual_spellings(counts, options.classes)
    both = [replace(part, labels=_replaced(part.labels, usual)) for part in both]
    labels = _distinct(
        [part.labels for part in both]
        + [part.other_labels for part in both if part.other_labels is not None]
    )
    meant = meaning(
        verdicts,
        labels,
        given=_map_as_spelled(options.map or {}, spelled),
        classes=options.classes,
        positive=options.positive,
    )
    findings = [*(f for part in both for f in part.findings), *repeated, *respelt]
    findings += respelt_labels(counts, usual)
    findings += odd_labels(Counter({name: counts[name] for name in labels}))
    clusters = _cluster_codes([part.clusters for part in both])
    return JudgedTable(
        name=title_of(cells.table),
        table=cells.table,
        items=_items(both[0], meant, clusters[0]),
        external=None if others is None else _items(both[1], meant, clusters[1]),
        meaning=meant,
        rows=(*(part.rows for part in both), *joined),
        findings=tuple(findings),
        beside=cells.beside,
        beside_external=None if others is None else both[1].beside,
        votes=cells.votes,
    )


def _spelled_alike(
    parts: Sequence[_Cells], options: JudgeOptions
) -> tuple[list[_Cells], dict[str, str], list[Finding]]:
    """The tables with verdicts that differ only in case or blanks as one, and findings.

    Also which verdicts are now written in which way.
    """
    spelled: dict[str, str] = {}
    found: list[Finding] = []
    columns = []
    for j in range(len(options.verdict)):
        counts = Counter(name for part in parts for name in part.verdicts[j])
        usual = usual_spellings(counts)
        columns.append([_replaced(part.verdicts[j], usual) for part in parts])
        found += respelt_labels(counts, usual, TableFindings.RESPELT_VERDICTS)
        spelled |= known_spellings(options.map or {}, set(counts) - set(usual))
    alike = [
        replace(part, verdicts=tuple(column[i] for column in columns))
        for i, part in enumerate(parts)
    ]
    return alike, spelled, found


def _matched_verdicts(
    cells: _Cells, others: _Cells, options: JudgeOptions
) -> tuple[_Cells, list[Finding]]:
    """The items labelled elsewhere with verdicts written as here, and findings about it.

    If each table has verdicts that the other lacks, they are matched where it is obvious ("pass"
    and 1) and refused otherwise: nothing would carry over, or the wrong thing.
    """
    columns, found = [], []
    for name, ours, theirs in zip(options.verdict, cells.verdicts, others.verdicts, strict=True):
        only_here, only_there = _lacking(ours, theirs), _lacking(theirs, ours)
        if not only_here or not only_there or all(map(is_number, only_here + only_there)):
            columns.append(theirs)
            continue
        same = guessed_map(sorted(set(theirs)), sorted(set(ours)))
        if set(same) != set(theirs) or len(set(same.values())) < len(same):
            raise DataError(
                f"{others.rows.source} has the verdicts {_some_names(only_there)} where "
                f"{cells.rows.source} has {_some_names(only_here)}: they say nothing about each "
                "other; write them alike in both tables"
            )
        columns.append(_replaced(theirs, same))
        pairs = tuple(f"{left!r} as {right!r}" for left, right in same.items() if left != right)
        found.append(
            JudgeTableFindings.MATCHED_VERDICTS.found(
                judge=name, source=others.rows.source, pairs=pairs
            )
        )
    return replace(others, verdicts=tuple(columns)), found


def _lacking(column: Sequence[str], other: Sequence[str]) -> list[str]:
    """Frequent values of a column that another does not have."""
    other_names, counts = set(other), Counter(column)
    return [
        name for name, n in counts.items() if name not in other_names and n >= MUCH * len(column)
    ]


def _some_names(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names)[:3])


def _map_as_spelled(mapping: Mapping[str, str], spelled: Mapping[str, str]) -> dict[str, str]:
    as_spelled: dict[str, str] = {}
    for left, right in mapping.items():
        verdict = spelled.get(left, left)
        if as_spelled.setdefault(verdict, right) != right:
            raise two_labels(verdict, as_spelled[verdict], right)
    return as_spelled


def _repeated_ids(cells: _Cells) -> tuple[_Cells, list[Finding]]:
    """The rows with ids as clusters, if some come several times, and a finding about it."""
    names = cells.same_item if cells.ids is None else cells.ids
    if names is None or cells.clusters is not None:
        return cells, []
    ids = list(_present(names))
    if len(set(ids)) == len(ids):
        return cells, []
    groups = [""] * len(names) if cells.groups is None else cells.groups
    keys = Counter(key for key in zip(names, groups, strict=True) if key[0] is not None)
    n_repeated = sum(n > 1 for n in keys.values())
    cells = replace(cells, clusters=names)
    if not n_repeated:
        return cells, []
    found = JudgeTableFindings.REPEATED_IDS.found(table=cells.rows.source, n=n_repeated)
    return cells, [found]


def _cluster_codes(columns: Sequence[Names | None]) -> list[Codes | None]:
    """Codes of clusters, the same in all tables; a row without a cluster is one of its own."""
    codes_by_name: dict[str, int] = {}
    coded: list[Codes | None] = []
    n_alone = 0
    for column in columns:
        if column is None:
            coded.append(None)
            continue
        codes = []
        for name in column:
            if name is None:
                n_alone += 1
                codes.append(-n_alone)
            else:
                codes.append(codes_by_name.setdefault(name, len(codes_by_name)))
        coded.append(np.array(codes, dtype=np.int64))
    return coded


def _items(cells: _Cells, meant: Meaning, clusters: Codes | None) -> ReadItems:
    columns = [
        _codes(column, names) for column, names in zip(cells.verdicts, meant.verdicts, strict=True)
    ]
    return ReadItems(
        cells.numbers,
        np.column_stack(columns) if columns else None,
        cells.score,
        _codes(cells.labels, meant.classes),
        None if cells.ids is None else tuple(cells.ids),
        None if cells.groups is None else tuple(cells.groups),
        cells.inclusion,
        clusters,
        cells.weights,
        None if cells.other_labels is None else _codes(cells.other_labels, meant.classes),
    )


def _distinct(columns: Sequence[Sequence[str | None]]) -> list[str]:
    """The names of all columns: those of the first in their order, then those of the next."""
    return list(dict.fromkeys(name for column in columns for name in sorted(_present(set(column)))))


def _codes(column: Sequence[str | None], names: Sequence[str]) -> Codes:
    codes = {name: code for code, name in enumerate(names)}
    return np.array(
        [-1 if name is None else codes.get(name, -1) for name in column], dtype=np.int64
    )
