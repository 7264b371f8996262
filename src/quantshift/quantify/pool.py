"""The unlabelled items of a call: read once, in chunks; of every item only posteriors are kept."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quantshift.errors import DataError, UserError
from quantshift.quantify.columns import Grouping, Items, Values, read_items
from quantshift.quantify.model import Model
from quantshift.quantify.reading import Source, Table, open_table
from quantshift.types import Indices

Progress: TypeAlias = Callable[[str, int], None]
"""Takes what is being done and how many rows are done."""

CONTENT = {"text": "a text", "features": "all numbers", "posteriors": "all posteriors"}
"""What a row must have, by kind of item."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The items of all batches.

    items: what the quantifier sees of each, posteriors first.
    batches: name and positions of the items of each.
    tables: for each item the position of its table among the samples; numbers: its row there.
    digests: fingerprints of the items' content, if asked for.
    """

    items: NDArray[np.float64]
    batches: dict[str, Indices]
    tables: NDArray[np.int64]
    numbers: NDArray[np.int64]
    digests: tuple[bytes, ...]
    warnings: tuple[str, ...]


def open_samples(sample: Source | Sequence[Source]) -> list[Table]:
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
    tables: Sequence[Table],
    model: Model,
    grouping: Grouping | None,
    *,
    with_digests: bool,
    progress: Progress,
) -> Pool:
    """Classify the items of all tables and put them into batches."""
    titles = [title_of(table) for table in tables]
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise UserError(f"two samples are called {twice!r}; rename one")
    for table in tables:
        # Before a long table is read.
        table.require([*model.columns.content, *([grouping.column] if grouping else [])])
    scored: list[NDArray[np.float64]] = []
    numbers: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    sources: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    names: list[str] = []
    digests: list[bytes] = []
    warnings: list[str] = []
    for position, (table, title) in enumerate(zip(tables, titles, strict=True)):
        counted = _Faults(table, model)
        for items in read_items(table, model.columns, labelled=False, grouping=grouping):
            counted.add(items)
            if not len(items.rows):
                continue
            scored.append(classified(model, items.values, table))
            numbers.append(items.rows)
            sources.append(np.full(len(items.rows), position))
            names += _batch_names(items, title, grouping, several=len(tables) > 1)
            if with_digests:
                digests += [digest(value) for value in items.values]
            progress(f"reading {title}", len(names))
        warnings += counted.warnings()
    return Pool(
        items=np.concatenate(scored) if scored else np.empty((0, len(model.classes))),
        batches=_batches(names, titles, grouping),
        tables=np.concatenate(sources),
        numbers=np.concatenate(numbers),
        digests=tuple(digests),
        warnings=tuple(warnings),
    )


def classified(model: Model, values: Values, table: Table) -> NDArray[np.float64]:
    """What the quantifier sees of the items; an error in them names the table."""
    try:
        return model.items(values)
    except DataError as error:
        raise DataError(f"{table.name}: {error}") from error


def title_of(table: Table) -> str:
    """The last part of a path: the name of its batch."""
    return Path(table.name).name


def digest(value: Any) -> bytes:
    """A short fingerprint of an item's content."""
    data = value.encode() if isinstance(value, str) else np.asarray(value, np.float64).tobytes()
    return hashlib.blake2b(data, digest_size=12).digest()


class _Faults:
    """Counts of the rows and cells of a table that were not as they should be."""

    def __init__(self, table: Table, model: Model) -> None:
        self.table, self.content = table, CONTENT[model.columns.kind]
        self.left_out = self.undecodable = self.ragged = 0

    def add(self, items: Items) -> None:
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
    items: Items, title: str, grouping: Grouping | None, *, several: bool
) -> list[str]:
    if grouping is None:
        return [title] * len(items.rows)
    return [f"{title}: {group}" for group in items.groups] if several else items.groups


def _batches(
    names: Sequence[str], titles: Sequence[str], grouping: Grouping | None
) -> dict[str, Indices]:
    """Positions by batch: samples as given, groups in the order of numbers or of the alphabet."""
    order = list(titles)
    if grouping is not None and names:
        order = sorted(dict.fromkeys(names), key=_natural)
    positions: dict[str, list[int]] = {name: [] for name in order}
    for position, name in enumerate(names):
        positions[name].append(position)
    return {name: np.array(rows, dtype=np.int64) for name, rows in positions.items()}


def _natural(name: str) -> tuple[int, float, str]:
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
