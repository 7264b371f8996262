"""What the user's columns mean, and the items they make.

An item is a row of a table: columns of numbers, categories, truth values, dates and texts, or
posteriors of the user's own model. A row is used unless all its columns are empty; the preparation
fills in missing values. Rows that are left out are counted by reason; an invalid posterior, weight
or date is an error that names its row.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.answers.batch_names import NO_GROUP
from quantshift.answers.columns import LeftOutColumn, UsedColumn
from quantshift.answers.rows import NO_CONTENT, NO_LABEL, RAGGED
from quantshift.base.types import Indices
from quantshift.errors import DataError, UserError
from quantshift.prevalence.weights import Weights
from quantshift.quantifying.options import ColumnOptions, Grouping
from quantshift.tables.columns.cell_names import shown
from quantshift.tables.columns.kinds import (
    TEXT,
    Column,
    as_kind,
)
from quantshift.tables.columns.labels import label_names
from quantshift.tables.columns.spelling import spelling_key
from quantshift.tables.periods import BatchNames, Periods
from quantshift.tables.reading import Chunk, OpenTable


@dataclass(frozen=True)
class Columns:
    """What the columns of a training table turned out to be.

    features: those that items are made of, including texts; or posteriors instead.
    used, left_out: how each is used, in words, and why the others are not.
    constants: the values of those that are left out because they have only one.
    """

    label: str | None = None
    features: tuple[Column, ...] = ()
    posteriors: tuple[str, ...] = ()
    id: str | None = None
    weights: str | None = None
    used: tuple[UsedColumn, ...] = ()
    left_out: tuple[LeftOutColumn, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)

    def without(self, left_out: Iterable[LeftOutColumn]) -> "Columns":
        """The columns without some features."""
        reasons = tuple(left_out)
        names = {column.name for column in reasons}
        features = tuple(column for column in self.features if column.name not in names)
        return replace(self, features=features, left_out=(*self.left_out, *reasons))

    @property
    def content(self) -> tuple[str, ...]:
        """The columns an item is made of."""
        return self.posteriors or tuple(column.name for column in self.features)

    @property
    def text(self) -> tuple[str, ...]:
        """The columns of texts."""
        return tuple(column.name for column in self.features if column.kind == TEXT)


@dataclass(frozen=True, eq=False)
class TableItems:
    """Items of consecutive rows of a table.

    rows: their numbers in the table, from 1.
    values: the cells of the columns they are made of; labels, groups and weights: if requested.
    label_forms: how often each label is written in each way.
    left_out: rows that are not among them, by reason; left_out_groups: their batches.
    kept: cells of other columns, if requested.
    """

    rows: NDArray[np.int64]
    values: pl.DataFrame
    labels: pl.Series
    groups: pl.Series
    weights: Weights | None = None
    label_forms: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    left_out_groups: Mapping[str, int] = field(default_factory=dict)
    undecodable: int = 0
    kept: pl.DataFrame = field(default_factory=pl.DataFrame)

    def take(self, rows: Indices) -> "TableItems":
        """The items at these positions; the counts of left-out rows stay the same."""
        return replace(
            self,
            rows=self.rows[rows],
            values=self.values[rows],
            labels=self.labels[rows] if len(self.labels) else self.labels,
            groups=self.groups[rows] if len(self.groups) else self.groups,
            weights=None if self.weights is None else self.weights[rows],
            kept=self.kept[rows] if self.kept.width else self.kept,
        )

    @classmethod
    def joined(cls, parts: Sequence["TableItems"]) -> "TableItems":
        """The items of all parts, concatenated."""
        weights = [part.weights for part in parts if part.weights is not None]
        return cls(
            rows=np.concatenate([part.rows for part in parts]),
            values=pl.concat([part.values for part in parts], how="vertical_relaxed"),
            labels=pl.concat([part.labels for part in parts]),
            groups=pl.concat([part.groups for part in parts]),
            weights=np.concatenate(weights) if weights else None,
            label_forms=total(part.label_forms for part in parts),
            left_out=total(part.left_out for part in parts),
            left_out_groups=total(part.left_out_groups for part in parts),
            undecodable=sum(part.undecodable for part in parts),
            kept=pl.concat([part.kept for part in parts], how="vertical_relaxed"),
        )


NO_NAMES = pl.Series(dtype=pl.String)
NO_ITEMS = TableItems(np.empty(0, np.int64), pl.DataFrame(), NO_NAMES, NO_NAMES)


def parts(*, topics: bool) -> str:
    """What a class is made of: topics of texts, or subgroups of other items."""
    return "topics" if topics else "subgroups"


def total(counts: Any) -> dict[str, int]:
    """Counts by reason, added up.

    >>> total([{"a": 1}, {"a": 2, "b": 1}])
    {'a': 3, 'b': 1}
    """
    added: Counter[str] = Counter()
    for part in counts:
        added.update(part)
    return dict(added)


def _missing_in_sample(name: str, offered: Iterable[str]) -> str:
    """Why a column is left out that the samples lack.

    >>> _missing_in_sample("age", ["income"]), _missing_in_sample("age", ["Age "])
    ('missing in the sample', "missing in the sample, which has 'Age '")
    """
    alike = sorted(other for other in offered if spelling_key(other) == spelling_key(name))
    return f"missing in the sample{f', which has {alike[0]!r}' if alike else ''}"


def candidates(
    options: ColumnOptions,
    table: OpenTable,
    *,
    by: str | None = None,
    offered: set[str] | None = None,
    tied: Sequence[str] = (),
) -> tuple[tuple[str, ...], tuple[LeftOutColumn, ...]]:
    """The columns that items can be made of, and the others with the reason.

    by: the column that divides samples into batches; tied: those from which the batch follows.
    offered: the columns that all samples have, if known.
    """
    item_columns = (*options.text, *options.features)
    if item_columns and options.posteriors:
        raise UserError("name posteriors or columns of items (text, features), not both")
    _check_roles(options, table, item_columns or options.posteriors)
    special = [
        (options.id, "the ids of the rows"),
        (options.weights, "the weights of the rows"),
        (options.groups, "the groups that are left out in turn"),
        (options.time, "the times, each estimated from those before it"),
    ]
    special += [(name, "dropped") for name in options.drop]
    if by in table.columns:
        special.append((by, "divides the sample into batches"))
    roles = {name: reason for name, reason in special if name is not None}
    left_out = [LeftOutColumn(name, reason) for name, reason in roles.items()]
    if item_columns or options.posteriors:
        chosen = tuple(dict.fromkeys(item_columns or options.posteriors))
        clash = next((name for name in chosen if name in roles), None)
        if clash is not None:
            raise UserError(
                f"column {clash!r} is named as part of the items, but has another use: "
                f"{roles[clash]}; name it once"
            )
        unnamed = dict.fromkeys(
            n for n in table.columns if n not in {*chosen, *roles, *options.label_columns}
        )
        left_out += [LeftOutColumn(name, "not named") for name in unnamed]
        return chosen, tuple(left_out)
    usable = []
    for name in dict.fromkeys(table.columns):
        if name in roles or name in options.label_columns:
            continue
        if name in table.nested:
            left_out.append(LeftOutColumn(name, "lists or objects: not supported"))
        elif offered is not None and name not in offered:
            left_out.append(LeftOutColumn(name, _missing_in_sample(name, offered)))
        elif name in tied:
            left_out.append(LeftOutColumn(name, f"tied to {by!r}: tells the batch of every row"))
        else:
            usable.append(name)
    return tuple(usable), tuple(left_out)


@dataclass(frozen=True)
class ItemColumns:
    """What is read of each row of a table.

    content: the columns that items are made of. features: if given, rows in which all of them are
    empty are left out. posteriors: whether the content consists of posteriors; rows that lack one
    are left out. label: rows without one are left out. missing: the words for a missing label, if
    they are not the usual ones. kept: columns to copy.
    """

    content: Sequence[str]
    features: Sequence[Column] | None = None
    posteriors: bool = False
    label: str | None = None
    missing: Sequence[str] | None = None
    weights: str | None = None
    grouping: Grouping | None = None
    kept: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        batches = None if self.grouping is None else self.grouping.column
        names = (*self.content, self.label, self.weights, batches, *self.kept)
        return list(dict.fromkeys(name for name in names if name is not None))


def read_items(table: OpenTable, columns: ItemColumns) -> Generator[TableItems]:
    """The items of a table, chunk by chunk; close the generator if it is not exhausted."""
    batches_of = None if columns.grouping is None else _batch_names(table, columns.grouping)
    with closing(table.chunks(columns.names)) as chunks:
        for chunk in chunks:
            yield _items_of(table, chunk, columns, batches_of)


def _batch_names(table: OpenTable, grouping: Grouping) -> Callable[[Chunk], pl.Series]:
    """What gives the batch of every row of a chunk."""
    name = grouping.column
    if grouping.every:
        periods = Periods(table, name, grouping.every)
        return lambda chunk: pl.Series(
            periods.of(chunk.columns[name], chunk.first), dtype=pl.String
        ).fill_null(NO_GROUP)
    batches = BatchNames(table, name)
    return lambda chunk: batches.of(chunk.columns[name]).fill_null(NO_GROUP)


def _items_of(
    table: OpenTable,
    chunk: Chunk,
    columns: ItemColumns,
    batches_of: Callable[[Chunk], pl.Series] | None,
) -> TableItems:
    """The items of a chunk."""
    frame, empty = chunk.columns, np.zeros(len(chunk), dtype=bool)
    values = frame.select(columns.content)
    if columns.posteriors:
        values = _posterior_cells(table, chunk, columns.content)
        empty = values.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()
    elif columns.features is not None:
        empty = empty_rows(values, columns.features)
    labels, forms, unlabelled = NO_NAMES, Counter[str](), np.zeros(len(chunk), dtype=bool)
    if columns.label is not None:
        labels = label_names(frame[columns.label], columns.missing)
        forms.update(frame[columns.label].filter(labels.is_not_null()).cast(pl.String))
        unlabelled = labels.is_null().to_numpy()
    groups = NO_NAMES if batches_of is None else batches_of(chunk)
    unused = empty | unlabelled
    reasons = {
        NO_LABEL: int(unlabelled.sum()),
        NO_CONTENT: int((empty & ~unlabelled).sum()),
        RAGGED: chunk.ragged,
    }
    left_out_groups = groups.filter(pl.Series(unused)) if len(groups) else groups
    return TableItems(
        rows=chunk.first + np.arange(len(chunk)),
        values=values,
        labels=labels,
        groups=groups,
        weights=None if columns.weights is None else _weights(table, chunk, columns.weights),
        label_forms=forms,
        left_out={reason: n for reason, n in reasons.items() if n},
        left_out_groups=Counter(left_out_groups.to_list()),
        undecodable=chunk.undecodable,
        kept=frame.select(columns.kept),
    ).take(np.flatnonzero(~unused))


def empty_rows(frame: pl.DataFrame, features: Sequence[Column]) -> NDArray[np.bool_]:
    """Which rows have nothing in any of the features."""
    empty = np.ones(len(frame), dtype=bool)
    for feature in features:
        if not empty.any():
            break
        values = as_kind(frame[feature.name], feature)
        if feature.kind == TEXT:
            values = values.str.strip_chars()
            empty &= (values == "").to_numpy()
        else:
            empty &= values.is_null().to_numpy()
    return empty


def _check_roles(options: ColumnOptions, table: OpenTable, item_columns: Sequence[str]) -> None:
    """Raise an error for columns that do not exist or have conflicting roles."""
    table.require(options.label_columns)
    table.require(item_columns)
    roles = (options.id, options.weights, options.left_out_by)
    others = [name for name in roles if name is not None]
    for label in options.label_columns:
        if label == options.left_out_by:
            what = "groups" if options.time is None else "times"
            raise UserError(f"{label!r} is the label: it cannot name the {what} too")
    for name in (*options.drop, *others):
        if name not in table.columns:
            table.require([name])
    for label in options.label_columns:
        if label in item_columns:
            raise UserError(f"{label!r} is the label: it cannot be part of the items too")
        if label in (*options.drop, *others):
            raise UserError(
                f"{label!r} is the label: it cannot be dropped, nor be ids, weights or groups"
            )


def _posterior_cells(table: OpenTable, chunk: Chunk, names: Sequence[str]) -> pl.DataFrame:
    columns = []
    for name in names:
        column = chunk.columns[name]
        numbers = _numbers(column)
        _refuse(table, chunk, column, numbers.is_finite(), "is not a number; fix the cell")
        columns.append(numbers)
    return pl.DataFrame(columns)


def _weights(table: OpenTable, chunk: Chunk, name: str) -> Weights:
    column = chunk.columns[name]
    numbers = _numbers(column)
    valid = (numbers.is_finite() & (numbers >= 0)).fill_null(False)
    why = "is not a valid weight; weights are numbers of at least 0, one in every row"
    _refuse(table, chunk, column, valid, why, gaps=True)
    return numbers.to_numpy().astype(np.float64)


def _numbers(column: pl.Series) -> pl.Series:
    """The cells as floats; null if they are not numbers, such as truth values and dates."""
    if column.dtype == pl.String or column.dtype.is_numeric():
        return column.cast(pl.Float64, strict=False)
    return pl.Series(column.name, [None] * len(column), dtype=pl.Float64)


def _refuse(
    table: OpenTable,
    chunk: Chunk,
    column: pl.Series,
    valid: pl.Series,
    why: str,
    gaps: bool = False,
) -> None:
    """Raise an error for the first invalid cell. gaps: whether missing values are invalid too."""
    wrong = ~valid.fill_null(False)
    if not gaps:
        wrong = wrong & column.is_not_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        cell = "an empty cell" if column[row] is None else shown(column[row])
        raise DataError(
            f"{table.name}: row {chunk.first + row}, column {column.name!r}: {cell} {why}"
        )
