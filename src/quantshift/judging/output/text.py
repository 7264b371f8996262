"""A judgement as text for a terminal: the rate first, then what it rests on."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from quantshift.answers.batch_names import newest_batch, newest_name
from quantshift.answers.kinds import limits_head
from quantshift.answers.rows import (
    rows_of_tables,
)
from quantshift.answers.shares import headline_share
from quantshift.answers.show.answer import worse_elsewhere
from quantshift.answers.show.batches import Fact
from quantshift.answers.show.notebook import Summary
from quantshift.answers.text import (
    aligned,
    conditionally,
    estimate_in_a_line,
    estimate_text,
    finding_lines,
    headed,
    range_bar,
    share_table,
    shown,
    warning_in_short,
)
from quantshift.answers.words import estimates_and_limits, limits, one_line, percents, shortened
from quantshift.base.nouns import counted, percent
from quantshift.claims import WIDEST, Kind
from quantshift.judging.designs.registry import design_named
from quantshift.judging.output.comparisons import difference_lines, win_rate_lines
from quantshift.judging.output.judges import GAIN, about_judges
from quantshift.judging.result import (
    AbstractJudgement,
    JudgedBatch,
    JudgeQuality,
    MeanLevel,
    PeopleAgreement,
    Rate,
)

MOST_CLASSES_OF_RATES = 8
"""With more classes the table of rates would be too wide; the JSON has all."""

LONGEST_VERDICT = 24
MOST_DISPUTED = 8
"""How many items that people disagree on are named."""
FEWEST = 20
"""With fewer labels it cannot be said how many more are needed."""
RECOMMENDED = 50
WITH_OTHERS = "with the other groups*"
LIKE_EACH_OTHER = (
    "* drawn to what all groups show, as far as they are alike: closer to the truth on average "
    "over the groups, as its limits hold; not for a group that is unlike the others"
)
ABOUT_PEOPLE = "the rate is about what most of them say, which is not always what is true"


def render_text(result: AbstractJudgement, *, details: bool = False) -> str:
    """What a terminal shows. details: with what is assumed, and which rows were used."""
    single = len(result.batches) == 1 and result.by is None
    lines = [*result.alarms(), *(_single(result) if single else _several(result)), ""]
    lines += difference_lines(result)
    lines += _judges(result)
    for head, about in about_judges(result):
        lines += headed(head, list(about)) if details or head != GAIN else ()
    lines += _people(result)
    if details:
        lines += headed("Labels", list(_labels(result.overall)))
        lines += [f"Assumed  {result.overall.assumed}", *_needed(result.overall)]
        lines += rows_of_tables(result.rows)
        lines += finding_lines(result.shown_findings(), len(result.batches))
    else:
        lines += warning_in_short(result.shown_findings(), len(result.batches))
    lines += [f"Next     {found.sentence}" for found in result.overall.advice]
    return "\n".join(map(one_line, lines))


def facts_of(result: AbstractJudgement) -> Iterator[Fact]:
    """How the judges do, how far people agree, and what the shares rest on."""
    several = len(result.overall.judges) > 1
    for judge in result.overall.judges:
        said = ", ".join(_quality_texts(result, judge))
        if said:
            named = f"{shortened(judge.name)}: {said}" if several else said
            yield Fact("Judges", named, is_detail=False)
    if result.people is not None:
        n = result.people.n_undecided
        undecided = f", undecided about {n:,}" if n else ""
        yield Fact("People", f"{agreement_text(result.people)}{undecided}", is_detail=False)
    yield Fact("Labels", design_text(result.overall))
    yield Fact("Assumed", result.overall.assumed)


def _quality_texts(result: AbstractJudgement, judge: JudgeQuality) -> Iterator[str]:
    """The quality of a judge in a few words each."""
    if judge.agreement is not None:
        yield f"kappa {judge.agreement.estimate:.2f}"
    says = dict(zip(judge.verdicts, judge.says, strict=True))
    for label in reversed(result.classes):
        for rate in judge.rates:
            if rate.label == label == says[rate.verdict] and is_shown_by_labels(rate):
                yield f"{_rate_name(result, label)} {percent(rate.estimate)}"


def answer(result: AbstractJudgement, batch: JudgedBatch) -> str:
    """The rate that stands for all, in one line."""
    share = headline_share(result, batch)
    lead = shown(result, share.label)
    if share.estimate is None:
        return f"{lead}: cannot be estimated in {shortened(batch.name)}: {batch.no_estimate_reason}"
    weighted = weighting(batch)
    if batch.kind is not Kind.RANGE and share.width > WIDEST:
        return (
            f"{lead}: anywhere from {limits(share.low, share.high)} of the "
            f"{counted(batch.n_items, 'item')} in {shortened(batch.name)}{weighted}"
            f"{conditionally(batch)}; the labels do not say more (best guess "
            f"{estimate_text(share)})"
        )
    return estimate_in_a_line(result, batch, weighted=weighted)


def found_in_newest(result: AbstractJudgement) -> list[str]:
    """The newest group: its rate, and how far judge and people agree."""
    batch = newest_batch(result.batches)
    share = headline_share(result, batch)
    name = shown(result, share.label) if batch.mean is None else "mean"
    where = f"{newest_name(result.batches)}: {name}"
    about = f"of {counted(batch.n_items, 'item')}, {counted(batch.n_labelled, 'label')}"
    if share.estimate is None:
        return [f"{where} cannot be estimated {about} ({batch.no_estimate_reason})"]
    estimate, bounds = percent(share.estimate), limits(share.low, share.high)
    if batch.mean is not None:
        estimate = f"{batch.mean.estimate:.2f}"
        bounds = f"{batch.mean.low:.2f} to {batch.mean.high:.2f}"
    # A range has no point.
    found = bounds if batch.kind.is_range else f"{estimate} ({bounds})"
    texts = [f"{where} {found} {about}"]
    agreement = batch.judges[0].agreement if batch.judges else None
    if agreement is not None:
        texts.append(f"kappa {agreement.estimate:.2f}")
    if batch.kind.is_range:
        texts.append(Kind.RANGE.words)
    return [*texts, *worse_elsewhere({"": result})]


def weighting(batch: JudgedBatch) -> str:
    """How items count, as the end of a clause; empty if they count alike."""
    return "" if batch.weights is None else f", weighted by {shortened(batch.weights)}"


def naive_lines(result: AbstractJudgement, batch: JudgedBatch) -> Iterator[str]:
    """What the verdicts alone say about the headline's class, judge by judge."""
    share = headline_share(result, batch)
    for judge in batch.judges:
        if judge.naive is None:
            continue
        naive = judge.naive[share.label]
        line = f"counting the verdicts of {shortened(judge.name)} alone: {percent(naive)}"
        if batch.kind is not Kind.CANNOT:
            where = "inside" if share.low <= naive <= share.high else "outside"
            line = f"{line}, {where} the {Kind.RANGE if batch.kind.is_range else 'interval'}"
        yield line


