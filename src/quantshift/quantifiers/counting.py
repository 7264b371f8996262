"""Counting: the classifier's predictions, averaged over the sample.

Reference: G. Forman, "Counting positives accurately despite inaccurate classification", ECML 2005
(CC); A. Bella et al., "Quantification via probability estimators", ICDM 2010 (PCC).
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from quantshift.compiled import compiled
from quantshift.quantifiers.estimator import (
    SAMPLE_ONLY,
    AbstractAggregative,
    Diagnostics,
    sample_means,
)
from quantshift.types import Codes, Indices, Posteriors, Prevalences
from quantshift.weights import Weights


class CC(AbstractAggregative):
    """Classify and Count: the share of items predicted to be of each class."""

    assumption: ClassVar[str] = "the classifier's errors cancel out in the sample"
    crisp: ClassVar[bool] = True
    adjusts: ClassVar[bool] = False
    interval_note: ClassVar[str] = SAMPLE_ONLY

    def __init__(self, classifier: BaseEstimator | None = None) -> None:
        self.classifier = classifier

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        pass

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return hard_predictions(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return sample_means(representation, index, weights), {}


class PCC(AbstractAggregative):
    """Probabilistic Classify and Count: the mean posterior."""

    assumption: ClassVar[str] = "P(Y|X) is the same in the sample (pure covariate shift)"
    adjusts: ClassVar[bool] = False
    interval_note: ClassVar[str] = SAMPLE_ONLY

    def __init__(self, classifier: BaseEstimator | None = None) -> None:
        self.classifier = classifier

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        pass

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return np.ascontiguousarray(posteriors.T)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return sample_means(representation, index, weights), {}


def hard_predictions(posteriors: Posteriors) -> NDArray[np.float64]:
    """Indicators of the most probable class (the first of ties), shape (n_classes, n_items)."""
    return _hard_predictions(np.ascontiguousarray(posteriors))


@compiled
def _hard_predictions(posteriors: Posteriors) -> NDArray[np.float64]:
    n_items, n_classes = posteriors.shape
    indicators = np.zeros((n_classes, n_items))
    for i in range(n_items):
        winner, largest = 0, posteriors[i, 0]
        for k in range(1, n_classes):
            # Written without a branch, which the processor would mispredict for many items.
            is_larger = posteriors[i, k] > largest
            winner = k if is_larger else winner
            largest = posteriors[i, k] if is_larger else largest
        indicators[winner, i] = 1.0
    return indicators
