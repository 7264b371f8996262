"""Adjusted counting: undo the classifier's known error rates.

With M[i, j] the rate at which items of class j are counted as class i, the expected count of a
sample of prevalence p under prior shift is q = M p. Hence p = M^-1 q; where that leaves the
simplex, the nearest point in the least-squares sense. In the binary case this is Forman's
(q - fpr) / (tpr - fpr), clipped to [0, 1].

References: G. Forman, "Quantifying counts and costs via classification", DMKD 2008 (ACC); A. Bella
et al., "Quantification via probability estimators", ICDM 2010 (PACC).
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.base import BaseEstimator

from quantshift.prevalence import of_positive
from quantshift.quantifiers.counting import hard_predictions
from quantshift.quantifiers.estimator import (
    AbstractQuantifier,
    Diagnostics,
    class_means,
    sample_means,
)
from quantshift.types import Codes, Indices, Posteriors, Prevalences

SINGULAR = 1e-9
"""With a smallest singular value of M below this (tpr == fpr), rates carry no information."""


class ACC(AbstractQuantifier):
    """Adjusted Classify and Count: CC corrected by the classifier's true and false positive rates.

    Falls back to CC where the rates cannot be told apart (tpr == fpr; `fallback`).
    """

    assumption: ClassVar[str] = "P(X|Y) is the same in the sample (prior shift)"
    crisp: ClassVar[bool] = True

    rates_: NDArray[np.float64]

    def __init__(
        self, classifier: BaseEstimator | None = None, *, cv: int = 5, seed: int = 0
    ) -> None:
        self.classifier = classifier
        self.cv = cv
        self.seed = seed

    def _fit_aggregation(self, posteriors: Posteriors, codes: Codes) -> None:
        self.rates_ = class_means(hard_predictions(posteriors).T, codes)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return hard_predictions(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        return adjust(sample_means(representation, index), self.rates_)


class PACC(AbstractQuantifier):
    """Probabilistic Adjusted Classify and Count: ACC with mean posteriors in place of counts.

    Falls back to PCC where the rates cannot be told apart (tpr == fpr; `fallback`).
    """

    assumption: ClassVar[str] = "P(X|Y) is the same in the sample (prior shift)"

    rates_: NDArray[np.float64]

    def __init__(
        self, classifier: BaseEstimator | None = None, *, cv: int = 5, seed: int = 0
    ) -> None:
        self.classifier = classifier
        self.cv = cv
        self.seed = seed

    def _fit_aggregation(self, posteriors: Posteriors, codes: Codes) -> None:
        self.rates_ = class_means(posteriors, codes)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return np.ascontiguousarray(posteriors.T)

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        return adjust(sample_means(representation, index), self.rates_)


def adjust(
    counts: Prevalences, rates: NDArray[np.float64]
) -> tuple[Prevalences, dict[str, NDArray[Any]]]:
    """Solve counts = rates @ p on the simplex for each row of counts.

    `separation` is tpr - fpr, in general the determinant of the rates; `clipped` says that the
    exact solution was outside the simplex; `fallback` that the counts are returned as they are.
    """
    n_samples, n_classes = counts.shape
    separation = float(np.linalg.det(rates)) if n_classes > 2 else rates[1, 1] - rates[1, 0]
    singular = np.linalg.svd(rates, compute_uv=False)[-1] < SINGULAR
    if singular:
        p_hat, clipped = counts, np.zeros(n_samples, dtype=bool)
    elif n_classes == 2:
        p_hat, clipped = adjust_binary(counts[:, 1], rates[1, 1], rates[1, 0])
    else:
        p_hat = np.asarray(np.linalg.solve(rates, counts.T).T, dtype=np.float64)
        clipped = np.asarray((p_hat < 0).any(axis=1))
        p_hat[~clipped] /= p_hat[~clipped].sum(axis=1, keepdims=True)
        for i in np.flatnonzero(clipped):
            p_hat[i] = _nearest_on_simplex(rates, counts[i])
    return p_hat, {
        "clipped": clipped,
        "separation": np.full(n_samples, separation),
        "fallback": np.full(n_samples, singular),
    }


def adjust_binary(
    count: NDArray[np.float64], tpr: float, fpr: float
) -> tuple[Prevalences, NDArray[np.bool_]]:
    """Forman's correction: prevalences (n_samples, 2), and which of them had to be clipped."""
    exact = (count - fpr) / (tpr - fpr)
    positive = np.clip(exact, 0.0, 1.0)
    return of_positive(positive), positive != exact


def _nearest_on_simplex(rates: NDArray[np.float64], count: Prevalences) -> Prevalences:
    """The p on the simplex that minimises |rates @ p - count|, exactly.

    On the simplex rates @ p - count = A p with A = rates - count. For u = t p, the non-negative
    least-squares problem |A u|^2 + (sum(u) - 1)^2 has for fixed p the minimum
    |A p|^2 / (1 + |A p|^2) over t, which grows with |A p|: its solution, scaled, is the one sought.
    """
    A = rates - count[:, np.newaxis]
    u, _ = nnls(np.vstack([A, np.ones(len(count))]), np.append(np.zeros(len(count)), 1.0))
    return np.asarray(u / u.sum())
