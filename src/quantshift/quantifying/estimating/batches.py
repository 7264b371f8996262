"""From the evidence on a batch to its report: shares, audit, change, verdict, advice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from quantshift.answers.shares import Candidate, Share
from quantshift.answers.words import are_yes_and_no, limits
from quantshift.base.types import Posteriors, Prevalences, Reals
from quantshift.claims import Assumption, Facts, Grounds, Kind, Labelled, Reason, decide
from quantshift.claims.findings import Finding, Severity
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.labelling.audit import (
    FEWEST_LABELS,
    AuditInterval,
    audit_interval,
    count_interval,
    reweigh,
)
from quantshift.labelling.sequence import ConfidenceSequence, confidence_sequence
from quantshift.quantifying.declaration import NOTHING_DECLARED, Declaration
from quantshift.quantifying.estimating.sample import ScoredBatch
from quantshift.quantifying.estimating.settling import Question
from quantshift.quantifying.estimating.unlabelled import Evidence, allow_for_unknown
from quantshift.quantifying.findings import Advice, BatchFindings
from quantshift.quantifying.options import AuditOptions
from quantshift.quantifying.output import advice as advising
from quantshift.quantifying.output import verdicts
from quantshift.quantifying.result import Audited, Batch, SequentialProgress, Undeclared
from quantshift.quantifying.training.model import Model

CHANGE_LEVEL = 0.96
"""Confidence required before a share is reported as changed from one batch to the next."""

SMALLEST_CHANGE = 0.01
"""Smaller changes are not reported, however significant; see `changed_classes`."""

MOST_DECIDING = 100
"""If it takes more labels to tell two shares apart, they serve better to measure the share."""

SCORE_BINS = 20

AnyShare = TypeVar("AnyShare", Share, Candidate)

UNCHECKED = "without labelled rows nothing shows that your posteriors are right"


def batch_of(
    model: Model,
    scored: ScoredBatch,
    evidence: Evidence,
    change: tuple[str, ...],
    audit_options: AuditOptions,
    *,
    declared: Declaration = NOTHING_DECLARED,
) -> Batch:
    """A batch in plain numbers and words.

    change: classes whose share differs from that of the batch before. declared: what the user has
    declared about the shift.
    """
    n_items, by_items = scored.n_items, evidence.grounds
    unaudited = _unaudited(model, scored, evidence)
    question = Question.of(evidence, model.classes)
    audit = _audit(model, scored, evidence, audit_options.target, question)
    shares = unaudited if audit is None else audit.shares
    lead = next(share for share in unaudited if share.label == model.headline)
    no_estimate_reason = evidence.no_estimate_reason
    if by_items.kind is Kind.CANNOT and not no_estimate_reason:
        allowed = f"the assumptions allow {limits(lead.low, lead.high)}"
        no_estimate_reason = allowed if model.is_trained else UNCHECKED
    answer = _explained(model, evidence, audit, declared)
    n_deciding = _deciding_labels(model, scored, evidence, question)
    answer = replace(answer, deciding=_deciding(answer, question, n_deciding))
    findings = [
        *_findings(
            model, scored, evidence, given=audit_options.audit is not None, used=audit is not None
        ),
        *advising.advice(
            shares,
            answer,
            can_be_estimated=audit is not None or not no_estimate_reason,
            gone=evidence.gone,
            n_items=n_items,
            level=evidence.interval.level,
        ),
    ]
    grounds = by_items
    if audit is not None:
        labelled = Labelled(at_every_look=audit.progress is not None)
        grounds, no_estimate_reason = decide(Facts(None, labelled=labelled)), ""
    is_known = grounds.kind is not Kind.CANNOT
    histograms_of_scores = histograms(scored.posteriors, scored.counts)
    return Batch(
        name=scored.name,
        n_items=n_items,
        shares=shares,
        unaudited=unaudited,
        alternatives=evidence.alternatives,
        shift=evidence.shift,
        audit=audit,
        change=change if is_known else (),
        scores=dict(zip(model.classes, histograms_of_scores, strict=True)),
        verdict=verdicts.verdict(answer, evidence.no_estimate_reason, lead.estimate),
        findings=tuple(finding.in_batch(scored.name) for finding in findings),
        no_estimate_reason=no_estimate_reason,
        left_out=scored.n_left_out,
        basis=verdicts.basis(answer) if is_known else "",
        grounds=grounds,
        unaudited_grounds=by_items,
        condition=_condition(model, grounds),
        undeclared=_undeclared(model, scored, evidence) if is_declared(grounds) else None,
        none_of_these=evidence.none_of_these,
        command=_command(scored, audit, n_deciding),
    )


def _findings(
    model: Model, scored: ScoredBatch, evidence: Evidence, *, given: bool, used: bool
) -> Iterator[Finding]:
    """What is found about the batch. given, used: whether there is an audit, and one of it."""
    return advising.batch_findings(
        n_items=scored.n_items,
        n_labelled=len(scored.labelled),
        audit_given=given,
        audited=used,
        confused=[] if evidence.no_estimate_reason else _confused(model, evidence.interval),
        none_of_these=evidence.none_of_these,
        closed=are_yes_and_no(model.classes),
    )


def is_declared(grounds: Grounds) -> bool:
    """Whether an interval rests on what the user has declared."""
    return grounds.kind is Kind.CONDITIONAL and grounds.reason is Reason.DECLARED


def _condition(model: Model, grounds: Grounds) -> str:
    """What a conditional answer is right under."""
    if grounds.kind is not Kind.CONDITIONAL:
        return ""
    assumption = grounds.rests_on
    assert assumption is not None
    if assumption is Assumption.METHOD:
        return f"if what {model.method} assumes is right"
    return f"if {assumption.meaning}" if assumption.meaning else assumption.words


def _undeclared(model: Model, scored: ScoredBatch, evidence: Evidence) -> Undeclared | None:
    """What the items would say without the declaration; None if that is not known."""
    if evidence.possible is None:
        return None
    low, high = evidence.possible.tolist()
    shares = tuple(
        Share(label, None, *limit) for label, *limit in zip(model.classes, low, high, strict=True)
    )
    grounds = evidence.undeclared
    if grounds.kind is Kind.EITHER and evidence.either is not None:
        shares = either_shares(model.classes, evidence.either)
    widened = widened_for_left_out(shares, scored.n_items, scored.n_left_out)
    return Undeclared(grounds, widened)


def either_shares(classes: Sequence[str], either: Reals) -> tuple[Share, ...]:
    """Shares with two intervals. either: see `Evidence`."""
    shares = []
    for k, label in enumerate(classes):
        candidates = tuple(
            Candidate(assumption, *either[:, j, k].tolist())
            for j, assumption in enumerate((Assumption.PRIOR, Assumption.COVARIATE))
        )
        ends = min(c.low for c in candidates), max(c.high for c in candidates)
        shares.append(Share(label, None, *ends, candidates))
    return tuple(shares)


def heeding_warnings(batch: Batch, general: Sequence[Finding]) -> Batch:
    """The batch; its advice sends to the warnings, if there are any, before the labels.

    general: findings about more than this batch.
    """
    calm = Advice.AUDIT_WOULD_CONFIRM
    if not any(finding.code is calm for finding in batch.findings):
        return batch
    if not any(found.severity is Severity.WARNING for found in (*general, *batch.findings)):
        return replace(batch, command="")
    heeding = (
        replace(found, code=Advice.SEE_WARNINGS) if found.code is calm else found
        for found in batch.findings
    )
    return replace(batch, findings=tuple(heeding))


def _deciding_labels(
    model: Model, scored: ScoredBatch, evidence: Evidence, question: Question | None
) -> int | None:
    """About how many labels settle which of two shares is true, if a few do."""
    if question is None:
        return None
    n_labels = question.labels_needed(_scores(model, scored, evidence))
    return n_labels if n_labels <= MOST_DECIDING else None


def _deciding(
    answer: verdicts.Explained, question: Question | None, n_labels: int | None
) -> Finding | None:
    """That a few labels settle which of two shares is true; of more classes, of the one it says."""
    if question is None or n_labels is None:
        return None
    other = answer.lead != question.label and len(answer.alternatives[0].prevalence) > 2
    asked = replace(answer, lead=question.label) if other else answer
    return Advice.LABELS_DECIDE.found(
        n_labels=n_labels,
        first=asked.share_if(Assumption.PRIOR) or 0.0,
        second=asked.share_if(Assumption.COVARIATE) or 0.0,
        of="other" if other else "lead",
        label=asked.lead,
    )


def _command(scored: ScoredBatch, audit: Audited | None, n_deciding: int | None) -> str:
    """The command that draws the items to label."""
    if audit is not None:
        return ""
    return scored.command if n_deciding is None else scored.deciding_command


def _explained(
    model: Model, evidence: Evidence, audit: Audited | None, declared: Declaration
) -> verdicts.Explained:
    """What is to be put into words."""
    tags = model.quantifier.tags
    return verdicts.Explained(
        grounds=evidence.grounds,
        shift=evidence.shift,
        alternatives=evidence.alternatives,
        audit=audit,
        lead=model.headline,
        name=model.names[model.headline],
        topics=bool(model.columns.text),
        untrained=not model.is_trained,
        assumption=tags.in_words,
        interval_note=tags.interval_note,
        groups=None if model.groups is None else model.groups.column,
        in_time=model.groups is not None and model.groups.in_time,
        declared=declared.sentence,
    )


def _unaudited(model: Model, scored: ScoredBatch, evidence: Evidence) -> tuple[Share, ...]:
    """The method's own shares; without estimates if nothing can be estimated."""
    if evidence.no_estimate_reason:
        return unknown_shares(model.classes)
    shares = _without_guesses(shares_of(model.classes, evidence.interval), evidence.interval)
    if evidence.grounds.kind is Kind.EITHER and evidence.either is not None:
        shares = either_shares(model.classes, evidence.either)
    if evidence.grounds.kind is Kind.CANNOT:
        shares = tuple(replace(share, estimate=None) for share in shares)
    return widened_for_left_out(shares, scored.n_items, scored.n_left_out)


