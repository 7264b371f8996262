"""Ordered classes: counting and likelihood with a penalty on jumps between neighbouring classes.

The classes are assumed to be ordered as in `classes_`. The penalties are in `smoothness`. With two
classes there is no jump to penalise, and OrdinalACC is ACC, OrdinalPACC is PACC.

References: M. Bunse, A. Moreo, F. Sebastiani and M. Senz, "Regularization-based methods for ordinal
quantification", DMKD 38 (2024); M. Bunse, "qunfold: composable quantification and unfolding
methods in Python", LQ 2023.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from quantshift.base.domains import Count, NotNegative, Seed, Within
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.classify.calibration.calibration import AUTO, Calibration, calibrates
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.items.items import Items
from quantshift.optimise.quadratic import minimise_on_simplex, row_products
from quantshift.optimise.smoothness import (
    first_differences,
    penalised_likelihood,
    sample_weights,
    second_differences,
    smoothed_expectation,
)
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import (
    AbstractAggregative,
    AbstractWithoutOptions,
    Diagnostics,
)
from quantshift.quantifiers.base.tags import CALIBRATED_IN_WORDS, PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.counting.adjusted import ACC, PACC, adjust
from quantshift.quantifiers.likelihood.sld import SLD

SMOOTH_PREVALENCE = replace(
    PRIOR_SHIFT,
    assumption=f"{PRIOR_SHIFT.assumption}, the prevalence smooth",
    plain_assumption=f"{PRIOR_SHIFT.plain_assumption}, neighbouring classes have similar shares",
    ordered=True,
)
"""The tags of methods for ordered classes."""

MOST_ROWS = 1 << 14
"""The most items whose likelihoods are gathered at once."""


class AbstractSmoothlyAdjusted(AbstractWithoutOptions):
    """Counts that are adjusted with a penalty on jumps; a mixin for ACC and PACC."""

    tau: float
    rates_: NDArray[np.float64]

    _counts: Callable[[NDArray[Any], Indices, Weights | None], Prevalences]

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        super()._fit_aggregation(posteriors, codes, weights)  # type: ignore[safe-super]

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        counts = self._counts(representation, index, weights)
        return adjust_smoothly(counts, self.rates_, self.prior_, self.tau)


class OrdinalACC(AbstractSmoothlyAdjusted, ACC):
    """Ordinal Adjusted Classify and Count: ACC with a penalty on jumps between neighbours.

    The p on the simplex with the smallest |M p - q|^2 + tau |C p|^2, where C are second differences
    along the classes.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    tau : float
        Strength of the penalty; 0 is ACC.
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
    >>> from quantshift.quantifiers import OrdinalACC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = OrdinalACC().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    tags: ClassVar[Tags] = replace(SMOOTH_PREVALENCE, reads=Reading.PREDICTIONS)

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        tau: NotNegative = 1e-2,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state)
        self.tau = tau


