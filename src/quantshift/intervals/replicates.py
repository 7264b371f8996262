"""Replicates of samples of rows: how they are drawn, and the share among their items.

What is drawn for which methods, and why, is described in `quantshift.intervals.prediction`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Prevalences, Reals
from quantshift.classify.calibration.calibration import AUTO, calibration_called
from quantshift.errors import unknown_name
from quantshift.intervals.engine import (
    N_REFITS,
    AbstractDrawer,
    Engine,
    check_replicates,
    in_steps,
    training_replicate,
)
from quantshift.intervals.fitted import Fitted
from quantshift.intervals.information import FEWEST, far_surer, indistinct, told_apart
from quantshift.intervals.large_samples import LARGE, LargeSamples, LargeSimulations
from quantshift.intervals.limits import credible_limits, inner
from quantshift.intervals.predictive import label_draws, population_draws, share_draws
from quantshift.intervals.targets import ITEMS, POPULATION, SHARES_OF
from quantshift.items.estimate import Estimate
from quantshift.items.items import Items, effective_size, uneven
from quantshift.items.simulation import ClassMembers
from quantshift.prevalence.weights import Weights

OWN_REFITS = 20
"""Replicates that share a refit of a method that fits its own classifier."""

MOST_ITEMS = 50_000
"""Simulated samples that no part can stand for have at most this many items: the interval of a
larger sample is then a little too wide."""

SIZE_STEP = 1.05
"""Samples share simulations with those up to this many times their size."""

MOST_MEMBERS = 4
"""Models of a committee that classify the items of one replicate."""

TRIALS, MOSTLY, MEMORY = 10, 0.8, 0.04
"""Refits in which estimates on items of the replicate and on others are compared, the share of the
largest class in these samples, and the difference beyond which a method knows its training items
too well."""

PER_SIMULATION = 1000
"""For every training replicate and prevalence, one sample is simulated per this many replicates."""


class RowDraws(AbstractDrawer):
    """Draws samples of items again: resampled, or simulated from the training items.

    items: as `quantifier.items(X)` returns them; point: the estimates of the samples. The
    replicates of a sample depend on the seed, its position and its size alone.
    exactly: whether samples with exactly known shares are simulated as well.
    cross_fitted: whether held-out posteriors come from folds; by default they do if the quantifier
    has fitted its classifier.
    """

    values: Prevalences
    exact_values: Prevalences | None

    def __init__(
        self,
        quantifier: Fitted,
        items: Items,
        samples: Sequence[Indices],
        point: Estimate,
        *,
        n_bootstrap: int,
        seed: int,
        exactly: bool,
        cross_fitted: bool | None,
    ) -> None:
        weights = uneven(items.weights)
        if weights is not None:
            # An item of zero weight does not count; a replicate of such items would be empty.
            samples = [rows[weights[rows] > 0] for rows in samples]
        self.quantifier, self.items, self.samples, self.point = quantifier, items, samples, point
        self.n_bootstrap, self.seed = n_bootstrap, seed
        n_classes = len(quantifier.classes_)
        self.values = np.empty((len(samples), n_bootstrap, n_classes))
        self.sizes = np.array([len(rows) for rows in samples])
        if weights is not None:
            self.sizes = np.array([round(effective_size(weights[rows])) for rows in samples])
        # Simulated samples draw items in proportion to their weights, which must not count twice.
        self.held_out = quantifier.held_out_.unweighted()
        training, codes = quantifier.held_out_, quantifier.held_out_codes_
        self.adjusted = quantifier.tags.adjusts and (
            training.posteriors is not None or training.features is not None
        )
        self.members = Members(codes, n_classes, training.weights, items_of=self._items_of())
        self.training_sizes = self.members.sizes()
        if cross_fitted is None:
            fitted = quantifier.classifier_
            cross_fitted = fitted is not None and not isinstance(fitted, FrozenEstimator)
        self.apart = self._separated(training, codes, cross_fitted=cross_fitted)
        self.alike = self._alike(training, codes)
        of_many = self.adjusted and n_classes > 2
        self.simulates = of_many and not quantifier.tags.beyond_prior_shift
        self._near = inner(point.prevalence, self.sizes)
        resampled = [] if self.simulates else samples
        self.large = LargeSamples(quantifier, items, resampled, point, seed=seed)
        by_weights = self.members.items_of == "all" and quantifier.takes_weights
        self.simulations = (
            LargeSimulations(quantifier, training, codes, seed)
            if by_weights and n_classes == 2
            else None
        )
        self.exact_values = np.empty_like(self.values) if of_many and exactly else None

    @cached_property
    def _refit(self) -> Callable[[Indices], Any]:
        return self.quantifier.refitter()

    @property
    def centre(self) -> Prevalences | None:  # noqa: D102
        return self._near if self.simulates else None

    @property
    def new_items(self) -> bool:  # noqa: D102
        return self.members.items_of == "rest"

    @property
    def n_refits(self) -> int:  # noqa: D102
        if self.quantifier.tags.own_classifier:
            return max(2, self.n_bootstrap // OWN_REFITS)
        if len(self.quantifier.classes_) > 2:
            return min(N_REFITS // 2, max(2, self.n_bootstrap // 3))
        return min(N_REFITS, self.n_bootstrap)

    def shared_sizes(self) -> NDArray[np.int64]:  # noqa: D102
        sizes = in_steps(self.sizes, SIZE_STEP)
        return sizes if self.simulations is not None else np.minimum(sizes, MOST_ITEMS)

    def draws(self) -> Prevalences | None:  # noqa: D102
        return self.quantifier.draws(
            self.items, self.samples, self.n_bootstrap, random_state=self.seed
        )

    def refitted(self, trained: Indices) -> Fitted:  # noqa: D102
        self.members.choose(trained)
        return self.quantifier if self.quantifier.tags.trusts_posteriors else self._refit(trained)

    def replicate(self, again: Fitted, number: int) -> tuple[Indices, Estimate]:
        """Draw every sample again: which replicates these are, and their estimates.

        The estimates, with their diagnostics, are those of the first sample's replicates, then of
        the second's, and so on.
        """
        columns = np.arange(number, self.n_bootstrap, self.n_refits)
        drawn = self._each(self._rows, len(columns), number)
        pool = self.held_out if self.simulates else some_members(self.large.pool, number)
        estimate = self.large.moved(again, pool, again.estimate_items(pool, drawn))
        self.values[:, columns] = weighed_as(self.point, estimate)
        if self.exact_values is not None:
            drawn = self._each(self._exact_rows, len(columns), number)
            exact = again.estimate_items(self.held_out, drawn)
            self.exact_values[:, columns] = weighed_as(self.point, exact)
        return columns, estimate

    def estimates_at(  # noqa: D102
        self,
        again: Fitted,
        prevalences: Prevalences,
        size: int,
        number: int,
        *,
        exact: bool,
    ) -> Reals:
        n = max(1, round(self.n_bootstrap / PER_SIMULATION))
        rng = generator(self.seed, purpose="interval", side="known", size=size, number=number)
        if size > LARGE and self.simulations is not None:
            return self.simulations.estimates(again, prevalences, size, n, rng, exact=exact)
        rows = self.members.draw(prevalences, size, n, rng, exact=exact)
        estimate = again.estimate_items(self.held_out, rows)
        return estimate.prevalence[:, 1].reshape(-1, n)

    def _items_of(self) -> str:
        """Which training items simulated samples are drawn from, as in `Members`."""
        if self.quantifier.tags.trusts_posteriors:
            return "replicate"
        of_features = self.held_out.posteriors is None and self.adjusted
        return "rest" if of_features and self._memorises() else "all"

    def _memorises(self) -> bool:
        """Whether estimates are better on the training items than on others.

        Refitted on a replicate of the training items, the method estimates samples in which most
        items are of one class: of items in the replicate, and of items left out.
        """
        codes, n_classes = self.quantifier.held_out_codes_, len(self.quantifier.classes_)
        prevalences = np.full((n_classes, n_classes), (1 - MOSTLY) / (n_classes - 1))
        np.fill_diagonal(prevalences, MOSTLY)
        refit, gained = self.quantifier.refitter(), []
        for number in range(TRIALS):
            trained = training_replicate(self.quantifier, number, seed=self.seed)
            again, shares = refit(trained), []
            for items_of in ("replicate", "rest"):
                members = Members(codes, n_classes, self.quantifier.held_out_.weights, items_of)
                members.choose(trained)
                rng = generator(self.seed, purpose="interval", side="memory", number=number)
                rows = members.draw(prevalences, len(codes), 1, rng)
                shares.append(np.trace(again.estimate_items(self.held_out, rows).prevalence))
            gained.append((shares[0] - shares[1]) / n_classes)
        return float(np.mean(gained)) > MEMORY

    def _separated(self, training: Items, codes: Codes, *, cross_fitted: bool) -> NDArray[np.bool_]:
        """Which classes the held-out posteriors separate, as far as they are known and used."""
        n_classes = len(self.quantifier.classes_)
        if training.posteriors is None or "posteriors" not in self.quantifier.tags.sees:
            return np.ones((n_classes, n_classes), dtype=bool)
        if not self.quantifier.tags.adjusts and np.bincount(codes).min() < FEWEST:
            # If a method counts predictions, training items may show only the number of classes.
            return np.ones((n_classes, n_classes), dtype=bool)
        return told_apart(
            training.posteriors,
            codes,
            crisp=self.quantifier.tags.crisp,
            weights=training.weights,
            cross_fitted=cross_fitted,
        )

    def _alike(self, training: Items, codes: Codes) -> NDArray[np.bool_]:
        """In which samples the items all look the same, or far surer than training items do."""
        pool = self.items.posteriors
        if pool is None or "posteriors" not in self.quantifier.tags.sees:
            return np.zeros(len(self.samples), dtype=bool)
        untested = training.posteriors is None or np.bincount(codes).min() < FEWEST
        return np.array(
            [
                indistinct(
                    pool[rows],
                    None if untested else training.posteriors,
                    None if untested else codes,
                )
                or far_surer(pool[rows], training.posteriors)
                for rows in self.samples
            ],
            dtype=bool,
        )

    def _each(
        self, draw: Callable[[int, int, int], Indices], n: int, number: int
    ) -> Indices | list[Indices]:
        """The items of n replicates of every sample, as `draw` draws them."""
        matrices = [draw(position, n, number) for position in range(len(self.samples))]
        return matrices[0] if len(matrices) == 1 else [row for matrix in matrices for row in matrix]

    def _rows(self, position: int, n: int, number: int) -> Indices:
        rng = generator(
            self.seed, purpose="interval", side="sample", sample=position, number=number
        )
        if self.simulates:
            return self._simulated(position, n, rng, exact=False)
        rows = self.large.samples[position]
        return rows[rng.integers(len(rows), size=(n, len(rows)))]

    def _exact_rows(self, position: int, n: int, number: int) -> Indices:
        rng = generator(self.seed, purpose="interval", side="exact", sample=position, number=number)
        return self._simulated(position, n, rng, exact=True)

    def _simulated(
        self, position: int, n: int, rng: np.random.Generator, *, exact: bool
    ) -> Indices:
        """Training items in about the shares of the estimate."""
        size = min(int(self.sizes[position]), MOST_ITEMS)
        return self.members.draw(self._near[position : position + 1], size, n, rng, exact=exact)


class Replicates(Engine):
    """The replicates of samples of rows, and limits for the population or for the items themselves.

    `point` is the estimate of the samples. `values` holds the replicates, (n_samples, n_bootstrap,
    n_classes), when `estimates` has been exhausted; it yields the numbers of the replicates that a
    training replicate serves, and their estimates. of: whose share the limits are for, POPULATION
    or ITEMS. The other arguments are as for `RowDraws`.
    """

    def __init__(
        self,
        quantifier: Fitted,
        items: Items,
        samples: Sequence[Indices],
        *,
        level: float,
        n_bootstrap: int,
        seed: int,
        of: str = POPULATION,
        cross_fitted: bool | None = None,
    ) -> None:
        if of not in SHARES_OF:
            raise unknown_name("value of `of`", of, SHARES_OF)
        self.point = quantifier.estimate_items(items, list(samples))
        check_replicates(quantifier, level, n_bootstrap)
        self.of, self.n_bootstrap = of, n_bootstrap
        self.rows = RowDraws(
            quantifier,
            items,
            samples,
            self.point,
            n_bootstrap=n_bootstrap,
            seed=seed,
            exactly=of == ITEMS,
            cross_fitted=cross_fitted,
        )
        super().__init__(quantifier, self.rows, self.point.prevalence, level=level, seed=seed)
        if of == ITEMS:
            self.exact = self._by_size()

    @property
    def values(self) -> Prevalences:
        """The replicates, or draws of posteriors."""
        return self.rows.values if self.draws is None else np.asarray(self.draws)

    def bias(self) -> Reals:
        """Mean of the replicates minus the prevalence they were drawn at, by sample and class."""
        centre = self.rows.centre if self.draws is None else None
        return np.asarray(self.values.mean(axis=1) - (self.p_hat if centre is None else centre))

    def _limits(self) -> tuple[Reals, Reals]:
        if self.quantifier.tags.draws_of_items:
            return credible_limits(self.p_hat, self._draws_of_share(), self.level)
        return self._item_limits() if self.of == ITEMS else self._population_limits()

    def _draws_of_share(self) -> Prevalences:
        """Draws of the share among the items as they are, or of populations they may be from."""
        if self.of == ITEMS:
            return self.values
        rng = generator(self.seed, purpose="interval", side="population")
        return np.stack(
            [
                population_draws(shares, int(size), rng)
                for shares, size in zip(self.values, self.rows.sizes, strict=True)
            ]
        )

    def _item_limits(self) -> tuple[Reals, Reals]:
        """Limits for the share among the items.

        Methods that adjust have estimated samples with exactly known shares. If a method is for
        more than prior shift, a sample need not be like them, and draws of the items' labels are
        between the limits as well. Other methods have only these. No limit is beyond that of the
        population.
        """
        least, most = self._population_limits()
        exact = self._exact_limits()
        low, high = (least, most) if exact is None else exact
        needed = exact is None or self.quantifier.tags.beyond_prior_shift
        by_sample = self._share_draws() if needed else None
        if by_sample is not None:
            tails = [(1 - self.level) / 2, (1 + self.level) / 2]
            lowest, highest = np.stack(
                [np.quantile(draws, tails, axis=0, method="weibull") for draws in by_sample], axis=1
            )
            low = lowest if exact is None else np.minimum(low, lowest)
            high = highest if exact is None else np.maximum(high, highest)
        low, high = np.maximum(low, least), np.minimum(high, most)
        return np.minimum(low, self.p_hat), np.maximum(high, self.p_hat)

    def _share_draws(self) -> list[Reals] | None:
        """Predictive draws of the shares among the items, if posteriors are known."""
        items = self.rows.items
        held_out, pool = self.quantifier.held_out_, items.posteriors
        if pool is None:
            return None
        if held_out.posteriors is not None:
            codes = self.quantifier.held_out_codes_
            pool = calibration_called(AUTO)(held_out.posteriors, codes, held_out.weights)(pool)
        draws = []
        for position, rows in enumerate(self.rows.samples):
            rng = generator(self.seed, purpose="interval", side="labels", sample=position)
            weights = None if items.weights is None else items.weights[rows]
            if self.quantifier.tags.adjusts:
                prior, values = self.quantifier.prior_, self.values[position]
                draws.append(share_draws(pool[rows], prior, values, rng, weights))
            else:
                p_hat = self.point.prevalence[position]
                draws.append(label_draws(p_hat, pool[rows], self.n_bootstrap, rng, weights))
        return draws


class Members:
    """The training items class by class, to draw samples from.

    items_of: which of them, given the items of a training replicate. "all" are right where what is
    known of an item comes from a model that had not seen it. Where a method recognises the items it
    was fitted on, "rest" are those that a replicate has not drawn, about a third. "replicate" are
    those that it has drawn, as often as they were drawn.
    """

    def __init__(
        self, codes: Codes, n_classes: int, weights: Weights | None, items_of: str
    ) -> None:
        self.codes, self.n_classes, self.weights, self.items_of = (
            codes,
            n_classes,
            weights,
            items_of,
        )
        self.rows = np.arange(len(codes))
        self._members = ClassMembers(codes, n_classes, weights)

    def choose(self, trained: Indices) -> None:
        """Take the items that go with a training replicate; all of them if a class had none."""
        if self.items_of == "all":
            return
        rows = trained
        if self.items_of == "rest":
            rows = np.setdiff1d(np.arange(len(self.codes)), trained)
            if len(np.unique(self.codes[rows])) < self.n_classes:
                rows = np.arange(len(self.codes))
        weights = None if self.weights is None else self.weights[rows]
        self.rows = rows
        self._members = ClassMembers(self.codes[rows], self.n_classes, weights)

    def sizes(self) -> Reals:
        """How many training items each class has; with weights, Kish's effective number."""
        if self.weights is None:
            return np.bincount(self.codes, minlength=self.n_classes).astype(np.float64)
        of_classes = [self.weights[self.codes == k] for k in range(self.n_classes)]
        return np.array([effective_size(w) if w.any() else 0.0 for w in of_classes])

    def draw(
        self,
        prevalences: Prevalences,
        size: int,
        n: int,
        rng: np.random.Generator,
        *,
        exact: bool = False,
    ) -> Indices:
        """As `ClassMembers.draw`, in positions among all training items."""
        return self.rows[self._members.draw(prevalences, size, n, rng, exact=exact)]


def some_members(items: Items, number: int) -> Items:
    """The items as some of the committee see them: different members for every number."""
    if items.committee is None or len(items.committee) <= MOST_MEMBERS:
        return items
    n_members = len(items.committee)
    apart = np.arange(MOST_MEMBERS) * n_members // MOST_MEMBERS
    return replace(items, committee=items.committee[(apart + number) % n_members])


def weighed_as(point: Estimate, replicates: Estimate) -> Prevalences:
    """The replicates' prevalences, shape (n_samples, n_replicates, n_classes).

    A method that averages models (SubclassSLD) keeps the weights of the sample: a resampled one
    deviates from every model by the sample's noise and by its own, and would choose a larger model
    for that alone.
    """
    n_samples = len(point.prevalence)
    if "model_weight" not in point.diagnostics:
        return replicates.prevalence.reshape(n_samples, -1, len(point.classes))
    by_model = replicates.diagnostics["model_prevalence"]
    by_model = by_model.reshape(n_samples, -1, *by_model.shape[1:])
    return np.asarray(np.einsum("sm,srmk->srk", point.diagnostics["model_weight"], by_model))
