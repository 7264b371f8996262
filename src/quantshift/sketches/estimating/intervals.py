"""Intervals of samples that are given by counts: counts are resampled, not rows.

They are those of `quantshift.intervals.prediction`, at the cost of a sample's cells instead of its
items. A replicate of the training side draws training items class by class and fits the aggregation
again. *Two classes*, methods that adjust: samples of known prevalence are multinomial draws from
the cells of the training classes, and all batches of about the same size share them, so that a
thousand batches cost little more than one. *Others*: every count of a sample is replaced by a
Poisson draw with that mean, which for the shares is the bootstrap over its items; neighbouring
cells are put together for this. Large samples, whose own error is small beside that of the training
side, get `FEW_REPLICATES`.

Limits for the share among the counted items themselves (`of`) come from samples that are simulated
with exactly known shares or, for methods that use scores as they are, from the labels that scores
leave open. Methods that draw from a posterior keep the limits of the population, which are wider.

Counts are numbers of items: a million items have the error of a million, unlike rows with survey
weights (`quantshift.intervals.prediction`).
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from quantshift.base.progress import OnProgress, silent
from quantshift.base.seeding import generator
from quantshift.base.types import Indices, Prevalences, Reals
from quantshift.classify.calibration.calibration import AUTO, calibration_called
from quantshift.intervals.engine import (
    N_REFITS,
    AbstractDrawer,
    Engine,
    check_replicates,
    in_steps,
)
from quantshift.intervals.information import FEWEST, IMPOSSIBLE, far_surer, told_apart
from quantshift.intervals.limits import inner, stretched
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.intervals.targets import ITEMS, POPULATION
from quantshift.items.items import Items
from quantshift.prevalence.simplex import whole_counts
from quantshift.quantifiers.base.estimator import AbstractClassifying
from quantshift.sketches.about import MOST_VALUES
from quantshift.sketches.cells.joint import JointCells
from quantshift.sketches.cells.score import WIDE
from quantshift.sketches.estimating.counts import (
    CountedClasses,
    CountedSamples,
    coarser,
    coarser_with_means,
    count_estimates,
    in_cells,
    point_estimates,
    together,
)

SIZE_STEP = 1.25
"""Samples share simulations with those up to this many times their size."""

LARGE, FEW_REPLICATES = 50_000, 200
"""Samples with more items than LARGE have at most FEW_REPLICATES replicates."""

FEW_REFITS = 20
"""Replicates of the training side of methods that learn next to nothing from it."""

CHANGE_REPLICATES = 100
"""Replicates of a sample if they only show whether it differs from the one before."""


class CountIntervals:
    """Intervals for batches of counts, which share the replicates of the training side."""

    def __init__(
        self,
        quantifier: AbstractClassifying,
        *,
        level: float,
        n_bootstrap: int,
        seed: int,
        simultaneous: bool = False,
        of: str = POPULATION,
        progress: OnProgress = silent,
    ) -> None:
        check_replicates(quantifier, level, n_bootstrap)
        self.target = of
        self.quantifier, self.level, self.seed = quantifier, level, seed
        self.n_bootstrap, self.simultaneous, self.progress = n_bootstrap, simultaneous, progress

    def of(
        self, names: Sequence[str], samples: Sequence[CountedSamples]
    ) -> tuple[list[PrevalenceInterval], NDArray[np.bool_]]:
        """The interval of every batch, and whether its items are all alike, as none should be.

        names: those of the batches; what is drawn for one depends on its name and not on the
        others.
        """
        q = self.quantifier
        p_hat = np.concatenate([point_estimates(q, s) for s in samples])
        drawer = CountDraws(
            q,
            names,
            samples,
            p_hat,
            n_bootstrap=self.n_bootstrap,
            exactly=self.target == ITEMS,
            seed=self.seed,
        )
        engine = CountEngine(drawer, level=self.level)
        for number, _ in enumerate(engine.estimates(), start=1):
            self.progress("resampling", number, drawer.n_refits)
        low, high = engine.limits()
        drawn = engine.values
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
                informative=engine.informative[i],
                bias=drawn[i].mean(axis=0) - p_hat[i],
            )
            for i in range(len(p_hat))
        ]
        return intervals, engine.alike


class CountEngine(Engine):
    """The replicates of counts, and limits for the population or for the items themselves."""

    def __init__(self, counts: "CountDraws", *, level: float) -> None:
        super().__init__(counts.quantifier, counts, counts.p_hat, level=level, seed=counts.seed)
        self.counts = counts
        if counts.exactly:
            self.exact = self._by_size()

    def _limits(self) -> tuple[Reals, Reals]:
        if not self.counts.exactly or self.draws is not None:
            return self._population_limits()
        least, most = self._population_limits()
        exact = self._exact_limits()
        if exact is None:
            margin = ndtri(0.5 + self.level / 2) * self.counts.label_errors()
            exact = self.p_hat - margin, self.p_hat + margin
        low, high = exact
        low, high = np.maximum(low, least), np.minimum(high, most)
        return np.minimum(low, self.p_hat), np.maximum(high, self.p_hat)


class CountDraws(AbstractDrawer):
    """Draws counts again: those of the samples, or of samples simulated from the training items.

    exactly: whether samples with exactly known shares are simulated as well.
    """

    new_items = False

    def __init__(
        self,
        quantifier: AbstractClassifying,
        names: Sequence[str],
        samples: Sequence[CountedSamples],
        p_hat: Prevalences,
        *,
        n_bootstrap: int,
        exactly: bool,
        seed: int,
    ) -> None:
        self.quantifier, self.samples, self.p_hat = quantifier, samples, p_hat
        self.n_bootstrap, self.exactly, self.seed = n_bootstrap, exactly, seed
        n_classes = len(quantifier.classes_)
        held_out, codes = quantifier.held_out_posteriors_, quantifier.held_out_codes_
        self.training = CountedClasses.of(held_out, codes, n_classes) if len(held_out) else None
        many = self.training is not None and len(self.training.posteriors) > MOST_VALUES
        if many and n_classes == 2:
            self.training = CountedClasses.of(in_cells(held_out), codes, n_classes)
        self.training_sizes = np.bincount(codes, minlength=n_classes)
        self.adjusted = quantifier.tags.adjusts and self.training is not None
        self.apart = np.ones((n_classes, n_classes), dtype=bool)
        if self.training is not None and np.bincount(codes).min() >= FEWEST:
            self.apart = told_apart(held_out, codes, crisp=quantifier.tags.crisp)
        self.sizes = np.concatenate([s.sizes for s in samples])
        self.alike = np.array([self._alike(s.posteriors, own) for s in samples for own in s.counts])
        self._rngs = [generator(seed, purpose="counts", batch=name) for name in names]
        self._exact_rngs = [generator(seed, purpose="exact counts", batch=name) for name in names]
        self._drawn: list[list[Prevalences]] = [[] for _ in names]
        self._exact: list[list[Prevalences]] = [[] for _ in names]

    @property
    def values(self) -> list[Prevalences]:  # type: ignore[override]
        """The replicates of each batch so far."""
        return self._joined(self._drawn)

    @property
    def exact_values(self) -> list[Prevalences] | None:  # type: ignore[override]
        """Replicates with exactly known shares of each batch so far."""
        return self._joined(self._exact) if self.simulates and self.exactly else None

    def _joined(self, drawn: list[list[Prevalences]]) -> list[Prevalences]:
        both = zip(drawn, self._n_replicates, strict=True)
        return [np.concatenate(own)[:n] for own, n in both]

    @property
    def simulates(self) -> bool:
        """Whether replicates are samples of the training classes, near the estimate."""
        return self.adjusted and not self.inverts

    @property
    def centre(self) -> Prevalences | None:  # noqa: D102
        return inner(self.p_hat, self.sizes) if self.simulates else None

    @property
    def n_refits(self) -> int:  # noqa: D102
        n_refits = min(N_REFITS if self.inverts else N_REFITS // 2, self.n_bootstrap)
        return n_refits if self.adjusted else min(n_refits, FEW_REFITS)

    def shared_sizes(self) -> NDArray[np.int64]:  # noqa: D102
        return in_steps(self.sizes, SIZE_STEP)

    def draws(self) -> list[Prevalences] | None:  # noqa: D102
        drawn = []
        for group in self.samples:
            for counts in group.counts:
                used = counts > 0
                items = Items(group.posteriors[used], weights=counts[used])
                values = self.quantifier.draws(
                    items, [np.arange(len(items))], self.n_bootstrap, random_state=self.seed
                )
                if values is None:
                    return None
                drawn.append(values[0])
        return drawn

    def refitted(self, trained: Indices) -> AbstractClassifying:  # noqa: D102
        again: AbstractClassifying = self._refit(trained)
        return again

    def replicate(self, again: AbstractClassifying, number: int) -> None:  # noqa: D102
        first = 0
        for group in self._resampled:
            members = range(first, first + len(group.counts))
            first = members.stop
            due = [i for i in members if sum(map(len, self._drawn[i])) < self._n_replicates[i]]
            if due:
                self._draw(again, group, members.start, due)

    def estimates_at(  # noqa: D102
        self,
        again: AbstractClassifying,
        prevalences: Prevalences,
        size: int,
        number: int,
        *,
        exact: bool,
    ) -> Reals:
        assert self.training is not None
        counts = np.empty((len(prevalences), len(self.training.posteriors)))
        for i, prevalence in enumerate(prevalences):
            # Each by itself: which prevalences are needed depends on the other batches.
            rng = generator(
                self.seed,
                purpose="counts of known shares" if exact else "counts at a known prevalence",
                size=size,
                number=number,
                prevalence=float(prevalence[1]),
            )
            if exact:
                counts[i] = self._composed(prevalence, size, 1, rng)[0]
                continue
            mixed = prevalence @ self.training.shares
            counts[i] = rng.multinomial(size, mixed / mixed.sum())
        return count_estimates(again, self.training.posteriors, counts)[:, 1:2]

    def label_errors(self) -> Reals:
        """Standard errors of the shares if only labels vary, (n_samples, n_classes)."""
        held_out, codes = self.quantifier.held_out_posteriors_, self.quantifier.held_out_codes_
        weights = self.quantifier.held_out_.weights
        errors = []
        for group in self.samples:
            pool = group.posteriors
            if len(held_out):
                pool = calibration_called(AUTO)(held_out, codes, weights)(pool)
            variances = group.counts @ (pool * (1 - pool))
            errors.append(np.sqrt(variances) / group.sizes[:, np.newaxis])
        return np.concatenate(errors)

    def _composed(
        self, prevalence: Prevalences, size: int, n: int, rng: np.random.Generator
    ) -> Reals:
        """Counts of n samples with exactly these shares of the training classes, (n, n_cells)."""
        assert self.training is not None
        counts_and_shares = zip(whole_counts(prevalence, size), self.training.shares, strict=True)
        drawn = [rng.multinomial(k, shares / shares.sum(), n) for k, shares in counts_and_shares]
        return np.asarray(np.sum(drawn, axis=0), dtype=np.float64)

    @cached_property
    def _refit(self) -> Callable[[Indices], Any]:
        return self.quantifier.refitter()

    @cached_property
    def _n_replicates(self) -> list[int]:
        """Replicates of each batch."""
        if self.inverts:
            return [min(self.n_bootstrap, CHANGE_REPLICATES)] * len(self.sizes)
        few = min(self.n_bootstrap, FEW_REPLICATES)
        return [self.n_bootstrap if size <= LARGE else few for size in self.sizes]

    @cached_property
    def _resampled(self) -> Sequence[CountedSamples]:
        """The samples as they are resampled: the effect on an estimate needs no narrow cells."""
        if self.inverts:
            return together([coarser(group) for group in self.samples])
        if self.adjusted:
            return self.samples
        return [
            coarser_with_means(group.posteriors, own)
            for group in self.samples
            for own in group.counts
        ]

    def _draw(
        self, again: AbstractClassifying, group: CountedSamples, start: int, due: Sequence[int]
    ) -> None:
        """Estimate resampled counts of the batches that are due; start: the first of the group."""
        posteriors, means = group.posteriors, group.counts
        centre = inner(self.p_hat[start : start + len(means)], group.sizes)
        if self.simulates:
            assert self.training is not None
            posteriors = self.training.posteriors
            means = group.sizes[:, np.newaxis] * (centre @ self.training.shares)
        counts, exact = [], []
        for i in due:
            n, mean = -(-self._n_replicates[i] // self.n_refits), means[i - start]
            counts.append(_filled(self._rngs[i].poisson(mean, (n, len(mean))), mean))
            if self.simulates and self.exactly:
                size = int(group.sizes[i - start])
                exact.append(self._composed(centre[i - start], size, n, self._exact_rngs[i]))
        self._keep(self._drawn, again, posteriors, due, counts)
        self._keep(self._exact, again, posteriors, due, exact)

    def _keep(
        self,
        drawn: list[list[Prevalences]],
        again: AbstractClassifying,
        posteriors: Reals,
        due: Sequence[int],
        counts: Sequence[Reals],
    ) -> None:
        """Keep the estimates of counts, if there are some; those of a batch are in one array."""
        if not counts:
            return
        p = count_estimates(again, posteriors, np.concatenate(counts))
        ends = np.cumsum([len(own) for own in counts])
        for i, own in zip(due, np.split(p, ends[:-1]), strict=True):
            drawn[i].append(own)

    def _alike(self, posteriors: Reals, counts: Reals) -> bool:
        """Whether all items are in one cell, though training items of no class would be.

        Or whether most of them are far surer than any training item.
        """
        if self.training is None:
            return False
        if far_surer(posteriors, self.training.posteriors, counts):
            return True
        occupied = np.flatnonzero(counts)
        if len(occupied) != 1:
            return False
        like = _alike_cells(self.training.posteriors, posteriors[occupied])
        sizes = self.training.counts.sum(axis=1)
        shares = (self.training.counts[:, like].sum(axis=1) + 1) / (sizes + 1)
        return bool(shares.max() ** counts.sum() < IMPOSSIBLE)


def _alike_cells(posteriors: Reals, item: Reals) -> NDArray[np.bool_]:
    """Which of the posteriors are in the same wide cell as an item, or in the same joint cell."""
    if posteriors.shape[1] == 2:
        return np.asarray(WIDE.of(posteriors[:, 1]) == WIDE.of(item[:, 1]))
    joint = JointCells(posteriors.shape[1])
    return np.asarray(
        joint.of(posteriors, posteriors.argmax(axis=1)) == joint.of(item, item.argmax(axis=1))
    )


def _filled(draws: NDArray[np.int64], means: Reals) -> Reals:
    """Draws in which every sample has an item."""
    counts = draws.astype(np.float64)
    counts[counts.sum(axis=1) == 0, int(np.argmax(means))] = 1.0
    return counts
