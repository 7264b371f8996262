"""The shares of labels in samples whose sets of labels have become more or less frequent.

Under the shift that is assumed here, items of a set of labels s look as they did, P(x | s), and the
share of the set has changed by a factor for each of its labels:

    Q(s)  =  P(s) exp(sum over the labels j of s of t_j) / Z(t)

One label whose share changes, with all others following as they follow it in training, is one t_j;
no change is t = 0. The tilt t maximises the likelihood of the sample,

    L(t)  =  sum over items of log( sum over s of P(s | x) exp(t . s) )  -  n log Z(t),

raised to a power (how far the posteriors are to be believed, between 0 and 1), times a Cauchy
prior for each t_j: most labels hardly move, some move a lot. The shares are the means of the items'
posteriors under Q. With the power 0 that is the mean of the posteriors as trained.

The search starts from the maximum under a wide normal prior, and then follows Newton steps for the
Cauchy prior, each of which is bounded by the quadratic that touches it at the current t.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Flags, Indices, Reals
from quantshift.multilabel.set_posteriors import SetPosteriors

SCALE = 0.15
"""Of the Cauchy prior: half of the labels move by a factor of less than exp(0.15) of their odds."""

START = 10.0
"""Precision of the normal prior at the start."""

LONGEST_STEP = 2.0
"""Of a Newton step, for every label."""

NEGLIGIBLE = 1e-7
"""A step this short ends the search."""

MOST_STEPS = 60
"""Of each of the two searches."""

KEPT = 1 << 22
"""Items times sets whose posteriors are kept in memory; those of more are computed in chunks."""


@dataclass(frozen=True, eq=False)
class TiltedShares:
    """Shares of labels under the tilt that fits each sample.

    labels: (n_samples, n_labels); pairs: of items with both labels, (n_samples, n_labels,
    n_labels); sets: (n_samples, n_sets); tilts: (n_samples, n_labels).
    """

    labels: Reals
    pairs: Reals
    sets: Reals
    tilts: Reals


def tilted_shares(
    model: SetPosteriors, scores: Reals, weights: Reals, power: float
) -> TiltedShares:
    """The shares of several samples of equal size.

    scores: of the labels, by `model.scores`, (n_samples, n_items, n_labels); weights: of the items,
    (n_samples, n_items).
    """
    search = _Search(model, scores, weights, power)
    tilts = np.zeros((len(scores), scores.shape[-1]))
    if power > 0:
        tilts = search.run(tilts, cauchy=False)
        tilts = search.run(tilts, cauchy=True)
    sets = search.moments(tilts).set_totals / weights.sum(axis=1)[:, np.newaxis]
    pairs = np.einsum("bs,sj,sk->bjk", sets, model.sets, model.sets, optimize=True)
    return TiltedShares(sets @ model.sets, pairs, sets, tilts)


@dataclass(frozen=True, eq=False)
class _Moments:
    """What the search needs to know at a tilt, for each sample.

    log_likelihood: (n_samples,); set_totals: items of each set, (n_samples, n_sets); squares: the
    items' expected labels, multiplied in pairs and added up, (n_samples, n_labels, n_labels).
    """

    log_likelihood: Reals
    set_totals: Reals
    squares: Reals


class _Search:
    def __init__(self, model: SetPosteriors, scores: Reals, weights: Reals, power: float) -> None:
        self.model, self.scores, self.weights, self.power = model, scores, weights, power
        self.totals = weights.sum(axis=1)
        n_samples, n_items, _ = scores.shape
        n_sets = len(model.sets)
        step = n_items if n_samples * n_items * n_sets <= KEPT else max(1, KEPT // n_sets)
        self.chunks = [slice(start, start + step) for start in range(0, n_items, step)]
        self.kept = self._posteriors(self.chunks[0]) if len(self.chunks) == 1 else None

    def _posteriors(self, chunk: slice) -> Reals:
        return np.exp(self.model.log_posteriors(self.scores[:, chunk]))

    def _parts(self) -> Iterator[tuple[Reals, Reals]]:
        """Posteriors of the sets, and weights, of all items, some at a time."""
        for chunk in self.chunks:
            posteriors = self._posteriors(chunk) if self.kept is None else self.kept
            yield posteriors, self.weights[:, chunk]

    def moments(self, tilts: Reals) -> _Moments:
        sets = self.model.sets
        exponents = tilts @ sets.T
        top = exponents.max(axis=1, keepdims=True)
        factors = np.exp(exponents - top)
        n_samples, n_labels = tilts.shape
        value = -self.totals * np.log(factors @ self.model.shares)
        set_totals = np.zeros((n_samples, len(sets)))
        squares = np.zeros((n_samples, n_labels, n_labels))
        for posteriors, weights in self._parts():
            tilted = posteriors * factors[:, np.newaxis, :]
            norms = tilted.sum(axis=2)
            tilted /= norms[:, :, np.newaxis]
            value += (weights * np.log(norms)).sum(axis=1)
            set_totals += np.matmul(weights[:, np.newaxis, :], tilted)[:, 0]
            expected = tilted @ sets
            squares += np.swapaxes(expected * weights[:, :, np.newaxis], 1, 2) @ expected
        return _Moments(value, set_totals, squares)

    def run(self, tilts: Reals, *, cauchy: bool) -> Reals:
        """The tilts at the maximum that Newton steps from these tilts lead to."""
        tilts = tilts.copy()
        objective, moments = self._objective(tilts, cauchy)
        active = np.ones(len(tilts), dtype=bool)
        for _ in range(MOST_STEPS):
            steps = np.where(active[:, np.newaxis], self._steps(tilts, moments, cauchy), 0.0)
            moved, objective, moments = self._moved(tilts, steps, objective, cauchy)
            lengths = np.abs(moved - tilts).max(axis=1)
            tilts = moved
            active &= lengths > NEGLIGIBLE
            if not active.any():
                break
        return tilts

    def _precisions(self, tilts: Reals, cauchy: bool) -> Reals:
        return 2.0 / (SCALE**2 + tilts**2) if cauchy else np.full_like(tilts, START)

    def _objective(self, tilts: Reals, cauchy: bool) -> tuple[Reals, _Moments]:
        moments = self.moments(tilts)
        prior = np.log1p((tilts / SCALE) ** 2) if cauchy else 0.5 * START * tilts**2
        return self.power * moments.log_likelihood - prior.sum(axis=1), moments

    def _steps(self, tilts: Reals, moments: _Moments, cauchy: bool) -> Reals:
        """Newton steps; where the likelihood is not concave, its curvature counts as small."""
        sets, shares = self.model.sets, self.model.shares
        exponents = tilts @ sets.T
        prior_sets = shares * np.exp(exponents - exponents.max(axis=1, keepdims=True))
        prior_sets /= prior_sets.sum(axis=1, keepdims=True)
        prior_labels = prior_sets @ sets
        precisions = self._precisions(tilts, cauchy)
        totals = self.totals[:, np.newaxis]
        gradient = self.power * (moments.set_totals @ sets - totals * prior_labels)
        gradient -= precisions * tilts
        known = totals * prior_sets - moments.set_totals
        curvature = np.einsum("bs,sj,sk->bjk", known, sets, sets, optimize=True)
        curvature -= self.totals[:, np.newaxis, np.newaxis] * (
            prior_labels[:, :, np.newaxis] * prior_labels[:, np.newaxis, :]
        )
        curvature += moments.squares
        curvature *= self.power
        diagonal = np.arange(tilts.shape[1])
        curvature[:, diagonal, diagonal] += precisions
        values, vectors = np.linalg.eigh(curvature)
        floor = 0.5 * precisions.min(axis=1, keepdims=True)
        turned = np.einsum("bjk,bj->bk", vectors, gradient) / np.maximum(values, floor)
        steps = np.einsum("bjk,bk->bj", vectors, turned)
        longest = np.abs(steps).max(axis=1, keepdims=True)
        return steps * (LONGEST_STEP / np.maximum(longest, LONGEST_STEP))

    def _moved(
        self, tilts: Reals, steps: Reals, objective: Reals, cauchy: bool
    ) -> tuple[Reals, Reals, _Moments]:
        """Where the steps, halved until the objective does not fall, lead to."""
        moving = np.abs(steps).max(axis=1) > 0
        for _ in range(30):
            trial, trial_moments = self._objective(tilts + steps, cauchy)
            rounding = 1e-12 * np.abs(objective)
            failed: Flags = moving & ~(trial >= objective - rounding)
            if not failed.any():
                return tilts + steps, trial, trial_moments
            steps = np.where(failed[:, np.newaxis], steps / 2, steps)
        stays: Indices = np.flatnonzero(failed)
        steps[stays] = 0.0
        trial, trial_moments = self._objective(tilts + steps, cauchy)
        return tilts + steps, trial, trial_moments
