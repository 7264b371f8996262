"""Adjusted counting: undo the classifier's known error rates.

With M[i, j] the rate at which items of class j are counted as class i, the expected count of a
sample of prevalence p under prior shift is q = M p. Hence p = M^-1 q or, if that is outside the
simplex, the p on the simplex with the smallest |M p - q|. In the binary case this is Forman's
(q - fpr) / (tpr - fpr), clipped to [0, 1].

With more than two classes M may be singular and still be informative: a class that is never
predicted leaves one direction open, not all of them. Then many p on the simplex have the same
smallest |M p - q|, and the one closest to the training prevalence is taken.

References: G. Forman, "Quantifying counts and costs via classification", DMKD 2008 (ACC); A. Bella
et al., "Quantification via probability estimators", ICDM 2010 (PACC).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from quantshift.base.compiled import compiled
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.items.predictions import hard_predictions, predicted_classes
from quantshift.optimise.quadratic import minimise_on_simplex, row_products
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractWithoutOptions, Diagnostics, same_for_all
from quantshift.quantifiers.base.means import class_means, sample_means
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.counting.counting import predicted_shares

SINGULAR = 1e-9
"""If the smallest singular value of M is below this (tpr == fpr), M is treated as singular."""

SEPARATED = 0.01
"""Smallest singular value of M, relative to the largest, above which squares of its entries still
determine the prevalence to about 12 digits."""

ROUNDING = 1e-12
"""Shares below this are treated as zero."""

DIAGNOSTICS: Mapping[str, str] = MappingProxyType(
    {"clipped": "bool", "separation": "float", "fallback": "bool"}
)
"""The diagnostics of `adjust`."""


class ACC(AbstractWithoutOptions):
    """Adjusted Classify and Count: CC corrected by the classifier's true and false positive rates.

    Two classes: falls back to CC if the rates are equal (tpr == fpr; `fallback`). More classes: if
    the rates do not determine the prevalence, as for a class that is never predicted, the estimate
    is the one closest to the training prevalence among those that explain the counts best
    (`fallback`).

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
    >>> from quantshift import ACC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = ACC().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    recommended: ClassVar[str] = "as for SLD, from predictions alone"
    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.PREDICTIONS)
    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    rates_: NDArray[np.float64]

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self.rates_ = class_means(hard_predictions(posteriors).T, codes, weights)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return predicted_classes(posteriors)

    def _counts(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None
    ) -> Prevalences:
        return predicted_shares(representation, index, len(self.prior_), weights)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return adjust(self._counts(representation, index, weights), self.rates_, self.prior_)


class PACC(AbstractWithoutOptions):
    """Probabilistic Adjusted Classify and Count: ACC with mean posteriors in place of counts.

    Two classes: falls back to PCC if the rates are equal (tpr == fpr; `fallback`). More classes: as
    in ACC.

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
    >>> from quantshift import PACC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = PACC().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """

    recommended: ClassVar[str] = "as for SLD; simple, and well studied"
    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.JOINT, smooth=True)
    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    rates_: NDArray[np.float64]

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self.rates_ = class_means(posteriors, codes, weights)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return posteriors.T

    def _counts(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None
    ) -> Prevalences:
        return sample_means(representation, index, weights)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return adjust(self._counts(representation, index, weights), self.rates_, self.prior_)


