"""The estimate that ignores the sample: the baseline that every quantifier must beat."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.base.tags import Tags

FLOATS = np.dtype(np.float64)


class MLPE(AbstractAggregative):
    """Maximum Likelihood Prevalence Estimation: the training prevalence, always.

    The shape of posteriors, the positions of items and the weights are checked as by other methods;
    the values of posteriors are not read.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import MLPE
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = MLPE().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.5, 0.5])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    recommended: ClassVar[str] = "a baseline: nothing has changed"
    tags: ClassVar[Tags] = Tags(
        assumption="no shift at all: the sample has the training prevalence",
        plain_assumption="nothing has changed since training",
        sees=frozenset(),
        adjusts=False,
        interval_note="the interval is for the share in training, not in the sample",
    )

    def _aggregate_one(self, posteriors: ArrayLike) -> Prevalences:
        if type(posteriors) is np.ndarray and posteriors.dtype is FLOATS:
            try:
                prior = self.prior_
            except AttributeError:
                return super()._aggregate_one(posteriors)  # the error of one that is not fitted
            n_items, n_columns = posteriors.shape
            if n_items and n_columns == len(prior):
                return prior.copy()
        return super()._aggregate_one(posteriors)

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        pass

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return np.empty((0, len(posteriors)))

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return self.prior_[np.newaxis].repeat(len(index), axis=0), {}
