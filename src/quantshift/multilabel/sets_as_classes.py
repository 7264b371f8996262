"""Sets of labels as classes, for any quantifier of several classes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from quantshift.base.domains import Count
from quantshift.base.types import Reals
from quantshift.errors import DataError
from quantshift.multilabel.label_tables import LabelTable
from quantshift.multilabel.multilabel_quantifier import AbstractMultilabel, Samples
from quantshift.multilabel.set_posteriors import distinct_sets
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractQuantifier, Quantifier
from quantshift.quantifiers.likelihood.sld import SLD


class SetsAsClasses(AbstractMultilabel):
    """Every set of labels that occurs is a class; rare sets share one.

    The share of a label is the sum of the shares of the sets that have it. This is right if the
    items of a set look as they did in training, however the shares of the sets have changed; but
    the classifier needs enough items of each set.

    quantifier: any quantifier of several classes, cloned; None: SLD.
    fewest: items of a set that make it a class of its own. The others are one class, whose labels
        have the shares that they have among its training items.

    Fitted state: `labels_`, `prior_`, `quantifier_`, `label_shares_` (of each label in each class).

    >>> import numpy as np
    >>> X = np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]], 10, axis=0)
    >>> SetsAsClasses().fit(X, X > 1).predict(X[20:]).round(1)
    array([0.5, 1. ])
    """

    quantifier_: AbstractQuantifier
    label_shares_: Reals

    def __init__(self, quantifier: Quantifier | None = None, *, fewest: Count = 5) -> None:
        self.quantifier = quantifier
        self.fewest = fewest

    def _fit(self, X: Any, table: LabelTable, weights: Weights | None) -> None:
        _, item_sets, _ = distinct_sets(table.has)
        counts = np.bincount(item_sets)
        frequent = np.flatnonzero(counts >= self.fewest)
        n_rare = int(counts[counts < self.fewest].sum())
        if 0 < n_rare < self.fewest and len(frequent) > 1:
            # Too few items for a class: the rarest of the other sets joins them.
            frequent = np.delete(frequent, np.argmin(counts[frequent]))
        codes = np.searchsorted(frequent, item_sets)
        codes[~np.isin(item_sets, frequent)] = len(frequent)
        kinds, codes = np.unique(codes, return_inverse=True)
        if len(kinds) < 2:
            raise DataError(
                f"no set of labels is on {self.fewest} items or more: set `fewest` lower, or use "
                "TiltedLabelSets"
            )
        self.label_shares_ = np.array(
            [
                np.average(
                    table.has[codes == kind],
                    axis=0,
                    weights=None if weights is None else weights[codes == kind],
                )
                for kind in range(len(kinds))
            ]
        )
        quantifier = SLD() if self.quantifier is None else self.quantifier
        self.quantifier_ = clone(quantifier).fit(X, codes, weights)

    def _predict(self, X: Any, samples: Samples | None, weights: ArrayLike | None) -> Reals:
        return np.asarray(
            self.quantifier_.predict(X, samples, sample_weight=weights) @ self.label_shares_
        )
