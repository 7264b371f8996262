"""The unlabelled items of a call, read once, in chunks, keeping only what the quantifier needs.

Memory does not grow with the tables: `reservoir` bounds the number of items.
"""

from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.answers.batch_names import batches_in_order, title_of
from quantshift.answers.rows import (
    NO_CONTENT,
    NOT_DRAWN,
    RAGGED,
    Rows,
    rows_left_out,
    undecodable_cells,
)
from quantshift.answers.words import shortened
from quantshift.base.progress import OnProgress
from quantshift.base.seeding import generator
from quantshift.base.types import Indices
from quantshift.claims.findings import Finding
from quantshift.errors import DataError, UserError
from quantshift.items.items import Items
from quantshift.measuring.columns.sample_profile import SampleCells
from quantshift.measuring.columns.training_profile import TrainingProfile
from quantshift.prevalence.weights import Weights, check_total
from quantshift.quantifying.columns import NO_ITEMS, ItemColumns, TableItems, read_items
from quantshift.quantifying.findings import SampleFindings
from quantshift.quantifying.options import Grouping
from quantshift.quantifying.reading.constants import ConstantReader
from quantshift.quantifying.reading.levels import LevelReader, UnknownLevels
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.reservoir import MOST_KEPT, MOST_OF_BATCH, Kept, Reservoir
from quantshift.tables.columns.cell_names import clipped
from quantshift.tables.columns.kinds import Column, odd_cells, wrong_kind
from quantshift.tables.reading import OpenTable, Source, expanded, open_table

if TYPE_CHECKING:
    from quantshift.quantifying.reading.spool import RowSpool

MOST_COMPARED = 20_000
"""The most rows, over all batches, whose cells are compared with those of training."""

FEWEST_COMPARED = 500
"""The fewest of these rows per table, if there are many tables."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The items of all batches, or a random part of them if there are very many.

    items: posteriors and whatever else the quantifier uses.
    batches: the positions of the items of each batch, by its name; sizes: how many were read.
    left_out: rows of each batch that are not items; rows that could not be read are attributed to
        the batches of their table in proportion.
    numbers: the row of each item in its table.
    marks: the mark under which each item was looked for, -1 if it was not.
    rows: how many rows of each table were used.
    compared: cells of each batch, or of a random part of it, to be compared with training.
    unknown: the columns of each batch whose levels are mostly unknown from training, if any.
    """

    items: Items
    batches: dict[str, Indices]
    sizes: dict[str, int]
    left_out: dict[str, int]
    numbers: NDArray[np.int64]
    marks: NDArray[np.int64]
    rows: tuple[Rows, ...]
    findings: tuple[Finding, ...]
    compared: dict[str, "Compared"]
    unknown: Mapping[str, tuple[UnknownLevels, ...]]


@dataclass(frozen=True, eq=False)
class Compared:
    """The cells of a table, as they are read and counted; which of its rows are of one batch."""

    frame: pl.DataFrame
    table: SampleCells
    rows: Indices

    def cells(self) -> SampleCells:
        """The cells of the batch."""
        return self.table.take(self.rows)


