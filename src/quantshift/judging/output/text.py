"""A judgement as text for a terminal: the rate first, then what it rests on."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from quantshift.answers.conditions import TOO_WIDE
from quantshift.answers.kinds import INTERVAL, RANGE, is_range, limits_head
from quantshift.answers.notebook import Summary
from quantshift.answers.repeated_warnings import merged
from quantshift.answers.rows import is_much, row_warnings, rows_of_tables
from quantshift.answers.shares import headline_share
from quantshift.answers.text import (
    aligned,
    estimate_in_a_line,
    estimate_text,
    headed,
    share_table,
    shown,
    some,
)
from quantshift.answers.words import (
    estimates_and_limits,
    limits,
    one_line,
    percent,
    percents,
    shortened,
)
from quantshift.base.nouns import counted
from quantshift.judging.designs.registry import design_named
from quantshift.judging.judged_batches import lost_rows
from quantshift.judging.result import (
    EVEN,
    JudgeComparison,
    JudgedBatch,
    Judgement,
    JudgeQuality,
    MeanDifference,
    MeanLevel,
    Rate,
    SystemDifference,
    WinRate,
)

MOST_CLASSES_OF_RATES = 8
"""With more the table of rates would be too wide; the JSON has all."""

LONGEST_VERDICT = 24
MOST_DISPUTED = 8
"""Items that people disagree on, which are named."""
FEWEST = 20
"""With fewer labels it cannot be said how many more are needed."""
RECOMMENDED = 50
WORTH_SAYING = 0.02
"""Part by which a judge must make an interval narrower to add something to the labels."""
ALMOST_SURE = 0.999
"""Larger probabilities are not told apart."""


def render_text(result: Judgement) -> str:
    """What a terminal shows."""
    single = len(result.batches) == 1 and result.by is None
    lines = [*alarms(result), *(_single(result) if single else _several(result)), ""]
    lines += _differences(result)
    lines += _judges(result)
    lines += headed("Judges", list(judge_comparison_lines(result)))
    lines += headed("Gain", list(gain_lines(result.overall)))
    lines += headed("Errors", list(error_lines(result)))
    lines += headed("Cut", list(cut_lines(result)))
    lines += headed("Position", list(position_lines(result)))
    lines += _labels(result.overall)
    lines += _people(result)
    lines += rows_of_tables(result.rows)
    about_rows = {warning for rows in result.rows for warning in row_warnings(lost_rows(rows))}
    of_batches = merged(
        (shortened(b.name), w) for b in result.batches if not single for w in b.warnings
    )
    general = [w for w in (*result.warnings, *result.overall.warnings) if w not in about_rows]
    lines += some(f"Warning  {w}" for w in (*general, *of_batches))
    lines += [f"Next     {advice}" for advice in result.overall.advice]
    return "\n".join(map(one_line, lines))


def alarms(result: Judgement) -> Iterator[str]:
    """What comes before anything else: tables of which many rows were left out."""
    for rows in map(lost_rows, result.rows):
        if is_much(rows):
            yield from row_warnings(rows)


def answer(result: Judgement, batch: JudgedBatch) -> str:
    """The rate that stands for all, in one line."""
    share = headline_share(result, batch)
    lead = shown(result, share.label)
    if share.estimate is None:
        return f"{lead}: cannot be estimated in {shortened(batch.name)}: {batch.no_estimate_reason}"
    if batch.kind == RANGE:
        return estimate_in_a_line(result, batch, RANGE)
    if share.high - share.low > TOO_WIDE:
        return (
            f"{lead}: anywhere from {limits(share.low, share.high)} of the "
            f"{counted(batch.n_items, 'item')} in {shortened(batch.name)}; the labels do not say "
            f"more (best guess {estimate_text(share)})"
        )
    return estimate_in_a_line(result, batch)


def naive_lines(result: Judgement, batch: JudgedBatch) -> Iterator[str]:
    """What the verdicts alone say of the headline's class, judge by judge."""
    share = headline_share(result, batch)
    for judge in batch.judges:
        if judge.naive is None:
            continue
        naive = judge.naive[share.label]
        inside = share.low <= naive <= share.high
        what = RANGE if is_range(batch.kind) else "interval"
        where = f"inside the {what}" if inside else f"outside the {what}"
        yield f"counting the verdicts of {shortened(judge.name)} alone: {percent(naive)}, {where}"


