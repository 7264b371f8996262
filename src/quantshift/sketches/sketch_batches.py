"""The batches of a sketch, as samples that are given by counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from quantshift.own_data.columns import NO_GROUP
from quantshift.sketches import cells
from quantshift.sketches.count_intervals import Reals
from quantshift.sketches.counted import CountedSamples, distinct
from quantshift.sketches.sketch_table import (
    BATCH,
    CELL,
    COUNT,
    PRODUCTS,
    Sketch,
    rows_by_batch,
)
from quantshift.sketches.spreading import JointCounts
from quantshift.types import Posteriors

WHOLE = "all"
"""The name of the batch of a sketch that has no column of batches."""


@dataclass(frozen=True, eq=False)
class OwnBatch:
    """The usable rows of one batch.

    marginal: the counts of each class's posteriors, of more than two classes in cells.
    order: the column of each class among the posteriors.
    """

    name: str
    rows: pl.DataFrame
    marginal: pl.DataFrame
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

    @property
    def sample(self) -> CountedSamples:
        """The batch as a sample, alone."""
        about, posteriors, counts = self.sketch.about, self.posteriors, self.counts
        if self.sketch.is_exact:
            return CountedSamples(posteriors, counts[np.newaxis])
        if about.n_classes == 2:
            return CountedSamples(posteriors, counts[np.newaxis], in_cells=True)
        unit = counts[:, np.newaxis] * float(1 << cells.FIXED)
        class_of = np.argsort(self.order)
        first, second = about.joint.leading(self.rows[CELL].to_numpy())
        joint = JointCounts(
            posteriors,
            counts,
            first=class_of[first],
            second=class_of[second],
            moments=self.rows.select(PRODUCTS).to_numpy() / unit,
            marginals=[self._marginal(about.joint.marginal_start(k)) for k in self.order],
        )
        return CountedSamples(posteriors, counts[np.newaxis], joint=joint)

    def _marginal(self, start: int) -> tuple[cells.Cells, cells.Cells]:
        """Cells of the posterior of one class, and how many items are in each."""
        cell = self.marginal[CELL].to_numpy() - start
        belongs = (cell >= 0) & (cell < cells.N_SCORE_CELLS)
        numbers = self.marginal[COUNT].to_numpy()[belongs]
        occupied, place = np.unique(cell[belongs], return_inverse=True)
        totals = np.zeros(len(occupied), dtype=np.int64)
        np.add.at(totals, place, numbers)
        return occupied, totals


def batches_of(counted: Sketch, order: Sequence[int]) -> dict[str, OwnBatch]:
    """The batches by name, in order; those without usable rows among them."""
    usable, marginal = counted.usable(), counted.marginal()
    batches: dict[str, OwnBatch] = {}
    begin = marginal_begin = 0
    lengths, marginal_lengths = rows_by_batch(usable), rows_by_batch(marginal)
    for batch in counted.batches:
        # The table is sorted by batch, so that no row is copied.
        rows = usable.slice(begin, lengths.get(batch, 0))
        cells_of_classes = marginal.slice(marginal_begin, marginal_lengths.get(batch, 0))
        begin += rows.height
        marginal_begin += cells_of_classes.height
        name = batch_name(counted, batch)
        batches[name] = OwnBatch(name, rows, cells_of_classes, counted, order)
    return batches


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
        return [batches[name].sample for name in filled]
    if not filled:
        return []
    if not counted.is_exact:
        counts = np.zeros((len(filled), cells.n_cells(2)))
        for batch_counts, name in zip(counts, filled, strict=True):
            # A cell is there once for each value of the further columns.
            place = batches[name].rows[CELL].to_numpy()
            batch_counts += np.bincount(place, batches[name].counts, len(batch_counts))
        occupied = np.flatnonzero(counts.any(axis=0))
        scores = cells.score_middles()[occupied]
        posteriors = np.column_stack([1 - scores, scores])[:, order]
        return [CountedSamples(posteriors, counts[:, occupied], in_cells=True)]
    every = np.concatenate([batches[name].posteriors for name in filled])
    known, place = distinct(every)
    counts = np.zeros((len(filled), len(known)))
    first = 0
    for i, name in enumerate(filled):
        batch_counts = batches[name].counts
        np.add.at(counts[i], place[first : first + len(batch_counts)], batch_counts)
        first += len(batch_counts)
    return [CountedSamples(known, counts)]


def left_out_rows(counted: Sketch) -> dict[str, int]:
    """Rows of every batch that are counted but not used."""
    out = counted.table.filter(pl.col(CELL) < 0).group_by(BATCH).agg(pl.col(COUNT).sum())
    return {batch_name(counted, batch): int(n) for batch, n in out.iter_rows()}
