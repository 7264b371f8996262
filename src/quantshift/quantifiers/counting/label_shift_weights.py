"""Importance weights under label shift: BBSE and RLLS.

With C[i, j] the share of held-out items that are predicted i and labelled j, and q the shares of
the sample that are predicted to be of each class, label shift implies q = C w, where w[j] is how
many times as frequent class j is in the sample as in training. BBSE takes the w >= 0 with the
smallest |C w - q|. RLLS takes w = 1 + theta, theta >= -1, with the smallest

    |C theta - (q - c)| + rho |theta|,   c = C 1,
    rho = alpha 3 (2 L / (3 n) + sqrt(2 L / n)),   L = log(2 K / delta),

which stays near 1 if n held-out items leave C uncertain. Both terms are norms, not squares: either
theta = 0, or theta minimises |C theta - b|^2 + mu |theta|^2 for the mu with
mu |theta| = rho |C theta - b|, and mu is found by bisection on this path of ridge regressions.

The prevalence is prior x w, scaled to sum to one. Within the simplex BBSE is ACC (hard) or PACC
(soft).

References: Z. Lipton et al., "Detecting and correcting for label shift with black box predictors",
ICML 2018; K. Azizzadenesheli et al., "Regularized learning for domain adaptation under label
shifts", ICLR 2019.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.compiled import compiled
from quantshift.base.domains import NotNegative, Seed, Share
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.items.predictions import hard_predictions
from quantshift.items.samples import Samples
from quantshift.optimise.active_set import minimum_above
from quantshift.optimise.quadratic import row_products
from quantshift.prevalence.weights import Weights, total_of
from quantshift.quantifiers.base.estimator import AbstractWithoutOptions, Diagnostics
from quantshift.quantifiers.base.means import class_means, sample_means
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags

NEARNESS = 1e-10
"""Curvature towards the start, relative to the largest, if C does not determine the weights."""

OPEN = 1e-6
"""If a singular value of C is below this, C does not determine the weights."""

TOLERANCE = 1e-12
"""Width of the interval of log(mu) at which the bisection ends."""


class AbstractLabelShiftWeights(AbstractWithoutOptions):
    """What BBSE and RLLS share: weights of the classes, and prevalences from them."""

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.JOINT, smooth=True)
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"residual": "float", "fallback": "bool"}
    )

    joint_: Reals
    is_open_: bool

    def importance_weights(
        self, X: Any, samples: Samples | None = None, *, sample_weight: ArrayLike | None = None
    ) -> Reals:
        """How many times as frequent each class is in the sample as in training.

        The estimated prevalence over that of the training items, shape (n_classes,), or (n_samples,
        n_classes) with `samples`. From posteriors: `aggregate(posteriors) / prior_`. A classifier
        can be adapted to the sample by training it again with these weights for its items.
        """
        return np.asarray(self.predict(X, samples, sample_weight=sample_weight) / self.prior_)

    @abstractmethod
    def _predictions(self, posteriors: Posteriors) -> Reals:
        """The predictions that are counted, (n_classes, n_items)."""

    @abstractmethod
    def _weights(self, counts: Prevalences) -> Reals:
        """Weights of the classes, not negative, for the counts of each sample."""

    def _learn_joint(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        """Learn the shares of held-out items by predicted class and true class."""
        self.joint_ = class_means(self._predictions(posteriors).T, codes, weights) * self.prior_
        self.is_open_ = bool(np.linalg.svd(self.joint_, compute_uv=False)[-1] < OPEN)

    def _nearest(self, counts: Prevalences) -> Reals:
        """The w >= 0 with the smallest |C w - count|, for each row of counts."""
        gram = self.joint_.T @ self.joint_
        # If C does not determine the weights, a ridge term chooses those closest to 1.
        ridge = NEARNESS * gram.diagonal().max() if self.is_open_ else 0.0
        return _bbse(gram + ridge * np.eye(len(gram)), row_products(counts, self.joint_) + ridge)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return self._predictions(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        counts = sample_means(representation, index, weights)
        w = self._weights(counts)
        shares = w * self.prior_
        total = shares.sum(axis=1, keepdims=True)
        all_zero = np.asarray(total[:, 0] <= 0)
        p_hat = np.where(
            all_zero[:, np.newaxis], self.prior_, shares / np.where(total > 0, total, 1)
        )
        return p_hat, {
            "residual": np.linalg.norm(row_products(w, self.joint_.T) - counts, axis=1),
            "fallback": all_zero | self.is_open_,
        }


class BBSEHard(AbstractLabelShiftWeights):
    """Black Box Shift Estimation (hard): class weights that explain the predicted classes.

    If the held-out items do not determine the weights, those closest to 1 are used (`fallback`).

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
    >>> from quantshift.quantifiers import BBSEHard
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = BBSEHard().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['fallback', 'residual']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.PREDICTIONS)

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self._learn_joint(posteriors, codes, weights)

    def _predictions(self, posteriors: Posteriors) -> Reals:
        return hard_predictions(posteriors)

    def _weights(self, counts: Prevalences) -> Reals:
        return self._nearest(counts)


