"""The default for several labels: sets of labels whose shares are tilted label by label."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from quantshift.base.types import Indices, Posteriors, Reals
from quantshift.multilabel.label_samples import natural_samples, samples_of_each_label
from quantshift.multilabel.label_table import LabelTable
from quantshift.multilabel.multilabel_quantifier import AbstractLabelAggregative
from quantshift.multilabel.related_labels import related_groups
from quantshift.multilabel.set_posteriors import SetPosteriors
from quantshift.multilabel.tilting import KEPT, TiltedShares, tilted_shares
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.likelihood.sld import SLD

POWERS = (1.0, 0.5, 0.25, 0.1, 0.0)
"""How far posteriors are believed: the powers of the likelihood that are tried."""

TRIAL_SIZE, TRIAL_POINTS, TRIAL_NATURAL = 100, 11, 50
"""Items of a trial sample, shares of each label, and samples without a shift."""


class TiltedLabelSets(AbstractLabelAggregative):
    """Label shares by maximum likelihood, where the sets of labels have changed label by label.

    If the share of one label changes, the items with another label no longer look as they did in
    training, because other labels go with it. So the labels cannot be estimated one by one. This
    method models the sets of labels that occur in training, estimates a factor for each label by
    which the sets that have it have become more frequent, and draws factors to one unless the
    sample speaks for a change. How far the classifiers are believed is chosen on samples of known
    shares drawn from the training items.

    classifier: of each label, cloned and fitted once per label; None: logistic regression with a
        penalty chosen for each label.
    largest_group: of more labels than this, the most strongly related ones are put into groups of
        at most this many, which are estimated one after another.
    cv: folds of the held-out posteriors. seed: of folds and trial samples.

    Fitted state: `labels_`, `prior_`, `groups_` (the labels of each group), `powers_` (how far the
    posteriors of each group are believed).

    >>> import numpy as np
    >>> X = np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]], 10, axis=0)
    >>> Y = X > 1
    >>> TiltedLabelSets().fit(X, Y).predict(X[20:]).round(1)
    array([0.5, 1. ])
    """

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        largest_group: int = 10,
        cv: int = 5,
        seed: int = 0,
    ) -> None:
        self.classifier = classifier
        self.largest_group = largest_group
        self.cv = cv
        self.seed = seed

    def _learn(self, posteriors: Posteriors, table: LabelTable, weights: Weights | None) -> None:
        if len(table.names) == 1:
            self._single = SLD().fit_posteriors(
                _two_classes(posteriors), table.has[:, 0], weights=weights
            )
            self.groups_, self.powers_ = [np.arange(1)], [1.0]
            return
        self.groups_ = related_groups(table.has, self.largest_group, weights)
        self._models, self.powers_ = [], []
        for group in self.groups_:
            part = LabelTable(table.has[:, group], table.names[group])
            model = SetPosteriors.fit(posteriors[:, group], part.has, weights)
            self._models.append(model)
            self.powers_.append(self._best_power(model, posteriors[:, group], part, weights))

    def _best_power(
        self,
        model: SetPosteriors,
        posteriors: Posteriors,
        table: LabelTable,
        weights: Weights | None,
    ) -> float:
        """The power with the smallest errors on samples of known shares of the training items."""
        size = TRIAL_SIZE
        kinds = (
            samples_of_each_label(table, size, TRIAL_POINTS, 1, seed=self.seed, weights=weights),
            natural_samples(len(table), size, TRIAL_NATURAL, seed=self.seed, weights=weights),
        )
        scores, ones = model.scores(posteriors), np.ones(len(table))
        errors = []
        for power in POWERS:
            by_kind = []
            for index in kinds:
                estimates = _solved(model, scores, index, ones, power).labels
                by_kind.append(np.abs(estimates - table.has[index].mean(axis=1)).mean())
            errors.append(np.mean(by_kind))
        return POWERS[int(np.argmin(errors))]

    def _solve(
        self, posteriors: Posteriors, index: Indices, weights: Reals
    ) -> tuple[Reals, Reals | None]:
        if len(self.labels_) == 1:
            shares = self._single.aggregate(_two_classes(posteriors), index, weights=weights)
            return shares[:, 1:], shares[:, 1:, np.newaxis]
        n_samples, n_labels = len(index), len(self.labels_)
        labels = np.empty((n_samples, n_labels))
        pairs = np.empty((n_samples, n_labels, n_labels))
        for group, model, power in zip(self.groups_, self._models, self.powers_, strict=True):
            solved = _solved(model, model.scores(posteriors[:, group]), index, weights, power)
            labels[:, group] = solved.labels
            pairs[np.ix_(range(n_samples), group, group)] = solved.pairs
        return labels, pairs


def _solved(
    model: SetPosteriors, scores: Reals, index: Indices, weights: Reals, power: float
) -> TiltedShares:
    """Tilted shares of all samples of an index matrix, a few samples at a time."""
    step = max(1, KEPT // (index.shape[1] * len(model.sets)))
    parts = [
        tilted_shares(model, scores[part], weights[part], power)
        for part in (index[start : start + step] for start in range(0, len(index), step))
    ]
    return TiltedShares(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS)
    )


_FIELDS = ("labels", "pairs", "sets", "tilts")


def _two_classes(posteriors: Posteriors) -> Any:
    return np.column_stack([1 - posteriors[:, 0], posteriors[:, 0]])