def leading_lines(result: AbstractJudgement, batch: JudgedBatch) -> Iterator[str]:
    """The answer in a few lines; for ordered classes the mean comes first."""
    if batch.mean is not None:
        yield mean_text(result, batch, batch.mean)
    yield answer(result, batch)
    yield from result.questions
    yield from naive_lines(result, batch)
    yield from win_rate_lines(result, batch)


def mean_text(result: AbstractJudgement, batch: JudgedBatch, mean: MeanLevel) -> str:
    """The mean of ordered classes."""
    where = f"{shortened(batch.name)}{weighting(batch)}{conditionally(batch)}"
    items = f"{counted(batch.n_items, 'item')} in {where}"
    naive = "" if mean.naive is None else f"; by the verdicts alone {mean.naive:.2f}"
    bounds = f"{mean.low:.2f} to {mean.high:.2f}"
    if batch.kind.is_range:
        return f"mean: {bounds} over the {items} (a range, not a confidence interval){naive}"
    interval = f"{100 * result.level:g}% interval {bounds}"
    return f"mean: {mean.estimate:.2f} over the {items} ({interval}){naive}"


def summary_of(result: AbstractJudgement) -> Summary:
    """The shares of one batch, or the share of the headline class in each of several."""
    return Summary([*leading_lines(result, result.overall), *result.alarms()], summary_rows(result))


def summary_rows(result: AbstractJudgement) -> list[list[str]]:
    """The shares of one batch class by class, or the headline's batch by batch, under a header."""
    ranges = all(batch.kind.is_range for batch in result.batches)
    interval = limits_head(Kind.RANGE if ranges else Kind.INTERVAL, result.level)
    if len(result.batches) == 1 and result.by is None:
        (batch,) = result.batches
        columns = zip(
            batch.shares,
            estimates_and_limits(batch.shares),
            _naive([batch.naive(share.label) for share in batch.shares]),
            strict=True,
        )
        rows = [[shown(result, share.label), *texts, naive, ""] for share, texts, naive in columns]
        return _without_empty(["class", "share", interval, "verdicts alone", ""], rows)
    lead = shown(result, result.headline)
    rows = []
    shares = estimates_and_limits([headline_share(result, batch) for batch in result.batches])
    by_verdicts = _naive([batch.naive(result.headline) for batch in result.batches])
    for batch, texts, naive in zip(result.batches, shares, by_verdicts, strict=True):
        counts = [f"{batch.n_items:,}", f"{batch.n_labelled:,}"]
        mark = batch.no_estimate_reason
        if batch.kind is Kind.RANGE and not ranges:
            mark = Kind.RANGE
        rows.append([shortened(batch.name), *counts, *texts, naive, mark])
    heads = ["batch", "items", "labels", lead, interval, "verdicts alone", ""]
    return _with_others(result, _without_empty(heads, rows))