def leading_lines(result: Judgement, batch: JudgedBatch) -> Iterator[str]:
    """What was found, in a few lines: of ordered classes the mean comes first."""
    if batch.mean is not None:
        yield mean_text(result, batch, batch.mean)
    yield answer(result, batch)
    yield from naive_lines(result, batch)
    yield from win_rate_lines(result, batch)


def mean_text(result: Judgement, batch: JudgedBatch, found: MeanLevel) -> str:
    """The mean of ordered classes."""
    what = RANGE if is_range(batch.kind) else f"{100 * result.level:g}% interval"
    interval = f"{what} {found.low:.2f} to {found.high:.2f}"
    items = f"of the {counted(batch.n_items, 'item')} in {shortened(batch.name)}"
    naive = "" if found.naive is None else f"; by the verdicts alone {found.naive:.2f}"
    return f"mean: {found.estimate:.2f} {items} ({interval}){naive}"


def summary_of(result: Judgement) -> Summary:
    """The shares of one batch, or the share of the headline class in each of several."""
    return Summary([*leading_lines(result, result.overall), *alarms(result)], summary_rows(result))


def summary_rows(result: Judgement) -> list[list[str]]:
    """The shares of one batch class by class, or the headline's batch by batch, under a header."""
    interval = limits_head(INTERVAL, result.level)
    if len(result.batches) == 1 and result.by is None:
        (batch,) = result.batches
        interval = limits_head(batch.kind, result.level)
        found = zip(
            batch.shares,
            estimates_and_limits(batch.shares),
            _naive([batch.naive(share.label) for share in batch.shares]),
            strict=True,
        )
        rows = [[shown(result, share.label), *texts, naive, ""] for share, texts, naive in found]
        return _without_empty(["class", "share", interval, "verdicts alone", ""], rows)
    lead = shown(result, result.headline)
    rows = []
    shares = estimates_and_limits([headline_share(result, batch) for batch in result.batches])
    by_verdicts = _naive([batch.naive(result.headline) for batch in result.batches])
    for batch, texts, naive in zip(result.batches, shares, by_verdicts, strict=True):
        counts = [f"{batch.n_items:,}", f"{batch.n_labelled:,}"]
        mark = RANGE if batch.kind == RANGE else batch.no_estimate_reason
        rows.append([shortened(batch.name), *counts, *texts, naive, mark])
    return _without_empty(["batch", "items", "labels", lead, interval, "verdicts alone", ""], rows)


def rate_rows(result: Judgement, judge: JudgeQuality) -> list[list[str]]:
    """The rates of a judge as a table: of two classes in words, of more as a matrix."""
    by_class: dict[str, dict[str, Rate]] = defaultdict(dict)
    for rate in judge.rates:
        by_class[rate.label][rate.verdict] = rate
    if sorted(filter(None, judge.says)) == sorted(result.classes) and len(judge.says) == 2:
        return [
            [
                f"says {shortened(verdict, LONGEST_VERDICT)!r} where people say "
                f"{shortened(label, LONGEST_VERDICT)!r} ({_rate_name(result, label)})",
                *_rate_and_limits(rate),
            ]
            for label in reversed(result.classes)
            for verdict, rate in by_class[label].items()
            if dict(zip(judge.verdicts, judge.says, strict=True))[verdict] == label
        ]
    header = ["people say", *(shortened(v, LONGEST_VERDICT) for v in judge.verdicts), ""]
    rows = [header]
    for label in result.classes[:MOST_CLASSES_OF_RATES]:
        rates = [by_class[label].get(verdict) for verdict in judge.verdicts]
        rows.append([shown(result, label), *(_cell(rate) for rate in rates), ""])
    return rows


