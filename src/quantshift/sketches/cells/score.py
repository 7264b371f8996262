"""Cells: where a score is counted.

Every border is a power of two or a multiple of one, and every step is a comparison or an arithmetic
operation that IEEE 754 defines to the last bit. A warehouse that counts by the query of `sql` finds
the same cells as this module for every number there is.

The cells of the score s of the second of two classes are narrow where it matters. Let x be the
distance to the nearer of 0 and 1. From 1/32 on, cells have equal widths; below, each octave of x
has the same number of cells, down to 2**-24; 0, 1/2 and 1 have cells of their own.

There are cells of several widths, and each lies within one of every wider kind. Small batches are
counted in narrow cells, because one row is a noticeable part of their estimates, and narrow cells
cost little if there are few rows. Large batches have so many rows in each cell that wide cells lose
no more. For more than two classes see `rounded` and `joint`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Posteriors, Reals

Cells = NDArray[np.int64]

MISSING, OUTSIDE = -1, -2
"""Cells of rows that are counted but not used: a score is missing, or it is not a valid one."""

REASONS = {
    MISSING: "no score, or not a number",
    OUTSIDE: "not a score between 0 and 1",
}
"""Why rows of these cells are left out. Posteriors must also sum to 1 within `SUM_TOLERANCE`."""

SUM_TOLERANCE = 2.0**-10

SMALLEST, LINEAR = 24, 5
"""Octaves of the distance x begin at 2**-SMALLEST and end at 2**-LINEAR."""

DECIMALS = 1000
"""Narrow cells stand for the multiple of 1 / DECIMALS in them: many scores have few digits."""


@dataclass(frozen=True)
class ScoreCells:
    """Cells of one width.

    per_octave: cells of each octave, a power of two. first: the number of the first cell, that of
    the score 0. decimal: whether cells stand for a number with few digits where they contain one.
    """

    per_octave: int
    first: int = 0
    decimal: bool = False

    @property
    def half(self) -> int:
        """The place of exactly one half; those above it mirror those below."""
        return 1 + (SMALLEST - LINEAR + (1 << (LINEAR - 1))) * self.per_octave

    @property
    def last(self) -> int:
        """The place of exactly 1."""
        return 2 * self.half

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return self.last + 1

    @property
    def end(self) -> int:
        """The first number that belongs to no cell."""
        return self.first + self.n_cells

    def of(self, scores: Reals) -> Cells:
        """The cells of scores from 0 to 1.

        >>> ScoreCells(128).of(np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist()
        [0, 3457, 4481, 5505, 8962]
        """
        upper = scores >= 0.5
        x = np.where(upper, 1 - scores, scores)  # exact for scores from one half on
        places = (x * float(self.per_octave << LINEAR)).astype(np.int64)
        places += 1 + (SMALLEST - LINEAR) * self.per_octave
        small = np.flatnonzero(x < 2.0**-LINEAR)
        places[small] = self._small(x[small])
        return self.first + np.where(upper, self.last - places, places)

    def _small(self, x: Reals) -> Cells:
        """The places of distances below 2**-LINEAR."""
        # The exponent and the first bits of the mantissa of a float number the cells of octaves.
        shift = 52 - (self.per_octave.bit_length() - 1)
        bits = (x + 0.0).view(np.int64) >> shift
        first = int(np.float64(2.0**-SMALLEST).view(np.int64)) >> shift
        places = bits - first + 1 + self.per_octave
        tiny = x < 2.0**-SMALLEST
        places[tiny] = 1 + (x[tiny] * float(self.per_octave << SMALLEST)).astype(np.int64)
        places[x == 0] = 0
        return places

    def middles(self, cell: Cells) -> Reals:
        """The middle of every cell; 0, 1/2 and 1 are points."""
        return np.asarray(self._middles[cell - self.first])

    def stands_for(self, cell: Cells) -> Reals:
        """The score that every cell stands for."""
        return np.asarray(self._stands_for[cell - self.first])

    def pieces(self, cell: Cells, n_pieces: int) -> Reals:
        """Scores spread evenly over each cell, (n_cells, n_pieces)."""
        offsets = (np.arange(n_pieces) + 0.5) / n_pieces - 0.5
        index = cell - self.first
        return np.asarray(
            self._middles[index, np.newaxis] + self._widths[index, np.newaxis] * offsets
        )

    def widened(self, cell: Cells, wider: "ScoreCells") -> Cells:
        """The cells of another width in which these lie."""
        index = cell - self.first
        below = np.minimum(index, self.last - index)
        factor = self.per_octave // wider.per_octave
        within = np.where(below == 0, 0, 1 + (below - 1) // factor)
        return np.asarray(wider.first + np.where(below == index, within, wider.last - within))

    @cached_property
    def _lower(self) -> tuple[Reals, Reals]:
        """Middles and widths of the cells below one half."""
        step = np.arange(self.per_octave)
        n_linear = (1 << (LINEAR - 1)) * self.per_octave
        numbers = [step, *(self.per_octave + step for _ in range(SMALLEST, LINEAR, -1))]
        scales = [self.per_octave << SMALLEST]
        scales += [self.per_octave << exponent for exponent in range(SMALLEST, LINEAR, -1)]
        numbers.append(np.arange(self.per_octave, n_linear))
        scales.append(self.per_octave << LINEAR)
        middles = [(n + 0.5) / scale for n, scale in zip(numbers, scales, strict=True)]
        widths = [np.full(len(n), 1 / scale) for n, scale in zip(numbers, scales, strict=True)]
        return np.concatenate([[0.0], *middles]), np.concatenate([[0.0], *widths])

    @cached_property
    def _middles(self) -> Reals:
        lower = self._lower[0]
        return np.concatenate([lower, [0.5], 1 - lower[::-1]])

    @cached_property
    def _widths(self) -> Reals:
        lower = self._lower[1]
        return np.concatenate([lower, [0.0], lower[::-1]])

    @cached_property
    def _stands_for(self) -> Reals:
        values = self._middles.copy()
        if self.decimal:
            numbers = np.arange(DECIMALS + 1) / DECIMALS
            values[self.of(numbers) - self.first] = numbers
        return values


WIDE = ScoreCells(128)
MIDDLE = ScoreCells(512, WIDE.end, decimal=True)
NARROW = ScoreCells(2048, MIDDLE.end, decimal=True)

BY_SIZE = ((1 << 16, NARROW), (1 << 18, MIDDLE))
"""The cells of batches of two classes with up to this many rows; those of others are wide."""

MOST_NARROW = 1 << 22
"""If a sketch has more rows in all, every batch is counted in wide cells."""

WIDTHS = (WIDE, MIDDLE, NARROW)
"""From the widest to the narrowest."""

N_SCORE_CELLS = NARROW.end


def width_of(cell: Cells) -> Cells:
    """The position of the width of each cell among `WIDTHS`."""
    return np.asarray(np.searchsorted([kind.end for kind in WIDTHS], cell, side="right"))


def scores_of(cell: Cells) -> Reals:
    """The scores that cells of any width stand for."""
    widths = width_of(cell)
    scores = np.empty(len(cell))
    for width, kind in enumerate(WIDTHS):
        own = widths == width
        if own.any():
            scores[own] = kind.stands_for(cell[own])
    return scores


def rescaled(posteriors: Posteriors) -> Posteriors:
    """Rows of three or more posteriors whose sum is one up to rounding."""
    return np.asarray(posteriors / _sums(posteriors)[:, np.newaxis])


def usable(posteriors: Posteriors) -> NDArray[np.bool_]:
    """Whether a row has posteriors: each from 0 to 1, and if there are several, a sum near 1."""
    with np.errstate(invalid="ignore"):
        valid = np.asarray(((posteriors >= 0) & (posteriors <= 1)).all(axis=1))
        if posteriors.shape[1] > 1:
            valid &= np.abs(_sums(posteriors) - 1) <= SUM_TOLERANCE
    return valid


def _sums(posteriors: Posteriors) -> Reals:
    """The sums of rows, added from left to right, as SQL adds."""
    total = posteriors[:, 0].copy()
    for column in posteriors.T[1:]:
        total += column
    return total
