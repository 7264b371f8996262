"""Intervals for every quantifier: over the sample's items and over the training side.

An estimate errs because the sample is a draw of items and because what the aggregation learnt
(rates, histograms, a calibration) was learnt from a draw of training items. A replicate therefore
draws both: the training items, class by class, whose held-out posteriors the aggregation is fitted
on again (`refit`), and the items of a sample. The classifier itself is taken as it is. Refitting is
the slow part, so that `N_REFITS` training replicates serve all replicates of all samples.

*Two classes.* Methods that adjust for the training classes (all but CC, PCC and MLPE) are asked
what they would estimate on samples whose prevalence is known: samples of the same size, drawn from
the held-out items, at each prevalence of a grid. The interval holds the prevalences at which the
estimate that was found is neither too low nor too high to be expected (J. Neyman, 1937). Whatever
is wrong with a method under prior shift (the noise in histograms, a calibration that does not fit,
clipping at 0 and 1) is wrong with it in those samples too, and is allowed for. An estimate of 0 is
compared with prevalences that would give 0 as well, so the interval has a width.

*More classes.* A grid over all prevalences would be too large. Samples are drawn at the estimate
itself, moved a little away from the border, and the limits are percentiles of their estimates,
corrected for bias: if the median is b above the prevalence that was drawn, the estimate is taken to
be b above the truth, too.

*Methods that take posteriors at their word* (DeBias, LEIP) do not learn what the items of a class
look like, and training items that are drawn again hardly change them. How far off they are is seen
in the held-out items alone, which are a draw as well: the method stays what it is, and the samples
of known prevalence are drawn from the training items of the replicate. With methods that do learn,
either way gives the same limits to the first order.

*Methods without posteriors* (HDx) know the items they were fitted on too well. Their samples of
known prevalence are drawn from the training items that the replicate at hand has left out.

*Methods that do not adjust* keep their bias, which no interval shows; theirs are percentiles of
estimates on the resampled items of the sample. *Methods for more than prior shift* (SubclassSLD):
the interval spans the percentiles of resampled items and the prevalences of the grid. *Methods of
other libraries* fit a classifier of their own, and nothing is known of held-out items: theirs are
percentiles of estimates on resampled items by quantifiers fitted again on resampled training items,
which is slow, so that there are few of these (a twentieth of the replicates).

*Methods with a posterior* (BayesianCC, PQ) give draws of it instead of replicates, and the interval
is the middle part of them: a credible interval.

*Weights.* Items are drawn as if they had none and keep theirs. Samples of known prevalence are
drawn from the training items of a class in proportion to their weights. Where the size of a sample
matters (simulated samples, and the least width) it is Kish's effective size: what the same variance
would take of items of equal weights. Weights that are whole numbers are no exception: as far as
intervals go they say how much an item counts, not how often it was drawn.

No interval is shorter than Wilson's for a sample whose labels are known, whatever its size. If the
held-out posteriors of two classes cannot be distinguished, no sample says how many items are
of the one or the other: their intervals go from 0 to all that the two have together, 100% if there
are but two. The same holds for a sample whose items all look the same, if those of no training
class do: its intervals go from 0 to 100%. Methods that count answers are asked this, too.

*Committees.* A method that averages over the models of the folds (SubclassSLD) does so over all of
them in its estimate, but over `MOST_MEMBERS` in a replicate, others in each. Models that have seen
nearly the same items differ by far less than resampled ones, and what they do differ by makes the
interval wider, not narrower.

The limits speak of the prevalence in the population the sample was drawn from; for the share among
the very items of the sample they are on the safe side. What no replicate can show: held-out
posteriors come from models trained on 1 - 1/cv of the items, a little worse than the one that
scores the sample. With cv=5 the rates of PACC are biased by that, more than the interval allows
for; cv=20 is enough for 5,000 training items.

References: J. Neyman, "Outline of a theory of statistical estimation based on the classical theory
of probability", Phil. Trans. A 236 (1937); B. Efron and R. Tibshirani, "An Introduction to the
Bootstrap", 1993, ch. 10 and 13; L. Brown, T. Cai and A. DasGupta, "Interval estimation for a
binomial proportion", Statistical Science 16 (2001).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError
from quantshift.quantifiers.estimator import AbstractQuantifier, Estimate, Samples
from quantshift.quantifiers.information import FEWEST, indistinct, told_apart
from quantshift.quantifiers.items import Items, effective_size, uneven
from quantshift.quantifiers.samples import PADDING
from quantshift.quantifiers.simulation import ClassMembers, KnownPrevalences
from quantshift.seeding import generator
from quantshift.types import Codes, Indices, Prevalences
from quantshift.weights import Weights, checked_weights

Reals = NDArray[np.float64]

N_REFITS = 200
"""Replicates of the training side; each serves n_bootstrap / N_REFITS replicates of the sample.
With more than two classes, where a refit costs more, there are half as many, and each serves three
at least."""

OWN_REFITS = 20
"""Replicates that share one of a method that fits its own classifier."""

SMALL = 30
"""A sample of fewer items says little whatever the method."""

MOST_ITEMS = 50_000
"""Larger samples are drawn so many items at a time: the interval is then a little too wide."""

SIZE_STEP = 1.05
"""Samples share simulations with those up to so many times their size."""

MOST_MEMBERS = 4
"""Models of a committee that classify the items of one replicate."""

PER_SIMULATION = 1000
"""One sample is simulated per training replicate, prevalence and so many replicates asked for."""


@dataclass(frozen=True)
class PrevalenceInterval:
    """An estimate between two limits, class by class.

    prevalence, low, high: shape (..., n_classes), in the order of `classes`.
    simultaneous: whether all classes are within their limits at once with probability `level`;
        otherwise each class is, on its own.
    informative: whether the posteriors separate a class from every other, (..., n_classes). Where
    they
        do not, the limits are as wide as they can be.
    replicates: the bootstrap's estimates, or draws of a posterior, shape (..., n_bootstrap,
        n_classes).
    bias: their mean less the prevalence that they were drawn at, (..., n_classes).
    """

    prevalence: Prevalences
    low: Reals
    high: Reals
    level: float
    classes: NDArray[Any]
    replicates: Prevalences
    simultaneous: bool
    informative: NDArray[np.bool_]
    bias: Reals


def predict_interval(
    quantifier: AbstractQuantifier,
    X: Any,
    samples: Samples | None = None,
    *,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    simultaneous: bool = False,
    seed: int = 0,
    weights: ArrayLike | None = None,
) -> PrevalenceInterval:
    """The prevalence of the sample X (or of each of `samples` of it) with its interval.

    weights: how much each item of X counts.
    simultaneous: make the limits so wide that all classes are within theirs at once with
        probability `level`. Two classes have one share between them, and nothing changes.
    """
    return item_interval(
        quantifier,
        quantifier.items(X, weights),
        samples,
        level=level,
        n_bootstrap=n_bootstrap,
        simultaneous=simultaneous,
        seed=seed,
    )


def aggregate_interval(
    quantifier: AbstractQuantifier,
    posteriors: ArrayLike,
    samples: Samples | None = None,
    *,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    simultaneous: bool = False,
    seed: int = 0,
    weights: ArrayLike | None = None,
) -> PrevalenceInterval:
    """Like `predict_interval`, for items given by their posteriors (n_items, n_classes)."""
    check_is_fitted(quantifier, "classes_")
    pool = check_posteriors(posteriors, len(quantifier.classes_))
    if pool.ndim != 2:
        raise DataError(f"an interval needs posteriors (n_items, n_classes), got {pool.shape}")
    return item_interval(
        quantifier,
        Items(pool, weights=checked_weights(weights, len(pool))),
        samples,
        level=level,
        n_bootstrap=n_bootstrap,
        simultaneous=simultaneous,
        seed=seed,
    )


def item_interval(
    quantifier: AbstractQuantifier,
    items: Items,
    samples: Samples | None = None,
    *,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    simultaneous: bool = False,
    seed: int = 0,
) -> PrevalenceInterval:
    """Like `predict_interval`, for what `quantifier.items(X)` returned."""
    rows = [np.arange(len(items))] if samples is None else _rows(samples)
    estimate = quantifier.estimate_items(items, rows)
    drawn = Replicates(
        quantifier, items, rows, estimate, level=level, n_bootstrap=n_bootstrap, seed=seed
    )
    for _ in drawn.estimates():
        pass
    low, high = drawn.limits()
    if simultaneous:
        low, high = stretched(estimate.prevalence, low, high, drawn.values, level)
    one = 0 if samples is None else slice(None)
    return PrevalenceInterval(
        prevalence=estimate.prevalence[one],
        low=low[one],
        high=high[one],
        level=level,
        classes=quantifier.classes_,
        replicates=drawn.values[one],
        simultaneous=simultaneous,
        informative=drawn.informative[one],
        bias=drawn.bias()[one],
    )


class Replicates:
    """The replicates of some samples, and the limits that follow from them.

    items: as `quantifier.items(X)` returns them; point: the estimates of the samples. `values`
    holds the replicates, (n_samples, n_bootstrap, n_classes), when `estimates` has been exhausted.
    Those of a sample depend on the seed, its position and its size alone.

    cross_fitted: whether held-out posteriors come from folds; by default they do if the quantifier
    has fitted its classifier.
    """

    def __init__(
        self,
        quantifier: AbstractQuantifier,
        items: Items,
        samples: Sequence[Indices],
        point: Estimate,
        *,
        level: float,
        n_bootstrap: int,
        seed: int,
        cross_fitted: bool | None = None,
    ) -> None:
        if quantifier.no_interval:
            raise UserError(
                f"{type(quantifier).__name__} has no interval: {quantifier.no_interval}"
            )
        if not 0 < level < 1:
            raise UserError(f"the level of an interval is between 0 and 1, got {level}")
        if n_bootstrap < 2:
            raise UserError(f"an interval needs at least 2 bootstrap replicates, got {n_bootstrap}")
        weights = uneven(items.weights)
        if weights is not None:
            # An item of no weight is none, and a replicate of such items alone no sample.
            samples = [rows[weights[rows] > 0] for rows in samples]
        self.quantifier, self.items, self.samples, self.point = quantifier, items, samples, point
        self.level, self.n_bootstrap, self.seed = level, n_bootstrap, seed
        n_classes = len(quantifier.classes_)
        self.values = np.empty((len(samples), n_bootstrap, n_classes))
        self.sizes = np.array([len(rows) for rows in samples])
        if weights is not None:
            self.sizes = np.array([round(effective_size(weights[rows])) for rows in samples])
        # Whole weights would count double: simulated samples have their items by their weights.
        self.held_out = quantifier.held_out_.unweighted()
        known, codes = quantifier.held_out_, quantifier.held_out_codes_
        self.adjusted = quantifier.adjusts and (
            known.posteriors is not None or known.features is not None
        )
        items_of = "all" if known.posteriors is not None else "rest"
        if quantifier.trusts_posteriors:
            items_of = "replicate"
        self.members = Members(codes, n_classes, known.weights, items_of=items_of)
        if cross_fitted is None:
            fitted = quantifier.classifier_
            cross_fitted = fitted is not None and not isinstance(fitted, FrozenEstimator)
        self.apart = self._told_apart(known, codes, cross_fitted=cross_fitted)
        self.alike = self._alike(known, codes)
        told: NDArray[np.bool_] = np.asarray(self.apart.all(axis=1))
        self.informative: NDArray[np.bool_] = told & ~self.alike[:, np.newaxis]
        # Samples are simulated at known prevalences or, of many classes, at one near the estimate.
        self.simulates = self.adjusted and n_classes > 2 and not quantifier.beyond_prior_shift
        self.centre = inner(point.prevalence, self.sizes) if self.simulates else point.prevalence
        self.known: dict[int, KnownPrevalences] = {}
        drawn = quantifier.draws(items, samples, n_bootstrap, seed=seed)
        self.credible = drawn is not None
        if drawn is not None:
            self.values, self.centre = drawn, point.prevalence
        elif self.adjusted and n_classes == 2 and told.all():
            p_hat, shared = point.prevalence[:, 1], self._shared_sizes()
            self.known = {
                int(size): KnownPrevalences(p_hat[shared == size]) for size in np.unique(shared)
            }

    def estimates(self) -> Iterator[tuple[Indices, Estimate]]:
        """Yields, for each training replicate, which replicates it serves and their estimates.

        The estimates, with their diagnostics, are those of the first sample's replicates, then of
        the second's, and so on. With draws of a posterior there is nothing to replicate.
        """
        if self.credible:
            return
        n_refits = min(N_REFITS, self.n_bootstrap)
        if self.quantifier.own_classifier:
            n_refits = max(2, self.n_bootstrap // OWN_REFITS)
        elif len(self.quantifier.classes_) > 2:
            n_refits = min(N_REFITS // 2, max(2, self.n_bootstrap // 3))
        refit = self.quantifier.refitter()
        for number in range(n_refits):
            columns = np.arange(number, self.n_bootstrap, n_refits)
            trained = training_replicate(self.quantifier, number, seed=self.seed)
            again = self.quantifier if self.quantifier.trusts_posteriors else refit(trained)
            self.members.choose(trained)
            matrices = [
                self._rows(position, len(columns), number) for position in range(len(self.samples))
            ]
            one = len(matrices) == 1
            drawn = matrices[0] if one else [row for matrix in matrices for row in matrix]
            pool = self.held_out if self.simulates else some_members(self.items, number)
            estimate = again.estimate_items(pool, drawn)
            self.values[:, columns] = weighed_as(self.point, estimate)
            self._compare(again, number)
            yield columns, estimate

    def limits(self) -> tuple[Reals, Reals]:
        """Lower and upper limits, (n_samples, n_classes)."""
        p_hat = self.point.prevalence
        if self.credible:
            low, high = credible_limits(p_hat, self.values, self.level)
        else:
            low, high = limits(p_hat, self.values, self.sizes, self.level, centre=self.centre)
        if self.known:
            least, most = self._known_limits()
            if self.quantifier.beyond_prior_shift:
                least, most = np.minimum(least, low), np.maximum(most, high)
            low, high = as_if_counted(p_hat, least, most, self.sizes, self.level)
        low, high = without_information(low, high, self.apart)
        low[self.alike], high[self.alike] = 0.0, 1.0
        return low, high

    def bias(self) -> Reals:
        """Mean of the replicates less the prevalence they were drawn at, (n_samples, n_classes)."""
        return np.asarray(self.values.mean(axis=1) - self.centre)

    def _told_apart(self, known: Items, codes: Codes, *, cross_fitted: bool) -> NDArray[np.bool_]:
        """Which classes the held-out posteriors separate, as far as they are known and used."""
        n_classes = len(self.quantifier.classes_)
        if known.posteriors is None or "posteriors" not in self.quantifier.sees:
            return np.ones((n_classes, n_classes), dtype=bool)
        if not self.quantifier.adjusts and np.bincount(codes).min() < FEWEST:
            # If a method counts predictions, training items may show only the number of classes.
            return np.ones((n_classes, n_classes), dtype=bool)
        return told_apart(
            known.posteriors,
            codes,
            crisp=self.quantifier.crisp,
            weights=known.weights,
            cross_fitted=cross_fitted,
        )

    def _alike(self, known: Items, codes: Codes) -> NDArray[np.bool_]:
        """In which samples the items cannot be distinguished, though training items can."""
        pool = self.items.posteriors
        if pool is None or "posteriors" not in self.quantifier.sees:
            return np.zeros(len(self.samples), dtype=bool)
        untested = known.posteriors is None or np.bincount(codes).min() < FEWEST
        return np.array(
            [
                indistinct(
                    pool[rows],
                    None if untested else known.posteriors,
                    None if untested else codes,
                )
                for rows in self.samples
            ],
            dtype=bool,
        )

    def _rows(self, position: int, n: int, number: int) -> Indices:
        rng = generator(
            self.seed, purpose="interval", side="sample", sample=position, number=number
        )
        rows = self.samples[position]
        if self.simulates:
            size = min(int(self.sizes[position]), MOST_ITEMS)
            return self.members.draw(self.centre[position : position + 1], size, n, rng)
        return rows[rng.integers(len(rows), size=(n, min(len(rows), MOST_ITEMS)))]

    def _compare(self, again: AbstractQuantifier, number: int) -> None:
        """Estimate one or a few samples at each of the known prevalences."""
        n = max(1, round(self.n_bootstrap / PER_SIMULATION))
        for size, known in self.known.items():
            rng = generator(self.seed, purpose="interval", side="known", size=size, number=number)
            rows = self.members.draw(known.prevalences, size, n, rng)
            estimate = again.estimate_items(self.held_out, rows)
            known.add(estimate.prevalence[:, 1].reshape(-1, n))

    def _known_limits(self) -> tuple[Reals, Reals]:
        low, high = np.empty((2, len(self.samples), 2))
        shared = self._shared_sizes()
        for size, known in self.known.items():
            least, most = known.limits(self.level)
            low[shared == size] = np.stack([1 - most, least], axis=1)
            high[shared == size] = np.stack([1 - least, most], axis=1)
        return low, high

    def _shared_sizes(self) -> NDArray[np.int64]:
        """Sizes, the larger ones rounded down to a geometric series, so that samples share them."""
        steps = np.floor(np.log(np.maximum(self.sizes, SMALL) / SMALL) / np.log(SIZE_STEP) + 1e-9)
        rounded = np.floor(SMALL * SIZE_STEP**steps + 1e-9).astype(np.int64)
        return np.minimum(np.where(self.sizes < SMALL, self.sizes, rounded), MOST_ITEMS)


class Members:
    """The training items class by class, to draw samples from.

    items_of: which of them, given the items of a training replicate. "all" are right where what is
    known of an item comes from a model that had not seen it. Where a method was fitted on the very
    items, as with features, it knows them too well: "rest" are those that a replicate has not
    drawn, about a third. "replicate" are those that it has drawn, in their numbers.
    """

    def __init__(
        self, codes: Codes, n_classes: int, weights: Weights | None, *, items_of: str
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

    def draw(
        self, prevalences: Prevalences, size: int, n: int, rng: np.random.Generator
    ) -> Indices:
        """As `ClassMembers.draw`, in positions among all training items."""
        return self.rows[self._members.draw(prevalences, size, n, rng)]


def some_members(items: Items, number: int) -> Items:
    """The items as some of the committee see them: others for every number."""
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


def limits(
    p_hat: Prevalences,
    replicates: Prevalences,
    sizes: ArrayLike,
    level: float,
    *,
    centre: Prevalences | None = None,
) -> tuple[Reals, Reals]:
    """The middle `level` of the replicates of each sample, bias corrected: lower and upper limits.

    p_hat: shape (n_samples, n_classes); replicates: (n_samples, n_bootstrap, n_classes), of samples
    whose prevalence is `centre` (default: p_hat). If their median is b above the centre, p_hat is
    taken to be b above the truth. A limit at 0 or 1 stays, since estimates are clipped there and
    cannot tell. The estimate is always between the limits, which are at least as wide as those of
    items whose classes are known.
    """
    tails = [(1 - level) / 2, 0.5, (1 + level) / 2]
    low, median, high = np.quantile(replicates, tails, axis=1)
    moved = p_hat + (p_hat if centre is None else centre) - 2 * median
    low = np.where(low > 0, low + moved, 0.0)
    high = np.where(high < 1, high + moved, 1.0)
    return as_if_counted(p_hat, low, high, sizes, level)


def credible_limits(p_hat: Prevalences, draws: Prevalences, level: float) -> tuple[Reals, Reals]:
    """The middle `level` of draws of a posterior, and the estimate in any case."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return np.minimum(low, p_hat), np.maximum(high, p_hat)


