"""The unlabelled items of a call: read once, in chunks; of every item only posteriors are kept.

Memory does not grow with the tables: `reservoir` bounds the number of items.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.data.columns import Column, odd_cells, shown, wrong_kind
from quantshift.data.reading import OpenTable, Source, expanded, open_table
from quantshift.diagnosis.column_profiles import TrainingProfile
from quantshift.diagnosis.sample_cells import SampleCells
from quantshift.errors import DataError, UserError
from quantshift.nouns import counted
from quantshift.own_data.columns import (
    NO_CONTENT,
    NO_ITEMS,
    RAGGED,
    Grouping,
    TableItems,
    read_items,
)
from quantshift.own_data.model import NOT_DRAWN, Model
from quantshift.own_data.progress import OnProgress
from quantshift.own_data.reservoir import MOST_KEPT, Kept, Reservoir
from quantshift.own_data.result import Rows
from quantshift.quantifiers.items import Items
from quantshift.seeding import generator
from quantshift.types import Indices
from quantshift.weights import Weights

MOST_COMPARED = 20_000
"""Rows of all batches together whose cells are compared with those of training."""

FEWEST_COMPARED = 500
"""Rows of each table at least, if there are many tables."""

MUCH = 0.1
"""A larger share of rows left out is said before anything else."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The items of all batches, or a random part of them if there are very many.

    items: posteriors and what else the quantifier sees of each.
    batches: name and positions of the items of each; sizes: how many items of it were read.
    left_out: rows of each batch that are not items; those that could not be read are put down to
        the batches of their table in proportion.
    numbers: the row of each item in its table.
    marks: what each item was looked for by, -1 if it was not.
    rows: what became of the rows of each table.
    compared: cells of each batch, or of a random part of it, to be compared with training.
    """

    items: Items
    batches: dict[str, Indices]
    sizes: dict[str, int]
    left_out: dict[str, int]
    numbers: NDArray[np.int64]
    marks: NDArray[np.int64]
    rows: tuple[Rows, ...]
    warnings: tuple[str, ...]
    compared: dict[str, "Compared"]


@dataclass(frozen=True, eq=False)
class Compared:
    """Cells of a table, and which rows of them are of one batch."""

    table: SampleCells
    rows: Indices

    def cells(self) -> SampleCells:
        """The cells of the batch."""
        return self.table.take(self.rows)


@dataclass(frozen=True, eq=False)
class Wanted:
    """Items to look for, by the position of their table and their row in it."""

    places: Mapping[tuple[int, int], int]

    def marks(self, table: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """What each row of a table is known by, -1 if it is not looked for."""
        if not self.places:
            return np.full(len(rows), -1, dtype=np.int64)
        marks = [self.places.get((table, row), -1) for row in rows.tolist()]
        return np.array(marks, dtype=np.int64)


NOTHING = Wanted({})


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
    wanted: Wanted = NOTHING,
) -> Pool:
    """Classify the items of all tables and put them into batches.

    weights: the column that says how many items a row stands for.
    """
    titles = [title_of(table) for table in tables]
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise UserError(f"two samples are called {twice!r}; rename one")
    for table in tables:
        # Before a long table is read.
        _require(table, model)
        beside = (None if grouping is None else grouping.column, weights)
        table.require([name for name in beside if name is not None])
    reservoir = Reservoir(Items(), generator(seed, purpose="rows of the sample"), most=MOST_KEPT)
    codes: dict[str, int] = {} if grouping else {title: i for i, title in enumerate(titles)}
    tallies = []
    compared: dict[str, Compared] = {}
    for position, (table, title) in enumerate(zip(tables, titles, strict=True)):
        tally = _Tally(table, title, grouping, several=len(tables) > 1)
        rng = generator(seed, purpose="rows compared with training", table=title)
        few = Reservoir(NO_ITEMS, rng, most=max(MOST_COMPARED // len(tables), FEWEST_COMPARED))
        reading = read_items(
            table,
            model.columns.content,
            features=model.columns.features,
            posteriors=bool(model.columns.posteriors),
            weights=weights,
            grouping=grouping,
        )
        with closing(reading) as parts:
            for items in parts:
                names = tally.add(items, model.columns.features)
                if not len(items.rows):
                    continue
                batches = np.array([codes.setdefault(name, len(codes)) for name in names])
                reservoir.add(
                    classified(model, items.values, table, items.weights),
                    batches,
                    items.rows,
                    wanted.marks(position, items.rows),
                )
                if model.profile is not None:
                    few.add(items, batches, items.rows, np.full(len(batches), -1))
                progress(f"reading {title}", tally.used, 0)
        tally.check(model.columns.features)
        tallies.append(tally)
        if model.profile is not None:
            compared |= _compared(few.kept(), model.profile, codes)
    for tally in tallies:
        for name in tally.left_out_by_batch():
            codes.setdefault(name, len(codes))
    if not codes:
        codes = {title: i for i, title in enumerate(titles)}
    order = sorted(codes, key=natural) if grouping else titles
    return _pool(reservoir, {name: codes[name] for name in order}, tallies, compared)


def _require(table: OpenTable, model: Model) -> None:
    """Refuse a table that lacks columns of the model."""
    missing = [name for name in model.columns.content if name not in table.columns]
    if len(missing) > 1:
        raise DataError(
            f"{table.name}: the model needs columns that are not there: "
            f"{', '.join(map(repr, missing[:10]))}{', ...' * (len(missing) > 10)}; add them, or "
            "train a model without them"
        )
    table.require(model.columns.content)


def _compared(
    kept: Kept[TableItems], profile: TrainingProfile, codes: Mapping[str, int]
) -> dict[str, Compared]:
    """The cells of each batch of a table."""
    cells = SampleCells.of(profile, kept.values.values, weights=kept.values.weights)
    names = {code: name for name, code in codes.items()}
    order = np.argsort(kept.batches, kind="stable")
    found, first = np.unique(kept.batches[order], return_index=True)
    return {
        names[int(code)]: Compared(cells, rows)
        for code, rows in zip(found, np.split(order, first[1:]), strict=False)
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
    warnings = [warning for tally in tallies for warning in tally.warnings()]
    if len(kept) < sizes.sum():
        warnings.append(
            f"of {sizes.sum():,} items {len(kept):,} were used, drawn at random from the largest "
            "batches; more would not make the estimates more precise"
        )
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
        rows=tuple(tally.rows() for tally in tallies),
        warnings=tuple(warnings),
        compared=compared,
    )


def classified(
    model: Model, values: pl.DataFrame, table: OpenTable, weights: Weights | None = None
) -> Items:
    """What the quantifier sees of the items; an error in them names the table."""
    try:
        return model.items(values, weights)
    except DataError as error:
        raise DataError(f"{table.name}: {error}") from error


def title_of(table: OpenTable) -> str:
    """The last part of a path: the name of its batch."""
    return Path(table.name).name


@dataclass(eq=False)
class _Tally:
    """Counts the rows and cells of a table, and those that were not as they should be."""

    table: OpenTable
    title: str
    grouping: Grouping | None
    several: bool
    used: int = 0
    undecodable: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    by_batch: Counter[str] = field(default_factory=Counter)
    gone: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    first_odd: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, items: TableItems, features: Sequence[Column]) -> list[str]:
        """Count a part of the table; the batch of each of its items."""
        names = self._names(items.groups) or [self.title] * len(items.rows)
        self.used += len(items.rows)
        self.undecodable += items.undecodable
        self.left_out.update(items.left_out)
        self.by_batch.update(names)
        if self.grouping is None:
            self.gone[self.title] += items.left_out.get(NO_CONTENT, 0)
        for group, n in items.left_out_groups.items():
            self.gone[self._name(group)] += n
        for name, cells in odd_cells(items.values, features).items():
            column = items.values[name]
            first = int(cells.arg_true()[0])
            self.first_odd.setdefault(name, (int(items.rows[first]), shown(column[first])))
            self.odd[name] += int(cells.sum())
        for feature in features:
            self.known[feature.name] += len(items.rows) - items.values[feature.name].null_count()
        return names

    def check(self, features: Sequence[Column]) -> None:
        """Refuse a table in which a column holds mostly other things than in training."""
        for feature in features:
            if 2 * self.odd[feature.name] > self.known[feature.name]:
                raise wrong_kind(feature, self.table.name, self.first_odd[feature.name][1])

    def left_out_by_batch(self) -> dict[str, int]:
        """Rows left out of each batch; those that could not be read in proportion to its rows."""
        ragged = self.left_out[RAGGED]
        gone = self.gone + Counter()
        if not ragged:
            return dict(gone)
        sizes = self.by_batch + gone or Counter({self.title: 1})
        total = sizes.total()
        # Rounded up: who knows where they belong.
        return {name: gone[name] + -(-ragged * n // total) for name, n in sizes.items()}

    def rows(self) -> Rows:
        """What became of the rows."""
        left_out = dict(self.left_out)
        return Rows(self.table.name, self.used + sum(left_out.values()), self.used, left_out)

    def warnings(self) -> Iterator[str]:
        yield from row_warnings(self.rows())
        yield from undecodable_warning(self.table.name, self.undecodable)
        for name, n in self.odd.items():
            row, cell = self.first_odd[name]
            yield (
                f"{self.table.name}: column {name!r}: {counted(n, 'cell')} "
                f"do{'es' * (n == 1)} not fit what it holds in training (row {row}: {cell}) and "
                f"{'is' if n == 1 else 'are'} taken as {'a gap' if n == 1 else 'gaps'}"
            )

    def _names(self, groups: pl.Series) -> list[str]:
        return [self._name(group) for group in groups.to_list()]

    def _name(self, group: str) -> str:
        return f"{self.title}: {group}" if self.several else group


def row_warnings(rows: Rows) -> Iterator[str]:
    """What the reader should know about rows that were left out, except those that are expected."""
    reasons = {reason: n for reason, n in rows.left_out.items() if reason != NOT_DRAWN}
    n = sum(reasons.values())
    if n:
        counts = ", ".join(f"{reason}: {count:,}" for reason, count in reasons.items())
        yield f"{rows.source}: {n:,} of {rows.read:,} rows were left out ({counts})"


def is_much(rows: Rows) -> bool:
    """Whether so many rows were left out that it must come first."""
    n = sum(count for reason, count in rows.left_out.items() if reason != NOT_DRAWN)
    return n > MUCH * rows.read


def undecodable_warning(name: str, undecodable: int) -> Iterator[str]:
    """That cells could not be read as they stand."""
    if undecodable:
        yield (
            f"{name}: {undecodable} cells are not UTF-8; what could not be read was replaced: "
            "save the file as UTF-8"
        )


def natural(name: str) -> tuple[int, float, str]:
    """What to sort names by: numbers by their size, before words."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
