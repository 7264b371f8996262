"""Replicates of large samples, from a few thousand of their items.

How an estimate changes if the training items are drawn again shows on a part of the sample as well
as on all of it, and so does how it changes if the items are drawn again, except that the latter is
larger: with m of n items, by the square root of n / m. So a replicate is

    the estimate + what the refit changes on the part + sqrt(m / n) x what drawing the part changes

which is right to first order, and takes as long for a million items as for ten thousand. Samples of
known prevalence are simulated in the same way: what a refit expects of them is its estimate of the
training items, weighted so that the classes have their shares.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Prevalences, Reals
from quantshift.intervals.fitted import Fitted
from quantshift.items.estimate import Estimate
from quantshift.items.items import Items
from quantshift.items.simulation import ClassMembers

PART = 2500
"""Items of the part."""

LARGE = 4 * PART
"""Larger samples are represented by a part: a smaller one is drawn as quickly as a whole."""


class LargeSamples:
    """Those samples of a pool that are large, each with its part.

    pool: the items that replicates are drawn from; samples: the rows of each sample or, of a large
    one, of its part, among them.
    point: the estimates of all samples. seed: the parts depend on it, and on the sample's position.
    """

    def __init__(
        self,
        quantifier: Fitted,
        items: Items,
        samples: Sequence[Indices],
        point: Estimate,
        *,
        seed: int,
    ) -> None:
        sizes = np.array([len(rows) for rows in samples])
        self.large = np.flatnonzero(sizes > LARGE)
        self.pool, self.samples = items, list(samples)
        if not len(self.large):
            return
        for i in self.large.tolist():
            rng = generator(seed, purpose="interval", side="part", sample=i)
            self.samples[i] = _part(samples[i], rng)
        self.shrunk = np.sqrt(PART / sizes[self.large])
        needed = np.unique(np.concatenate(self.samples))
        self.pool = items.take(needed)
        self.samples = [np.searchsorted(needed, rows) for rows in self.samples]
        self.point = _of_samples(point, self.large)
        self.by_part = self._estimates(quantifier, self.pool)

    def moved(self, again: Fitted, pool: Items, drawn: Estimate) -> Estimate:
        """The estimates of replicates drawn of the parts, moved to where those of all items are.

        again: the refit; pool: the items, as it sees them. drawn: estimates of the replicates of
        all samples, equally many of each, one sample after the other.
        """
        if not len(self.large):
            return drawn
        by_part, diagnostics = self._estimates(again, pool), dict(drawn.diagnostics)
        name = "model_prevalence"
        if name in diagnostics:
            diagnostics[name] = self._moved(
                self.point.diagnostics[name],
                self.by_part.diagnostics[name],
                by_part.diagnostics[name],
                diagnostics[name],
            )
        moved = self._moved(
            self.point.prevalence,
            self.by_part.prevalence,
            by_part.prevalence,
            drawn.prevalence,
        )
        return replace(drawn, prevalence=moved, diagnostics=diagnostics)

    def _estimates(self, quantifier: Fitted, pool: Items) -> Estimate:
        return quantifier.estimate_items(pool, [self.samples[i] for i in self.large.tolist()])

    def _moved(self, point: Reals, expected: Reals, by_refit: Reals, drawn: Reals) -> Reals:
        """Arrays of shares, whose last axis is that of the classes; `drawn` is of all samples."""
        by_sample = drawn.reshape(len(self.samples), -1, *drawn.shape[1:]).copy()
        deviations = by_sample[self.large] - by_refit[:, np.newaxis]
        centres = (point + by_refit - expected)[:, np.newaxis]
        shrunk = self.shrunk.reshape(-1, *(1,) * drawn.ndim)
        by_sample[self.large] = shares(centres + shrunk * deviations)
        return np.asarray(by_sample.reshape(drawn.shape))


class LargeSimulations:
    """Estimates of large simulated samples of two classes, from a part of the training items."""

    def __init__(self, quantifier: Fitted, held_out: Items, codes: Codes, seed: int) -> None:
        self.quantifier, self.held_out, self.codes = quantifier, held_out, codes
        rng = generator(seed, purpose="interval", side="training part")
        members = [np.flatnonzero(codes == k) for k in range(2)]
        self.rows = np.sort(np.concatenate([_part(rows, rng, PART // 2) for rows in members]))
        self.members = ClassMembers(codes[self.rows], 2, _taken(held_out.weights, self.rows))
        self._known_errors: dict[tuple[float, int], float] = {}
        self._refit: Fitted | None = None
        self._of_refit: dict[tuple[float, int], float] = {}

    def estimates(
        self,
        again: Fitted,
        prevalences: Prevalences,
        size: int,
        n: int,
        rng: np.random.Generator,
        *,
        exact: bool,
    ) -> Reals:
        """Estimates of the second class in n samples at each prevalence, (n_prevalences, n).

        exact: whether the samples have exactly these shares.
        """
        drawn = self.rows[self.members.draw(prevalences, PART, n, rng, exact=exact)]
        estimate = again.estimate_items(self.held_out.unweighted(), drawn)
        estimates = estimate.prevalence[:, 1].reshape(-1, n)
        expected = self._expected_of_refit(again, prevalences, size)
        deviations = np.sqrt(PART / size) * (estimates - expected[:, np.newaxis])
        moved = (expected + self._errors(prevalences, size))[:, np.newaxis] + deviations
        return np.asarray(np.clip(moved, 0.0, 1.0))

    def _expected_of_refit(self, again: Fitted, prevalences: Prevalences, size: int) -> Reals:
        """What the refit expects of the part, kept for the second kind of simulation."""
        if again is not self._refit:
            self._refit, self._of_refit = again, {}
        keys = [(float(p[1]), size) for p in prevalences]
        missing = [i for i, key in enumerate(keys) if key not in self._of_refit]
        if missing:
            found = self._expected(again, prevalences[missing], self.rows, size)
            self._of_refit |= {keys[i]: float(p) for i, p in zip(missing, found, strict=True)}
        return np.array([self._of_refit[key] for key in keys])

    def _errors(self, prevalences: Prevalences, size: int) -> Reals:
        """What the estimates of all training items at these shares are above those of the part."""
        everything = np.arange(len(self.codes))
        for p in prevalences:
            key = float(p[1]), size
            if key not in self._known_errors:
                of_all, of_part = (
                    self._expected(self.quantifier, p[np.newaxis], rows, size)[0]
                    for rows in (everything, self.rows)
                )
                self._known_errors[key] = float(of_all - of_part)
        return np.array([self._known_errors[float(p[1]), size] for p in prevalences])

    def _expected(
        self, fitted: Fitted, prevalences: Prevalences, rows: Indices, size: int
    ) -> Reals:
        """Estimates of these training items, weighted so that their shares are each of these."""
        codes, weights = self.codes[rows], _taken(self.held_out.weights, rows)
        weights = np.ones(len(rows)) if weights is None else weights
        totals = np.bincount(codes, weights, minlength=2)
        items = self.held_out.unweighted().take(np.tile(rows, len(prevalences)))
        by_share = size * weights * (prevalences / totals)[:, codes]
        weighted = replace(items, weights=by_share.ravel())
        samples = np.arange(len(items)).reshape(len(prevalences), -1)
        return np.asarray(fitted.estimate_items(weighted, samples).prevalence[:, 1])


def shares(values: Reals) -> Prevalences:
    """Shares that sums of differences have moved, none negative and together one."""
    kept = np.maximum(values, 0.0)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def _part(rows: Indices, rng: np.random.Generator, size: int = PART) -> NDArray[np.int64]:
    """Some of the rows, or all of them if there are no more."""
    return rows if len(rows) <= size else np.sort(rng.choice(rows, size, replace=False))


def _taken(weights: Reals | None, rows: Indices) -> Reals | None:
    return None if weights is None else weights[rows]


def _of_samples(estimate: Estimate, positions: Indices) -> Estimate:
    diagnostics = {name: column[positions] for name, column in estimate.diagnostics.items()}
    return replace(estimate, prevalence=estimate.prevalence[positions], diagnostics=diagnostics)
