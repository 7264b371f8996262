"""Labels chosen by verdict, or in known strata: the share of each stratum times its rate.

Within a stratum the labelled items are random ones, so that the shares of all items,

    p = sum_h share_h * mean(Y | h),

need no assumption about the judge. What may still be unseen decides the limits of a rare class. For
the upper limit of a class part of an item of it is added to the stratum whose labels stand for the
most items, the worst place for one to be missed, and for the lower limit part of an item of another
class; less of it the more such items were seen. Rates then have beta distributions, whose sum is
taken to be of Pearson's type III: three moments and no draws. The variance of the shares in samples
of this size is added. It is the interval of directly standardised rates (Fay and Feuer), brought
from counts of events to shares, with part of an event for a whole one.

A class of which many items were seen has Jeffreys's prior, half an item of the class and half of
the others in every stratum: limits are then narrower by a few percent and hold as often. For a rare
class the priors of many strata would add up, so that its lower limit is too high. Hence as much of
the prior is added as the class is familiar (`FAMILIAR`, `SCARCE`), and more than three strata share
the prior of three.

Two obvious alternatives hold less often when a rare class is looked for in many strata: adding the
squares of the distances to each stratum's limits, and draws from beta distributions with
Jeffreys's prior in each.

Labels of random items are random in each stratum too, given how many of them fell there
(post-stratification), so that the same estimate and limits hold for them. By chance a stratum may
have one label or none: it is then joined with the largest (`joined`). The constants were chosen on
other settings than those of `benchmarks/judge_coverage.py`.

Within a stratum items may have weights (the inverse of their probability of being chosen); it then
has the effective number of labels (Kish).

References: M. Fay and E. Feuer, "Confidence intervals for directly standardized rates", Stat. Med.
16 (1997); M. Fay and S. Kim, "Confidence intervals for directly standardized rates using mid-p
gamma intervals", Biometrical Journal 59 (2017); L. Kish, "Survey Sampling", 1965.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Reals
from quantshift.labelling.audit import Unseen
from quantshift.prevalence.bounded import BoundedShares
from quantshift.statistics.pearson3 import pearson3_quantile

UNSEEN = Unseen(weight=0.45, halved_at=5.0)
"""How much of an item is added to find a limit. Items that were seen count by their weight relative
to that of the added one."""

UNSEEN_AT_RANDOM = Unseen(weight=0.5, halved_at=5.0)
"""The same for labels of random items."""

JEFFREYS = 0.5

MOST_PRIORS = 3
"""More strata than this share the prior of so many."""

FAMILIAR = 3.0
"""The number of items seen, counted as above, at which strata get half of Jeffreys's prior for the
class."""

SCARCE = 2.0
"""The number of labels of other classes at which a stratum gets half of Jeffreys's prior for
them."""

FEWEST_AT_RANDOM = 2
"""A stratum with fewer labels of random items is joined with the largest."""


@dataclass(frozen=True, eq=False)
class Stratified(BoundedShares):
    """The shares of classes from labels in strata.

    prevalence, low, high: (n_classes,).
    rates: of the classes in the strata, (n_strata, n_classes).
    by_labels, by_shares: the parts of the variance, (n_classes,).
    """

    rates: Reals
    by_labels: Reals
    by_shares: Reals


def label_counts(
    strata: Codes, labels: Codes, n_strata: int, n_classes: int, weights: Reals | None = None
) -> Reals:
    """Effective numbers of labels by stratum and class, (n_strata, n_classes)."""
    w = np.ones(len(labels)) if weights is None else weights
    cell = strata * n_classes + labels
    sums = np.bincount(cell, weights=w, minlength=n_strata * n_classes).reshape(-1, n_classes)
    total = sums.sum(axis=1, keepdims=True)
    squares = np.bincount(strata, weights=w * w, minlength=n_strata)[:, np.newaxis]
    return np.asarray(sums * np.divide(total, squares, out=np.zeros_like(total), where=squares > 0))


def joined(codes: Codes, is_labelled: NDArray[np.bool_], n_strata: int) -> Codes:
    """The strata of all items; those with hardly any label become part of the largest."""
    sizes = np.bincount(codes, minlength=n_strata)
    n_labelled = np.bincount(codes[is_labelled], minlength=n_strata)
    largest = int(np.argmax(np.where(n_labelled >= FEWEST_AT_RANDOM, sizes, -1)))
    target = np.where(n_labelled >= FEWEST_AT_RANDOM, np.arange(n_strata), largest)
    return np.asarray(np.unique(target[codes], return_inverse=True)[1]).ravel()


def stratified(
    shares: Reals,
    counts: Reals,
    n_items: float,
    *,
    level: float,
    unseen: Unseen = UNSEEN,
    covered: Reals | None = None,
) -> Stratified:
    """The shares of the classes in the population that n_items were drawn from.

    shares: of the strata, (n_strata,); counts: of labels, (n_strata, n_classes). unseen: how much
    of an item is added to find a limit. covered: the share of each stratum that is labelled, for
    the shares among the n_items themselves: only those without a label are uncertain then, so that
    the strata have the finite-population correction, and their shares are known.
    """
    n = counts.sum(axis=1, keepdims=True)
    overall = (counts.sum(axis=0) + 1e-9) / (counts.sum() + 1e-9 * counts.shape[1])
    rates = np.where(n > 0, counts / np.where(n > 0, n, 1), overall)
    p = shares @ rates
    by_shares = shares @ (rates - p) ** 2 / n_items
    uncovered = np.ones(len(shares))
    if covered is not None:
        by_shares, uncovered = np.zeros_like(p), np.maximum(1 - covered, 0.0)
    # A stratum without labels may be all of a class, or have none of it.
    empty = float(shares[n[:, 0] == 0].sum())
    uncertain = shares * np.sqrt(uncovered)
    margin_above = _margin(uncertain, counts, n, by_shares, level, unseen) + empty * (1 - overall)
    margin_below = _margin(uncertain, n - counts, n, by_shares, level, unseen) + empty * overall
    by_labels = (uncertain[:, np.newaxis] ** 2 * rates * (1 - rates) / np.maximum(n, 1)).sum(axis=0)
    return Stratified(
        p,
        np.clip(p - margin_below, 0, 1),
        np.clip(p + margin_above, 0, 1),
        rates,
        by_labels,
        by_shares,
    )


def _margin(
    shares: Reals, seen: Reals, n: Reals, by_shares: Reals, level: float, unseen: Unseen
) -> Reals:
    """The distances from the shares of classes up to their limits, (n_classes,).

    shares: of the strata, times the square root of the finite-population correction if any; seen:
    labels of each class, (n_strata, n_classes), of n, (n_strata, 1).
    """
    labelled = n[:, 0] > 0
    W, seen, n = shares[labelled, np.newaxis], seen[labelled], n[labelled]
    others = np.maximum(n - seen, 0.0)
    weights = np.where(others > 0, W / n, 0.0)
    heaviest_weight = weights.max(axis=0, initial=0.0)
    contributions = (W / n) ** 2 * seen * others / n
    n_alike = contributions.sum(axis=0) / np.where(heaviest_weight > 0, heaviest_weight, 1.0) ** 2
    prior = JEFFREYS * min(1.0, MOST_PRIORS / max(len(seen), 1))
    added = np.broadcast_to(prior * n_alike / (n_alike + FAMILIAR), seen.shape).copy()
    if len(seen):
        worst = weights.argmax(axis=0), np.arange(seen.shape[1])
        added[worst] = np.maximum(added[worst], unseen.weight / (1 + n_alike / unseen.halved_at))
    a = seen + added
    b = others + prior * np.maximum(others / (others + SCARCE), others / n)
    total = a + b
    mean = a / total
    # With few labels the variance is too small, by (n - 1) / (n + 1); with many, the added items
    # make up for it.
    widening = 1 + 8 / np.maximum(n, 1) ** 2
    spread = W**2 * mean * (b / total) / (total + 1) * widening
    third_moment = 2 * W**3 * a * b * (b - a) / (total**3 * (total + 1) * (total + 2))
    error = np.sqrt(spread.sum(axis=0) + by_shares)
    skewness = (third_moment * widening**1.5).sum(axis=0) / np.where(error > 0, error, 1.0) ** 3
    quantile = pearson3_quantile((1 + level) / 2, np.where(error > 0, skewness, 0.0))
    shift = (W * (mean - seen / n)).sum(axis=0)
    return np.asarray(np.where(heaviest_weight > 0, np.maximum(shift + error * quantile, 0.0), 0.0))
