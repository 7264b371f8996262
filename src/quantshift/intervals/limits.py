"""The limits of intervals, from replicates of an estimate.

References: B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993, ch. 10 and 13; L.
Brown, T. Cai and A. DasGupta, "Interval estimation for a binomial proportion", Statistical Science
16 (2001); T. Hesterberg, "What teachers should know about the bootstrap", The American Statistician
69 (2015), section 4.5.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri, stdtrit

from quantshift.base.types import Prevalences, Reals
from quantshift.intervals.counted import as_if_counted


def limits(
    p_hat: Prevalences,
    replicates: Prevalences,
    sizes: ArrayLike,
    level: float,
    *,
    centre: Prevalences | None = None,
    training_sizes: ArrayLike | None = None,
    new_items: bool = False,
    labels_known: bool = True,
) -> tuple[Reals, Reals]:
    """The middle `level` of the replicates of each sample, put around its estimate: two limits.

    p_hat: shape (n_samples, n_classes); replicates: (n_samples, n_bootstrap, n_classes). If their
    median is b above p_hat, p_hat is taken to be b above the truth. A limit at 0 or 1 stays, since
    estimates are clipped there and cannot tell. The estimate is always between the limits, which
    are at least as wide as those of items whose classes are known.

    centre: the prevalence of the samples that the replicates are estimates of, if they were
    simulated; of draws under resampled training items, the estimate. One more replicate would be
    between the limits with probability `level`, however few there are. Their bias is treated as one
    more error, and moves the limits only if it is large (`around`).
    training_sizes: with a centre, the number of training items of each class (`expansion`).
    new_items: whether the simulated samples are of items that the replicates were not fitted on.
    These are so few that the limits are wider than necessary as they are: they move, but nothing is
    added.
    labels_known: whether the limits are to be as wide as those of items whose classes are known.
    Not so for the share among the items themselves.
    """
    tails = [(1 - level) / 2, 0.5, (1 + level) / 2]
    if centre is None:
        low, median, high = np.quantile(replicates, tails, axis=1)
        bias = median - p_hat
        moved_low, moved_high = p_hat - bias - (median - low), p_hat - bias + (high - median)
    else:
        bias = replicates.mean(axis=1) - centre
        factor: Reals | float = 1.0
        if training_sizes is not None and not new_items:
            factor = expansion(centre, training_sizes, level)
        low, high, moved_low, moved_high = around(
            p_hat, replicates, bias, level, factor=factor, widened=not new_items
        )
    low = np.where(low > 0, moved_low, 0.0)
    high = np.where(high < 1, moved_high, 1.0)
    if labels_known:
        return as_if_counted(p_hat, low, high, sizes, level)
    return np.clip(np.minimum(low, p_hat), 0.0, 1.0), np.clip(np.maximum(high, p_hat), 0.0, 1.0)


def credible_limits(p_hat: Prevalences, draws: Prevalences, level: float) -> tuple[Reals, Reals]:
    """Where one more draw of a posterior is with probability `level`; the estimate in any case."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(draws, tails, axis=1, method="weibull")
    return np.minimum(low, p_hat), np.maximum(high, p_hat)


def around(
    p_hat: Prevalences,
    replicates: Prevalences,
    bias: Reals,
    level: float,
    *,
    factor: Reals | float = 1.0,
    widened: bool = True,
) -> tuple[Reals, Reals, Reals, Reals]:
    """Percentiles of the replicates, and limits about the estimate at the same distances.

    With r = bias / standard error, the distances from the replicates' mean grow by `factor` and, if
    `widened`, by sqrt(1 + r^2), as if the bias were one more error. If estimates are normal and
    have this bias, such limits at the level 95% cover at least as much for any r, even if they are
    not moved. They are moved by r^2 / (1 + r^2) of the bias, its part in the squared error. A small
    bias is better left alone: it is that at the estimate, not at the truth, and where shares are
    drawn together correcting it stretches the other errors. A large one would make one of the two
    limits useless.
    """
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(replicates, tails, axis=1, method="weibull")
    mean, error = replicates.mean(axis=1), replicates.std(axis=1, ddof=1)
    squared = np.divide(bias, error, out=np.zeros_like(bias), where=error > 0) ** 2
    middle = p_hat - squared / (1 + squared) * bias
    wider = factor * np.sqrt(1 + squared if widened else 1.0)
    return low, high, middle - wider * (mean - low), middle + wider * (high - mean)


def expansion(centre: Prevalences, training_sizes: ArrayLike, level: float) -> Reals:
    """How much wider the percentiles of a bootstrap are to be for a small training set.

    A bootstrap of n items has a variance that is too small by (n - 1) / n and known only as well as
    n items show it, as in Student's t (T. Hesterberg, 2015). The variance of an estimate is about a
    sum over classes of p_k^2 / n_k times something of the same size; its degrees of freedom are
    Satterthwaite's. A class of one item counts as two. Shape (n_samples, 1).
    """
    n = np.maximum(np.asarray(training_sizes, dtype=np.float64), 2.0)
    parts = centre**2 / n
    total = parts.sum(axis=1, keepdims=True)
    unbiased = (parts * n / (n - 1)).sum(axis=1, keepdims=True) / total
    degrees = total**2 / (parts**2 / (n - 1)).sum(axis=1, keepdims=True)
    tail = (1 + level) / 2
    return np.asarray(np.sqrt(unbiased) * stdtrit(degrees, tail) / ndtri(tail))


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
