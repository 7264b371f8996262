"""Audits step by step: label some items, look, label more; the interval is valid at every look.

An interval for a fixed number of labels is valid with 95% probability if you look once. Anybody who
looks after every 20 labels and stops when they like the result is wrong far more often. A
confidence sequence is valid at all looks at once: with probability `level` the share lies between
the limits after *every* number of labels, so that you may stop at any time, for whatever reason.

The method bets against each candidate m of the share. Label t is Y_t, 1 if it is of the class, and
if the share among all N items is m, an item drawn at random from those not yet labelled is of the
class with probability

    mu_t = (N m - Y_1 - ... - Y_(t-1)) / (N - t + 1)

The capital, multiplied by 1 + lambda_t (Y_t - mu_t) at every label, has a constant expectation if m
is true, whatever the bets lambda_t, as long as they depend on earlier labels only; it exceeds
1 / (1 - level) at *any* time with probability 1 - level at most (Ville's inequality). The limits
enclose the candidates whose capital has never been that large. Several bets are placed at once,
different fractions of the highest possible stake on either side, and their mean capital counts. So
nothing has to be known about the share, its variance or the time of stopping.

Scores f of all N items can only help: with a weight w_t from earlier labels,
Y_t - w_t f_t has the expectation mu_t - w_t * (mean of f over the items not yet labelled), which is
known, and varies less if the scores are good. This is prediction-powered inference, valid at every
look and for any scores. The share is that among the N items themselves: once all are labelled, the
limits coincide. Without N the items are assumed to be drawn from a large population.

`benchmarks/audit_sequential.py` measures coverage at all looks and the price in width.

For labels that are only counted, `counted_sequence` gives such limits in closed form: those of the
candidates whose likelihood is not too small compared with its mean under Jeffreys's prior
(Robbins).

References: I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by
betting", JRSS B 86 (2024), sections 4 and 5 (without replacement); H. Robbins, "Statistical methods
related to the law of the iterated logarithm", Annals of Mathematical Statistics 41 (1970).
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, xlogy

from quantshift.base.types import Reals
from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError, check_level
from quantshift.prevalence.bounded import BoundedShares

FRACTIONS = np.geomspace(0.005, 0.95, 16)
"""Fractions of the highest possible stake, on either side; each bet starts with equal capital."""

CANDIDATES = 1000
"""The number of steps of the grid of candidate shares: a limit is exact to one step."""

TRUST, TRUSTED_LABELS = 0.5, 10.0
"""The weight of the scores starts at TRUST, as if it were known from so many labels."""

CONSTANT = 1e-12
"""Scores with a variance below this differ only by rounding."""


@dataclass(frozen=True)
class ConfidenceSequence(BoundedShares):
    """Limits after every number of labels, all valid at once with probability `level`.

    prevalence, low, high: after t labels in row t - 1, shape (n_labels, n_classes); each class on
        its own. The limits never move apart.
    weight: how much the posteriors contribute after the last label, from 0 (plain counting) to 1.
    n_items: the size of the sample; None: a large population.
    """

    level: float
    weight: float
    n_items: int | None

    @property
    def n_labels(self) -> int:
        """The number of labels so far."""
        return len(self.low)

    @property
    def half_width(self) -> float:
        """Half the current width, of the class with the widest limits."""
        return float((self.high[-1] - self.low[-1]).max()) / 2

    def reached(self, precision: float) -> int | None:
        """The number of labels after which the limits were within `precision`; None: not yet."""
        within_precision = np.flatnonzero(self.width.max(axis=1) <= 2 * precision)
        return int(within_precision[0]) + 1 if len(within_precision) else None

    def labels_needed(self, precision: float) -> int:
        """About how many labels in total until the limits are `precision` to either side.

        Widths are assumed to fall like those of a mean: as the square root of
        1 / n_labels - 1 / n_items.
        """
        reached = self.reached(precision)
        if reached is not None:
            return reached
        finite_sample = 0.0 if self.n_items is None else 1 / self.n_items
        current = 1 / self.n_labels - finite_sample
        reciprocal = finite_sample + current * (precision / self.half_width) ** 2
        most = math.inf if self.n_items is None else self.n_items
        return int(min(math.ceil(1 / reciprocal), most))


def counted_sequence(seen: float, n: int, *, level: float) -> tuple[float, float]:
    """Limits of the share of a class that `seen` of n labels have; valid at every n at once.

    The labels are independent. seen: also a sum of n independent numbers from 0 to 1; the limits
    are then those of their mean.

    >>> low, high = counted_sequence(90, 100, level=0.95)
    >>> round(low, 3), round(high, 3)
    (0.772, 0.971)
    """
    if not n:
        return 0.0, 1.0
    mean = betaln(seen + 0.5, n - seen + 0.5) - math.log(math.pi)
    bound = mean + math.log(1 - level)

    def excess(share: float) -> float:
        return float(xlogy(seen, share) + xlogy(n - seen, 1 - share) - bound)

    # Late: it takes a tenth of a second. To rounding, also next to 0.
    from scipy.optimize import brentq

    find = partial(brentq, excess, xtol=1e-300, rtol=4 * np.finfo(np.float64).eps)
    middle, least = seen / n, 1e-12
    low = 0.0 if middle <= least else find(least, middle)
    high = 1.0 if middle >= 1 - least else find(middle, 1 - least)
    return low, high


def confidence_sequence(
    codes: ArrayLike,
    n_classes: int,
    *,
    n_items: int | None = None,
    posteriors: ArrayLike | None = None,
    items: ArrayLike | None = None,
    level: float = 0.95,
) -> ConfidenceSequence:
    """Limits of the prevalence that are valid after every label, however long the audit goes on.

    codes: classes of items drawn at random without replacement, in the order in which they were
        labelled (that of the sheet).
    n_items: the size of the sample they were drawn from; None: a large population.
    posteriors, items: of all items of the sample, (n_items, n_classes), by any model, right or
        wrong; and the positions of the labelled ones, in the same order as the codes.
    """
    labels = np.asarray(codes, dtype=np.int64)
    if labels.ndim != 1 or not len(labels):
        raise DataError("a confidence sequence needs a vector of at least one label")
    if labels.min() < 0 or labels.max() >= n_classes:
        raise DataError(f"codes of labels must be from 0 to {n_classes - 1}")
    check_level(level)
    f = None
    if posteriors is not None:
        f = check_posteriors(posteriors, n_classes)
        if items is None:
            raise UserError("posteriors need the positions of the labelled items: give items too")
        n_items = len(f)
    if n_items is not None and n_items < len(labels):
        raise DataError(f"{len(labels)} labels of {n_items} items; label each item once")
    rows = np.arange(0) if items is None else np.asarray(items, dtype=np.int64)
    if f is not None and (
        rows.shape != labels.shape
        or rows.min() < 0
        or rows.max() >= len(f)
        or len(np.unique(rows)) < len(rows)
    ):
        raise DataError(f"labelled items must be distinct positions from 0 to {len(f) - 1}")
    Y = np.eye(n_classes)[labels]
    prevalence = np.cumsum(Y, axis=0) / np.arange(1, len(Y) + 1)[:, np.newaxis]
    low, high = np.empty_like(Y), np.empty_like(Y)
    # With two classes, the limits of the first follow from those of the second.
    classes_to_bound = (1,) if n_classes == 2 else range(n_classes)
    weights = []
    for k in classes_to_bound:
        scores = Scores.none(len(Y)) if f is None else Scores.of(f[:, k], rows, Y[:, k])
        weights.append(float(scores.weight[-1]))
        low[:, k], high[:, k] = _limits(Y[:, k], n_items, scores, level)
        if f is not None:
            prevalence[:, k] += scores.weight * (scores.all_mean - scores.mean)
        prevalence[:, k] = np.clip(prevalence[:, k], low[:, k], high[:, k])
    if n_classes == 2:
        prevalence[:, 0] = 1 - prevalence[:, 1]
        low[:, 0], high[:, 0] = 1 - high[:, 1], 1 - low[:, 1]
    total = prevalence.sum(axis=1, keepdims=True)
    return ConfidenceSequence(prevalence / total, low, high, level, max(weights), n_items)


def capital(
    labels: Reals, m: ArrayLike, n_items: int | None = None, scores: "Scores | None" = None
) -> Reals:
    """The capital of bets against the shares m after each label, (n_labels, n_candidates).

    labels: 0 or 1, (n_labels,), or for every candidate its own, (n_labels, n_candidates). The
    capital at the true share exceeds 1 / alpha at any time with probability alpha at most.
    """
    y = np.asarray(labels, dtype=np.float64)
    used_scores = Scores.none(len(y)) if scores is None else scores
    candidates = np.atleast_1d(np.asarray(m, dtype=np.float64))
    logs = np.zeros((2, len(FRACTIONS), len(candidates)))
    capitals = np.empty((len(y), len(candidates)))
    seen: Any = 0.0
    for t, label in enumerate(y):
        n_left = math.inf if n_items is None else n_items - t
        mu = candidates if n_items is None else (n_items * candidates - seen) / n_left
        logs += _growth(label, mu, used_scores, t)
        capitals[t] = _mean_capital(logs)
        seen = seen + label
    return capitals


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one class at every label.

    weight: of the score, from earlier labels; labelled: the score of the labelled item; remaining:
    mean over the items not yet labelled; least, most, variance: over all items. mean: over the
    labelled items, including this one; all_mean: over all items.
    """

    weight: Reals
    labelled: Reals
    remaining: Reals
    least: float
    most: float
    mean: Reals
    all_mean: float
    variance: float = 0.0

    @classmethod
    def none(cls, n_labels: int) -> "Scores":
        """Items without scores: all weights are zero."""
        nothing = np.zeros(n_labels)
        return cls(nothing, nothing, nothing, 0.0, 0.0, nothing, 0.0)

    @classmethod
    def of(cls, f: Reals, rows: NDArray[np.int64], y: Reals, *, trust: float = TRUST) -> "Scores":
        """Scores f of all items; rows: the labelled ones, in order; y: whether of the class.

        The weight is the slope of labels on scores, from earlier labels, between 0 and 1. trust:
        its value before there are any.
        """
        labelled, n_before = f[rows], np.arange(len(rows))
        before = np.cumsum(labelled) - labelled
        spread, weight = float(f.var()), np.zeros(len(rows))
        if spread > CONSTANT:
            centred = labelled - f.mean()
            share = (0.5 + np.cumsum(y) - y) / (1 + n_before)
            products = TRUSTED_LABELS * spread * trust + np.cumsum(centred * (y - share))
            squares = TRUSTED_LABELS * spread + np.cumsum(centred**2)
            weight = np.clip(np.concatenate([[trust], (products / squares)[:-1]]), 0.0, 1.0)
        return cls(
            weight=weight,
            labelled=labelled,
            remaining=(f.sum() - before) / (len(f) - n_before),
            least=float(f.min()),
            most=float(f.max()),
            mean=np.cumsum(labelled) / (1 + n_before),
            all_mean=float(f.mean()),
            variance=spread,
        )


