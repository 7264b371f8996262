"""The audit: with a few labelled items of the sample, its estimate is valid under any shift.

People label k items drawn at random from the N items of the sample. Counting them is unbiased
whatever has shifted; the posteriors f of all N items make the count more precise. With Y the
indicators of the labels, the prediction-powered estimate is

    mean(Y) + weight * (mean of f over all N items - mean of f over the k items)

and its variance for the population, with s2 the variances of Y and of the residual Y - weight * f,

    (1/k - 1/N) * s2(residual) + 1/N * s2(Y)

which is smallest for the slope of the regression of Y on f. This is PPI++ for a mean, written
for labelled items that are part of the sample (PPI++'s weight is ours times 1 - k/N); in survey
statistics it is called the regression estimator. Without the last term it is the variance around
the share among the actual items of the sample.

The textbook interval, estimate +- 1.96 standard errors, is too short for small k, rare classes or
a classifier without errors among the k items (it is what `ppi-python` computes, which also depends
on pandas, statsmodels and a downloader: hence this module). Our limits come from the residuals
themselves. The k residuals get Dirichlet weights, and one residual is added on the side of the
limit, as large as that of an item that contradicts its posterior, with a fraction of the weight of
a label. The limit is the quantile of the weighted mean. For plain labels and a whole extra label it
is Clopper and Pearson's limit (for any bounded residual, Gaffke's bound), so that a class without
labels, or a classifier without errors among the labels, still has an interval. The more residuals
of that size there are among the labels, the less is added, because they already contribute to the
variance. The quantile is that of the gamma distribution (Pearson's type III) with the mean,
variance and skewness of the weighted mean, all three in closed form.

The terms of the variance above become the squares of the two distances between estimate and limit
(one from the residuals, one from the labels alone). Where the limits of the labels alone are
closer, they are used: the audit is never wider than counting. `benchmarks/audit.py` measures
coverage and width, for good, hard, constant and wrong posteriors.

References: A. Angelopoulos, J. Duchi and T. Zrnic, "PPI++: efficient prediction-powered inference",
2023; W. Cochran, "Sampling Techniques", 1977, ch. 7; E. Learned-Miller and P. Thomas, "A new
confidence interval for the mean of a bounded random variable", 2020 (Gaffke's bound); G. Zou and
A. Donner, "Construction of confidence limits about effect measures", Stat. Med. 27 (2008) (sums of
squared distances).
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.errors import DataError, PoolTooSmallError, UserError, check_level, unknown_name
from quantshift.prevalence.bounded import BoundedShares
from quantshift.prevalence.weights import Weights, checked_weights
from quantshift.statistics.pearson3 import pearson3_quantile

FEWEST_LABELS = 10
"""With fewer labelled items an interval is uninformative and its approximation breaks down."""

TARGETS = ("population", "sample")
"""The prevalence in the population the sample comes from, or among the sample's own items."""

PREVALENCE_VARIANCE = 1 / 12
"""The variance of an unknown prevalence: that of the uniform distribution."""

CONSTANT = 1e-12
"""Posteriors with a variance below this differ only by rounding."""


class Unseen(NamedTuple):
    """How much of an extreme item is added to the labels to find a limit.

    weight: in labels, while no such item is among them. halved_at: the number of such items that
    halves the weight.
    """

    weight: float
    halved_at: float


UNSEEN_LABEL = Unseen(weight=1.0, halved_at=5.0)
"""For labels alone. A whole label gives Clopper and Pearson's limits; with many labels those are
too wide, hence the halving."""

UNSEEN_ERROR = Unseen(weight=0.6, halved_at=2.0)
"""For residuals, which are not restricted to whole counts: without an error among k labels the
limit is at 2.8 / k, and an error rate that large stays unseen in 6% of audits."""


@dataclass(frozen=True)
class AuditInterval(BoundedShares):
    """An estimate based on labels, and its limits.

    prevalence, low, high: shape (n_classes,).
    weight: how much the posteriors contribute, from 0 (plain counting) to 1.
    n_labelled, n_items: k and N.
    """

    level: float
    weight: float
    n_labelled: int
    n_items: int


