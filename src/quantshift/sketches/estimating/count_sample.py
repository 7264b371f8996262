"""A sample that is given by counts of scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from quantshift.answers.columns import LeftOutColumn
from quantshift.answers.rows import Rows
from quantshift.answers.shares import by_class
from quantshift.base.progress import OnProgress
from quantshift.base.types import Reals
from quantshift.claims import (
    AGREEING_SCORES,
    Alternative,
    Assumption,
    Facts,
    Kind,
    Reason,
    shares_by_assumption,
    spread,
)
from quantshift.claims.findings import Finding
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.quantifiers.base.estimator import AbstractClassifying
from quantshift.quantifiers.base.guarding import NORMAL
from quantshift.quantifiers.likelihood.allowed_range import NOT_SEPARATED, half_width
from quantshift.quantifiers.likelihood.examined_posteriors import UNKNOWN_AUC
from quantshift.quantifiers.likelihood.two_intervals import agreed
from quantshift.quantifying.estimating.evidence import (
    ALL_ALIKE,
    FAR_SURER,
    NO_BETTER_THAN_CHANCE,
    adjusted,
    wider_for_features,
)
from quantshift.quantifying.estimating.sample import AbstractSample, ScoredBatch
from quantshift.quantifying.estimating.summary import training_findings
from quantshift.quantifying.estimating.unlabelled import (
    Evidence,
    facts_of_chosen_method,
    facts_without_training,
)
from quantshift.quantifying.options import AUTO, EstimationOptions
from quantshift.quantifying.result import Batch, Shift
from quantshift.quantifying.training.methods import IF_COVARIATE_SHIFT
from quantshift.quantifying.training.model import Model
from quantshift.sketches.estimating.audit import AUDIT, AuditedItems, uncounted_items
from quantshift.sketches.estimating.batches import OwnBatch, batches_of, grouped, left_out_rows
from quantshift.sketches.estimating.counts import point_estimates
from quantshift.sketches.estimating.intervals import CountIntervals
from quantshift.sketches.estimating.mixture_tests import MixtureTests
from quantshift.sketches.findings import SketchFindings
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
    n_skipped: int = 0
    about_audit: tuple[Finding, ...] = ()

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
        self,
        audited: Mapping[str, AuditedItems],
        n_skipped: int,
        findings: Sequence[Finding],
        *,
        sequential: bool,
    ) -> "CountSample":
        """The same with labelled items.

        n_skipped: rows without a label; findings: about the audit.
        """
        unknown = tuple(sorted(set(audited) - set(self.batches)))
        about_audit = [*findings, *uncounted_items(audited, self.batches)]
        if unknown:
            about_audit.append(SketchFindings.UNKNOWN_BATCHES.found(table=AUDIT, batches=unknown))
        return replace(
            self,
            audited=audited,
            n_skipped=n_skipped,
            sequential=sequential,
            about_audit=tuple(about_audit),
        )

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
            name,
            posteriors,
            batch.n_items,
            self.left_out(name),
            labelled=codes,
            counts=counts,
            n_skipped=self.n_skipped,
        )

    def completed(self, batch: Batch, evidence: Evidence) -> Batch:
        """The batch as it is: scores alone say nothing more."""
        return batch

    def rows(self) -> tuple[Rows, ...]:
        """How many rows were counted and used."""
        n_rows, left_out = self.sketch.n_rows, self.sketch.left_out
        return (Rows(self.source, n_rows, n_rows - sum(left_out.values()), left_out),)

    def findings(self) -> tuple[Finding, ...]:
        """Findings about training and about the audit."""
        about_training = training_findings(self.model) if self.model.is_trained else []
        return (*about_training, *self.about_audit)

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

    Without features nothing is evidence for label shift (see `examined_posteriors`), so that the
    default method gives an interval only if the assumptions agree.
    """
    no_estimate_reason = ""
    if alike:
        no_estimate_reason = ALL_ALIKE if np.ptp(batch.posteriors, axis=0).max() == 0 else FAR_SURER
    if model.is_trained and not interval.informative.any():
        no_estimate_reason = no_estimate_reason or NO_BETTER_THAN_CHANCE
    alternatives = _alternatives(model, batch, interval)
    assumed = options.declared.assumption
    spanning = _spanning(interval, alternatives)
    in_range = _widened_for_features(spanning, batch, UNKNOWN_AUC)
    either = _either(interval, alternatives, batch)
    facts = facts_of_chosen_method(shift)
    if model.takes_posteriors_as_they_are:
        facts = facts_without_training(assumed)
    elif model.tests_itself:
        facts = Facts(
            Assumption.PRIOR,
            declared=None if assumed == AUTO else Assumption(assumed),
            refuted=shift is not None and shift.is_significant,
            apart=spread(alternatives),
            agreeing=AGREEING_SCORES,
            allowed=float(in_range.width.max()),
            length=None if either is None else float((either[2] - either[1]).sum(axis=0).max()),
            n_items=batch.n_items,
        )
    possible = np.array([in_range.low, in_range.high]) if model.tests_itself else None
    evidence = Evidence(interval, alternatives, shift, facts, possible=possible, either=either)
    if no_estimate_reason:
        return evidence.refused(no_estimate_reason)
    grounds = evidence.grounds
    if grounds.kind is Kind.EITHER and either is not None:
        interval = replace(interval, low=either[1].min(axis=0), high=either[2].max(axis=0))
    elif grounds.kind.is_range:
        interval = in_range if model.is_trained else _anything(interval)
    elif grounds.reason is Reason.AGREEMENT:
        interval = _widened_for_features(spanning, batch, NOT_SEPARATED)
        if either is not None:
            prior, covariate = either[0]
            error = (evidence.interval.high - evidence.interval.low) / (2 * NORMAL)
            by_prior = prior[np.newaxis], error[np.newaxis]
            interval = replace(interval, prevalence=agreed(by_prior, covariate[np.newaxis])[0])
    return replace(evidence, interval=interval)


