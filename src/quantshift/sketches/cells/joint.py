"""Cells of three or more classes, in which the rows of large batches are counted.

Every row is counted several times. A *joint* cell is the three classes with the largest posteriors,
in order, and levels of what the first, the first two and the first three leave: octaves below 1/8,
eighths above (with up to four classes, which have few cells, 1/16 and sixteenths). It keeps the
sums of its posteriors and of their products, hence the mean and the covariances of its items. Sums
are whole numbers, which do not depend on any order.

A *marginal* cell is a class, whether it has the largest posterior, and the wide cell of its
posterior, as with two classes: methods that compare one class with the rest need no more, and
thresholds and histograms do need narrow cells. The expected class, sum_k k P(k | x), has marginal
cells, too, for methods that divide it into bins.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Posteriors, Reals
from quantshift.sketches.cells.score import WIDE, Cells

DEEPEST = (9, 7, 3)
"""Octaves of what the first, the first two and the first three classes leave begin at 2**-d."""

FEW_CLASSES = 4
"""Up to this many classes have narrower levels."""

FIXED, PRODUCT_FIXED = 20, 16
"""Sums of posteriors are in units of 2**-FIXED, those of products in 2**-PRODUCT_FIXED."""


@dataclass(frozen=True)
class JointCells:
    """The numbering of the cells of three or more classes.

    The first numbers are those of rounded rows, one for each class with the largest posterior. The
    joint cells follow, and then the marginal ones.
    """

    n_classes: int

    @property
    def linear(self) -> int:
        """From 2**-linear on levels have this width."""
        return 4 if self.n_classes <= FEW_CLASSES else 3

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Levels of what the first, the first two and the first three classes leave."""
        return tuple(max(deepest - self.linear, 0) + (1 << self.linear) for deepest in DEEPEST)

    def levels(self, share: Reals, deepest: int) -> Cells:
        """The level of each share below 1: one below 2**-deepest, then octaves, then linear ones.

        >>> JointCells(5).levels(np.array([0.0, 0.003, 0.1, 0.125, 0.26, 0.99]), 9).tolist()
        [0, 1, 6, 7, 8, 13]
        """
        n_octaves = max(deepest - self.linear, 0)
        level = n_octaves + np.floor(share * (1 << self.linear)).astype(np.int64)
        for octave in range(n_octaves, -1, -1) if n_octaves else ():
            level[share < 2.0 ** (octave - deepest)] = octave
        return np.asarray(level)

    @property
    def end_of_rows(self) -> int:
        """Cells below this one count every row once; those from it on are marginal."""
        return self.n_classes + self.n_classes**3 * int(np.prod(self.n_levels))

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return self.expected_start + WIDE.n_cells

    def marginal_start(self, k: int, *, largest: bool) -> int:
        """The first cell of a class, of the items for which it has the largest posterior or not."""
        return self.end_of_rows + (2 * k + largest) * WIDE.n_cells

    @property
    def expected_start(self) -> int:
        """The first of the cells of the expected class."""
        return self.marginal_start(self.n_classes, largest=False)

    def of(self, rows: Posteriors, largest: Cells) -> Cells:
        """The joint cells of rounded rows."""
        index = np.arange(len(rows))
        others = rows.copy()
        others[index, largest] = -1.0
        left = 1 - rows[index, largest]
        number, remaining = largest, [left]
        for _ in range(2):
            following = others.argmax(axis=1)
            number = number * self.n_classes + following
            remaining.append(remaining[-1] - others[index, following])
            others[index, following] = -1.0
        for share, deepest, n_levels in zip(remaining, DEEPEST, self.n_levels, strict=True):
            number = number * n_levels + self.levels(share, deepest)
        return np.asarray(self.n_classes + number)

    def marginal(self, rows: Posteriors, largest: Cells) -> Iterator[Cells]:
        """The marginal cells of rounded rows: of every class, and of the expected one."""
        for k, column in enumerate(rows.T):
            ahead = np.where(largest == k, WIDE.n_cells, 0)
            yield self.marginal_start(k, largest=False) + ahead + WIDE.of(column)
        yield self.expected_start + WIDE.of(expected_class(rows))

    def largest(self, cell: Cells) -> Cells:
        """The class with the largest posterior of rounded rows and joint cells."""
        size = self.n_classes**2 * int(np.prod(self.n_levels))
        return np.asarray(
            np.where(cell < self.n_classes, cell, (cell - self.n_classes) // size), dtype=np.int64
        )

    def left_levels(self, cell: Cells) -> Cells:
        """The level of what the first class leaves, for joint cells."""
        first, second, third = self.n_levels
        return np.asarray((cell - self.n_classes) // (second * third) % first)


def products(n_classes: int) -> list[tuple[int, int]]:
    """The pairs of classes whose products are summed; the last class follows from the others."""
    return list(combinations_with_replacement(range(n_classes - 1), 2))


def summed(rows: Posteriors) -> Cells:
    """What a joint cell sums over its rows: posteriors and products, without the last class."""
    n_classes = rows.shape[1]
    sums = _nearest(rows[:, :-1], FIXED)
    both = np.stack([rows[:, a] * rows[:, b] for a, b in products(n_classes)], axis=1)
    return np.concatenate([sums, _nearest(both, PRODUCT_FIXED)], axis=1)


def means(sums: Cells, counts: Cells) -> Posteriors:
    """The mean posteriors of cells. sums: (n_cells, n_classes - 1)."""
    leading = sums / (counts[:, np.newaxis] * float(1 << FIXED))
    last = np.maximum(1 - leading.sum(axis=1), 0.0)
    posteriors = np.column_stack([leading, last])
    return np.asarray(posteriors / posteriors.sum(axis=1, keepdims=True))


def covariances(sums: Cells, product_sums: Cells, counts: Cells) -> Reals:
    """The covariances of the posteriors of cells, (n_cells, n_classes, n_classes)."""
    n_classes = sums.shape[1] + 1
    leading = sums / (counts[:, np.newaxis] * float(1 << FIXED))
    mean_products = product_sums / (counts[:, np.newaxis] * float(1 << PRODUCT_FIXED))
    matrices = np.zeros((len(sums), n_classes, n_classes))
    for (a, b), column in zip(products(n_classes), mean_products.T, strict=True):
        matrices[:, a, b] = matrices[:, b, a] = column - leading[:, a] * leading[:, b]
    # Posteriors sum to one, so that every row of covariances sums to zero.
    matrices[:, -1, :-1] = matrices[:, :-1, -1] = -matrices[:, :-1, :-1].sum(axis=1)
    matrices[:, -1, -1] = -matrices[:, -1, :-1].sum(axis=1)
    matrices[counts == 1] = 0.0
    return matrices


def expected_class(rows: Posteriors) -> Reals:
    """Where the expected class is between the first class, 0, and the last, 1."""
    total = np.zeros(len(rows))
    for k, column in enumerate(rows.T[1:], start=1):
        total += k * column
    return np.asarray(total / (rows.shape[1] - 1))


def _nearest(values: Reals, fixed: int) -> NDArray[np.int64]:
    """Numbers as whole multiples of 2**-fixed."""
    return np.floor(values * float(1 << fixed) + 0.5).astype(np.int64)