def adjust(
    counts: Prevalences, rates: NDArray[np.float64], prior: Prevalences
) -> tuple[Prevalences, dict[str, NDArray[Any]]]:
    """The p on the simplex with the smallest |rates @ p - counts|, for each row of counts.

    If that is not unique, the one closest to the prior (Euclidean), except that two classes with
    equal rates get the counts as they are. `separation` is tpr - fpr, in general the determinant of
    the rates; `clipped` means that only prevalences outside the simplex explain the counts best;
    `fallback` that the rates alone do not determine the prevalence.

    Parameters
    ----------
    counts : array of shape (n_samples, n_classes)
        Shares of the predictions in each sample.
    rates : array of shape (n_classes, n_classes)
        Shares of the predictions (rows) among items of each class (columns).
    prior : array of shape (n_classes,)
        What an estimate is drawn to where the rates do not determine it.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import adjust
    >>> rates = np.array([[0.9, 0.2], [0.1, 0.8]])  # tnr and fnr, fpr and tpr
    >>> p_hat, found = adjust(np.array([[0.69, 0.31]]), rates, np.array([0.5, 0.5]))
    >>> p_hat.round(3), sorted(found)
    (array([[0.7, 0.3]]), ['clipped', 'fallback', 'separation'])
    """
    n_samples, n_classes = counts.shape
    if n_classes > 2:
        inverted = _inverted(rates.tobytes(), n_classes)
        separation, singular = inverted.determinant, inverted.inverse is None
        p_hat, clipped = _adjust_many(counts, rates, prior, inverted)
    else:
        singular = smallest_singular_value(rates) < SINGULAR
        fpr, tpr = rates[1].tolist()
        separation = tpr - fpr
        if singular:
            p_hat, clipped = counts, np.zeros(n_samples, dtype=bool)
        else:
            p_hat, clipped = adjust_binary(counts[:, 1], tpr, fpr)
    return p_hat, {
        "clipped": clipped,
        "separation": same_for_all(separation, n_samples),
        "fallback": same_for_all(singular, n_samples),
    }


def smallest_singular_value(matrix: NDArray[np.float64]) -> float:
    """The smallest singular value of a square matrix, in closed form if it is 2 by 2.

    The product of the two singular values is the absolute determinant, and the sum of their squares
    is the sum of the squared entries.
    """
    if len(matrix) > 2:
        return float(np.linalg.svd(matrix, compute_uv=False)[-1])
    (a, b), (c, d) = matrix.tolist()
    product, squares = abs(a * d - b * c), a * a + b * b + c * c + d * d
    largest = math.sqrt((squares + math.sqrt(max(squares**2 - 4 * product**2, 0.0))) / 2)
    return product / largest if largest > 0 else 0.0


def adjust_binary(
    count: NDArray[np.float64], tpr: float, fpr: float
) -> tuple[Prevalences, NDArray[np.bool_]]:
    """Forman's correction: prevalences (n_samples, 2), and which of them had to be clipped."""
    return adjust_counts(np.ascontiguousarray(count), tpr, fpr)


@compiled
def adjust_counts(
    count: NDArray[np.float64], tpr: float, fpr: float
) -> tuple[Prevalences, NDArray[np.bool_]]:
    """`adjust_binary`, compiled."""
    p_hat, clipped = np.empty((len(count), 2)), np.empty(len(count), dtype=np.bool_)
    for i in range(len(count)):
        exact = (count[i] - fpr) / (tpr - fpr)
        positive = min(max(exact, 0.0), 1.0)
        p_hat[i, 0], p_hat[i, 1] = 1.0 - positive, positive
        clipped[i] = positive != exact
    return p_hat, clipped


@dataclass(frozen=True, eq=False)
class _Inverted:
    """What all samples with the same rates share; the inverse is None if they are singular.

    squares: the products of the columns of the rates, None if they would lose too many digits.
    """

    determinant: float
    inverse: NDArray[np.float64] | None
    squares: NDArray[np.float64] | None


@lru_cache(maxsize=64)
def _inverted(rates: bytes, n_classes: int) -> _Inverted:
    """Cached, because it takes longer than everything else that is done for one sample."""
    matrix = np.frombuffer(rates).reshape(n_classes, n_classes)
    determinant = float(np.linalg.det(matrix))
    singular_values = np.linalg.svd(matrix, compute_uv=False)
    if singular_values[-1] < SINGULAR:
        return _Inverted(determinant, None, None)
    well_separated = singular_values[-1] > SEPARATED * singular_values[0]
    return _Inverted(
        determinant,
        np.asarray(np.linalg.inv(matrix), dtype=np.float64),
        matrix.T @ matrix if well_separated else None,
    )