@dataclass(frozen=True)
class AuditPlan:
    """About how many labels are needed for a precision, and which items to label.

    n_labels: with the posteriors' help, if they are as good as was assumed.
    n_counting: by counting labels alone, at the prevalence that was assumed.
    precision: half the width of the interval; `attainable`: half the width with all items labelled.
    items: positions of the `n_labels` items in random order, so that the first items of the list,
        however many, are a random draw too.
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
    sample_weight: ArrayLike | None = None,
    label_weights: ArrayLike | None = None,
) -> AuditInterval:
    """The prevalence of a sample of which some random items are labelled.

    posteriors: of all items of the sample, (n_items, n_classes), by any model, right or wrong; hard
        verdicts are posteriors of 0 and 1.
    items, codes: positions of the labelled items, drawn at random, and the codes of their classes.
    sample_weight: how many items of the sample each row stands for. A labelled row that another row
        counts already has the weight 0; it is one label all the same.
    label_weights: how much each labelled item counts among them, if not all count the same. There
        are then as many labels as the effective number of them (Kish).

    The interval is never wider than that of counting the labels alone (`count_interval`).
    """
    f = _checked(posteriors)
    rows, labels = _labelled(items, codes, f)
    _check_level_and_target(level, target)
    k, n_items = len(rows), len(f)
    Y, predicted = np.eye(f.shape[1])[labels], f[rows]
    counts = checked_weights(sample_weight, len(f))
    mean = f.mean(axis=0)
    if counts is not None:
        n_items, mean = max(round(float(counts.sum())), k), counts @ f / counts.sum()
    shares, effective = np.full((k, 1), 1 / k), float(k)
    counted, predicted_mean = Y.mean(axis=0), predicted.mean(axis=0)
    if label_weights is not None:
        raw_weights = np.asarray(label_weights, dtype=np.float64)
        shares = (raw_weights / raw_weights.sum())[:, np.newaxis]
        effective = float(1 / (shares**2).sum())
        counted, predicted_mean = (shares * Y).sum(axis=0), (shares * predicted).sum(axis=0)
    weight = _regression_weight(Y, predicted, shares)
    assisted = np.clip(counted + weight * (mean - predicted_mean), 0.0, 1.0)
    spread = _spread_of_residuals(Y, predicted, shares, weight, f, counts)
    labelled_share = k / n_items
    if label_weights is not None and counts is not None and target == "sample":
        labelled_share = _labelled_share(rows, counts)
    by_counting, with_posteriors = _margins(
        counted, spread, effective, labelled_share, level=level, target=target
    )
    low, high = _limits_around(counted, by_counting)
    low_assisted, high_assisted = _limits_around(assisted, with_posteriors)
    shorter = high_assisted - low_assisted < high - low
    p = np.where(shorter, assisted, counted)
    return AuditInterval(
        prevalence=p / p.sum(),
        low=np.where(shorter, low_assisted, low),
        high=np.where(shorter, high_assisted, high),
        level=level,
        weight=weight if shorter.any() else 0.0,
        n_labelled=k,
        n_items=n_items,
    )


def _labelled_share(rows: Indices, weights: Weights) -> float:
    """The share of all items that are labelled, as weights have it."""
    is_labelled = np.isin(np.arange(len(weights)), rows)
    return float(labelled_shares(np.zeros(len(weights), np.int64), is_labelled, weights)[0])


def labelled_shares(
    strata: Codes, is_labelled: NDArray[np.bool_], weights: Weights, n_strata: int = 1
) -> NDArray[np.float64]:
    """The share of each stratum that is labelled, as the finite-population correction needs it.

    Only items without a label can be other than their stratum's rate says: by the error of the
    rate, and by chance, the more so the fewer they effectively are (Kish). With equal weights this
    is the share of the items that are labelled. It is negative where a few heavy items have no
    label: what these are is then most of the error.

    >>> labelled_shares(np.zeros(4, int), np.arange(4) < 1, np.ones(4)).round(3)
    array([0.25])
    >>> labelled_shares(np.zeros(4, int), np.arange(4) < 2, np.array([1.0, 1, 1, 9])).round(3)
    array([-0.833])
    """

    def sums(rows: NDArray[np.bool_], power: int) -> NDArray[np.float64]:
        return np.asarray(
            np.bincount(strata[rows], weights=weights[rows] ** power, minlength=n_strata),
            dtype=np.float64,
        )

    total, unlabelled = sums(np.ones_like(is_labelled), 1), sums(~is_labelled, 1)
    labelled, squares = sums(is_labelled, 1), sums(is_labelled, 2)
    effective_labels = labelled**2 / np.where(squares > 0, squares, 1)
    open_ = unlabelled**2 + effective_labels * sums(~is_labelled, 2)
    return np.asarray((total**2 - open_) / np.where(total > 0, total, 1) ** 2)


def count_interval(codes: ArrayLike, n_classes: int, *, level: float = 0.95) -> AuditInterval:
    """The prevalence from nothing but the labels of random items.

    The limits are Clopper and Pearson's where a class has few labels, and a little narrower where
    it has more (see `UNSEEN_LABEL`).
    """
    labels = np.asarray(codes, dtype=np.int64)
    k = len(labels)
    p = np.bincount(labels, minlength=n_classes) / k
    low, high = counted_limits(p, k, level=level)
    return AuditInterval(p, low, high, level, 0.0, k, k)


def counted_limits(
    shares: Prevalences, n_labels: float, *, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The limits of shares among a number of labels, which may be an effective one."""
    return _limits_around(shares, _margins_of_labels(shares, n_labels, level))


