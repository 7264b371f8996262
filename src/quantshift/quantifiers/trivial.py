"""The estimate that ignores the sample: the baseline that every quantifier must beat."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.quantifiers.estimator import AbstractAggregative, Diagnostics, Samples
from quantshift.types import Codes, Indices, Posteriors, Prevalences
from quantshift.weights import Weights

FLOATS = np.dtype(np.float64)


class MLPE(AbstractAggregative):
    """Maximum Likelihood Prevalence Estimation: the training prevalence, always."""

    assumption: ClassVar[str] = "no shift at all: the sample has the training prevalence"
    sees: ClassVar[frozenset[str]] = frozenset()
    adjusts: ClassVar[bool] = False
    interval_note: ClassVar[str] = "the interval is for the share in training, not in the sample"

    def aggregate(
        self,
        posteriors: ArrayLike,
        samples: Samples | None = None,
        *,
        weights: ArrayLike | None = None,
    ) -> Prevalences:
        """The training prevalence, for every sample.

        The shape of the posteriors, the positions of items and the weights are checked as by other
        methods; the values of the posteriors are not read.
        """
        if samples is None and weights is None and type(posteriors) is np.ndarray:
            try:
                n_items, n_columns = posteriors.shape
                prior = self.prior_
            except (ValueError, AttributeError):  # a batch, or not fitted
                pass
            else:
                if n_items and n_columns == len(prior) and posteriors.dtype is FLOATS:
                    return prior.copy()
        return super().aggregate(posteriors, samples, weights=weights)

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
