"""Strata of items to plan labels in: what rates to expect in them, and how to divide labels.

In strata with rates r_h and shares W_h, labels do most where W_h * sqrt(r_h (1 - r_h)) is large
(Neyman): few in strata that are all of one class, many where the verdict leaves the class open. But
a large stratum that seems clean may hide some items of the class, and the interval allows for one
in the stratum whose labels stand for the most items. So no stratum has less than a certain share of
its items labelled, the share for which the interval to expect is the narrowest.

A rare class is found at one end of a score. The strata begin there with a few items and grow by a
constant factor; beyond a third of the items the rest is one stratum. Rates to plan with come from
the labels so far (by a curve through the strata, see `_smooth`), else from scores between 0 and 1
as they are, else from a guess that falls from stratum to stratum as these grow.

If items have weights, the share is that of the weight, and labels do most where there is much of
it: each verdict is divided into bands of weight (`BANDS`), and W_h is the share of the weight.
Within a stratum a label counts for less the more weights differ (Kish).

References: J. Neyman, "On the two different aspects of the representative method", 1934; L. Kish,
"Survey Sampling", 1965.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from quantshift.base.types import Codes, Reals
from quantshift.errors import UserError
from quantshift.judging.items.judged_items import JudgedItems
from quantshift.judging.items.verdict_cells import votes
from quantshift.labelling.strata import stratified

GROWTH = 1.8
"""How many times as large a stratum of scores is as the one before."""
SMALLEST = 20
"""The fewest items of a stratum."""
RARE = 0.1
"""If the rarer class has a larger share, strata of scores are alike in size."""
N_QUANTILES = 5
LARGEST_TAIL = 0.3
"""Beyond this share of the items the rest is one stratum."""
GUESSED_ERROR = 0.1
"""Share of wrong verdicts to plan with while nothing is known."""
PRIOR_LABELS = 2.0
"""How many labels the guess counts for, in addition to the labels so far."""
SHARED_LABELS = 20.0
"""How many labels the error rate of all verdicts counts for in the rates of each.

