"""LEIP: label the surest items first, and let their classes correct the others.

The surest items of a sample, as large a part of it as the least recall of a class on the held-out
items, are counted as predicted. The others follow in order of falling confidence: each posterior is
corrected by the shares counted so far, over the training prevalence, and the likeliest class gains
an item. With the shares at the end all posteriors are corrected once more, and the likeliest
classes are counted.

Items that are equally sure are labelled together, so that the order of items does not matter.

Reference: Y. Zhang, G. Batista and S. Kanhere, "Label shift estimation with incremental prior
update", SDM 2025.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.compiled import compiled
from quantshift.quantifiers.counting import hard_predictions
from quantshift.quantifiers.estimator import AbstractWithoutOptions, Diagnostics, class_means
from quantshift.types import Codes, Indices, Posteriors, Prevalences
from quantshift.weights import Weights

Reals = NDArray[np.float64]

ROUNDING = 1e-12
"""Part of a sample that is none."""


class LEIP(AbstractWithoutOptions):
    """Label shift Estimation with Incremental Prior update: the surest items are labelled first.

    `counted` is the share of the sample that is counted as predicted.
    """

    assumption: ClassVar[str] = (
        "P(X|Y) is the same in the sample (prior shift), sure predictions are right"
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
    confidence, w = np.empty(size), np.ones(size)
    counts, gained, ratio = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for i in range(n_samples):
        total = 0.0
        for j in range(size):
            confidence[j] = -pool[index[i, j]].max()
            if weights is not None:
                w[j] = weights[index[i, j]]
            total += w[j]
        order = np.argsort(confidence)
        counts[:] = 0.0
        ratio[:] = 1.0
        done, start = 0.0, 0
        while start < size:
            end = start
            gained[:] = 0.0
            # Those at or above the quantile of the confidence are counted as predicted.
            sure = done < (retained - ROUNDING) * total
            while end < size and confidence[order[end]] == confidence[order[start]]:
                j = order[end]
                if w[j] > 0.0:
                    gained[_likeliest(pool[index[i, j]], ratio)] += w[j]
                end += 1
            for k in range(n_classes):
                counts[k] += gained[k]
                done += gained[k]
            if sure:
                counted[i] = done / total
            if not done < (retained - ROUNDING) * total and done > 0.0:
                for k in range(n_classes):
                    ratio[k] = max(counts[k] / done, ROUNDING) / prior[k]
            start = end
        for j in range(size):
            p_hat[i, _likeliest(pool[index[i, j]], ratio)] += w[j] / total
    return p_hat, counted


@compiled
def _likeliest(posterior: Reals, ratio: Reals) -> int:
    """The class with the largest corrected posterior, the first of equals."""
    best, most = 0, posterior[0] * ratio[0]
    for k in range(1, len(ratio)):
        if posterior[k] * ratio[k] > most:
            best, most = k, posterior[k] * ratio[k]
    return best