def _adjust_many(
    counts: Prevalences,
    rates: NDArray[np.float64],
    prior: Prevalences,
    inverted: _Inverted,
) -> tuple[Prevalences, NDArray[np.bool_]]:
    """More than two classes: prevalences, and which of them had to be clipped."""
    if inverted.inverse is not None:
        p_hat, clipped = _invert_counts(np.ascontiguousarray(counts), inverted.inverse)
        outside = clipped.nonzero()[0]
        if inverted.squares is None:
            for i in outside:
                p_hat[i] = _nearest_on_simplex(rates, counts[i])
        elif len(outside):
            linear = row_products(counts[outside], rates)
            p_hat[outside] = minimise_on_simplex(inverted.squares, linear, prior)
        return p_hat, clipped
    unconstrained, open_directions = _nearest_of_sum_one(counts, rates, prior)
    p_hat = unconstrained.copy()
    for i in np.flatnonzero((unconstrained < 0).any(axis=1)):
        p_hat[i] = _nearest_on_simplex(rates, counts[i])
        p_hat[i] = _nearest_to_prior(p_hat[i], open_directions, prior)
    p_hat /= p_hat.sum(axis=1, keepdims=True)
    # Prevalences on the simplex may explain the counts as well as `unconstrained` does.
    return p_hat, np.asarray(np.abs((p_hat - unconstrained) @ rates.T).max(axis=1) > SINGULAR)


@compiled
def _invert_counts(
    counts: Prevalences, inverse: NDArray[np.float64]
) -> tuple[Prevalences, NDArray[np.bool_]]:
    """p = M^-1 q for each row, and which of them have a negative share.

    The others are on the simplex: the columns of M and q sum to one, so p does too. They explain
    the counts exactly (M p = q), so that no search is needed for them.
    """
    n_samples, n_classes = counts.shape
    p_hat, negative = np.empty((n_samples, n_classes)), np.zeros(n_samples, dtype=np.bool_)
    for i in range(n_samples):
        total = 0.0
        for k in range(n_classes):
            share = 0.0
            for m in range(n_classes):
                share += inverse[k, m] * counts[i, m]
            p_hat[i, k] = share
            total += share
            negative[i] |= share < 0.0
        for k in range(n_classes):
            p_hat[i, k] /= total
    return p_hat, negative


def _nearest_of_sum_one(
    counts: Prevalences, rates: NDArray[np.float64], prior: Prevalences
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows that sum to one with the smallest |rates @ p - count|; if several, closest to the prior.

    Also the directions, orthonormal columns, along which rates @ p does not change. (They sum to
    zero, because the columns of rates sum to one.)
    """
    n_classes = len(prior)
    sum_zero = np.linalg.svd(np.ones((1, n_classes)))[2][1:].T
    left, size, right = np.linalg.svd(rates @ sum_zero)
    rank = int((size > SINGULAR).sum())
    inverse = left[:, :rank] / size[:rank] @ right[:rank] @ sum_zero.T
    return prior + (counts - rates @ prior) @ inverse, sum_zero @ right[rank:].T


def _nearest_on_simplex(rates: NDArray[np.float64], count: Prevalences) -> Prevalences:
    """The p on the simplex that minimises |rates @ p - count|, exactly.

    On the simplex rates @ p - count = A p with A = rates - count. For u = t p, the non-negative
    least-squares problem |A u|^2 + (sum(u) - 1)^2 has for fixed p the minimum
    |A p|^2 / (1 + |A p|^2) over t, which grows with |A p|: its solution, rescaled, is the required
    p.
    """
    A = rates - count[:, np.newaxis]
    u, _ = nnls(np.vstack([A, np.ones(len(count))]), np.append(np.zeros(len(count)), 1.0))
    return np.asarray(u / u.sum())


def _nearest_to_prior(
    p: Prevalences, directions: NDArray[np.float64], prior: Prevalences
) -> Prevalences:
    """The point p + directions @ z of the simplex closest to the prior, exactly.

    Without the constraint p >= 0 it is the projection of prior - p. With it, the step x from there
    is the shortest with directions @ x >= lack: least distance programming, whose dual is a
    non-negative least-squares problem (C. Lawson and R. Hanson, "Solving least squares problems",
    1974, chapter 23).
    """
    projected = p + directions @ (directions.T @ (prior - p))
    # A tolerance for rounding: on a face of the simplex p may be the only point.
    lack = -projected - ROUNDING
    if lack.max() > 0:
        movable = np.abs(directions).max(axis=1) > ROUNDING
        dual = np.vstack([directions[movable].T, lack[movable]])
        goal = np.append(np.zeros(directions.shape[1]), 1.0)
        residual = dual @ nnls(dual, goal)[0] - goal
        projected -= directions @ (residual[:-1] / residual[-1])
    return np.maximum(projected, 0.0)
