"""Label shares regressed on estimates of all labels, over samples drawn from training.

The idea of Moreo, Francisco and Sebastiani ("Multi-Label Quantification", TKDD 2023): where labels
are related, the estimates of the others say something about a label too. Samples of known shares
are drawn from the training items, every label is estimated on its own, and a ridge regression
learns the shares of all labels from all of these estimates.
"""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import RidgeCV

from quantshift.base.domains import Count, Seed, Several
from quantshift.base.types import Indices, Posteriors, Reals
from quantshift.classify.classifier import Classifier
from quantshift.multilabel.label_models import with_absence
from quantshift.multilabel.label_samples import natural_samples, samples_of_each_label
from quantshift.multilabel.label_tables import LabelTable
from quantshift.multilabel.multilabel_quantifier import AbstractLabelAggregative
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractClassifying
from quantshift.quantifiers.counting.counting import PCC

PENALTIES = tuple(np.logspace(-4, 3, 15))
"""Those of the ridge regression that are tried; leave-one-out errors choose one."""


class RegressedShares(AbstractLabelAggregative):
    """Label shares learnt from the estimates of all labels, on samples of the training items.

    quantifier: estimates each label on its own, from posteriors; None: PCC.
    n_samples, size: samples drawn from the training items, about half of them with the share of one
        label set to values from 0 to 1, the others at random; and their number of items.
    classifier, cv, random_state: as in `TiltedLabelSets`.

    Fitted state: `labels_`, `prior_`, `quantifiers_` (one for each label), `regression_`.

    >>> import numpy as np
    >>> X = np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]], 10, axis=0)
    >>> RegressedShares().fit(X, X > 1).predict(X[20:]).round(1)
    array([0.5, 1. ])
    """

    quantifiers_: list[AbstractClassifying]
    regression_: RidgeCV

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        quantifier: AbstractClassifying | None = None,
        n_samples: Count = 2000,
        size: Count = 100,
        cv: Several = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.quantifier = quantifier
        self.n_samples = n_samples
        self.size = size
        self.cv = cv
        self.random_state = random_state

    def _learn(self, posteriors: Posteriors, table: LabelTable, weights: Weights | None) -> None:
        quantifier = PCC() if self.quantifier is None else self.quantifier
        self.quantifiers_ = [
            clone(quantifier).fit_posteriors(with_absence(p), has, sample_weight=weights)
            for p, has in zip(posteriors.T, table.has.T, strict=True)
        ]
        points = 11
        repeats = max(1, round(self.n_samples / (2 * points * len(table.names))))
        index = np.concatenate(
            [
                samples_of_each_label(
                    table,
                    self.size,
                    points,
                    repeats,
                    random_state=self.random_state,
                    sample_weight=weights,
                ),
                natural_samples(
                    len(table),
                    self.size,
                    self.n_samples // 2,
                    random_state=self.random_state,
                    sample_weight=weights,
                ),
            ]
        )
        true_shares = table.has[index].mean(axis=1)
        estimates = self._one_by_one(posteriors, index, np.ones(len(table)))
        self.regression_ = RidgeCV(PENALTIES).fit(estimates, true_shares)

    def _solve(self, posteriors: Posteriors, index: Indices, weights: Reals) -> Reals:
        estimates = self._one_by_one(posteriors, index, weights)
        shares = self.regression_.predict(estimates).reshape(estimates.shape)
        return np.asarray(np.clip(shares, 0.0, 1.0))

    def _one_by_one(self, posteriors: Posteriors, index: Indices, weights: Reals) -> Reals:
        return np.column_stack(
            [
                quantifier.aggregate(with_absence(p), index, sample_weight=weights)[:, 1]
                for quantifier, p in zip(self.quantifiers_, posteriors.T, strict=True)
            ]
        )
