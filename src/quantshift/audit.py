"""The audit: a few labelled items of the sample make its estimate hold under any shift.

People label k items drawn at random from the N items of the sample. Counting them is unbiased
whatever has shifted; the posteriors f of all N items make the count more precise. With Y the
indicators of the labels, the prediction-powered estimate is

    mean(Y) + weight * (mean of f over all N items - mean of f over the k items)

and its variance for the population, with s2 the variances of Y and of the residual Y - weight * f,

    (1/k - 1/N) * s2(residual) + 1/N * s2(Y)

which is smallest for the slope of the regression of Y on f. This is PPI++ for a mean, written
for labelled items that are part of the sample (its own weight is ours times 1 - k/N); survey
statistics know it as the regression estimator. Without the last term it is the variance about
the share among the very items of the sample.

The textbook interval, estimate +- 1.96 standard errors, is too short for small k, rare classes or a
classifier that errs nowhere among the k items (tests/test_audit.py shows by how much; it is what
`ppi-python` computes, which also brings pandas, statsmodels and a downloader: hence this module).
We use Student's quantile, a residual variance with one pseudo-item, and Wilson's form of the
limits at the effective number of labels p (1 - p) / variance, which never leave [0, 1].

References: A. Angelopoulos, J. Duchi and T. Zrnic, "PPI++: efficient prediction-powered inference",
2023; W. Cochran, "Sampling Techniques", 1977, ch. 7; C. Franco et al., "Comparative study of
confidence intervals for proportions in complex sample surveys", JSSAM 7 (2019).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, PoolTooSmallError, UserError, unknown_name
from quantshift.intervals import wilson_limits
from quantshift.seeding import generator
from quantshift.types import Codes, Indices, Posteriors, Prevalences

FEWEST_LABELS = 10
"""With fewer labelled items an interval says nothing and its approximation breaks down."""

TARGETS = ("population", "sample")
"""The prevalence where the sample comes from, or among the items of the sample themselves."""

PSEUDO_VARIANCE = 0.25
"""Of the pseudo-item: the largest an indicator can have."""


@dataclass(frozen=True)
class AuditInterval:
    """An estimate that labels have confirmed, and its limits.

    prevalence, low, high: shape (n_classes,).
    weight: how much the posteriors were relied upon, from 0 (plain counting) to 1.
    n_labelled, n_items: k and N.
    """

    prevalence: Prevalences
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level: float
    weight: float
    n_labelled: int
    n_items: int


@dataclass(frozen=True)
class AuditPlan:
    """How many labels a precision needs, and which items to label.

    n_labels: with the posteriors' help, if they mean what they say.
    n_counting: without, by counting labels alone: what is needed at worst.
    precision: half the width of the interval; `attainable`: half the width with all items labelled.
    items: positions of the `n_labels` items in random order, so that every beginning of the list
        is a random draw too.
    """

    precision: float
    level: float
    n_items: int
    n_labels: int
    n_counting: int
    attainable: float
    items: Indices


def audit_interval(
    posteriors: ArrayLike,
    items: ArrayLike,
    codes: ArrayLike,
    *,
    level: float = 0.95,
    target: str = "population",
) -> AuditInterval:
    """The prevalence of a sample some random items of which are labelled.

    posteriors: of all items of the sample, (n_items, n_classes), by any model, right or wrong.
    items, codes: positions of the labelled items, drawn at random, and the codes of their classes.
    """
    f = check_posteriors(posteriors)
    rows, labels = _labelled(items, codes, f)
    _check_level_and_target(level, target)
    k, n_items = len(rows), len(f)
    Y, predicted = np.eye(f.shape[1])[labels], f[rows]
    weight = _regression_weight(Y, predicted)
    exact = Y.mean(axis=0) + weight * (f.mean(axis=0) - predicted.mean(axis=0))
    p = np.clip(exact, 0.0, 1.0)
    residuals = Y - weight * predicted
    # k - 2 degrees of freedom for mean and slope, plus the pseudo-item.
    squares = ((residuals - residuals.mean(axis=0)) ** 2).sum(axis=0)
    spread = (squares + PSEUDO_VARIANCE) / (k - 1)
    variance = (1 / k - 1 / n_items) * spread
    if target == "population":
        variance = variance + np.maximum(p * (1 - p), spread) / n_items
    low, high = _limits(p, variance, k, float(stats.t.ppf((1 + level) / 2, k - 1)))
    return AuditInterval(p / p.sum(), low, high, level, weight, k, n_items)


def count_interval(codes: ArrayLike, n_classes: int, *, level: float = 0.95) -> AuditInterval:
    """The prevalence by counting labels of random items alone, with Wilson's limits."""
    labels = np.asarray(codes, dtype=np.int64)
    p = np.bincount(labels, minlength=n_classes) / len(labels)
    low, high = wilson_limits(p, len(labels), float(stats.norm.ppf((1 + level) / 2)))
    return AuditInterval(p, low, high, level, 0.0, len(labels), len(labels))


