"""A classifier of the user's labels, for code that fits classifiers on codes 0, 1, ..."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags

from quantshift.base.types import Codes, Posteriors
from quantshift.classify.classifier import fit_classifier, predict_posteriors


class CodedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Codes outside, labels inside, so that `class_weight={"spam": 2}` keeps its meaning.

    classes: the label of each code. A frozen classifier is used as it is.
    """

    classes_: Codes
    classifier_: Any

    def __init__(self, classifier: BaseEstimator | None, classes: NDArray[Any]) -> None:
        self.classifier = classifier
        self.classes = classes

    def fit(self, X: Any, codes: Codes, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier on the labels of the codes."""
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.classifier_ = fit_classifier(self.classifier, X, self.classes[codes], weights)
        self.classes_ = np.arange(len(self.classes))
        return self

    def predict_proba(self, X: Any) -> Posteriors:
        """Posteriors in the order of the codes."""
        return predict_posteriors(self.classifier_, X, self.classes)

    def __sklearn_tags__(self) -> Any:
        """Sparse features are accepted if the classifier accepts them."""
        tags = super().__sklearn_tags__()
        if self.classifier is not None:
            tags.input_tags.sparse = get_tags(self.classifier).input_tags.sparse
        return tags
