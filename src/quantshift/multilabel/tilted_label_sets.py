"""The default for several labels: sets of labels whose shares are tilted label by label."""

from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from quantshift.base.types import Indices, Posteriors, Reals
from quantshift.errors import UserError
from quantshift.multilabel.label_models import with_absence
from quantshift.multilabel.label_samples import natural_samples, samples_of_each_label
from quantshift.multilabel.label_tables import LabelTable
from quantshift.multilabel.multilabel_quantifier import AbstractLabelAggregative, Samples
from quantshift.multilabel.related_labels import related_groups
from quantshift.multilabel.set_posteriors import SetPosteriors
from quantshift.multilabel.tilting import TiltedShares, tilted_labels, tilted_shares
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
    shares drawn from the training items. A single label is estimated by SLD.

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

    groups_: list[Indices]
    powers_: list[float]
    _models: list[SetPosteriors]
    """One for each group; none for a single label, which has `_single`."""
    _single: SLD

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

    def predict_pairs(
        self, X: Any, samples: Samples | None = None, *, weights: ArrayLike | None = None
    ) -> Reals:
        """The share of items that have both labels, for all pairs of labels.

        Shape (n_labels, n_labels), with the shares of the labels on the diagonal; with `samples`
        those of each sample, (n_samples, n_labels, n_labels). The labels of different groups are
        treated as independent given the item.
        """
        posteriors, n_labels = self.posteriors(X), len(self.labels_)
        return self._solved(self._solve_pairs, posteriors, samples, weights, (n_labels, n_labels))

    def predict_sets(
        self, X: Any, *, weights: ArrayLike | None = None
    ) -> dict[tuple[Any, ...], float]:
        """The share of each set of labels among the items of X, the most frequent first.

        Only for as many labels as fit into one group.
        """
        posteriors = self.posteriors(X)
        if len(self.groups_) > 1 or len(self.labels_) == 1:
            raise UserError(
                f"sets of labels are estimated for 2 to {self.largest_group} labels, not for "
                f"{len(self.labels_)}: fit on fewer labels, or call predict_pairs"
            )
        (model,) = self._models
        shares = self._solved(
            lambda pool, index, counts: self._solve_group(0, pool, index, counts).sets,
            posteriors,
            None,
            weights,
            (len(model.sets),),
        )
        names = [tuple(self.labels_[row > 0].tolist()) for row in model.sets]
        order = sorted(range(len(names)), key=lambda k: (-shares[k], names[k]))
        return {names[k]: float(shares[k]) for k in order}

    def refit(self, rows: Indices) -> Self:
        """A copy fitted again on some of its training items, with the same classifiers.

        rows: positions among the training items, perhaps repeated.
        """
        if not self._models:
            return super().refit(rows)
        refitted = copy(self)
        weights = None if self.held_out_weights_ is None else self.held_out_weights_[rows]
        posteriors, table = self.held_out_posteriors_[rows], self.held_out_labels_.take(rows)
        refitted._models = [
            model.refit(posteriors[:, group], table.has[:, group], weights)
            for group, model in zip(self.groups_, self._models, strict=True)
        ]
        return refitted

    def parts(self) -> Iterator[tuple[Indices, Self]]:
        """The labels of each group, and a copy for these labels alone, without classifiers."""
        if len(self.groups_) == 1:
            yield from super().parts()
            return
        table = self.held_out_labels_
        for group, model, power in zip(self.groups_, self._models, self.powers_, strict=True):
            part = copy(self)
            part.labels_, part.prior_, part.models_ = self.labels_[group], self.prior_[group], None
            part.held_out_posteriors_ = self.held_out_posteriors_[:, group]
            part.held_out_labels_ = LabelTable(table.has[:, group], table.names[group])
            part.groups_, part._models, part.powers_ = [np.arange(len(group))], [model], [power]
            yield group, part

    def _learn(self, posteriors: Posteriors, table: LabelTable, weights: Weights | None) -> None:
        if self.largest_group < 1:
            raise UserError(f"largest_group={self.largest_group} must be at least 1")
        if len(table.names) == 1:
            self._single = SLD().fit_posteriors(
                with_absence(posteriors[:, 0]), table.has[:, 0], weights=weights
            )
            self.groups_, self._models, self.powers_ = [np.arange(1)], [], [1.0]
            return
        self.groups_ = related_groups(table.has, self.largest_group, weights)
        self._models = [
            SetPosteriors.fit(posteriors[:, group], table.has[:, group], weights)
            for group in self.groups_
        ]
        self.powers_ = [
            self._best_power(
                model,
                posteriors[:, group],
                LabelTable(table.has[:, group], table.names[group]),
                weights,
            )
            for group, model in zip(self.groups_, self._models, strict=True)
        ]

    def _best_power(
        self,
        model: SetPosteriors,
        posteriors: Posteriors,
        table: LabelTable,
        weights: Weights | None,
    ) -> float:
        """The power with the smallest errors on samples of known shares of the training items."""
        kinds_of_samples = (
            samples_of_each_label(
                table, TRIAL_SIZE, TRIAL_POINTS, 1, seed=self.seed, weights=weights
            ),
            natural_samples(len(table), TRIAL_SIZE, TRIAL_NATURAL, seed=self.seed, weights=weights),
        )
        scores, ones = model.scores(posteriors), np.ones(len(table))
        by_kind = [
            [
                np.abs(shares.labels - table.has[index].mean(axis=1)).mean()
                for shares in tilted_shares(model, scores, index, ones, POWERS)
            ]
            for index in kinds_of_samples
        ]
        return POWERS[int(np.argmin(np.mean(by_kind, axis=0)))]

    def _solve(self, posteriors: Posteriors, index: Indices, weights: Reals) -> Reals:
        if not self._models:
            classes = with_absence(posteriors[:, 0])
            return self._single.aggregate(classes, index, weights=weights)[:, 1:]
        labels = np.empty((len(index), len(self.labels_)))
        for number, group in enumerate(self.groups_):
            labels[:, group] = self._solve_group(number, posteriors, index, weights).labels
        return labels

    def _solve_group(
        self, number: int, posteriors: Posteriors, index: Indices, weights: Reals
    ) -> TiltedShares:
        group, model = self.groups_[number], self._models[number]
        scores = model.scores(posteriors[:, group])
        (shares,) = tilted_shares(model, scores, index, weights, [self.powers_[number]])
        return shares

    def _solve_pairs(self, posteriors: Posteriors, index: Indices, weights: Reals) -> Reals:
        if not self._models:
            return self._solve(posteriors, index, weights)[:, :, np.newaxis]
        n_labels = len(self.labels_)
        pairs = np.empty((len(index), n_labels, n_labels))
        solved = [
            self._solve_group(number, posteriors, index, weights)
            for number in range(len(self.groups_))
        ]
        for sample, rows in enumerate(index):
            counts = weights[rows, np.newaxis] / weights[rows].sum()
            probabilities = np.empty((len(rows), n_labels))
            for group, model, shares in zip(self.groups_, self._models, solved, strict=True):
                scores = model.scores(posteriors[np.ix_(rows, group)])[np.newaxis]
                tilt = shares.tilts[sample : sample + 1]
                probabilities[:, group] = tilted_labels(model, scores, tilt)[0]
            pairs[sample] = (probabilities * counts).T @ probabilities
            for group, model, shares in zip(self.groups_, self._models, solved, strict=True):
                within = (model.sets * shares.sets[sample][:, np.newaxis]).T @ model.sets
                pairs[sample][np.ix_(group, group)] = within
        return pairs
