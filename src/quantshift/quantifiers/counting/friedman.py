"""Friedman's two proposals: counting above the training prevalence, and debiasing the mean.

Friedman's method counts, for every class, the items whose posterior is at least the class's share
of the training items, v_k(x) = [s_k(x) >= prior_k]. With M[k, l] the mean of v_k among held-out
items of class l, the prevalence is the p on the simplex with the smallest |M p - mean of v|. For
two classes the threshold makes tpr - fpr largest if posteriors are calibrated.

DeBias stretches the distance of the mean posterior from the training prevalence, more so the less
informative the posteriors are: p = prior + (mean s - prior) / V, V = var(s) / (prior (1 - prior)).
With calibrated posteriors it is PACC.

References: J. Friedman, "Class counts in future unlabeled samples", MIT CSAIL Big Data Event, 2014;
D. Tasche, "Comments on Friedman's method for class distribution estimation", 2024.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.scores import matched_columns
from quantshift.optimise.quadratic import minimise_on_simplex, row_products
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractWithoutOptions, Diagnostics, same_for_all
from quantshift.quantifiers.base.means import class_means, sample_means
from quantshift.quantifiers.base.one_against_rest import normalised_shares
from quantshift.quantifiers.base.tags import CALIBRATED_PRIOR_SHIFT, PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.counting.adjusted import DIAGNOSTICS as ADJUSTED
from quantshift.quantifiers.counting.adjusted import SINGULAR


class Friedman(AbstractWithoutOptions):
    """Friedman's Method: adjusted counts of posteriors above the training prevalence.

    `residual` is |M p - counts|. If the rates do not determine the prevalence, the estimate is the
    one closest to the training prevalence (`fallback`).

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
    >>> from quantshift.quantifiers import Friedman
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = Friedman().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['fallback', 'residual']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.ONE_AGAINST_REST)
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"residual": "float", "fallback": "bool"}
    )

    rates_: Reals
    gram_: Reals
    is_open_: bool

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        rates = class_means(self._represent(posteriors).T, codes, weights)
        apart = np.linalg.svd(rates[:, 1:] - rates[:, :1], compute_uv=False)
        self.rates_, self.gram_ = rates, rates.T @ rates
        self.is_open_ = bool(apart[-1] < SINGULAR)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return np.asarray(self.prior_[:, np.newaxis] <= posteriors.T, dtype=np.float64)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        rates = self.rates_
        counts = sample_means(representation, index, weights)
        p_hat = minimise_on_simplex(self.gram_, row_products(counts, rates), self.prior_)
        unexplained = counts - row_products(p_hat, rates.T)
        return p_hat, {
            "residual": np.sqrt((unexplained**2).sum(axis=1)),
            "fallback": same_for_all(self.is_open_, len(index)),
        }


class DeBias(AbstractWithoutOptions):
    """Friedman's DeBias: the mean posterior, moved away from the training prevalence.

    Falls back to PCC if the held-out posteriors of a class are constant (`fallback`). `separation`
    is the smallest V of all classes. More than two classes: one against the rest.

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
    >>> from quantshift.quantifiers import DeBias
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = DeBias().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    tags: ClassVar[Tags] = replace(
        CALIBRATED_PRIOR_SHIFT, reads=Reading.JOINT, smooth=True, trusts_posteriors=True
    )
    diagnostics: ClassVar[Mapping[str, str]] = ADJUSTED

    centre_: Reals
    spread_: Reals
    divisor_: Reals
    least_spread_: float

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        scores = matched_columns(posteriors)
        mean = np.average(scores, axis=0, weights=weights)
        variance = np.average((scores - mean) ** 2, axis=0, weights=weights)
        self.centre_ = self.prior_[1:] if len(self.prior_) == 2 else self.prior_
        self.spread_ = variance / (self.centre_ * (1 - self.centre_))
        self.divisor_ = np.where(self.spread_ < SINGULAR, 1.0, self.spread_)
        self.least_spread_ = float(self.spread_.min())

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        binary = posteriors.shape[1] == 2
        return np.ascontiguousarray(posteriors[:, 1:].T) if binary else posteriors.T

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        means = sample_means(representation, index, weights)
        exact = self.centre_ + (means - self.centre_) / self.divisor_
        shares = np.minimum(np.maximum(exact, 0.0), 1.0)
        return normalised_shares(shares, self.prior_), {
            "clipped": np.asarray((shares != exact).any(axis=1)),
            "separation": same_for_all(self.least_spread_, len(index)),
            "fallback": same_for_all(self.least_spread_ < SINGULAR, len(index)),
        }
