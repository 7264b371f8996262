"""Estimates of samples that are given by counts: how often each of the same items occurs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Posteriors, Prevalences, Reals
from quantshift.items.items import Items
from quantshift.quantifiers.base.estimator import AbstractClassifying, CombinesMembers
from quantshift.quantifiers.base.tags import Reading, Tags, tags_for_reading
from quantshift.sketches.cells.items import JointCounts
from quantshift.sketches.cells.score import WIDE

COARSE = 256
"""About this many cells are enough to resample."""

MOST_AT_ONCE = 1 << 20
"""Items times samples in memory at once."""

PIECES = 32
"""The pieces into which a cell is divided for methods with borders of their own."""


@dataclass(frozen=True, eq=False)
class CountedSamples:
    """Samples of the same cells.

    posteriors: (n_cells, n_classes); counts: (n_samples, n_cells), whole numbers. in_cells: whether
    the posteriors stand for wide cells of scores, and are neither scores as they are nor nearly so.
    joint: what the cells know beyond their means, for one sample of more than two classes.
    """

    posteriors: Posteriors
    counts: Reals
    in_cells: bool = False
    joint: JointCounts | None = None

    @property
    def sizes(self) -> Reals:
        """How many items each sample has."""
        return np.asarray(self.counts.sum(axis=1))


@dataclass(frozen=True, eq=False)
class CountedClasses:
    """The training items class by class.

    posteriors: (n_cells, n_classes); counts: (n_classes, n_cells), how many items of each class
    are in each cell.
    """

    posteriors: Posteriors
    counts: Reals

    @classmethod
    def of(cls, posteriors: Posteriors, codes: Codes, n_classes: int) -> "CountedClasses":
        """From items; those with the same posteriors share a cell."""
        cells, index = distinct(posteriors)
        joint = np.bincount(codes * len(cells) + index, minlength=n_classes * len(cells))
        return cls(cells, joint.reshape(n_classes, -1).astype(np.float64))

    @property
    def shares(self) -> Reals:
        """The share of each class's items that is in each cell."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))


def point_estimates(quantifier: AbstractClassifying, samples: CountedSamples) -> Prevalences:
    """The prevalence of every sample, (n_samples, n_classes).

    Methods with borders of their own see the items of a cell spread evenly over it; with more than
    two classes see `JointCounts`.
    """
    if samples.joint is not None:
        return _joint_estimate(quantifier, samples.joint)[np.newaxis]
    if not samples.in_cells or not tags_for_reading(type(quantifier)).has_borders:
        return count_estimates(quantifier, samples.posteriors, samples.counts)
    occupied = samples.counts.any(axis=0)
    scores = WIDE.pieces(WIDE.of(samples.posteriors[occupied, 1]), PIECES).ravel()
    posteriors = np.column_stack([1 - scores, scores])
    p_hat = []
    for counts in samples.counts[:, occupied]:
        pieces = np.repeat(counts / PIECES, PIECES)[np.newaxis]
        p_hat.append(count_estimates(quantifier, posteriors, pieces))
    return np.concatenate(p_hat)


def _joint_estimate(quantifier: AbstractClassifying, sample: JointCounts) -> Prevalences:
    """The prevalence of one sample of more than two classes, (n_classes,)."""
    tags = quantifier.tags
    if tags.reads == Reading.MEMBERS:
        assert isinstance(quantifier, CombinesMembers)
        members = [_joint_estimate(member, sample) for member in quantifier.members_]
        return np.asarray(quantifier.combined(np.stack(members)[:, np.newaxis])[0])
    if tags.reads == Reading.PREDICTIONS:
        predictions = sample.predictions()
        return np.asarray(count_estimates(quantifier, predictions, sample.counts[np.newaxis])[0])
    return quantifier.estimate_items(_items_for(tags, sample)).prevalence


def _items_for(tags: Tags, sample: JointCounts) -> Items:
    """Items that stand for the sample, right in whatever the method reads of them."""
    if tags.reads == Reading.ONE_AGAINST_REST:
        return sample.class_by_class(PIECES if tags.has_borders else 1)
    if tags.reads == Reading.PREDICTED:
        return sample.by_prediction(PIECES)
    if tags.reads == Reading.EXPECTED:
        return sample.by_expected_class(PIECES)
    return sample.spread()


