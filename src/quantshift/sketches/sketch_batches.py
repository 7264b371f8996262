"""The batches of a sketch, as samples that are given by counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from quantshift.own_data.columns import NO_GROUP
from quantshift.sketches import cells
from quantshift.sketches.count_intervals import Reals
from quantshift.sketches.counted import CountedSamples, distinct
from quantshift.sketches.sketch_table import BATCH, CELL, COUNT, Sketch, rows_by_batch
from quantshift.types import Posteriors

WHOLE = "all"
"""The name of the batch of a sketch that has no column of batches."""


@dataclass(frozen=True, eq=False)
class OwnBatch:
    """The usable rows of one batch. order: the column of each class among the posteriors."""

    name: str
    rows: pl.DataFrame
    sketch: Sketch
    order: Sequence[int]

    @property
    def posteriors(self) -> Posteriors:
        """Of every row, in the order of the classes; made when asked for, since there are many."""
        return self.sketch.posteriors_of(self.rows)[:, list(self.order)]

    @property
    def counts(self) -> Reals:
        """How many items each row stands for."""
        return self.rows[COUNT].to_numpy().astype(np.float64)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return int(self.rows[COUNT].sum())


def batches_of(counted: Sketch, order: Sequence[int]) -> dict[str, OwnBatch]:
    """The batches by name, in order; those without usable rows among them."""
    usable = counted.usable()
    found, begin = {}, 0
    lengths = rows_by_batch(usable)
    for batch in counted.batches:
        # The table is sorted by batch, so that no row is copied.
        rows = usable.slice(begin, lengths.get(batch, 0))
        begin += rows.height
        name = batch_name(counted, batch)
        found[name] = OwnBatch(name, rows, counted, order)
    return found


def batch_name(counted: Sketch, batch: str | None) -> str:
    """How a batch is called; rows without one have a name, too."""
    if batch is not None:
        return batch
    return WHOLE if counted.batches == [None] else NO_GROUP


def grouped(
    counted: Sketch,
    batches: Mapping[str, OwnBatch],
    filled: Sequence[str],
    order: Sequence[int],
) -> list[CountedSamples]:
    """Samples of the same cells together; where cells stand for means each has cells of its own."""
    if counted.about.n_classes > 2 and not counted.is_exact:
        return [
            CountedSamples(batches[name].posteriors, batches[name].counts[np.newaxis])
            for name in filled
        ]
    if not filled:
        return []
    if not counted.is_exact:
        counts = np.zeros((len(filled), cells.n_cells(2)))
        for own, name in zip(counts, filled, strict=True):
            # A cell is there once for each value of the further columns.
            place = batches[name].rows[CELL].to_numpy()
            own += np.bincount(place, batches[name].counts, len(own))
        occupied = np.flatnonzero(counts.any(axis=0))
        scores = cells.score_middles()[occupied]
        posteriors = np.column_stack([1 - scores, scores])[:, order]
        return [CountedSamples(posteriors, counts[:, occupied], in_cells=True)]
    every = np.concatenate([batches[name].posteriors for name in filled])
    known, place = distinct(every)
    counts = np.zeros((len(filled), len(known)))
    first = 0
    for i, name in enumerate(filled):
        own = batches[name].counts
        np.add.at(counts[i], place[first : first + len(own)], own)
        first += len(own)
    return [CountedSamples(known, counts)]


def left_out_rows(counted: Sketch) -> dict[str, int]:
    """Rows of every batch that are counted but not used."""
    out = counted.table.filter(pl.col(CELL) < 0).group_by(BATCH).agg(pl.col(COUNT).sum())
    return {batch_name(counted, batch): int(n) for batch, n in out.iter_rows()}
