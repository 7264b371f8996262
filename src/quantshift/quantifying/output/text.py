"""A quantification as text for a terminal: the answer first, then the evidence for it."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from quantshift.answers.kinds import CANNOT, RANGE, common_head
from quantshift.answers.marks import legend, marks_of_answer
from quantshift.answers.repeated_warnings import batches_text, merged, names_by_sentence
from quantshift.answers.rows import (
    Rows,
    besides_rows,
    much_left_out,
    rows_of_tables,
)
from quantshift.answers.shares import headline_first, headline_share, share_of
from quantshift.answers.text import (
    LONGEST_COLUMN,
    aligned,
    column_names,
    estimate_in_a_line,
    headed,
    more_lines,
    share_table,
    shown,
    some,
)
from quantshift.answers.words import (
    estimates_and_limits,
    held_by,
    limits,
    one_line,
    percent,
    percents,
    shortened,
)
from quantshift.base.nouns import counted
from quantshift.intervals.engine import SMALL
from quantshift.quantifiers.base.guarding import NEITHER
from quantshift.quantifying.output.advice import (
    CONFUSED,
    METHOD_NAMES,
    accuracy_text,
    groups_text,
    labels_text,
)
from quantshift.quantifying.output.performance import performance_lines
from quantshift.quantifying.output.result import Batch, LeftOutColumn, Quantification, UsedColumn
from quantshift.quantifying.output.verdicts import named_numbers, parts, shift_in_short
from quantshift.quantifying.training.group_errors import GroupErrors
from quantshift.tables.columns.kinds import TEXT

MOST_CLASSES_IN_A_ROW = 6
"""With more classes a table of batches would be too wide, and only shows the headline class."""


MOST_GROUPS = 20
NEARLY_ALL = 0.99
MOST_CHANGES = 5


def render_text(result: Quantification, *, verbose: bool = False) -> str:
    """What a terminal shows. verbose: with the details of every one of many batches."""
    single = len(result.batches) == 1
    lines = [*alarms(result), *(_single(result) if single else _several(result)), ""]
    lines += (
        _findings(result, result.batches[0])
        if single
        else _findings_by_batch(result, verbose=verbose)
    )
    if result.groups is not None:
        lines += ["", *_groups(result, result.groups)]
    lines += ["", *_columns_in_short(result), *_rows_in_short(result), *_method(result)]
    return "\n".join(map(one_line, lines))


def marks(batch: Batch) -> list[str]:
    """The marks of a batch (see MARKS)."""
    return marks_of_answer(
        can_be_estimated=batch.can_be_estimated,
        changed=bool(batch.change),
        shift=batch.shift is not None and batch.shift.is_significant,
        kind=batch.kind,
        contradicted=None if batch.audit is None else batch.audit.contradicts,
    )


def alarms(result: Quantification) -> Iterator[str]:
    """Warnings that must come first: tables that lost many rows, and unseen classes."""
    yield from much_left_out(_all_rows(result))
    several = len(result.batches) > 1
    yield from merged(
        (
            (shortened(batch.name) if several else "", none_of_these_text(batch.none_of_these))
            for batch in result.batches
            if batch.none_of_these is not None
        ),
        len(result.batches) if several else None,
    )


def none_of_these_text(share: float) -> str:
    """That items are like those of no class.

    >>> none_of_these_text(0.07).split(";")[0]
    'none of these: at least 7% of the items look like no class in training'
    """
    some = f"at least {100 * share:.0f}%" if share < NEARLY_ALL else "nearly all"
    return (
        f"none of these: {some} of the items look like no class in training; they may be of a "
        "class that it does not have, or come from elsewhere. The shares below leave such a class "
        "out: label some of these items"
    )


def answer(result: Quantification, batch: Batch) -> str:
    """The share of the headline class, in one line."""
    share = headline_share(result, batch)
    lead = shown(result, share.label)
    if share.estimate is None:
        between = f"between {100 * share.low:.0f} and {100 * share.high:.0f}%"
        if not batch.n_items:
            return f"{lead}: cannot be estimated without items; {between}"
        if batch.kind == CANNOT and batch.reason != NEITHER:
            labels_advice = labels_text(batch.shares, result.level, batch.n_items)
            return (
                f"{lead}: cannot be estimated without labels; anything from "
                f"{limits(share.low, share.high)} is possible "
                f"({named_numbers(batch.assumptions, result.headline)}). "
                f"{labels_advice[:1].upper()}{labels_advice[1:]}"
            )
        no_estimate_reason = batch.no_estimate_reason or CONFUSED
        return f"{lead}: cannot be estimated from these columns: {no_estimate_reason}; {between}"
    return estimate_in_a_line(result, batch, "range" if batch.kind == RANGE else "")


def declared_line(result: Quantification) -> Iterator[str]:
    """What the user has declared about the shift, if anything."""
    if result.declared:
        yield f"  You declared: {result.declared}"


def column_lines(
    columns: Sequence[UsedColumn], left_out_columns: Sequence[LeftOutColumn]
) -> Iterator[str]:
    """Which columns were used, and which were not; those used the same way share a line."""
    used: dict[tuple[str, str], list[str]] = defaultdict(list)
    for column in columns:
        used[column.kind, column.how].append(column.name)
    left_out: dict[str, list[str]] = defaultdict(list)
    for other in left_out_columns:
        left_out[other.reason].append(other.name)
    if not used and not left_out:
        return
    others = f", {len(left_out_columns):,} left out" if left_out else ""
    yield f"Columns  {len(columns):,} used{others}"
    kinds = [kind for kind, _ in used]
    if left_out:
        kinds.append("left out")
    width = max(map(len, kinds))
    yield from some(
        f"         {kind:{width}}  {column_names(names)}" + (f" ({how})" if how else "")
        for (kind, how), names in used.items()
    )
    yield from some(
        f"         {'left out':{width}}  {column_names(names)} ({reason})"
        for reason, names in left_out.items()
    )


def training_mix(result: Quantification) -> str:
    """The shares of the classes in training."""
    shares = result.training.prevalence.items()
    return ", ".join(f"{shown(result, label)} {percent(p)}" for label, p in shares)


def _single(result: Quantification) -> Iterator[str]:
    (batch,) = result.batches
    yield answer(result, batch)
    if batch.basis:
        yield f"  {batch.basis}"
    yield from declared_line(result)
    yield ""
    yield from share_table(result, headline_first(result, batch.shares), batch.kind)
    if batch.audit is not None:
        audit = batch.audit
        yield ""
        yield f"Audited  with {audit.n_labelled} labels; counting them alone gives:"
        yield from share_table(result, headline_first(result, audit.counted))
        yield f"         the method alone ({result.method}) gives:"
        unaudited = headline_first(result, batch.unaudited)
        yield from share_table(result, unaudited, batch.unaudited_kind)


def _several(result: Quantification) -> Iterator[str]:
    yield from extremes(result)
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
        rows.append([*first_cells, *cells, ", ".join(marks(batch))])
    yield from aligned(rows)
    meanings = legend(mark for batch in result.batches for mark in marks(batch))
    if meanings:
        yield ""
        yield from aligned(meanings)


def several_head(result: Quantification) -> str:
    """The column header for the limits of several batches."""
    kinds = [b.kind for b in result.batches if b.kind != CANNOT or b.reason != NEITHER]
    return common_head(kinds, result.level)


def extremes(result: Quantification) -> Iterator[str]:
    """The answer for several batches: from the smallest share to the largest."""
    lead = shown(result, result.headline)
    estimates = [(headline_share(result, batch).estimate, batch) for batch in result.batches]
    estimated = sorted(((p, batch) for p, batch in estimates if p is not None), key=lambda e: e[0])
    unknown = [batch for p, batch in estimates if p is None]
    n = len(result.batches)
    if unknown:
        why = shortened(unknown[0].no_estimate_reason or CONFUSED, 200)
        which = f"all {n} batches" if len(unknown) == n else f"{len(unknown):,} of {n:,} batches"
        labels_would_do = all(b.n_items and b.reason != NEITHER for b in unknown)
        without_labels = " without labels" if labels_would_do else ""
        where = f"{shortened(unknown[0].name)}: {why}"
        yield f"{lead}: cannot be estimated{without_labels} in {which} ({where})"
    telling, least = large_enough(estimated)
    if len(telling) == 1:
        yield f"{lead}: {percent(telling[0][0])} ({with_size(telling[0][1])})"
    elif telling:
        (low, first), (high, last) = telling[0], telling[-1]
        low_text, high_text = percents([low, high])
        yield (
            f"{lead}: from {low_text} ({with_size(first)}) to {high_text} ({with_size(last)}) in "
            f"{len(telling):,} batches{smaller_text(len(estimated) - len(telling), least)}"
        )


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


def _columns_in_short(result: Quantification) -> Iterator[str]:
    """The columns by their kind; how each is used is in the JSON and on the page."""
    in_short = [UsedColumn(column.name, column.kind, "") for column in result.used]
    yield from column_lines(in_short, result.left_out_columns)


def _rows_in_short(result: Quantification) -> Iterator[str]:
    """The rows of the tables; those of training only if some were left out."""
    training = result.training.rows
    tables = [r for r in _all_rows(result) if r is not training or r.read != r.used]
    yield from rows_of_tables(tables)


def _findings(result: Quantification, batch: Batch) -> Iterator[str]:
    yield f"Shift    {batch.verdict}"
    if batch.accuracy is not None:
        yield f"         {batch.accuracy.sentence}"
    yield from (f"         {line}" for line in performance_lines(result, batch))
    yield from headed("Changed", _changes(batch))
    yield from some(f"Warning  {warning}" for warning in (*_warnings(result), *batch.warnings))
    for advice in batch.advice:
        yield f"Next     {advice}"
    if batch.command:
        yield f"         $ {batch.command}"


def _findings_by_batch(result: Quantification, *, verbose: bool) -> Iterator[str]:
    shifted = [b for b in result.batches if b.shift is not None and b.shift.rejected]
    if verbose:
        for batch in shifted:
            yield f"Shift    {shortened(batch.name)}: {batch.verdict}"
            yield from headed("Changed", _changes(batch))
    elif shifted:
        yield from _shifts_in_short(result, shifted)
    warnings = merged(
        (
            (shortened(batch.name), warning)
            for batch in result.batches
            for warning in batch.warnings
        ),
        len(result.batches),
    )
    yield from some(f"Warning  {warning}" for warning in (*_warnings(result), *warnings))
    yield from _advice_by_batch(result, verbose=verbose)


def _shifts_in_short(result: Quantification, shifted: Sequence[Batch]) -> Iterator[str]:
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
    yield "         the details of every batch: `quantshift quantify --verbose`, or the page"


def _advice_by_batch(result: Quantification, *, verbose: bool) -> Iterator[str]:
    """What to do next, and for which batches unless for all."""
    advices = ((batch.name, advice) for batch in result.batches for advice in batch.advice)
    for names, advice in names_by_sentence(advices):
        which = "" if len(names) == len(result.batches) else f"{column_names(names)}: "
        yield f"Next     {which}{advice}"
    commands = [f"         $ {batch.command}" for batch in result.batches if batch.command]
    yield from commands if verbose else commands[:1]
    if len(commands) > 1 and not verbose:
        yield f"         and likewise for {len(commands) - 1:,} more; the verbose text shows them"


def shown_warnings(result: Quantification) -> list[str]:
    """Everything that is said as a warning, about all batches or one of them."""
    of_batches = (warning for batch in result.batches for warning in batch.warnings)
    return [*alarms(result), *_warnings(result), *of_batches]


def _warnings(result: Quantification) -> list[str]:
    """The warnings that are not about a single batch, except those repeated under `Rows`."""
    return besides_rows(result.warnings, _all_rows(result))


def _changes(batch: Batch) -> Iterator[str]:
    for change in batch.changes[:MOST_CHANGES]:
        yield f"{shortened(change.name, LONGEST_COLUMN)}: {change.description}"


def _groups(result: Quantification, groups: GroupErrors) -> Iterator[str]:
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
    yield from (f"         {note}" for note in groups.notes)


def _method(result: Quantification) -> Iterator[str]:
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


def _all_rows(result: Quantification) -> list[Rows]:
    training = result.training.rows
    return [*([] if training is None else [training]), *result.sample_rows]