class BBSESoft(AbstractLabelShiftWeights):
    """Black Box Shift Estimation (soft): class weights that explain the mean posterior.

    If the held-out items do not determine the weights, those closest to 1 are used (`fallback`).

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
    >>> from quantshift.quantifiers import BBSESoft
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = BBSESoft().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['fallback', 'residual']
    """

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self._learn_joint(posteriors, codes, weights)

    def _predictions(self, posteriors: Posteriors) -> Reals:
        return posteriors.T

    def _weights(self, counts: Prevalences) -> Reals:
        return self._nearest(counts)


class RLLS(AbstractLabelShiftWeights):
    """Regularised Learning under Label Shifts: class weights that explain the sample, kept near 1.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    hard : bool
        Count predicted classes, as in the paper, instead of the mean posterior.
    alpha : float
        The penalty as a fraction of the bound on the held-out items' error; 0 is BBSE, and 1 is the
        theorem's own, which leaves all weights at 1 unless there are very many items.
    delta : float
        Probability with which the bound may fail.
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
    >>> from quantshift.quantifiers import RLLS
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = RLLS().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['fallback', 'residual']
    """

    rho_: float

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        hard: bool = False,
        alpha: NotNegative = 0.01,
        delta: Share = 0.05,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.hard = hard
        self.alpha = alpha
        self.delta = delta
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self._learn_joint(posteriors, codes, weights)
        n = total_of(weights, len(codes))
        bound = math.log(2 * posteriors.shape[1] / self.delta)
        self.rho_ = self.alpha * 3 * (2 * bound / (3 * n) + math.sqrt(2 * bound / n))

    def _predictions(self, posteriors: Posteriors) -> Reals:
        return hard_predictions(posteriors) if self.hard else posteriors.T

    def _weights(self, counts: Prevalences) -> Reals:
        above = counts - self.joint_.sum(axis=1)
        squares = np.asarray((above**2).sum(axis=1))
        gram = self.joint_.T @ self.joint_
        return _rlls(gram, row_products(above, self.joint_), squares, self.rho_)


@compiled
def _bbse(gram: Reals, pulls: Reals) -> Reals:
    """The w >= 0 that minimises w . gram w / 2 - pull . w, for each row of pulls."""
    w = np.empty(pulls.shape)
    root = np.empty(gram.shape)
    for i in range(len(pulls)):
        minimum_above(gram, pulls[i], 0.0, w[i], root)
    return w


@compiled
def _rlls(gram: Reals, pulls: Reals, squares: Reals, rho: float) -> Reals:
    """1 + theta of each sample, where theta >= -1 has the smallest penalised residual.

    gram: C'C; pulls: C'b of each sample; squares: |b|^2.
    """
    n_samples, n_classes = pulls.shape
    largest = 0.0
    for k in range(n_classes):
        largest = max(largest, gram[k, k])
    w = np.ones((n_samples, n_classes))
    theta, root = np.empty(n_classes), np.empty((n_classes, n_classes))
    ridged = gram.copy()
    for i in range(n_samples):
        pull = pulls[i]
        steepest = 0.0
        for k in range(n_classes):
            steepest += pull[k] ** 2
        # At theta = 0 the residual falls by |C'b| / |b| per unit, and the penalty grows by rho.
        if steepest <= rho * rho * squares[i]:
            continue
        low, high = math.log(NEARNESS * largest), math.log(largest) + 40.0
        while True:
            middle = (low + high) / 2 if rho > 0.0 else low
            mu = math.exp(middle)
            for k in range(n_classes):
                ridged[k, k] = gram[k, k] + mu
            minimum_above(ridged, pull, -1.0, theta, root)
            size, residual = 0.0, squares[i]
            for k in range(n_classes):
                size += theta[k] ** 2
                residual -= 2.0 * theta[k] * pull[k]
                for j in range(n_classes):
                    residual += theta[k] * gram[k, j] * theta[j]
            if rho == 0.0 or high - low < TOLERANCE:
                break
            if mu * mu * size < rho * rho * max(residual, 0.0):
                low = middle
            else:
                high = middle
        for k in range(n_classes):
            w[i, k] = max(1.0 + theta[k], 0.0)
    return w