def _growth(label: Any, mu: Reals, scores: Scores, t: int) -> Reals:
    """Logarithms by which each bet on each candidate grows, (2, n_fractions, n_candidates).

    Candidates that the labels have made impossible are rejected at once (infinite growth).
    """
    weight = scores.weight[t]
    centre = mu - weight * scores.remaining[t]
    gain = label - weight * scores.labelled[t] - centre
    # The largest possible distances of an item below and above the expectation.
    below = np.maximum(centre + weight * scores.most, 1e-12)
    above = np.maximum(1 - weight * scores.least - centre, 1e-12)
    stakes = np.stack([1 / below, -1 / above])[:, np.newaxis] * FRACTIONS[:, np.newaxis]
    grown = np.log1p(np.maximum(stakes * gain, -1 + 1e-12))
    return np.where((mu < -1e-9) | (mu > 1 + 1e-9), np.inf, grown)


def _mean_capital(logs: Reals) -> Reals:
    flat = logs.reshape(-1, logs.shape[-1])
    top = flat.max(axis=0)
    rejected = np.isinf(top)
    finite = np.where(rejected, 0.0, top)
    mean = np.exp(np.minimum(flat - finite, 0.0)).mean(axis=0)
    return np.where(rejected, np.inf, mean * np.exp(np.minimum(finite, 600.0)))


