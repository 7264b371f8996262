"""Items with a classifier's scores and the chances of their true classes.

Measures of performance are defined for labelled items. Here a label is a chance for each class: 0
and 1 if it is known, a calibrated posterior if it is not. Every measure is written for chances, so
that one function gives the measure of labelled items and its estimate without labels.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quantshift.base.types import Codes, Posteriors, Reals
from quantshift.prevalence.weights import Weights


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """What measures are computed from.

    scores: the classifier's probabilities, (n_items, n_classes); predicted: its decisions.
    chances: of each true class, (n_items, n_classes), every row sums to 1.
    weights: of the items. costs: costs[i, j] of predicting class j for an item of class i.
    """

    scores: Posteriors
    predicted: Codes
    chances: Posteriors
    weights: Weights | None = None
    costs: Reals | None = None

    @classmethod
    def of_labels(
        cls,
        scores: Posteriors,
        predicted: Codes,
        codes: Codes,
        weights: Weights | None = None,
        costs: Reals | None = None,
    ) -> "LabelledScores":
        """Items whose classes are known."""
        return cls(scores, predicted, np.eye(scores.shape[1])[codes], weights, costs)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.scores.shape[1])

    @cached_property
    def shares(self) -> Reals:
        """The weight of each item, (n_items,), with sum 1."""
        n_items = len(self.scores)
        if self.weights is None:
            return np.full(n_items, 1 / n_items)
        return np.asarray(self.weights / self.weights.sum())

    @cached_property
    def table(self) -> Reals:
        """The confusion matrix: the share of items of class i (row) that are predicted as j."""
        weighted = self.chances * self.shares[:, np.newaxis]
        columns = [weighted[self.predicted == j].sum(axis=0) for j in range(self.n_classes)]
        return np.stack(columns, axis=1)
