"""Intervals for the shares of labels, from samples of known shares.

How far an estimate is from the truth is seen on samples drawn from the training items, with their
held-out posteriors: samples in which the share of one label at a time is anything from 0 to 1, and
samples without a shift. For each bootstrap of the training items the method is fitted again on the
items of the bootstrap, and the samples are drawn from the others, so that the errors of the fit
count too. The interval of a label contains the shares that it has in the samples whose estimate was
closest to the one at hand, where those in which the label itself was set count more: they are few,
and the label that has moved is the one that matters. So it holds for shifts of this kind, and for
no others.

A method may estimate groups of labels one after another. Then samples are simulated for one group
at a time, and the share of some labels of other groups is set in turn, too: so time and memory grow
with the number of labels, not with its square.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Ints, Reals
from quantshift.errors import UserError
from quantshift.multilabel.label_samples import natural_samples, samples_of_each_label
from quantshift.multilabel.label_tables import FEWEST, LabelTable
from quantshift.multilabel.multilabel_quantifier import AbstractLabelAggregative
from quantshift.prevalence.weights import Weights, checked_weights

BOOTSTRAPS = 20
"""How often the method is fitted again."""

POINTS, NATURAL = 11, 60
"""Shares of each label, and samples without a shift, for each bootstrap."""

NEAREST = 250
"""Samples whose shares make the interval of a label."""

MOST_SET = 100
"""The most labels whose share is set in turn for each bootstrap; they are drawn at random."""

OWN_SHARE = 1 / 3
"""How much the samples in which the share of the label itself was set count among all of them. They
are few among the many in which another label was set, or none, and their errors are larger. If all
samples counted the same, the limits of a label that has moved would hold in .75 to .95 of the
samples of the development sets."""

MOST_COUNT = 12.0
"""The most that such a sample counts, where all others count 1."""

NO_LABEL = -1
"""In place of the label whose share is set, for samples where there is none, or one of another
group."""

MOST_ITEMS = 2000
"""Items of a simulated sample; larger samples have the errors of this many."""


@dataclass(frozen=True, eq=False)
class LabelIntervals:
    """Shares of labels with limits.

    estimates, low, high: (n_labels,), in the order of `names`.
    level: of confidence.
    """

    names: NDArray[Any]
    estimates: Reals
    low: Reals
    high: Reals
    level: float


def predict_label_intervals(
    quantifier: AbstractLabelAggregative,
    X: Any,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    sample_weight: ArrayLike | None = None,
    random_state: int = 0,
) -> LabelIntervals:
    """The share of each label among the items of X, with an interval.

    simultaneous: all intervals together hold with the confidence `level` (Bonferroni).
    """
    posteriors = quantifier.posteriors(X)
    return aggregate_label_intervals(
        quantifier,
        posteriors,
        level=level,
        simultaneous=simultaneous,
        sample_weight=sample_weight,
        random_state=random_state,
    )


def aggregate_label_intervals(
    quantifier: AbstractLabelAggregative,
    posteriors: ArrayLike,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    sample_weight: ArrayLike | None = None,
    random_state: int = 0,
) -> LabelIntervals:
    """Like `predict_label_intervals`, for a sample given by the posteriors of its items."""
    if not 0 < level < 1:
        raise UserError(f"level must be between 0 and 1, got {level}")
    estimates = quantifier.aggregate(posteriors, sample_weight=sample_weight)
    counts = checked_weights(sample_weight, len(np.asarray(posteriors)))
    size = len(np.asarray(posteriors)) if counts is None else counts.sum() ** 2 / (counts @ counts)
    n_labels = len(estimates)
    alpha = (1 - level) / n_labels if simultaneous else 1 - level
    limits = np.empty((n_labels, 2))
    for labels, part in quantifier.parts():
        others = np.delete(quantifier.held_out_labels_.has, labels, axis=1)
        worlds = simulated_worlds(part, max(1, round(size)), others=others, seed=random_state)
        limits[labels] = [worlds.limits(k, estimates[j], alpha) for k, j in enumerate(labels)]
    low, high = np.clip(limits[:, 0], 0, estimates), np.clip(limits[:, 1], estimates, 1)
    return LabelIntervals(quantifier.labels_, estimates, low, high, level)


@dataclass(frozen=True, eq=False)
class SimulatedWorlds:
    """Samples of known shares: their estimates and shares, (n_samples, n_labels).

    moved: the position of the label whose share was set in each sample, or NO_LABEL, (n_samples,).
    """

    estimates: Reals
    shares: Reals
    moved: Ints

    def limits(self, label: int, estimate: float, alpha: float) -> tuple[float, float]:
        """The shares of a label in the samples whose estimate is closest to this one."""
        estimates, shares = self.estimates[:, label], self.shares[:, label]
        counts = _counts(self.moved == label)
        n_nearest = max(NEAREST, int(np.ceil(4 / alpha)))
        order = np.argsort(np.abs(estimates - estimate), kind="stable")
        nearest = order[: int(np.searchsorted(np.cumsum(counts[order]), n_nearest)) + 1]
        # The sample at hand counts as one more. The errors beyond a limit may add up to this.
        most_beyond = (counts[nearest].sum() + 1) * alpha / 2
        if most_beyond < 1:
            return 0.0, 1.0
        errors, counts = shares[nearest] - estimates[nearest], counts[nearest]
        order_of_errors = np.argsort(errors, kind="stable")
        errors, counts = errors[order_of_errors], counts[order_of_errors]
        low, high = _last_within(counts, most_beyond), _last_within(counts[::-1], most_beyond)
        return estimate + float(errors[low]), estimate + float(errors[-1 - high])


def _counts(is_own: Flags) -> Reals:
    """How much each sample counts, 1 on average. is_own: where the label itself was set."""
    n_own = int(is_own.sum())
    if not n_own:
        return np.ones(len(is_own))
    enough = OWN_SHARE / (1 - OWN_SHARE) * (len(is_own) - n_own) / n_own
    counts = np.where(is_own, np.clip(enough, 1.0, MOST_COUNT), 1.0)
    return np.asarray(counts / counts.mean())


def _last_within(counts: Reals, most: float) -> int:
    """The last position up to which the counts add up to at most this; 0 if there is none."""
    return max(0, int(np.searchsorted(np.cumsum(counts), most, side="right")) - 1)


def simulated_worlds(
    quantifier: AbstractLabelAggregative,
    size: int,
    *,
    others: Flags | None = None,
    seed: int = 0,
) -> SimulatedWorlds:
    """Samples of `size` items each, drawn from items that the refitted method has not seen.

    others: which training items have labels that the method does not estimate; the shares of as
    many of them as it estimates are set in turn, too.
    """
    table, posteriors = quantifier.held_out_labels_, quantifier.held_out_posteriors_
    weights, n_items = quantifier.held_out_weights_, len(table)
    size, n_labels = min(size, MOST_ITEMS), len(table.names)
    estimates, shares, moved_labels = [], [], []
    for bootstrap in range(BOOTSTRAPS):
        rng = generator(seed, draw="bootstrap of labelled items", number=bootstrap)
        rows = rng.integers(n_items, size=n_items)
        refitted = quantifier.refit(with_every_label(rows, table.has, rng))
        unseen = np.setdiff1d(np.arange(n_items), rows)
        pool_weights = None if weights is None else weights[unseen]
        drawing = _Drawing(size, seed + bootstrap, pool_weights)
        pool = table.has[unseen]
        natural = natural_samples(
            len(unseen), size, NATURAL, random_state=seed + bootstrap, sample_weight=pool_weights
        )
        parts = [drawing.of_labels(pool, _chosen(rng, pool, MOST_SET))]
        if others is not None:
            other_pool = others[unseen]
            index, set_labels = drawing.of_labels(other_pool, _chosen(rng, other_pool, n_labels))
            parts.append((index, np.full_like(set_labels, NO_LABEL)))
        parts.append((natural, np.full(len(natural), NO_LABEL)))
        index = np.concatenate([samples for samples, _ in parts])
        estimates.append(refitted.aggregate(posteriors[unseen], index))
        shares.append(pool[index].mean(axis=1))
        moved_labels += [set_labels for _, set_labels in parts]
    return SimulatedWorlds(
        np.concatenate(estimates), np.concatenate(shares), np.concatenate(moved_labels)
    )


@dataclass(frozen=True, eq=False)
class _Drawing:
    """How samples are drawn from a pool. weights: of its items."""

    size: int
    seed: int
    weights: Weights | None

    def of_labels(self, has: Flags, chosen: Indices) -> tuple[Indices, Ints]:
        """Samples in which the shares of some labels (columns) are set, and which one is."""
        if not len(chosen):
            return np.empty((0, self.size), dtype=np.int64), np.empty(0, dtype=np.int64)
        table = LabelTable(has[:, chosen], chosen)
        index = samples_of_each_label(
            table, self.size, POINTS, 1, random_state=self.seed, sample_weight=self.weights
        )
        return index, np.repeat(chosen, POINTS)


def _chosen(rng: np.random.Generator, has: Flags, most: int) -> Indices:
    """The labels (columns) that some items have and others do not; at most so many, random ones."""
    varying = np.flatnonzero(has.any(axis=0) & ~has.all(axis=0))
    if len(varying) <= most:
        return varying
    return np.sort(rng.choice(varying, most, replace=False))


def with_every_label(rows: Any, has: Any, rng: np.random.Generator) -> Any:
    """The rows, and some more if the items with, or without, a label are too few among them."""
    added = []
    for has_label in has.T:
        for side in (has_label, ~has_label):
            missing = FEWEST - int(side[rows].sum())
            if missing > 0:
                added.append(rng.choice(np.flatnonzero(side), missing))
    return np.concatenate([rows, *added])
