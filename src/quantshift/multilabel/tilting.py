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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from quantshift.base.types import Flags, Indices, Reals
from quantshift.multilabel.set_posteriors import SetPosteriors

SCALE = 0.15
"""Of the Cauchy prior: half of the labels move by a factor of less than exp(0.15) of their odds."""

START = 10.0
"""Precision of the normal prior at the start."""

LONGEST_STEP = 2.0
"""Of a Newton step, for every label."""

NEGLIGIBLE = 1e-5
"""A step this short ends the search: shares are then right to about a millionth."""

MOST_STEPS = 60
"""Of each of the two searches."""

MOST_HALVINGS = 30
"""Of a step; after these it is not taken."""

ROUNDING = 1e-12
"""A fall of the objective by less than this part of it is none."""

KEPT = 1 << 20
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
    step = max(1, KEPT // (index.shape[1] * len(model.sets)))
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

    def take(self, chosen: Flags) -> "_Moments":
        """Of some of the samples."""
        return _Moments(self.log_likelihood[chosen], self.set_totals[chosen], self.squares[chosen])

    def put(self, rows: Indices, others: "_Moments") -> None:
        """Those of some samples in place of what there is."""
        self.log_likelihood[rows] = others.log_likelihood
        self.set_totals[rows] = others.set_totals
        self.squares[rows] = others.squares


class TiltSearch:
    """Newton steps for several samples together, each of which ends when it has arrived.

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
        size = index.shape[1]
        step = size if len(index) * size * n_sets <= KEPT else max(1, KEPT // n_sets)
        self.chunks = [slice(start, start + step) for start in range(0, size, step)]
        self.kept = self._posteriors(slice(None), self.chunks[0])

    def _posteriors(self, rows: int | slice, chunk: slice) -> Reals:
        return self.model.posteriors(self.scores[self.index[rows, chunk]])

    def _parts(self, row: int) -> Iterator[tuple[Reals, Reals]]:
        """Posteriors of the sets, and weights, of the items of a sample, a chunk at a time."""
        for number, chunk in enumerate(self.chunks):
            posteriors = self._posteriors(row, chunk) if number else self.kept[row]
            yield posteriors, self.weights[row, chunk]

    def solve(self, power: float) -> TiltedShares:
        """The tilts that fit best, and the shares under them."""
        tilts = np.zeros((len(self.index), self.scores.shape[1]))
        if power > 0:
            tilts = self._run(tilts, power, cauchy=False)
            tilts = self._run(tilts, power, cauchy=True)
        totals = self._moments(tilts, np.arange(len(tilts))).set_totals
        sets = totals / self.totals[:, np.newaxis]
        return TiltedShares(sets @ self.model.sets, sets, tilts)

    def _moments(self, tilts: Reals, rows: Indices) -> _Moments:
        """Of the samples in these rows, at their tilts."""
        exponents = tilts @ self.model.sets.T
        factors = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        n_samples, n_labels = tilts.shape
        value = -self.totals[rows] * np.log(factors @ self.model.shares)
        set_totals = np.zeros((n_samples, len(self.model.sets)))
        squares = np.zeros((n_samples, n_labels, n_labels))
        for place, row in enumerate(rows):
            tilted = factors[place][:, np.newaxis] * self.columns
            for posteriors, weights in self._parts(int(row)):
                # Sums over the sets of an item are products of matrices; nothing else is kept.
                sums = posteriors @ tilted
                norms = sums[:, 0]
                expected = sums[:, 1:] / norms[:, np.newaxis]
                value[place] += weights @ np.log(norms)
                set_totals[place] += (weights / norms) @ posteriors
                squares[place] += (expected.T * weights) @ expected
        return _Moments(value, set_totals * factors, squares)

    def _run(self, tilts: Reals, power: float, *, cauchy: bool) -> Reals:
        """The tilts at the maxima that Newton steps from these tilts lead to."""
        tilts = tilts.copy()
        rows = np.arange(len(tilts))
        objective, moments = self._objective(tilts, rows, power, cauchy=cauchy)
        for _ in range(MOST_STEPS):
            steps = self._steps(tilts[rows], rows, moments, power, cauchy=cauchy)
            moved, objective, moments = self._moved(
                tilts[rows], rows, steps, objective, power, cauchy=cauchy
            )
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

    def _objective(
        self, tilts: Reals, rows: Indices, power: float, *, cauchy: bool
    ) -> tuple[Reals, _Moments]:
        moments = self._moments(tilts, rows)
        prior = np.log1p((tilts / SCALE) ** 2) if cauchy else 0.5 * START * tilts**2
        return power * moments.log_likelihood - prior.sum(axis=1), moments

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
        totals = self.totals[rows, np.newaxis]
        gradient = power * (moments.set_totals @ sets - totals * label_shares)
        gradient -= precisions * tilts
        excess = totals * set_shares - moments.set_totals
        curvature = np.swapaxes(excess[:, :, np.newaxis] * sets, 1, 2) @ sets
        curvature -= (totals * label_shares)[:, :, np.newaxis] * label_shares[:, np.newaxis, :]
        curvature += moments.squares
        curvature *= power
        diagonal = np.arange(tilts.shape[1])
        curvature[:, diagonal, diagonal] += precisions
        values, vectors = np.linalg.eigh(curvature)
        floor = 0.5 * precisions.min(axis=1, keepdims=True)
        turned = (gradient[:, np.newaxis, :] @ vectors)[:, 0] / np.maximum(values, floor)
        steps = (vectors @ turned[:, :, np.newaxis])[:, :, 0]
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
        trial, moments = self._objective(tilts + steps, rows, power, cauchy=cauchy)
        for attempt in range(1, MOST_HALVINGS + 1):
            failed = np.flatnonzero(~(trial >= objective - ROUNDING * np.abs(objective)))
            if not len(failed):
                break
            steps[failed] *= 0.0 if attempt == MOST_HALVINGS else 0.5
            trial[failed], again = self._objective(
                tilts[failed] + steps[failed], rows[failed], power, cauchy=cauchy
            )
            moments.put(failed, again)
        return tilts + steps, trial, moments
