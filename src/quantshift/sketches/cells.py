"""Cells: where a score or a row of posteriors is counted.

Every border is a power of two or a multiple of one, and every step is a comparison or an arithmetic
operation that IEEE 754 defines to the last bit. A warehouse that counts by the query of `sql` finds
the same cells as this module for every number there is.

*Two classes.* The cells of the score s of the second class are narrow where it matters. Let x be
the distance to the nearer of 0 and 1. From 1/16 on, cells are 1/1024 wide; below, each octave of x
has `PER_OCTAVE` cells, down to 2**-24; 0 and 1 have cells of their own. Such a cell stands for its
middle.

*More classes.* A cell is the class with the largest posterior, the one with the second largest, and
on a logarithmic scale what the first leaves, and what both leave. It stands for the mean of its
posteriors, which are summed as whole multiples of 2**-30: sums of integers do not depend on any
order.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quantshift.types import Posteriors

Cells = NDArray[np.int64]
Reals = NDArray[np.float64]

MISSING, OUTSIDE = -1, -2
"""Cells of rows that are counted but not used: a score is missing, or it is none."""

REASONS = {
    MISSING: "no score",
    OUTSIDE: "not a score between 0 and 1",
}
"""Why rows of these cells are left out. Posteriors must also sum to 1 within `SUM_TOLERANCE`."""

PER_OCTAVE = 128
SMALLEST, LINEAR = 24, 5
"""Octaves of the distance x begin at 2**-SMALLEST and end at 2**-LINEAR."""

CENTRE = 1 + PER_OCTAVE + (SMALLEST - LINEAR) * PER_OCTAVE
"""The cell at 2**-LINEAR, behind 0, the linear cells below 2**-SMALLEST and the octaves."""

PER_UNIT = PER_OCTAVE << LINEAR
HALF = CENTRE + (PER_UNIT >> 1) - PER_OCTAVE
"""The cell of exactly one half; those above it mirror those below."""

LAST = 2 * HALF
"""The cell of exactly 1."""

LEVELS_PER_OCTAVE, DEEPEST = 4, 12
LEVELS = 1 + LEVELS_PER_OCTAVE * DEEPEST
"""Levels of what one or two classes leave: one below 2**-DEEPEST, then some for each octave."""

FIXED = 30
"""Sums of posteriors are in units of 2**-FIXED."""

SUM_TOLERANCE = 2.0**-10


def n_cells(n_classes: int) -> int:
    """How many cells there are."""
    return LAST + 1 if n_classes == 2 else n_classes * n_classes * LEVELS * LEVELS


def cells_of(posteriors: Posteriors) -> Cells:
    """The cell of every row.

    posteriors: (n_rows, 1) scores of the second class, or (n_rows, n_classes); NaN where there is
    none (`cells_with_gaps` tells nulls from NaN).
    """
    valid = usable(posteriors)
    known = posteriors if valid.all() else np.where(valid[:, np.newaxis], posteriors, 0.5)
    cells = score_cells(known[:, -1]) if posteriors.shape[1] <= 2 else vector_cells(known)
    if known is not posteriors:
        cells[~valid] = OUTSIDE
    return cells


def usable(posteriors: Posteriors) -> NDArray[np.bool_]:
    """Whether a row has posteriors: each from 0 to 1 and, of more than one, a sum of about 1."""
    with np.errstate(invalid="ignore"):
        valid = np.asarray(((posteriors >= 0) & (posteriors <= 1)).all(axis=1))
        if posteriors.shape[1] > 1:
            valid &= np.abs(_sums(posteriors) - 1) <= SUM_TOLERANCE
    return valid


def score_cells(scores: Reals) -> Cells:
    """The cells of scores from 0 to 1.

    >>> score_cells(np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist()
    [0, 3457, 4481, 5505, 8962]
    """
    upper = scores >= 0.5
    x = np.where(upper, 1 - scores, scores)  # exact for scores from one half on
    cells = (x * PER_UNIT).astype(np.int64)
    cells += CENTRE - PER_OCTAVE
    small = np.flatnonzero(x < 2.0**-LINEAR)
    cells[small] = _small_cells(x[small])
    return np.where(upper, LAST - cells, cells)


def _small_cells(x: Reals) -> Cells:
    """The cells of distances below 2**-LINEAR."""
    # The exponent and the first bits of the mantissa of a float number the cells of octaves.
    shift = 52 - (PER_OCTAVE.bit_length() - 1)
    bits = (x + 0.0).view(np.int64) >> shift
    first = int(np.float64(2.0**-SMALLEST).view(np.int64)) >> shift
    cells = bits - first + 1 + PER_OCTAVE
    tiny = x < 2.0**-SMALLEST
    cells[tiny] = 1 + (x[tiny] * float(PER_OCTAVE << SMALLEST)).astype(np.int64)
    cells[x == 0] = 0
    return cells


def score_middles() -> Reals:
    """The score that every cell stands for."""
    step = np.arange(PER_OCTAVE) + 0.5
    tiny = step / (PER_OCTAVE << SMALLEST)
    octaves = [
        (PER_OCTAVE + step) / (PER_OCTAVE << exponent) for exponent in range(SMALLEST, LINEAR, -1)
    ]
    linear = (PER_OCTAVE + np.arange((PER_UNIT >> 1) - PER_OCTAVE) + 0.5) / PER_UNIT
    lower = np.concatenate([[0.0], tiny, *octaves, linear])
    return np.concatenate([lower, [0.5], 1 - lower[::-1]])


def score_pieces(cell: Cells, n_pieces: int) -> Reals:
    """Scores spread evenly over each cell, (n_cells, n_pieces); 0, 1/2 and 1 are points."""
    middles = score_middles()
    step = np.arange(PER_OCTAVE)
    tiny = np.full(len(step), 1 / (PER_OCTAVE << SMALLEST))
    octaves = [np.full(len(step), 1 / (PER_OCTAVE << e)) for e in range(SMALLEST, LINEAR, -1)]
    linear = np.full((PER_UNIT >> 1) - PER_OCTAVE, 1 / PER_UNIT)
    lower = np.concatenate([[0.0], tiny, *octaves, linear])
    widths = np.concatenate([lower, [0.0], lower[::-1]])
    offsets = (np.arange(n_pieces) + 0.5) / n_pieces - 0.5
    return np.asarray(middles[cell, np.newaxis] + widths[cell, np.newaxis] * offsets)


def vector_cells(posteriors: Posteriors) -> Cells:
    """The cells of rows of three or more posteriors."""
    rows, n_classes = np.arange(len(posteriors)), posteriors.shape[1]
    first = posteriors.argmax(axis=1)
    others = posteriors.copy()
    others[rows, first] = -1.0
    second = others.argmax(axis=1)
    left = 1 - posteriors[rows, first]
    rest = left - others[rows, second]
    return np.asarray(
        ((first * n_classes + second) * LEVELS + levels(left)) * LEVELS + levels(rest)
    )


def levels(share: Reals) -> Cells:
    """The level of each share below 1 on a logarithmic scale; what is below 2**-DEEPEST has 0.

    >>> levels(np.array([-1e-17, 0.0, 0.24, 0.25, 0.99])).tolist()
    [0, 0, 40, 41, 48]
    """
    # From 2**-DEEPEST on these are the exponent and two bits of the mantissa.
    shift = 52 - (LEVELS_PER_OCTAVE.bit_length() - 1)
    first = int(np.float64(2.0**-DEEPEST).view(np.int64)) >> shift
    found = (np.ascontiguousarray(share).view(np.int64) >> shift) - first + 1
    found[share < 2.0**-DEEPEST] = 0
    return np.asarray(np.minimum(found, LEVELS - 1))


def fixed_point(posteriors: Posteriors) -> Cells:
    """Posteriors as whole multiples of 2**-FIXED, rounded down."""
    return np.floor(posteriors * float(1 << FIXED)).astype(np.int64)


def mean_posteriors(sums: Sequence[NDArray[np.int64]]) -> Posteriors:
    """The mean posteriors of cells from their sums, one for each class."""
    total = np.stack([np.asarray(column, dtype=np.float64) for column in sums], axis=1)
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _sums(posteriors: Posteriors) -> Reals:
    """From left to right, as SQL adds."""
    total = posteriors[:, 0].copy()
    for column in posteriors.T[1:]:
        total += column
    return total