def plan_audit(
    posteriors: ArrayLike,
    precision: float,
    *,
    level: float = 0.95,
    target: str = "population",
    seed: int = 0,
) -> AuditPlan:
    """How many items to label for limits `precision` to either side, and which.

    The residual variance is taken from the posteriors themselves, as if they were calibrated in the
    sample: give posteriors adapted to its estimated prevalence (`reweigh`). If they are worse than
    that the interval comes out wider, and `n_counting` labels are enough at any rate.
    """
    f = check_posteriors(posteriors)
    _check_level_and_target(level, target)
    if not 0 < precision < 1:
        raise UserError(
            f"a precision is between 0 and 1 (0.03: plus or minus 3 points), got {precision}"
        )
    n_items = len(f)
    z = float(stats.norm.ppf((1 + level) / 2))
    p = f.mean(axis=0)
    allowed = (precision / z) ** 2
    fixed = float((p * (1 - p)).max()) / n_items if target == "population" else 0.0
    n_labels = _labels_for(allowed - fixed, float((f * (1 - f)).mean(axis=0).max()), n_items)
    n_counting = _labels_for(allowed - fixed, float((p * (1 - p)).max()), n_items)
    rng = generator(seed, purpose="audit", n_items=n_items)
    return AuditPlan(
        precision=precision,
        level=level,
        n_items=n_items,
        n_labels=n_labels,
        n_counting=n_counting,
        attainable=z * fixed**0.5,
        items=rng.permutation(n_items)[:n_labels],
    )


def reweigh(posteriors: ArrayLike, prior: ArrayLike, prevalence: ArrayLike) -> Posteriors:
    """Posteriors as they would be where the classes have another prevalence than in training."""
    ratio = np.asarray(prevalence, dtype=np.float64) / np.asarray(prior, dtype=np.float64)
    weighted = np.asarray(posteriors, dtype=np.float64) * ratio
    total = weighted.sum(axis=-1, keepdims=True)
    # An item that is surely of a class the sample has none of keeps its posteriors.
    return np.asarray(np.where(total > 0, weighted / np.where(total > 0, total, 1), posteriors))


def _labels_for(allowed: float, spread: float, n_items: int) -> int:
    """The smallest k with spread * (1/k - 1/n_items) within the allowed variance."""
    fewest = min(FEWEST_LABELS, n_items)
    if allowed <= 0:
        return n_items
    exact = spread / (allowed + spread / n_items)
    return int(min(max(np.ceil(round(exact, 9)), fewest), n_items))


def _labelled(items: ArrayLike, codes: ArrayLike, f: Posteriors) -> tuple[Indices, Codes]:
    rows, labels = np.asarray(items, dtype=np.int64), np.asarray(codes, dtype=np.int64)
    n_items, n_classes = f.shape[-2:]
    if f.ndim != 2 or rows.ndim != 1 or rows.shape != labels.shape:
        raise DataError(
            f"an audit needs one sample and a label per audited item, got posteriors {f.shape}, "
            f"items {rows.shape} and labels {labels.shape}"
        )
    if len(rows) < FEWEST_LABELS:
        raise PoolTooSmallError(
            f"{len(rows)} items of the sample are labelled: an audit needs at least {FEWEST_LABELS}"
        )
    if rows.min() < 0 or rows.max() >= n_items or len(np.unique(rows)) < len(rows):
        raise DataError(f"audited items must be distinct positions from 0 to {n_items - 1}")
    if labels.min() < 0 or labels.max() >= n_classes:
        raise DataError(f"codes of labels must be from 0 to {n_classes - 1}")
    return rows, labels


def _check_level_and_target(level: float, target: str) -> None:
    if not 0 < level < 1:
        raise UserError(f"the level of an interval is between 0 and 1, got {level}")
    if target not in TARGETS:
        raise unknown_name("target", target, TARGETS)


def _regression_weight(Y: NDArray[Any], predicted: Posteriors) -> float:
    """Slope of Y on the predictions, one for all classes so that estimates sum to one."""
    centred = predicted - predicted.mean(axis=0)
    total = float((centred**2).sum())
    return float(np.clip((Y * centred).sum() / total, 0.0, 1.0)) if total > 0 else 0.0


def _limits(
    p: Prevalences, variance: NDArray[np.float64], k: int, z: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's limits for an estimate p with the precision of p (1 - p) / variance labels."""
    spread = p * (1 - p)
    exact = variance == 0
    # At 0 or 1 the estimate tells nothing of its own precision: the k labels do.
    effective = np.where(spread > 0, spread / np.where(exact, 1.0, variance), float(k))
    low, high = wilson_limits(p, effective, z)
    return np.where(exact, p, low), np.where(exact, p, high)
