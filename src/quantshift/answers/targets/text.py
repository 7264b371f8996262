"""Several targets as text for a terminal: a row for each, the largest difference first."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from quantshift.answers.batch_names import newest_batch, newest_name
from quantshift.answers.columns import column_lines
from quantshift.answers.kinds import common_head
from quantshift.answers.marks import legend
from quantshift.answers.merging import unless_about_all
from quantshift.answers.rows import besides_rows, much_left_out, rows_of_tables
from quantshift.answers.show.batches import Fact
from quantshift.answers.show.notebook import Summary
from quantshift.answers.targets.result import AbstractTargetAnswers, TargetsBatch
from quantshift.answers.text import (
    LONGEST_LABEL,
    aligned,
    headed,
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
from quantshift.claims.findings import About

Result: TypeAlias = AbstractTargetAnswers[Any]

MOST_BATCHES = 6
"""Of more batches only the last ones are printed, unless all are asked for."""


def render_text(result: Result, *, details: bool = False) -> str:
    """What a terminal shows. details: with all that was tested, of every batch, and of what."""
    shown_batches = result.batches if details else result.batches[-MOST_BATCHES:]
    lines = [*alarms(result), headline(result)]
    for batch in shown_batches:
        title = f"{shortened(batch.name)} ({counted(batch.n_items, 'item')})"
        lines += ["", *([] if result.first.by is None and len(result.batches) == 1 else [title])]
        lines += aligned(target_rows(result, batch))
    hidden = len(result.batches) - len(shown_batches)
    if hidden:
        lines += ["", more_lines(hidden).strip()]
    meanings = legend(mark for batch in shown_batches for mark in _marks_in(result, batch))
    lines += ["", *aligned(meanings)] if meanings else []
    lines += ["", *fact_lines(result, details=details)]
    if details:
        lines += column_lines(result.first.used, left_out_columns(result))
        lines += rows_of_tables(result.first.all_rows)
        lines += [f"Limits   {level_of_each(result.level_for_all)}"]
        lines += labelled_lines(besides_rows(result.findings), len(result.targets))
    else:
        lines += warning_in_short(besides_rows(result.findings), len(result.batches))
    lines += some(f"Next     {line}" for line in _advice(result))
    return "\n".join(map(one_line, lines))


def headline(result: Result) -> str:
    """The target that is furthest from its reference in the newest batch, in one line."""
    batch = newest_batch(result.batches)
    where = f"in the {counted(batch.n_items, 'item')} of {shortened(batch.name)}"
    n = counted(len(result.targets), "label")
    estimated = [share for share in batch.shares if share.estimate is not None]
    n_either = sum(bool(share.either) for share in batch.shares)
    n_unknown = len(batch.shares) - len(estimated) - n_either
    either = f"{counted(n_either, 'label')} with one of two intervals"
    if not estimated:
        return f"{n} {where}: {either if n_either else 'none can be estimated'}"
    rest = f"; {counted(n_unknown, 'label')} cannot be estimated" if n_unknown else ""
    rest += f"; {either}" if n_either else ""
    most = estimated[0]
    if most.difference is None:
        return f"{n} {where}{rest}"
    estimate, reference = percents([most.estimate, most.reference])
    return (
        f"{n} {where}; {shortened(most.label)} is furthest from its share "
        f"{result.first.in_reference} ({reference}): {estimate} estimated{rest}"
    )


def target_rows(result: Result, batch: TargetsBatch) -> list[list[str]]:
    """The targets of a batch with their shares and limits, under a header."""
    shares = batch.shares
    own = estimates_and_limits(shares)
    for_all = estimates_and_limits([share.for_all for share in shares])
    references = percents([share.reference for share in shares])
    cells = [result.own_batch(batch, share.label).cells for share in shares]
    heads = ["label", *cells[0], result.first.reference_name, "share", "difference"]
    rows = [[*heads, limits_heading(result), FOR_ALL, ""]]
    for share, more, reference, (estimate, bounds), (_, all_bounds) in zip(
        shares, cells, references, own, for_all, strict=True
    ):
        before = "" if share.reference is None else reference
        change = "" if share.difference is None else f"{100 * share.difference:+.1f}"
        named = shortened(share.label, LONGEST_LABEL)
        numbers = [*more.values(), before, estimate, change, bounds, all_bounds]
        rows.append([named, *numbers, ", ".join(result.own_batch(batch, share.label).marks)])
    return rows


def limits_heading(result: Result) -> str:
    """The header of the limits of each target."""
    kinds = (share.kind for batch in result.batches for share in batch.shares)
    return common_head(kinds, result.level)


def summary_of(result: Result) -> Summary:
    """The targets of the newest batch."""
    newest = newest_batch(result.batches)
    return Summary([headline(result), *alarms(result)], target_rows(result, newest))


def targets_in_a_line(result: Result) -> str:
    """All targets of the newest batch in one line, the largest difference first."""
    batch = newest_batch(result.batches)
    texts = []
    for share, row in zip(batch.shares, target_rows(result, batch)[1:], strict=True):
        *_, estimate, change, bounds, _, marks = row
        facts = ", ".join(filter(None, (change, bounds, marks)))
        texts.append(f"{shortened(share.label)} {estimate} ({facts})")
    return one_line(
        f"{newest_name(result.batches)}, {counted(batch.n_items, 'item')}: {', '.join(texts)}"
    )


def alarms(result: Result) -> list[str]:
    """Tables of which many rows were left out, and what has to be said."""
    much = (found.sentence for found in much_left_out(result.findings))
    return [*much, *result.questions]


def fact_lines(result: Result, *, details: bool = True) -> Iterator[str]:
    """What is said of the targets, each sentence once, with those that it is about unless all."""
    lines: dict[str, list[str]] = defaultdict(list)
    for fact, names in _facts(result, details=details).items():
        lines[fact.head].append(f"{some_names(names)}: {fact.text}" if names else fact.text)
    for head, texts in lines.items():
        yield from headed(head, some(texts))


def left_out_columns(result: Result) -> list[Any]:
    """The columns that are not used for any target."""
    answers = result.answers.values()
    return list(dict.fromkeys(column for one in answers for column in one.left_out_columns))


def _facts(result: Result, *, details: bool) -> dict[Fact, list[str]]:
    """The facts, and the targets and batches that they are about; none if it is all of them."""
    about: dict[Fact, list[str]] = defaultdict(list)
    of_batches = set()
    for target, answer in result.answers.items():
        for batch in answer.batches:
            for fact in batch.facts():
                about[fact].append(_where(target, batch.name, len(answer.batches)))
                of_batches.add(fact)
        for fact in answer.facts():
            about[fact].append(target)
    n = len(result.targets)
    return {
        fact: [] if len(names) == n * (len(result.batches) if fact in of_batches else 1) else names
        for fact, names in about.items()
        if details or not fact.is_detail
    }


def _marks_in(result: Result, batch: TargetsBatch) -> Iterable[str]:
    """The marks of all targets in a batch."""
    return (m for share in batch.shares for m in result.own_batch(batch, share.label).marks)


def _advice(result: Result) -> list[str]:
    """What to do next, with the targets that it is about unless all."""
    advice = [
        replace(found, about=About(target=_where(target, batch.name, len(answer.told))))
        for target, answer in result.answers.items()
        for batch in answer.told
        for found in batch.advice
    ]
    return unless_about_all(advice, len(result.targets) * len(result.first.told))


def _where(target: str, batch: str, n_batches: int) -> str:
    return f"{target} in {batch}" if n_batches > 1 else target
