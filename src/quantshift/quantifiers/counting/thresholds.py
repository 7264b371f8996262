"""Adjusted counting at other thresholds than that of the classifier: T50, MAX, X, MS, MS2.

Items whose score is at least t are counted as positive. With the rates tpr(t) and fpr(t) of the
held-out items, the adjusted count of a sample at t is

    p(t) = (share of the sample at or above t - fpr(t)) / (tpr(t) - fpr(t)),  clipped to [0, 1].

Every distinct held-out score with tpr(t) != fpr(t) is a candidate. A method takes its preferred
candidate (the lowest of ties) or the median of p(t) over many. If there is no candidate, the items
predicted to be positive are counted (CC). With more than two classes: one against the rest.

References: G. Forman, "Quantifying trends accurately despite classifier error and class imbalance",
KDD 2006; G. Forman, "Quantifying counts and costs via classification", DMKD 2008.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.scores import matched_columns
from quantshift.prevalence.simplex import of_positive
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractWithoutOptions, Diagnostics, same_for_all
from quantshift.quantifiers.base.one_against_rest import (
    normalised_shares,
    scored_members,
    scored_predictions,
)
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.counting.adjusted import DIAGNOSTICS

SEPARATED = 0.25
"""tpr - fpr above which MS2 uses a threshold."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Thresholds, ascending, and the held-out items at or above each of them.

    true, false: weight of the positive and of the other items at or above; positive, negative:
    their total weights. Integer weights stay integers, so that ties are exact.
    """

    thresholds: Reals
    true: Reals
    false: Reals
    positive: float
    negative: float

    def __getitem__(self, chosen: Any) -> "Candidates":
        return Candidates(
            self.thresholds[chosen],
            self.true[chosen],
            self.false[chosen],
            self.positive,
            self.negative,
        )

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def tpr(self) -> Reals:
        """Rate of the positive items that are at or above each."""
        return self.true / self.positive

    @property
    def fpr(self) -> Reals:
        """Rate of the other items that are at or above each."""
        return self.false / self.negative


class AbstractThreshold(AbstractWithoutOptions):
    """What threshold methods share: candidates, and the median of adjusted counts at some of them.

    Diagnostics: `clipped` (whether the share of a class was clipped), `separation` (mean tpr - fpr
    of the thresholds in use, the smallest of all classes), `fallback` (whether a class without a
    threshold was counted by CC).
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.ONE_AGAINST_REST, positive_class=True)
    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    thresholds_: tuple[Reals, ...]
    tpr_: tuple[Reals, ...]
    fpr_: tuple[Reals, ...]
    separation_: float

    @abstractmethod
    def _used(self, candidates: Candidates) -> NDArray[np.bool_] | slice:
        """Which of the candidates, at least one, are used."""

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        members = scored_members(codes, posteriors.shape[1])
        by_class = [
            _candidates(scores, is_member, weights)
            for scores, is_member in zip(matched_columns(posteriors).T, members, strict=True)
        ]
        used = [
            candidates[self._used(candidates)] if len(candidates) else candidates
            for candidates in by_class
        ]
        self.thresholds_ = tuple(candidates.thresholds for candidates in used)
        self.tpr_ = tuple(candidates.tpr for candidates in used)
        self.fpr_ = tuple(candidates.fpr for candidates in used)
        gaps = [
            (tpr - fpr).mean() if len(tpr) else 0.0
            for tpr, fpr in zip(self.tpr_, self.fpr_, strict=True)
        ]
        self.separation_ = float(min(1.0, *gaps))

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        """How many of the thresholds in use each score is at or above, (n_scores, n_items)."""
        ranks = np.empty((len(self.thresholds_), len(posteriors)), dtype=np.int32)
        first = posteriors.shape[1] - len(ranks)  # only the second of two classes has a score
        rows = np.ascontiguousarray(posteriors)
        for k, thresholds in enumerate(self.thresholds_):
            if len(thresholds):
                _rank(rows, first + k, thresholds, ranks[k])
            else:
                ranks[k] = scored_predictions(posteriors)[k]
        return ranks

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        n_samples = len(index)
        shares = np.empty((len(representation), n_samples))
        clipped, fallback = np.zeros(n_samples, dtype=np.bool_), False
        for k, (tpr, fpr) in enumerate(zip(self.tpr_, self.fpr_, strict=True)):
            if not len(tpr):
                tpr, fpr, fallback = np.ones(1), np.zeros(1), True
            if len(tpr) == 1 and weights is None:
                _adjust_at_one(representation[k], index, tpr, fpr, shares[k], clipped)
            else:
                _sweep(representation[k], index, tpr, fpr, weights, shares[k], clipped)
        binary = len(shares) == 1
        return of_positive(shares[0]) if binary else normalised_shares(shares.T, self.prior_), {
            "clipped": clipped,
            "separation": same_for_all(self.separation_, n_samples),
            "fallback": same_for_all(fallback, n_samples),
        }