def plan_audit(
    posteriors: ArrayLike,
    precision: float | None = None,
    *,
    n_labels: int | None = None,
    held_out: tuple[ArrayLike, ArrayLike] | None = None,
    prevalence: ArrayLike | None = None,
    level: float = 0.95,
    target: str = "population",
    seed: int = 0,
) -> AuditPlan:
    """About how many items to label for limits `precision` to either side, and which.

    n_labels: instead of a precision, how many items to label; the plan then has the precision they
        give.
    held_out: posteriors by the same model of other items, (n_held_out, n_classes), and the codes of
        their classes. They show how informative the posteriors of the sample are.
    prevalence: expected in the sample. By default PACC's estimate or, as far as the posteriors are
        too weak for one, the prevalence of the held-out items.

    Without held-out items the posteriors are assumed to be calibrated in the sample (`reweigh`
    adapts them to a prevalence). Hard verdicts (only posteriors of 0 and 1) do not show how often
    they are wrong: without held-out items the plan is then that of counting. If the posteriors are
    worse than assumed the interval comes out wider, but not wider than by counting.
    """
    f = _checked(posteriors)
    _check_level_and_target(level, target)
    if (precision is None) == (n_labels is None):
        raise UserError("give either a precision or the number of items to label")
    if precision is not None and not 0 < precision < 1:
        raise UserError(
            f"a precision must be between 0 and 1 (0.03: plus or minus 3 points), got {precision}"
        )
    if n_labels is not None and n_labels < FEWEST_LABELS:
        raise UserError(f"an audit needs at least {FEWEST_LABELS} labels, got {n_labels}")
    if held_out is None and prevalence is not None:
        raise UserError(
            "without held-out items the expected prevalence comes from the posteriors: give "
            "held_out too, or adapt the posteriors (reweigh)"
        )
    n_items = len(f)
    p, spread = (
        _expected_if_calibrated(f)
        if held_out is None
        else _expected_by_held_out(f, *held_out, prevalence)
    )

    def half_width(k: int, *, counting: bool) -> float:
        """Half the width of the widest interval of any class, with k labels."""
        margins = _margins(p, spread, k, k / n_items, level=level, target=target)
        low, high = _limits_around(p, margins[0 if counting else 1])
        return float((high - low).max()) / 2

    def fewest_labels(precision: float, *, counting: bool) -> int:
        return bisect_left(
            range(n_items),
            -precision,
            lo=min(FEWEST_LABELS, n_items),
            key=lambda k: -half_width(k, counting=counting),
        )

    if precision is None:
        assert n_labels is not None
        n_labels = min(n_labels, n_items)
        precision = min(half_width(n_labels, counting=counting) for counting in (False, True))
    n_counting = fewest_labels(precision, counting=True)
    if n_labels is None:
        n_labels = min(fewest_labels(precision, counting=False), n_counting)
    rng = generator(seed, purpose="audit", n_items=n_items)
    return AuditPlan(
        precision=precision,
        level=level,
        n_items=n_items,
        n_labels=n_labels,
        n_counting=n_counting,
        attainable=half_width(n_items, counting=True),
        items=rng.permutation(n_items)[:n_labels],
    )


def reweigh(posteriors: ArrayLike, prior: ArrayLike, prevalence: ArrayLike) -> Posteriors:
    """Posteriors adapted from the training prevalence to another prevalence."""
    ratio = np.asarray(prevalence, dtype=np.float64) / np.asarray(prior, dtype=np.float64)
    weighted = np.asarray(posteriors, dtype=np.float64) * ratio
    total = weighted.sum(axis=-1, keepdims=True)
    # An item with posterior 1 for a class of prevalence 0 keeps its posteriors.
    return np.asarray(np.where(total > 0, weighted / np.where(total > 0, total, 1), posteriors))


