"""Bootstrap intervals for every quantifier: over the sample's items and over the training side.

An estimate errs because the sample is a draw of items and because what the aggregation learnt
(rates, histograms, a calibration) was learnt from a draw of training items. A replicate therefore
resamples both: the training items, class by class, whose held-out posteriors the aggregation is
fitted on again (`refit`), and the items of the sample. The classifier itself is taken as it is.

Refitting is the slow part, so that `N_REFITS` training replicates each serve several replicates of
the sample, and all samples of a call share them. The limits are percentiles of the replicates,
corrected for bias: if their median is b above the estimate, the estimate is taken to be b above the
truth too, and both limits are moved by -2b. That matters to methods which compare noisy histograms
(HDy, and DyS with few items of a class). A limit at 0 or 1 stays, since estimates are clipped there
and cannot tell. The limits speak of the prevalence in the population the sample was drawn from; for
the share among the very items of the sample they are on the safe side.

What no resampling can show: held-out posteriors come from models trained on 1 - 1/cv of the items,
a little worse than the one that scores the sample. With cv=5 the rates of PACC are biased by that,
more than the interval allows for; cv=20 is enough for 5,000 training items.

Reference: B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993, ch. 10 and 13.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError
from quantshift.quantifiers.estimator import AbstractQuantifier, Estimate, Samples
from quantshift.quantifiers.samples import PADDING
from quantshift.seeding import generator
from quantshift.types import Indices, Prevalences

N_REFITS = 200
"""Replicates of the training side; each serves n_bootstrap / N_REFITS replicates of the sample."""

SMALL = 30
"""A handful of items resampled looks surer than it is; below this Wilson's limits are a minimum."""

MOST_ITEMS = 50_000
"""Larger samples are resampled so many items at a time: the interval is then a little too wide."""


@dataclass(frozen=True)
class PrevalenceInterval:
    """An estimate between two limits, class by class.

    prevalence, low, high: shape (..., n_classes), in the order of `classes`.
    replicates: the bootstrap's estimates, shape (..., n_bootstrap, n_classes).
    """

    prevalence: Prevalences
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level: float
    classes: NDArray[Any]
    replicates: Prevalences


