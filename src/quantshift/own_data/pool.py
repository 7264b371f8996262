"""The unlabelled items of a call: read once, in chunks; of every item only posteriors are kept.

Memory does not grow with the tables: `reservoir` bounds the number of items.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quantshift.data.reading import OpenTable, Source, open_table
from quantshift.errors import DataError, UserError
from quantshift.own_data.columns import Grouping, TableItems, Values, read_items
from quantshift.own_data.model import Model
from quantshift.own_data.reservoir import MOST_KEPT, Reservoir
from quantshift.quantifiers.items import Items
from quantshift.seeding import generator
from quantshift.types import Indices

OnProgress: TypeAlias = Callable[[str, int], None]
"""Takes what is being done and how many rows are done."""


def silent(what: str, done: int) -> None:
    """The progress nobody wants to see."""


CONTENT = {"text": "a text", "features": "all numbers", "posteriors": "all posteriors"}
"""What a row must have, by kind of item."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The items of all batches, or a random part of them if there are very many.

    items: posteriors and what else the quantifier sees of each.
    batches: name and positions of the items of each; sizes: how many items of it were read.
    numbers: the row of each item in its table.
    marks: for each item its position among the keys looked for, -1 if it is none of them.
    """

    items: Items
    batches: dict[str, Indices]
    sizes: dict[str, int]
    numbers: NDArray[np.int64]
    marks: NDArray[np.int64]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Wanted:
    """TableItems to look for, by their row number in the table or by a digest of their content."""

    keys: Mapping[bytes | int, int]
    by_number: bool

    def marks(self, items: TableItems) -> NDArray[np.int64]:
        """The position of each item's key, -1 if it has none."""
        if not self.keys:
            return np.full(len(items.rows), -1, dtype=np.int64)
        own: Iterable[bytes | int] = (
            items.rows.tolist() if self.by_number else map(digest, items.values)
        )
        return np.array([self.keys.get(key, -1) for key in own], dtype=np.int64)


NOTHING = Wanted({}, by_number=True)


def open_samples(sample: Source | Sequence[Source]) -> list[OpenTable]:
    """The tables of one source or of several."""
    sources = list(sample) if isinstance(sample, list | tuple) else [sample]
    if not sources:
        raise UserError("name at least one sample")
    single = len(sources) == 1
    return [
        open_table(source, name="the sample" if single else f"sample {n}")
        for n, source in enumerate(sources, start=1)
    ]


def read_pool(
    tables: Sequence[OpenTable],
    model: Model,
    grouping: Grouping | None,
    *,
    seed: int,
    progress: OnProgress,
    wanted: Wanted = NOTHING,
) -> Pool:
    """Classify the items of all tables and put them into batches."""
    titles = [title_of(table) for table in tables]
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise UserError(f"two samples are called {twice!r}; rename one")
    for table in tables:
        # Before a long table is read.
        table.require([*model.columns.content, *([grouping.column] if grouping else [])])
    reservoir = Reservoir(Items(), generator(seed, purpose="rows of the sample"), most=MOST_KEPT)
    codes: dict[str, int] = {} if grouping else {title: i for i, title in enumerate(titles)}
    warnings: list[str] = []
    for table, title in zip(tables, titles, strict=True):
        counted, n_read = _Faults(table, model, grouping), 0
        reading = read_items(table, model.columns, labelled=False, grouping=grouping)
        with closing(reading) as parts:
            for items in parts:
                counted.add(items)
                if not len(items.rows):
                    continue
                names = _batch_names(items, title, grouping, several=len(tables) > 1)
                reservoir.add(
                    classified(model, items.values, table),
                    np.array([codes.setdefault(name, len(codes)) for name in names]),
                    items.rows,
                    wanted.marks(items),
                )
                n_read += len(items.rows)
                progress(f"reading {title}", n_read)
        warnings += counted.warnings()
    if not codes:
        codes = {title: i for i, title in enumerate(titles)}
    order = sorted(codes, key=_natural) if grouping else titles
    return _pool(reservoir, {name: codes[name] for name in order}, warnings)


def _pool(reservoir: Reservoir[Items], codes: Mapping[str, int], warnings: list[str]) -> Pool:
    sizes = np.zeros(len(codes), dtype=np.int64)
    sizes[: len(reservoir.sizes)] = reservoir.sizes
    kept = reservoir.kept()
    ends = np.cumsum(np.bincount(kept.batches, minlength=len(codes)))
    members = np.split(np.argsort(kept.batches, kind="stable"), ends[:-1])
    if len(kept) < sizes.sum():
        warnings.append(
            f"of {sizes.sum():,} items {len(kept):,} were used, drawn at random from the largest "
            "batches; more would not make the estimates surer"
        )
    return Pool(
        items=kept.values,
        batches={name: members[code] for name, code in codes.items()},
        sizes={name: int(sizes[code]) for name, code in codes.items()},
        numbers=kept.numbers,
        marks=kept.marks,
        warnings=tuple(warnings),
    )


def classified(model: Model, values: Values, table: OpenTable) -> Items:
    """What the quantifier sees of the items; an error in them names the table."""
    try:
        return model.items(values)
    except DataError as error:
        raise DataError(f"{table.name}: {error}") from error


def title_of(table: OpenTable) -> str:
    """The last part of a path: the name of its batch."""
    return Path(table.name).name


def digest(value: Any) -> bytes:
    """A short fingerprint of an item's content."""
    data = value.encode() if isinstance(value, str) else np.asarray(value, np.float64).tobytes()
    return hashlib.blake2b(data, digest_size=12).digest()


class _Faults:
    """Counts of the rows and cells of a table that were not as they should be."""

    def __init__(self, table: OpenTable, model: Model, grouping: Grouping | None) -> None:
        self.table, self.content = table, CONTENT[model.columns.kind]
        if grouping is not None:
            self.content += f" and a {grouping.column!r}"
        self.left_out = self.undecodable = self.ragged = 0

    def add(self, items: TableItems) -> None:
        self.left_out += items.left_out
        self.undecodable += items.undecodable
        self.ragged += items.ragged

    def warnings(self) -> Iterator[str]:
        if self.left_out:
            yield f"{self.table.name}: {self.left_out} rows without {self.content} were left out"
        yield from reading_faults(self.table.name, self.undecodable, self.ragged)


def reading_faults(name: str, undecodable: int, ragged: int) -> Iterator[str]:
    """What was wrong with a file, as far as it could be read all the same."""
    if undecodable:
        yield (
            f"{name}: {undecodable} cells are not UTF-8; what could not be read was replaced: "
            "save the file as UTF-8"
        )
    if ragged:
        yield f"{name}: {ragged} rows with too many or too few cells were left out"


def _batch_names(
    items: TableItems, title: str, grouping: Grouping | None, *, several: bool
) -> list[str]:
    if grouping is None:
        return [title] * len(items.rows)
    return [f"{title}: {group}" for group in items.groups] if several else items.groups


def _natural(name: str) -> tuple[int, float, str]:
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
