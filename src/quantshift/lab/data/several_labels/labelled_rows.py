"""Rows with several labels: which labels each has, and how its columns become numbers.

A label is a column of 0 and 1 (yes and no, true and false), or a word in the cells of one column.
How the other columns become numbers is learnt from the training items alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from quantshift.base.nouns import listed
from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices
from quantshift.errors import DataError, UserError
from quantshift.lab.data.importing.options import ImportOptions
from quantshift.lab.data.several_labels.mulan import LabelledItems
from quantshift.multilabel.label_tables import FEWEST, LabelTable
from quantshift.multilabel.related_labels import frequent_together
from quantshift.tables.columns.kinds import (
    choose,
)
from quantshift.tables.columns.labels import TRUTHS, check_separator, label_names, no_truth_value
from quantshift.tables.preparation import TablePreparation

TEST_SHARE = 1 / 3
"""The share of the items of a single table that are test items, unless the user gives another."""

NAMED = 5
"""The most labels that a note names; the others are counted."""


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows of a table with their labels. name: of the table."""

    name: str
    rows: pl.DataFrame
    labels: list[set[str]]

    def take(self, rows: Indices) -> "LabelledRows":
        """Some of the rows."""
        return LabelledRows(self.name, self.rows[rows], [self.labels[i] for i in rows])


@dataclass(frozen=True)
class LabelCells:
    """How labels are written in a table: in columns of their own, or all in the cells of one."""

    columns: tuple[str, ...]
    separator: str | None

    def labelled(self, name: str, rows: pl.DataFrame) -> "LabelledRows":
        """The rows of a table whose cells say which labels they have. name: of the table."""
        sets, is_labelled = self.read(name, rows)
        positions = np.flatnonzero(is_labelled)
        if not len(positions):
            raise DataError(
                f"{name}: no row says its labels in {listed([*map(repr, self.columns)])}"
            )
        return LabelledRows(name, rows[positions], [sets[i] for i in positions])

    def read(self, name: str, frame: pl.DataFrame) -> tuple[list[set[str]], Flags]:
        """The labels of every row, and which rows have cells that say so."""
        if self.separator is None:
            truths = [self._truths(name, frame[column]) for column in self.columns]
            is_labelled = np.logical_and.reduce([t.is_not_null().to_numpy() for t in truths])
            rows = zip(*(t.to_list() for t in truths), strict=True)
            sets = [{n for n, has in zip(self.columns, row, strict=True) if has} for row in rows]
            return sets, is_labelled
        cells = frame[self.columns[0]]
        texts = label_names(cells, ())
        is_labelled = label_names(cells).is_not_null() | texts.is_null()
        filled = texts.fill_null("").to_list()
        check_separator(f"{name}: column {self.columns[0]!r}", self.separator, filled)
        sets = [{p.strip() for p in cell.split(self.separator) if p.strip()} for cell in filled]
        return sets, is_labelled.to_numpy()

    def names(self, sets: Sequence[set[str]]) -> list[str]:
        """The labels: those of the columns, or those that occur."""
        return list(self.columns) if self.separator is None else sorted(set().union(*sets))

    def _truths(self, name: str, column: pl.Series) -> pl.Series:
        names = label_names(column)
        truths = names.str.to_lowercase().replace_strict(
            dict(TRUTHS), default=None, return_dtype=pl.Boolean
        )
        wrong = (truths.is_null() & names.is_not_null()).arg_true()
        if len(wrong):
            row = int(wrong[0])
            where = f"{name}: row {row + 1}, column {column.name!r}"
            raise no_truth_value(where, names[row], ["label", "separator"])
        return truths


def prepared_items(
    tables: Sequence[LabelledRows],
    cells: LabelCells,
    drop: Sequence[str],
    options: ImportOptions,
    notes: list[str],
) -> list[LabelledItems]:
    """Training and test items; if there is only one table, some of its rows are test items.

    drop: columns to leave out. What was done with columns is added to the notes.
    """
    if len(tables) == 1:
        tables = [tables[0].take(rows) for rows in random_split(len(tables[0].labels), options)]
    first, last = tables
    names = cells.names(first.labels)
    train, test = (table.rows.drop([*cells.columns, *drop]) for table in tables)
    columns, left_out = choose(train)
    notes += [f"column {column.name} is not used: {column.reason}" for column in left_out]
    if not columns:
        raise DataError(f"{first.name}: no column is left as a feature")
    missing = [column.name for column in columns if column.name not in test.columns]
    if missing:
        raise DataError(f"{last.name}: no column {missing[0]!r}, which {first.name} has")
    preparation, X = TablePreparation.fit_transform(train, columns)
    return [
        LabelledItems(matrix, _flags(table.labels, names), preparation.names)
        for matrix, table in zip((X, preparation.transform(test)), tables, strict=True)
    ]


def random_split(n_items: int, options: ImportOptions) -> tuple[Indices, Indices]:
    """Training and test items, drawn at random, in the order of the table."""
    share = options.test_share or TEST_SHARE
    if not 0 < share < 1:
        raise UserError(
            f"test_share={share:g} is not between 0 and 1; give e.g. 0.3", arguments=["test_share"]
        )
    order = generator(options.split_seed, data="labelled items").permutation(n_items)
    n_test = round(share * n_items)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def with_used_labels(
    parts: Sequence[LabelledItems], most: int | None, notes: list[str]
) -> list[LabelledItems]:
    """The parts with the labels that are used: at most this many that can be learnt."""
    has, names = parts[0].labels.has, parts[0].labels.names
    if len(has) == 0 or len(parts[1].labels) == 0:
        raise DataError("no items are left for training or for testing")
    chosen = np.arange(len(names)) if most is None else frequent_together(has, most)
    if len(chosen) < len(names):
        notes.append(f"{len(chosen)} of {len(names)} labels are used")
    counts = has[:, chosen].sum(axis=0)
    learnable = np.minimum(counts, len(has) - counts) >= FEWEST
    unlearnable = names[chosen[~learnable]].tolist()
    if unlearnable:
        more = f" and {len(unlearnable) - NAMED} more" if len(unlearnable) > NAMED else ""
        notes.append(
            f"too few training items with or without them to learn, and not used: "
            f"{', '.join(map(str, unlearnable[:NAMED]))}{more}"
        )
    used = chosen[learnable]
    if not len(used):
        raise DataError("no label has enough training items with and without it to be learnt")
    return [
        replace(part, labels=LabelTable(part.labels.has[:, used], part.labels.names[used]))
        for part in parts
    ]


def _flags(sets: Sequence[set[str]], names: Sequence[str]) -> LabelTable:
    has: Flags = np.zeros((len(sets), len(names)), dtype=bool)
    for j, name in enumerate(names):
        has[:, j] = [name in labels for labels in sets]
    return LabelTable(has, np.array(names, dtype=str))