@dataclass(frozen=True, eq=False)
class ItemsToFind:
    """Items to look for: a mark for each, by the position of its table and its row there."""

    places: Mapping[tuple[int, int], int]

    def marks(self, table: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The mark of each row of a table, -1 if it is not looked for."""
        if not self.places:
            return np.full(len(rows), -1, dtype=np.int64)
        marks = [self.places.get((table, row), -1) for row in rows.tolist()]
        return np.array(marks, dtype=np.int64)


NOTHING = ItemsToFind({})

CLASSIFIED_AT_ONCE = 20_000
"""Items whose features are made dense at once, if a classifier needs that."""


def open_samples(sample: Source | Sequence[Source], *, lenient: bool = False) -> list[OpenTable]:
    """The tables of one source or of several."""
    sources = sample_sources(sample)
    if not sources:
        raise UserError("name at least one sample")
    single = len(sources) == 1
    return [
        open_table(source, name="the sample" if single else f"sample {n}", lenient=lenient)
        for n, source in enumerate(sources, start=1)
    ]


def sample_sources(sample: Source | Sequence[Source]) -> list[Source]:
    """What each table of the sample is read from."""
    return expanded(list(sample) if isinstance(sample, list | tuple) else [sample])


def read_pool(
    tables: Sequence[OpenTable],
    model: Model,
    grouping: Grouping | None,
    *,
    seed: int,
    progress: OnProgress,
    weights: str | None = None,
    to_find: ItemsToFind = NOTHING,
    spool: "RowSpool | None" = None,
) -> Pool:
    """Classify the items of all tables and put them into batches.

    weights: the column that says how many items a row stands for. spool: keeps the scores of all
    rows, also of those that are not among the random part. Without it, only these are classified.
    """
    by_features = spool is None and model.scorer is not None
    read = _read_rows(
        tables,
        _ItemMaker(model, features_only=by_features),
        grouping,
        seed=seed,
        progress=progress,
        weights=weights,
        to_find=to_find,
        spool=spool,
    )
    return read.classified_pool(model) if by_features else read.pool(model)


def read_features(
    tables: Sequence[OpenTable],
    model: Model,
    grouping: Grouping | None,
    *,
    seed: int,
    progress: OnProgress,
    weights: str | None = None,
) -> "RowsRead":
    """Like `read_pool`, for models that share the columns and the preparation of this one.

    The items are kept as features, which `RowsRead.pool` classifies by each of the models.
    """
    return _read_rows(
        tables,
        _ItemMaker(model, features_only=True),
        grouping,
        seed=seed,
        progress=progress,
        weights=weights,
        to_find=NOTHING,
        spool=None,
    )


@dataclass(frozen=True, eq=False)
class _ItemMaker:
    """Makes items of rows: whatever the quantifier of a model uses, or the features alone."""

    model: Model
    features_only: bool = False

    def items(self, rows: TableItems, table: OpenTable) -> Items:
        """The items of these rows; errors name the table."""
        if self.features_only:
            with _naming(table):
                features = self.model.preparation.transform(rows.values)
            return Items(features=features, weights=rows.weights)
        return classified(self.model, rows.values, table, rows.weights)


def _read_rows(
    tables: Sequence[OpenTable],
    maker: _ItemMaker,
    grouping: Grouping | None,
    *,
    seed: int,
    progress: OnProgress,
    weights: str | None,
    to_find: ItemsToFind,
    spool: "RowSpool | None",
) -> "RowsRead":
    """The items of all tables, in batches."""
    model = maker.model
    titles = _different_titles(tables)
    columns = ItemColumns(
        model.columns.content,
        features=model.columns.features,
        posteriors=bool(model.columns.posteriors),
        weights=weights,
        grouping=grouping,
        kept=() if spool is None else spool.kept,
    )
    for table in tables:
        # Checked here, before a long table is read.
        model.check_columns(table.name, table.columns)
        table.require(columns.names)
    rng = generator(seed, purpose="rows of the sample")
    reservoir = Reservoir(Items(), rng, most=MOST_KEPT, most_each=MOST_OF_BATCH)
    codes: dict[str, int] = {} if grouping else {title: i for i, title in enumerate(titles)}
    tallies = []
    compared = []
    for position, (table, title) in enumerate(zip(tables, titles, strict=True)):
        tally = _Tally.of(model, table, title, grouping, several=len(tables) > 1)
        rng = generator(seed, purpose="rows compared with training", table=title)
        compared_rows = Reservoir(
            NO_ITEMS, rng, most=max(MOST_COMPARED // len(tables), FEWEST_COMPARED)
        )
        with closing(tally.read(columns)) as parts:
            for items, names in parts:
                batches = np.array([codes.setdefault(name, len(codes)) for name in names])
                seen = maker.items(items, table)
                if spool is not None:
                    spool.add(items, names, seen)
                reservoir.add(seen, batches, items.rows, to_find.marks(position, items.rows))
                if model.profile is not None:
                    cells = replace(items, kept=pl.DataFrame())
                    compared_rows.add(cells, batches, items.rows, np.full(len(batches), -1))
                progress(f"reading {title}", tally.used, 0)
        tallies.append(tally)
        compared.append(compared_rows.kept())
    if not any(tally.used + tally.left_out.total() for tally in tallies):
        raise DataError(
            f"{tables[0].name}: the table has a header and no rows; give a sample with items"
        )
    codes = _with_left_out(codes, tallies) or {title: i for i, title in enumerate(titles)}
    order = batches_in_order(codes) if grouping else titles
    return RowsRead(reservoir, codes, order, tallies, compared)


def _with_left_out(codes: Mapping[str, int], tallies: "Sequence[_Tally]") -> dict[str, int]:
    """The codes of all batches, also of those whose rows are all left out."""
    left_out = (name for tally in tallies for name in tally.left_out_by_batch())
    return {name: i for i, name in enumerate(dict.fromkeys([*codes, *left_out]))}


def _different_titles(tables: Sequence[OpenTable]) -> list[str]:
    titles = [title_of(table) for table in tables]
    if len(set(titles)) < len(titles):
        duplicate = next(title for title in titles if titles.count(title) > 1)
        raise UserError(f"two samples are called {duplicate!r}; rename one")
    return titles


@dataclass(frozen=True, eq=False)
class RowsRead:
    """What was read of the tables, before or after their items were classified.

    codes: of the batches; order: the names of those that are shown. compared: for each table the
    rows whose cells are compared with those of training.
    """

    reservoir: Reservoir[Items]
    codes: Mapping[str, int]
    order: Sequence[str]
    tallies: "Sequence[_Tally]"
    compared: Sequence[Kept[TableItems]]

    def pool(self, model: Model) -> Pool:
        """The pool of items as they were read."""
        compared: dict[str, Compared] = {}
        if model.profile is not None:
            for kept in self.compared:
                compared |= _compared(kept, model.profile, self.codes)
        shown_codes = {name: self.codes[name] for name in self.order}
        return _pool(self.reservoir, shown_codes, self.tallies, compared)

    def classified_pool(self, model: Model) -> Pool:
        """The pool of items that were read as features, classified by a model."""
        pool = self.pool(model)
        n_items = len(pool.items)
        if not n_items:
            return pool
        blocks = [
            pool.items.take(np.arange(start, min(start + CLASSIFIED_AT_ONCE, n_items)))
            for start in range(0, n_items, CLASSIFIED_AT_ONCE)
        ]
        parts = [model.items_of(block.features, block.weights) for block in blocks]
        return replace(pool, items=Items.joined(parts))


def unused_columns(
    tables: Sequence[OpenTable], model: Model, others: Sequence[str | None]
) -> Iterator[Finding]:
    """Columns of the samples that training does not have, and labels in them.

    others: columns that have a use of their own.
    """
    if not model.is_trained:
        return
    columns = model.columns
    expected = {columns.label, columns.id, columns.weights, *columns.content, *others}
    expected |= {column.name for column in columns.left_out}
    tables_with = defaultdict(list)
    labelled = [title_of(table) for table in tables if columns.label in table.columns]
    for table in tables:
        unused = tuple(dict.fromkeys(name for name in table.columns if name not in expected))
        if unused:
            tables_with[unused].append(title_of(table))
    for unused, titles in tables_with.items():
        columns_unused = tuple(map(shortened, unused))
        yield SampleFindings.UNUSED_COLUMNS.found(
            table=_tables_text(titles), columns=columns_unused
        )
    if labelled:
        yield SampleFindings.LABELS_IGNORED.found(table=_tables_text(labelled))


def _tables_text(titles: Sequence[str]) -> str:
    return titles[0] if len(titles) == 1 else f"{titles[0]} and {len(titles) - 1:,} more"


def _compared(
    kept: Kept[TableItems], profile: TrainingProfile, codes: Mapping[str, int]
) -> dict[str, Compared]:
    """The cells of each batch of a table."""
    cells = SampleCells.of(profile, kept.values.values, weights=kept.values.weights)
    names = {code: name for name, code in codes.items()}
    order = np.argsort(kept.batches, kind="stable")
    present, first = np.unique(kept.batches[order], return_index=True)
    return {
        names[int(code)]: Compared(kept.values.values, cells, rows)
        for code, rows in zip(present, np.split(order, first[1:]), strict=False)
    }


def _pool(
    reservoir: Reservoir[Items],
    codes: Mapping[str, int],
    tallies: Sequence["_Tally"],
    compared: dict[str, Compared],
) -> Pool:
    sizes = np.zeros(len(codes), dtype=np.int64)
    sizes[: len(reservoir.sizes)] = reservoir.sizes
    kept = reservoir.kept()
    ends = np.cumsum(np.bincount(kept.batches, minlength=len(codes)))
    members = np.split(np.argsort(kept.batches, kind="stable"), ends[:-1])
    if kept.values.weights is not None:
        for name, code in codes.items():
            batch = kept.values.weights[members[code]]
            if len(batch):
                check_total(batch, f"the weights of {name}")
    findings = [finding for tally in tallies for finding in tally.findings()]
    if len(kept) < sizes.sum():
        findings.append(SampleFindings.RANDOM_PART.found(n=len(kept), n_items=int(sizes.sum())))
    left_out: Counter[str] = Counter()
    for tally in tallies:
        left_out.update(tally.left_out_by_batch())
    return Pool(
        items=kept.values,
        batches={name: members[code] for name, code in codes.items()},
        sizes={name: int(sizes[code]) for name, code in codes.items()},
        left_out={name: left_out[name] for name in codes},
        numbers=kept.numbers,
        marks=kept.marks,
        rows=tuple(
            tally.rows(
                {name: len(members[code]) / max(sizes[code], 1) for name, code in codes.items()}
            )
            for tally in tallies
        ),
        findings=tuple(findings),
        compared=compared,
        unknown={
            batch: columns
            for tally in tallies
            for batch, columns in tally.levels.mostly_unknown().items()
        },
    )


def classified(
    model: Model, values: pl.DataFrame, table: OpenTable, weights: Weights | None = None
) -> Items:
    """What the quantifier uses of the items; errors name the table."""
    with _naming(table):
        return model.items(values, weights)


@contextmanager
def _naming(table: OpenTable) -> Iterator[None]:
    """Errors about the data name the table."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{table.name}: {error}") from error