def _with_others(result: AbstractJudgement, rows: list[list[str]]) -> list[list[str]]:
    """The table with the rates that borrow from the other groups, if there are any."""
    if not any(batch.with_others for batch in result.batches):
        return rows
    head, *of_groups = rows
    found = [
        next(share for share in batch.with_others if share.label == result.headline)
        for batch in result.batches
    ]
    texts = estimates_and_limits(found)
    of_groups = [
        [*row[:-1], f"{estimate} ({bounds})", row[-1]]
        for row, (estimate, bounds) in zip(of_groups, texts, strict=True)
    ]
    return [[*head[:-1], WITH_OTHERS, head[-1]], *of_groups]


def rate_rows(result: AbstractJudgement, judge: JudgeQuality) -> list[list[str]]:
    """The rates of a judge as a table: in words for two classes, as a matrix for more."""
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
    header = ["people say | judge:", *(shortened(v, LONGEST_VERDICT) for v in judge.verdicts), ""]
    rows = [header]
    for label in result.classes[:MOST_CLASSES_OF_RATES]:
        rates = [by_class[label].get(verdict) for verdict in judge.verdicts]
        rows.append([shown(result, label), *(_cell(rate) for rate in rates), ""])
    return rows


def _rate_and_limits(rate: Rate) -> tuple[str, str]:
    if not is_shown_by_labels(rate):
        return "?", "(no labels show it)"
    return percent(rate.estimate), f"({limits(rate.low, rate.high)})"


def is_shown_by_labels(rate: Rate) -> bool:
    """Whether labels say anything about a rate of the judge."""
    return rate.width < 1


def design_text(batch: JudgedBatch) -> str:
    """How many labels there are and how they were chosen."""
    labels = batch.labels
    design = design_named(labels.design)
    if not design.uses_labels:
        return design.words
    if batch.is_known and not (labels.stated or labels.guessed):
        return f"{batch.n_labelled:,}, of all items"
    how = "as stated" if labels.stated else design.source
    if labels.guessed:
        how = design.source or "guessed: you did not say"
    return f"{batch.n_labelled:,}, {design.words}{f' ({how})' if how else ''}"


def needed_text(batch: JudgedBatch) -> str:
    """How many labels would halve the width; empty if there are no labels to add to."""
    if not design_named(batch.labels.design).uses_labels:
        return ""
    if batch.is_known:
        return "all items are labelled: the share among them is known"
    if batch.labels_for_half_width is None:
        what = Kind.RANGE if batch.kind.is_range else "interval"
        return f"more labels like these cannot halve the {what}"
    if batch.n_labelled < FEWEST:
        if batch.n_items <= RECOMMENDED:
            return "labels of all items, since these are few"
        return f"at least {RECOMMENDED} labels: `quantshift plan judge` says how many and which"
    clusters = batch.clusters_for_half_width
    where = "" if clusters is None else f", in {counted(clusters, 'cluster')},"
    needed = f"about {batch.labels_for_half_width:,} labels in all{where}"
    return f"{needed} for an interval of half the width"


def _single(result: AbstractJudgement) -> Iterator[str]:
    (batch,) = result.batches
    yield from leading_lines(result, batch)
    yield ""
    yield from share_table(result, batch.shares, batch.kind)
    yield from _alternatives(result, batch)
    yield from _if_rates_move(result, batch)


def _several(result: AbstractJudgement) -> Iterator[str]:
    yield from leading_lines(result, result.overall)
    yield ""
    yield from aligned(summary_rows(result))
    if any(batch.with_others for batch in result.batches):
        yield LIKE_EACH_OTHER
    yield from _alternatives(result, result.overall)
    yield from _if_rates_move(result, result.overall)


def _alternatives(result: AbstractJudgement, batch: JudgedBatch) -> Iterator[str]:
    """The limits under each of several assumptions, each drawn as a range."""
    if not batch.alternatives:
        return
    yield ""
    yield f"Share of {shown(result, result.headline)}:"
    yield from aligned(
        [
            ["", limits(a.low, a.high), f"{range_bar(a.low, a.high)}  {a.assumption}"]
            for a in batch.alternatives
        ]
    )