def as_if_counted(
    p_hat: Prevalences, low: Reals, high: Reals, sizes: ArrayLike, level: float
) -> tuple[Reals, Reals]:
    """Limits around the estimate, no narrower than if the labels of the sample were known."""
    z = float(ndtri((1 + level) / 2))
    least, most = wilson_limits(p_hat, np.asarray(sizes, dtype=np.float64)[:, np.newaxis], z)
    low = np.clip(np.minimum(low, np.minimum(least, p_hat)), 0.0, 1.0)
    high = np.clip(np.maximum(high, np.maximum(most, p_hat)), 0.0, 1.0)
    return low, high


def inner(p_hat: Prevalences, sizes: ArrayLike) -> Prevalences:
    """Estimates moved away from the border, as by four more items of all kinds (Agresti-Coull)."""
    z = float(ndtri(0.975))
    weight = z * z / (np.asarray(sizes, dtype=np.float64)[:, np.newaxis] + z * z)
    return np.asarray((1 - weight) * p_hat + weight / p_hat.shape[1])


def without_information(low: Reals, high: Reals, apart: NDArray[np.bool_]) -> tuple[Reals, Reals]:
    """Limits of classes that are not separated: from 0 to what they may have together.

    apart: which classes are separated from each other, (n_classes, n_classes).
    """
    n_groups, groups = connected_components(~apart, directed=False)
    for group in range(n_groups):
        members = np.flatnonzero(groups == group)
        if len(members) > 1:
            together = np.minimum(high[:, members].sum(axis=1, keepdims=True), 1.0)
            low[:, members], high[:, members] = 0.0, together
    return low, high


