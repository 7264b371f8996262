"""How probable each set of labels is for an item, given the posterior of every label.

A set of labels s has the posterior

    P(s | x)  ~  P(s) exp( sum over the labels j of s of  a_j (z_j(x) - z_j) + b_j )

where P(s) is its share of the training items, z_j(x) the log-odds of label j for the item and z_j
those of its training share. With a_j = 1 and b_j = 0 the labels would be independent evidence;
classifiers of related labels see the same things, and the slopes, fitted to the labels of training
items by penalised maximum likelihood, allow for that. Only sets that occur in training are
considered, so that impossible combinations stay impossible.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import logit, logsumexp

from quantshift.base.types import Flags, Ints, Posteriors, Reals
from quantshift.optimise.convex import newton_minimum
from quantshift.prevalence.weights import Weights

FARTHEST = 20.0
"""Log-odds beyond this are no more certain."""

CHUNK = 1 << 20
"""Items times sets of labels that are looked at together."""

SLOPE, SLOPE_STRENGTH, INTERCEPT_STRENGTH = 0.5, 1.0, 0.1
"""Penalties of the fit: slopes are drawn to the first with the second, intercepts to zero."""


@dataclass(frozen=True, eq=False)
class SetPosteriors:
    """A fitted model of the sets of labels.

    sets: those that occur in training, as rows of 0 and 1, (n_sets, n_labels).
    shares: of the training items, (n_sets,); slopes, intercepts, centres: (n_labels,).
    """

    sets: Reals
    shares: Reals
    slopes: Reals
    intercepts: Reals
    centres: Reals

    @classmethod
    def fit(cls, posteriors: Posteriors, has: Flags, weights: Weights | None = None) -> Self:
        """Learn from held-out posteriors of the labels, (n_items, n_labels), and the labels."""
        sets, place, counts = distinct_sets(has, weights)
        n_labels = has.shape[1]
        share = np.average(has, axis=0, weights=weights)
        model = cls(
            sets,
            counts / counts.sum(),
            np.full(n_labels, SLOPE),
            np.zeros(n_labels),
            np.asarray(logit(share)),
        )
        return model._fitted(log_odds(posteriors) - model.centres, place, weights)

    def scores(self, posteriors: Posteriors) -> Reals:
        """What each label adds to the log-posterior of the sets that have it, (..., n_labels)."""
        return self.slopes * (log_odds(posteriors) - self.centres) + self.intercepts

    def log_posteriors(self, scores: Reals) -> Reals:
        """Logarithms of the posteriors of the sets, from the scores, (..., n_sets)."""
        logs = scores @ self.sets.T + np.log(self.shares)
        logs -= logsumexp(logs, axis=-1, keepdims=True)
        return logs

    def _fitted(self, evidence: Reals, place: Ints, weights: Weights | None) -> Self:
        n_items, n_labels = evidence.shape
        counts = np.ones(n_items) if weights is None else weights
        step = max(1, CHUNK // len(self.sets))
        chunks = [slice(start, start + step) for start in range(0, n_items, step)]
        pairs = (self.sets[:, :, np.newaxis] * self.sets[:, np.newaxis, :]).reshape(
            len(self.sets), -1
        )
        strength = np.repeat([SLOPE_STRENGTH, INTERCEPT_STRENGTH], n_labels)
        target = np.repeat([SLOPE, 0.0], n_labels)

        def scored(theta: Reals, chunk: slice) -> Reals:
            return theta[:n_labels] * evidence[chunk] + theta[n_labels:]

        def value(theta: Reals) -> float:
            total = 0.5 * float(strength @ (theta - target) ** 2)
            for chunk in chunks:
                logs = self.log_posteriors(scored(theta, chunk))
                true = np.take_along_axis(logs, place[chunk, np.newaxis], axis=1)[:, 0]
                total -= float(counts[chunk] @ true)
            return total

        def derivatives(theta: Reals) -> tuple[Reals, Reals]:
            gradient = strength * (theta - target)
            hessian = np.diag(strength)
            for chunk in chunks:
                posteriors = np.exp(self.log_posteriors(scored(theta, chunk)))
                expected = posteriors @ self.sets
                weight, seen = counts[chunk, np.newaxis], evidence[chunk]
                excess = weight * (expected - self.sets[place[chunk]])
                gradient += np.concatenate([(excess * seen).sum(axis=0), excess.sum(axis=0)])
                spread = (posteriors @ pairs).reshape(-1, n_labels, n_labels)
                spread -= expected[:, :, np.newaxis] * expected[:, np.newaxis, :]
                spread *= weight[:, :, np.newaxis]
                seen_rows, seen_columns = seen[:, :, np.newaxis], seen[:, np.newaxis, :]
                both = (spread * seen_rows * seen_columns).sum(axis=0)
                mixed = (spread * seen_rows).sum(axis=0)
                hessian += np.block([[both, mixed], [mixed.T, spread.sum(axis=0)]])
            return gradient, hessian

        theta = newton_minimum(value, derivatives, target.copy()).theta
        return type(self)(self.sets, self.shares, theta[:n_labels], theta[n_labels:], self.centres)


def distinct_sets(has: Flags, weights: Weights | None = None) -> tuple[Reals, Ints, Reals]:
    """The sets of labels that occur, that of each item, and the number of items of each."""
    sets, place = np.unique(has, axis=0, return_inverse=True)
    place = place.ravel().astype(np.int64)
    counts = np.bincount(place, weights, minlength=len(sets)).astype(np.float64)
    return sets.astype(np.float64), place, counts


def log_odds(posteriors: Posteriors) -> Reals:
    """Log-odds of the labels, none of them too far from zero to be added up."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(logit(posteriors), -FARTHEST, FARTHEST))
