"""Intervals for the shares of labels, from samples of known shares.

How far an estimate is from the truth is seen on samples drawn from the training items, with their
held-out posteriors: samples in which the share of one label at a time is anything from 0 to 1, and
samples without a shift. For each bootstrap of the training items the method is fitted again on the
items of the bootstrap, and the samples are drawn from the others, so that the errors of the fit
count too. The interval of a label contains the shares that it has in the samples whose estimate was
closest to the one at hand. So it holds for shifts of this kind, and for no others.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Reals
from quantshift.errors import UserError
from quantshift.multilabel.label_samples import natural_samples, samples_of_each_label
from quantshift.multilabel.label_tables import FEWEST
from quantshift.multilabel.multilabel_quantifier import AbstractLabelAggregative
from quantshift.prevalence.weights import checked_weights

BOOTSTRAPS = 20
"""How often the method is fitted again."""

POINTS, NATURAL = 11, 60
"""Shares of each label, and samples without a shift, for each bootstrap."""

NEAREST = 150
"""Samples whose shares make the interval of a label."""

MOST_ITEMS = 2000
"""Items of a simulated sample; larger samples have the errors of this many."""


@dataclass(frozen=True, eq=False)
class LabelIntervals:
    """Shares of labels with limits.

    estimates, low, high: (n_labels,), in the order of `names`.
    level: of confidence; are_simultaneous: whether it holds for all labels together.
    """

    names: NDArray[Any]
    estimates: Reals
    low: Reals
    high: Reals
    level: float
    are_simultaneous: bool


def predict_label_intervals(
    quantifier: AbstractLabelAggregative,
    X: Any,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    weights: ArrayLike | None = None,
    seed: int = 0,
) -> LabelIntervals:
    """The share of each label among the items of X, with an interval.

    simultaneous: all intervals together hold with the confidence `level` (Bonferroni).
    """
    posteriors = quantifier.posteriors(X)
    return aggregate_label_intervals(
        quantifier, posteriors, level=level, simultaneous=simultaneous, weights=weights, seed=seed
    )


def aggregate_label_intervals(
    quantifier: AbstractLabelAggregative,
    posteriors: ArrayLike,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    weights: ArrayLike | None = None,
    seed: int = 0,
) -> LabelIntervals:
    """Like `predict_label_intervals`, for a sample given by the posteriors of its items."""
    if not 0 < level < 1:
        raise UserError(f"level must be between 0 and 1, got {level}")
    estimates = quantifier.aggregate(posteriors, weights=weights)
    given = checked_weights(weights, len(np.asarray(posteriors)))
    size = len(np.asarray(posteriors)) if given is None else given.sum() ** 2 / (given @ given)
    worlds = simulated_worlds(quantifier, max(1, round(size)), seed=seed)
    n_labels = len(estimates)
    alpha = (1 - level) / n_labels if simultaneous else 1 - level
    limits = np.array([worlds.limits(j, estimates[j], alpha) for j in range(n_labels)])
    low, high = np.clip(limits[:, 0], 0, estimates), np.clip(limits[:, 1], estimates, 1)
    return LabelIntervals(quantifier.labels_, estimates, low, high, level, simultaneous)


@dataclass(frozen=True, eq=False)
class SimulatedWorlds:
    """Samples of known shares: their estimates and shares, (n_samples, n_labels)."""

    estimates: Reals
    shares: Reals

    def limits(self, label: int, estimate: float, alpha: float) -> tuple[float, float]:
        """The shares of a label in the samples whose estimate is closest to this one."""
        estimates, shares = self.estimates[:, label], self.shares[:, label]
        number = min(len(estimates), max(NEAREST, int(np.ceil(4 / alpha))))
        nearest = np.argsort(np.abs(estimates - estimate), kind="stable")[:number]
        errors = np.sort(shares[nearest] - estimates[nearest])
        # One of the samples is the one at hand: of n errors and a new one, each rank is as likely.
        below = int(np.floor((number + 1) * alpha / 2)) - 1
        if below < 0:
            return 0.0, 1.0
        return estimate + float(errors[below]), estimate + float(errors[-1 - below])


def simulated_worlds(
    quantifier: AbstractLabelAggregative, size: int, *, seed: int = 0
) -> SimulatedWorlds:
    """Samples of `size` items each, drawn from items that the refitted method has not seen."""
    table, posteriors = quantifier.held_out_labels_, quantifier.held_out_posteriors_
    weights, n_items = quantifier.held_out_weights_, len(table)
    size = min(size, MOST_ITEMS)
    estimates, shares = [], []
    for bootstrap in range(BOOTSTRAPS):
        rng = generator(seed, draw="bootstrap of labelled items", number=bootstrap)
        rows = rng.integers(n_items, size=n_items)
        refitted = quantifier.refit(with_every_label(rows, table.has, rng))
        unseen = np.setdiff1d(np.arange(n_items), rows)
        pool, pool_weights = table.take(unseen), None if weights is None else weights[unseen]
        index = np.concatenate(
            [
                samples_of_each_label(
                    pool, size, POINTS, 1, seed=seed + bootstrap, weights=pool_weights
                ),
                natural_samples(
                    len(unseen), size, NATURAL, seed=seed + bootstrap, weights=pool_weights
                ),
            ]
        )
        estimates.append(refitted.aggregate(posteriors[unseen], index))
        shares.append(pool.has[index].mean(axis=1))
    return SimulatedWorlds(np.concatenate(estimates), np.concatenate(shares))


def with_every_label(rows: Any, has: Any, rng: np.random.Generator) -> Any:
    """The rows, and some more if the items with, or without, a label are too few among them."""
    added = []
    for has_label in has.T:
        for side in (has_label, ~has_label):
            missing = FEWEST - int(side[rows].sum())
            if missing > 0:
                added.append(rng.choice(np.flatnonzero(side), missing))
    return np.concatenate([rows, *added])