def moved_rows(result: AbstractJudgement, batch: JudgedBatch) -> list[list[str]]:
    """How far the share moves with each rate of the judge, under a header; empty if not known."""
    if not batch.if_rates_move:
        return []
    estimates = {(moved.label, moved.moved_by): moved.estimate for moved in batch.if_rates_move}
    steps = sorted({moved_by for _, moved_by in estimates})
    points = [f"{100 * abs(step):.0f} points {'lower' if step < 0 else 'higher'}" for step in steps]
    rows = [["if it is", *points, ""]]
    for label in dict.fromkeys(moved.label for moved in batch.if_rates_move):
        moved = [percent(estimates[label, step]) for step in steps]
        rows.append([f"{_rate_name(result, label)} (of {shown(result, label)})", *moved, ""])
    return rows


def _if_rates_move(result: AbstractJudgement, batch: JudgedBatch) -> Iterator[str]:
    """How much the share depends on the rates of the judge."""
    rows = moved_rows(result, batch)
    if rows:
        yield ""
        lead = shown(result, result.headline)
        yield f"Share of {lead} if the judge is right less or more often here:"
        yield from (f"  {line}" for line in aligned(rows))


def _without_empty(header: list[str], rows: list[list[str]]) -> list[list[str]]:
    """The table without the column of verdicts if there is nothing in it."""
    if any(row[-2] for row in rows):
        return [header, *rows]
    return [[*row[:-2], row[-1]] for row in (header, *rows)]


def _naive(rates: Sequence[float | None]) -> list[str]:
    """The column of the rates by verdicts alone, empty where there is none."""
    return ["" if rate is None else text for rate, text in zip(rates, percents(rates), strict=True)]


def _judges(result: AbstractJudgement) -> Iterator[str]:
    for judge in result.overall.judges:
        lines = [shortened(judge.name) + _kappa(result, judge)]
        if judge.rates:
            lines += aligned(rate_rows(result, judge))
        elif judge.agreement is None:
            continue
        # Lines of a table keep their indentation.
        for i, line in enumerate(lines):
            yield f"{'Judge' if i == 0 else '':9}{'' if i == 0 else '  '}{line}"


def _kappa(result: AbstractJudgement, judge: JudgeQuality) -> str:
    if judge.agreement is None:
        return ""
    agreement = judge.agreement
    kappa = "weighted kappa" if result.ordered else "kappa"
    bounds = f"{agreement.low:.2f} to {agreement.high:.2f}"
    return f": {kappa} {agreement.estimate:.2f} ({bounds}) with people{kappa_among(result.overall)}"


def kappa_among(batch: JudgedBatch) -> str:
    """Of which items kappa is, as the end of a clause; empty if of those in question."""
    design = design_named(batch.labels.design)
    if not design.uses_labels:
        return ", as these rates imply"
    return "" if design.labelled_are_items else ", among the items labelled elsewhere"


def _labels(batch: JudgedBatch) -> Iterator[str]:
    yield design_text(batch)
    if batch.labels.sentence:
        yield batch.labels.sentence


def _needed(batch: JudgedBatch) -> Iterator[str]:
    needed = needed_text(batch)
    if needed:
        yield f"Needed   {needed}"


def _people(result: AbstractJudgement) -> Iterator[str]:
    """How far the people who gave the labels agree, and which items they should decide."""
    people = result.people
    if people is None:
        return
    lines = [f"{len(people.people)}, of whom {agreement_text(people)}"]
    if people.error_rate:
        lines.append(ABOUT_PEOPLE)
    if people.disputed:
        names = [str(item.row if item.id is None else item.id) for item in people.disputed]
        shown_names = ", ".join(shortened(name, LONGEST_VERDICT) for name in names[:MOST_DISPUTED])
        n_more = len(names) - MOST_DISPUTED
        more = f" and {n_more:,} more (the JSON has all)" if n_more > 0 else ""
        what = "rows" if people.disputed[0].id is None else "items"
        lines.append(f"to decide together: {what} {shown_names}{more}")
    yield from headed("People", lines)


def agreement_text(people: PeopleAgreement) -> str:
    """How far the people who labelled the same items agree."""
    bounds = f"{people.alpha.low:.2f} to {people.alpha.high:.2f}"
    return (
        f"two agree on {percent(people.agreement)} of the {counted(people.n_items, 'item')} that "
        f"several labelled (Krippendorff's alpha {people.alpha.estimate:.2f}, {bounds})"
    )


def _rate_name(result: AbstractJudgement, label: str) -> str:
    return "sensitivity" if label == result.headline else "specificity"


def _cell(rate: Rate | None) -> str:
    if rate is None:
        return ""
    if not is_shown_by_labels(rate):
        return "?"
    return f"{100 * rate.estimate:.0f}% ({100 * rate.low:.0f} to {100 * rate.high:.0f})"
