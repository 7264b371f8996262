"""The estimate that ignores the sample: the baseline that every quantifier must beat."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.quantifiers.estimator import AbstractAggregative, Diagnostics
from quantshift.types import Codes, Indices, Posteriors, Prevalences
from quantshift.weights import Weights


class MLPE(AbstractAggregative):
    """Maximum Likelihood Prevalence Estimation: the training prevalence, always."""

    assumption: ClassVar[str] = "no shift at all: the sample has the training prevalence"
    sees: ClassVar[frozenset[str]] = frozenset()
    adjusts: ClassVar[bool] = False
    interval_note: ClassVar[str] = "the interval is for the share in training, not in the sample"

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
