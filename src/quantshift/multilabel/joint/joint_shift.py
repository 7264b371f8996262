"""May the labels of a sample be estimated together? The tests of a joint shift, and its limits.

A joint shift is what `TiltedLabelSets` assumes: only how frequent the labels and their combinations
are has changed; items with the same set of labels look as they did in training. This contains the
shift of one label with all others following it. If it holds, training items weighted by the
estimated shares of their sets of labels look like the sample:

    separation   a classifier tells the sample from the weighted training items
    column       the largest difference between means of features, in standard errors; `columns`,
                 the sum of their squares (not of texts, whose positions are learnt from the
                 training items)
    score        the likelihood of the scores under the joint shift, minus that of the best
                 selection of items by their scores (`selections`)

Each refutes the joint shift if it is clearly larger (`score`: smaller) than in samples that are
drawn from the weighted training items. "Not refuted" alone is no evidence: selections of items may
look alike. So `doubles` is how often samples of the best selection speak for the joint shift as
clearly as this one.

Samples are simulated as for `label_intervals`: for each of some bootstraps of the training items
the model of the sets of labels is fitted again, and the samples consist of the other items, with
their held-out posteriors. (Samples of all items would hardly differ from those of the fit: tests
would refute natural samples, and limits of 95% held in 83% of samples of 100.) The errors of their
estimates make the limits; the differences between the estimates by the models of each fold are
added, since classifiers have errors, too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import ndtr, ndtri

from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Posteriors, Reals
from quantshift.classify.separation import Reference
from quantshift.items.items import effective_size
from quantshift.multilabel.joint.selections import SelectionFits, Selections
from quantshift.multilabel.label_intervals import with_every_label
from quantshift.multilabel.set_posteriors import SetPosteriors
from quantshift.multilabel.tilted_label_sets import TiltedLabelSets
from quantshift.multilabel.tilting import TiltedShares, tilted_shares
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.guarding import training_deviations
from quantshift.quantifiers.likelihood.goodness_of_fit import LEAST_AUC, LEAST_WEIGHT, LEAST_Z
from quantshift.quantifiers.likelihood.score_test import LEVEL, p_value

BOOTSTRAPS, OF_EACH = 15, 14
"""How often the model is fitted again, and simulated samples of each: p-values are multiples of
1 / 211."""

MOST_ITEMS, MOST_TRAINED = 2000, 5000
"""From a larger sample, and from more training items, this many are drawn at random."""

STRETCHED = 1.3
"""What the distances of the limits are multiplied by, since no shift is exactly a joint one. Where
the share of one label was moved (samples of 100 of emotions, birds and medical), limits at 95% held
in .93 to .96 without it, and in .96 to .97 with it."""

LIKELIEST = 1.0
"""The power at which likelihoods are compared: the posteriors as they are."""


@dataclass(frozen=True, eq=False)
class JointSample:
    """A sample for the joint model.

    committee: posteriors of the labels by each of the models that made the held-out posteriors of
    the training items, (n_members, n_items, n_labels); position: as returned by the reference,
    (n_items, d).
    """

    committee: Posteriors
    position: Reals
    weights: Weights

    @property
    def size(self) -> int:
        """The effective number of items."""
        return max(1, round(effective_size(self.weights)))


@dataclass(frozen=True, eq=False)
class JointFinding:
    """What a sample shows about a joint shift.

    estimate: the share of each label, (n_labels,); members: by each model, (n_members, n_labels).
    errors: shares minus estimates in simulated samples, (n_simulated, n_labels).
    auc, z: how well the sample is separated from the weighted training items; explained: the part
    of the difference from the training items that the weights explain. p_values: of `column`,
    `columns` and `score`.
    """

    shift: "JointShift"
    size: int
    estimate: Reals
    members: Reals
    errors: Reals
    auc: float
    z: float
    explained: float
    p_values: Mapping[str, float]
    over_tilt: float
    over_step: float
    selection: SelectionFits

    @property
    def refuted(self) -> bool:
        """Whether the sample refutes a joint shift."""
        separated = self.auc > LEAST_AUC and self.z > LEAST_Z
        return separated or min(self.p_values.values()) < LEVEL

    @property
    def p_value(self) -> float:
        """The smallest of all tests, multiplied by their number (Bonferroni)."""
        smallest = min(float(ndtr(-self.z)), *self.p_values.values())
        return min(1.0, (1 + len(self.p_values)) * smallest)

    @cached_property
    def doubles(self) -> float:
        """How likely a selection of items would look this much like a joint shift."""
        shift, rivals = self.shift, self.shift.selections
        by_tilt = shift.simulated(rivals.tilted(self.selection.tilts[0]), self.size, "tilt")
        by_step = shift.simulated(rivals.stepped(int(self.selection.steps[0])), self.size, "step")
        return max(
            p_value(by_tilt.over_tilt, self.over_tilt),
            p_value(by_step.over_step, self.over_step),
        )

    def limits(self, level: float, *, of_items: bool) -> tuple[Reals, Reals]:
        """Limits of the share of each label, (n_labels,) each.

        of_items: for the share among the items themselves instead of the population's.
        """
        variance = self.errors.var(axis=0) + np.square(training_deviations(self.members)).sum(
            axis=0
        )
        if not of_items:
            variance += self.estimate * (1 - self.estimate) / self.size
        margin = float(ndtri((1 + level) / 2)) * np.sqrt(variance)
        bias = self.errors.mean(axis=0)
        low = self.estimate - STRETCHED * (margin - np.minimum(bias, 0.0))
        high = self.estimate + STRETCHED * (margin + np.maximum(bias, 0.0))
        return np.maximum(low, 0.0), np.minimum(high, 1.0)


@dataclass(frozen=True, eq=False)
class JointShift:
    """The joint model of a few labels, fitted on the training items, with refits for simulations.

    posteriors: held out, (n_items, n_labels); has: which labels the items have; position: their
    features. reference: the same of all training items, and all_has: which labels they have.
    tests_columns: whether means of features can be compared.
    """

    quantifier: TiltedLabelSets
    posteriors: Posteriors
    has: Flags
    weights: Weights
    position: Reals
    reference: Reference
    all_has: Flags
    all_weights: Weights
    tests_columns: bool
    seed: int

    @classmethod
    def fit(
        cls,
        posteriors: Posteriors,
        has: Flags,
        reference: Reference,
        *,
        sample_weight: Weights | None = None,
        tests_columns: bool = True,
        seed: int = 0,
    ) -> Self:
        """Fit the model of at least two labels.

        reference: made of the features of the same items.
        """
        counts, rows = (
            np.ones(len(has)) if sample_weight is None else sample_weight,
            np.arange(len(has)),
        )
        if len(has) > MOST_TRAINED:
            rng = generator(seed, draw="items of the joint model")
            drawn = rng.choice(len(has), MOST_TRAINED, replace=False)
            rows = np.sort(with_every_label(drawn, has, rng))
        item_weights = None if sample_weight is None else sample_weight[rows]
        quantifier = TiltedLabelSets(largest_group=has.shape[1], random_state=seed)
        quantifier.fit_posteriors(posteriors[rows], has[rows], sample_weight=item_weights)
        return cls(
            quantifier,
            posteriors[rows],
            has[rows],
            counts[rows],
            reference.position[rows],
            reference,
            has,
            counts,
            tests_columns,
            seed,
        )

    @property
    def power(self) -> float:
        """How far the posteriors are believed; 0: the mean posterior is all there is."""
        return self.quantifier.powers_[0]

    @cached_property
    def selections(self) -> Selections:
        """The selections of the training items that a joint shift is compared with."""
        return Selections(self.posteriors, self.weights / self.weights.sum())

    @cached_property
    def _whole(self) -> "_Refit":
        return _Refit.of(self, self.quantifier._models[0], np.arange(len(self.has)))

    @cached_property
    def _refits(self) -> "list[_Refit]":
        """Refits on bootstraps of the training items."""
        n_items, refits = len(self.has), []
        for number in range(BOOTSTRAPS):
            rng = generator(self.seed, draw="bootstrap of labelled items", number=number)
            rows = with_every_label(rng.integers(n_items, size=n_items), self.has, rng)
            refits.append(_Refit.of(self, self.quantifier.refit(rows)._models[0], rows))
        return refits

    def examine(self, sample: JointSample) -> JointFinding:
        """Estimate the shares of the labels in a sample, and test whether that is allowed."""
        n_members, n_items, n_labels = sample.committee.shape
        # Every model of the folds scores every item: scores as those of the training items.
        pooled = sample.committee.reshape(n_members * n_items, n_labels)
        weights = np.tile(sample.weights, n_members)
        weights = weights * (sample.size / weights.sum())
        model = self._whole.model
        scores, together = model.scores(pooled), np.arange(len(pooled))[np.newaxis]
        shares, likeliest = self._solved(model, scores, together, weights)
        (by_member,) = tilted_shares(
            model,
            scores,
            np.arange(len(pooled)).reshape(n_members, n_items),
            weights * n_members,
            [self.power],
        )
        ranks, steps = self.selections.described(self.selections.ranks(pooled), weights)
        selection = self.selections.fits(ranks[np.newaxis], steps[np.newaxis], sample.size)
        fit = self._whole.log_likelihoods(likeliest.tilts, scores, together, weights)[0]
        modelled = self._whole.weights_under(shares)[0]
        null = self.simulated(modelled, sample.size, "joint shift")
        difference = np.average(sample.position, axis=0, weights=sample.weights)
        difference = difference - modelled @ self.position / modelled.sum()
        over_tilt, over_step = fit - selection.by_tilt[0], fit - selection.by_step[0]
        p_values = {"score": p_value(-null.over_tilt, -over_tilt)}
        if self.tests_columns:
            p_values |= _column_p_values(null.away, difference)
        separation, before = (
            self.reference.separation(
                sample.position, weights=training, other_weights=sample.weights
            )
            for training in (self._all_modelled(shares), self.all_weights)
        )
        return JointFinding(
            shift=self,
            size=sample.size,
            estimate=shares.labels[0],
            members=by_member.labels,
            errors=null.errors,
            auc=separation.auc,
            z=separation.z,
            explained=float(
                np.clip(1 - (separation.auc - 0.5) / max(before.auc - 0.5, 1e-9), 0, 1)
            ),
            p_values=p_values,
            over_tilt=float(over_tilt),
            over_step=float(over_step),
            selection=selection,
        )

    def _all_modelled(self, shares: TiltedShares) -> Weights:
        """Weights of all training items under the estimated shares of sets."""
        model = self._whole.model
        ratios = np.append((shares.sets / model.shares)[0], 0.0)
        weights = np.maximum(ratios[_item_sets(model, self.all_has)], LEAST_WEIGHT)
        return np.asarray(weights * self.all_weights)

    def simulated(self, modelled: Reals, size: int, purpose: str) -> "_Simulated":
        """Samples of training items that are drawn with these weights."""
        parts = list(self._drawn(modelled, size, purpose))
        return _Simulated(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _drawn(self, modelled: Reals, size: int, purpose: str) -> "Iterator[tuple[Reals, ...]]":
        for number, refit in enumerate(self._refits):
            rng = generator(self.seed, draw=purpose, number=number, n_items=size)
            probabilities = modelled[refit.unseen]
            index = rng.choice(refit.unseen, (OF_EACH, size), p=probabilities / probabilities.sum())
            ones = np.ones(len(self.has))
            shares, likeliest = self._solved(refit.model, refit.scores, index, ones)
            fit = refit.log_likelihoods(likeliest.tilts, refit.scores, index, ones)
            counts = _counted(index, len(ones)) / size
            # Selections of the same items as the model, so that what these happen to be cancels.
            selections = Selections(self.posteriors, refit.counts / refit.counts.sum())
            selection = selections.fits(
                counts @ selections.own_ranks, counts @ selections.own_steps, size
            )
            weights = refit.weights_under(shares)
            expected = weights @ self.position / weights.sum(axis=1, keepdims=True)
            yield (
                self.has[index].mean(axis=1) - shares.labels,
                fit - selection.by_tilt,
                fit - selection.by_step,
                counts @ self.position - expected,
            )

    def _solved(
        self, model: SetPosteriors, scores: Reals, index: Indices, weights: Reals
    ) -> tuple[TiltedShares, TiltedShares]:
        """The estimate, and the joint shift of the largest likelihood."""
        powers = [self.power, LIKELIEST] if self.power != LIKELIEST else [LIKELIEST]
        by_power = tilted_shares(model, scores, index, weights, powers)
        return by_power[0], by_power[-1]


@dataclass(frozen=True, eq=False)
class _Refit:
    """A model of the sets of labels that was fitted on some of the training items.

    scores: of all training items; item_sets: the set of each, or -1 for one that the model does not
    know; counts: how often each was among those of the fit.
    """

    model: SetPosteriors
    scores: Reals
    item_sets: Indices
    counts: Reals

    @property
    def unseen(self) -> Indices:
        """The training items that were not among those of the fit."""
        return np.flatnonzero(self.counts == 0)

    @classmethod
    def of(cls, shift: JointShift, model: SetPosteriors, rows: Indices) -> Self:
        item_sets = _item_sets(model, shift.has)
        counts = np.bincount(rows, minlength=len(shift.has)) * shift.weights
        return cls(model, model.scores(shift.posteriors), item_sets, counts)

    def weights_under(self, shares: TiltedShares) -> Reals:
        """Weights of the training items under estimated shares of sets, (n_samples, n_items)."""
        ratios = shares.sets / self.model.shares
        return np.where(self.item_sets >= 0, ratios[:, self.item_sets], 0.0) * self.counts

    def log_likelihoods(self, tilts: Reals, scores: Reals, index: Indices, weights: Reals) -> Reals:
        """Log-likelihoods of samples under tilts, relative to that of the training distribution."""
        factors = np.exp(tilts @ self.model.sets.T)
        of_training = self.model.posteriors(self.scores) @ factors.T
        norms = np.log(self.counts @ of_training / self.counts.sum())
        return np.array(
            [
                weights[rows] @ (np.log(self.model.posteriors(scores[rows]) @ of_sets) - norm)
                for rows, of_sets, norm in zip(index, factors, norms, strict=True)
            ]
        )


@dataclass(frozen=True, eq=False)
class _Simulated:
    """Simulated samples: a row for each.

    errors: true shares minus estimates, (n_samples, n_labels); over_tilt, over_step: log-likelihood
    ratios of the joint shift to the best selections; away: means of features minus those expected.
    """

    errors: Reals
    over_tilt: Reals
    over_step: Reals
    away: Reals


def _column_p_values(null: Reals, difference: Reals) -> dict[str, float]:
    """P-values of the largest difference between means of features, and of the sum of squares."""
    centre, spread = null.mean(axis=0), np.maximum(null.std(axis=0), 1e-9)
    null_z, z = (null - centre) / spread, (difference - centre) / spread
    return {
        "column": p_value(np.abs(null_z).max(axis=1), float(np.abs(z).max())),
        "columns": p_value(np.square(null_z).sum(axis=1), float(np.square(z).sum())),
    }


def _item_sets(model: SetPosteriors, has: Flags) -> Indices:
    """The set of each item, or -1 if the model does not know it."""
    numbers = {labels.tobytes(): number for number, labels in enumerate(model.sets > 0)}
    return np.array([numbers.get(labels.tobytes(), -1) for labels in np.ascontiguousarray(has)])


def _counted(index: Indices, n_items: int) -> Reals:
    """How often each item is in each sample, (n_samples, n_items)."""
    return np.stack([np.bincount(rows, minlength=n_items) for rows in index]).astype(np.float64)
