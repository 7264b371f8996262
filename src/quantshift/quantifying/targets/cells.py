"""How several labels are written in a table: a column for each, or one with all labels of an item.

    spam  abuse          tags
    1     0              spam
    1     1              spam; abuse
    0     0

Rows that do not say which labels they have are left out of training, and counted.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from quantshift.answers.rows import NO_LABEL
from quantshift.base.types import Flags
from quantshift.claims.findings import Finding
from quantshift.errors import UserError
from quantshift.multilabel.label_tables import LabelTable
from quantshift.quantifying.columns import TableItems, total
from quantshift.quantifying.options import ColumnOptions, SeveralLabelOptions
from quantshift.quantifying.training.train import FEWEST_OF_A_CLASS
from quantshift.quantifying.training.training_warnings import doubts_about_labels
from quantshift.tables.columns.labels import TRUTHS, check_separator, label_names, no_truth_value
from quantshift.tables.columns.spelling import usual_spellings
from quantshift.tables.reading import OpenTable

MOST_LABELS = 100
"""More labels would take hours: every label has a model and tests of its own."""


@dataclass(frozen=True, eq=False)
class LabelsRead:
    """Which labels the rows have.

    rare: labels that are too rare to be learnt, which are not in the table, and how many rows have
    them. findings: what is odd about how labels are written.
    """

    table: LabelTable
    rare: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


class AbstractLabelCells(ABC):
    """How labels are written. columns: those that hold them."""

    columns: tuple[str, ...]

    @abstractmethod
    def labelled(self, table: OpenTable, items: TableItems) -> TableItems:
        """The items that say which labels they have; the others are counted.

        items: with the cells of `columns` kept.
        """

    @abstractmethod
    def read(self, table: OpenTable, items: TableItems) -> LabelsRead:
        """The labels of items that `labelled` has checked."""


def label_cells(options: ColumnOptions, labels: SeveralLabelOptions) -> AbstractLabelCells:
    """How the labels of a call are written."""
    if labels.separator is None:
        _check_number(len(options.indicators), "the call")
        return IndicatorColumns(options.indicators, options.missing)
    if options.indicators:
        raise UserError(
            f"a separator divides the cells of one column, and {len(options.indicators)} are "
            "named; name the one that holds all labels, or leave the separator out",
            arguments=["label", "separator"],
        )
    if options.label is None:
        raise UserError("name the column of the labels", arguments=["label"])
    return SeparatedColumn((options.label,), labels.separator, options.missing)


@dataclass(frozen=True)
class IndicatorColumns(AbstractLabelCells):
    """A column for each label, which says whether an item has it: 0 and 1, yes and no, true and
    false. An item with an empty cell is not labelled."""

    columns: tuple[str, ...]
    missing: Sequence[str] | None = None

    def labelled(self, table: OpenTable, items: TableItems) -> TableItems:
        """The items whose cells are all filled, with truth values for cells."""
        truths = [self._truths(table, items, name) for name in self.columns]
        has_labels = np.ones(len(items.rows), dtype=bool)
        for column in truths:
            has_labels &= column.is_not_null().to_numpy()
        return _only(replace(items, kept=pl.DataFrame(truths)), has_labels)

    def read(self, table: OpenTable, items: TableItems) -> LabelsRead:
        """The labels, in the order of their columns."""
        return LabelsRead(LabelTable(items.kept.to_numpy().astype(bool), np.array(self.columns)))

    def _truths(self, table: OpenTable, items: TableItems, name: str) -> pl.Series:
        names = label_names(items.kept[name], self.missing)
        truths = names.str.to_lowercase().replace_strict(
            dict(TRUTHS), default=None, return_dtype=pl.Boolean
        )
        wrong = truths.is_null() & names.is_not_null()
        if wrong.any():
            i = int(wrong.arg_true()[0])
            where = f"{table.name}: row {items.rows[i]}, column {name!r}"
            raise no_truth_value(where, names[i], ["label", "separator"])
        return truths.alias(name)


@dataclass(frozen=True)
class SeparatedColumn(AbstractLabelCells):
    """One column whose cells hold the labels of an item, with something between them.

    An empty cell means no label, and a word for a missing value (NA) that the labels are unknown.
    """

    columns: tuple[str, ...]
    separator: str
    missing: Sequence[str] | None = None

    def labelled(self, table: OpenTable, items: TableItems) -> TableItems:
        """The items whose cells are not a word for a missing value."""
        (name,) = self.columns
        cells = label_names(items.kept[name], ())
        has_labels = label_names(items.kept[name], self.missing).is_not_null() | cells.is_null()
        return _only(replace(items, kept=pl.DataFrame([cells.alias(name)])), has_labels.to_numpy())

    def read(self, table: OpenTable, items: TableItems) -> LabelsRead:
        """The labels that occur, sorted; spellings that differ only in case or blanks are one."""
        cells = items.kept[self.columns[0]].fill_null("").to_list()
        check_separator(f"{table.name}: column {self.columns[0]!r}", self.separator, cells)
        sets = [
            {part for name in cell.split(self.separator) if (part := name.strip())}
            for cell in cells
        ]
        counts = Counter(name for names in sets for name in names)
        usual = usual_spellings(counts)
        totals: Counter[str] = Counter()
        for name, n in counts.items():
            totals[usual.get(name, name)] += n
        names = sorted(name for name, n in totals.items() if n >= FEWEST_OF_A_CLASS)
        _check_number(len(names), f"{table.name}, column {self.columns[0]!r}")
        column_of = {name: j for j, name in enumerate(names)}
        has: Flags = np.zeros((len(sets), len(names)), dtype=bool)
        for i, labels in enumerate(sets):
            for name in labels:
                if (j := column_of.get(usual.get(name, name))) is not None:
                    has[i, j] = True
        rare = {name: totals[name] for name in sorted(totals) if name not in column_of}
        doubts = doubts_about_labels(counts, counts, usual)
        return LabelsRead(LabelTable(has, np.array(names, dtype=str)), rare, tuple(doubts))


def _check_number(n_labels: int, where: str) -> None:
    """Refuse more labels than can be estimated at once."""
    if n_labels > MOST_LABELS:
        raise UserError(
            f"{where} has {n_labels:,} labels, more than the {MOST_LABELS} that can be estimated "
            "at once; name fewer, or merge some (in Python, `quantshift.multilabel` estimates the "
            "shares of any number, without testing each)",
            arguments=["label"],
        )


def _only(items: TableItems, has_labels: Flags) -> TableItems:
    """The items whose labels are has_labels; the others are counted as left out."""
    n_unknown = len(has_labels) - int(has_labels.sum())
    reasons = {NO_LABEL: n_unknown} if n_unknown else {}
    return replace(
        items.take(np.flatnonzero(has_labels)), left_out=total([items.left_out, reasons])
    )