class OrdinalPACC(AbstractSmoothlyAdjusted, PACC):
    """Ordinal Probabilistic Adjusted Classify and Count: PACC with a penalty on jumps.

    Like OrdinalACC, with mean posteriors in place of counts.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    tau : float
        Strength of the penalty; 0 is PACC.
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
    >>> from quantshift.quantifiers import OrdinalPACC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = OrdinalPACC().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    tags: ClassVar[Tags] = replace(SMOOTH_PREVALENCE, reads=Reading.JOINT, smooth=True)

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        tau: NotNegative = 1e-3,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state)
        self.tau = tau


class AbstractOrdinalLikelihood(AbstractAggregative):
    """What the likelihood methods share: the calibrated likelihood ratios of SLD.

    `sld_` is the plain method, fitted on the same items; subclasses have its parameters
    `calibration`, `tol` and `max_iter`.
    """

    tags: ClassVar[Tags] = replace(
        SMOOTH_PREVALENCE,
        assumption=f"{SMOOTH_PREVALENCE.assumption}, posteriors calibrated",
        plain_assumption=f"{SMOOTH_PREVALENCE.plain_assumption}, {CALIBRATED_IN_WORDS}",
        reads=Reading.JOINT,
        smooth=True,
    )

    calibration: Calibration
    tol: float
    max_iter: int
    sld_: SLD

    def needs_held_out_posteriors(self) -> bool:
        """Only calibration needs them."""
        return calibrates(self.calibration)

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        held_out = posteriors if len(posteriors) else None
        self.sld_ = SLD(
            calibration=self.calibration, tol=self.tol, max_iter=self.max_iter
        ).fit_items(Items(held_out, weights=weights), codes, classes=np.arange(len(self.classes_)))

    def refitter(self) -> Callable[[Indices], Self]:
        """The calibration keeps its kind and is refitted, starting from its current parameters."""
        check_is_fitted(self, "classes_")
        items, codes, refit_sld = self.held_out_, self.held_out_codes_, self.sld_.refitter()

        def refit(rows: Indices) -> Any:
            replicate = copy(self)
            replicate._set_training(items.take(rows), codes[rows], self.classes_)
            replicate.sld_ = refit_sld(rows)
            return replicate

        return refit

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return self.sld_._represent(posteriors)


class OrdinalSLD(AbstractOrdinalLikelihood):
    """Ordinal SLD: expectation maximisation with a smoothed prevalence after every step.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    order : int
        Every step's prevalence p becomes (1 - smoothing) p + smoothing poly(p), with poly the
        polynomial of that order closest to p; order 0 is the uniform prevalence. Without smoothing,
        or with an order of n_classes - 1 or more, it is SLD.
    smoothing : float
        See `order`.
    calibration : str, optional
        As in SLD.
    tol : float
        The steps end when no share changes by more than tol, or after max_iter steps, with
        `converged` False.
    max_iter : int
        See `tol`.
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
    >>> from quantshift import OrdinalSLD
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = OrdinalSLD().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['converged', 'iterations']
    """

    recommended: ClassVar[str] = "as for SLD, with classes that have an order"
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"iterations": "int", "converged": "bool"}
    )

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        order: Annotated[int, Within(least=0)] = 1,
        smoothing: Annotated[float, Within(least=0, most=1)] = 0.01,
        calibration: Calibration = AUTO,
        tol: NotNegative = 1e-8,
        max_iter: Count = 5000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.order = order
        self.smoothing = smoothing
        self.calibration = calibration
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        p_hat, steps, converged = smoothed_expectation(
            representation,
            index,
            self.prior_,
            order=self.order,
            smoothing=self.smoothing,
            tol=self.tol,
            max_iter=self.max_iter,
            weights=weights,
        )
        return p_hat, {"iterations": steps, "converged": converged}


class OrdinalLikelihood(AbstractOrdinalLikelihood):
    """Ordinal maximum likelihood: SLD's likelihood with penalties on differences of neighbours.

    The p on the simplex with the smallest -mean log(p . r) + tau_0 |D p|^2 + tau_1 |C p|^2, where D
    are first and C second differences along the classes. tau_0 pulls towards the uniform
    prevalence, tau_1 towards a line; without them it is SLD.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    tau_0 : float
        Penalty on first differences, which pulls towards the uniform prevalence.
    tau_1 : float
        Penalty on second differences, which pulls towards a line.
    calibration : str, optional
        As in SLD; the last two matter only without penalties.
    tol : float
        As in SLD; the last two matter only without penalties.
    max_iter : int
        As in SLD; the last two matter only without penalties.
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
    >>> from quantshift.quantifiers import OrdinalLikelihood
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = OrdinalLikelihood().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    """

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        tau_0: NotNegative = 0.0,
        tau_1: NotNegative = 0.01,
        calibration: Calibration = AUTO,
        tol: NotNegative = 1e-6,
        max_iter: Count = 1000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.tau_0 = tau_0
        self.tau_1 = tau_1
        self.calibration = calibration
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        penalty = roughness(len(self.classes_), self.tau_1, self.tau_0)
        if not penalty.any():
            return self.sld_._solve(representation, index, weights)[0], {}
        rows = np.ascontiguousarray(representation.T)
        at_once = max(1, MOST_ROWS // index.shape[1])
        blocks = [index[start : start + at_once] for start in range(0, len(index), at_once)]
        solved = [
            penalised_likelihood(rows[block], sample_weights(block, weights), penalty, self.prior_)
            for block in blocks
        ]
        return np.concatenate(solved), {}


def roughness(n_classes: int, tau: float, tau_0: float = 0.0) -> NDArray[np.float64]:
    """The matrix P of tau |C p|^2 + tau_0 |D p|^2 = p . P p: second and first differences."""
    second, first = second_differences(n_classes), first_differences(n_classes)
    return np.asarray(tau * second.T @ second + tau_0 * first.T @ first)


def adjust_smoothly(
    counts: Prevalences, rates: NDArray[np.float64], prior: Prevalences, tau: float
) -> tuple[Prevalences, Diagnostics]:
    """`adjust` with a penalty: the p with the smallest |rates @ p - counts|^2 + tau |C p|^2."""
    plain, diagnostics = adjust(counts, rates, prior)
    if tau == 0 or len(prior) == 2:
        return plain, diagnostics
    gram = rates.T @ rates + roughness(len(prior), tau)
    return minimise_on_simplex(gram, row_products(counts, rates), prior), diagnostics
