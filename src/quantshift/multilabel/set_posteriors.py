"""How probable each set of labels is for an item, given the posterior of every label.

A set of labels s has the posterior

    P(s | x)  ~  P(s) exp( sum over the labels j of s of  r_j(x) ),
    r(x)  =  A (z(x) - z) + b,

where P(s) is its share of the training items, z_j(x) the log-odds of label j for the item and z_j
those of its training share. If the labels were independent, A would be the identity. Classifiers of
related labels see the same things, and A takes out of the log-odds of a label what they say about
the others. A and b are fitted to the labels of training items by penalised maximum likelihood; how
strongly the elements of A outside the diagonal are drawn to zero is chosen by cross-validation.
Only sets that occur in training are considered, so that impossible combinations stay impossible.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import logit

from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Ints, Posteriors, Reals
from quantshift.optimise.convex import newton_minimum
from quantshift.prevalence.weights import Weights

FARTHEST = 20.0
"""Log-odds beyond this count as this."""

CHUNK = 1 << 20
"""Items times sets of labels that are handled at a time."""

SLOPE, SLOPE_STRENGTH, INTERCEPT_STRENGTH = 0.5, 1.0, 0.1
"""Penalties of the fit: the diagonal of A is drawn to the first with the second, b to zero."""

STRENGTHS = (1e4, 100.0, 30.0, 10.0, 3.0)
"""Penalties of the other elements of A that are tried, the strongest first; they are in units of
the spread of the log-odds, so that the scale of a classifier does not matter."""

FOLDS, COMPARED = 5, 2000
"""The folds of the cross-validation that chooses a strength, and how many items it uses."""


EXACT, LAST_STEP, ROUGH = 1e-9, 1e-5, 1e-2
"""A Newton step this short is the last one: of a fit to few items, to many, and to compare
penalties. The step after one of 1e-5 would be about its square."""


@dataclass(frozen=True, eq=False)
class SetPosteriors:
    """A fitted model of the sets of labels.

    sets: those that occur in training, as rows of 0 and 1, (n_sets, n_labels).
    shares: of the training items, (n_sets,); slopes: A, (n_labels, n_labels).
    intercepts: b, centres: z, (n_labels,); strength: the penalty of A outside of its diagonal.
    believed: which labels may be tilted, (n_labels,); None if all may.
    """

    sets: Reals
    shares: Reals
    slopes: Reals
    intercepts: Reals
    centres: Reals
    strength: float = STRENGTHS[0]
    believed: Flags | None = None

    @classmethod
    def fit(
        cls,
        posteriors: Posteriors,
        has: Flags,
        weights: Weights | None = None,
        *,
        strength: float | None = None,
    ) -> Self:
        """Learn from held-out posteriors of the labels, (n_items, n_labels), and the labels.

        strength: of the penalty outside of the diagonal; None: chosen by cross-validation.
        """
        model, evidence, item_sets = cls._unfitted(posteriors, has, weights)
        item_weights = np.ones(len(has)) if weights is None else weights
        near = None
        if strength is None and len(item_sets) >= 2 * COMPARED:
            strength, near = model._best_of_many(evidence, item_sets, item_weights)
        elif strength is None:
            strength = model._best_strength(evidence, item_sets, item_weights)
        return model._fitted(
            evidence, item_sets, item_weights, strength, near, EXACT if near is None else LAST_STEP
        )

    def refit(self, posteriors: Posteriors, has: Flags, weights: Weights | None = None) -> Self:
        """A model of similar items, with the same penalty; the search begins at this model."""
        model, evidence, item_sets = self._unfitted(posteriors, has, weights)
        item_weights = np.ones(len(has)) if weights is None else weights
        fitted = model._fitted(evidence, item_sets, item_weights, self.strength, self, LAST_STEP)
        return replace(fitted, believed=self.believed)

    @classmethod
    def _unfitted(
        cls, posteriors: Posteriors, has: Flags, weights: Weights | None
    ) -> tuple[Self, Reals, Ints]:
        """A model with the sets and shares of the items, their log-odds, and the set of each."""
        sets, item_sets, counts = distinct_sets(has, weights)
        n_labels = has.shape[1]
        centres = np.asarray(logit(np.average(has, axis=0, weights=weights)))
        model = cls(
            sets, counts / counts.sum(), SLOPE * np.eye(n_labels), np.zeros(n_labels), centres
        )
        return model, log_odds(posteriors) - centres, item_sets

    def scores(self, posteriors: Posteriors) -> Reals:
        """What each label adds to the log-posterior of the sets that have it, (..., n_labels)."""
        return self._scored(log_odds(posteriors) - self.centres)

    def posteriors(self, scores: Reals) -> Reals:
        """The posteriors of the sets, from the scores, (..., n_sets)."""
        chances, _ = self._relative_chances(scores)
        chances /= chances.sum(axis=-1, keepdims=True)
        return chances

    def _relative_chances(self, scores: Reals) -> tuple[Reals, Reals]:
        """Posteriors up to a factor for each item, so that the largest is 1; and its logarithm."""
        logs = scores @ self.sets.T
        logs += np.log(self.shares)
        largest = logs.max(axis=-1, keepdims=True)
        logs -= largest
        return np.exp(logs, out=logs), largest[..., 0]

    def _scored(self, evidence: Reals) -> Reals:
        return np.asarray(evidence @ self.slopes.T + self.intercepts)

    def _best_strength(self, evidence: Reals, item_sets: Ints, weights: Reals) -> float:
        """The strongest penalty that is not clearly worse than the best for held-out items."""
        order = generator(0, draw="items that choose a penalty").permutation(len(item_sets))
        rows = np.sort(order[:COMPARED])
        folds = order[rows] % FOLDS
        evidence, item_sets, weights = evidence[rows], item_sets[rows], weights[rows]
        logs = np.empty((len(STRENGTHS), len(rows)))
        for fold in range(FOLDS):
            held_out, model = folds == fold, self
            for number, strength in enumerate(STRENGTHS):
                model = self._fitted(evidence, item_sets, weights * ~held_out, strength, model)
                logs[number, held_out] = model._log_likelihoods(
                    evidence[held_out], item_sets[held_out]
                )
        return STRENGTHS[_strongest(logs, weights)]

    def _best_of_many(self, evidence: Reals, item_sets: Ints, weights: Reals) -> tuple[float, Self]:
        """The same where there are many items: two halves, each compared by fits to the other.

        Also returns a model with that penalty, as a start for the fit to all items.
        """
        order = generator(0, draw="items that choose a penalty").permutation(len(item_sets))
        halves = np.sort(order[:COMPARED]), np.sort(order[COMPARED : 2 * COMPARED])
        logs = np.empty((len(STRENGTHS), 2, COMPARED))
        models: list[Self] = []
        for half, (fitted, compared) in enumerate((halves, halves[::-1])):
            model = self
            for number, strength in enumerate(STRENGTHS):
                model = self._fitted(
                    evidence[fitted], item_sets[fitted], weights[fitted], strength, model, ROUGH
                )
                logs[number, half] = model._log_likelihoods(evidence[compared], item_sets[compared])
                models.append(model)
        compared_rows = np.concatenate(halves[::-1])
        chosen = _strongest(logs.reshape(len(STRENGTHS), -1), weights[compared_rows])
        return STRENGTHS[chosen], models[chosen]

    def _log_likelihoods(self, evidence: Reals, item_sets: Ints) -> Reals:
        """The log-likelihood of the set of labels that each item has."""
        scores = self._scored(evidence)
        chances, largest = self._relative_chances(scores)
        own = (scores * self.sets[item_sets]).sum(axis=1) + np.log(self.shares)[item_sets]
        return np.asarray(own - largest - np.log(chances.sum(axis=1)))

    def _fitted(
        self,
        evidence: Reals,
        item_sets: Ints,
        weights: Reals,
        strength: float,
        near: Self | None = None,
        negligible: float = EXACT,
    ) -> Self:
        """The model with fitted parameters.

        near: one with similar parameters, to start from; negligible: length of the last step.
        """
        chunks = _chunks(np.flatnonzero(weights), len(self.sets))
        loss = _Loss(self, evidence, item_sets, weights, strength, chunks)
        start = self if near is None else near
        theta = newton_minimum(
            loss.value,
            loss.derivatives,
            np.concatenate([start.slopes.ravel(), start.intercepts]),
            negligible=negligible,
        ).theta
        slopes, intercepts = loss.split(theta)
        return replace(self, slopes=slopes, intercepts=intercepts, strength=strength)


@dataclass(frozen=True, eq=False)
class _Loss:
    """The penalised loss of the parameters: the elements of A, row by row, and those of b."""

    start: SetPosteriors
    evidence: Reals
    item_sets: Ints
    weights: Reals
    strength: float
    chunks: list[Indices]

    @cached_property
    def target(self) -> Reals:
        """What the penalties draw the parameters to."""
        return np.concatenate([self.start.slopes.ravel(), self.start.intercepts])

    @cached_property
    def penalties(self) -> Reals:
        """The penalty of every parameter."""
        spread = np.average(
            (self.evidence - np.average(self.evidence, axis=0, weights=self.weights)) ** 2,
            axis=0,
            weights=self.weights,
        )
        slopes = np.tile(self.strength * spread, (len(spread), 1))
        np.fill_diagonal(slopes, SLOPE_STRENGTH)
        return np.concatenate([slopes.ravel(), np.full(len(spread), INTERCEPT_STRENGTH)])

    def split(self, theta: Reals) -> tuple[Reals, Reals]:
        """The parameters as A and b."""
        n_labels = self.evidence.shape[1]
        return theta[: n_labels**2].reshape(n_labels, n_labels), theta[n_labels**2 :]

    def model(self, theta: Reals) -> SetPosteriors:
        """The model with these parameters."""
        slopes, intercepts = self.split(theta)
        return replace(self.start, slopes=slopes, intercepts=intercepts)

    def value(self, theta: Reals) -> float:
        """The loss."""
        total = 0.5 * float(self.penalties @ (theta - self.target) ** 2)
        model = self.model(theta)
        for rows in self.chunks:
            logs = model._log_likelihoods(self.evidence[rows], self.item_sets[rows])
            total -= float(self.weights[rows] @ logs)
        return total

    def derivatives(self, theta: Reals) -> tuple[Reals, Reals]:
        """Gradient and Hessian of the loss.

        The slope A_jk multiplies s_j with the log-odds of label k, and b_j multiplies s_j with one.
        """
        model, sets = self.model(theta), self.start.sets
        n_labels = sets.shape[1]
        # Products of two labels are symmetric: those of each pair are computed once.
        first, second = np.triu_indices(n_labels)
        pairs = sets[:, first] * sets[:, second]
        both = np.empty((n_labels, n_labels), dtype=np.int64)
        both[first, second] = both[second, first] = np.arange(len(first))
        gradient = self.penalties * (theta - self.target)
        products = np.zeros((len(first), (n_labels + 1) ** 2))
        for rows in self.chunks:
            seen = np.column_stack([self.evidence[rows], np.ones(len(rows))])
            weights = self.weights[rows, np.newaxis]
            posteriors = model.posteriors(model._scored(self.evidence[rows]))
            expected = posteriors @ sets
            excess = (weights * (expected - sets[self.item_sets[rows]])).T @ seen
            gradient += np.concatenate([excess[:, :-1].ravel(), excess[:, -1]])
            spread = posteriors @ pairs - expected[:, first] * expected[:, second]
            products += (weights * spread).T @ _all_pairs(seen, seen)
        blocks = products[both].reshape(n_labels, n_labels, n_labels + 1, n_labels + 1)
        # Rows and columns of the Hessian: a label j of the set, and what it is multiplied with.
        hessian = blocks.transpose(0, 2, 1, 3).reshape(n_labels * (n_labels + 1), -1)
        order = np.arange(len(hessian)).reshape(n_labels, n_labels + 1)
        order = np.concatenate([order[:, :-1].ravel(), order[:, -1]])
        return gradient, hessian[np.ix_(order, order)] + np.diag(self.penalties)


def _strongest(logs: Reals, weights: Reals) -> int:
    """The first penalty, the strongest, that is not clearly worse than the best.

    logs: log-likelihoods of held-out items, (n_penalties, n_items).
    """
    best = int(np.argmax(logs @ weights))
    for number in range(best):
        losses = weights * (logs[best] - logs[number])
        if losses.sum() <= losses.std() * np.sqrt(len(losses)):
            return number
    return best


def _all_pairs(left: Reals, right: Reals) -> Reals:
    """Products of the columns of both, for each row, (n_rows, n_left * n_right)."""
    return (left[:, :, np.newaxis] * right[:, np.newaxis, :]).reshape(len(left), -1)


def _chunks(rows: Indices, n_sets: int) -> list[Indices]:
    step = max(1, CHUNK // n_sets)
    return [rows[start : start + step] for start in range(0, len(rows), step)]


def distinct_sets(has: Flags, weights: Weights | None = None) -> tuple[Reals, Ints, Reals]:
    """The sets of labels that occur, the number of each item's set, and the items of each set."""
    sets, item_sets = np.unique(has, axis=0, return_inverse=True)
    item_sets = item_sets.ravel().astype(np.int64)
    counts = np.bincount(item_sets, weights, minlength=len(sets)).astype(np.float64)
    return sets.astype(np.float64), item_sets, counts


def log_odds(posteriors: Posteriors) -> Reals:
    """Log-odds of the labels, none of them too far from zero to be added up."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(logit(posteriors), -FARTHEST, FARTHEST))
