"""CDE-Iterate: the threshold is updated by the class shares that it leads to.

A classifier trained with class shares pi and used where the shares are p should count items as
positive if their posterior is above the threshold at which false positives cost pi+ / pi- times
p- / p+ as much as false negatives. p is the share counted at the previous threshold; the first
threshold is 1/2.

Reference: J. Xue and G. Weiss, "Quantification and semi-supervised classification methods for
handling changes in class distribution", KDD 2009.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.domains import Count
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.classify.classifier import Classifier
from quantshift.classify.scores import matched_columns
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.base.one_against_rest import normalised_shares
from quantshift.quantifiers.base.tags import CALIBRATED_PRIOR_SHIFT, SAMPLE_ONLY, Reading, Tags


class CDE(AbstractAggregative):
    """Class Distribution Estimation, iterated: counts at a threshold that the counts determine.

    More than two classes: one against the rest.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    max_iter : int
        After this many thresholds the count is returned as it is, with `converged` False.

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
    >>> from quantshift.quantifiers import CDE
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = CDE().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['converged']
    """

    tags: ClassVar[Tags] = replace(
        CALIBRATED_PRIOR_SHIFT,
        assumption=f"{CALIBRATED_PRIOR_SHIFT.assumption}, errors cancel out",
        plain_assumption=f"{CALIBRATED_PRIOR_SHIFT.plain_assumption}, its errors cancel out",
        reads=Reading.ONE_AGAINST_REST,
        adjusts=False,
        interval_note=SAMPLE_ONLY,
    )
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType({"converged": "bool"})

    def __init__(self, classifier: Classifier | None = None, *, max_iter: Count = 100) -> None:
        self.classifier = classifier
        self.max_iter = max_iter

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        pass

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return np.ascontiguousarray(matched_columns(posteriors).T)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        prior = self.prior_[1:] if len(self.prior_) == 2 else self.prior_
        shares = np.empty((len(index), len(representation)))
        converged = np.ones(len(index), dtype=bool)
        w = None if weights is None else weights[index]
        for k, row in enumerate(representation):
            scores = row[index]
            threshold = np.full(len(index), 0.5)
            share = np.full(len(index), np.nan)
            moving = np.arange(len(index))
            for _ in range(self.max_iter):
                above = scores[moving] > threshold[moving, np.newaxis]
                if w is None:
                    counted = above.mean(axis=1)
                else:
                    counted = (above * w[moving]).sum(axis=1) / w[moving].sum(axis=1)
                still = counted != share[moving]
                share[moving] = counted
                moving = moving[still]
                if not len(moving):
                    break
                cost = prior[k] * (1 - share[moving])
                threshold[moving] = cost / (cost + (1 - prior[k]) * share[moving])
            shares[:, k] = share
            converged[moving] = False
        return normalised_shares(shares, self.prior_), {"converged": converged}