def _rate_and_limits(rate: Rate) -> tuple[str, str]:
    if not _is_known(rate):
        return "?", "(no labels show it)"
    return percent(rate.estimate), f"({limits(rate.low, rate.high)})"


def _is_known(rate: Rate) -> bool:
    return rate.high - rate.low < 1


def design_text(batch: JudgedBatch) -> str:
    """How many labels there are and how they were chosen."""
    labels = batch.labels
    design = design_named(labels.design)
    if not design.uses_labels:
        return design.words
    how = "as stated" if labels.stated else design.source
    if labels.guessed:
        how = design.source or "guessed: you did not say"
    return f"{batch.n_labelled:,}, {design.words}{f' ({how})' if how else ''}"


def needed_text(batch: JudgedBatch) -> str:
    """How many labels half the width takes; empty if there are no labels to add to."""
    if not design_named(batch.labels.design).uses_labels:
        return ""
    if batch.labels_for_half_width is None:
        return "more labels like these cannot halve the interval"
    if batch.n_labelled < FEWEST:
        return f"at least {RECOMMENDED} labels: `quantshift judge plan` says how many and which"
    if batch.n_labelled == batch.n_items:
        return "all items are labelled: the share among them is known"
    return f"about {batch.labels_for_half_width:,} labels in all for an interval of half the width"


def _single(result: Judgement) -> Iterator[str]:
    (batch,) = result.batches
    yield from leading_lines(result, batch)
    yield ""
    yield from share_table(result, batch.shares, batch.kind)
    yield from _alternatives(result, batch)
    if not batch.alternatives:
        yield from _other_assumption(result, batch)
    yield from _if_rates_move(result, batch)


def _several(result: Judgement) -> Iterator[str]:
    yield from leading_lines(result, result.overall)
    yield ""
    yield from aligned(summary_rows(result))


def _alternatives(result: Judgement, batch: JudgedBatch) -> Iterator[str]:
    """What the limits of a range are made of."""
    if batch.alternatives:
        yield ""
        yield f"Share of {shown(result, result.headline)}:"
        for other in batch.alternatives:
            yield f"  {limits(other.low, other.high)} {other.assumption}"


def _if_rates_move(result: Judgement, batch: JudgedBatch) -> Iterator[str]:
    """How much the share depends on the rates of the judge."""
    if not batch.if_rates_move:
        return
    points = f"{100 * abs(batch.if_rates_move[0].moved_by):.0f} points"
    yield ""
    lead = shown(result, result.headline)
    yield f"Share of {lead} if the judge is right more or less often here:"
    for label in dict.fromkeys(moved.label for moved in batch.if_rates_move):
        less, more = (
            next(m for m in batch.if_rates_move if m.label == label and (m.moved_by > 0) == up)
            for up in (False, True)
        )
        yield (
            f"  {percent(less.estimate)} to {percent(more.estimate)} with a "
            f"{_rate_name(result, label)} {points} lower to {points} higher"
        )


def _other_assumption(result: Judgement, batch: JudgedBatch) -> Iterator[str]:
    if batch.if_verdicts_mean_the_same:
        yield ""
        yield "If instead a verdict means the same here as among the labelled items:"
        yield from share_table(result, batch.if_verdicts_mean_the_same)


def _without_empty(header: list[str], rows: list[list[str]]) -> list[list[str]]:
    """The table without the column of verdicts if there is nothing in it."""
    if any(row[-2] for row in rows):
        return [header, *rows]
    return [[*row[:-2], row[-1]] for row in (header, *rows)]


def _naive(rates: Sequence[float | None]) -> list[str]:
    """The column of the rates by verdicts alone, empty where there is none."""
    return ["" if rate is None else text for rate, text in zip(rates, percents(rates), strict=True)]