def allow_for_left_out(
    low: float, high: float, n_used: int, n_left_out: int
) -> tuple[float, float]:
    """Limits for all rows, if those that were left out may be of any class.

    >>> allow_for_left_out(0.25, 0.5, 50, 50)
    (0.125, 0.75)
    """
    rows = n_used + n_left_out
    return allow_for_unknown(low, high, n_left_out / rows if rows else 0.0)


def widened_for_left_out(
    shares: Sequence[Share], n_used: int, n_left_out: int
) -> tuple[Share, ...]:
    """The shares with limits that allow for rows that were left out."""
    if not n_left_out:
        return tuple(shares)

    def widened(part: AnyShare) -> AnyShare:
        low, high = allow_for_left_out(part.low, part.high, n_used, n_left_out)
        return replace(part, low=low, high=high)

    return tuple(
        replace(widened(share), either=tuple(map(widened, share.either))) for share in shares
    )


def unknown_shares(classes: Sequence[str]) -> tuple[Share, ...]:
    """Shares about which nothing is known."""
    return tuple(Share(label, None, 0.0, 1.0) for label in classes)


def _without_guesses(shares: Sequence[Share], interval: PrevalenceInterval) -> tuple[Share, ...]:
    """The shares without the estimates of classes that may have any share at all."""
    return tuple(
        share
        if is_informative or share.low > 0 or share.high < 1
        else Share(share.label, None, 0.0, 1.0)
        for share, is_informative in zip(shares, interval.informative, strict=True)
    )


