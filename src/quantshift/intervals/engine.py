"""The engine of intervals: training items drawn again, samples drawn again, limits from both.

What is drawn for which methods, and why, is described in `quantshift.intervals.prediction`. How
samples are drawn again is the only difference between samples of rows and samples of counts: a
drawer does it, and the engine does the rest.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.domains import Several, check_value
from quantshift.base.seeding import generator
from quantshift.base.types import Indices, Prevalences, Reals
from quantshift.errors import UserError, check_level
from quantshift.intervals.counted import as_if_counted
from quantshift.intervals.fitted import Fitted
from quantshift.intervals.limits import (
    credible_limits,
    inner,
    limits,
    without_information,
)
from quantshift.items.simulation import KnownPrevalences

N_REFITS = 200
"""Replicates of the training side; each serves n_bootstrap / N_REFITS replicates of the sample.
With more than two classes, where a refit costs more, there are half as many, and each serves three
at least."""

SMALL = 30
"""A smaller sample shows little, whatever the method."""

BySize = Mapping[int, KnownPrevalences]
"""Estimates at known prevalences, by the size of the samples that share them."""


class AbstractDrawer(ABC):
    """Draws some samples again.

    sizes: of the samples. apart: which classes the held-out posteriors separate, (n_classes,
        n_classes). alike: in which samples all items look the same, though training items do not,
        or far surer than these.
    adjusted: whether the method adjusts for its errors on training items, and there are some.
    training_sizes: how many training items each class has.
    values: the replicates of each sample, (n_replicates, n_classes); complete when all refits have
        been used.
    exact_values: the same of samples that are simulated with exactly known shares, near the
        estimate, for limits of the share among the items; None if there are none.
    """

    sizes: NDArray[Any]
    apart: NDArray[np.bool_]
    alike: NDArray[np.bool_]
    adjusted: bool
    training_sizes: NDArray[Any]
    values: Sequence[Prevalences] | Prevalences
    exact_values: Sequence[Prevalences] | Prevalences | None

    @property
    def inverts(self) -> bool:
        """Whether limits are those prevalences at which the estimate is to be expected."""
        return bool(self.adjusted and len(self.apart) == 2 and self.apart.all())

    @property
    @abstractmethod
    def centre(self) -> Prevalences | None:
        """The prevalences at which samples are simulated; None if the samples are resampled."""

    @property
    @abstractmethod
    def new_items(self) -> bool:
        """Whether samples are simulated from items that the refits have not seen."""

    @property
    @abstractmethod
    def n_refits(self) -> int:
        """Replicates of the training side."""

    @abstractmethod
    def shared_sizes(self) -> NDArray[np.int64]:
        """Sizes, those of similar samples made equal, so that they share simulations."""

    @abstractmethod
    def draws(self) -> Sequence[Prevalences] | Prevalences | None:
        """Draws of the posterior of each sample, if the method has one."""

    @abstractmethod
    def refitted(self, trained: Indices) -> Any:
        """The quantifier fitted again, on drawn training items."""

    @abstractmethod
    def replicate(self, again: Any, number: int) -> Any:
        """Draw the samples again and keep their estimates; returns what a caller may need."""

    @abstractmethod
    def estimates_at(
        self, again: Any, prevalences: Prevalences, size: int, number: int, *, exact: bool
    ) -> Reals:
        """Estimates of the second class in samples at known prevalences, (n_prevalences, n).

        exact: whether the samples have exactly these shares.
        """


class Engine:
    """Replicates of samples that a drawer draws again, and the limits that follow from them.

    p_hat: the estimates of the samples. The replicates are complete when `estimates` is exhausted,
    or after `draw_all`. simulated, exact: estimates of simulated samples, drawn at known
    prevalences or with exactly these shares; the latter are for limits of the share among the
    items.
    """

    def __init__(
        self,
        quantifier: Fitted,
        drawer: AbstractDrawer,
        p_hat: Prevalences,
        *,
        level: float,
        seed: int,
    ) -> None:
        self.quantifier, self.drawer, self.p_hat = quantifier, drawer, p_hat
        self.level, self.seed = level, seed
        self.apart, self.alike, self.sizes = drawer.apart, drawer.alike, drawer.sizes
        separated: NDArray[np.bool_] = np.asarray(self.apart.all(axis=1))
        self.informative: NDArray[np.bool_] = separated & ~self.alike[:, np.newaxis]
        self.draws = drawer.draws()
        self.simulated = self._by_size()
        self.exact: BySize = {}

    @property
    def values(self) -> Sequence[Prevalences] | Prevalences:
        """The replicates of each sample, or draws of its posterior."""
        return self.drawer.values if self.draws is None else self.draws

    def estimates(self) -> Iterator[Any]:
        """Draw the replicates, and yield what the drawer says about each training replicate."""
        for number in range(self._n_refits):
            yield self._replicated(number)

    def draw_all(self) -> None:
        """Draw the replicates, for callers that need nothing else of them."""
        for number in range(self._n_refits):
            self._replicated(number)

    @property
    def _n_refits(self) -> int:
        """With draws of a posterior there is nothing to replicate."""
        return 0 if self.draws is not None else self.drawer.n_refits

    def _replicated(self, number: int) -> Any:
        again = self.drawer.refitted(training_replicate(self.quantifier, number, seed=self.seed))
        outcome = self.drawer.replicate(again, number)
        self._compare(again, number)
        return outcome

    def limits(self) -> tuple[Reals, Reals]:
        """Lower and upper limits, (n_samples, n_classes)."""
        low, high = self._limits()
        low, high = without_information(low, high, self.apart)
        low[self.alike], high[self.alike] = 0.0, 1.0
        return low, high

    def _limits(self) -> tuple[Reals, Reals]:
        return self._population_limits()

    def _population_limits(self) -> tuple[Reals, Reals]:
        if self.draws is not None and not self.quantifier.tags.draws_resample_training:
            low, high = credible_limits(self.p_hat, np.asarray(self.draws), self.level)
        else:
            centre = self.drawer.centre if self.draws is None else self.p_hat
            low, high = self._limits_of(self.values, centre, labels_known=True)
        if self.simulated:
            least, most = self._known_limits(self.simulated)
            if self.quantifier.tags.beyond_prior_shift:
                least, most = np.minimum(least, low), np.maximum(most, high)
            low, high = as_if_counted(self.p_hat, least, most, self.sizes, self.level)
        return low, high

    def _exact_limits(self) -> tuple[Reals, Reals] | None:
        """Limits from samples that are simulated with exactly known shares, if there are some."""
        if self.exact:
            return self._known_limits(self.exact)
        values = self.drawer.exact_values
        if values is None or self.draws is not None:
            return None
        return self._limits_of(values, inner(self.p_hat, self.sizes), labels_known=False)

    def _limits_of(
        self,
        values: Sequence[Prevalences] | Prevalences,
        centre: Prevalences | None,
        *,
        labels_known: bool,
    ) -> tuple[Reals, Reals]:
        """Limits from replicates or draws alone; samples with equally many go together."""
        low, high = np.empty((2, *self.p_hat.shape))
        for rows, of_rows in _of_equal_length(values):
            low[rows], high[rows] = limits(
                self.p_hat[rows],
                of_rows,
                self.sizes[rows],
                self.level,
                centre=None if centre is None else centre[rows],
                training_sizes=self.drawer.training_sizes,
                new_items=self.drawer.new_items,
                labels_known=labels_known,
            )
        return low, high

    def _by_size(self) -> BySize:
        """What is to be estimated at known prevalences, if limits are found in this way."""
        if self.draws is not None or not self.drawer.inverts:
            return {}
        shared = self.drawer.shared_sizes()
        return {
            int(size): KnownPrevalences(self.p_hat[shared == size, 1]) for size in np.unique(shared)
        }

    def _compare(self, again: Any, number: int) -> None:
        """Estimate one or a few samples at each of the known prevalences."""
        for exact, by_size in ((False, self.simulated), (True, self.exact)):
            for size, estimates in by_size.items():
                estimates.add(
                    self.drawer.estimates_at(
                        again, estimates.prevalences, size, number, exact=exact
                    )
                )

    def _known_limits(self, by_size: BySize) -> tuple[Reals, Reals]:
        low, high = np.empty((2, len(self.p_hat), 2))
        shared = self.drawer.shared_sizes()
        for size, estimates in by_size.items():
            least, most = estimates.limits(self.level)
            low[shared == size] = np.stack([1 - most, least], axis=1)
            high[shared == size] = np.stack([1 - least, most], axis=1)
        return low, high


def check_replicates(quantifier: Fitted, level: float, n_bootstrap: int) -> None:
    """Refuse methods without intervals, and levels and numbers that make none."""
    if quantifier.tags.no_interval:
        raise UserError(
            f"{type(quantifier).__name__} has no interval: {quantifier.tags.no_interval}"
        )
    check_bootstrap(level, n_bootstrap)


def check_bootstrap(level: float, n_bootstrap: int) -> None:
    """Refuse levels and numbers of replicates that make no interval."""
    check_level(level)
    check_value("n_bootstrap", n_bootstrap, Several)


def in_steps(sizes: NDArray[Any], step: float) -> NDArray[np.int64]:
    """Sizes, the larger ones rounded down to a geometric series, so that samples share them."""
    steps = np.floor(np.log(np.maximum(sizes, SMALL) / SMALL) / np.log(step) + 1e-9)
    rounded = np.floor(SMALL * step**steps + 1e-9).astype(np.int64)
    return np.where(sizes < SMALL, sizes.astype(np.int64), rounded)


def training_replicate(quantifier: Fitted, number: int, *, seed: int) -> Indices:
    """Positions of training items drawn with replacement.

    Class by class, because a quantifier must not depend on how many items of a class it was given;
    for one that sees nothing but these numbers (MLPE), items are resampled as a whole.
    """
    rng = generator(seed, purpose="interval", side="training", number=number)
    codes = quantifier.held_out_codes_
    if not quantifier.tags.sees:
        return _every_class(rng.integers(len(codes), size=len(codes)), codes)
    members = [np.flatnonzero(codes == code) for code in range(len(quantifier.classes_))]
    return np.concatenate([m[rng.integers(len(m), size=len(m))] for m in members])


def _every_class(rows: Indices, codes: Indices) -> Indices:
    # A fit needs an item of every class; a rare class that the draw has missed keeps one.
    drawn = set(codes[rows].tolist())
    missing = [int(np.argmax(codes == c)) for c in np.unique(codes) if c not in drawn]
    return np.concatenate([rows, np.array(missing, dtype=np.int64)])


def _of_equal_length(
    values: Sequence[Prevalences] | Prevalences,
) -> Iterator[tuple[Any, Prevalences]]:
    """The positions of samples with equally many replicates, and their replicates as one array."""
    if isinstance(values, np.ndarray):
        yield slice(None), values
        return
    lengths = np.array([len(own) for own in values])
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        yield rows, np.stack([values[int(i)] for i in rows])
