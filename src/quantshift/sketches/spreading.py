"""Items that stand for the cells of more than two classes, as a method needs them.

Methods that compare one class with the rest look at the posteriors of each class alone. They get
items whose posteriors of every class are distributed as the marginal cells say; which posterior of
one class is beside which of another does not matter to them, and their sum need not be one. All
others get a few items for each joint cell, with the mean and the spread of its items: an error that
is left is of third order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.quantifiers.items import Items
from quantshift.sketches import cells
from quantshift.types import Posteriors

Reals = NDArray[np.float64]

LEAST_SPREAD = 2.0 ** (4 - cells.FIXED)
"""Variances below this one are rounding errors of the sums."""


@dataclass(frozen=True, eq=False)
class JointCounts:
    """One sample in cells of more than two classes.

    posteriors: (n_cells, n_classes), the means of the joint cells; counts: (n_cells,).
    first, second: the classes with the largest posteriors of each cell. moments: (n_cells, 3),
    the means of the squares and the product of what the first leaves and what both leave.
    marginals: for each class, cells of its posterior and how many items are in each.
    """

    posteriors: Posteriors
    counts: Reals
    first: cells.Cells
    second: cells.Cells
    moments: Reals
    marginals: Sequence[tuple[cells.Cells, cells.Cells]]

    def class_by_class(self, n_pieces: int) -> Items:
        """Items with the right posteriors of every class, in order of size.

        The cells of every class are divided into pieces, over which their items are spread evenly,
        and an item is where one piece of each class overlaps with the others.
        """
        scores, ends = [], []
        for cell, numbers in self.marginals:
            scores.append(cells.score_pieces(cell, n_pieces).ravel())
            # In units of a piece of an item, so that the ends are whole numbers.
            ends.append(np.cumsum(np.repeat(numbers, n_pieces)))
        borders = np.unique(np.concatenate(ends))
        columns = [
            values[np.searchsorted(end, borders)] for values, end in zip(scores, ends, strict=True)
        ]
        weights = np.diff(borders, prepend=0) / n_pieces
        return Items(np.column_stack(columns), weights=weights)

    def spread(self) -> Items:
        """Items around the mean of every cell, with its spread.

        In each of the two main directions there are two items to either side of the mean, as far
        as the standard deviation asks for and the simplex permits.
        """
        rows = np.arange(len(self.posteriors))
        first = self.posteriors[rows, self.first]
        second = self.posteriors[rows, self.second]
        corners = np.column_stack([first, second, np.maximum(1 - first - second, 0.0)])
        left, rest = 1 - first, corners[:, 2]
        variances, axes = np.linalg.eigh(_covariances(self.moments, left, rest))
        placed, weights = [], []
        for direction in range(2):
            d_left, d_rest = axes[:, 0, direction], axes[:, 1, direction]
            step = np.column_stack([-d_left, d_left - d_rest, d_rest])
            # Half of the items are spread in either direction, by twice the variance.
            forward, backward = _steps(corners, step, 2 * variances[:, direction])
            for distance, other in ((forward, backward), (-backward, forward)):
                both = forward + backward
                share = np.divide(other, both, out=np.full_like(both, 0.5), where=both > 0)
                placed.append(self._moved(corners + distance[:, np.newaxis] * step))
                weights.append(self.counts / 2 * share)
        return Items(np.concatenate(placed), weights=np.concatenate(weights))

    def _moved(self, corners: Reals) -> Posteriors:
        """Posteriors whose first two and rest are these; the rest is divided as in the mean."""
        rows = np.arange(len(corners))
        others = self.posteriors.copy()
        others[rows, self.first] = others[rows, self.second] = 0.0
        total = others.sum(axis=1)
        scale = np.divide(corners[:, 2], total, out=np.zeros_like(total), where=total > 0)
        moved = others * scale[:, np.newaxis]
        moved[rows, self.first], moved[rows, self.second] = corners[:, 0], corners[:, 1]
        moved = np.maximum(moved, 0.0)
        return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def _covariances(moments: Reals, left: Reals, rest: Reals) -> Reals:
    """Of what the first class leaves and what the first two leave, (n_cells, 2, 2)."""
    covariances = np.empty((len(left), 2, 2))
    covariances[:, 0, 0] = moments[:, 0] - left * left
    covariances[:, 0, 1] = covariances[:, 1, 0] = moments[:, 1] - left * rest
    covariances[:, 1, 1] = moments[:, 2] - rest * rest
    return covariances


def _steps(corners: Reals, step: Reals, variances: Reals) -> tuple[Reals, Reals]:
    """How far to go forward and backward: the product is the variance where the simplex permits."""
    wanted = np.sqrt(np.where(variances > LEAST_SPREAD, variances, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        most_forward = np.where(step < 0, corners / -step, np.inf).min(axis=1)
        most_backward = np.where(step > 0, corners / step, np.inf).min(axis=1)
        forward = np.minimum(wanted, most_forward)
        backward = np.minimum(np.where(forward > 0, wanted**2 / forward, 0.0), most_backward)
        forward = np.minimum(np.where(backward > 0, wanted**2 / backward, 0.0), most_forward)
    return forward, backward