def _confused(model: Model, interval: PrevalenceInterval) -> list[str]:
    """Classes that the classifier does not separate from another class."""
    pairs = zip(model.classes, interval.informative, strict=True)
    return [label for label, is_informative in pairs if not is_informative]


def empty_batch(name: str, classes: Sequence[str], *, left_out: int = 0) -> Batch:
    """A batch without items. left_out: its rows that could not be used."""
    unknown, none = unknown_shares(classes), decide(Facts(None, n_items=0))
    return Batch(
        name=name,
        n_items=0,
        shares=unknown,
        unaudited=unknown,
        alternatives=(),
        shift=None,
        audit=None,
        change=(),
        scores={},
        verdict="Without items nothing can be said.",
        findings=(BatchFindings.NO_ITEMS.found(batch=name), Advice.GIVE_ITEMS.found(batch=name)),
        no_estimate_reason="there are no items",
        grounds=none,
        unaudited_grounds=none,
        left_out=left_out,
    )


def shares_of(
    classes: Sequence[str], interval: PrevalenceInterval | AuditInterval
) -> tuple[Share, ...]:
    """The shares of the classes and their limits."""
    return tuple(
        Share(label, float(p), float(low), float(high))
        for label, p, low, high in zip(
            classes, interval.prevalence, interval.low, interval.high, strict=True
        )
    )


