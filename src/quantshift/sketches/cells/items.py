"""Items that stand for the joint and marginal cells of a large batch, as a method needs them.

Methods that compare one class with the rest look at the posteriors of each class alone. They get
items whose posteriors of every class are distributed as the marginal cells say; which posterior of
one class is beside which of another does not matter to them, and their sum need not be one. In the
same way other methods get the posteriors of predicted classes, or the expected class. All others
get a few items for each joint cell, with the mean and the covariances of its items: the remaining
error is of third order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Posteriors, Reals
from quantshift.items.items import Items
from quantshift.sketches.cells.score import WIDE, Cells

Marginal = tuple[Cells, Cells]
"""Wide cells of a score, and how many items are in each."""

LEAST_VARIANCE = 2.0**-34
"""Variances below this one are rounding errors."""


@dataclass(frozen=True, eq=False)
class JointCounts:
    """One sample in joint and marginal cells of more than two classes.

    posteriors: (n_cells, n_classes), the means of the joint cells; counts: (n_cells,);
    covariances: (n_cells, n_classes, n_classes); largest: the class with the largest posterior.
    marginals: for each class, the cells of its posteriors. predicted: the same for the items for
    which it is the largest. expected: the cells of the expected class, between 0 and 1; None if the
    sketch does not know it for this order of classes.
    """

    posteriors: Posteriors
    counts: Reals
    covariances: Reals
    largest: Cells
    marginals: Sequence[Marginal]
    predicted: Sequence[Marginal]
    expected: Marginal | None

    def class_by_class(self, n_pieces: int) -> Items:
        """Items with the right posteriors of every class, in order of size.

        The cells of every class are divided into pieces, over which their items are spread evenly,
        and an item is where one piece of each class overlaps with the others.
        """
        scores, ends = [], []
        for cell, numbers in self.marginals:
            scores.append(WIDE.pieces(cell, n_pieces).ravel())
            # In units of a piece of an item, so that the ends are whole numbers.
            ends.append(np.cumsum(np.repeat(numbers, n_pieces)))
        borders = np.unique(np.concatenate(ends))
        columns = [
            values[np.searchsorted(end, borders)] for values, end in zip(scores, ends, strict=True)
        ]
        weights = np.diff(borders, prepend=0) / n_pieces
        return Items(np.column_stack(columns), weights=weights)

    def by_prediction(self, n_pieces: int) -> Items:
        """Items with the right predictions and posteriors of the predicted class."""
        n_classes = len(self.predicted)
        rows, weights = [], []
        for k, (cell, numbers) in enumerate(self.predicted):
            score = WIDE.pieces(cell, n_pieces).ravel()
            others = np.repeat((1 - score)[:, np.newaxis] / (n_classes - 1), n_classes, axis=1)
            others[:, k] = score
            rows.append(others)
            weights.append(np.repeat(numbers / n_pieces, n_pieces))
        return Items(np.concatenate(rows), weights=np.concatenate(weights))

    def by_expected_class(self, n_pieces: int) -> Items:
        """Items with the right expected class, between the first class and the last."""
        if self.expected is None:
            return self.spread()
        cell, numbers = self.expected
        position = WIDE.pieces(cell, n_pieces).ravel()
        rows = np.zeros((len(position), self.posteriors.shape[1]))
        rows[:, 0], rows[:, -1] = 1 - position, position
        return Items(rows, weights=np.repeat(numbers / n_pieces, n_pieces))

    def predictions(self) -> Posteriors:
        """The class with the largest posterior of every cell, as certain posteriors."""
        return np.asarray(np.eye(self.posteriors.shape[1])[self.largest])

    def spread(self) -> Items:
        """Items around the mean of every cell, with its covariances."""
        return spread_items(self.posteriors, self.covariances, self.counts)


def spread_items(means: Posteriors, covariances: Reals, counts: Reals) -> Items:
    """Weighted items with these means and covariances, as far as the simplex permits.

    In each of the main directions there are two items, one on either side of the mean. Their
    distances are equal if the simplex has room; otherwise one is nearer and weighs more.
    """
    n_directions = means.shape[1] - 1
    variances, axes = np.linalg.eigh(covariances)
    points, weights = [], []
    # The first axis is the one along which sums of posteriors would change.
    for direction in range(1, means.shape[1]):
        step = axes[:, :, direction]
        # Only one part in n_directions is spread in each direction, by as many times the variance.
        forward, backward = _steps(means, step, n_directions * variances[:, direction])
        both = forward + backward
        share = np.divide(backward, both, out=np.full_like(both, 0.5), where=both > 0)
        for distance, part in ((forward, share), (-backward, 1 - share)):
            points.append(means + distance[:, np.newaxis] * step)
            weights.append(counts / n_directions * part)
    posteriors = np.maximum(np.concatenate(points), 0.0)
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    return Items(posteriors, weights=np.concatenate(weights))


def _steps(means: Reals, step: Reals, variances: Reals) -> tuple[Reals, Reals]:
    """How far to go forward and backward: the product is the variance where the simplex permits."""
    distance = np.sqrt(np.where(variances > LEAST_VARIANCE, variances, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        most_forward = np.where(step < 0, means / -step, np.inf).min(axis=1)
        most_backward = np.where(step > 0, means / step, np.inf).min(axis=1)
        forward = np.minimum(distance, most_forward)
        backward = np.minimum(np.where(forward > 0, distance**2 / forward, 0.0), most_backward)
        forward = np.minimum(np.where(backward > 0, distance**2 / backward, 0.0), most_forward)
    return forward, backward
