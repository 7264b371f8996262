"""Counting: the classifier's own answers, averaged over the sample.

Reference: G. Forman, "Counting positives accurately despite inaccurate classification", ECML 2005
(CC); A. Bella et al., "Quantification via probability estimators", ICDM 2010 (PCC).
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from quantshift.quantifiers.estimator import AbstractAggregative, Diagnostics, sample_means
from quantshift.types import Codes, Indices, Posteriors, Prevalences
from quantshift.weights import Weights


class CC(AbstractAggregative):
    """Classify and Count: the share of items predicted to be of each class."""

    assumption: ClassVar[str] = "the classifier's errors cancel out in the sample"
    crisp: ClassVar[bool] = True
    adjusts: ClassVar[bool] = False

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
    """Indicators of the most probable class (the first of equals), shape (n_classes, n_items)."""
    if posteriors.shape[1] == 2:
        first, second = posteriors[:, 0], posteriors[:, 1]
        indicators = np.empty((2, len(posteriors)))
        np.greater_equal(first, second, out=indicators[0])
        np.greater(second, first, out=indicators[1])
        return indicators
    winners = posteriors.argmax(axis=1)
    return np.asarray(winners == np.arange(posteriors.shape[1])[:, np.newaxis], dtype=np.float64)
