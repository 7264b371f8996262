"""Is a batch a mixture of the training classes? A test from counts of scores.

Under prior shift the scores of a batch are those of the training classes in some proportion. Cells
are put together into groups, by the predicted class and how sure the prediction is and, if the
sketches are counted by further columns, by those. The mixture that fits the shares of the groups
best is found by generalised least squares, whose weights allow for the noise of the batch and of
the training classes; the remainder has a chi-squared distribution. If the test rejects, the scores
(or their mix over the columns) have changed in a way that no change of prevalence explains.

A batch of more than `MOST_TESTED` items is tested on that many of them, drawn at random: with more,
even negligible differences are significant.

Reference: A. Agresti, "Categorical Data Analysis", 3rd ed., 2013, ch. 1 and 16 (minimum chi-squared
and generalised least squares).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from quantshift.base.seeding import generator
from quantshift.base.types import Posteriors, Prevalences, Reals
from quantshift.quantifying.estimating.evidence import MOST_TESTED
from quantshift.sketches.cells.joint import DEEPEST, JointCells

Groups = NDArray[np.int64]

PER_CLASS = 8
"""Groups of how sure a prediction is, for each predicted class."""

FEWEST_EXPECTED = 5.0
"""Groups in which fewer items are expected are put together."""

ROUNDS = 3
"""The weights of least squares depend on the mixture, and are found with it."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predicted class of every cell, and how sure the prediction is on any scale."""

    predicted: Groups
    certainty: Reals

    @classmethod
    def of_posteriors(cls, posteriors: Posteriors) -> "Predictions":
        """By the largest posterior; with more than two classes, by the level of what it leaves.

        All items of a joint cell have the same level.
        """
        predicted, largest = posteriors.argmax(axis=1), posteriors.max(axis=1)
        if posteriors.shape[1] > 2:
            joint = JointCells(posteriors.shape[1])
            return cls(predicted, -joint.levels(1 - largest, DEEPEST[0]).astype(np.float64))
        return cls(predicted, largest)


@dataclass(frozen=True, eq=False)
class ScoreGroups:
    """Groups of scores, divided so that training items of each predicted class are spread evenly.

    borders: for each class, where its groups end on the scale of certainty.
    """

    borders: tuple[Reals, ...]

    @classmethod
    def of(cls, cells: Predictions, counts: Reals, n_classes: int) -> "ScoreGroups":
        """From the cells of training items and how many there are."""
        borders = []
        for k in range(n_classes):
            members = cells.predicted == k
            order = np.argsort(cells.certainty[members], kind="stable")
            values, upper = cells.certainty[members][order], np.cumsum(counts[members][order])
            goals = np.arange(1, PER_CLASS) / PER_CLASS * (upper[-1] if len(upper) else 0)
            borders.append(
                np.unique(values[np.searchsorted(upper, goals)]) if len(upper) else upper
            )
        return cls(tuple(borders))

    def __call__(self, cells: Predictions) -> Groups:
        """The group of every cell."""
        groups = cells.predicted * PER_CLASS
        for k, borders in enumerate(self.borders):
            members = cells.predicted == k
            groups[members] += np.searchsorted(borders, cells.certainty[members], side="left")
        return np.asarray(groups)

    @property
    def n_groups(self) -> int:
        """How many there may be."""
        return len(self.borders) * PER_CLASS


def mixture_p_value(
    training: Reals, sample: Reals, p_hat: Prevalences, *, name: str, seed: int
) -> float | None:
    """The p-value of "the batch is a mixture of the training classes"; None with too few groups.

    training: (n_classes, n_groups), counts of training items; sample: (n_groups,), those of the
    batch. p_hat: where the search for the mixture begins. name: that of the batch, for the draw.
    """
    n_items = sample.sum()
    if n_items > MOST_TESTED:
        rng = generator(seed, purpose="test of counts", batch=name)
        drawn = rng.multivariate_hypergeometric(
            sample.astype(np.int64), MOST_TESTED, method="marginals"
        )
        sample, n_items = drawn.astype(np.float64), float(MOST_TESTED)
    sizes = training.sum(axis=1)
    expected = n_items * (p_hat @ (training / sizes[:, np.newaxis]))
    pooled = (training.sum(axis=0) + sample) / (sizes.sum() + n_items) * n_items
    training, sample = _merged_groups(training, sample, np.maximum(expected, pooled))
    n_classes, n_groups = training.shape
    degrees = n_groups - n_classes
    if degrees < 1:
        return None
    shares = training / sizes[:, np.newaxis]
    observed = sample / n_items
    # Shares sum to one: the last group, and the last class, add nothing.
    F, y = shares[:, :-1], observed[:-1]
    design, goal = (F[:-1] - F[-1]).T, y - F[-1]
    p, statistic = p_hat, 0.0
    for _ in range(ROUNDS):
        mixed = p @ shares
        covariance = _covariance(mixed) / n_items + sum(
            p[k] ** 2 * _covariance(shares[k]) / sizes[k] for k in range(n_classes)
        )
        inverse = np.linalg.pinv(covariance, hermitian=True)
        free, *_ = np.linalg.lstsq(
            design.T @ inverse @ design, design.T @ inverse @ goal, rcond=None
        )
        residuals = goal - design @ free
        statistic = float(residuals @ inverse @ residuals)
        p = np.maximum(np.append(free, 1 - free.sum()), 0.0)
        p = p / p.sum()
    return float(stats.chi2.sf(statistic, degrees))


def _covariance(shares: Reals) -> Reals:
    """The covariance of the shares of one item, without the last group."""
    p = shares[:-1]
    return np.asarray(np.diag(p) - np.outer(p, p))


def _merged_groups(training: Reals, sample: Reals, expected: Reals) -> tuple[Reals, Reals]:
    """Groups in which few items are expected are merged with their neighbours."""
    merged, current, waiting = np.zeros(len(sample), dtype=np.int64), 0, 0.0
    for group, number in enumerate(expected):
        merged[group] = current
        waiting += number
        if waiting >= FEWEST_EXPECTED:
            current, waiting = current + 1, 0.0
    if waiting and current:
        merged[merged == current] = current - 1
    n_groups = int(merged.max()) + 1
    together = np.stack([np.bincount(merged, row, n_groups) for row in training]).astype(np.float64)
    return together, np.bincount(merged, sample, n_groups).astype(np.float64)
