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

MOST_HALVINGS = 30
"""Of a step; after these it is not taken."""

ROUNDING = 1e-12
"""A fall of the objective by less than this part of it is none."""

KEPT = 1 << 22
"""Items times sets whose posteriors are kept in memory; those of more are computed in chunks."""


@dataclass(frozen=True, eq=False)
class TiltedShares:
    """Shares of labels under the tilt that fits each sample.

    labels: (n_samples, n_labels); sets: (n_samples, n_sets); tilts: (n_samples, n_labels).
    """

    labels: Reals
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
    sets = (
        search.moments(tilts, np.arange(len(tilts))).set_totals / weights.sum(axis=1)[:, np.newaxis]
    )
    return TiltedShares(sets @ model.sets, sets, tilts)


def tilted_labels(model: SetPosteriors, scores: Reals, tilts: Reals) -> Reals:
    """The probability of each label for the items of each sample, under the sample's tilt.

    scores: (n_samples, n_items, n_labels), like the result; tilts: (n_samples, n_labels).
    """
    return model.posteriors(scores + tilts[:, np.newaxis, :]) @ model.sets


@dataclass(frozen=True, eq=False)
class _Moments:
    """What the search needs to know at a tilt, for each sample.

    log_likelihood: (n_samples,); set_totals: items of each set, (n_samples, n_sets); squares: the
    items' expected labels, multiplied in pairs and added up, (n_samples, n_labels, n_labels).
    """

    log_likelihood: Reals
    set_totals: Reals
    squares: Reals

    def take(self, chosen: Flags) -> "_Moments":
        """Of some of the samples."""
        return _Moments(self.log_likelihood[chosen], self.set_totals[chosen], self.squares[chosen])


class _Search:
    """Newton steps for several samples together, each of which ends when it has arrived."""

    def __init__(self, model: SetPosteriors, scores: Reals, weights: Reals, power: float) -> None:
        self.model, self.scores, self.weights, self.power = model, scores, weights, power
        n_samples, n_items, _ = scores.shape
        n_sets = len(model.sets)
        step = n_items if n_samples * n_items * n_sets <= KEPT else max(1, KEPT // n_sets)
        self.chunks = [slice(start, start + step) for start in range(0, n_items, step)]
        self.kept = self._posteriors(slice(None), self.chunks[0])

    def _posteriors(self, rows: Indices | slice, chunk: slice) -> Reals:
        return self.model.posteriors(self.scores[rows, chunk])

    def _parts(self, rows: Indices) -> Iterator[tuple[Reals, Reals]]:
        """Posteriors of the sets, and weights, of the items of some samples, a chunk at a time."""
        for number, chunk in enumerate(self.chunks):
            posteriors = self._posteriors(rows, chunk) if number else self.kept[rows]
            yield posteriors, self.weights[rows, chunk]

    def moments(self, tilts: Reals, rows: Indices) -> _Moments:
        """Of the samples in these rows, at their tilts."""
        sets = self.model.sets
        exponents = tilts @ sets.T
        factors = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        n_samples, n_labels = tilts.shape
        value = -self.weights[rows].sum(axis=1) * np.log(factors @ self.model.shares)
        set_totals = np.zeros((n_samples, len(sets)))
        squares = np.zeros((n_samples, n_labels, n_labels))
        for posteriors, weights in self._parts(rows):
            posteriors *= factors[:, np.newaxis, :]
            norms = posteriors.sum(axis=2)
            posteriors /= norms[:, :, np.newaxis]
            value += (weights * np.log(norms)).sum(axis=1)
            set_totals += np.matmul(weights[:, np.newaxis, :], posteriors)[:, 0]
            expected = posteriors @ sets
            squares += np.swapaxes(expected * weights[:, :, np.newaxis], 1, 2) @ expected
        return _Moments(value, set_totals, squares)

    def run(self, tilts: Reals, *, cauchy: bool) -> Reals:
        """The tilts at the maxima that Newton steps from these tilts lead to."""
        tilts = tilts.copy()
        rows = np.arange(len(tilts))
        objective, moments = self._objective(tilts, rows, cauchy)
        for _ in range(MOST_STEPS):
            steps = self._steps(tilts[rows], rows, moments, cauchy)
            moved, objective, moments = self._moved(tilts[rows], rows, steps, objective, cauchy)
            on_the_way = np.abs(moved - tilts[rows]).max(axis=1) > NEGLIGIBLE
            tilts[rows] = moved
            if not on_the_way.any():
                break
            rows, objective, moments = (
                rows[on_the_way],
                objective[on_the_way],
                moments.take(on_the_way),
            )
        return tilts

    def _objective(self, tilts: Reals, rows: Indices, cauchy: bool) -> tuple[Reals, _Moments]:
        moments = self.moments(tilts, rows)
        prior = np.log1p((tilts / SCALE) ** 2) if cauchy else 0.5 * START * tilts**2
        return self.power * moments.log_likelihood - prior.sum(axis=1), moments

    def _steps(self, tilts: Reals, rows: Indices, moments: _Moments, cauchy: bool) -> Reals:
        """Newton steps; where the likelihood is not concave, its curvature counts as small."""
        sets = self.model.sets
        exponents = tilts @ sets.T
        set_shares = self.model.shares * np.exp(exponents - exponents.max(axis=1, keepdims=True))
        set_shares /= set_shares.sum(axis=1, keepdims=True)
        label_shares = set_shares @ sets
        precisions = 2.0 / (SCALE**2 + tilts**2) if cauchy else np.full_like(tilts, START)
        totals = self.weights[rows].sum(axis=1)[:, np.newaxis]
        gradient = self.power * (moments.set_totals @ sets - totals * label_shares)
        gradient -= precisions * tilts
        excess = totals * set_shares - moments.set_totals
        curvature = np.swapaxes(excess[:, :, np.newaxis] * sets, 1, 2) @ sets
        curvature -= (totals * label_shares)[:, :, np.newaxis] * label_shares[:, np.newaxis, :]
        curvature += moments.squares
        curvature *= self.power
        diagonal = np.arange(tilts.shape[1])
        curvature[:, diagonal, diagonal] += precisions
        values, vectors = np.linalg.eigh(curvature)
        floor = 0.5 * precisions.min(axis=1, keepdims=True)
        turned = (gradient[:, np.newaxis, :] @ vectors)[:, 0] / np.maximum(values, floor)
        steps = (vectors @ turned[:, :, np.newaxis])[:, :, 0]
        longest = np.abs(steps).max(axis=1, keepdims=True)
        return np.asarray(steps * (LONGEST_STEP / np.maximum(longest, LONGEST_STEP)))

    def _moved(
        self, tilts: Reals, rows: Indices, steps: Reals, objective: Reals, cauchy: bool
    ) -> tuple[Reals, Reals, _Moments]:
        """Where the steps, halved until the objective does not fall, lead to."""
        for attempt in range(MOST_HALVINGS + 1):
            trial, moments = self._objective(tilts + steps, rows, cauchy)
            failed: Flags = ~(trial >= objective - ROUNDING * np.abs(objective))
            if not failed.any():
                break
            shorter = 0.0 if attempt == MOST_HALVINGS - 1 else 0.5
            steps = np.where(failed[:, np.newaxis], shorter * steps, steps)
        return tilts + steps, trial, moments