def _differences(result: Judgement) -> Iterator[str]:
    if not result.differences:
        return
    pairs = dict.fromkeys((d.system, d.other) for d in result.differences)
    yield from _pair(result) if len(pairs) == 1 else _pairs(result, len(pairs))
    yield ""


def _pair(result: Judgement) -> Iterator[str]:
    """The difference of two systems, class by class."""
    first = result.differences[0]
    yield f"Compared {pair_text(first)}, {_how_compared(first)}:"
    wanted = [
        d for d in result.differences if len(result.classes) > 2 or d.label == result.headline
    ]
    rows = [
        [shown(result, d.label), *points(d), "more than chance" if d.more_than_chance else ""]
        for d in wanted
    ]
    yield from (f"         {line}" for line in aligned(rows))
    for of_means in result.mean_differences:
        yield f"         {mean_difference_text(of_means)}"
    yield f"         {which_is_better(result)}"


def _pairs(result: Judgement, n_pairs: int) -> Iterator[str]:
    """The differences of several systems in pairs, of the class that stands for all or of means."""
    what = "means" if result.mean_differences else f"shares of {shown(result, result.headline)}"
    yield f"Compared {what} in {n_pairs} pairs, p-values adjusted for their number (Holm):"
    rows = []
    for d in leading_differences(result):
        rows.append(
            [
                pair_text(d),
                *points(d),
                f"p = {d.p_adjusted:.2g}",
                "more than chance" if d.more_than_chance else decided_by(d),
            ]
        )
    yield from (f"         {line}" for line in aligned(rows))


def leading_differences(result: Judgement) -> Sequence[SystemDifference | MeanDifference]:
    """Those that stand for all: of the means of ordered classes, else of the headline's class."""
    if result.mean_differences:
        return result.mean_differences
    return [d for d in result.differences if d.label == result.headline]


def pair_text(d: SystemDifference | MeanDifference) -> str:
    """The names of both systems."""
    return f"{shortened(d.system)} minus {shortened(d.other)}"


def points(d: SystemDifference | MeanDifference) -> tuple[str, str]:
    """A difference and its limits."""
    if isinstance(d, MeanDifference):
        return f"{d.estimate:+.2f}", f"({d.low:+.2f} to {d.high:+.2f})"
    return f"{100 * d.estimate:+.1f} points", f"({100 * d.low:+.1f} to {100 * d.high:+.1f})"


def _how_compared(d: SystemDifference) -> str:
    n, m = d.n_items, d.n_other
    return f"the same {n:,} items" if d.paired else f"{n:,} and {m:,} different items"


def mean_difference_text(found: MeanDifference) -> str:
    """The difference of two means in a line."""
    naive = "" if found.naive is None else f"; by the verdicts alone {found.naive:+.2f}"
    chance = ", more than chance" if found.more_than_chance else ""
    return f"mean {' '.join(points(found))}{chance}{naive}"


def which_is_better(result: Judgement) -> str:
    """Which of two systems has more, and with what probability."""
    d = leading_differences(result)[0]
    what = "mean" if isinstance(d, MeanDifference) else f"share of {shown(result, d.label)}"
    more = d.system if d.estimate >= 0 else d.other
    likely = likely_text(max(d.probability, 1 - d.probability))
    found = f"probability that {shortened(more)} has the larger {what}: {likely}"
    return found if d.more_than_chance else f"{found}; {decided_by(d)}"


def likely_text(probability: float) -> str:
    """A probability, which is never certain.

    >>> likely_text(0.93), likely_text(0.99997)
    ('93.0%', 'more than 99.9%')
    """
    return (
        percent(probability) if probability <= ALMOST_SURE else f"more than {percent(ALMOST_SURE)}"
    )


def decided_by(d: SystemDifference | MeanDifference | WinRate | JudgeComparison) -> str:
    """What would decide what could be chance so far."""
    if d.labels_to_decide is None:
        return "could be chance"
    return f"could be chance; about {d.labels_to_decide:,} labels in all would decide"


