"""Do the posteriors tell the classes apart at all?

Adjusted estimates divide by the difference that a class makes. Where it makes none, any prevalence
explains any sample, and an estimate is the whim of a fallback. Posteriors that are worse than
chance are information, too, if there is no doubt about it and they were given: those of a
classifier that has learnt nothing, held out in folds, are often much worse than chance, because a
fold that has more of a class leaves less of it to the others.

Reference: H. Mann and D. Whitney, "On a test of whether one of two random variables is
stochastically larger than the other", Annals of Mathematical Statistics 18 (1947).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from quantshift.quantifiers.counting import hard_predictions
from quantshift.types import Codes, Posteriors

Reals = NDArray[np.float64]

BETTER, WORSE = 0.002, 1e-4
"""Two-sided significance at which posteriors count as better than chance, and as worse.

Posteriors that pass by little gain nothing: a difference between classes that is known to a third
of itself leaves every interval about as wide as it can be.
"""

FEWEST = 4
"""Items of a class without which no test can tell anything from chance."""

ALIKE = 0.01
"""Posteriors of a sample that differ by less than so much of the training items' are the same."""

IMPOSSIBLE = 1e-4
"""Probability of a sample below which it is none of the training classes' items."""

FEWEST_ALIKE = 10
"""Items that must be alike to be suspicious where nothing is known of training items."""

ROUNDING = 1e-14
"""Variance of weighted ranks, per unit of its largest value, that is zero but for rounding."""


def told_apart(
    posteriors: Posteriors,
    codes: Codes,
    *,
    crisp: bool,
    weights: Reals | None = None,
    cross_fitted: bool = False,
) -> NDArray[np.bool_]:
    """Which classes have held-out posteriors that differ, shape (n_classes, n_classes).

    Two classes differ if the odds between them are larger in the one than in the other by more than
    chance: the rank sum test with ties. crisp: by predictions instead of posteriors. weights: of
    the items; what is beyond chance depends on their sum, as it does on the number of items.
    cross_fitted: whether the posteriors were held out in folds, so that worse than chance is none.
    """
    n_classes = posteriors.shape[1]
    scores = hard_predictions(posteriors).T if crisp else posteriors
    apart = np.eye(n_classes, dtype=bool)
    for j in range(n_classes):
        for k in range(j + 1, n_classes):
            own, total = scores[:, k], scores[:, j] + scores[:, k]
            share = np.divide(own, total, out=np.full(len(own), 0.5), where=total > 0)
            one, other = codes == k, codes == j
            if weights is None:
                z = rank_sum_z(share[one], share[other])
            else:
                z = weighted_rank_sum_z(share[one], share[other], weights[one], weights[other])
            enough = BETTER if z > 0 else 0.0 if cross_fitted else WORSE
            apart[j, k] = apart[k, j] = 2 * ndtr(-abs(z)) < enough
    return apart


def rank_sum_z(x: Reals, y: Reals) -> float:
    """The rank sum of x above what it is if x and y are alike, in standard errors; ties count."""
    both = np.concatenate([x, y])
    n = len(both)
    place, counts = np.unique(both, return_inverse=True, return_counts=True)[1:]
    ties = counts.astype(np.float64)
    variance = len(x) * len(y) / 12 * (n + 1 - (ties**3 - ties).sum() / (n * (n - 1)))
    if variance <= 0:
        return 0.0
    ranks = np.cumsum(ties) - (ties - 1) / 2  # of ties, their mean
    excess = ranks[place[: len(x)]].sum() - len(x) * (n + 1) / 2
    return float(excess / np.sqrt(variance))


def weighted_rank_sum_z(x: Reals, y: Reals, x_weights: Reals, y_weights: Reals) -> float:
    """`rank_sum_z` if every value occurred as often as its weight says."""
    values, place = np.unique(np.concatenate([x, y]), return_inverse=True)
    ties = np.bincount(place, np.concatenate([x_weights, y_weights]), minlength=len(values))
    of_x, of_y = x_weights.sum(), y_weights.sum()
    n = of_x + of_y
    if n <= 1:
        return 0.0
    variance = of_x * of_y / 12 * (n + 1 - (ties**3 - ties).sum() / (n * (n - 1)))
    if variance <= ROUNDING * of_x * of_y * n:
        return 0.0
    ranks = np.cumsum(ties) - (ties - 1) / 2
    excess = x_weights @ ranks[place[: len(x)]] - of_x * (n + 1) / 2
    return float(excess / np.sqrt(variance))


def indistinct(posteriors: Posteriors, known: Posteriors | None, codes: Codes | None) -> bool:
    """Whether the items of a sample cannot be told apart, though training items can.

    posteriors: of the sample; known, codes: held-out posteriors of the training items and their
    classes, None if there are none. All items of the sample look the same, and so many items of
    any mixture of the training classes would not: the class in which items like these are most
    common has them all so with a probability below `IMPOSSIBLE`. This is how items look whose
    columns are all empty, and they say nothing of the label.
    """
    spread = np.ptp(posteriors, axis=0)
    if known is None or codes is None:
        return len(posteriors) >= FEWEST_ALIKE and bool(spread.max() <= ROUNDING)
    near = ALIKE * known.std(axis=0) + ROUNDING
    if (spread > near).any():
        return False
    like = (np.abs(known - posteriors[0]) <= near).all(axis=1)
    sizes = np.bincount(codes, minlength=known.shape[1])
    shares = (np.bincount(codes[like], minlength=known.shape[1]) + 1) / (sizes + 1)
    return bool(shares.max() ** len(posteriors) < IMPOSSIBLE)
