"""MAPLS: SLD with a prior whose weight depends on how far the prevalence seems to have shifted.

The estimate is the maximum a posteriori under a Dirichlet prior with its mode at equal shares. Its
EM step is p_k <- l mean_j P(k | x_j) + (1 - l) / K, so that the prior is equivalent to
n (1 - l) / (l K) additional items of each class for a sample of n. With p the estimate without a
prior, pi the training prevalence, u equal shares and KL the Kullback-Leibler divergence,

    l = .9 f(KL(p, u), c) + .1 (1 - f(KL(p, pi), c)),     f(d, g) = g d / (1 + g d)
    c = g(1 - f(KL(pi, u), g(.2))),                       g(l) = 2 l / (1 - l)

A sample that seems to be far from equal shares is trusted; one that seems to be close is pulled
towards them. The authors take 100 steps of EM; here both maxima are exact (`mixture_likelihood`).

Reference: C. Ye et al., "Label shift estimation for class-imbalance problem: a Bayesian approach",
WACV 2024.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from quantshift.base.domains import Count, NotNegative, Seed
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.calibration.calibration import AUTO, Calibration, calibrates
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.optimise.mixture_likelihood import maximise_mixtures
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import Diagnostics
from quantshift.quantifiers.base.tags import CALIBRATED_PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.likelihood.sld import DIAGNOSTICS, AbstractLikelihood

LEAST_WEIGHT = 1e-6
"""Smallest weight of the sample relative to the prior. With equal shares in training and in the
sample the formula gives zero, which would leave the prior alone."""

CLOSEST = 1e-9
"""Bounds the weight of a training prevalence close to equal shares, which would be infinite."""


class MAPLS(AbstractLikelihood):
    """Maximum A Posteriori Label Shift: SLD pulled towards equal shares, less if it is far away.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    calibration : str, optional
        As in SLD.
    tol : float
        As in SLD; `iterations` counts the passes of both maxima.
    max_iter : int
        As in SLD; `iterations` counts the passes of both maxima.
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
    >>> from quantshift.quantifiers import MAPLS
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = MAPLS().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [0.9, 0.1]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['converged', 'iterations', 'sample_weight']
    """

    tags: ClassVar[Tags] = replace(CALIBRATED_PRIOR_SHIFT, reads=Reading.JOINT, smooth=True)
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {**DIAGNOSTICS, "sample_weight": "float"}
    )

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        calibration: Calibration = AUTO,
        tol: NotNegative = 1e-6,
        max_iter: Count = 1000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.calibration = calibration
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    def needs_held_out_posteriors(self) -> bool:
        """Only calibration needs them."""
        return calibrates(self.calibration)

    @property
    def shrinks(self) -> bool:
        """True, although not depending on the size of the sample."""
        return True

    def _choose_prior(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        pass

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "weights": weights}
        plain, first, _ = maximise_mixtures(representation, index, self.prior_, **options)
        weight = sample_weight(plain, self.prior_)
        sizes = index.shape[1] if weights is None else weights[index].sum(axis=1)
        added = sizes * (1 - weight) / (weight * len(self.prior_))
        p_hat, second, converged = maximise_mixtures(
            representation, index, self.prior_, added=added, **options
        )
        return p_hat, {
            "iterations": first + second,
            "converged": converged,
            "sample_weight": weight,
        }


def sample_weight(p_hat: Prevalences, prior: Prevalences) -> Reals:
    """The l of the formula for each estimate without a prior, (n_samples,)."""
    equal = np.full_like(prior, 1 / len(prior))
    trust = _rate(np.asarray(1 - _share(_divergence(prior, equal), _rate(np.asarray(0.2)))))
    far = _share(_divergence(p_hat, equal), trust)
    near = 1 - _share(_divergence(p_hat, prior), trust)
    return np.clip(0.9 * far + 0.1 * near, LEAST_WEIGHT, 1.0)


def _divergence(p: Reals, q: Reals) -> Reals:
    """KL(p, q), zero if rounding would make it negative."""
    return np.asarray(np.maximum((xlogy(p, p) - xlogy(p, q)).sum(axis=-1), 0.0))


def _share(divergence: Reals, rate: Reals) -> Reals:
    return np.asarray(rate * divergence / (1 + rate * divergence))


def _rate(share: Reals) -> Reals:
    """The rate at which a divergence of 1/2 has this share."""
    return np.asarray(2 * (1 / np.maximum(1 - share, CLOSEST) - 1))
