"""Means of posteriors and other representations: of samples, and of classes in training."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Indices, Posteriors
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.samples import gathered_means


def sample_means(
    representation: NDArray[Any], index: Indices, weights: Weights | None = None
) -> NDArray[np.float64]:
    """Mean representation of each sample, shape (n_samples, n_features)."""
    if weights is None:
        return gathered_means(representation, np.ascontiguousarray(index))
    w = weights[index]
    sums = np.stack([(row[index] * w).sum(axis=1) for row in representation], axis=1)
    return np.asarray(sums / w.sum(axis=1, keepdims=True))


def class_means(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> NDArray[np.float64]:
    """Mean posterior of class i among the items of class j, shape (n_classes, n_classes) [i, j]."""
    members = [codes == j for j in range(posteriors.shape[1])]
    if weights is None:
        return np.stack([posteriors[rows].mean(axis=0) for rows in members], axis=1)
    return np.stack([weights[rows] @ posteriors[rows] / weights[rows].sum() for rows in members], 1)