class T50(AbstractThreshold):
    """Threshold 50: adjusted counting at the threshold whose tpr is closest to one half.

    The second of two classes is the positive one. More classes: one against the rest.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import T50
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = T50().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    def _used(self, candidates: Candidates) -> NDArray[np.bool_] | slice:
        return _least(np.abs(2 * candidates.true - candidates.positive))


class MAX(AbstractThreshold):
    """Method Max: adjusted counting at the threshold with the largest tpr - fpr.

    The second of two classes is the positive one. More classes: one against the rest.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import MAX
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = MAX().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    def _used(self, candidates: Candidates) -> NDArray[np.bool_] | slice:
        return _least(
            candidates.false * candidates.positive - candidates.true * candidates.negative
        )


class MethodX(AbstractThreshold):
    """Method X: adjusted counting at the threshold where 1 - tpr and fpr are closest.

    The second of two classes is the positive one. More classes: one against the rest.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import MethodX
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = MethodX().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    def _used(self, candidates: Candidates) -> NDArray[np.bool_] | slice:
        missed = (candidates.positive - candidates.true) * candidates.negative
        return _least(np.abs(missed - candidates.false * candidates.positive))


class MS(AbstractThreshold):
    """Median Sweep: the median of adjusted counts at all thresholds.

    More than two classes: one against the rest.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import MS
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = MS().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    def _used(self, candidates: Candidates) -> NDArray[np.bool_] | slice:
        return slice(None)


class MS2(AbstractThreshold):
    """Median Sweep 2: the median of adjusted counts at thresholds with tpr - fpr above 1/4.

    More than two classes: one against the rest.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import MS2
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = MS2().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    def _used(self, candidates: Candidates) -> NDArray[np.bool_] | slice:
        return np.asarray(candidates.tpr - candidates.fpr > SEPARATED)


def _candidates(
    scores: Reals, is_member: NDArray[np.bool_], weights: Weights | None = None
) -> Candidates:
    """The distinct scores at which the rates of the class and of the others differ."""
    thresholds, rank = np.unique(scores, return_inverse=True)
    w = np.ones(len(scores)) if weights is None else weights

    def at_or_above(chosen: NDArray[np.bool_]) -> Reals:
        counts = np.bincount(rank[chosen], w[chosen], len(thresholds)).astype(np.float64)
        return np.cumsum(counts[::-1])[::-1]

    true, false = at_or_above(is_member), at_or_above(~is_member)
    candidates = Candidates(thresholds, true, false, float(true[0]), float(false[0]))
    return candidates[candidates.tpr != candidates.fpr]


def _least(values: Reals) -> slice:
    """The first of the smallest values."""
    best = int(values.argmin())
    return slice(best, best + 1)


@compiled
def _rank(posteriors: Posteriors, k: int, thresholds: Reals, ranks: NDArray[np.int32]) -> None:
    """Set how many of the thresholds, in ascending order, each posterior of class k reaches."""
    if len(thresholds) == 1:
        for i in range(len(posteriors)):
            ranks[i] = posteriors[i, k] >= thresholds[0]
        return
    for i in range(len(posteriors)):
        score = posteriors[i, k]
        reached, beyond = 0, len(thresholds)
        while reached < beyond:
            middle = (reached + beyond) // 2
            if thresholds[middle] <= score:
                reached = middle + 1
            else:
                beyond = middle
        ranks[i] = reached


@compiled
def _sweep(
    ranks: NDArray[np.int32],
    index: Indices,
    tpr: Reals,
    fpr: Reals,
    weights: Weights | None,
    shares: Reals,
    clipped: NDArray[np.bool_],
) -> None:
    """Set the median over thresholds of each sample's adjusted counts, and mark clipped ones.

    ranks: number of thresholds, in ascending order, that each item of the pool is at or above.
    """
    n_samples, size = index.shape
    n = len(tpr)
    counts, values = np.empty(n + 1), np.empty(n)
    for i in range(n_samples):
        counts[:] = 0.0
        total = 0.0
        for j in range(size):
            w = 1.0 if weights is None else weights[index[i, j]]
            counts[ranks[index[i, j]]] += w
            total += w
        above = 0.0
        for t in range(n - 1, -1, -1):
            above += counts[t + 1]
            values[t] = (above / total - fpr[t]) / (tpr[t] - fpr[t])
        # Clipping keeps the order, so the middle values can be clipped afterwards.
        low = kth_smallest(values, (n - 1) // 2)
        high = low
        if n % 2 == 0:
            high = values[n // 2 :].min()
        clipped[i] |= low < 0.0 or high > 1.0
        shares[i] = (min(max(low, 0.0), 1.0) + min(max(high, 0.0), 1.0)) / 2


@compiled
def _adjust_at_one(
    ranks: NDArray[np.int32],
    index: Indices,
    tpr: Reals,
    fpr: Reals,
    shares: Reals,
    clipped: NDArray[np.bool_],
) -> None:
    """`_sweep` with one threshold and no weights: a sum takes less time than two counters."""
    n_samples, size = index.shape
    for i in range(n_samples):
        items = index[i].view(np.uint64)  # unsigned, which spares a check for negative positions
        above = 0
        for j in range(size):
            above += ranks[items[j]]
        exact = (above / size - fpr[0]) / (tpr[0] - fpr[0])
        clipped[i] |= exact < 0.0 or exact > 1.0
        shares[i] = min(max(exact, 0.0), 1.0)


@compiled
def kth_smallest(values: Reals, k: int) -> float:
    """The k-th smallest value (from 0), by Hoare's selection, which reorders the values."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return float(values[k])