def why_not_from_counts(quantifier: AbstractClassifying) -> str:
    """Why the method cannot estimate samples that are given by counts; empty if it can.

    Two classes have a single score, and nothing has to be known about how a method reads it. With
    more classes the cells of a sketch can stand for items only if their method says what it reads.
    """
    tags = tags_for_reading(type(quantifier))
    if not quantifier.takes_weights:
        return "it takes no weights, and a sketch has counts: give it a parameter `weights`"
    if len(quantifier.classes_) == 2 or not tags.sees:
        return ""
    if tags.reads is None:
        return (
            "its tags do not say what it reads of the posteriors of more than two classes: set "
            f"`reads` in the class itself to one of {', '.join(map(repr, map(str, Reading)))}"
        )
    if tags.reads == Reading.MEMBERS:
        if not isinstance(quantifier, CombinesMembers):
            return "its tags say that it has members: give it `members_` and `combined`"
        reasons = {type(m).__name__: why_not_from_counts(m) for m in quantifier.members_}
        return "; ".join(f"{name}: {reason}" for name, reason in reasons.items() if reason)
    if tags.reads == Reading.JOINT and tags.has_borders:
        return (
            "its tags say that it reads all posteriors of an item together and has borders between "
            "them, which the cells of a sketch do not keep: set `smooth` if it has none"
        )
    return ""


def in_cells(posteriors: Posteriors) -> Posteriors:
    """The middles of the wide cells of two classes' posteriors."""
    scores = WIDE.middles(WIDE.of(posteriors[:, 1]))
    return np.column_stack([1 - scores, scores])


def count_estimates(
    quantifier: AbstractClassifying, posteriors: Posteriors, counts: Reals
) -> Prevalences:
    """The prevalence of every sample, (n_samples, n_classes), as if its items were repeated.

    counts: (n_samples, n_cells).
    """
    n_samples = len(counts)
    p_hat = np.empty((n_samples, len(quantifier.classes_)))
    used = counts.any(axis=0)
    posteriors, counts = posteriors[used], counts[:, used]
    step = max(1, MOST_AT_ONCE // max(len(posteriors), 1))
    for start in range(0, n_samples, step):
        sample_counts = counts[start : start + step]
        items, sample_counts = _as_counts(posteriors, sample_counts)
        pool = np.broadcast_to(items, (len(sample_counts), *items.shape))
        p_hat[start : start + step] = quantifier.aggregate(pool, sample_weight=sample_counts)
    return p_hat


def _as_counts(posteriors: Posteriors, counts: Reals) -> tuple[Posteriors, Reals]:
    """The same items with weights that are not all equal; equal ones would count as no weights."""
    if np.ptp(counts) > 0 or counts.flat[0] < 2:
        return posteriors, counts
    # Two rows for the first cell: one item, and all its others.
    split = np.concatenate([np.ones((len(counts), 1)), counts], axis=1)
    split[:, 1] -= 1
    return np.concatenate([posteriors[:1], posteriors]), split


def distinct(posteriors: Posteriors) -> tuple[Posteriors, NDArray[np.int64]]:
    """The different rows, and the index of each row among them."""
    if posteriors.shape[1] > 2:
        cells, index = np.unique(posteriors, axis=0, return_inverse=True)
        return cells, index.ravel()
    scores, index = np.unique(posteriors[:, 1], return_inverse=True)
    return np.column_stack([1 - scores, scores]), index


def coarser(samples: CountedSamples) -> CountedSamples:
    """Samples of two classes in `COARSE` cells of equal width, whatever cells they had."""
    if len(samples.posteriors) <= COARSE:
        return samples
    cells = (np.arange(COARSE) + 0.5) / COARSE
    index = _coarse(samples.posteriors)
    counts = np.stack([np.bincount(index, sample, COARSE) for sample in samples.counts]).astype(
        np.float64
    )
    return CountedSamples(np.column_stack([1 - cells, cells]), counts)


def together(groups: Sequence[CountedSamples]) -> list[CountedSamples]:
    """The same samples, with neighbouring groups joined if they have the same cells."""
    joined: list[CountedSamples] = []
    for group in groups:
        if joined and np.array_equal(joined[-1].posteriors, group.posteriors):
            counts = np.concatenate([joined[-1].counts, group.counts])
            joined[-1] = CountedSamples(group.posteriors, counts)
        else:
            joined.append(group)
    return joined


def coarser_with_means(posteriors: Posteriors, counts: Reals) -> CountedSamples:
    """One sample in fewer cells, which keep its mean posteriors and its predictions."""
    if len(posteriors) <= COARSE:
        return CountedSamples(posteriors, counts[np.newaxis])
    key = posteriors.argmax(axis=1) * COARSE + _coarse(posteriors)
    _, index = np.unique(key[counts > 0], return_inverse=True)
    occupied, n = posteriors[counts > 0], counts[counts > 0]
    totals = np.bincount(index, n).astype(np.float64)
    means = np.stack([np.bincount(index, n * column) / totals for column in occupied.T], axis=1)
    return CountedSamples(means, totals[np.newaxis])


def _coarse(posteriors: Posteriors) -> NDArray[np.int64]:
    return np.asarray(np.minimum(posteriors[:, -1] * COARSE, COARSE - 1).astype(np.int64))
