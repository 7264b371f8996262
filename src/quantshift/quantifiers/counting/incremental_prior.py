"""LEIP: label the most confident items first, and use their classes to correct the others.

The most confident items of a sample are counted as predicted; their share is the lowest recall of a
class on the held-out items. The others follow in order of decreasing confidence: each posterior is
corrected by the shares counted so far, divided by the training prevalence, and the most probable
class gains an item. With the final shares all posteriors are corrected once more, and the most
probable classes are counted.

Items with equal confidence are labelled together, so that the order of items does not matter.

Reference: Y. Zhang, G. Batista and S. Kanhere, "Label shift estimation with incremental prior
update", SDM 2025.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.items.predictions import hard_predictions
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractWithoutOptions, Diagnostics
from quantshift.quantifiers.base.means import class_means
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.counting.thresholds import kth_smallest

ROUNDING = 1e-12
"""Share of a sample that is treated as zero."""


class LEIP(AbstractWithoutOptions):
    """Label shift Estimation with Incremental Prior update: confident items are labelled first.

    `counted` is the share of the sample that is counted as predicted.

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
    >>> from quantshift.quantifiers import LEIP
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = LEIP().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['counted']
    """

    tags: ClassVar[Tags] = replace(
        PRIOR_SHIFT,
        assumption=f"{PRIOR_SHIFT.assumption}, confident predictions are correct",
        plain_assumption=f"{PRIOR_SHIFT.plain_assumption}, confident predictions are correct",
        reads=Reading.JOINT,
        smooth=True,
        trusts_posteriors=True,
    )
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType({"counted": "float"})

    retained_: float

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        recalls = np.diag(class_means(hard_predictions(posteriors).T, codes, weights))
        self.retained_ = float(recalls.min())

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return np.ascontiguousarray(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        p_hat, counted = _labelled(representation, index, self.prior_, self.retained_, weights)
        return p_hat, {"counted": counted}


@compiled
def _labelled(
    pool: Reals, index: Indices, prior: Reals, retained: float, weights: Weights | None
) -> tuple[Reals, Reals]:
    """Prevalences, and the share counted as predicted, of each sample."""
    n_samples, size = index.shape
    n_classes = len(prior)
    p_hat, counted = np.zeros((n_samples, n_classes)), np.zeros(n_samples)
    doubt, w = np.empty(size), np.ones(size)
    counts, gained, ratio = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    order = np.empty(size, dtype=np.int64)
    for i in range(n_samples):
        items = index[i]
        total = 0.0
        for j in range(size):
            sure = pool[items[j], 0]
            for k in range(1, n_classes):
                sure = max(sure, pool[items[j], k])
            doubt[j] = -sure
            if weights is not None:
                w[j] = weights[items[j]]
            total += w[j]
        counts[:] = 0.0
        ratio[:] = 1.0
        done, needed = 0.0, (retained - ROUNDING) * total
        # Items at or above the quantile of the confidence are counted as predicted.
        n_sure = _in_order(doubt, w, needed, weights is not None, order)
        for position in range(n_sure):
            j = order[position]
            if w[j] > 0.0:
                counts[_likeliest(pool, items[j], ratio)] += w[j]
        if n_sure > 0:
            for k in range(n_classes):
                done += counts[k]
            counted[i] = done / total
            if done > 0.0:
                _set_ratio(counts, done, prior, ratio)
        start = n_sure
        while start < size:
            end = start
            gained[:] = 0.0
            while end < size and doubt[order[end]] == doubt[order[start]]:
                j = order[end]
                if w[j] > 0.0:
                    gained[_likeliest(pool, items[j], ratio)] += w[j]
                end += 1
            for k in range(n_classes):
                counts[k] += gained[k]
                done += gained[k]
            if done > 0.0:
                _set_ratio(counts, done, prior, ratio)
            start = end
        for j in range(size):
            p_hat[i, _likeliest(pool, items[j], ratio)] += w[j]
        for k in range(n_classes):
            p_hat[i, k] /= total
    return p_hat, counted


@compiled
def _in_order(
    doubt: Reals, w: Reals, needed: float, weighted: bool, order: NDArray[np.int64]
) -> int:
    """Set an order of the items: those counted as predicted, then the others by increasing doubt.

    Returns how many are counted: the fewest whose weight is at least `needed`, plus all that are as
    confident as the last of them.
    """
    size = len(doubt)
    if weighted:
        order[:] = np.argsort(doubt)
        done, n_sure = 0.0, 0
        while n_sure < size and (
            done < needed or (n_sure > 0 and doubt[order[n_sure]] == doubt[order[n_sure - 1]])
        ):
            done += w[order[n_sure]]
            n_sure += 1
        return n_sure
    n_needed = min(max(math.ceil(needed), 0), size)
    limit = kth_smallest(doubt.copy(), n_needed - 1) if n_needed else -np.inf
    n_sure, end = 0, size
    for j in range(size):
        if doubt[j] <= limit:
            order[n_sure] = j
            n_sure += 1
        else:
            end -= 1
            order[end] = j
    rest = order[n_sure:].copy()
    by_doubt = np.argsort(doubt[rest])
    for position in range(len(rest)):
        order[n_sure + position] = rest[by_doubt[position]]
    return n_sure


@compiled
def _set_ratio(counts: Reals, done: float, prior: Reals, ratio: Reals) -> None:
    """Set the shares counted so far, divided by the training prevalence."""
    for k in range(len(ratio)):
        ratio[k] = max(counts[k] / done, ROUNDING) / prior[k]


@compiled
def _likeliest(pool: Reals, item: int, ratio: Reals) -> int:
    """The class with the largest corrected posterior (the first of ties)."""
    best, most = 0, pool[item, 0] * ratio[0]
    for k in range(1, len(ratio)):
        corrected = pool[item, k] * ratio[k]
        if corrected > most:
            best, most = k, corrected
    return best
