"""The batches of a sketch, as samples that are given by counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from quantshift.answers.batch_names import NO_GROUP, batches_in_order
from quantshift.base.types import Posteriors, Reals
from quantshift.sketches.about import BATCH, CELL, COUNT
from quantshift.sketches.cells.items import JointCounts, Marginal
from quantshift.sketches.cells.joint import covariances
from quantshift.sketches.cells.score import WIDE
from quantshift.sketches.estimating.counts import CountedSamples, distinct
from quantshift.sketches.sketch_table import Sketch, rows_by_batch

OUT = "left_out"

WHOLE = "all"
"""The name of the batch of a sketch that has no column of batches."""


@dataclass(frozen=True, eq=False)
class OwnBatch:
    """The usable rows of one batch.

    marginal: the counts of each class's posteriors, if there are more than two classes in cells.
    order: the column of each class among the posteriors.
    """

    name: str
    rows: pl.DataFrame
    marginal: pl.DataFrame
    sketch: Sketch
    order: Sequence[int]

    @property
    def posteriors(self) -> Posteriors:
        """The posteriors of every row, in the order of the classes; many, so made on demand."""
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
    def is_wide(self) -> bool:
        """Whether the rows are in the widest cells, and neither as they are nor rounded."""
        if self.sketch.is_exact or not self.rows.height:
            return False
        about, largest = self.sketch.about, int(self.rows[CELL].to_numpy().max())
        return largest < WIDE.end if about.n_classes == 2 else largest >= about.n_classes

    @property
    def sample(self) -> CountedSamples:
        """The batch as a sample, alone."""
        about, posteriors, counts = self.sketch.about, self.posteriors, self.counts
        if not self.is_wide:
            return CountedSamples(posteriors, counts[np.newaxis])
        if about.n_classes == 2:
            return CountedSamples(posteriors, counts[np.newaxis], in_cells=True)
        order, joint = list(self.order), about.joint
        numbers = self.rows[COUNT].to_numpy()
        spread = covariances(
            self.rows.select(about.sums).to_numpy(),
            self.rows.select(about.products).to_numpy(),
            numbers,
        )
        by_class = [
            [self._marginal(joint.marginal_start(k, largest=b)) for b in (False, True)]
            for k in order
        ]
        cells_of_batch = JointCounts(
            posteriors,
            counts,
            covariances=spread[:, order][:, :, order],
            largest=np.argsort(order)[joint.largest(self.rows[CELL].to_numpy())],
            marginals=[_together(parts) for parts in by_class],
            predicted=[predicted for _, predicted in by_class],
            expected=self._expected(),
        )
        return CountedSamples(posteriors, counts[np.newaxis], joint=cells_of_batch)

    def _expected(self) -> Marginal | None:
        """The expected class, which was counted with classes in the order of the columns."""
        order = list(self.order)
        cell, numbers = self._marginal(self.sketch.about.joint.expected_start)
        if numbers.sum() < self.n_items:
            return None
        if order == sorted(order):
            return cell, numbers
        if order == sorted(order, reverse=True):
            return (WIDE.last - cell)[::-1], numbers[::-1]
        return None

    def _marginal(self, start: int) -> Marginal:
        """The wide cells from a number on, and how many items are in each."""
        cell = self.marginal[CELL].to_numpy() - start
        belongs = (cell >= 0) & (cell < WIDE.n_cells)
        return _together([(cell[belongs], self.marginal[COUNT].to_numpy()[belongs])])


def _together(parts: Sequence[Marginal]) -> Marginal:
    """The counts of all parts, each cell once."""
    occupied, index = np.unique(np.concatenate([cell for cell, _ in parts]), return_inverse=True)
    totals = np.zeros(len(occupied), dtype=np.int64)
    np.add.at(totals, index, np.concatenate([numbers for _, numbers in parts]))
    return occupied, totals


def batches_of(counted: Sketch, order: Sequence[int]) -> dict[str, OwnBatch]:
    """The batches by name, in order, including those without usable rows.

    Rows with neither a batch nor a score belong to some batch: see `left_out_rows`.
    """
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
    if NO_GROUP in batches and not batches[NO_GROUP].n_items:
        del batches[NO_GROUP]
    # A sketch is sorted by text, in which 10 comes before 9.
    return {name: batches[name] for name in batches_in_order(batches)}


def batch_name(counted: Sketch, batch: str | None) -> str:
    """The name of a batch; rows without a batch have a name, too."""
    if batch is not None:
        return batch
    return WHOLE if counted.batches == [None] else NO_GROUP


def grouped(
    counted: Sketch,
    batches: Mapping[str, OwnBatch],
    filled: Sequence[str],
    order: Sequence[int],
) -> list[CountedSamples]:
    """Samples of the same cells together; in narrow cells, or of many classes, each by itself."""
    if not filled:
        return []
    if not counted.is_exact:
        if counted.about.n_classes > 2 or not all(batches[name].is_wide for name in filled):
            return [batches[name].sample for name in filled]
        counts = np.zeros((len(filled), WIDE.n_cells))
        for batch_counts, name in zip(counts, filled, strict=True):
            # A cell is there once for each value of the further columns.
            cell = batches[name].rows[CELL].to_numpy()
            batch_counts += np.bincount(cell, batches[name].counts, len(batch_counts))
        occupied = np.flatnonzero(counts.any(axis=0))
        scores = WIDE.middles(occupied)
        posteriors = np.column_stack([1 - scores, scores])[:, order]
        return [CountedSamples(posteriors, counts[:, occupied], in_cells=True)]
    every = np.concatenate([batches[name].posteriors for name in filled])
    cells, index = distinct(every)
    counts = np.zeros((len(filled), len(cells)))
    first = 0
    for i, name in enumerate(filled):
        batch_counts = batches[name].counts
        np.add.at(counts[i], index[first : first + len(batch_counts)], batch_counts)
        first += len(batch_counts)
    return [CountedSamples(cells, counts)]


def left_out_rows(counted: Sketch) -> dict[str, int]:
    """Rows of every batch that are counted but not used.

    Rows of an unknown batch, such as lines of a CSV file that cannot be read, are left out of all
    batches in proportion to their sizes, unless other rows have no batch either.
    """
    rows = counted.table.filter(pl.col(CELL) < counted.about.end_of_rows)
    totals = rows.group_by(BATCH).agg(
        pl.col(COUNT).sum(), pl.col(COUNT).filter(pl.col(CELL) < 0).sum().alias(OUT)
    )
    sizes = {batch_name(counted, batch): (int(n), int(out)) for batch, n, out in totals.iter_rows()}
    n_unknown, n_unreadable = sizes.get(NO_GROUP, (0, 0))
    if n_unknown > n_unreadable:
        n_unreadable = 0
    else:
        sizes.pop(NO_GROUP, None)
    n_known = sum(n for n, _ in sizes.values())
    # Rounded up, because the batch is unknown.
    return {name: out + -(-n_unreadable * n // max(n_known, 1)) for name, (n, out) in sizes.items()}