@dataclass(eq=False)
class _Tally:
    """Reads a table, and counts its rows and cells and those that are not valid."""

    table: OpenTable
    title: str
    grouping: Grouping | None
    features: Sequence[Column]
    levels: LevelReader
    constants: ConstantReader
    several: bool
    used: int = 0
    undecodable: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    by_batch: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)
    filled: Counter[str] = field(default_factory=Counter)
    first_odd: dict[str, tuple[int, object]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        model: Model,
        table: OpenTable,
        title: str,
        grouping: Grouping | None,
        *,
        several: bool,
    ) -> "_Tally":
        """For a table whose items a model classifies. several: it is one of several."""
        constants = model.columns.constants
        return cls(
            table,
            title,
            grouping,
            model.columns.features,
            LevelReader.of(model.levels, model.profile),
            ConstantReader({name: constants[name] for name in constants if name in table.columns}),
            several,
        )

    def read(self, columns: ItemColumns) -> Generator[tuple[TableItems, list[str]]]:
        """The items, part by part, with the batch of each; raises an error at the end.

        The error is that most cells of a column are of another kind than in training.
        """
        kept = tuple(dict.fromkeys((*columns.kept, *self.constants.values)))
        with closing(read_items(self.table, replace(columns, kept=kept))) as parts:
            for items in parts:
                names = self._add(items)
                if len(items.rows):
                    self.constants.add(items.kept)
                    yield self.levels.read(items, names), names
        for feature in self.features:
            if 2 * self.odd[feature.name] > self.filled[feature.name]:
                raise wrong_kind(feature, self.table.name, self.first_odd[feature.name][1])

    def _add(self, items: TableItems) -> list[str]:
        """Count a part of the table, and return the batch of each of its items."""
        names = self._names(items.groups) or [self.title] * len(items.rows)
        self.used += len(items.rows)
        self.undecodable += items.undecodable
        self.left_out.update(items.left_out)
        self.by_batch.update(names)
        if self.grouping is None:
            self.unusable[self.title] += items.left_out.get(NO_CONTENT, 0)
        for group, n in items.left_out_groups.items():
            self.unusable[self._name(group)] += n
        for name, cells in odd_cells(items.values, self.features).items():
            column = items.values[name]
            first = int(cells.arg_true()[0])
            self.first_odd.setdefault(name, (int(items.rows[first]), column[first]))
            self.odd[name] += int(cells.sum())
        for feature in self.features:
            self.filled[feature.name] += len(items.rows) - items.values[feature.name].null_count()
        return names

    def left_out_by_batch(self) -> dict[str, int]:
        """Rows left out of each batch, unreadable rows in proportion to its size."""
        ragged = self.left_out[RAGGED]
        unusable = self.unusable + Counter()
        if not ragged:
            return dict(unusable)
        sizes = self.by_batch + unusable or Counter({self.title: 1})
        total = sizes.total()
        # Rounded up, because the batch of an unreadable row is unknown.
        return {name: unusable[name] + -(-ragged * n // total) for name, n in sizes.items()}

    def rows(self, drawn: Mapping[str, float]) -> Rows:
        """How many rows were read, used and left out.

        drawn: the share of the items of each batch that was drawn; if a batch comes from several
        tables, each contributes in proportion.
        """
        left_out = dict(self.left_out)
        read = self.used + sum(left_out.values())
        used = sum(round(n * drawn[name]) for name, n in self.by_batch.items())
        if used < self.used:
            left_out[NOT_DRAWN] = self.used - used
        return Rows(self.table.name, read, used, left_out)

    def findings(self) -> Iterator[Finding]:
        yield from (finding.in_table(self.table.name) for finding in self.table.findings)
        yield from rows_left_out(self.rows(defaultdict(lambda: 1.0)))
        yield from undecodable_cells(self.table.name, self.undecodable)
        yield from self.levels.findings(self.table.name)
        yield from self.constants.findings(self.table.name)
        for name, n in self.odd.items():
            row, cell = self.first_odd[name]
            yield SampleFindings.ODD_CELLS.found(
                table=self.table.name, column=name, n=n, row=row, example=clipped(cell)
            )

    def _names(self, groups: pl.Series) -> list[str]:
        return [self._name(group) for group in groups.to_list()]

    def _name(self, group: str) -> str:
        return f"{self.title}: {group}" if self.several else group