@dataclass(frozen=True, eq=False)
class _Spread:
    """The spread of residuals: moments of the deviations from their mean, (n_classes,) each.

    square, cube: mean square and mean cube; above, below: each side's part of the mean square.
    top, bottom: distances from the mean to the residuals of unseen errors.
    """

    square: NDArray[np.float64]
    cube: NDArray[np.float64]
    above: NDArray[np.float64]
    below: NDArray[np.float64]
    top: NDArray[np.float64]
    bottom: NDArray[np.float64]


def _spread_of_residuals(
    Y: NDArray[np.float64],
    predicted: Posteriors,
    weights: NDArray[np.float64],
    weight: float,
    f: Posteriors,
    counts: Weights | None = None,
) -> _Spread | None:
    """The spread of Y - weight * predicted; None for plain counting.

    weights: of the rows, which sum to one. An unseen error is an item that contradicts its
    posterior in f, averaged over the items, each weighted by the probability of that error. counts:
    how many items each row of f stands for.
    """
    if weight == 0:
        return None
    residuals = Y - weight * predicted
    mean = (weights * residuals).sum(axis=0)
    deviations = residuals - mean
    squares = weights * deviations**2
    tiny = np.finfo(np.float64).tiny
    n = 1.0 if counts is None else counts[:, np.newaxis]
    missed = weight * (n * f * (1 - f)).sum(axis=0) / np.maximum((n * (1 - f)).sum(axis=0), tiny)
    false = weight * (n * f * f).sum(axis=0) / np.maximum((n * f).sum(axis=0), tiny)
    return _Spread(
        square=squares.sum(axis=0),
        cube=(squares * deviations).sum(axis=0),
        above=(squares * (deviations > 0)).sum(axis=0),
        below=(squares * (deviations < 0)).sum(axis=0),
        top=np.maximum(1 - missed - mean, 0.0),
        bottom=np.maximum(mean + false, 0.0),
    )


