"""The rates of several labels as text for a terminal: a row for each."""

from collections import defaultdict
from collections.abc import Callable

from quantshift.answers.batch_names import newest_batch, newest_name
from quantshift.answers.kinds import limits_head
from quantshift.answers.merging import of_targets, unless_about_all
from quantshift.answers.rows import much_left_out, rows_of_tables
from quantshift.answers.show.notebook import Summary
from quantshift.answers.text import (
    LONGEST_LABEL,
    aligned,
    headed,
    labelled_lines,
    warning_in_short,
)
from quantshift.answers.words import (
    FOR_ALL,
    estimates_and_limits,
    level_of_each,
    one_line,
    percents,
    shortened,
    some_names,
)
from quantshift.base.nouns import counted, percent
from quantshift.claims import Kind
from quantshift.judging.labels.label_rates import (
    AbstractLabelJudgement,
    LabelJudgedBatch,
    LabelRate,
)
from quantshift.judging.output.text import (
    advice_of,
    agreement_text,
    design_text,
    is_shown_by_labels,
)
from quantshift.judging.result import AbstractJudgement, JudgedBatch, JudgeQuality


def render_text(result: AbstractLabelJudgement, *, details: bool = False) -> str:
    """What a terminal shows. details: with what is assumed, and which rows were used."""
    lines = [*alarms(result), headline(result)]
    for batch in result.batches:
        title = f"{shortened(batch.name)} ({counted(batch.n_items, 'item')})"
        lines += ["", *([] if result.by is None else [title])]
        lines += aligned(label_rows(result, batch))
    lines += ["", *_judges(result)]
    if details:
        lines += headed("Labels", _sentences(result, design_text))
        lines += headed("Assumed", _sentences(result, lambda batch: batch.assumed))
        lines += rows_of_tables(result.first.rows)
        lines += [f"Limits   {level_of_each(result.level_for_all)}"]
        lines += labelled_lines(result.findings, len(result.labels))
    else:
        lines += warning_in_short(result.findings, len(result.batches))
    lines += [f"Next     {line}" for line in _advice(result)]
    return "\n".join(map(one_line, lines))


def headline(result: AbstractLabelJudgement) -> str:
    """The label whose verdicts are furthest from the truth in the last batch, in one line."""
    batch = newest_batch(result.batches)
    where = f"in the {counted(batch.n_items, 'item')} of {shortened(batch.name)}"
    n = counted(len(result.labels), "label")
    estimated = [rate for rate in batch.labels if rate.estimate is not None]
    if not estimated:
        return f"{n} {where}: none can be estimated"
    n_unknown = len(batch.labels) - len(estimated)
    rest = f"; {counted(n_unknown, 'label')} cannot be estimated" if n_unknown else ""
    counted_alone = [rate for rate in estimated if rate.naive is not None]
    if not counted_alone:
        return f"{n} {where}{rest}"
    most = max(counted_alone, key=lambda rate: abs((rate.estimate or 0) - (rate.naive or 0)))
    estimate, naive = percents([most.estimate, most.naive])
    return (
        f"{n} {where}; the verdicts are furthest from the estimate for {shortened(most.label)}: "
        f"{naive} by the verdicts alone, {estimate} estimated{rest}"
    )


def label_rows(result: AbstractLabelJudgement, batch: LabelJudgedBatch) -> list[list[str]]:
    """The labels of a batch with their shares and limits, under a header."""
    own = estimates_and_limits([rate.share for rate in batch.labels])
    for_all = estimates_and_limits([rate.share_for_all for rate in batch.labels])
    naive = percents([rate.naive for rate in batch.labels])
    heads = ["label", "labelled", "verdicts alone", "share", limits_heading(result), FOR_ALL, ""]
    rows = [heads]
    for rate, alone, (estimate, bounds), (_, all_bounds) in zip(
        batch.labels, naive, own, for_all, strict=True
    ):
        name = shortened(rate.label, LONGEST_LABEL)
        cells = [name, f"{rate.n_labelled:,}", "" if rate.naive is None else alone, estimate]
        rows.append([*cells, bounds, all_bounds, ", ".join(marks_of(result, rate))])
    return rows


