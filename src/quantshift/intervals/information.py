"""Tests whether the posteriors separate the classes at all.

Adjusted estimates divide by the difference between classes. If there is none, any prevalence
explains any sample, and the estimate is determined by an arbitrary fallback. Posteriors that are
clearly worse than chance are informative too, but only if the user gave them: out-of-fold
posteriors of a classifier that has learnt nothing are often much worse than chance, because a fold
with more items of a class leaves fewer of them to the others.

Reference: H. Mann and D. Whitney, "On a test of whether one of two random variables is
stochastically larger than the other", Annals of Mathematical Statistics 18 (1947).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from quantshift.base.types import Codes, Posteriors, Reals
from quantshift.items.predictions import hard_predictions

BETTER, WORSE = 0.002, 1e-4
"""Two-sided significance at which posteriors count as better than chance, and as worse.

Posteriors that only just pass gain nothing: if a difference between classes is known only to within
a third of its size, every interval is about as wide as it can be.
"""

FEWEST = 4
"""The fewest items of a class with which a test can find anything."""

ALIKE = 0.01
"""Posteriors that differ by less than this share of the training items' spread are the same."""

IMPOSSIBLE = 1e-4
"""Probability below which a sample cannot come from the training classes."""

FEWEST_ALIKE = 10
"""The fewest identical items that are suspicious if nothing is known about training items."""

SURER = 0.1
"""Items of which a classifier doubts less than this share of its least doubt in training are far
surer than any it knows."""

FEWEST_SURER = 5
"""The fewest such items that are suspicious."""

ROUNDING = 1e-14
"""Variance of weighted ranks, relative to its largest value, that counts as zero."""


def told_apart(
    posteriors: Posteriors,
    codes: Codes,
    *,
    crisp: bool,
    weights: Reals | None = None,
    cross_fitted: bool = False,
) -> NDArray[np.bool_]:
    """Which classes have held-out posteriors that differ, shape (n_classes, n_classes).

    Two classes differ if the odds between them are significantly larger in one than in the other,
    by the rank sum test with ties. crisp: compare predictions instead of posteriors. weights: of
    the items; significance depends on their sum, as it does on the number of items. cross_fitted:
    whether the posteriors are out of fold, so that being worse than chance does not count.
    """
    n_classes = posteriors.shape[1]
    scores = hard_predictions(posteriors).T if crisp else posteriors
    apart = np.eye(n_classes, dtype=bool)
    for j in range(n_classes):
        for k in range(j + 1, n_classes):
            score_of_k, total = scores[:, k], scores[:, j] + scores[:, k]
            share = np.divide(score_of_k, total, out=np.full(len(score_of_k), 0.5), where=total > 0)
            one, other = codes == k, codes == j
            if weights is None:
                z = rank_sum_z(share[one], share[other])
            else:
                z = weighted_rank_sum_z(share[one], share[other], weights[one], weights[other])
            enough = BETTER if z > 0 else 0.0 if cross_fitted else WORSE
            apart[j, k] = apart[k, j] = 2 * ndtr(-abs(z)) < enough
    return apart


def rank_sum_z(x: Reals, y: Reals) -> float:
    """The excess of the rank sum of x over that under equal distributions, in standard errors."""
    both = np.concatenate([x, y])
    n = len(both)
    distinct, counts = np.unique(both, return_inverse=True, return_counts=True)[1:]
    ties = counts.astype(np.float64)
    variance = len(x) * len(y) / 12 * (n + 1 - (ties**3 - ties).sum() / (n * (n - 1)))
    if variance <= 0:
        return 0.0
    ranks = np.cumsum(ties) - (ties - 1) / 2  # ties share their mean rank
    excess = ranks[distinct[: len(x)]].sum() - len(x) * (n + 1) / 2
    return float(excess / np.sqrt(variance))


def weighted_rank_sum_z(x: Reals, y: Reals, x_weights: Reals, y_weights: Reals) -> float:
    """`rank_sum_z` if every value is repeated as often as its weight says."""
    values, distinct = np.unique(np.concatenate([x, y]), return_inverse=True)
    ties = np.bincount(distinct, np.concatenate([x_weights, y_weights]), minlength=len(values))
    total_x, total_y = x_weights.sum(), y_weights.sum()
    n = total_x + total_y
    if n <= 1:
        return 0.0
    variance = total_x * total_y / 12 * (n + 1 - (ties**3 - ties).sum() / (n * (n - 1)))
    if variance <= ROUNDING * total_x * total_y * n:
        return 0.0
    ranks = np.cumsum(ties) - (ties - 1) / 2
    excess = x_weights @ ranks[distinct[: len(x)]] - total_x * (n + 1) / 2
    return float(excess / np.sqrt(variance))


def indistinct(posteriors: Posteriors, training: Posteriors | None, codes: Codes | None) -> bool:
    """Whether the items of a sample all look the same, although training items do not.

    posteriors: of the sample; training, codes: held-out posteriors of the training items and their
    classes, None if there are none. A sample is indistinct if all its items look the same, while
    the probability of this is below `IMPOSSIBLE` even in the class where such items are most
    common. This happens if all columns are empty, and such items say nothing about the label.
    """
    spread = np.ptp(posteriors, axis=0)
    if training is None or codes is None:
        return len(posteriors) >= FEWEST_ALIKE and bool(spread.max() <= ROUNDING)
    near = ALIKE * training.std(axis=0) + ROUNDING
    if (spread > near).any():
        return False
    is_like = (np.abs(training - posteriors[0]) <= near).all(axis=1)
    sizes = np.bincount(codes, minlength=training.shape[1])
    shares = (np.bincount(codes[is_like], minlength=training.shape[1]) + 1) / (sizes + 1)
    return bool(shares.max() ** len(posteriors) < IMPOSSIBLE)


def far_surer(
    posteriors: Posteriors, training: Posteriors | None, counts: Reals | None = None
) -> bool:
    """Whether a classifier is far surer of most items of a sample than of any training item.

    training: held-out posteriors of the training items, None if there are none. counts: how many
    items each row of the posteriors stands for.

    This happens if a column comes in another unit: probabilities of 0 and 1 leave nothing to chance
    by themselves, so that an interval would have no width, but nothing shows that they are right.
    """
    if training is None or not len(training):
        return False
    doubt, least = 1 - posteriors.max(axis=1), float((1 - training.max(axis=1)).min())
    n_items = np.ones(len(posteriors)) if counts is None else counts
    n_surer = float(n_items[doubt < SURER * least].sum())
    return n_surer >= FEWEST_SURER and n_surer > n_items.sum() / 2