If each verdict had the rate of its own labels, one with no error by chance would get hardly any
more labels and one with some errors many more: errors would be underestimated."""
FEWEST = 10
"""The fewest labels of a plan, and the fewest that show a share."""
LEAST = 3.0
"""The fewest labels of a stratum."""
SAME = 1e-6
"""Relative difference of probabilities that are the same but for rounding on a sheet."""
BANDS = 3
"""Bands of weight that a verdict is divided into, each with as much of the weight."""
FLOORS = np.concatenate([[0.0], np.geomspace(0.003, 0.5, 16)])
"""Standard deviations that strata are taken to have at least; the best of them is used."""


@dataclass(frozen=True, eq=False)
class PlanStrata:
    """Strata of all items.

    codes: the stratum of every item; sizes: numbers of items; names: the strata in words.
    rates: the shares of the classes to expect in them, (n_strata, n_classes).
    cautious: the rates by which labels are divided among the strata, nearer to each other.
    of_items: whether the share is that among these items, which is known once all are labelled.
    weights: that of every item, of mean 1; None if each counts the same.
    """

    codes: Codes
    sizes: NDArray[np.int64]
    names: tuple[str, ...]
    rates: Reals
    cautious: Reals
    of_items: bool = False
    weights: Reals | None = None

    @cached_property
    def total_weights(self) -> Reals:
        """The weight of the items of each stratum."""
        sums = np.bincount(self.codes, weights=self.weights, minlength=len(self.sizes))
        return np.asarray(sums, dtype=np.float64)

    @property
    def shares(self) -> Reals:
        """The share of each stratum in the weight of all items."""
        return np.asarray(self.total_weights / self.total_weights.sum())

    @cached_property
    def worth(self) -> Reals:
        """How many labels of equal weight a label of each stratum counts for, (n_strata,)."""
        if self.weights is None:
            return np.ones(len(self.sizes))
        squares = np.bincount(self.codes, weights=self.weights**2, minlength=len(self.sizes))
        return np.asarray(self.total_weights**2 / np.maximum(squares * self.sizes, 1e-300))

    @cached_property
    def n_items(self) -> float:
        """How many items of equal weight all of them count for."""
        w = self.weights
        return float(self.sizes.sum() if w is None else w.sum() ** 2 / (w**2).sum())

    def allocated(self, total: float, had: NDArray[np.int64], level: float) -> Reals:
        """How many labels each stratum gets; `had` of them exist already."""
        spread = np.sqrt((self.cautious * (1 - self.cautious)).max(axis=1))
        most = np.asarray(self.sizes, dtype=np.float64)
        least = np.asarray(np.minimum(np.maximum(had, LEAST), most), dtype=np.float64)
        scale = self.sizes if self.weights is None else self.shares / np.sqrt(self.worth)
        candidates = [
            _between(scale * np.maximum(spread, floor), total, least, most) for floor in FLOORS
        ]
        return min(candidates, key=lambda n: self.half_width(n, level))

    def half_width(self, n: Reals, level: float) -> float:
        """Half the width to expect with n labels in the strata, for the class with the widest."""
        interval = stratified(
            self.shares,
            (n * self.worth)[:, np.newaxis] * self.rates,
            self.n_items,
            level=level,
            covered=n / np.maximum(self.sizes, 1) if self.of_items else None,
        )
        return float(interval.width.max() / 2)

    def together(self) -> "PlanStrata":
        """All in one stratum: plain counting."""
        rates = self.total_weights @ self.rates / self.total_weights.sum()
        return replace(
            self,
            codes=np.zeros_like(self.codes),
            sizes=self.sizes.sum(keepdims=True),
            names=("all items",),
            rates=rates[np.newaxis],
            cautious=rates[np.newaxis],
        )

    def in_bands(self) -> "PlanStrata":
        """The same with strata divided by the weight of their items."""
        if self.weights is None:
            return self
        codes = np.zeros_like(self.codes)
        names: list[str] = []
        parents: list[int] = []
        for h, name in enumerate(self.names):
            rows = np.flatnonzero(self.codes == h)
            bands = _bands(self.weights[rows])
            codes[rows] = len(names) + bands
            n_bands = int(bands.max()) + 1
            names += [
                f"{name}, weight {_ends(self.weights[rows][bands == b])}" if n_bands > 1 else name
                for b in range(n_bands)
            ]
            parents += [h] * n_bands
        return replace(
            self,
            codes=codes,
            sizes=np.bincount(codes),
            names=tuple(names),
            rates=self.rates[parents],
            cautious=self.cautious[parents],
        )


def strata_by_verdict(items: JudgedItems) -> PlanStrata:
    """A stratum for each verdict of the first judge that occurs."""
    labelled, y, K = items.is_labelled, items.labels, items.n_classes
    values, codes = np.unique(items.given_verdicts[:, 0], return_inverse=True)
    codes = codes.ravel()
    right = votes(values, items.class_of_verdicts(0), K)
    wrong = 1 - right[codes[labelled], y[labelled]].sum() / max(labelled.sum(), 1)
    part = labelled.sum() / (labelled.sum() + PRIOR_LABELS)
    error = part * wrong + (1 - part) * GUESSED_ERROR
    guess = (1 - error) * right + error / K
    counts = _labels_of(items, codes, len(values))
    return PlanStrata(
        codes=codes,
        sizes=np.bincount(codes),
        names=tuple(f"verdict {items.meaning.verdicts[0][v]}" for v in values),
        rates=_shares(counts + PRIOR_LABELS * guess),
        cautious=_shares(counts + SHARED_LABELS * guess),
        weights=items.weights,
    )


def strata_by_score(items: JudgedItems, *, random_so_far: bool) -> PlanStrata:
    """Strata of scores; random_so_far: whether the labels so far look like those of random items.

    If it is known with what probability each label was drawn, strata are used in which all labels
    have the same probability.
    """
    score, labelled, drawn = items.raw_score, items.is_labelled, items.inclusion_of_labels
    assert score is not None
    if items.n_classes != 2:
        raise UserError("a plan by score is for two classes: plan by verdict")
    for share in _expected_shares(items, score, random_so_far=random_so_far):
        edges, rare_high, geometric = _edges(score, share)
        codes = np.searchsorted(edges, score, side="right")
        if drawn is None or constant_within(drawn, codes[labelled]):
            break
    used, codes = np.unique(codes, return_inverse=True)
    codes = codes.ravel()
    ends = np.concatenate([[score.min()], edges, [score.max()]])
    if score.min() >= 0 and score.max() <= 1:
        rate = np.asarray(np.bincount(codes, weights=score) / np.bincount(codes))
    elif geometric:
        steps = np.arange(len(used))[::-1] if rare_high else np.arange(len(used))
        rate = np.asarray(0.5 / GROWTH**steps)
        rate = rate if rare_high else 1 - rate
    else:
        rate = np.asarray((np.arange(len(used)) + 0.5) / len(used))
    sizes = np.bincount(codes)
    guess = np.column_stack([1 - rate, rate])
    expected = _labels_of(items, codes, len(used)) + PRIOR_LABELS * guess
    rates = _smooth(expected, sizes) if labelled.any() else _shares(expected)
    return PlanStrata(
        codes=codes,
        sizes=sizes,
        names=tuple(f"score {ends[u]:.4g} to {ends[u + 1]:.4g}" for u in used),
        rates=rates,
        cautious=rates,
        weights=items.weights,
    )


def _labels_of(items: JudgedItems, codes: Codes, n_strata: int) -> NDArray[np.int64]:
    """Labels so far by stratum and class."""
    K, labelled = items.n_classes, items.is_labelled
    flat = np.bincount(codes[labelled] * K + items.labels[labelled], minlength=n_strata * K)
    return flat.reshape(-1, K)


def _shares(counts: Reals) -> Reals:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _smooth(counts: Reals, sizes: NDArray[np.int64]) -> Reals:
    """Rates of two classes that rise or fall with the score: a logistic curve through the strata.

    If each stratum had the rate of its own labels, one in which by chance none of a class was seen
    would get hardly any more labels, and one with some of it many more: what the labels say
    together would be too low.
    """
    below = np.cumsum(sizes) - sizes / 2
    height = logit(below / sizes.sum())
    X = np.column_stack([np.ones_like(height), height / max(float(np.abs(height).max()), 1e-9)])
    n, seen = counts.sum(axis=1), counts[:, 1]
    share = float(seen.sum() / n.sum())
    b = np.array([float(logit(np.clip(share, 1e-6, 1 - 1e-6))), 0.0])
    for _ in range(50):
        rate = expit(X @ b)
        slope = X.T @ (seen - n * rate)
        curvature = (X * (n * rate * (1 - rate))[:, np.newaxis]).T @ X + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        b = b + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-9))
        if float(np.abs(step).max()) < 1e-8:
            break
    rate = expit(X @ b)
    return np.column_stack([1 - rate, rate])


def _expected_shares(items: JudgedItems, score: Reals, *, random_so_far: bool) -> list[float]:
    """Shares of class 1 that strata may be made for, the most likely first.

    Labels show the share if they are random ones, or if it is known how they were drawn. Otherwise
    strata are those of a plan without labels.
    """
    labelled, y, drawn = items.is_labelled, items.labels, items.inclusion_of_labels
    share = 0.01
    if score.min() >= 0 and score.max() <= 1:
        share = float(score.mean())
    elif items.verdicts is not None:
        share = float((items.verdicts[:, 0] == 1).mean())
    if labelled.sum() < FEWEST:
        return [share]
    if drawn is not None:
        seen = float((y[labelled] / drawn).sum() / (1 / drawn).sum())
        return [share, seen, 0.01, 0.99, 0.5]
    if not random_so_far:
        return [share]
    return [float((y[labelled].sum() + share) / (labelled.sum() + 1))]


def constant_within(probabilities: Reals, codes: Codes) -> bool:
    """Whether the probabilities within each stratum are the same."""
    groups = [probabilities[codes == code] for code in np.unique(codes)]
    return all(group.max() <= group.min() * (1 + SAME) for group in groups)


def _bands(weights: Reals) -> Codes:
    """The band of each item, from the lightest; items of one weight are in one band."""
    codes = np.unique(weights, return_inverse=True)[1].ravel()
    total = np.cumsum(np.bincount(codes, weights=weights))
    # A band begins where those below have their part of the weight.
    below = np.concatenate([[0.0], total[:-1]]) / max(float(total[-1]), 1e-300)
    band = np.minimum((below * BANDS).astype(np.int64), BANDS - 1)
    return np.asarray(np.unique(band[codes], return_inverse=True)[1]).ravel()


def _ends(weights: Reals) -> str:
    """The least and the most weight of items; weights are in units of the mean."""
    return f"{weights.min():.2g} to {weights.max():.2g} of the mean"


def _edges(score: Reals, share: float) -> tuple[Reals, bool, bool]:
    """The edges between strata; whether high scores mean the rarer class; whether it is rare."""
    high = share < 0.5
    if min(share, 1 - share) > RARE:
        return np.unique(np.quantile(score, np.arange(1, N_QUANTILES) / N_QUANTILES)), high, False
    part, parts = max(SMALLEST / len(score), 0.001), []
    while part < LARGEST_TAIL:
        parts.append(part)
        part *= GROWTH
    at = 1 - np.array(parts[::-1]) if high else np.array(parts)
    return np.unique(np.quantile(score, at)), high, True


def _between(proportions: Reals, total: float, least: Reals, most: Reals) -> Reals:
    """Numbers in these proportions, within bounds, with the given sum as far as they allow."""
    low, high = 0.0, float(most.max() / max(proportions[proportions > 0].min(initial=1.0), 1e-300))
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(middle * proportions, least, most).sum() < total:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(high * proportions, least, most))
