"""What the estimates say about a batch, for people: shares, rates, warnings and advice."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from quantshift.answers.conditions import TOO_WIDE
from quantshift.answers.kinds import CANNOT, INTERVAL, WIDE, is_range
from quantshift.answers.rows import NO_LABEL, Rows
from quantshift.answers.shares import Share, by_class
from quantshift.answers.words import limits, percent
from quantshift.base.nouns import listed
from quantshift.base.types import Codes
from quantshift.judging.designs.at_random import AtRandom
from quantshift.judging.designs.design import Design
from quantshift.judging.designs.guessing import Guess
from quantshift.judging.designs.parts.judge_quality import Quality
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.designs.registry import stated_designs
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.estimating.ordered import mean
from quantshift.judging.items.annotators import panel_error, true_share
from quantshift.judging.items.clusters import cluster_means
from quantshift.judging.items.inputs import ReadItems
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.judge_run import JudgeRun
from quantshift.judging.questions.agreements import labels_alone
from quantshift.judging.questions.win_rates import win_rate
from quantshift.judging.result import (
    Agreement,
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
MOST_NAMED = 3
"""How many verdicts that fit no label are named."""


def whole_batch(run: JudgeRun, judged: Judged, lead: str, guess: Guess | None) -> JudgedBatch:
    """The estimate of all items as people see it; lead: the class that stands for all."""
    batch = _with_counts(run, _batch(run, run.table.name, judged, lead), run.table.items)
    read, position = run.table.items, run.meaning.classes.index(lead)
    items = [run.judged_items(read)]
    if read.undecided.any():
        items.append(run.judged_items(read.otherwise_decided()))
    estimated = batch.kind == INTERVAL
    labels = _label_design(run, judged, guess)
    if batch.is_known and guess is not None and guess.design.name == AtRandom.name:
        # How they were chosen does not matter, and nothing is left to do.
        labels = replace(labels, guessed=False, sentence="")
        return replace(batch, labels=labels, assumed="Nothing.", advice=())
    return replace(
        batch,
        labels_alone=labels_alone(items, judged, position, run.settings) if estimated else None,
        alternatives=(*batch.alternatives, *_if_people_err(run, batch, lead)),
        labels=labels,
        advice=(*_asking(guess), *batch.advice),
    )


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
    run: JudgeRun, name: str, judged: Judged, items: ReadItems, lead: str, *, pooled: bool
) -> JudgedBatch:
    """The estimate of a group; pooled: with the labels of all groups."""
    batch = _with_counts(run, _batch(run, name, judged, lead), items)
    if not pooled:
        return batch
    return replace(
        batch,
        n_labelled=int(items.labelled.sum()),
        assumed=f"{batch.assumed} The labels of all groups are used for each of them.",
    )


def _with_counts(run: JudgeRun, batch: JudgedBatch, items: ReadItems) -> JudgedBatch:
    """The batch with the numbers of its items and labels, judge by judge."""
    if items.verdicts is None:
        return batch
    items, K = items.only_decided(), len(run.meaning.classes)
    assert items.verdicts is not None
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


def _batch(run: JudgeRun, name: str, judged: Judged, lead: str) -> JudgedBatch:
    classes, estimate = run.meaning.classes, judged.shares
    kind, no_estimate_reason = _kind(estimate, classes.index(lead))
    can_be_estimated = kind != CANNOT
    shares = tuple(
        Share(label, float(p) if can_be_estimated else None, float(low), float(high))
        for label, p, low, high in zip(
            classes, estimate.prevalence, estimate.low, estimate.high, strict=True
        )
    )
    if_calibrated: tuple[Share, ...] = ()
    if estimate.if_verdicts_mean_the_same is not None:
        if_calibrated = tuple(
            Share(label, None, float(low), float(high))
            for label, low, high in zip(classes, *estimate.if_verdicts_mean_the_same, strict=True)
        )
    judges = tuple(_quality(run, j, quality) for j, quality in enumerate(judged.judges))
    if not can_be_estimated:
        # Agreement depends on the shares.
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
        if_verdicts_mean_the_same=if_calibrated,
        labels_for_half_width=judged.labels_for_half_width,
        warnings=tuple(judged.notes),
        advice=tuple(_advice(judged, shares[classes.index(lead)], judges)),
        can_be_estimated=can_be_estimated,
        no_estimate_reason=no_estimate_reason,
        kind=kind,
        alternatives=tuple(
            LimitsIf(
                other.assumption,
                float(other.low[classes.index(lead)]),
                float(other.high[classes.index(lead)]),
            )
            for other in estimate.alternatives
        ),
        settle=estimate.settle,
        if_rates_move=tuple(
            ShareIf(
                classes[moved.of_class],
                moved.moved_by,
                float(moved.prevalence[classes.index(lead)]),
            )
            for moved in estimate.if_rates_move
        ),
        win_rate=win_rate(run, judged) if can_be_estimated and run.wins is not None else None,
        clusters_for_half_width=judged.clusters_for_half_width,
        n_clusters=judged.n_clusters,
        weights=run.weights,
    )


def _kind(estimate: ShareEstimate, lead: int) -> tuple[str, str]:
    """The kind of an answer, and why it cannot be given; lead: the class that stands for all."""
    if estimate.no_estimate_reason:
        return CANNOT, estimate.no_estimate_reason
    width = float(estimate.high[lead] - estimate.low[lead])
    if is_range(estimate.kind) and width > TOO_WIDE:
        return CANNOT, f"{limits(estimate.low[lead], estimate.high[lead])} is possible"
    return estimate.kind, ""


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
    return MeanLevel(estimate.mean, estimate.low, estimate.high, naive_mean)


def _label_design(run: JudgeRun, judged: Judged, guess: Guess | None) -> LabelDesign:
    check = judged.check
    return LabelDesign(
        design=judged.design.name,
        stated=guess is None and run.is_stated(),
        guessed=guess is not None,
        ok=check.ok,
        p_value=check.p_value,
        looks_like=check.looks_like,
        sentence=check.sentence if guess is None else f"Guessed: {guess.why}. {check.sentence}",
    )


def unknown_batch(run: JudgeRun, name: str, items: ReadItems, design: Design) -> JudgedBatch:
    """A group without an estimate."""
    labels = LabelDesign(
        design=design.name,
        stated=run.is_stated(),
        guessed=False,
        ok=True,
        p_value=None,
        looks_like=None,
        sentence="",
    )
    return JudgedBatch(
        name=name,
        n_items=len(items),
        n_labelled=0,
        shares=tuple(Share(label, None, 0.0, 1.0) for label in run.meaning.classes),
        mean=None,
        judges=(),
        labels=labels,
        assumed="",
        if_verdicts_mean_the_same=(),
        labels_for_half_width=None,
        warnings=(),
        advice=(),
        can_be_estimated=False,
        no_estimate_reason="none of its items has a label",
        kind=CANNOT,
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
            verdict,
            float(quality.rates[y, c]),
            float(quality.rates_low[y, c]),
            float(quality.rates_high[y, c]),
        )
        for y, label in enumerate(meaning.classes)
        for c, verdict in enumerate(verdicts)
        if np.isfinite(quality.rates[y, c])
    )
    agreement = None
    if np.isfinite([quality.kappa, quality.kappa_low, quality.kappa_high]).all():
        agreement = Agreement(
            float(quality.kappa), float(quality.kappa_low), float(quality.kappa_high)
        )
    return JudgeQuality(
        name=run.judges[position],
        verdicts=verdicts,
        says=tuple(None if code < 0 else meaning.classes[code] for code in says),
        naive=naive,
        rates=rates,
        agreement=agreement,
    )


def _asking(guess: Guess | None) -> Iterator[str]:
    if guess is not None:
        designs = listed([design.name for design in stated_designs()], "or")
        yield (
            f"Say how the labelled items were chosen (labels: {designs}): data can contradict a "
            "guess, not confirm it."
        )


def _advice(judged: Judged, share: Share, judges: Sequence[JudgeQuality]) -> Iterator[str]:
    """What to do next, by the share of the class that stands for all."""
    naive = [j.naive[share.label] for j in judges if j.naive is not None]
    if naive and all(not share.low <= p <= share.high for p in naive):
        what = (
            "the labels contradict" if judged.n_labelled else "the judge's error rates contradict"
        )
        yield f"Do not report the naive rate: {what} it."
    if judged.shares.settle:
        yield judged.shares.settle
    elif share.high - share.low > WIDE:
        yield (
            "The interval says little yet. Label more items: `quantshift judge plan` says how many "
            "and which."
        )
    elif judged.labels_for_half_width is not None:
        yield (
            "Report the rate with its interval. Label again when the judge, its prompt or the kind "
            "of items changes."
        )


def label_warnings(run: JudgeRun) -> Iterator[str]:
    """What looks odd about verdicts and labels."""
    items, external, meaning = run.table.items, run.table.external, run.meaning
    for j, name in enumerate(run.judges):
        pairs = zip(meaning.verdicts[j], meaning.says[j], strict=True)
        fit_none = [verdict for verdict, code in pairs if code < 0]
        if fit_none:
            names = ", ".join(map(repr, fit_none[:MOST_NAMED]))
            if len(fit_none) > MOST_NAMED:
                names += ", ..."
            yield (
                f"verdicts of {name!r} that fit no label: {names}; they are used as verdicts of "
                "their own, but there is no naive rate and no kappa, unless you map them to labels"
            )
    counts = np.bincount(items.labels[items.labelled], minlength=len(meaning.classes))
    if external is not None:
        counts = counts + np.bincount(external.labels, minlength=len(counts))
    never = [c for c, n in zip(meaning.classes, counts, strict=True) if not n]
    if never and np.count_nonzero(counts) > 1:
        names = ", ".join(map(repr, never))
        yield f"no item is labelled {names}: the interval allows for that, and cannot say more"
