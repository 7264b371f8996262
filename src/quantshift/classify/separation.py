"""How well a classifier tells two sets of items apart: the area under its ROC curve, and a z-value.

A logistic regression learns on one half of both sets to tell the one from the other, scores the
other half, and the halves change places. The area under the ROC curve (AUC) is that of the scores
of items it has not seen: .5 if the sets cannot be told apart, 1 if they do not overlap. Items of
the first set may have weights, by which they stand for another population than the one they were
drawn from; the null variance of the AUC is then that of Mann and Whitney's statistic with Kish's
effective size in the place of the number of items.

References: H. Mann and D. Whitney, Annals of Mathematical Statistics 18 (1947); D. Lopez-Paz and
M. Oquab, "Revisiting classifier two-sample tests", ICLR 2017.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from quantshift.classify.clusters import feature_matrix
from quantshift.errors import DataError
from quantshift.seeding import generator, seed_of
from quantshift.types import Indices
from quantshift.weights import Weights

Reals = NDArray[np.float64]

MOST_ITEMS = 4000
"""Of a set that is larger so many are drawn at random: enough to see an AUC of .52."""

FEWEST_ITEMS = 20
"""Of fewer nothing is learnt: they are not told apart."""

WIDE = 300
"""More features than this are reduced to `N_COMPONENTS` of their singular vectors."""

N_COMPONENTS = 100

FARTHEST = 10.0
"""Standard deviations at which features are cut: beyond, one item would be the whole story."""

PENALTY = 0.1
"""C of the logistic regression, on standardised features."""


@dataclass(frozen=True)
class Separation:
    """The area under the ROC curve, and how many null standard errors it is above .5."""

    auc: float
    z: float


NOT_TOLD_APART = Separation(0.5, 0.0)


@dataclass(frozen=True, eq=False)
class Reference:
    """A set of items that others are compared with: their features, standardised, and how.

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
        """How well the other items, as `place` made them, are told from these.

        The result depends on the seed and the number of other items, not on what was compared
        before.
        """
        heft, other_heft = (
            np.ones(len(a)) if w is None else w
            for a, w in ((self.position, weights), (others, other_weights))
        )
        rng = generator(self.seed, purpose="separation", n_known=len(self), n_new=len(others))
        known, new = (_chosen(w, rng) for w in (heft, other_heft))
        if min(len(known), len(new)) < FEWEST_ITEMS:
            return NOT_TOLD_APART
        first, second = (rng.permutation(len(rows)) % 2 for rows in (known, new))
        areas = []
        for half in (0, 1):
            learn = known[first != half], new[second != half]
            judge = known[first == half], new[second == half]
            model = _told_apart(
                self.position[learn[0]], heft[learn[0]], others[learn[1]], other_heft[learn[1]]
            )
            areas.append(
                weighted_auc(
                    self.position[judge[0]] @ model,
                    heft[judge[0]],
                    others[judge[1]] @ model,
                    other_heft[judge[1]],
                )
            )
        auc = float(np.mean(areas))
        variance = (_inverse_size(heft[known]) + _inverse_size(other_heft[new])) / 12
        return Separation(auc, float((auc - 0.5) / np.sqrt(variance)))


def weighted_auc(known: Reals, known_weights: Reals, new: Reals, new_weights: Reals) -> float:
    """Probability that a new item scores higher than a known one, ties counted half.

    >>> weighted_auc(np.array([0.0, 1.0]), np.ones(2), np.array([1.0, 2.0]), np.ones(2))
    0.875
    """
    order = np.argsort(known, kind="stable")
    scores, below = known[order], np.concatenate([[0.0], np.cumsum(known_weights[order])])
    lower = below[np.searchsorted(scores, new, side="left")]
    upper = below[np.searchsorted(scores, new, side="right")]
    wins = new_weights @ (lower + upper) / 2
    return float(wins / (below[-1] * new_weights.sum()))


def _told_apart(known: Reals, known_weights: Reals, new: Reals, new_weights: Reals) -> Reals:
    """Coefficients of the logistic regression: both sets have the same total weight."""
    total = (len(known) + len(new)) / 2
    weights = np.concatenate(
        [known_weights * total / known_weights.sum(), new_weights * total / new_weights.sum()]
    )
    model = LogisticRegression(C=PENALTY, solver="newton-cholesky", max_iter=50, tol=1e-3)
    side = np.repeat([0, 1], [len(known), len(new)])
    with warnings.catch_warnings():
        # A direction that is not quite the best is judged on items it has not seen all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.concatenate([known, new]), side, weights)
    return np.asarray(model.coef_[0])


def _chosen(weights: Reals, rng: np.random.Generator) -> Indices:
    """Positions of the items that count, or of `MOST_ITEMS` of them."""
    rows = np.flatnonzero(weights)
    return rng.permutation(rows)[:MOST_ITEMS]


def _inverse_size(weights: Reals) -> float:
    return float(weights @ weights / weights.sum() ** 2)


def _components(matrix: Any, seed: int) -> Reals:
    n_components = min(N_COMPONENTS, min(matrix.shape) - 1)
    state = seed_of(seed, purpose="separation: components") % (1 << 32)
    svd = TruncatedSVD(n_components, n_iter=2, random_state=state).fit(matrix)
    return np.asarray(svd.components_.T)


def _reduced(matrix: Any, components: Reals | None) -> Reals:
    if components is not None:
        return np.asarray(matrix @ components)
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix)
