"""Several labels as text for a terminal: a row for each, the largest change from training first."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from quantshift.answers.batch_names import newest_batch, newest_name
from quantshift.answers.kinds import common_head
from quantshift.answers.marks import legend
from quantshift.answers.merging import of_targets, unless_about_all
from quantshift.answers.rows import besides_rows, much_left_out, rows_of_tables
from quantshift.answers.show.notebook import Summary
from quantshift.answers.text import (
    LONGEST_LABEL,
    aligned,
    labelled_lines,
    more_lines,
    some,
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
from quantshift.base.nouns import counted
from quantshift.claims.findings import About, Finding
from quantshift.quantifying.labels.label_result import (
    AbstractLabelQuantification,
    LabelAnswer,
    LabelBatch,
)
from quantshift.quantifying.labels.label_training import LabelModels, LeftOutLabel, beside_labels
from quantshift.quantifying.output.text import advice_of, column_lines, declared_line, marks
from quantshift.quantifying.result import Batch

MOST_BATCHES = 6
"""Of more batches only the last ones are printed, unless all are asked for."""


def render_text(result: AbstractLabelQuantification, *, details: bool = False) -> str:
    """What a terminal shows. details: with all that was tested, of every batch, and of what."""
    shown_batches = result.batches if details else result.batches[-MOST_BATCHES:]
    lines = [*alarms(result), headline(result), *declared_line(result.first)]
    for batch in shown_batches:
        lines += ["", *([] if len(result.batches) == 1 else [_batch_title(batch)])]
        lines += aligned(label_rows(result, batch))
    hidden = len(result.batches) - len(shown_batches)
    if hidden:
        lines += ["", more_lines(hidden).strip()]
    meanings = legend(mark for batch in shown_batches for mark in marks_in(result, batch))
    lines += ["", *aligned(meanings)] if meanings else []
    if not details:
        warnings = warning_in_short(shown_findings(result), len(result.batches))
        lines += ["", *warnings, *some(f"Next     {line}" for line in _advice(result))]
        return "\n".join(map(one_line, lines))
    lines += ["", *_findings(result)]
    lines += ["", *column_lines(result.used, result.left_out_columns)]
    lines += [*rows_of_tables(result.sample_rows)]
    lines += [f"{name:9}{text}" for name, text in method_facts(result)]
    return "\n".join(map(one_line, lines))


def headline(result: AbstractLabelQuantification) -> str:
    """The label that has changed most in the last batch, in one line."""
    batch = newest_batch(result.batches)
    where = f"in the {counted(batch.n_items, 'item')} of {shortened(batch.name)}"
    estimated = [answer for answer in batch.labels if answer.estimate is not None]
    n_either = sum(bool(answer.either) for answer in batch.labels)
    n = counted(len(result.labels), "label")
    if not estimated and n_either:
        return f"{n} {where}: {counted(n_either, 'label')} with one of two intervals"
    if not estimated:
        return f"{n} {where}: none can be estimated"
    most = estimated[0]
    estimate, training = percents([most.estimate, most.training])
    n_others = len(batch.labels) - len(estimated) - n_either
    rest = f"; {counted(n_others, 'label')} cannot be estimated" if n_others else ""
    if n_either:
        rest += f"; {counted(n_either, 'label')} with one of two intervals"
    return (
        f"{n} {where}; {shortened(most.label)} has changed most: {estimate}, {training} in "
        f"training{rest}"
    )


def label_rows(result: AbstractLabelQuantification, batch: LabelBatch) -> list[list[str]]:
    """The labels of a batch with their shares and limits, under a header."""
    answers = batch.labels
    own = estimates_and_limits([answer.share for answer in answers])
    for_all = [bounds for _, bounds in estimates_and_limits([a.share_for_all for a in answers])]
    training = percents([answer.training for answer in answers])
    rows = [["label", "training", "share", "change", limits_heading(result), FOR_ALL, ""]]
    for answer, before, (estimate, bounds), all_bounds in zip(
        answers, training, own, for_all, strict=True
    ):
        named = shortened(answer.label, LONGEST_LABEL)
        cells = [named, before, estimate, change_text(answer), bounds, all_bounds]
        rows.append([*cells, ", ".join(marks_of(result, batch, answer))])
    return rows


def change_text(answer: LabelAnswer) -> str:
    """How far the share is from that in training, in percentage points."""
    return "" if answer.change is None else f"{100 * answer.change:+.1f}"


def marks_of(
    result: AbstractLabelQuantification, batch: LabelBatch, answer: LabelAnswer
) -> list[str]:
    """The marks of a label in a batch."""
    own = result.answers[answer.label].batches
    return marks(next(each for each in own if each.name == batch.name))


def marks_in(result: AbstractLabelQuantification, batch: LabelBatch) -> Iterator[str]:
    """The marks of all labels in a batch."""
    for answer in batch.labels:
        yield from marks_of(result, batch, answer)


def limits_heading(result: AbstractLabelQuantification) -> str:
    """The header of the limits of each label."""
    kinds = (answer.kind for batch in result.batches for answer in batch.labels)
    return common_head(kinds, result.level)


def summary_of(result: AbstractLabelQuantification) -> Summary:
    """The labels of the last batch."""
    return Summary(
        [headline(result), *alarms(result)], label_rows(result, newest_batch(result.batches))
    )


def labels_in_a_line(result: AbstractLabelQuantification) -> str:
    """All labels of the last batch in one line, the largest change first."""
    batch = newest_batch(result.batches)
    shares = [answer.share for answer in batch.labels]
    texts = []
    for answer, (estimate, bounds) in zip(batch.labels, estimates_and_limits(shares), strict=True):
        facts = [change_text(answer), bounds, *marks_of(result, batch, answer)]
        texts.append(f"{shortened(answer.label)} {estimate} ({', '.join(filter(None, facts))})")
    return one_line(
        f"{newest_name(result.batches)}, {counted(batch.n_items, 'item')}: {', '.join(texts)}"
    )


def label_model_lines(models: LabelModels) -> Iterator[str]:
    """What models of several labels were trained on, and how."""
    first = models.models[0]
    yield f"{first.training.n_items:,} labelled rows, {counted(len(models.labels), 'label')}"
    rows = [["label", "rows", "accuracy", ""]]
    for label, model in zip(models.labels, models.models, strict=True):
        accuracy = model.training.accuracy or 0.0
        counts = f"{model.training.counts[label]:,}"
        named = shortened(label, LONGEST_LABEL)
        rows.append([named, counts, f"{100 * accuracy:.1f}%", model.training.classifier])
    yield from aligned(rows)
    yield from column_lines(first.columns.used, beside_labels(first.columns.left_out))
    yield from (f"Warning  {line}" for line in _not_learnt(models.left_out))
    findings = {model.headline: model.training.findings for model in models.models}
    yield from labelled_lines(of_targets(findings), len(models.labels))
    if first.declared.sentence:
        yield f"You declared: {first.declared.sentence}"


def _batch_title(batch: LabelBatch) -> str:
    return f"{shortened(batch.name)} ({counted(batch.n_items, 'item')})"


def alarms(result: AbstractLabelQuantification) -> list[str]:
    """Tables of which many rows were left out."""
    return [found.sentence for found in much_left_out(result.findings)]


def shown_findings(result: AbstractLabelQuantification) -> list[Finding]:
    """Warnings and notes, except what is said under `Rows`."""
    return besides_rows(result.findings)


def _findings(result: AbstractLabelQuantification) -> Iterator[str]:
    """What the tests say of each label, warnings and advice, each once."""
    if len(result.batches) > 1:
        yield from _shifts_in_short(result)
    yield from some(f"Shift    {line}" for line in _verdicts(result))
    if any(answer.shift for batch in result.batches for answer in batch.labels):
        yield "         (changed shares of the other labels do not explain it either)"
    cut = sorted({a.label for batch in result.batches for a in batch.labels if a.cut})
    if cut:
        parents = ", ".join(f"{label} within {result.parents[label]}" for label in cut)
        yield f"Parents  shares or limits were cut at those of the parent: {parents}"
    yield from (f"Warning  {line}" for line in left_out_text(result))
    yield from labelled_lines(shown_findings(result), len(result.labels))
    yield from some(f"Next     {line}" for line in _advice(result))


def _shifts_in_short(result: AbstractLabelQuantification) -> Iterator[str]:
    """In how many batches more has changed than the share of each label."""
    n = len(result.batches)
    shifts = Counter(a.label for batch in result.batches for a in batch.labels if a.shift)
    if shifts:
        counts = [f"{shortened(label)} in {k:,}" for label, k in shifts.most_common()]
        yield (
            f"Shift    more has changed than the share of the label: {some_names(counts)} of "
            f"{n:,} batches"
        )


def left_out_text(result: AbstractLabelQuantification) -> Iterator[str]:
    """Which labels of the training table are not estimated, if any."""
    yield from _not_learnt(result.left_out_labels)


def _not_learnt(left_out: Sequence[LeftOutLabel]) -> Iterator[str]:
    names = [f"{other.name} ({other.reason})" for other in left_out]
    if names:
        verb = "is" if len(names) == 1 else "are"
        yield (
            f"{counted(len(names), 'label')} cannot be learnt and {verb} not estimated: "
            f"{some_names(names)}"
        )


def _verdicts(result: AbstractLabelQuantification) -> list[str]:
    """What the tests say, with the labels of which they say it unless it is all of them."""
    alike: dict[str, list[str]] = defaultdict(list)
    for label, batch in _own_batches(result):
        alike[batch.verdict].append(_where(result, label, batch))
    n_all = len(result.labels) * len(result.batches)
    return [
        verdict if len(names) == n_all else f"{some_names(names)}: {verdict}"
        for verdict, names in alike.items()
    ]


def _advice(result: AbstractLabelQuantification) -> list[str]:
    """What to do next, with the labels that it is about unless all."""
    advice = [
        replace(found, about=About(target=_where(result, label, batch)))
        for label, batch in _own_batches(result)
        for found in advice_of(batch)
    ]
    return unless_about_all(advice, len(result.labels) * len(result.batches))


def _own_batches(result: AbstractLabelQuantification) -> Iterator[tuple[str, Batch]]:
    for label, answer in result.answers.items():
        for batch in answer.batches:
            yield label, batch


def _where(result: AbstractLabelQuantification, label: str, batch: Batch) -> str:
    return f"{label} in {batch.name}" if len(result.batches) > 1 else label


def method_facts(result: AbstractLabelQuantification) -> list[tuple[str, str]]:
    """How the answers were found, each with its name."""
    first = result.first
    methods = sorted({answer.method for answer in result.answers.values()})
    together = {
        answer.label: answer.method
        for batch in result.batches
        for answer in batch.labels
        if answer.method not in methods
    }
    facts = [("Method", f"{', '.join(methods)}, for each label on its own: {first.reason}")]
    if together:
        jointly = ", ".join(sorted(set(together.values())))
        labels = some_names([shortened(label) for label in result.labels if label in together])
        facts.append(
            (
                "Together",
                f"{labels}, by {jointly}, because nothing contradicts that only the shares of the "
                "labels and of their combinations have changed",
            )
        )
    return [
        *facts,
        ("Assumes", first.plain_assumption),
        ("Limits", level_of_each(result.level_for_all)),
        ("Trained", f"on {first.training.n_items:,} rows of {first.training.source}"),
    ]