def _limits(y: Reals, n_items: int | None, scores: Scores, level: float) -> tuple[Reals, Reals]:
    """The limits after every label: around the candidates that were never rejected."""
    if n_items is not None and n_items <= CANDIDATES:
        grid = np.arange(n_items + 1) / n_items
    else:
        grid = np.linspace(0.0, 1.0, CANDIDATES + 1)
    candidates_left = np.arange(len(grid))
    logs = np.zeros((2, len(FRACTIONS), len(grid)))
    low, high = np.zeros(len(y)), np.ones(len(y))
    exact = n_items is not None and n_items <= CANDIDATES
    seen = 0.0
    for t, label in enumerate(y):
        n_left = math.inf if n_items is None else n_items - t
        m = grid[candidates_left]
        mu = m if n_items is None else (n_items * m - seen) / n_left
        logs += _growth(label, mu, scores, t)
        seen += label
        possible = _mean_capital(logs) < 1 / (1 - level)
        if not possible.any():
            # The sequence has failed, or the share lies between two candidates: keep the best.
            possible[np.argmin(_mean_capital(logs))] = True
        first, last = np.flatnonzero(possible)[[0, -1]]
        candidates_left, logs = candidates_left[first : last + 1], logs[:, :, first : last + 1]
        # A limit between two candidates is put at the outer one, which is rejected.
        low[t] = grid[candidates_left[0]] if exact else grid[max(candidates_left[0] - 1, 0)]
        high[t] = (
            grid[candidates_left[-1]]
            if exact
            else grid[min(candidates_left[-1] + 1, len(grid) - 1)]
        )
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high)
    if n_items is None:
        return low, high
    # Labelled items bound the share exactly; limits that contradict this were wrong by chance.
    counts, n_labels = np.cumsum(y), np.arange(1, len(y) + 1)
    least, most = counts / n_items, 1 - (n_labels - counts) / n_items
    wrong = (np.maximum(low, least) > np.minimum(high, most)) | (low > high)
    low, high = np.maximum(low, least), np.minimum(high, most)
    return np.where(wrong, least, low), np.where(wrong, most, high)