def marks_of(result: AbstractLabelJudgement, rate: LabelRate) -> list[str]:
    """What is to be said beside the limits of a label."""
    if rate.no_estimate_reason:
        return [rate.no_estimate_reason]
    return [Kind.RANGE] if rate.kind.is_range and not _all_ranges(result) else []


def limits_heading(result: AbstractLabelJudgement) -> str:
    """The header of the limits of each label."""
    return limits_head(Kind.RANGE if _all_ranges(result) else Kind.INTERVAL, result.level)


def _all_ranges(result: AbstractLabelJudgement) -> bool:
    return all(rate.kind.is_range for batch in result.batches for rate in batch.labels)


def summary_of(result: AbstractLabelJudgement) -> Summary:
    """The labels of the last batch."""
    return Summary(
        [headline(result), *alarms(result)], label_rows(result, newest_batch(result.batches))
    )


def labels_in_a_line(result: AbstractLabelJudgement) -> str:
    """All labels of the last batch in one line."""
    batch = newest_batch(result.batches)
    texts = []
    shares = estimates_and_limits([rate.share for rate in batch.labels])
    for rate, (estimate, bounds) in zip(batch.labels, shares, strict=True):
        details = [bounds, *marks_of(result, rate)]
        texts.append(f"{shortened(rate.label)} {estimate} ({', '.join(filter(None, details))})")
    return one_line(
        f"{newest_name(result.batches)}, {counted(batch.n_items, 'item')}: {', '.join(texts)}"
    )


def alarms(result: AbstractLabelJudgement) -> list[str]:
    """Tables from which many rows were left out, and what has to be said."""
    much = (found.sentence for found in much_left_out(result.first.findings))
    return [*much, *result.questions]


def judge_texts(result: AbstractLabelJudgement, label: str) -> list[str]:
    """How well the judges of a label do, in a few words each."""
    answer = result.answers[label]
    judges = answer.overall.judges
    texts = [(judge.name, ", ".join(_quality_texts(answer, judge))) for judge in judges]
    described = [(name, text) for name, text in texts if text]
    return [text if len(judges) == 1 else f"{shortened(name)}: {text}" for name, text in described]


def people_text(answer: AbstractJudgement) -> str:
    """How far people agree about a label; empty if one person labelled each item."""
    people = answer.people
    if people is None:
        return ""
    undecided = f", undecided about {people.n_undecided:,}" if people.n_undecided else ""
    return f"{agreement_text(people)}{undecided}"


def _quality_texts(answer: AbstractJudgement, judge: JudgeQuality) -> list[str]:
    texts = [] if judge.agreement is None else [f"kappa {judge.agreement.estimate:.2f}"]
    texts += [
        f"{what} {percent(rate.estimate)}"
        for what, side in (("sensitivity", 1), ("specificity", 0))
        for rate in judge.rates
        if rate.label == answer.classes[side]
        and dict(zip(judge.verdicts, judge.says, strict=True))[rate.verdict] == rate.label
        and is_shown_by_labels(rate)
    ]
    return texts


def _judges(result: AbstractLabelJudgement) -> list[str]:
    rows = [
        [shortened(label, LONGEST_LABEL), text]
        for label in result.labels
        for text in judge_texts(result, label)
    ]
    people = [
        [shortened(label, LONGEST_LABEL), people_text(result.answers[label])]
        for label in result.labels
    ]
    return [
        *headed("Judges", aligned(rows)),
        *headed("People", aligned([row for row in people if row[1]])),
    ]


def _sentences(result: AbstractLabelJudgement, what: Callable[[JudgedBatch], str]) -> list[str]:
    """Sentences about the whole table, with the labels that they are about unless all."""
    alike: dict[str, list[str]] = defaultdict(list)
    for label, answer in result.answers.items():
        alike[what(answer.overall)].append(label)
    return [
        text if len(labels) == len(result.labels) else f"{some_names(labels)}: {text}"
        for text, labels in alike.items()
    ]


def _advice(result: AbstractLabelJudgement) -> list[str]:
    """What to do next, with the labels that it is about unless all."""
    advice = {label: advice_of(answer.overall) for label, answer in result.answers.items()}
    return unless_about_all(of_targets(advice), len(result.labels))
