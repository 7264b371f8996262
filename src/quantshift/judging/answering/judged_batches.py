"""What the estimates say about a batch, for people: shares, rates, findings and advice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quantshift.answers.kinds import WIDE
from quantshift.answers.rows import NO_LABEL, Rows
from quantshift.answers.shares import Share, by_class
from quantshift.answers.words import limits
from quantshift.base.nouns import percent
from quantshift.base.types import Codes
from quantshift.claims import Assumption, Estimated, Facts, Grounds, Kind, Labelled, decide
from quantshift.claims.findings import Finding, Severity
from quantshift.judging.designs.at_random import AtRandom
from quantshift.judging.designs.design import Design
from quantshift.judging.designs.guessing import Guess
from quantshift.judging.designs.parts.judge_quality import Quality
from quantshift.judging.estimating.judge_run import JudgeRun
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.estimating.ordered import mean
from quantshift.judging.findings import JudgeAdvice, JudgeTableFindings
from quantshift.judging.items.annotators import panel_error, true_share
from quantshift.judging.items.clusters import cluster_means
from quantshift.judging.items.judged_items import AUTO
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.questions.agreements import labels_alone
from quantshift.judging.questions.win_rates import win_rate
from quantshift.judging.reading.inputs import ReadItems
from quantshift.judging.reading.options import question_about_labels
from quantshift.judging.result import (
    MEAN,
    ClusterRates,
    JudgedBatch,
    JudgeQuality,
    LabelDesign,
    LimitsIf,
    MeanLevel,
    Rate,
    ShareIf,
    SummedRates,
)

MOST_ERRORS = 0.4
"""If people err at least this often, labels say nothing about what is true."""
EXACT = 1e-9
"""Limits this close are those of a share that is known."""


@dataclass(frozen=True)
class Standing:
    """What is known of the way in which labelled items were chosen.

    is_stated: whether it is stated or follows from what is given, not guessed. contradicted:
    whether the data contradict it, and the user insists.
    """

    is_stated: bool
    contradicted: bool

    def facts(self, run: JudgeRun, judged: Judged, width: float) -> Facts:
        """On which the kind of an answer depends. width: of the limits of the leading class."""
        declared = judged.design.declares
        if not judged.design.labelled_are_items and run.settings.assume != AUTO:
            declared = Assumption(run.settings.assume)
        everyone = judged.n_items == judged.n_labelled and width < EXACT
        return Facts(
            declared,
            declared=declared,
            refuted=self.contradicted,
            width=width,
            informative=not judged.shares.no_estimate_reason,
            # If all items are labelled, it does not matter how they were chosen.
            labelled=Labelled(self.is_stated or everyone, bounds=judged.shares.bounds),
        )


def whole_batch(run: JudgeRun, judged: Judged, lead: str, guess: Guess | None) -> JudgedBatch:
    """The estimate of all items as people see it; lead: the class that stands for all."""
    standing = Standing(is_stated=guess is None, contradicted=not judged.check.ok)
    batch = _with_counts(run, _batch(run, run.table.name, judged, lead, standing), run.table.items)
    read, position = run.table.items, run.meaning.classes.index(lead)
    items = [run.judged_items(read)]
    if read.undecided.any():
        items.append(run.judged_items(read.otherwise_decided()))
    estimated = not batch.kind.is_range
    labels = _label_design(run, judged, guess)
    if batch.is_known and guess is not None and guess.design.name == AtRandom.name:
        # How they were chosen does not matter, and nothing is left to do.
        labels = replace(labels, guessed=False, sentence="", question="")
        return replace(batch, labels=labels, assumed="Nothing.", findings=_without_advice(batch))
    return replace(
        batch,
        labels_alone=labels_alone(items, judged, position, run.settings) if estimated else None,
        alternatives=(*batch.alternatives, *_if_people_err(run, batch, lead)),
        labels=labels,
    )


def _without_advice(batch: JudgedBatch) -> tuple[Finding, ...]:
    return tuple(f for f in batch.findings if f.severity is not Severity.ADVICE)


def _if_people_err(run: JudgeRun, batch: JudgedBatch, lead: str) -> Iterator[LimitsIf]:
    """The limits of the true share if people err as often as their differences suggest."""
    people, votes = run.people(), run.table.votes
    if people is None or votes is None or not people.error_rate or people.error_rate >= MOST_ERRORS:
        return
    share = next(share for share in batch.shares if share.label == lead)
    wrong = panel_error(people.error_rate, votes)
    yield LimitsIf(
        f"if each person errs {percent(people.error_rate)} of the time, independently of the "
        "others, and the truth is meant",
        min(true_share(share.low, wrong), share.low),
        max(true_share(share.high, wrong), share.high),
    )


def group_batch(
    run: JudgeRun,
    name: str,
    judged: Judged,
    items: ReadItems,
    lead: str,
    standing: Standing,
    *,
    pooled: bool,
) -> JudgedBatch:
    """The estimate of a group. standing: of the design; pooled: with the labels of all groups."""
    batch = _with_counts(run, _batch(run, name, judged, lead, standing), items)
    batch = replace(batch, findings=tuple(found.in_batch(name) for found in batch.findings))
    if not pooled:
        return batch
    return replace(
        batch,
        n_labelled=int(items.labelled.sum()),
        assumed=f"{batch.assumed} The labels of all groups are used for each of them.",
    )


def _with_counts(run: JudgeRun, batch: JudgedBatch, items: ReadItems) -> JudgedBatch:
    """The batch with the numbers of its items and labels, judge by judge."""
    items, K = items.only_decided(), len(run.meaning.classes)
    if items.verdicts is None:
        return batch
    labelled = items.labelled
    judges = []
    for j, judge in enumerate(batch.judges):
        verdicts, V = items.verdicts[:, j], len(judge.verdicts)
        table = np.zeros((K, V), dtype=np.int64)
        np.add.at(table, (items.labels[labelled], verdicts[labelled]), 1)
        counts = tuple(tuple(row) for row in table.tolist())
        every = tuple(np.bincount(verdicts, minlength=V).tolist())
        by_cluster = None if batch.n_clusters is None else _cluster_rates(items, run.meaning, j)
        judges.append(replace(judge, counts=counts, items=every, cluster_rates=by_cluster))
    return replace(batch, judges=tuple(judges))


def _cluster_rates(items: ReadItems, meaning: Meaning, j: int) -> ClusterRates | None:
    """How often a judge is right, cluster by cluster."""
    if items.verdicts is None or items.clusters is None:
        return None
    labelled = items.labelled
    labels, verdicts, clusters = (
        items.labels[labelled],
        items.verdicts[labelled, j],
        items.clusters[labelled],
    )
    right = np.array(meaning.says[j])[verdicts] == labels

    def summed(codes: Codes, n: int) -> tuple[SummedRates, ...]:
        parts = [codes == code for code in range(n)]
        rates = [cluster_means(right[part], clusters[part]) for part in parts]
        return tuple(SummedRates(float(rate.sum()), len(rate)) for rate in rates)

    return ClusterRates(
        summed(labels, len(meaning.classes)), summed(verdicts, len(meaning.verdicts[j]))
    )


def _batch(run: JudgeRun, name: str, judged: Judged, lead: str, standing: Standing) -> JudgedBatch:
    classes, estimate = run.meaning.classes, judged.shares
    position = classes.index(lead)
    low, high = (float(limit[position]) for limit in (estimate.low, estimate.high))
    grounds = decide(standing.facts(run, judged, high - low))
    can_be_estimated = grounds.kind is not Kind.CANNOT
    no_estimate_reason = estimate.no_estimate_reason
    if not can_be_estimated and not no_estimate_reason:
        no_estimate_reason = f"{limits(low, high)} is possible"
    shares = tuple(
        Share(label, float(p) if can_be_estimated else None, float(low), float(high))
        for label, p, low, high in zip(
            classes, estimate.prevalence, estimate.low, estimate.high, strict=True
        )
    )
    judges = tuple(_quality(run, j, quality) for j, quality in enumerate(judged.judges))
    if not can_be_estimated and judged.design.labelled_are_items:
        # Agreement among these items depends on their shares.
        judges = tuple(replace(judge, agreement=None) for judge in judges)
    return JudgedBatch(
        name=name,
        n_items=judged.n_items,
        n_labelled=judged.n_labelled,
        shares=shares,
        mean=_mean(run, judged, judges) if can_be_estimated else None,
        judges=judges,
        labels=_label_design(run, judged, None),
        assumed=judged.assumption,
        labels_for_half_width=judged.labels_for_half_width,
        findings=(*judged.findings, *_advice(judged, grounds, shares[position], judges)),
        grounds=grounds,
        condition=_condition(grounds, judged),
        no_estimate_reason=no_estimate_reason,
        alternatives=tuple(
            LimitsIf(other.assumption, float(other.low[position]), float(other.high[position]))
            for other in estimate.alternatives
        ),
        if_rates_move=tuple(
            ShareIf(
                classes[moved.of_class],
                moved.moved_by,
                float(moved.prevalence[position]),
            )
            for moved in estimate.if_rates_move
        ),
        win_rate=win_rate(run, judged, run.wins) if can_be_estimated and run.wins else None,
        clusters_for_half_width=judged.clusters_for_half_width,
        n_clusters=judged.n_clusters,
        weights=run.weights,
    )


def _condition(grounds: Grounds, judged: Judged) -> str:
    """What a conditional answer is right under."""
    if grounds.kind is not Kind.CONDITIONAL:
        return ""
    if grounds.rests_on is not None:
        return grounds.rests_on.words
    contrary = "" if judged.check.ok else ", which the data contradict"
    return f"if the labelled items were {judged.design.chosen}{contrary}"


def lost_rows(rows: Rows) -> Rows:
    """The same without the rows that have no label, which are expected in a table of labels."""
    left_out = {why: n for why, n in rows.left_out.items() if why != NO_LABEL}
    return replace(rows, left_out=left_out)


def _mean(run: JudgeRun, judged: Judged, judges: Sequence[JudgeQuality]) -> MeanLevel | None:
    if not run.meaning.ordered:
        return None
    worth = {name: float(name) for name in run.meaning.classes}
    estimate = mean(judged, list(worth.values()))
    naive = judges[0].naive if judges else None
    naive_mean = (
        None if naive is None else sum(share * worth[name] for name, share in naive.items())
    )
    return MeanLevel(MEAN, estimate.estimate, estimate.low, estimate.high, naive_mean)


def _label_design(run: JudgeRun, judged: Judged, guess: Guess | None) -> LabelDesign:
    check = judged.check
    return LabelDesign(
        design=judged.design.name,
        stated=guess is None and run.is_stated(),
        guessed=guess is not None,
        ok=check.ok,
        p_value=check.p_value,
        looks_like=check.looks_like,
        sentence=check.sentence
        if guess is None
        else f"Guessed: {guess.why}. {check.sentence}".strip(),
        question="" if guess is None else question_about_labels(judged.n_labelled),
    )


def unknown_batch(
    name: str,
    classes: Sequence[str],
    design: Design,
    reason: str,
    *,
    n_items: int = 0,
    is_stated: bool = False,
) -> JudgedBatch:
    """A group without an estimate, and why."""
    labels = LabelDesign(
        design=design.name,
        stated=is_stated,
        guessed=False,
        ok=True,
        p_value=None,
        looks_like=None,
        sentence="",
    )
    return JudgedBatch(
        name=name,
        n_items=n_items,
        n_labelled=0,
        shares=tuple(Share(label, None, 0.0, 1.0) for label in classes),
        mean=None,
        judges=(),
        labels=labels,
        assumed="",
        labels_for_half_width=None,
        findings=(),
        grounds=decide(Facts(None, n_items=n_items, informative=False, labelled=Labelled())),
        no_estimate_reason=reason,
    )


def _quality(run: JudgeRun, position: int, quality: Quality) -> JudgeQuality:
    meaning = run.meaning
    verdicts, says = meaning.verdicts[position], meaning.says[position]
    naive = None
    if not np.isnan(quality.naive).any():
        naive = by_class(meaning.classes, quality.naive)
    rates = tuple(
        Rate(
            label,
            float(quality.rates[y, c]),
            float(quality.rates_low[y, c]),
            float(quality.rates_high[y, c]),
            verdict,
        )
        for y, label in enumerate(meaning.classes)
        for c, verdict in enumerate(verdicts)
        if np.isfinite(quality.rates[y, c])
    )
    agreement = None
    if np.isfinite([quality.kappa, quality.kappa_low, quality.kappa_high]).all():
        kappa = quality.kappa, quality.kappa_low, quality.kappa_high
        agreement = Estimated("kappa", *map(float, kappa))
    return JudgeQuality(
        name=run.judges[position],
        verdicts=verdicts,
        says=tuple(None if code < 0 else meaning.classes[code] for code in says),
        naive=naive,
        rates=rates,
        agreement=agreement,
    )


def _advice(
    judged: Judged, grounds: Grounds, share: Share, judges: Sequence[JudgeQuality]
) -> Iterator[Finding]:
    """What to do next, by the share of the class that stands for all.

    What rests on a guess or on a declaration contradicts no naive rate.
    """
    naive = [j.naive[share.label] for j in judges if j.naive is not None]
    outside = bool(naive) and all(not share.low <= p <= share.high for p in naive)
    if outside and grounds.kind is not Kind.CONDITIONAL:
        if judged.shares.bounds:
            yield JudgeAdvice.NAIVE_OUTSIDE_RANGE.found()
        else:
            by = "labels" if judged.n_labelled else "rates"
            yield JudgeAdvice.NAIVE_CONTRADICTED.found(by=by)
    if judged.shares.settle is not None:
        yield judged.shares.settle
    elif share.width > WIDE:
        yield JudgeAdvice.LABEL_MORE.found()


def findings_about_labels(run: JudgeRun) -> Iterator[Finding]:
    """What looks odd about verdicts and labels."""
    items, external, meaning = run.table.items, run.table.external, run.meaning
    for j, name in enumerate(run.judges):
        pairs = zip(meaning.verdicts[j], meaning.says[j], strict=True)
        fit_none = tuple(verdict for verdict, code in pairs if code < 0)
        if fit_none:
            yield JudgeTableFindings.VERDICTS_WITHOUT_LABEL.found(judge=name, verdicts=fit_none)
    counts = np.bincount(items.labels[items.labelled], minlength=len(meaning.classes))
    if external is not None:
        counts = counts + np.bincount(external.labels, minlength=len(counts))
    never = tuple(c for c, n in zip(meaning.classes, counts, strict=True) if not n)
    if never and np.count_nonzero(counts) > 1:
        yield JudgeTableFindings.CLASSES_WITHOUT_LABEL.found(classes=never)