def _audit(
    model: Model,
    scored: ScoredBatch,
    evidence: Evidence,
    precision: float | None,
    question: Question | None,
) -> Audited | None:
    """What the labels say. precision: see `AuditOptions.target`. question: what they decide."""
    if len(scored.labelled) < FEWEST_LABELS:
        return None
    items, codes = np.array(list(scored.labelled)), np.array(list(scored.labelled.values()))
    interval, scores = evidence.interval, _scores(model, scored, evidence)
    n_classes, level, progress = len(model.classes), interval.level, None
    if precision is None:
        powered = audit_interval(scores, items, codes, level=level, sample_weight=scored.counts)
        counted = count_interval(codes, n_classes, level=level)
    else:
        with_scores = confidence_sequence(
            codes, n_classes, posteriors=scores, items=items, level=level
        )
        labels_only = confidence_sequence(codes, n_classes, n_items=len(scores), level=level)
        powered, counted = (_last_look(each) for each in (with_scores, labels_only))
        reached = with_scores.reached(precision) is not None
        n_needed = len(items) if reached else with_scores.labels_needed(precision)
        progress = SequentialProgress(precision, with_scores.half_width, reached, n_needed)
    outside = (interval.prevalence < powered.low) | (interval.prevalence > powered.high)
    return Audited(
        n_labelled=len(items),
        weight=powered.weight,
        shares=widened_for_left_out(
            shares_of(model.classes, powered), scored.n_items, scored.n_left_out
        ),
        counted=widened_for_left_out(
            shares_of(model.classes, counted), scored.n_items, scored.n_left_out
        ),
        contradicts=bool(outside.any()) and not evidence.no_estimate_reason,
        progress=progress,
        settled=None if question is None else question.settled(scored, scores),
        n_skipped=scored.n_skipped,
    )


def _scores(model: Model, scored: ScoredBatch, evidence: Evidence) -> Posteriors:
    """The posteriors of a batch, adapted to its estimate if there is one."""
    if evidence.no_estimate_reason:
        return scored.posteriors
    return adapted(model, scored.posteriors, evidence.interval.prevalence)


def _last_look(sequence: ConfidenceSequence) -> AuditInterval:
    """The latest interval of a confidence sequence."""
    return AuditInterval(
        prevalence=sequence.prevalence[-1],
        low=sequence.low[-1],
        high=sequence.high[-1],
        level=sequence.level,
        weight=sequence.weight,
        n_labelled=sequence.n_labels,
        n_items=sequence.n_labels if sequence.n_items is None else sequence.n_items,
    )


def adapted(model: Model, posteriors: Posteriors, p_hat: Prevalences) -> Posteriors:
    """Posteriors adapted to the estimated prevalence; those of an untrained model unchanged."""
    return reweigh(posteriors, model.base.prior_, p_hat) if model.is_trained else posteriors


@dataclass(frozen=True, eq=False)
class Compared:
    """What is known of a batch that is compared with the next.

    mean, variance: of the posteriors, and of their mean as that of a sample, (n_classes,).
    """

    interval: PrevalenceInterval
    mean: Reals
    variance: Reals

    @classmethod
    def of(cls, evidence: Evidence, scored: ScoredBatch) -> "Compared":
        """The batch, from what its items show."""
        return cls(evidence.interval, *scored.mean_posterior)


def changed_classes(
    before: Compared | None, now: Compared, classes: Sequence[str]
) -> tuple[str, ...]:
    """Classes whose share differs between two batches by more than chance.

    What is compared is the mean posterior. If the share is the same in both, its expectation is:
    under label shift, since items of a class look the same, and under covariate shift, since it is
    the share. And the training side, which both have in common, does not add to its error. A test
    that knows the classes would mark hardly more changes: of falls by 15 points in samples of 300
    four fifths at an AUC of .95, half at .84.

    Classes about which a batch says nothing are not reported as changed, nor are changes of less
    than one point or, for shares below 4% or above 96%, than a quarter of the smaller part.
    """
    if before is None:
        return ()
    error = np.sqrt(before.variance + now.variance)
    # Bonferroni over the free shares.
    bound = float(ndtri(1 - (1 - CHANGE_LEVEL) / 2 / (len(classes) - 1)))
    p_before, p_now = before.interval.prevalence, now.interval.prevalence
    smaller_part = np.minimum(p_before, 1 - p_before)
    matters = np.abs(p_now - p_before) > np.minimum(SMALLEST_CHANGE, smaller_part / 4)
    moved = matters & (np.abs(now.mean - before.mean) > bound * error)
    moved &= before.interval.informative & now.interval.informative
    return tuple(label for label, has_moved in zip(classes, moved, strict=True) if has_moved)


def histograms(
    posteriors: Posteriors, counts: NDArray[np.float64] | None = None
) -> list[tuple[float, ...]]:
    """For each class, the share of items in each bin of its posterior.

    counts: how many items each row stands for.
    """
    bins = np.minimum(posteriors * SCORE_BINS, SCORE_BINS - 1).astype(np.int64)
    total = len(posteriors) if counts is None else counts.sum()
    histogram_by_class = [
        np.bincount(column, counts, SCORE_BINS) / max(total, 1) for column in bins.T
    ]
    return [tuple(histogram.tolist()) for histogram in histogram_by_class]
