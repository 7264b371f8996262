"""Cells: where a score or a row of posteriors is counted.

Every border is a power of two or a multiple of one, and every step is a comparison or an arithmetic
operation that IEEE 754 defines to the last bit. A warehouse that counts by the query of `sql` finds
the same cells as this module for every number there is.

*Two classes.* The cells of the score s of the second class are narrow where it matters. Let x be
the distance to the nearer of 0 and 1. From 1/16 on, cells are 1/1024 wide; below, each octave of x
has `PER_OCTAVE` cells, down to 2**-24; 0 and 1 have cells of their own. Such a cell stands for its
middle.

*More classes.* Every row is counted twice. A *joint* cell is the three classes with the largest
posteriors, in order, and on a logarithmic scale what the first leaves and what the first two leave.
It keeps the sums of its posteriors and the products of what is left, hence the mean and the spread
of its items. Sums are whole multiples of 2**-30: sums of integers do not depend on any order. A
*marginal* cell is a class and the cell of its posterior, as of two classes: methods that compare
one class with the rest need no more, and thresholds and histograms do need narrow cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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

N_SCORE_CELLS = LAST + 1

DEEPEST = 12
"""Levels of what one or two classes leave: one below 2**-DEEPEST, then some for each octave."""

FIXED = 30
"""Sums of posteriors and of products are in units of 2**-FIXED."""

N_PRODUCTS = 3
"""Products of what the first class leaves and what the first two leave."""

SUM_TOLERANCE = 2.0**-10


@dataclass(frozen=True)
class JointCells:
    """The numbering of the cells of three or more classes.

    per_octave: levels of what the first class leaves; rest_per_octave: of what the first two leave.
    """

    n_classes: int
    per_octave: int
    rest_per_octave: int

    @classmethod
    def of(cls, n_classes: int, *, labelled: bool = False) -> "JointCells":
        """Labelled rows have finer cells: there is one set of them for all batches."""
        if labelled:
            return cls(n_classes, 4, 4)
        return cls(n_classes, 2 if n_classes == 3 else 1, 1)

    @property
    def n_levels(self) -> int:
        """Levels of what the first class leaves."""
        return 1 + self.per_octave * DEEPEST

    @property
    def n_rest_levels(self) -> int:
        """Levels of what the first two classes leave."""
        return 1 + self.rest_per_octave * DEEPEST

    @property
    def n_joint(self) -> int:
        """How many cells there are; those behind them are marginal."""
        return self.n_classes**3 * self.n_levels * self.n_rest_levels

    @property
    def n_cells(self) -> int:
        """How many cells there are, with those of each class."""
        return self.n_joint + self.n_classes * N_SCORE_CELLS

    def cells(self, posteriors: Posteriors) -> Cells:
        """The joint cells of rows that sum to one."""
        leading, left, rest = leading_classes(posteriors)
        place = (leading[0] * self.n_classes + leading[1]) * self.n_classes + leading[2]
        place = place * self.n_levels + levels(left, self.per_octave)
        return np.asarray(place * self.n_rest_levels + levels(rest, self.rest_per_octave))

    def marginal_cells(self, posteriors: Posteriors, k: int) -> Cells:
        """The cells of the posteriors of one class."""
        return self.marginal_start(k) + score_cells(posteriors[:, k])

    def marginal_start(self, k: int) -> int:
        """The first of the cells of a class."""
        return self.n_joint + k * N_SCORE_CELLS

    def leading(self, cell: Cells) -> tuple[Cells, Cells]:
        """The two classes with the largest posteriors of joint cells."""
        triple = cell // (self.n_levels * self.n_rest_levels)
        return triple // self.n_classes**2, triple // self.n_classes % self.n_classes

    def sample_levels(self, cell: Cells) -> Cells:
        """The level of what the first class leaves, as the cells of unlabelled rows have it."""
        level = cell // self.n_rest_levels % self.n_levels
        coarse = JointCells.of(self.n_classes).per_octave
        return np.asarray(-(-level * coarse // self.per_octave))


def n_cells(n_classes: int, *, labelled: bool = False) -> int:
    """How many cells there are."""
    if n_classes == 2:
        return N_SCORE_CELLS
    return JointCells.of(n_classes, labelled=labelled).n_cells


def cells_of(posteriors: Posteriors, *, labelled: bool = False) -> Cells:
    """The cell of every row; of more than two classes, the joint one.

    posteriors: (n_rows, 1) scores of the second class, or (n_rows, n_classes); NaN where there is
    none.
    """
    valid = usable(posteriors)
    known = posteriors if valid.all() else np.where(valid[:, np.newaxis], posteriors, 0.5)
    if posteriors.shape[1] <= 2:
        cells = score_cells(known[:, -1])
    else:
        cells = JointCells.of(posteriors.shape[1], labelled=labelled).cells(normalised(known))
    if known is not posteriors:
        cells[~valid] = OUTSIDE
    return cells


def normalised(posteriors: Posteriors) -> Posteriors:
    """Rows of three or more posteriors whose sum is one but for rounding."""
    return np.asarray(posteriors / _sums(posteriors)[:, np.newaxis])


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


def leading_classes(posteriors: Posteriors) -> tuple[Cells, Reals, Reals]:
    """The three classes with the largest posteriors, what the first leaves, and the first two.

    Of equal posteriors the class that comes first leads. Classes are (3, n_rows).
    """
    rows, others = np.arange(len(posteriors)), posteriors.copy()
    leading, remaining = [], [np.ones(len(posteriors))]
    for _ in range(3):
        largest = others.argmax(axis=1)
        leading.append(largest)
        remaining.append(remaining[-1] - others[rows, largest])
        others[rows, largest] = -1.0
    return np.stack(leading), remaining[1], remaining[2]


def levels(share: Reals, per_octave: int) -> Cells:
    """The level of each share below 1 on a logarithmic scale; what is below 2**-DEEPEST has 0.

    >>> levels(np.array([-1e-17, 0.0, 0.24, 0.25, 0.99]), 4).tolist()
    [0, 0, 40, 41, 48]
    """
    # From 2**-DEEPEST on these are the exponent and the first bits of the mantissa.
    shift = 52 - (per_octave.bit_length() - 1)
    first = int(np.float64(2.0**-DEEPEST).view(np.int64)) >> shift
    level = (np.ascontiguousarray(share).view(np.int64) >> shift) - first + 1
    level[share < 2.0**-DEEPEST] = 0
    return np.asarray(np.minimum(level, per_octave * DEEPEST))


def fixed_point(values: Reals) -> Cells:
    """Numbers as whole multiples of 2**-FIXED, rounded down."""
    return np.floor(values * float(1 << FIXED)).astype(np.int64)


def summed_columns(posteriors: Posteriors) -> Cells:
    """What a joint cell sums up, (n_rows, n_classes + N_PRODUCTS), in units of 2**-FIXED.

    The posteriors, and the products of what the first class leaves and what the first two leave.
    """
    _, left, rest = leading_classes(posteriors)
    products = np.stack([left * left, left * rest, rest * rest], axis=1)
    return np.concatenate([fixed_point(posteriors), fixed_point(products)], axis=1)


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
