"""A quantification as text for a terminal: the answer first, then the evidence for it."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from statistics import median

from quantshift.answers.columns import UsedColumn, column_lines
from quantshift.answers.kinds import common_head
from quantshift.answers.marks import legend
from quantshift.answers.merging import batches_text, together
from quantshift.answers.rows import (
    rows_of_tables,
)
from quantshift.answers.shares import (
    Share,
    conditional_parts,
    headline_first,
    headline_share,
    share_of,
)
from quantshift.answers.text import (
    LONGEST_COLUMN,
    aligned,
    column_names,
    conditionally,
    estimate_in_a_line,
    finding_lines,
    headed,
    more_lines,
    share_table,
    shown,
    warning_in_short,
)
from quantshift.answers.words import (
    estimates_and_limits,
    held_by,
    limits,
    one_line,
    percents,
    shortened,
)
from quantshift.base.nouns import counted, percent
from quantshift.claims import NOTHING_KNOWN, Kind
from quantshift.intervals.engine import SMALL
from quantshift.quantifying.columns import parts
from quantshift.quantifying.group_errors import METHOD_NAMES, GroupErrors, groups_text
from quantshift.quantifying.output.advice import CONFUSED, labels_text
from quantshift.quantifying.output.performance import performance_lines
from quantshift.quantifying.output.verdicts import MEANING, named_numbers, shift_in_short
from quantshift.quantifying.result import AbstractQuantification, Batch
from quantshift.quantifying.training.model import accuracy_text
from quantshift.tables.columns.kinds import TEXT

MOST_CLASSES_IN_A_ROW = 6
"""With more classes a table of batches would be too wide, and only shows the headline class."""


MOST_GROUPS = 20
MOST_SHIFTED = 6
"""Of more batches the findings are merged."""

MOST_CHANGES = 5


def render_text(result: AbstractQuantification, *, details: bool = False) -> str:
    """What a terminal shows. details: with all that was tested, of every batch, and of what."""
    single = len(result.batches) == 1
    lines = [*result.alarms(), *(_single(result) if single else _several(result)), ""]
    if not details:
        lines += [
            *(() if result.groups is None else islice(_groups(result, result.groups), 1)),
            *warning_in_short(result.shown_findings(), len(result.batches)),
            *_advice_by_batch(result, details=False),
        ]
        return "\n".join(map(one_line, lines))
    lines += _findings(result, result.batches[0]) if single else _findings_by_batch(result)
    if result.groups is not None:
        lines += ["", *_groups(result, result.groups)]
    lines += ["", *_columns_in_short(result), *_rows_in_short(result), *_method(result)]
    return "\n".join(map(one_line, lines))


def answer(result: AbstractQuantification, batch: Batch) -> str:
    """The share of the headline class, in one line."""
    share = headline_share(result, batch)
    lead = shown(result, share.label)
    if not share.is_known:
        between = f"between {100 * share.low:.0f} and {100 * share.high:.0f}%"
        if not batch.n_items:
            return f"{lead}: cannot be estimated without items; {between}"
        if batch.kind is Kind.CANNOT and batch.reason not in NOTHING_KNOWN:
            labels_advice = labels_text(batch.shares, result.level, batch.n_items)
            named = named_numbers(batch.alternatives, result.headline)
            return (
                f"{lead}: cannot be estimated without labels; anything from "
                f"{limits(share.low, share.high)} is possible{f' ({named})' if named else ''}, and "
                f"{MEANING}. {labels_advice[:1].upper()}{labels_advice[1:]}"
            )
        no_estimate_reason = batch.no_estimate_reason or CONFUSED
        return f"{lead}: cannot be estimated from these columns: {no_estimate_reason}; {between}"
    return estimate_in_a_line(result, batch)


def declared_line(result: AbstractQuantification) -> Iterator[str]:
    """What the user has declared about the shift, if anything."""
    if result.declared:
        yield f"  You declared: {result.declared}"


def meaning_line(result: AbstractQuantification) -> Iterator[str]:
    """What no items show, if a batch has no labels."""
    if any(batch.audit is None and batch.n_items for batch in result.batches):
        yield f"  {MEANING}"


def undeclared_text(result: AbstractQuantification, batch: Batch) -> str:
    """What the items would say without the declaration; empty if that is not known."""
    if batch.undeclared is None:
        return ""
    share = next(s for s in batch.undeclared.shares if s.label == result.headline)
    if share.either:
        first, second = (limits(part.low, part.high) for part in share.parts)
        return f"if nothing were declared, it would be either {first} or {second}"
    bounds = limits(share.low, share.high)
    if batch.undeclared.grounds.kind is Kind.CANNOT:
        return f"if nothing were declared, anything from {bounds} would be possible"
    return f"if nothing were declared, the range would be {bounds}"


def training_mix(result: AbstractQuantification) -> str:
    """The shares of the classes in training."""
    shares = result.training.prevalence.items()
    return ", ".join(f"{shown(result, label)} {percent(p)}" for label, p in shares)


def _single(result: AbstractQuantification) -> Iterator[str]:
    (batch,) = result.batches
    yield answer(result, batch)
    undeclared = undeclared_text(result, batch)
    if undeclared:
        yield f"  {undeclared}"
    if batch.basis:
        yield f"  {MEANING if batch.condition and result.declared else batch.basis}"
    yield from declared_line(result)
    yield ""
    yield from _share_tables(result, batch.shares, batch.kind)
    if batch.audit is not None:
        audit = batch.audit
        yield ""
        yield f"Audited  with {audit.n_labelled} labels; counting them alone gives:"
        yield from share_table(result, headline_first(result, audit.counted))
        yield f"         the method alone ({result.method}) gives:"
        yield from _share_tables(result, batch.unaudited, batch.unaudited_grounds.kind)


def _share_tables(
    result: AbstractQuantification, shares: Sequence[Share], kind: Kind
) -> Iterator[str]:
    """The shares as a table, or as two under their conditions."""
    ordered = headline_first(result, shares)
    if kind is not Kind.EITHER:
        yield from share_table(result, ordered, kind)
        return
    by_condition = zip(*map(conditional_parts, ordered), strict=True)
    for i, under in enumerate(by_condition):
        yield f"  {'or ' if i else ''}{under[0][1]}:"
        yield from share_table(result, [part for part, _ in under])


def _several(result: AbstractQuantification) -> Iterator[str]:
    yield from extremes(result)
    yield from meaning_line(result)
    yield from declared_line(result)
    yield ""
    few = 2 < len(result.classes) <= MOST_CLASSES_IN_A_ROW
    others = [label for label in result.classes if label != result.headline]
    columns = [result.headline, *others] if few else [result.headline]
    head = several_head(result)
    rows = [
        [
            *("batch", "items", *(shown(result, label) for label in columns)),
            f"{shown(result, result.headline)}: {head}" if few else head,
            "",
        ]
    ]
    texts = estimates_and_limits([headline_share(result, batch) for batch in result.batches])
    shares = [
        percents([share_of(batch, label).estimate for batch in result.batches])
        for label in columns[1:]
    ]
    for i, batch in enumerate(result.batches):
        estimate, bounds = texts[i]
        cells = [estimate, *(column[i] for column in shares), bounds]
        first_cells = [shortened(batch.name), f"{batch.n_items:,}"]
        rows.append([*first_cells, *cells, ", ".join(batch.marks)])
    yield from aligned(rows)
    meanings = legend(mark for batch in result.batches for mark in batch.marks)
    if meanings:
        yield ""
        yield from aligned(meanings)


def several_head(result: AbstractQuantification) -> str:
    """The column header for the limits of several batches."""
    kinds = [
        b.kind for b in result.batches if b.kind is not Kind.CANNOT or b.reason not in NOTHING_KNOWN
    ]
    return common_head(kinds, result.level)


def extremes(result: AbstractQuantification) -> Iterator[str]:
    """The answer for several batches: from the smallest share to the largest."""
    lead = shown(result, result.headline)
    shares = [(headline_share(result, batch), batch) for batch in result.batches]
    estimates = [(share.estimate, batch) for share, batch in shares]
    estimated = sorted(((p, batch) for p, batch in estimates if p is not None), key=lambda e: e[0])
    unknown = [batch for share, batch in shares if not share.is_known]
    n = len(result.batches)
    yield from _either_in_batches(result, lead)
    if unknown:
        why = shortened(unknown[0].no_estimate_reason or CONFUSED, 200)
        which = f"all {n} batches" if len(unknown) == n else f"{len(unknown):,} of {n:,} batches"
        labels_would_do = all(b.n_items and b.reason not in NOTHING_KNOWN for b in unknown)
        without_labels = " without labels" if labels_would_do else ""
        where = f"{shortened(unknown[0].name)}: {why}"
        yield f"{lead}: cannot be estimated{without_labels} in {which} ({where})"
    telling, least = large_enough(estimated)
    if len(telling) == 1:
        ((estimate, batch),) = telling
        share = headline_share(result, batch)
        found = limits(share.low, share.high) if batch.kind is Kind.RANGE else percent(estimate)
        yield f"{lead}: {found} ({with_size(batch)}){conditionally(batch)}"
    elif telling:
        (low, first), (high, last) = telling[0], telling[-1]
        low_text, high_text = percents([low, high])
        yield (
            f"{lead}: from {low_text} ({with_size(first)}) to {high_text} ({with_size(last)}) in "
            f"{len(telling):,} batches{smaller_text(len(estimated) - len(telling), least)}"
            f"{conditionally(last)}"
        )


def _either_in_batches(result: AbstractQuantification, lead: str) -> Iterator[str]:
    """In how many batches there are two intervals, and the last of them."""
    batches = [batch for batch in result.batches if batch.kind is Kind.EITHER]
    if not batches:
        return
    share = headline_share(result, batches[-1])
    n, all_batches = f"{len(batches):,}", len(result.batches)
    which = f"all {n}" if len(batches) == all_batches else f"{n} of {all_batches:,}"
    last = "; or ".join(f"{limits(c.low, c.high)}, {c.condition}" for c in share.either)
    yield f"{lead}: one of two intervals in {which} batches ({shortened(batches[-1].name)}: {last})"


def large_enough(
    estimates: Sequence[tuple[float, Batch]],
) -> tuple[list[tuple[float, Batch]], int]:
    """The estimates that a headline may rest on, and the fewest items that their batches may have.

    In batches of a few items, the smallest and largest shares are chance: only batches that are not
    small count or, if there are not two of them, the larger half.
    """
    sizes = [batch.n_items for _, batch in estimates]
    least = SMALL if sum(size >= SMALL for size in sizes) > 1 else math.ceil(median(sizes or [0]))
    return [(p, batch) for p, batch in estimates if batch.n_items >= least], least


def with_size(batch: Batch, name: str | None = None) -> str:
    """The displayed name of a batch, with its number of items if it is small."""
    label = shortened(batch.name) if name is None else name
    return label if batch.n_items >= SMALL else f"{label}, {counted(batch.n_items, 'item')}"


def smaller_text(n_smaller: int, least: int) -> str:
    """How many batches are too small for the headline; least: the fewest items of the others."""
    if not n_smaller:
        return ""
    others = "is smaller" if n_smaller == 1 else "are smaller"
    return f" with {counted(least, 'item')} or more ({n_smaller:,} {others})"


def _columns_in_short(result: AbstractQuantification) -> Iterator[str]:
    """The columns by their kind; how each is used is in the JSON and on the page."""
    in_short = [UsedColumn(column.name, column.kind, "") for column in result.used]
    yield from column_lines(in_short, result.left_out_columns)


def _rows_in_short(result: AbstractQuantification) -> Iterator[str]:
    """The rows of the tables; those of training only if some were left out."""
    training = result.training.rows
    tables = [r for r in result.all_rows if r is not training or r.read != r.used]
    yield from rows_of_tables(tables)


def _findings(result: AbstractQuantification, batch: Batch) -> Iterator[str]:
    yield f"Shift    {batch.verdict}"
    if batch.accuracy is not None:
        yield f"         {batch.accuracy.sentence}"
    yield from (f"         {line}" for line in performance_lines(result, batch))
    yield from headed("Changed", _changes(batch))
    yield from finding_lines(result.shown_findings(), 1)
    yield from (f"Next     {found.sentence}" for found in batch.advice)
    if batch.command:
        yield f"         $ {batch.command}"


def _findings_by_batch(result: AbstractQuantification) -> Iterator[str]:
    shifted = [b for b in result.batches if b.shift is not None and b.shift.rejected]
    if len(shifted) > MOST_SHIFTED:
        yield from _shifts_in_short(result, shifted)
    else:
        for batch in shifted:
            yield f"Shift    {shortened(batch.name)}: {batch.verdict}"
            yield from headed("Changed", _changes(batch))
    yield from finding_lines(result.shown_findings(), len(result.batches))
    yield from _advice_by_batch(result, details=True)


def _shifts_in_short(result: AbstractQuantification, shifted: Sequence[Batch]) -> Iterator[str]:
    """What the tests say, once for all batches with the same finding, and the columns."""
    of_a_class = parts(topics=any(column.kind == TEXT for column in result.used))
    n = len(result.batches)
    alike: dict[str, list[str]] = defaultdict(list)
    for batch in shifted:
        assert batch.shift is not None
        alike[shift_in_short(batch.shift, of_a_class)].append(shortened(batch.name))
    for sentence, names in alike.items():
        where = batches_text(names, n) if len(names) > 1 else names[0]
        yield f"Shift    {where}: {sentence[:1].lower()}{sentence[1:]}"
    columns = Counter(change.name for batch in shifted for change in batch.changes)
    most = columns.most_common(MOST_CHANGES)
    counts = ", ".join(f"{shortened(c, LONGEST_COLUMN)} in {k:,} of {n:,}" for c, k in most)
    if counts:
        n_others = len(columns) - len(most)
        more = f" and {n_others:,} more columns" if n_others else ""
        yield f"Changed  {counts} batches{more}"


def _advice_by_batch(result: AbstractQuantification, *, details: bool) -> Iterator[str]:
    """What to do next, and for which batches unless for all."""
    advices = (found for batch in result.batches for found in batch.advice)
    for said in together(advices, "batch"):
        which = "" if len(said.names) == len(result.batches) else f"{column_names(said.names)}: "
        yield f"Next     {which}{said.sentence}"
    commands = [f"         $ {batch.command}" for batch in result.batches if batch.command]
    yield from commands if details else commands[:1]


def _changes(batch: Batch) -> Iterator[str]:
    for change in batch.changes[:MOST_CHANGES]:
        yield f"{shortened(change.name, LONGEST_COLUMN)}: {change.description}"


def _groups(result: AbstractQuantification, groups: GroupErrors) -> Iterator[str]:
    """Errors of the methods on the user's own groups."""
    yield f"Groups   {groups_text(groups)}"
    methods = list(groups.errors)
    lead = shown(result, result.headline)
    rows = [["", "rows", lead, *(METHOD_NAMES.get(m, m) for m in methods), ""]]
    shown_groups = groups.groups[:MOST_GROUPS]
    truths = percents([group.prevalence[result.headline] for group in shown_groups])
    for group, truth in zip(shown_groups, truths, strict=True):
        errors = [f"{100 * group.errors[m]:.1f}" for m in methods]
        rows.append([shortened(group.name, 24), f"{group.n_items:,}", truth, *errors, ""])
    rows.append(["mean error", "", "", *(f"{100 * e:.1f}" for e in groups.errors.values()), ""])
    yield from (f"         {line}" for line in aligned(rows))
    if len(groups.groups) > MOST_GROUPS:
        yield more_lines(len(groups.groups) - MOST_GROUPS)
    yield from (f"         {found.sentence}" for found in groups.findings)


def _method(result: AbstractQuantification) -> Iterator[str]:
    yield f"Method   {result.method}: {result.reason}"
    yield f"         assumes: {result.plain_assumption}"
    holds = held_by(result.classes, simultaneous=result.simultaneous)
    if holds:
        yield f"         intervals hold {holds}"
    training = result.training
    if training.n_items:
        mix = training_mix(result)
        accuracy = accuracy_text(training.classifier, training.accuracy or 0.0)
        yield f"Trained  on {training.n_items:,} rows of {training.source} ({mix}); {accuracy}"