def win_rate_lines(result: Judgement, batch: JudgedBatch) -> Iterator[str]:
    """The win rate, and how likely it is above 50%."""
    found = batch.win_rate
    if found is None:
        return
    interval = f"{100 * result.level:g}% interval {limits(found.low, found.high)}"
    naive = "" if found.naive is None else f"; by the verdicts alone {percent(found.naive)}"
    yield f"win rate of {shown(result, found.win)}: {percent(found.estimate)} ({interval}){naive}"
    above = found.estimate >= EVEN
    likely = likely_text(found.probability if above else 1 - found.probability)
    side = "above" if above else "below"
    undecided = "" if not found.low <= EVEN <= found.high else f"; {decided_by(found)}"
    yield f"probability that it is {side} 50%: {likely}{undecided}"


def judge_comparison_lines(result: Judgement) -> Iterator[str]:
    """Which of several judges agrees better with people."""
    for found in result.judge_comparisons:
        better, worse = found.judge, found.other
        rates = found.agreement, found.other_agreement
        points = [found.difference, found.low, found.high]
        if found.difference < 0:
            better, worse, rates = worse, better, rates[::-1]
            points = [-found.difference, -found.high, -found.low]
        what = "labelled items" if found.of_labelled_alone else "items"
        agrees = f"agrees with people on {percent(rates[0])} of the {what}"
        if result.ordered:
            agrees = f"agrees with people to {percent(rates[0])} (100%: the same level always)"
        apart, low, high = (f"{100 * p:+.1f}" for p in points)
        several = f", p = {found.p_adjusted:.2g}" * (len(result.judge_comparisons) > 1)
        chance = "more than chance" if found.more_than_chance else decided_by(found)
        yield (
            f"{shortened(better)} {agrees}, {shortened(worse)} {percent(rates[1])}: {apart} points "
            f"({low} to {high}{several}), {chance}"
        )


def gain_lines(batch: JudgedBatch) -> Iterator[str]:
    """What the judges add to the labels, or that they add nothing."""
    alone = batch.labels_alone
    if alone is None:
        return
    judges = "judges" if len(batch.judges) > 1 else "judge" if batch.judges else "score"
    as_many = f"{batch.n_labelled:,} random labels alone: {limits(alone.low, alone.high)}"
    if alone.narrower < WORTH_SAYING:
        yield f"the {judges} add{'s' * (judges != 'judges')} nothing to the labels ({as_many})"
        return
    more = "" if alone.worth is None else f", as with {counted(alone.worth, 'more label')}"
    yield f"with the {judges} the interval is {percent(alone.narrower)} narrower{more} ({as_many})"


def error_lines(result: Judgement) -> Iterator[str]:
    """Where the judges err more often, by the columns that were asked for."""
    unlike = [pattern for pattern in result.error_patterns if pattern.more_than_chance]
    for found in unlike:
        judge = f"{shortened(found.judge)}, " * (len(result.judges) > 1)
        yield (
            f"{judge}by {shortened(found.column)} (p = {found.p_adjusted:.2g}): of {found.among}, "
            f"{found.wrong:,} of {found.n:,} are wrong if {shortened(found.where, 60)}, and "
            f"{found.wrong_elsewhere:,} of the other {found.n_elsewhere:,}"
        )
    rest = [pattern for pattern in result.error_patterns if not pattern.more_than_chance]
    if rest:
        names = ", ".join(dict.fromkeys(shortened(pattern.column, 24) for pattern in rest))
        yield (
            f"no pattern that is more than chance by {names} (smallest p = "
            f"{min(pattern.p_adjusted for pattern in rest):.2g}, adjusted for "
            f"{counted(len(result.error_patterns), 'comparison')})"
        )