def _margins(
    counted: Prevalences,
    spread: _Spread | None,
    k: float,
    labelled_share: float,
    *,
    level: float,
    target: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances from an estimate by k labels down and up to its limits, (2, n_classes).

    labelled_share: the share of the items that are labelled. Returned twice: by counting, and with
    the posteriors.
    """
    by_labels = _margins_of_labels(counted, k, level)
    unlabelled_share = 1 - labelled_share
    population_share = labelled_share if target == "population" else 0.0
    by_counting = np.sqrt(unlabelled_share + population_share) * by_labels
    if spread is None:
        return by_counting, by_counting
    by_residuals = _margins_of_residuals(spread, k, level)
    return by_counting, np.sqrt(
        unlabelled_share * by_residuals**2 + population_share * by_labels**2
    )


def _margins_of_labels(counted: Prevalences, k: float, level: float) -> NDArray[np.float64]:
    """Distances from the shares among k labels down and up to their limits, (2, n_classes).

    With Dirichlet weights the share of a class has a beta distribution.
    """
    share = np.stack([1 - counted, counted])
    seen = k * share
    added = _added(UNSEEN_LABEL, seen)
    # Where all labels are of the class, the limit is 1 and the beta distribution is not defined.
    others = np.where(share < 1, k - seen, 1.0)
    limit = np.where(share < 1, betaincinv(seen + added, others, (1 + level) / 2), 1.0)
    return np.asarray(limit - share)


def _margins_of_residuals(spread: _Spread, k: float, level: float) -> NDArray[np.float64]:
    """Distances from the mean of k residuals to the limits of its expectation, (2, n_classes)."""
    cube = np.stack([-spread.cube, spread.cube])
    tail = np.stack([spread.below, spread.above])
    extreme = np.stack([spread.bottom, spread.top])
    added = _added(UNSEEN_ERROR, k * tail / np.where(extreme > 0, extreme, 1.0) ** 2)
    # Moments about the mean of the labels, then central ones, then those of the weighted mean.
    total = k + added
    shift = added * extreme / total
    square = (k * spread.square + added * extreme**2) / total
    cube = (k * cube + added * extreme**3) / total
    variance = np.maximum(square - shift**2, 0.0) / (total + 1)
    third = 2 * (cube - 3 * shift * square + 2 * shift**3) / ((total + 1) * (total + 2))
    deviation = np.sqrt(variance)
    skewness = third / np.where(deviation > 0, deviation, 1.0) ** 3
    limit = shift + deviation * pearson3_quantile((1 + level) / 2, skewness)
    # One degree of freedom is lost to the mean and one to the slope.
    return np.asarray(limit / np.sqrt(max(k - 2, 1) / k))


def _added(unseen: Unseen, seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Labels to add when `seen` such labels, counted by their squares, are present already."""
    return unseen.weight / (1 + seen / unseen.halved_at)


def _limits_around(
    p: Prevalences, margins: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.clip(p - margins[0], 0.0, 1.0), np.clip(p + margins[1], 0.0, 1.0)


def _expected_if_calibrated(f: Posteriors) -> tuple[Prevalences, _Spread | None]:
    """Expected prevalence and spread if the posteriors are calibrated."""
    Y = np.concatenate([np.ones_like(f), np.zeros_like(f)])
    weights = np.concatenate([f, 1 - f]) / len(f)
    # Calibrated posteriors have a slope of one; hard ones do not show whether they are calibrated.
    weight = 0.0 if np.all((f == 0) | (f == 1)) else 1.0
    spread = _spread_of_residuals(Y, np.concatenate([f, f]), weights, weight, f)
    return f.mean(axis=0), spread


def _expected_by_held_out(
    f: Posteriors, posteriors: ArrayLike, codes: ArrayLike, prevalence: ArrayLike | None
) -> tuple[Prevalences, _Spread | None]:
    """Expected prevalence and spread if each class has the posteriors of its held-out items."""
    n_classes = f.shape[1]
    predicted, labels = _checked(posteriors, n_classes), np.asarray(codes, dtype=np.int64)
    if labels.shape != predicted.shape[:1]:
        raise DataError(
            f"held-out items need a label each, got posteriors {predicted.shape} and "
            f"labels {labels.shape}"
        )
    sizes = np.bincount(labels, minlength=n_classes)
    if len(sizes) > n_classes or sizes.min() == 0:
        raise DataError(f"held-out items need labels of each class, codes 0 to {n_classes - 1}")
    expected = (
        _estimated_prevalence(f, predicted, labels)
        if prevalence is None
        else np.asarray(prevalence, dtype=np.float64)
    )
    Y, weights = np.eye(n_classes)[labels], (expected / sizes)[labels, np.newaxis]
    weight = _regression_weight(Y, predicted, weights)
    return expected, _spread_of_residuals(Y, predicted, weights, weight, f)


def _estimated_prevalence(f: Posteriors, predicted: Posteriors, labels: Codes) -> Prevalences:
    """PACC's estimate, shrunk to the held-out items' prevalence in proportion to its variance."""
    from quantshift.quantifiers.counting.adjusted import PACC

    sizes = np.bincount(labels)
    quantifier = PACC().fit_posteriors(predicted, labels)
    rates = quantifier.rates_
    # The smallest change of the mean posteriors that a change of prevalence causes.
    signal = np.linalg.svd(rates - rates.mean(axis=1, keepdims=True), compute_uv=False)[-2] ** 2
    noise = float(predicted.var(axis=0).max()) * (1 / sizes.min() + 1 / len(f))
    trust = signal / (signal + noise / PREVALENCE_VARIANCE) if signal > 0 else 0.0
    return np.asarray(trust * quantifier.aggregate(f) + (1 - trust) * sizes / len(labels))


def _checked(posteriors: ArrayLike, n_classes: int | None = None) -> Posteriors:
    # Imported here: it compiles, and most judges give verdicts instead of scores.
    from quantshift.classify.posteriors import check_posteriors

    return check_posteriors(posteriors, n_classes)


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
    check_level(level)
    if target not in TARGETS:
        raise unknown_name("target", target, TARGETS)


def _regression_weight(
    Y: NDArray[Any], predicted: Posteriors, weights: NDArray[np.float64]
) -> float:
    """Slope of Y on the predictions, the same for all classes so that estimates sum to one."""
    centred = predicted - (weights * predicted).sum(axis=0)
    total = float((weights * centred**2).sum())
    if total <= CONSTANT:
        return 0.0
    return float(np.clip((weights * Y * centred).sum() / total, 0.0, 1.0))
