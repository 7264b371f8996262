"""Estimates of measures on one sample, and their limits.

Without labels an item has a chance for each class, and what it is depends on the assumption:

    prior        calibrated posteriors corrected to the estimated shares of the sample
    covariate    calibrated posteriors as they are

The evidence decides which of them counts (`quantshift.claims.decide`): if label shift
is declared or there is evidence for it, the first; if it is refuted, the second, in a range that
reaches the first; if there is evidence for neither, both, with the weights of
`quantshift.measuring.adapting.adaptation`. Limits come from replicates: training
items are drawn again and the calibration is fitted to them, the items of the sample are drawn again
for the estimate of the shares, and labels are drawn by the chances of the sample's own items. So
they are about these items, as long as the assumption holds. A range that is too wide to act upon
has no estimate, as with shares.

Calibrated posteriors as they are: the mean of the calibration of the method, a smooth curve, and
isotonic regression. Items that were selected crowd where the curve was supported by few.

References: J. Bialek et al., "Estimating model performance under covariate shift without labels",
2024 (measures as expectations under calibrated posteriors); M. Saerens et al., Neural Computation
14 (2002), for the correction.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Flags, Indices, Posteriors, Prevalences, Reals
from quantshift.claims import WIDEST, Assumption, Facts, Grounds, Reason, decide
from quantshift.classify.calibration.calibration import IsotonicCalibration, fit_isotonic
from quantshift.intervals.engine import training_replicate
from quantshift.items.items import drawn_weights
from quantshift.measuring.adapting.adaptation import label_shift_weight
from quantshift.measuring.adapting.correction import Correction
from quantshift.measuring.measures.label_chances import LabelledScores
from quantshift.measuring.measures.measure import PerformanceMeasure
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.likelihood.sld import AbstractLikelihood

MOST_ITEMS = 5000
"""Replicates of a larger sample use this many random items of it, which makes limits wider."""


@dataclass(frozen=True)
class Measured:
    """A measure on a sample: of one class, or of all of them if `label` is None.

    estimate, low, high: NaN where it is not defined; the estimate also where the limits allow too
    much. training: on held-out training items.
    """

    measure: str
    label: Any
    estimate: float
    low: float
    high: float
    training: float


@dataclass(frozen=True, eq=False)
class Sample:
    """Items without labels.

    posteriors: as trained, (n_items, n_classes). prevalence: the estimated shares if only they
    changed, (n_classes,). facts, support: what is known of the shares, see
    `quantshift.measuring.adapting.adaptation`.
    """

    posteriors: Posteriors
    prevalence: Prevalences
    facts: Facts
    weights: Weights | None = None
    support: float | None = None

    @property
    def grounds(self) -> Grounds:
        """What the estimates stand on, however wide the limits of the shares are."""
        return decide(replace(self.facts, width=0.0, length=None))

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions that count for the limits."""
        if self.grounds.declares_covariate:
            return (Assumption.COVARIATE,)
        if self.grounds.reason in (Reason.DECLARED, Reason.EVIDENCE):
            return (Assumption.PRIOR,)
        return Assumption.PRIOR, Assumption.COVARIATE

    @property
    def assumption_weights(self) -> Reals:
        """How much each of these assumptions counts for the estimate."""
        of_prior = label_shift_weight(self.grounds, self.support)
        by_assumption = {Assumption.PRIOR: of_prior, Assumption.COVARIATE: 1 - of_prior}
        return np.array([by_assumption[assumption] for assumption in self.assumptions])

    def take(self, rows: Indices) -> "Sample":
        """Some of the items."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, posteriors=self.posteriors[rows], weights=weights)


@dataclass(frozen=True, eq=False)
class Use:
    """How a classifier is used: its scores for items and its decisions, as trained or corrected."""

    scores: Posteriors
    predicted: Codes

    def take(self, rows: Indices) -> "Use":
        """The scores and decisions for some of the items."""
        return Use(self.scores[rows], self.predicted[rows])


@dataclass(frozen=True, eq=False)
class MeasureEstimates:
    """One way to use the classifier on a sample: all measures, and the confusion matrix.

    table: the estimated share of items of class i (row) that are predicted as j (column).
    """

    measured: tuple[Measured, ...]
    table: Reals


class PerformanceEstimator:
    """Estimates measures on one sample after another; they share the refits of the training side.

    trained: SLD (or another method of its family) on held-out posteriors of the training items.
    """

    def __init__(
        self,
        trained: AbstractLikelihood,
        measures: Sequence[PerformanceMeasure],
        *,
        classes: NDArray[Any] | Sequence[Any],
        costs: Reals | None = None,
        level: float = 0.95,
        n_replicates: int = 100,
        seed: int = 0,
        most_items: int = MOST_ITEMS,
    ) -> None:
        self.trained, self.measures = trained, tuple(measures)
        self.classes = np.asarray(classes).tolist()
        self.costs, self.level = costs, level
        self.n_replicates, self.seed, self.most_items = n_replicates, seed, most_items

    @cached_property
    def side(self) -> "_TrainingSide":
        """The method with both calibrations."""
        held_out, codes = self.trained.held_out_, self.trained.held_out_codes_
        posteriors = self.trained.held_out_posteriors_
        return _TrainingSide(
            self.trained, partial(fit_isotonic, posteriors, codes, held_out.weights)
        )

    @cached_property
    def refits(self) -> list["_TrainingSide"]:
        """The same fitted again on replicates of the training items."""
        refit = self.trained.refitter()
        rows = (
            training_replicate(self.trained, number, seed=self.seed)
            for number in range(self.n_replicates)
        )
        return [_TrainingSide(refit(drawn), partial(self._isotonic, drawn)) for drawn in rows]

    def _isotonic(self, drawn: Indices) -> IsotonicCalibration:
        """Isotonic regression on some of the training items."""
        codes, weights = self.trained.held_out_codes_, self.trained.held_out_.weights
        refit = self.side.isotonic.refitter(self.trained.held_out_posteriors_, codes, weights)
        return refit(drawn_weights(drawn, weights, len(codes)))

    def in_training(self, use: Use) -> Reals:
        """All values on the held-out training items. use: on these items."""
        held_out = self.trained.held_out_
        items = LabelledScores.of_labels(
            use.scores, use.predicted, self.trained.held_out_codes_, held_out.weights, self.costs
        )
        return self._values(items)

    def of(self, sample: Sample, uses: Sequence[Use], training: Reals) -> list[MeasureEstimates]:
        """The measures of each use. training: the values in training, as a column of the result."""
        points, tables = [], []
        for assumption in sample.assumptions:
            chances = self.side.chances(sample, sample.prevalence, assumption)
            items = [self._items(use, chances, sample.weights) for use in uses]
            points.append([self._values(each) for each in items])
            tables.append([each.table for each in items])
        # An assumption without weight has no say, even where its value is not defined.
        weights = sample.assumption_weights
        counts = np.flatnonzero(weights)
        estimates = np.average(np.array(points)[counts], axis=0, weights=weights[counts])
        mixed_tables = np.average(np.array(tables)[counts], axis=0, weights=weights[counts])
        low, high = self._limits(sample, uses, np.array(points))
        if sample.grounds.kind.is_range:
            too_wide = (high - low > WIDEST) & self._are_shares
            estimates = np.where(too_wide, np.nan, estimates)
        return [
            MeasureEstimates(
                tuple(self._named(estimates[u], low[u], high[u], training)),
                mixed_tables[u],
            )
            for u in range(len(uses))
        ]

    def _items(self, use: Use, chances: Posteriors, weights: Weights | None) -> LabelledScores:
        return LabelledScores(use.scores, use.predicted, chances, weights, self.costs)

    def _limits(self, sample: Sample, uses: Sequence[Use], points: Reals) -> tuple[Reals, Reals]:
        """Limits of every use and value, (n_uses, n_values) each: the hull over assumptions."""
        if len(sample.posteriors) > self.most_items:
            rng = generator(self.seed, purpose="performance: items")
            rows = np.sort(rng.choice(len(sample.posteriors), self.most_items, replace=False))
            sample, uses = sample.take(rows), [use.take(rows) for use in uses]
        values = np.array(list(self._replicates(sample, uses)))
        tails = [(1 - self.level) / 2, (1 + self.level) / 2]
        defined = ~np.isnan(values).all(axis=0)
        quantiles = np.full((2, *values.shape[1:]), np.nan)
        # One more replicate would be between the limits with probability `level`.
        quantiles[:, defined] = np.nanquantile(values[:, defined], tails, axis=0, method="weibull")
        low = np.fmin(quantiles[0], points)
        high = np.fmax(quantiles[1], points)
        return np.fmin.reduce(low, axis=0), np.fmax.reduce(high, axis=0)

    def _replicates(self, sample: Sample, uses: Sequence[Use]) -> Iterator[Reals]:
        """Values for drawn labels, (n_assumptions, n_uses, n_values) for each replicate."""
        n_items = len(sample.posteriors)
        p_hat = self.trained.aggregate(sample.posteriors, sample_weight=sample.weights)
        for number, refitted in enumerate(self.refits):
            rng = generator(self.seed, purpose="performance", number=number)
            drawn = rng.integers(n_items, size=n_items)
            draw = rng.random(n_items)
            weights = None if sample.weights is None else sample.weights[drawn]
            if weights is not None and not weights.any():
                continue
            p_replicate = refitted.method.aggregate(sample.posteriors[drawn], sample_weight=weights)
            moved = np.maximum(sample.prevalence + p_replicate - p_hat, 0.0)
            values = []
            for assumption in sample.assumptions:
                chances = refitted.chances(sample, moved / moved.sum(), assumption)
                above = draw[:, np.newaxis] > np.cumsum(chances[:, :-1], axis=1)
                labels = np.eye(len(self.classes))[above.sum(axis=1)]
                values.append(
                    [self._values(self._items(use, labels, sample.weights)) for use in uses]
                )
            yield np.array(values)

    def _values(self, items: LabelledScores) -> Reals:
        """All values in a row: for each measure the overall value, then that of each class."""
        values: list[float] = []
        for measure in self.measures:
            by_class = [] if measure.of_classes is None else measure.of_classes(items).tolist()
            if measure.overall is not None:
                values.append(measure.overall(items))
            else:
                defined = [value for value in by_class if not np.isnan(value)]
                values.append(float(np.mean(defined)) if defined else np.nan)
            values += by_class
        return np.array(values)

    @cached_property
    def _names(self) -> list[tuple[PerformanceMeasure, Any]]:
        """The measure and the class (None: all of them) of each value."""
        return [
            (measure, label)
            for measure in self.measures
            for label in (None, *(() if measure.of_classes is None else self.classes))
        ]

    @cached_property
    def _are_shares(self) -> Flags:
        return np.array([measure.is_share for measure, _ in self._names])

    def _named(
        self, estimate: Reals, low: Reals, high: Reals, training: Reals
    ) -> Iterator[Measured]:
        # A sum of weights may leave a share a rounding above 1.
        columns = (
            np.where(self._are_shares, values.clip(0, 1), values).tolist()
            for values in (estimate, low, high, training)
        )
        for (measure, label), *numbers in zip(self._names, *columns, strict=True):
            yield Measured(measure.name, label, *numbers)


@dataclass(frozen=True, eq=False)
class _TrainingSide:
    """What is learnt from the held-out training items: a method, and a second calibration.

    The latter takes longer to fit, and only covariate shift needs it.
    """

    method: AbstractLikelihood
    fit_isotonic: Callable[[], IsotonicCalibration]

    @cached_property
    def isotonic(self) -> IsotonicCalibration:
        """The second calibration."""
        return self.fit_isotonic()

    def chances(
        self, sample: Sample, prevalence: Prevalences, assumption: Assumption
    ) -> Posteriors:
        """The chance of each class for every item."""
        calibrator = self.method.calibrator_
        if assumption is Assumption.COVARIATE:
            return (calibrator(sample.posteriors) + self.isotonic(sample.posteriors)) / 2
        return Correction(self.method.prior_, prevalence, 1.0, calibrator)(sample.posteriors)