def cut_lines(result: Judgement) -> Iterator[str]:
    """The threshold of the score, and how good it is on labels that did not choose it."""
    found = result.threshold
    if found is None:
        return
    score, goal = shortened(result.score or ""), "the cut that agrees best with people"
    if found.target is not None:
        other = "recall" if found.goal == "precision" else "precision"
        goal = f"{found.goal} of {percent(found.target)} or more with the largest {other}"
    if found.cut is None or found.on_labels is None or found.share is None:
        yield f"{goal}: no cut of {score} reaches it among the labels"
        return
    side = "or more" if found.at_least else "or less"
    yield (
        f"{shown(result, found.label)} if {score} is {found.cut:.4g} {side} ({goal}): "
        f"{percent(found.share)} of the items"
    )
    tried = [
        f"{p.measure} {percent(p.estimate)} ({limits(p.low, p.high)})" for p in found.out_of_sample
    ]
    yield f"out of sample: {', '.join(tried)}"
    chosen = [f"{name} {percent(value)}" for name, value in found.on_labels.items()]
    yield f"on the labels that chose it: {', '.join(chosen)}"


def position_lines(result: Judgement) -> Iterator[str]:
    """Whether the place of an answer moves the judges."""
    for bias in result.position_bias:
        moved = (
            f"{100 * bias.difference:+.1f} points, {100 * bias.low:+.1f} to {100 * bias.high:+.1f}"
        )
        found = (
            "it prefers the answer that comes first"
            if bias.low > 0
            else "it prefers the answer that comes second"
            if bias.high < 0
            else "no preference that is more than chance"
        )
        yield (
            f"{shortened(bias.judge)}: win rate by its verdicts {percent(bias.if_first)} if first, "
            f"{percent(bias.if_second)} if second ({moved}); {found}, if the order was random"
        )


def _judges(result: Judgement) -> Iterator[str]:
    for judge in result.overall.judges:
        lines = [shortened(judge.name) + _kappa(judge, weighted=result.ordered)]
        if judge.rates:
            lines += aligned(rate_rows(result, judge))
        # Lines of a table keep their indentation.
        for i, line in enumerate(lines):
            yield f"{'Judge' if i == 0 else '':9}{'' if i == 0 else '  '}{line}"


def _kappa(judge: JudgeQuality, *, weighted: bool) -> str:
    if judge.agreement is None:
        return ""
    found = judge.agreement
    kappa = "weighted kappa" if weighted else "kappa"
    return f": {kappa} {found.kappa:.2f} ({found.low:.2f} to {found.high:.2f}) with people"


def _labels(batch: JudgedBatch) -> Iterator[str]:
    lines = [design_text(batch)]
    if batch.labels.sentence:
        lines.append(batch.labels.sentence)
    yield from headed("Labels", lines)
    yield f"Assumed  {batch.assumed}"
    needed = needed_text(batch)
    if needed:
        yield f"Needed   {needed}"


def _people(result: Judgement) -> Iterator[str]:
    """How far those agree who gave the labels, and which items they should decide."""
    people = result.people
    if people is None:
        return
    lines = [
        f"{len(people.people)}, of whom two agree on {percent(people.agreement)} of the "
        f"{counted(people.n_items, 'item')} that several labelled (Krippendorff's alpha "
        f"{people.alpha:.2f}, {people.low:.2f} to {people.high:.2f})"
    ]
    if people.disputed:
        names = [str(item.row if item.id is None else item.id) for item in people.disputed]
        shown_names = ", ".join(shortened(name, LONGEST_VERDICT) for name in names[:MOST_DISPUTED])
        more = f" and {len(names) - MOST_DISPUTED:,} more (the JSON has all)"
        what = "rows" if people.disputed[0].id is None else "items"
        lines.append(
            f"to decide together: {what} {shown_names}{more * (len(names) > MOST_DISPUTED)}"
        )
    yield from headed("People", lines)


def _rate_name(result: Judgement, label: str) -> str:
    return "sensitivity" if label == result.headline else "specificity"


def _cell(rate: Rate | None) -> str:
    if rate is None:
        return ""
    if not _is_known(rate):
        return "?"
    return f"{100 * rate.estimate:.0f}% ({100 * rate.low:.0f} to {100 * rate.high:.0f})"
