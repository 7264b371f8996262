"""Rows of three or more posteriors, rounded.

A small batch keeps every row, rounded to narrow cells: the class with the largest posterior, and
the cells of the posteriors of all others. What the others leave is the largest posterior. All of
these are relative errors of at most 1/4096, also of the distance of the largest posterior to one,
and rows whose cells are the same are counted together.

What a large batch keeps (see `joint`) is computed from rounded rows, too, so that the result is the
same whether small batches are merged into a large one or it is counted at once. Cells stand for
their middles there: these are multiples of a power of two, and sums of them are exact.
"""

import numpy as np

from quantshift.base.types import Posteriors, Reals
from quantshift.sketches.cells import score as cells
from quantshift.sketches.cells.score import Cells

ROUNDING = cells.ScoreCells(cells.NARROW.per_octave, decimal=True)
"""The cells of posteriors that are not the largest, hence at most one half."""

MOST_ROWS = 1 << 15
"""Batches with up to this many rows keep them."""

MOST_ROWS_IN_ALL = 1 << 21
"""If a sketch has more rows in all, no batch keeps its rows."""

LEAST_GAP = 2.0**-40
"""The least difference between the largest posterior and any other."""


def rounded_cells(posteriors: Posteriors) -> tuple[Cells, Cells]:
    """The class with the largest posterior, and the cells of the others, (n_rows, n_classes - 1).

    posteriors: rows that sum to one. If posteriors are equal, the first class counts as largest.
    """
    largest = posteriors.argmax(axis=1)
    others = np.take_along_axis(posteriors, other_classes(posteriors.shape[1])[largest], axis=1)
    return largest, ROUNDING.of(np.minimum(others, 0.5).ravel()).reshape(others.shape)


def middles(largest: Cells, codes: Cells) -> Posteriors:
    """Posteriors in the middle of the cells, exact sums of powers of two."""
    return _rows(largest, ROUNDING.middles(codes))


def stands_for(largest: Cells, codes: Cells) -> Posteriors:
    """The posteriors that rounded rows stand for; the largest is where it was."""
    others = ROUNDING.stands_for(codes)
    rows = _rows(largest, others)
    index = np.arange(len(rows))
    top = rows[index, largest]
    digits = np.round(top * cells.DECIMALS) / cells.DECIMALS
    top = np.where(np.abs(digits - top) < LEAST_GAP, digits, top)
    rows[index, largest] = np.maximum(top, 0.0)
    argmax = rows.argmax(axis=1)
    wrong = np.flatnonzero(argmax != largest)
    if len(wrong):
        # Two posteriors that are as good as equal.
        one, other = rows[wrong, largest[wrong]], rows[wrong, argmax[wrong]]
        rows[wrong, largest[wrong]] = other
        rows[wrong, argmax[wrong]] = np.minimum(one, other - LEAST_GAP)
    return rows


def other_classes(n_classes: int) -> Cells:
    """For each class all others in order, (n_classes, n_classes - 1)."""
    every = np.arange(n_classes)
    return np.stack([np.delete(every, k) for k in every])


def _rows(largest: Cells, others: Reals) -> Posteriors:
    n_classes = others.shape[1] + 1
    rows = np.empty((len(others), n_classes))
    left = others[:, 0].copy()
    for column in others.T[1:]:
        left += column
    np.put_along_axis(rows, other_classes(n_classes)[largest], others, axis=1)
    rows[np.arange(len(rows)), largest] = 1 - left
    return rows