def stretched(
    p_hat: Prevalences, low: Reals, high: Reals, replicates: Prevalences, level: float
) -> tuple[Reals, Reals]:
    """Limits that hold for all classes at once.

    The largest deviation of a replicate, in standard errors, over its classes has the quantile c
    where that of a single class has z: distances between estimate and limits grow by c / z. Two
    classes have but one share between them, and their limits stay.
    """
    if p_hat.shape[1] == 2:
        return low, high
    error = replicates.std(axis=1, keepdims=True)
    away = np.abs(replicates - replicates.mean(axis=1, keepdims=True))
    largest = np.divide(away, error, out=np.zeros_like(away), where=error > 0).max(axis=2)
    c = np.quantile(largest, level, axis=1)[:, np.newaxis]
    factor = np.maximum(c / float(ndtri((1 + level) / 2)), 1.0)
    return (
        np.clip(p_hat - factor * (p_hat - low), 0.0, 1.0),
        np.clip(p_hat + factor * (high - p_hat), 0.0, 1.0),
    )


def wilson_limits(
    p: Prevalences, n: NDArray[np.float64] | float, z: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's limits of a share p counted among n items, z standard errors to either side."""
    shrunk = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / shrunk
    half = z / shrunk * np.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)


def training_replicate(quantifier: AbstractQuantifier, number: int, *, seed: int) -> Indices:
    """Positions of training items drawn with replacement.

    Class by class, because a quantifier must not depend on how many items of a class it was given;
    one that looks at nothing but these numbers (MLPE) gets them resampled as a whole.
    """
    rng = generator(seed, purpose="interval", side="training", number=number)
    codes = quantifier.held_out_codes_
    if not quantifier.sees:
        return _every_class(rng.integers(len(codes), size=len(codes)), codes)
    members = [np.flatnonzero(codes == code) for code in range(len(quantifier.classes_))]
    return np.concatenate([m[rng.integers(len(m), size=len(m))] for m in members])


def _every_class(rows: Indices, codes: Indices) -> Indices:
    # A fit needs an item of every class; a class so rare that a draw may miss it keeps one.
    drawn = set(codes[rows].tolist())
    missing = [int(np.argmax(codes == c)) for c in np.unique(codes) if c not in drawn]
    return np.concatenate([rows, np.array(missing, dtype=np.int64)])


def _rows(samples: Samples) -> list[Indices]:
    rows = [np.asarray(row, dtype=np.int64) for row in samples]  # type: ignore[union-attr]
    return [row[row != PADDING] for row in rows]
