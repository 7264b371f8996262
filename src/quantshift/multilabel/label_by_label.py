"""Each label on its own, by any quantifier of two classes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from quantshift.base.types import Reals
from quantshift.multilabel.label_tables import LabelTable
from quantshift.multilabel.multilabel_quantifier import AbstractMultilabel, Samples
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractQuantifier, Quantifier
from quantshift.quantifiers.likelihood.sld import SLD


class LabelByLabel(AbstractMultilabel):
    """Each label on its own: does the item have the label or not?

    This is what users do without a method for several labels. It is right if the labels are
    independent. If they are not, a label whose share changes takes others with it, and what holds
    for one label alone no longer holds for these.

    quantifier: any quantifier, cloned for each label; None: SLD.

    Fitted state: `labels_`, `prior_`, `quantifiers_` (one for each label).

    >>> import numpy as np
    >>> X = np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]], 10, axis=0)
    >>> LabelByLabel().fit(X, X > 1).predict(X[20:]).round(1)
    array([0.5, 1. ])
    """

    quantifiers_: list[AbstractQuantifier]

    def __init__(self, quantifier: Quantifier | None = None) -> None:
        self.quantifier = quantifier

    def _fit(self, X: Any, table: LabelTable, weights: Weights | None) -> None:
        quantifier = SLD() if self.quantifier is None else self.quantifier
        self.quantifiers_ = [
            clone(quantifier).fit(X, has_label, weights) for has_label in table.has.T
        ]

    def _predict(self, X: Any, samples: Samples | None, weights: ArrayLike | None) -> Reals:
        estimates = [q.predict(X, samples, sample_weight=weights) for q in self.quantifiers_]
        return np.stack([estimate[..., 1] for estimate in estimates], axis=-1)
