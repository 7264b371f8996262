"""What the estimates say of a batch, for people: shares, rates, doubts and advice."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from quantshift.answers.kinds import WIDE
from quantshift.answers.rows import NO_LABEL, Rows
from quantshift.answers.shares import Share
from quantshift.judging.call import Call
from quantshift.judging.estimating.designs import Guess
from quantshift.judging.estimating.estimation import Judged
from quantshift.judging.estimating.ordered import mean
from quantshift.judging.estimating.quality import Quality
from quantshift.judging.inputs import Items
from quantshift.judging.result import (
    Agreement,
    JudgedBatch,
    JudgeQuality,
    LabelDesign,
    MeanLevel,
    Rate,
)

PLANNED, GIVEN = "planned", "given"
"""How labels were chosen, in addition to the designs: by a plan whose probabilities are known; or
there are none, because the rates of the judge are known."""

MOST_NAMED = 3
"""Verdicts that fit no label."""


def batch_of(
    call: Call,
    name: str,
    judged: Judged,
    items: Items,
    lead: str,
    *,
    guess: Guess | None = None,
    pooled: bool = False,
) -> JudgedBatch:
    """An estimate as people see it; pooled: with the labels of all groups."""
    read = call.read
    classes = read.meaning.classes
    known = not judged.why_not
    shares = tuple(
        Share(label, float(p) if known else None, float(low), float(high))
        for label, p, low, high in zip(
            classes, judged.prevalence, judged.low, judged.high, strict=True
        )
    )
    if_calibrated: tuple[Share, ...] = ()
    if judged.range_low is not None and judged.range_high is not None:
        if_calibrated = tuple(
            Share(label, None, float(low), float(high))
            for label, low, high in zip(classes, judged.range_low, judged.range_high, strict=True)
        )
    judges = tuple(_quality(call, j, quality) for j, quality in enumerate(judged.judges))
    if not known:
        # Agreement depends on the shares.
        judges = tuple(replace(judge, agreement=None) for judge in judges)
    own_share = shares[classes.index(lead)]
    assumed = judged.assumed
    if pooled:
        assumed = f"{assumed} The labels of all groups are used for each of them."
    return JudgedBatch(
        name=name,
        n_items=judged.n_items,
        n_labelled=int((items.labels >= 0).sum()) if pooled else judged.n_labelled,
        shares=shares,
        mean=_mean(call, judged, judges) if known else None,
        judges=judges,
        labels=_label_design(call, judged, guess),
        assumed=assumed,
        if_verdicts_mean_the_same=if_calibrated,
        labels_for_half_width=judged.labels_for_half_width,
        warnings=tuple(judged.notes),
        advice=(*_asking(guess), *_advice(judged, own_share, judges, lead)),
        can_be_estimated=known,
        why_not=judged.why_not,
    )


def lost_rows(rows: Rows) -> Rows:
    """The same without the rows that have no label, which are expected in a table of labels."""
    left_out = {why: n for why, n in rows.left_out.items() if why != NO_LABEL}
    return replace(rows, left_out=left_out)


def _mean(call: Call, judged: Judged, judges: Sequence[JudgeQuality]) -> MeanLevel | None:
    if not call.ordered:
        return None
    worth = {name: float(name) for name in call.read.meaning.classes}
    found = mean(judged, list(worth.values()))
    naive = judges[0].naive if judges else None
    naive_mean = (
        None if naive is None else sum(share * worth[name] for name, share in naive.items())
    )
    return MeanLevel(found.mean, found.low, found.high, naive_mean)


def _label_design(call: Call, judged: Judged, guess: Guess | None) -> LabelDesign:
    check = judged.check
    design, stated = judged.design, call.design is not None
    if call.known is not None:
        design, stated = GIVEN, True
    elif call.read.planned:
        design, stated = PLANNED, False
    elif guess is not None:
        stated = False
    sentence = check.sentence if guess is None else f"Guessed: {guess.why}. {check.sentence}"
    guessed = guess is not None
    return LabelDesign(design, stated, guessed, check.ok, check.p_value, check.looks_like, sentence)


def unknown_batch(call: Call, name: str, items: Items, design: str) -> JudgedBatch:
    """A group without an estimate."""
    return JudgedBatch(
        name=name,
        n_items=len(items),
        n_labelled=0,
        shares=tuple(Share(label, None, 0.0, 1.0) for label in call.read.meaning.classes),
        mean=None,
        judges=(),
        labels=LabelDesign(design, call.design is not None, False, True, None, None, ""),
        assumed="",
        if_verdicts_mean_the_same=(),
        labels_for_half_width=None,
        warnings=(),
        advice=(),
        can_be_estimated=False,
        why_not="none of its items has a label",
    )


def _quality(call: Call, position: int, quality: Quality) -> JudgeQuality:
    meant = call.read.meaning
    verdicts, says = meant.verdicts[position], meant.says[position]
    naive = None
    if not np.isnan(quality.naive).any():
        naive = dict(zip(meant.classes, quality.naive.tolist(), strict=True))
    rates = tuple(
        Rate(
            label,
            verdict,
            float(quality.rates[y, c]),
            float(quality.rates_low[y, c]),
            float(quality.rates_high[y, c]),
        )
        for y, label in enumerate(meant.classes)
        for c, verdict in enumerate(verdicts)
        if np.isfinite(quality.rates[y, c])
    )
    agreement = None
    if np.isfinite([quality.kappa, quality.kappa_low, quality.kappa_high]).all():
        agreement = Agreement(
            float(quality.kappa), float(quality.kappa_low), float(quality.kappa_high)
        )
    return JudgeQuality(
        name=call.judges[position],
        verdicts=verdicts,
        says=tuple(None if code < 0 else meant.classes[code] for code in says),
        naive=naive,
        rates=rates,
        agreement=agreement,
    )


def _asking(guess: Guess | None) -> Iterator[str]:
    if guess is not None:
        yield (
            "Say how the labelled items were chosen (labels: random, by-verdict, by-label or "
            "elsewhere): data can contradict a guess, not confirm it."
        )


def _advice(
    judged: Judged, share: Share, judges: Sequence[JudgeQuality], lead: str
) -> Iterator[str]:
    """What to do next."""
    naive = [j.naive[lead] for j in judges if j.naive is not None]
    if naive and all(not share.low <= p <= share.high for p in naive):
        what = (
            "the labels contradict" if judged.n_labelled else "the judge's error rates contradict"
        )
        yield f"Do not report the naive rate: {what} it."
    if share.high - share.low > WIDE:
        yield (
            "The interval says little yet. Label more items: `quantshift judge plan` says how many "
            "and which."
        )
    elif judged.labels_for_half_width is not None:
        yield (
            "Report the rate with its interval. Label again when the judge, its prompt or the kind "
            "of items changes."
        )


def doubts(call: Call) -> Iterator[str]:
    """What looks odd about verdicts and labels."""
    read = call.read
    items = read.items
    labelled = items.labels >= 0
    for j, name in enumerate(call.judges):
        pairs = zip(read.meaning.verdicts[j], read.meaning.says[j], strict=True)
        fit_none = [verdict for verdict, code in pairs if code < 0]
        if fit_none:
            names = ", ".join(map(repr, fit_none[:MOST_NAMED])) + ", ..." * (
                len(fit_none) > MOST_NAMED
            )
            yield (
                f"verdicts of {name!r} that fit no label: {names}; they are used as verdicts of "
                "their own, but there is no naive rate and no kappa, unless you map them to labels"
            )
    counts = np.bincount(items.labels[labelled], minlength=len(read.meaning.classes))
    if read.elsewhere is not None:
        counts = counts + np.bincount(read.elsewhere.labels, minlength=len(counts))
    never = [c for c, n in zip(read.meaning.classes, counts, strict=True) if not n]
    if never and np.count_nonzero(counts) > 1:
        names = ", ".join(map(repr, never))
        yield f"no item is labelled {names}: the interval allows for that, and cannot say more"
