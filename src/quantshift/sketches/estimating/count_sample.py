"""A sample that is given by counts of scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from quantshift.answers.kinds import RANGE
from quantshift.answers.rows import Rows
from quantshift.answers.shares import by_class
from quantshift.base.progress import OnProgress
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.quantifiers.base.estimator import AbstractClassifying
from quantshift.quantifiers.base.guarding import AGREEMENT
from quantshift.quantifiers.likelihood.allowed_range import NOT_SEPARATED
from quantshift.quantifiers.likelihood.posterior_grounds import UNKNOWN_AUC
from quantshift.quantifying.estimating.decision import (
    Decision,
    Evidence,
    spread,
)
from quantshift.quantifying.estimating.evidence import (
    ALL_ALIKE,
    NO_BETTER_THAN_CHANCE,
    adjusted,
    wider_for_features,
)
from quantshift.quantifying.estimating.sample import AbstractSample, ScoredBatch
from quantshift.quantifying.options import EstimationOptions
from quantshift.quantifying.output.result import (
    COVARIATE_SHIFT,
    PRIOR_SHIFT,
    RIGHT_POSTERIORS,
    Assumption,
    Batch,
    LeftOutColumn,
    Shift,
)
from quantshift.quantifying.training.methods import IF_COVARIATE_SHIFT
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.summary import training_warnings
from quantshift.sketches.estimating.audit import AuditedItems, uncounted_items
from quantshift.sketches.estimating.batches import OwnBatch, batches_of, grouped, left_out_rows
from quantshift.sketches.estimating.counts import point_estimates
from quantshift.sketches.estimating.intervals import CountIntervals
from quantshift.sketches.estimating.mixture_tests import MixtureTests
from quantshift.sketches.sketch_table import Sketch


@dataclass(frozen=True, eq=False)
class CountSample(AbstractSample):
    """The batches of a sketch.

    source: its file. order: the column of each class among the scores. trained: the sketch of
    labelled items, if the model was made from one. audited: labelled items of each batch;
    sequential: whether the audit is evaluated again and again.
    """

    model: Model
    by: str | None
    sketch: Sketch
    source: str
    order: Sequence[int]
    trained: Sketch | None
    batches: Mapping[str, OwnBatch]
    audited: Mapping[str, AuditedItems]
    sequential: bool
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        sketch: Sketch,
        source: str,
        model: Model,
        order: Sequence[int],
        trained: Sketch | None,
    ) -> "CountSample":
        """The batches, without an audit."""
        batches = batches_of(sketch, order)
        return cls(model, None, sketch, source, order, trained, batches, {}, False)

    def with_audit(
        self, audited: Mapping[str, AuditedItems], notes: Sequence[str], *, sequential: bool
    ) -> "CountSample":
        """The same with labelled items; notes: about the audit."""
        unknown = sorted(set(audited) - set(self.batches))
        notes = [*notes, *uncounted_items(audited, self.batches)]
        if unknown:
            notes.append(
                f"the audit has labels of batches that are not in the sketch: {unknown[0]!r}"
            )
        return replace(self, audited=audited, sequential=sequential, notes=tuple(notes))

    def sizes(self) -> Mapping[str, int]:
        """How many items each batch has, in the order of the batches."""
        return {name: batch.n_items for name, batch in self.batches.items()}

    def left_out(self, name: str) -> int:
        """How many rows of a batch are counted but not used."""
        return self._left_out.get(name, 0)

    @cached_property
    def _left_out(self) -> Mapping[str, int]:
        return left_out_rows(self.sketch)

    def evidence(
        self, options: EstimationOptions, seed: int, progress: OnProgress
    ) -> Mapping[str, Evidence]:
        """What the scores of every batch that has any say about their classes."""
        progress("estimating", 0, 0)
        filled = [name for name, batch in self.batches.items() if batch.n_items]
        if not filled:
            return {}
        quantifier = self.model.quantifier
        assert isinstance(quantifier, AbstractClassifying)
        intervals, alike = CountIntervals(
            quantifier,
            level=options.level,
            n_bootstrap=options.replicates,
            seed=seed,
            simultaneous=options.simultaneous,
            of=options.of,
            progress=progress,
        ).of(filled, grouped(self.sketch, self.batches, filled, self.order))
        progress("testing for shift", 0, 0)
        tests = self._tests(seed)
        shifts = adjusted(
            [
                None if tests is None else tests.of(self.batches[name], interval)
                for name, interval in zip(filled, intervals, strict=True)
            ]
        )
        return {
            name: _evidence(
                self.model, self.batches[name], interval, shift, options, alike=bool(is_alike)
            )
            for name, interval, shift, is_alike in zip(
                filled, intervals, shifts, alike, strict=True
            )
        }

    def _tests(self, seed: int) -> MixtureTests | None:
        if self.trained is not None:
            return MixtureTests.of_sketch(self.trained, self.sketch, self.order, self.model, seed)
        return MixtureTests.of_model(self.model, seed) if self.model.is_trained else None

    def scored(self, name: str) -> ScoredBatch:
        """The cells of a batch, with labelled items beside or among them."""
        batch = self.batches[name]
        posteriors, counts = batch.posteriors, batch.counts
        codes: Mapping[int, int] = {}
        if name in self.audited:
            labelled = self.audited[name]
            posteriors, counts, codes = (
                labelled.among(batch) if self.sequential else labelled.beside(batch)
            )
        return ScoredBatch(
            name, posteriors, batch.n_items, self.left_out(name), labelled=codes, counts=counts
        )

    def completed(self, batch: Batch, evidence: Evidence) -> Batch:
        """The batch as it is: scores alone say nothing more."""
        return batch

    def rows(self) -> tuple[Rows, ...]:
        """How many rows were counted and used."""
        n_rows, left_out = self.sketch.n_rows, self.sketch.left_out
        return (Rows(self.source, n_rows, n_rows - sum(left_out.values()), left_out),)

    def warnings(self) -> tuple[str, ...]:
        """Warnings about training and about the audit."""
        about_training = training_warnings(self.model) if self.model.is_trained else []
        return (*about_training, *self.notes)

    def left_out_columns(self) -> Sequence[LeftOutColumn]:
        """A sketch has no columns but those of scores."""
        return ()


def _evidence(
    model: Model,
    batch: OwnBatch,
    interval: PrevalenceInterval,
    shift: Shift | None,
    options: EstimationOptions,
    *,
    alike: bool,
) -> Evidence:
    """What the counts of a batch say.

    Without features nothing is evidence for label shift (see `posterior_grounds`), so that the
    default method gives an interval only if the assumptions agree.
    """
    no_estimate_reason = ALL_ALIKE if alike else ""
    if model.is_trained and not interval.informative.any():
        no_estimate_reason = no_estimate_reason or NO_BETTER_THAN_CHANCE
    assumptions = _assumptions(model, batch, interval)
    assumed = options.declared.assumption
    spanning = _spanning(interval, assumptions, model)
    in_range = _widened_for_features(spanning, batch, UNKNOWN_AUC)
    decision = Decision.of_chosen_method(shift)
    if model.takes_posteriors_as_they_are:
        decision = Decision.without_training(assumed)
    elif model.tests_itself:
        decision = Decision.of_scores(
            assumed,
            refuted=shift is not None and shift.is_significant,
            apart=spread(assumptions),
            width=float((in_range.high - in_range.low).max()),
        )
    evidence = Evidence(interval, assumptions, shift, decision)
    if no_estimate_reason:
        return evidence.refused(no_estimate_reason)
    if decision.kind == RANGE:
        interval = in_range if model.is_trained else _anything(interval)
    elif decision.reason == AGREEMENT:
        interval = _widened_for_features(spanning, batch, NOT_SEPARATED)
    return replace(
        evidence,
        interval=interval,
        decision=decision.with_limits(interval.low, interval.high),
    )


def _anything(interval: PrevalenceInterval) -> PrevalenceInterval:
    """Limits that hold every share."""
    return replace(interval, low=np.zeros_like(interval.low), high=np.ones_like(interval.high))


def _widened_for_features(
    interval: PrevalenceInterval, batch: OwnBatch, auc: float
) -> PrevalenceInterval:
    """Limits that allow for changes of features, of which scores show nothing.

    auc: how well the batch may be separated from the training items.
    """
    covariate = (batch.counts @ batch.posteriors / batch.counts.sum())[np.newaxis]
    limits = interval.low[np.newaxis], interval.high[np.newaxis]
    low, high = wider_for_features(limits, covariate, np.array([batch.n_items]), auc)
    return replace(interval, low=low[0], high=high[0])


def _assumptions(
    model: Model, batch: OwnBatch, interval: PrevalenceInterval
) -> tuple[Assumption, ...]:
    """The method's own estimate, and those of two methods that stand for kinds of shift."""
    posteriors, counts = batch.posteriors, batch.counts
    counted = counts @ posteriors / counts.sum()
    if not model.is_trained:
        return (Assumption(RIGHT_POSTERIORS, model.method, by_class(model.classes, counted)),)
    prior = interval.prevalence
    if model.quantifier is not model.base:
        prior = point_estimates(model.base, batch.sample)[0]
    estimates = {
        type(model.base).__name__: (PRIOR_SHIFT, prior),
        IF_COVARIATE_SHIFT.__name__: (COVARIATE_SHIFT, counted),
    }
    if model.method not in estimates:
        estimates = {
            model.method: (f"as {model.method} assumes", interval.prevalence),
            **estimates,
        }
    return tuple(
        Assumption(
            name,
            method,
            by_class(model.classes, p),
            for_comparison=method != model.method,
        )
        for method, (name, p) in estimates.items()
    )


def _spanning(
    interval: PrevalenceInterval, assumptions: Sequence[Assumption], model: Model
) -> PrevalenceInterval:
    """Limits that hold the estimates under all assumptions, none of which is confirmed."""
    points = np.array([[a.prevalence[label] for label in model.classes] for a in assumptions])
    return replace(
        interval,
        low=np.minimum(interval.low, points.min(axis=0)),
        high=np.maximum(interval.high, points.max(axis=0)),
    )