def predict_interval(
    quantifier: AbstractQuantifier,
    X: Any,
    samples: Samples | None = None,
    *,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> PrevalenceInterval:
    """The prevalence of the sample X (or of each of `samples` of it) with its interval."""
    return item_interval(
        quantifier, quantifier.items(X), samples, level=level, n_bootstrap=n_bootstrap, seed=seed
    )


def aggregate_interval(
    quantifier: AbstractQuantifier,
    posteriors: ArrayLike,
    samples: Samples | None = None,
    *,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> PrevalenceInterval:
    """Like `predict_interval`, for items given by their posteriors (n_items, n_classes)."""
    check_is_fitted(quantifier, "classes_")
    pool = check_posteriors(posteriors, len(quantifier.classes_))
    if pool.ndim != 2:
        raise DataError(f"an interval needs posteriors (n_items, n_classes), got {pool.shape}")
    return item_interval(quantifier, pool, samples, level=level, n_bootstrap=n_bootstrap, seed=seed)


def item_interval(
    quantifier: AbstractQuantifier,
    items: NDArray[np.float64],
    samples: Samples | None = None,
    *,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> PrevalenceInterval:
    """Like `predict_interval`, for what `quantifier.items(X)` returned."""
    rows = [np.arange(len(items))] if samples is None else _rows(samples)
    estimate = quantifier.estimate_items(items, rows)
    point = estimate.prevalence
    replicates = bootstrap(quantifier, items, rows, estimate, n_bootstrap=n_bootstrap, seed=seed)
    low, high = limits(point, replicates, [len(row) for row in rows], level)
    one = 0 if samples is None else slice(None)
    return PrevalenceInterval(
        prevalence=point[one],
        low=low[one],
        high=high[one],
        level=level,
        classes=quantifier.classes_,
        replicates=replicates[one],
    )


def bootstrap(
    quantifier: AbstractQuantifier,
    items: NDArray[np.float64],
    samples: Sequence[Indices],
    point: Estimate,
    *,
    n_bootstrap: int,
    seed: int,
) -> Prevalences:
    """Replicates of the estimate of each sample, shape (n_samples, n_bootstrap, n_classes).

    items: what `quantifier.items(X)` returned; point: the estimates of the samples. The replicates
        of a sample depend on the seed, its position and its size alone.
    """
    replicates = np.empty((len(samples), n_bootstrap, len(quantifier.classes_)))
    for columns, estimate in replicate_estimates(
        quantifier, items, samples, n_bootstrap=n_bootstrap, seed=seed
    ):
        replicates[:, columns] = weighed_as(point, estimate)
    return replicates


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


def replicate_estimates(
    quantifier: AbstractQuantifier,
    items: NDArray[np.float64],
    samples: Sequence[Indices],
    *,
    n_bootstrap: int,
    seed: int,
) -> Iterator[tuple[Indices, Estimate]]:
    """Yields, for each replicate of the training side, which replicates it serves and estimates.

    The estimates, with their diagnostics, are those of the first sample's replicates, then of the
    second's, and so on.
    """
    if n_bootstrap < 2:
        raise UserError(f"an interval needs at least 2 bootstrap replicates, got {n_bootstrap}")
    n_refits = min(N_REFITS, n_bootstrap)
    refit = quantifier.refitter()
    for number in range(n_refits):
        columns = np.arange(number, n_bootstrap, n_refits)
        again = refit(training_replicate(quantifier, number, seed=seed))
        drawn = [
            _resampled(rows, len(columns), sample=position, number=number, seed=seed)
            for position, rows in enumerate(samples)
        ]
        yield columns, again.estimate_items(items, [row for matrix in drawn for row in matrix])


def limits(
    p_hat: Prevalences, replicates: Prevalences, sizes: Sequence[int], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middle `level` of the replicates of each sample, bias corrected: lower and upper limits.

    p_hat: shape (n_samples, n_classes); replicates: (n_samples, n_bootstrap, n_classes). The
    estimate is always between them, and the limits of small samples are at least as wide as those
    of items whose classes are known.
    """
    if not 0 < level < 1:
        raise UserError(f"the level of an interval is between 0 and 1, got {level}")
    tails = [(1 - level) / 2, 0.5, (1 + level) / 2]
    low, median, high = np.quantile(replicates, tails, axis=1)
    bias = median - p_hat
    low = np.where(low > 0, np.clip(low - 2 * bias, 0.0, p_hat), 0.0)
    high = np.where(high < 1, np.clip(high - 2 * bias, p_hat, 1.0), 1.0)
    z = float(stats.norm.ppf((1 + level) / 2))
    for i in (i for i, size in enumerate(sizes) if size < SMALL):
        least, most = wilson_limits(p_hat[i], sizes[i], z)
        low[i], high[i] = np.minimum(low[i], least), np.maximum(high[i], most)
    return low, high


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
    if not quantifier.uses_classifier:
        return _every_class(rng.integers(len(codes), size=len(codes)), codes)
    members = [np.flatnonzero(codes == code) for code in range(len(quantifier.classes_))]
    return np.concatenate([m[rng.integers(len(m), size=len(m))] for m in members])


def _every_class(rows: Indices, codes: Indices) -> Indices:
    # A fit needs an item of every class; a class so rare that a draw may miss it keeps one.
    drawn = set(codes[rows].tolist())
    missing = [int(np.argmax(codes == c)) for c in np.unique(codes) if c not in drawn]
    return np.concatenate([rows, np.array(missing, dtype=np.int64)])


def _resampled(rows: Indices, n: int, *, sample: int, number: int, seed: int) -> Indices:
    rng = generator(seed, purpose="interval", side="sample", sample=sample, number=number)
    return rows[rng.integers(len(rows), size=(n, min(len(rows), MOST_ITEMS)))]


def _rows(samples: Samples) -> list[Indices]:
    rows = [np.asarray(row, dtype=np.int64) for row in samples]  # type: ignore[union-attr]
    return [row[row != PADDING] for row in rows]
