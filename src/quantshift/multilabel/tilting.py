"""The shares of labels in samples whose sets of labels have become more or less frequent.

Under the shift that is assumed here, items of a set of labels s look as they did, P(x | s), and the
share of the set has changed by a factor for each of its labels:

    Q(s)  =  P(s) exp(sum over the labels j of s of t_j) / Z(t)

One label whose share changes, with all others following as they follow it in training, is one t_j;
no change is t = 0. The tilt t maximises the likelihood of the sample,

    L(t)  =  sum over items of log( sum over s of P(s | x) exp(t . s) )  -  n log Z(t),

raised to a power (how far the posteriors are to be believed, between 0 and 1), times a Cauchy
prior for each t_j: most labels hardly move, some move a lot. The shares are the means of the items'
posteriors under Q. With the power 0 that is the mean of the posteriors as trained. Labels whose
classifiers are not believed have a prior that holds their t_j at 0.

The search starts from the maximum under a wide normal prior, and then follows Newton steps for the
Cauchy prior, each of which is bounded by the quadratic that touches it at the current t.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from quantshift.base.types import Flags, Indices, Reals
from quantshift.multilabel.set_posteriors import SetPosteriors

SCALE = 0.15
"""The scale of the Cauchy prior: half of the labels move by a factor of less than exp(0.15) of
their odds."""

HELD = 1e9
"""Precision of the prior of a label that is not tilted."""

START = 10.0
"""Precision of the normal prior at the start."""

LONGEST_STEP = 2.0
"""The longest Newton step, for every label."""

CLOSE = 0.1
"""A step shorter than this is replaced by one with the curvature of the Cauchy prior itself: the
bounded steps converge slowly at the end."""

NEGLIGIBLE = 1e-5
"""A step this short ends the search: shares are then right to about a millionth."""

MOST_STEPS = 60
"""The most steps of each of the two searches."""

MOST_HALVINGS = 30
"""How often a step is halved before it is given up."""

ROUNDING = 1e-12
"""A fall of the objective by less than this part of it counts as rounding."""

MOST_IN_MEMORY = 1 << 20
"""Items times sets whose posteriors are kept in memory; others are computed again, in chunks."""


@dataclass(frozen=True, eq=False)
class TiltedShares:
    """Shares of labels under the tilt that fits each sample.

    labels: (n_samples, n_labels); sets: (n_samples, n_sets); tilts: (n_samples, n_labels).
    """

    labels: Reals
    sets: Reals
    tilts: Reals


def tilted_shares(
    model: SetPosteriors,
    scores: Reals,
    index: Indices,
    weights: Reals,
    powers: Sequence[float],
) -> list[TiltedShares]:
    """The shares of the samples of an index matrix for each power, a few samples at a time.

    scores: of the labels of all items, by `model.scores`, (n_items, n_labels); weights: of all
    items.
    """
    step = max(1, MOST_IN_MEMORY // (index.shape[1] * len(model.sets)))
    searches = (
        TiltSearch(model, scores, index[start : start + step], weights)
        for start in range(0, len(index), step)
    )
    parts = [[search.solve(power) for power in powers] for search in searches]
    return [
        TiltedShares(
            *(
                np.concatenate([getattr(part, field.name) for part in of_power])
                for field in fields(TiltedShares)
            )
        )
        for of_power in zip(*parts, strict=True)
    ]


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

    def take(self, chosen: Flags | Indices) -> "_Moments":
        """The moments of some of the samples."""
        return _Moments(self.log_likelihood[chosen], self.set_totals[chosen], self.squares[chosen])

    def put(self, rows: Indices, others: "_Moments") -> None:
        """Replace the moments of some samples."""
        self.log_likelihood[rows] = others.log_likelihood
        self.set_totals[rows] = others.set_totals
        self.squares[rows] = others.squares


class TiltSearch:
    """Newton steps for several samples together; each sample stops when it has converged.

    scores: of the labels of all items, by `model.scores`, (n_items, n_labels); index: the items of
    each sample, (n_samples, size); weights: of all items.
    """

    def __init__(self, model: SetPosteriors, scores: Reals, index: Indices, weights: Reals) -> None:
        self.model, self.scores, self.index = model, scores, index
        self.weights = weights[index]
        self.totals = self.weights.sum(axis=1)
        n_sets = len(model.sets)
        # The first column gives the norms of the posteriors of an item, the others its labels.
        self.columns = np.column_stack([np.ones(n_sets), model.sets])
        # Whether a set has both labels of a pair.
        self.pairs = (model.sets[:, :, np.newaxis] * model.sets[:, np.newaxis]).reshape(n_sets, -1)
        size = index.shape[1]
        step = (
            size
            if len(index) * size * n_sets <= MOST_IN_MEMORY
            else max(1, MOST_IN_MEMORY // n_sets)
        )
        self.chunks = [slice(start, start + step) for start in range(0, size, step)]
        self.first_chunk = self._posteriors(slice(None), self.chunks[0])

    def _posteriors(self, rows: int | slice, chunk: slice) -> Reals:
        return self.model.posteriors(self.scores[self.index[rows, chunk]])

    def _parts(self, row: int) -> Iterator[tuple[Reals, Reals]]:
        """Posteriors of the sets, and weights, of the items of a sample, a chunk at a time."""
        for number, chunk in enumerate(self.chunks):
            posteriors = self._posteriors(row, chunk) if number else self.first_chunk[row]
            yield posteriors, self.weights[row, chunk]

    @cached_property
    def _untilted(self) -> _Moments:
        """The moments at which every search begins."""
        return self._moments(np.zeros((len(self.index), self.scores.shape[1])), self._all)

    @property
    def _all(self) -> Indices:
        return np.arange(len(self.index))

    def solve(self, power: float) -> TiltedShares:
        """The tilts that fit best, and the shares under them."""
        tilts, moments = np.zeros((len(self.index), self.scores.shape[1])), self._untilted
        if power > 0:
            tilts, moments = self._run(tilts, moments, power, cauchy=False)
            tilts, moments = self._run(tilts, moments, power, cauchy=True)
        sets = moments.set_totals / self.totals[:, np.newaxis]
        return TiltedShares(sets @ self.model.sets, sets, tilts)

    def _moments(self, tilts: Reals, rows: Indices) -> _Moments:
        """The moments of the samples in these rows, at their tilts."""
        exponents = tilts @ self.model.sets.T
        factors = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        n_samples, n_labels = tilts.shape
        value = -self.totals[rows] * np.log(factors @ self.model.shares)
        set_totals = np.zeros((n_samples, len(self.model.sets)))
        squares = np.zeros((n_samples, n_labels, n_labels))
        for i, row in enumerate(rows):
            tilted = factors[i][:, np.newaxis] * self.columns
            for posteriors, weights in self._parts(int(row)):
                # Sums over the sets of an item are products of matrices; nothing else is kept.
                sums = posteriors @ tilted
                norms = sums[:, 0]
                expected = sums[:, 1:] / norms[:, np.newaxis]
                value[i] += weights @ np.log(norms)
                set_totals[i] += (weights / norms) @ posteriors
                squares[i] += (expected.T * weights) @ expected
        return _Moments(value, set_totals * factors, squares)

    def _run(
        self, tilts: Reals, moments: _Moments, power: float, *, cauchy: bool
    ) -> tuple[Reals, _Moments]:
        """The tilts at the maxima that Newton steps from these tilts lead to, and the moments."""
        tilts, latest, rows = tilts.copy(), moments.take(self._all), self._all
        objective = _objective(tilts, moments, power, cauchy=cauchy)
        for _ in range(MOST_STEPS):
            steps = self._steps(tilts[rows], rows, moments, power, cauchy=cauchy)
            moved, objective, moments = self._moved(
                tilts[rows], rows, steps, objective, power, cauchy=cauchy
            )
            is_moving = np.abs(moved - tilts[rows]).max(axis=1) > NEGLIGIBLE
            tilts[rows] = moved
            latest.put(rows, moments)
            if not is_moving.any():
                break
            rows, objective, moments = (
                rows[is_moving],
                objective[is_moving],
                moments.take(is_moving),
            )
        return tilts, latest

    def _steps(
        self, tilts: Reals, rows: Indices, moments: _Moments, power: float, *, cauchy: bool
    ) -> Reals:
        """Newton steps; where the likelihood is not concave, its curvature counts as small."""
        sets = self.model.sets
        exponents = tilts @ sets.T
        set_shares = self.model.shares * np.exp(exponents - exponents.max(axis=1, keepdims=True))
        set_shares /= set_shares.sum(axis=1, keepdims=True)
        label_shares = set_shares @ sets
        precisions = 2.0 / (SCALE**2 + tilts**2) if cauchy else np.full_like(tilts, START)
        if self.model.believed is not None:
            precisions = np.where(self.model.believed, precisions, HELD)
        totals = self.totals[rows, np.newaxis]
        gradient = power * (moments.set_totals @ sets - totals * label_shares)
        gradient -= precisions * tilts
        excess = totals * set_shares - moments.set_totals
        curvature = (excess @ self.pairs).reshape(len(rows), sets.shape[1], sets.shape[1])
        curvature -= (totals * label_shares)[:, :, np.newaxis] * label_shares[:, np.newaxis, :]
        curvature += moments.squares
        curvature *= power
        floor = 0.5 * precisions.min(axis=1, keepdims=True)
        steps, _ = _uphill(gradient, curvature, precisions, floor)
        if cauchy:
            close = np.flatnonzero(np.abs(steps).max(axis=1) < CLOSE)
            of_prior = precisions * (SCALE**2 - tilts**2) / (SCALE**2 + tilts**2)
            exact, smallest = _uphill(
                gradient[close], curvature[close], of_prior[close], floor[close]
            )
            is_concave = smallest > floor[close, 0]
            steps[close[is_concave]] = exact[is_concave]
        longest = np.abs(steps).max(axis=1, keepdims=True)
        return np.asarray(steps * (LONGEST_STEP / np.maximum(longest, LONGEST_STEP)))

    def _moved(
        self,
        tilts: Reals,
        rows: Indices,
        steps: Reals,
        objective: Reals,
        power: float,
        *,
        cauchy: bool,
    ) -> tuple[Reals, Reals, _Moments]:
        """Where the steps, halved until the objective does not fall, lead to."""
        moments = self._moments(tilts + steps, rows)
        trial = _objective(tilts + steps, moments, power, cauchy=cauchy)
        for attempt in range(1, MOST_HALVINGS + 1):
            failed = np.flatnonzero(~(trial >= objective - ROUNDING * np.abs(objective)))
            if not len(failed):
                break
            steps[failed] *= 0.0 if attempt == MOST_HALVINGS else 0.5
            shorter = tilts[failed] + steps[failed]
            again = self._moments(shorter, rows[failed])
            trial[failed] = _objective(shorter, again, power, cauchy=cauchy)
            moments.put(failed, again)
        return tilts + steps, trial, moments


def _objective(tilts: Reals, moments: _Moments, power: float, *, cauchy: bool) -> Reals:
    prior = np.log1p((tilts / SCALE) ** 2) if cauchy else 0.5 * START * tilts**2
    return np.asarray(power * moments.log_likelihood - prior.sum(axis=1))


def _uphill(
    gradient: Reals, curvature: Reals, precisions: Reals, floor: Reals
) -> tuple[Reals, Reals]:
    """Newton steps, and the smallest curvature of each sample, that of the prior included.

    curvature: of the likelihood, downwards; precisions: of the prior; floor: what a smaller
    curvature counts as, (n_samples, 1).
    """
    total = curvature + precisions[:, :, np.newaxis] * np.eye(precisions.shape[1])
    values, vectors = np.linalg.eigh(total)
    rotated = (gradient[:, np.newaxis, :] @ vectors)[:, 0] / np.maximum(values, floor)
    return (vectors @ rotated[:, :, np.newaxis])[:, :, 0], values[:, 0]
