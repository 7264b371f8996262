"""The default for several labels: sets of labels whose shares are tilted label by label."""

import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.domains import Count, Seed, Several
from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Posteriors, Reals
from quantshift.classify.classifier import Classifier
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

FEWEST_BELIEVED = 5
"""Training items of a label from which on a sample can show that its share has changed."""

LOWER = 0.98
"""The part of the errors without tilting that those of a label that is tilted are at most."""

HARMLESS = 0.005
"""By how much an error without a shift may be larger than that of the training share."""

TRIAL_SIZE, TRIAL_POINTS, TRIAL_NATURAL, TRIAL_OTHERS = 100, 11, 50, 10
"""Items of a trial sample, shares of each label, samples without a shift, and labels of other
groups whose shares change."""


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
    cv: folds of the held-out posteriors. random_state: of folds and trial samples.

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
        classifier: Classifier | None = None,
        *,
        largest_group: Count = 10,
        cv: Several = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.largest_group = largest_group
        self.cv = cv
        self.random_state = random_state

    def predict_pairs(
        self, X: Any, samples: Samples | None = None, *, sample_weight: ArrayLike | None = None
    ) -> Reals:
        """The share of items that have both labels, for all pairs of labels.

        Shape (n_labels, n_labels), with the shares of the labels on the diagonal; with `samples`
        those of each sample, (n_samples, n_labels, n_labels). The labels of different groups are
        treated as independent given the item.
        """
        posteriors, n_labels = self.posteriors(X), len(self.labels_)
        return self._solved(
            self._solve_pairs, posteriors, samples, sample_weight, (n_labels, n_labels)
        )

    def predict_sets(
        self, X: Any, *, sample_weight: ArrayLike | None = None
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
            sample_weight,
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
        if len(table.names) == 1:
            self._single = SLD().fit_posteriors(
                with_absence(posteriors[:, 0]), table.has[:, 0], sample_weight=weights
            )
            self.groups_, self._models, self.powers_ = [np.arange(1)], [], [1.0]
            return
        self.groups_ = related_groups(table.has, self.largest_group, weights)
        self._models = [
            SetPosteriors.fit(posteriors[:, group], table.has[:, group], weights)
            for group in self.groups_
        ]
        self.powers_ = []
        for number, (group, model) in enumerate(zip(self.groups_, self._models, strict=True)):
            of_group = LabelTable(table.has[:, group], table.names[group])
            others = np.delete(table.has, group, axis=1)
            power, believed = self._best_power(
                model, posteriors[:, group], of_group, others, weights
            )
            self.powers_.append(power)
            self._models[number] = replace(model, believed=believed)
        believed = np.concatenate([np.asarray(model.believed) for model in self._models])
        if not believed.sum() > len(believed) / 2:
            warnings.warn(
                f"of {int((~believed).sum())} of the {len(believed)} labels the classifiers know "
                "too little to see that their shares have changed: these are the means of the "
                "posteriors as trained, and limits hold less often than they say",
                UserWarning,
                stacklevel=4,
            )

    def _best_power(
        self,
        model: SetPosteriors,
        posteriors: Posteriors,
        table: LabelTable,
        others: Flags,
        weights: Weights | None,
    ) -> tuple[float, Flags]:
        """The power with the smallest errors on samples of known shares of the training items.

        And which labels may be tilted: those of FEWEST_BELIEVED training items or more whose errors
        tilting lowers, and whose errors on samples without a shift are hardly larger than those of
        the training share.
        """
        kinds_of_samples = [
            samples_of_each_label(
                table,
                TRIAL_SIZE,
                TRIAL_POINTS,
                1,
                random_state=self.random_state,
                sample_weight=weights,
            ),
            natural_samples(
                len(table),
                TRIAL_SIZE,
                TRIAL_NATURAL,
                random_state=self.random_state,
                sample_weight=weights,
            ),
        ]
        frequent = np.flatnonzero(others.sum(axis=0) >= FEWEST_BELIEVED)
        if len(frequent):
            # Labels of other groups change, too, and the items then look otherwise.
            rng = generator(self.random_state, draw="labels of other groups")
            chosen = rng.permutation(frequent)[:TRIAL_OTHERS]
            kinds_of_samples.append(
                samples_of_each_label(
                    LabelTable(others[:, chosen], chosen),
                    TRIAL_SIZE,
                    TRIAL_POINTS,
                    1,
                    random_state=self.random_state,
                    sample_weight=weights,
                )
            )
        scores, ones = model.scores(posteriors), np.ones(len(table))
        # By kind of samples, power and label.
        errors = np.array(
            [
                [
                    np.abs(shares.labels - table.has[index].mean(axis=1)).mean(axis=0)
                    for shares in tilted_shares(model, scores, index, ones, POWERS)
                ]
                for index in kinds_of_samples
            ]
        )
        # Samples of either kind count as often as their labels occur among all.
        n_own, n_others = table.has.shape[1], others.shape[1]
        parts = np.array([n_own, n_own + n_others, n_others]) / (n_own + n_others)
        parts = parts[:2] if len(errors) == 2 else parts
        expected = np.einsum("k,kpl->pl", parts / parts.sum(), errors)
        best = int(np.argmin(expected.mean(axis=1)))
        prior = np.average(table.has, axis=0, weights=weights)
        nothing = np.abs(prior - table.has[kinds_of_samples[1]].mean(axis=1)).mean(axis=0)
        lower = expected[best] < LOWER * expected[-1]
        harmless = errors[1, best] <= nothing + HARMLESS
        return POWERS[best], lower & harmless & (table.has.sum(axis=0) >= FEWEST_BELIEVED)

    def _solve(self, posteriors: Posteriors, index: Indices, weights: Reals) -> Reals:
        if not self._models:
            classes = with_absence(posteriors[:, 0])
            return self._single.aggregate(classes, index, sample_weight=weights)[:, 1:]
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
