"""Counting: the classifier's predictions, averaged over the sample.

Reference: G. Forman, "Counting positives accurately despite inaccurate classification", ECML 2005
(CC); A. Bella et al., "Quantification via probability estimators", ICDM 2010 (PCC).
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.classify.classifier import Classifier
from quantshift.items.predictions import predicted_classes
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.base.means import sample_means
from quantshift.quantifiers.base.tags import SAMPLE_ONLY, Reading, Tags


class CC(AbstractAggregative):
    """Classify and Count: the share of items predicted to be of each class.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.

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
    >>> from quantshift import CC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = CC().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [0.9, 0.1]])
    """

    recommended: ClassVar[str] = "a baseline: predictions are counted"
    tags: ClassVar[Tags] = Tags(
        assumption="the classifier's errors cancel out in the sample",
        reads=Reading.PREDICTIONS,
        adjusts=False,
        interval_note=SAMPLE_ONLY,
    )

    def __init__(self, classifier: Classifier | None = None) -> None:
        self.classifier = classifier

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        pass

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return predicted_classes(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return predicted_shares(representation, index, len(self.classes_), weights), {}


class PCC(AbstractAggregative):
    """Probabilistic Classify and Count: the mean posterior.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.

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
    >>> from quantshift import PCC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = PCC().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    """

    recommended: ClassVar[str] = "only the mix of items has changed, not what they mean"
    tags: ClassVar[Tags] = Tags(
        assumption="P(Y|X) is the same in the sample (pure covariate shift)",
        plain_assumption="items that look alike have the label as often as in training",
        reads=Reading.JOINT,
        smooth=True,
        adjusts=False,
        interval_note=SAMPLE_ONLY,
    )

    def __init__(self, classifier: Classifier | None = None) -> None:
        self.classifier = classifier

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        pass

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return posteriors.T

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return sample_means(representation, index, weights), {}


def predicted_shares(
    predicted: NDArray[np.uint16], index: Indices, n_classes: int, weights: Weights | None = None
) -> Prevalences:
    """The share of each class among the predictions of each sample, (n_samples, n_classes)."""
    if weights is None:
        return _predicted_shares(predicted, np.ascontiguousarray(index), n_classes)
    codes, w = predicted[0][index], weights[index]
    counts = np.stack([((codes == k) * w).sum(axis=1) for k in range(n_classes)], axis=1)
    return np.asarray(counts / w.sum(axis=1, keepdims=True))


@compiled
def _predicted_shares(predicted: NDArray[np.uint16], index: Indices, n_classes: int) -> Prevalences:
    n_samples, size = index.shape
    codes = predicted[0]
    shares = np.empty((n_samples, n_classes))
    # Two counters, because consecutive items are often of one class, whose counter is then busy.
    even, odd = np.empty(n_classes, dtype=np.int64), np.empty(n_classes, dtype=np.int64)
    for i in range(n_samples):
        items = index[i].view(np.uint64)  # unsigned, which spares a check for negative positions
        if n_classes == 2:
            positive = 0
            for j in range(size):
                positive += codes[items[j]]
            shares[i, 0], shares[i, 1] = (size - positive) / size, positive / size
            continue
        even[:] = 0
        odd[:] = 0
        for j in range(0, size - 1, 2):
            even[codes[items[j]]] += 1
            odd[codes[items[j + 1]]] += 1
        if size % 2 == 1:
            even[codes[items[size - 1]]] += 1
        for k in range(n_classes):
            shares[i, k] = (even[k] + odd[k]) / size
    return shares
