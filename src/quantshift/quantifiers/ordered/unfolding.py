"""Unfolding: the prevalence of ordered classes from counts of items in cells.

Physicists do not classify events; they count them in cells of a measured quantity and unfold the
counts. Here a cell is a range of the expected class, sum_k k P(k | x), which runs from the first
class to the last and is divided evenly. With M_bk the share of class k in cell b and q the shares
of the sample, M p = q is solved with a likelihood of counts: by expectation maximisation with
smoothing (IBU), or by its maximum with a penalty on second differences (RUN).

References: G. D'Agostini, "A multidimensional unfolding method based on Bayes' theorem", NIM A 362
(1995); V. Blobel, "Unfolding methods in high-energy physics experiments", CERN 85-09, 1985; M.
Bunse et al., "Regularization-based methods for ordinal quantification", DMKD 38 (2024).
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.domains import Count, NotNegative, Seed, Several, Within
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.optimise.smoothness import (
    penalised_likelihood,
    sample_weights,
    smoothed_expectation,
)
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.base.tags import Reading, Tags
from quantshift.quantifiers.counting.adjusted import SINGULAR
from quantshift.quantifiers.ordered.ordinal import SMOOTH_PREVALENCE, roughness

CELLS_PER_CLASS = 8
"""Default number of cells per class."""


class AbstractUnfolding(AbstractAggregative):
    """Counts in cells of the expected class; subclasses define how they are unfolded."""

    tags: ClassVar[Tags] = replace(SMOOTH_PREVALENCE, reads=Reading.EXPECTED)

    n_cells: int | None
    transfer_: Reals
    """Share of each class in each cell, (n_cells, n_classes)."""

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        n_classes = len(self.classes_)
        cells = self._represent(posteriors)[0]
        item_weights = np.ones(len(codes)) if weights is None else weights
        counts = np.zeros((self._cell_count(), n_classes))
        np.add.at(counts, (cells, codes), item_weights)
        self.transfer_ = counts / counts.sum(axis=0)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        classes = np.arange(len(self.classes_))
        position = (posteriors * classes).sum(axis=1) / classes[-1]
        # The outermost cells are centred at the outermost classes.
        cells = np.rint(position * (self._cell_count() - 1)).astype(np.int64)
        return np.asarray(cells[np.newaxis])

    def _cell_count(self) -> int:
        default = CELLS_PER_CLASS * len(self.classes_)
        return default if self.n_cells is None else self.n_cells

    def _counts(self, cells: NDArray[Any], index: Indices, weights: Weights | None) -> Reals:
        """Weight of the items of each sample in each cell, (n_samples, n_cells)."""
        n_cells = self._cell_count()
        cell_of_sample = cells[0][index] + n_cells * np.arange(len(index))[:, np.newaxis]
        item_weights = sample_weights(index, weights)
        counts = np.bincount(
            cell_of_sample.ravel(), item_weights.ravel(), minlength=n_cells * len(index)
        )
        return np.asarray(counts, dtype=np.float64).reshape(len(index), n_cells)

    def _unknown(self, counts: Reals) -> NDArray[np.bool_]:
        """Samples without information: no item in a cell known from training, or equal classes."""
        in_training = self.transfer_.any(axis=1)
        alike = bool(np.abs(self.transfer_ - self.transfer_[:, :1]).max() < SINGULAR)
        return np.asarray(~counts[:, in_training].any(axis=1) | alike)


class IBU(AbstractUnfolding):
    """Iterative Bayesian Unfolding: expectation maximisation on counts in cells, smoothed.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    order : int
        As in OrdinalSLD, after every step.
    smoothing : float
        As in OrdinalSLD, after every step.
    n_cells : int, optional
        Number of cells into which the expected class is divided; default: eight per class.
    tol : float
        The steps end when no share changes by more than tol, or after max_iter steps, with
        `converged` False. Falls back to the training prevalence if no cell of the sample is known
        from training, or the classes are alike (`fallback`).
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
    >>> from quantshift.quantifiers import IBU
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = IBU().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['converged', 'fallback', 'iterations']
    """

    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"iterations": "int", "converged": "bool", "fallback": "bool"}
    )

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        order: Annotated[int, Within(least=0)] = 1,
        smoothing: Annotated[float, Within(least=0, most=1)] = 0.01,
        n_cells: Several | None = None,
        tol: NotNegative = 1e-8,
        max_iter: Count = 5000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.order = order
        self.smoothing = smoothing
        self.n_cells = n_cells
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        counts = self._counts(representation, index, weights)
        # The cells of each sample are treated as items of a pool, weighted by their counts.
        p_hat, steps, converged = smoothed_expectation(
            np.tile(self.transfer_.T, (1, len(counts))),
            np.arange(counts.size).reshape(counts.shape),
            self.prior_,
            order=self.order,
            smoothing=self.smoothing,
            tol=self.tol,
            max_iter=self.max_iter,
            weights=counts.ravel(),
        )
        unknown = self._unknown(counts)
        p_hat[unknown] = self.prior_
        return p_hat, {"iterations": steps, "converged": converged, "fallback": unknown}


class RUN(AbstractUnfolding):
    """Regularised Unfolding: maximum likelihood of counts in cells, with a penalty on jumps.

    The p on the simplex with the smallest -sum_b q_b log (M p)_b + tau |C p|^2, where C are second
    differences along the classes: Blobel's Poisson likelihood, whose total is known on the simplex,
    with Tikhonov's regularisation.

    Falls back as IBU does (`fallback`).

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    tau : float
        Strength of the penalty.
    n_cells : int, optional
        As in IBU.
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
    >>> from quantshift.quantifiers import RUN
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = RUN().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['fallback']
    """

    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType({"fallback": "bool"})

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        tau: NotNegative = 0.01,
        n_cells: Several | None = None,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.tau = tau
        self.n_cells = n_cells
        self.cv = cv
        self.random_state = random_state

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        counts = self._counts(representation, index, weights)
        penalty = roughness(len(self.classes_), self.tau)
        p_hat = penalised_likelihood(self.transfer_, counts, penalty, self.prior_)
        unknown = self._unknown(counts)
        p_hat[unknown] = self.prior_
        return p_hat, {"fallback": unknown}
