"""Intervals of samples that are given by counts: counts are resampled, not rows.

They are those of `quantshift.intervals.prediction`, at the price of a sample's cells instead of its
items. A replicate of the training side draws training items class by class and fits the aggregation
again. *Two classes*, methods that adjust: samples of known prevalence are multinomial draws from
the cells of the training classes, and all batches of about the same size share them, so that a
thousand batches cost little more than one. *Others*: every count of a sample is replaced by a
Poisson draw with that mean, which for the shares is the bootstrap over its items; neighbouring
cells are put together for this. Large samples, whose own error is small beside that of the training
side, get `FEW_REPLICATES`.

Counts are numbers of items: a million items have the error of a million, which the intervals of
survey weights (`quantshift.intervals.prediction`) would not grant them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quantshift.base.progress import OnProgress, silent
from quantshift.base.seeding import generator
from quantshift.base.types import Prevalences, Reals
from quantshift.errors import UserError
from quantshift.intervals.information import FEWEST, IMPOSSIBLE, told_apart
from quantshift.intervals.prediction import (
    N_REFITS,
    SMALL,
    PrevalenceInterval,
    as_if_counted,
    credible_limits,
    inner,
    limits,
    stretched,
    training_replicate,
    without_information,
)
from quantshift.quantifiers.base.estimator import AbstractClassifying
from quantshift.quantifiers.base.items import Items
from quantshift.quantifiers.base.simulation import KnownPrevalences
from quantshift.sketches.about import MOST_VALUES
from quantshift.sketches.cells.joint import JointCells
from quantshift.sketches.cells.score import WIDE
from quantshift.sketches.estimating.counts import (
    CountedClasses,
    CountedSamples,
    coarser,
    coarser_with_means,
    estimates,
    in_cells,
    point_estimates,
    together,
)

SIZE_STEP = 1.25
"""Samples share simulations with those up to so many times their size."""

LARGE, FEW_REPLICATES = 50_000, 200
"""Samples with more items have at most so many replicates."""

FEW_REFITS = 20
"""Replicates of the training side of methods that learn next to nothing from it."""

CHANGE_REPLICATES = 100
"""Replicates of a sample where they tell nothing but whether it differs from the one before."""


class CountIntervals:
    """Intervals for batches of counts, which share the replicates of the training side.

    names: of the batches; what is drawn for one depends on its name and not on the others.
    """

    def __init__(
        self,
        quantifier: AbstractClassifying,
        *,
        level: float,
        n_bootstrap: int,
        seed: int,
        simultaneous: bool = False,
        progress: OnProgress = silent,
    ) -> None:
        if quantifier.tags.no_interval:
            raise UserError(
                f"{type(quantifier).__name__} has no interval: {quantifier.tags.no_interval}"
            )
        self.quantifier, self.level, self.seed = quantifier, level, seed
        self.n_bootstrap, self.simultaneous, self.progress = n_bootstrap, simultaneous, progress
        n_classes = len(quantifier.classes_)
        held_out, codes = quantifier.held_out_posteriors_, quantifier.held_out_codes_
        self.known = CountedClasses.of(held_out, codes, n_classes) if len(held_out) else None
        if self.known is not None and n_classes == 2 and len(self.known.posteriors) > MOST_VALUES:
            self.known = CountedClasses.of(in_cells(held_out), codes, n_classes)
        self.adjusted = quantifier.tags.adjusts and self.known is not None
        self.apart = np.ones((n_classes, n_classes), dtype=bool)
        if self.known is not None and np.bincount(codes).min() >= FEWEST:
            self.apart = told_apart(held_out, codes, crisp=quantifier.tags.crisp)

    def of(
        self, names: Sequence[str], samples: Sequence[CountedSamples]
    ) -> tuple[list[PrevalenceInterval], NDArray[np.bool_]]:
        """The interval of every batch, and in which all items look the same as none would."""
        q = self.quantifier
        p_hat = np.concatenate([point_estimates(q, s) for s in samples])
        sizes = np.concatenate([s.sizes for s in samples])
        alike = np.array([self._alike(s.posteriors, own) for s in samples for own in s.counts])
        informative_classes = self.apart.all(axis=1) & ~alike[:, np.newaxis]
        known: dict[int, KnownPrevalences] = {}
        shared = _shared_sizes(sizes)
        two = self.adjusted and p_hat.shape[1] == 2 and bool(self.apart.all())
        training_sizes = np.bincount(q.held_out_codes_, minlength=p_hat.shape[1])
        drawn = self._credible(samples)
        if drawn is None:
            if two:
                known = {
                    int(size): KnownPrevalences(p_hat[shared == size, 1])
                    for size in np.unique(shared)
                }
            drawn = self._replicates(names, samples, p_hat, sizes, known, two=two)
            low, high = np.empty_like(p_hat), np.empty_like(p_hat)
            simulates = self.adjusted and not two
            for i, values in enumerate(drawn):
                centre = inner(p_hat[i : i + 1], sizes[i : i + 1]) if simulates else None
                low[i], high[i] = (
                    limit[0]
                    for limit in limits(
                        p_hat[i : i + 1],
                        values[np.newaxis],
                        sizes[i : i + 1],
                        self.level,
                        centre=centre,
                        training_sizes=training_sizes,
                    )
                )
            if known:
                least, most = _known_limits(known, shared, self.level)
                if q.tags.beyond_prior_shift:
                    least, most = np.minimum(least, low), np.maximum(most, high)
                low, high = as_if_counted(p_hat, least, most, sizes, self.level)
        elif q.tags.draws_resample_training:
            low, high = limits(
                p_hat,
                np.stack(drawn),
                sizes,
                self.level,
                centre=p_hat,
                training_sizes=training_sizes,
            )
        else:
            low, high = credible_limits(p_hat, np.stack(drawn), self.level)
        low, high = without_information(low, high, self.apart)
        low[alike], high[alike] = 0.0, 1.0
        if self.simultaneous:
            for i, values in enumerate(drawn):
                one = slice(i, i + 1)
                low[one], high[one] = stretched(
                    p_hat[one], low[one], high[one], values[np.newaxis], self.level
                )
        intervals = [
            PrevalenceInterval(
                prevalence=p_hat[i],
                low=low[i],
                high=high[i],
                level=self.level,
                classes=q.classes_,
                replicates=drawn[i],
                simultaneous=self.simultaneous,
                informative=informative_classes[i],
                bias=drawn[i].mean(axis=0) - p_hat[i],
            )
            for i in range(len(p_hat))
        ]
        return intervals, alike

    def _replicates(
        self,
        names: Sequence[str],
        samples: Sequence[CountedSamples],
        p_hat: Prevalences,
        sizes: Reals,
        known: dict[int, KnownPrevalences],
        *,
        two: bool,
    ) -> list[Prevalences]:
        """The replicates of every batch, and those of known prevalences."""
        n_refits = min(N_REFITS if two else N_REFITS // 2, self.n_bootstrap)
        wanted = [self._n_replicates(float(size), two=two) for size in sizes]
        rngs = [generator(self.seed, purpose="counts", batch=name) for name in names]
        replicates: list[list[Prevalences]] = [[] for _ in names]
        refit = self.quantifier.refitter()
        # What resampling does to an estimate takes no fine cells.
        if two:
            samples = together([coarser(group) for group in samples])
        elif not self.adjusted:
            n_refits = min(n_refits, FEW_REFITS)
            samples = [
                coarser_with_means(group.posteriors, own)
                for group in samples
                for own in group.counts
            ]
        for number in range(n_refits):
            again: AbstractClassifying = refit(
                training_replicate(self.quantifier, number, seed=self.seed)
            )
            first = 0
            for group in samples:
                members = range(first, first + len(group.counts))
                first = members.stop
                per_refit = [-(-wanted[i] // n_refits) for i in members]
                due = [
                    i
                    for i, n in zip(members, per_refit, strict=True)
                    if sum(map(len, replicates[i])) < wanted[i]
                ]
                if due:
                    self._draw(
                        again, group, members.start, due, per_refit, rngs, p_hat, replicates, two
                    )
            self._compare(again, known, number)
            self.progress("resampling", number + 1, n_refits)
        return [np.concatenate(own)[: wanted[i]] for i, own in enumerate(replicates)]

    def _draw(
        self,
        again: AbstractClassifying,
        group: CountedSamples,
        start: int,
        due: Sequence[int],
        per_refit: Sequence[int],
        rngs: Sequence[np.random.Generator],
        p_hat: Prevalences,
        replicates: list[list[Prevalences]],
        two: bool,
    ) -> None:
        """Estimate resampled counts of the batches that are due."""
        posteriors, means = group.posteriors, group.counts
        if self.adjusted and not two:
            # As the intervals of many classes: samples at the estimate, from the training classes.
            assert self.known is not None
            posteriors = self.known.posteriors
            centre = inner(p_hat[start : start + len(means)], group.sizes)
            means = group.sizes[:, np.newaxis] * (centre @ self.known.shares)
        counts = [
            _filled(
                rngs[i].poisson(means[i - start], (per_refit[i - start], means.shape[1])),
                means[i - start],
            )
            for i in due
        ]
        p = estimates(again, posteriors, np.concatenate(counts))
        first = 0
        for i, resampled in zip(due, counts, strict=True):
            replicates[i].append(p[first : first + len(resampled)])
            first += len(resampled)

    def _n_replicates(self, size: float, *, two: bool) -> int:
        if two:
            return min(self.n_bootstrap, CHANGE_REPLICATES)
        return self.n_bootstrap if size <= LARGE else min(self.n_bootstrap, FEW_REPLICATES)

    def _compare(
        self, again: AbstractClassifying, known: dict[int, KnownPrevalences], number: int
    ) -> None:
        """Estimate a sample at each of the known prevalences."""
        for size, compared in known.items():
            assert self.known is not None
            counts = np.empty((len(compared.prevalences), len(self.known.posteriors)))
            for i, prevalence in enumerate(compared.prevalences):
                # Each by itself: which prevalences are needed depends on the other batches.
                rng = generator(
                    self.seed,
                    purpose="counts at a known prevalence",
                    size=size,
                    number=number,
                    prevalence=float(prevalence[1]),
                )
                mixed = prevalence @ self.known.shares
                counts[i] = rng.multinomial(size, mixed / mixed.sum())
            p = estimates(again, self.known.posteriors, counts)
            compared.add(p[:, 1:2])

    def _credible(self, samples: Sequence[CountedSamples]) -> list[Prevalences] | None:
        """Draws of the posterior of every batch, if the method has one."""
        drawn = []
        for group in samples:
            for counts in group.counts:
                used = counts > 0
                items = Items(group.posteriors[used], weights=counts[used])
                values = self.quantifier.draws(
                    items, [np.arange(len(items))], self.n_bootstrap, seed=self.seed
                )
                if values is None:
                    return None
                drawn.append(values[0])
        return drawn

    def _alike(self, posteriors: Reals, counts: Reals) -> bool:
        """Whether all items are in one cell, though training items of no class would be."""
        occupied = np.flatnonzero(counts)
        if len(occupied) != 1 or self.known is None:
            return False
        like = _alike_cells(self.known.posteriors, posteriors[occupied])
        sizes = self.known.counts.sum(axis=1)
        shares = (self.known.counts[:, like].sum(axis=1) + 1) / (sizes + 1)
        return bool(shares.max() ** counts.sum() < IMPOSSIBLE)


def _alike_cells(known: Reals, one: Reals) -> NDArray[np.bool_]:
    """Which of the known posteriors are in the same wide cell as one, or the same joint cell."""
    if known.shape[1] == 2:
        return np.asarray(WIDE.of(known[:, 1]) == WIDE.of(one[:, 1]))
    joint = JointCells(known.shape[1])
    return np.asarray(joint.of(known, known.argmax(axis=1)) == joint.of(one, one.argmax(axis=1)))


def _filled(draws: NDArray[np.int64], means: Reals) -> Reals:
    """Draws in which every sample has an item."""
    counts = draws.astype(np.float64)
    counts[counts.sum(axis=1) == 0, int(np.argmax(means))] = 1.0
    return counts


def _shared_sizes(sizes: Reals) -> NDArray[np.int64]:
    """Sizes, the larger ones rounded down to a geometric series, so that samples share them."""
    steps = np.floor(np.log(np.maximum(sizes, SMALL) / SMALL) / np.log(SIZE_STEP) + 1e-9)
    rounded = np.floor(SMALL * SIZE_STEP**steps + 1e-9).astype(np.int64)
    return np.where(sizes < SMALL, sizes.astype(np.int64), rounded)


def _known_limits(
    known: dict[int, KnownPrevalences], shared: NDArray[np.int64], level: float
) -> tuple[Reals, Reals]:
    low, high = np.empty((2, len(shared), 2))
    for size, compared in known.items():
        least, most = compared.limits(level)
        low[shared == size] = np.stack([1 - most, least], axis=1)
        high[shared == size] = np.stack([1 - least, most], axis=1)
    return low, high