def _either(
    interval: PrevalenceInterval, alternatives: Sequence[Alternative], batch: OwnBatch
) -> Reals | None:
    """The estimates under prior and under covariate shift with their limits; see `Evidence`."""
    shares = shares_by_assumption(alternatives)
    if not {Assumption.PRIOR, Assumption.COVARIATE} <= shares.keys():
        return None
    covariate = shares[Assumption.COVARIATE]
    h = half_width(covariate[np.newaxis], np.array([UNKNOWN_AUC]), np.array([batch.n_items]))[0]
    low = np.stack([interval.low, np.maximum(covariate - h, 0.0)])
    high = np.stack([interval.high, np.minimum(covariate + h, 1.0)])
    return np.stack([np.stack([shares[Assumption.PRIOR], covariate]), low, high])


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


def _alternatives(
    model: Model, batch: OwnBatch, interval: PrevalenceInterval
) -> tuple[Alternative, ...]:
    """The method's own estimate, and those of two methods that stand for kinds of shift."""
    posteriors, counts = batch.posteriors, batch.counts
    counted = counts @ posteriors / counts.sum()
    if not model.is_trained:
        return (Alternative(Assumption.POSTERIORS, model.method, by_class(model.classes, counted)),)
    prior = interval.prevalence
    if model.quantifier is not model.base:
        prior = point_estimates(model.base, batch.sample)[0]
    estimates = {
        type(model.base).__name__: (Assumption.PRIOR, prior),
        IF_COVARIATE_SHIFT.__name__: (Assumption.COVARIATE, counted),
    }
    if model.method not in estimates:
        estimates = {
            model.method: (Assumption.METHOD, interval.prevalence),
            **estimates,
        }
    return tuple(
        Alternative(
            assumption,
            method,
            by_class(model.classes, p),
            for_comparison=method != model.method,
        )
        for method, (assumption, p) in estimates.items()
    )


def _spanning(
    interval: PrevalenceInterval, alternatives: Sequence[Alternative]
) -> PrevalenceInterval:
    """Limits that hold the estimates under all assumptions, none of which is confirmed."""
    points = np.array([each.shares for each in alternatives])
    return replace(
        interval,
        low=np.minimum(interval.low, points.min(axis=0)),
        high=np.maximum(interval.high, points.max(axis=0)),
    )
