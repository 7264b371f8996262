"""A classifier two-sample test: how well two sets of items can be distinguished.

A linear discriminant is trained on one half of both sets to distinguish them and scores the other
half; then the halves change places. The area under the ROC curve (AUC) is that of the scores of
held-out items: 0.5 if the sets cannot be distinguished, 1 if they do not overlap. The discriminant
is the first step of Newton's method for a logistic regression with a ridge penalty, which is nearly
its optimum for sets that are hard to distinguish. The correlations of the features are those of the
first set, so that only means and variances of the second one are needed. Items of the first set may
have weights, so that they represent another population than the one they were drawn from; the null
variance of the AUC is then that of Mann and Whitney's statistic with Kish's effective size instead
of the number of items.

A sample that was drawn with replacement contains items several times. If copies of an item were in
the training half and in the scored half, the sample could be distinguished from anything. So copies
count as one item, with the sum of their weights (`Reference.distinct`): a sample given twice is the
same sample, and one with whole weights is that of its repeated items. Equal rows are copies if they
are far more frequent than among the items of the first set, and if there are several of them: in a
table of a few categories many items are equal in both sets, and a single row that is frequent in
one set alone is a value that was filled in.

References: H. Mann and D. Whitney, Annals of Mathematical Statistics 18 (1947); D. Lopez-Paz and
M. Oquab, "Revisiting classifier two-sample tests", ICLR 2017.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.extmath import randomized_svd, svd_flip

from quantshift.base.seeding import generator, seed_of
from quantshift.base.types import Indices, Reals
from quantshift.classify.features import feature_matrix
from quantshift.errors import DataError
from quantshift.prevalence.weights import Weights

MOST_ITEMS = 4000
"""From a larger set, this many items are drawn at random: enough to detect an AUC of 0.52."""

FEWEST_ITEMS = 20
"""Smaller sets are not compared: they count as not distinguishable."""

WIDE = 300
"""More features than this are reduced to `N_COMPONENTS` of their singular vectors."""

N_COMPONENTS = 100

FARTHEST = 10.0
"""Features are clipped at this many standard deviations, so that no single item dominates."""

PENALTY = 0.1
"""C of the logistic regression whose first step is the discriminant."""

COPIES, COPIES_RATIO, COPIED_ROWS = 0.02, 10.0, 10
"""Equal rows are copies if a row has more than `COPIES` equal ones on average, more than
`COPIES_RATIO` times as many as among the same number of items of the reference, and if pairs of
them come from at least this many different rows (their effective number)."""

SMALLEST_SPREAD = 1e-9
"""Features that vary less than this, in standard deviations of the reference, are ignored."""


@dataclass(frozen=True)
class Separation:
    """The area under the ROC curve, and how many null standard errors it is above 0.5."""

    auc: float
    z: float


NOT_TOLD_APART = Separation(0.5, 0.0)


@dataclass(frozen=True, eq=False)
class Reference:
    """A set of items that others are compared with: its standardised features and their scaling.

    position: (n_items, d); components: of wide features, (n_features, d), otherwise None.
    """

    position: Reals
    components: Reals | None
    mean: Reals
    scale: Reals
    n_features: int
    seed: int

    @classmethod
    def of(cls, features: Any, *, seed: int = 0) -> "Reference":
        """From the features of the items, dense or sparse."""
        matrix = feature_matrix(features)
        components = None
        if matrix.shape[1] > WIDE:
            components = _components(matrix, seed)
        raw = _reduced(matrix, components)
        mean, spread = raw.mean(axis=0), raw.std(axis=0)
        constant = spread <= 10 * np.finfo(np.float64).eps * np.abs(mean)
        scale = np.where(constant, 1.0, spread)
        position = np.clip((raw - mean) / scale, -FARTHEST, FARTHEST)
        return cls(position, components, mean, scale, matrix.shape[1], seed)

    def __len__(self) -> int:
        return len(self.position)

    def place(self, features: Any) -> Reals:
        """The features of other items, standardised in the same way."""
        matrix = feature_matrix(features)
        if matrix.shape[1] != self.n_features:
            raise DataError(
                f"X has {matrix.shape[1]} features, the training items had {self.n_features}"
            )
        raw = _reduced(matrix, self.components)
        return np.clip((raw - self.mean) / self.scale, -FARTHEST, FARTHEST)

    def separation(
        self,
        others: Reals,
        *,
        weights: Weights | None = None,
        other_weights: Weights | None = None,
    ) -> Separation:
        """How well the other items, as returned by `place`, can be distinguished from these.

        The result depends on the seed and the number of other items, not on earlier comparisons.
        """
        rows, sample_weights = self.distinct(others, weights=weights, other_weights=other_weights)
        halves = self.halves
        if min(sum(map(len, halves)), len(rows)) < FEWEST_ITEMS:
            return NOT_TOLD_APART
        reference_weights = np.ones(len(self)) if weights is None else weights
        if sample_weights is None:
            sample_weights = np.ones(len(rows))
        rng = generator(self.seed, purpose="separation", n_new=len(rows))
        new = _chosen(np.arange(len(rows)), rng)
        items = _Part(others[rows[new]], sample_weights[new])
        parts = [items.take(slice(i, None, 2)) for i in range(2)]
        reference_parts = [half.weighted(reference_weights) for half in halves]
        n_learnt = (sum(map(len, halves)) + len(items.weights)) / 2
        areas = []
        for half, learn in ((0, 1), (1, 0)):
            direction = halves[learn].discriminant(reference_parts[learn], parts[learn], n_learnt)
            areas.append(
                weighted_auc(
                    reference_parts[half].position @ direction,
                    reference_parts[half].weights,
                    parts[half].position @ direction,
                    parts[half].weights,
                )
            )
        auc = float(np.mean(areas))
        inverse_sizes = [
            _inverse_size(np.concatenate([part.weights for part in both_halves]))
            for both_halves in (reference_parts, parts)
        ]
        return Separation(auc, float((auc - 0.5) / np.sqrt(sum(inverse_sizes) / 12)))

    def distinct(
        self,
        others: Reals,
        *,
        weights: Weights | None = None,
        other_weights: Weights | None = None,
    ) -> tuple[Indices, Weights | None]:
        """Rows of other items without copies and items of weight zero, and the weights of these.

        Of copies the first stays, with the sum of their weights. Weights are None if all are
        equal. A handful of different rows is a sign of broken columns rather than of a draw with
        replacement; they stay unchanged.
        """
        rows = np.arange(len(others))
        if other_weights is not None:
            rows = np.flatnonzero(other_weights)
            others, other_weights = others[rows], other_weights[rows]
        numbers = _numbers(others)
        if not self._has_copies(numbers, weights):
            return rows, other_weights
        first, inverse = np.unique(numbers, return_index=True, return_inverse=True)[1:]
        order = np.argsort(first)
        sums = np.bincount(inverse, other_weights)[order].astype(np.float64)
        return rows[first[order]], None if (sums == sums[0]).all() else sums

    def _has_copies(self, numbers: Indices, weights: Weights | None) -> bool:
        """Whether items with equal numbers are copies; weights: of the items of the reference."""
        n_items, times = len(numbers), np.bincount(numbers).astype(np.float64)
        pairs = times * (times - 1)
        if len(times) < FEWEST_ITEMS or pairs.sum() ** 2 < COPIED_ROWS * (pairs @ pairs):
            return False
        equal = float(pairs.sum()) / (n_items * (n_items - 1))
        rows, reference_numbers = self._numbers
        usual = _equal_pairs(
            reference_numbers, np.ones(len(rows)) if weights is None else weights[rows]
        )
        return n_items * equal > COPIES and equal > COPIES_RATIO * usual

    @cached_property
    def _numbers(self) -> tuple[Indices, Indices]:
        """The items that are used, and for each a number that it shares with equal ones."""
        rows = np.concatenate([half.rows for half in self.halves])
        return rows, _numbers(self.position[rows])

    @cached_property
    def halves(self) -> tuple["_Half", "_Half"]:
        """The items that are used, in two halves."""
        rng = generator(self.seed, purpose="separation", n_known=len(self))
        rows = _chosen(np.arange(len(self)), rng)
        return _Half.of(self.position, rows[::2]), _Half.of(self.position, rows[1::2])


@dataclass(frozen=True, eq=False)
class _Part:
    """Some items with weights."""

    position: Reals
    weights: Weights

    def take(self, rows: slice) -> "_Part":
        """Some of them, contiguous in memory."""
        return _Part(
            np.ascontiguousarray(self.position[rows]), np.ascontiguousarray(self.weights[rows])
        )

    def moments(self) -> tuple[Reals, Reals]:
        """Mean and variance of every feature."""
        shares = self.weights / self.weights.sum()
        mean = shares @ self.position
        return mean, np.maximum(shares @ np.square(self.position) - mean**2, 0.0)


@dataclass(frozen=True, eq=False)
class _Half:
    """A half of the reference: its rows, their positions and principal axes of correlation."""

    rows: Indices
    position: Reals
    eigenvalues: Reals
    axes: Reals

    @classmethod
    def of(cls, position: Reals, rows: Indices) -> "_Half":
        half_position = np.ascontiguousarray(position[rows])
        centred = half_position - (half_position.mean(axis=0) if len(half_position) else 0.0)
        spread = (
            np.sqrt(np.square(centred).mean(axis=0))
            if len(half_position)
            else np.ones(half_position.shape[1])
        )
        centred /= np.where(spread > 0, spread, 1.0)
        correlation = centred.T @ centred / max(len(half_position), 1)
        np.fill_diagonal(correlation, 1.0)
        return cls(rows, half_position, *np.linalg.eigh(correlation))

    def __len__(self) -> int:
        return len(self.rows)

    def weighted(self, weights: Weights) -> _Part:
        """Its items with their weights, taken from those of the whole reference."""
        return _Part(self.position, weights[self.rows])

    def discriminant(self, reference: _Part, new: _Part, n_items: float) -> Reals:
        """Coefficients of the discriminant; n_items: the number of items it is trained on."""
        (mean, variance), (new_mean, new_variance) = reference.moments(), new.moments()
        mean_difference = new_mean - mean
        spread = np.sqrt((variance + new_variance) / 2 + mean_difference**2 / 4)
        scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > SMALLEST_SPREAD)
        ridge = 4 / (PENALTY * n_items)
        rotated = (
            self.axes.T @ (scale * mean_difference) / (np.maximum(self.eigenvalues, 0.0) + ridge)
        )
        return np.asarray(scale * (self.axes @ rotated))


def weighted_auc(
    reference: Reals, reference_weights: Reals, new: Reals, new_weights: Reals
) -> float:
    """Probability that a new item scores higher than one of the reference, ties counted half.

    >>> weighted_auc(np.array([0.0, 1.0]), np.ones(2), np.array([1.0, 2.0]), np.ones(2))
    0.875
    """
    order = np.argsort(reference, kind="stable")
    scores, below = reference[order], np.concatenate([[0.0], np.cumsum(reference_weights[order])])
    lower = below[np.searchsorted(scores, new, side="left")]
    upper = below[np.searchsorted(scores, new, side="right")]
    wins = new_weights @ (lower + upper) / 2
    return float(wins / (below[-1] * new_weights.sum()))


def _chosen(rows: Indices, rng: np.random.Generator) -> Indices:
    """The rows in random order, or `MOST_ITEMS` of them."""
    return rng.permutation(rows)[:MOST_ITEMS]


def _numbers(position: Reals) -> Indices:
    """For every row a number, the same for equal rows.

    Equal rows have the same projection on a random direction; others almost surely have not.
    """
    direction = generator(0, purpose="separation: copies").standard_normal(position.shape[1])
    return np.asarray(np.unique(np.einsum("ij,j->i", position, direction), return_inverse=True)[1])


def _equal_pairs(numbers: Indices, weights: Reals) -> float:
    """The share of pairs of two items that are equal, weighted."""
    self_pairs = float(weights @ weights)
    pairs = float(np.square(np.bincount(numbers, weights)).sum()) - self_pairs
    return pairs / max(float(weights.sum()) ** 2 - self_pairs, np.finfo(np.float64).tiny)


def _inverse_size(weights: Reals) -> float:
    return float(weights @ weights / weights.sum() ** 2)


def _components(matrix: Any, seed: int) -> Reals:
    n_components = min(N_COMPONENTS, min(matrix.shape) - 1)
    state = seed_of(seed, purpose="separation: components") % (1 << 32)
    left, _, right = randomized_svd(
        matrix, n_components, n_iter=2, random_state=state, flip_sign=False
    )
    return np.asarray(svd_flip(left, right, u_based_decision=False)[1].T)


def _reduced(matrix: Any, components: Reals | None) -> Reals:
    if components is not None:
        return np.asarray(matrix @ components)
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix)
