"""A judgement as one self-contained web page, for readers who did not make it.

It has the shell and the look of the other pages (`quantshift.answers.shell.shell`).
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from quantshift.answers.conditions import Condition, failures_of
from quantshift.answers.kinds import limits_head
from quantshift.answers.merging import merged
from quantshift.answers.page import Headline, data_links, render_answer, thresholds
from quantshift.answers.rows import rows_text
from quantshift.answers.shares import Share, share_of
from quantshift.answers.text import conditionally, estimate_text, shown
from quantshift.answers.words import limits, one_line, sentence, shortened
from quantshift.base.nouns import counted, percent
from quantshift.claims import Kind
from quantshift.claims.findings import Finding
from quantshift.judging.findings import JudgeAdvice
from quantshift.judging.output.comparisons import (
    decided_by,
    leading_differences,
    pair_text,
    points,
    which_is_better,
)
from quantshift.judging.output.judges import about_judges
from quantshift.judging.output.text import (
    answer,
    design_text,
    kappa_among,
    moved_rows,
    needed_text,
    summary_rows,
    weighting,
)
from quantshift.judging.result import (
    AbstractJudgement,
    JudgedBatch,
    JudgeQuality,
)


def render_page(
    result: AbstractJudgement,
    *,
    conditions: Sequence[Condition] = (),
    provenance: Sequence[tuple[str, str]] = (),
) -> str:
    """The page as one string of HTML.

    conditions: thresholds to draw. provenance: how the result was made, such as the command and the
    seed, each with its name.
    """
    overall = result.overall
    several = len(result.batches) > 1
    headline = _headline(result, result.headline)
    return render_answer(
        __package__,
        title=f"{headline.heading} ({headline.limits})",
        opening=headline,
        lead=headline.lead,
        numbers=headline.numbers,
        several=several,
        headline=result.headline,
        classes=[(label, shown(result, label)) for label in result.classes],
        has_naive=any(judge.naive for judge in overall.judges),
        tables=_tables(result, several=several),
        what_limits_are=_what_limits_are(result),
        alternatives=[(limits(a.low, a.high), a.assumption) for a in overall.alternatives],
        alternatives_of=shown(result, result.headline),
        moved=moved_rows(result, overall),
        settle=_settling(overall),
        differences=_differences(result),
        compared=_compared(result),
        compared_how=_compared_how(result),
        about_judges=[sentence(line) for _, lines in about_judges(result) for line in lines],
        judges=[_judge(result, judge) for judge in overall.judges if judge.rates],
        state=_state(overall),
        check=overall.labels.sentence,
        assumed=overall.assumed,
        needed=needed_text(overall),
        advices=[
            found.sentence.replace("`", "") for found in overall.advice if not _settles(found)
        ],
        downloads=data_links(result.to_json(), result.to_csv()),
        alarms=[*result.alarms(), *result.questions, *_unknown(result)],
        crossed=failures_of(conditions, result),
        warnings=merged(result.shown_findings(), len(result.batches)),
        rows=[rows_text(rows) for rows in result.rows],
        facts=[*_facts(result), *provenance],
        level=f"{100 * result.level:g}%",
        data=_chart_data(result, conditions, several=several),
    )


def _what_limits_are(result: AbstractJudgement) -> str:
    """The sentence under the title of the chart."""
    level = f"the {100 * result.level:g}% interval"
    ranges = [batch.kind.is_range for batch in result.batches]
    if all(ranges):
        return (
            "A dashed bar is the range of what remains possible. It is not a confidence interval: "
            "no share within it is more likely than another, and the ring is one of them."
        )
    dashed = (
        " A dashed bar with a ring is a range, not a confidence interval." if any(ranges) else ""
    )
    return f"A dot is the best estimate of the true share and its bar {level}.{dashed}"


def _settles(found: Finding) -> bool:
    return isinstance(found.code, JudgeAdvice) and found.code.settles


def _settling(batch: JudgedBatch) -> tuple[str, str]:
    """What would settle a range, without its command; and the command."""
    settle = next((found.sentence for found in batch.findings if _settles(found)), "")
    sentence, _, rest = settle.partition(": `")
    command, _, _ = rest.partition("`")
    return (f"{sentence}:" if command else sentence), command


def _headline(result: AbstractJudgement, label: str) -> Headline:
    """The title and the lead of the page, for a class in all items."""
    overall = result.overall
    share = share_of(overall, label)
    name, where = shown(result, label), shortened(overall.name)
    if share.estimate is None:
        return Headline(
            heading=f"The true share of “{name}” in {where} cannot be estimated",
            limits=f"anything from {limits(share.low, share.high)} is possible",
            lead=f"{answer(replace(result, headline=label), overall)}.",
            numbers=_numbers(result, share),
        )
    items, where = counted(overall.n_items, "item"), f"{where}{weighting(overall)}"
    if overall.mean is not None and label == result.headline:
        # For ordered classes the mean comes first.
        bounds = f"{overall.mean.low:.2f} to {overall.mean.high:.2f}"
        mean, part = f"{overall.mean.estimate:.2f}", percent(share.estimate)
        part = f"{part} of them are “{name}” ({limits(share.low, share.high)})"
        if overall.kind is Kind.RANGE:
            mean, part = bounds, f"{limits(share.low, share.high)} of them are “{name}”"
        return Headline(
            heading=f"The mean of the {items} in {where} is {mean}{conditionally(overall)}",
            limits=_of_level(result, bounds),
            lead=f"{part}. {_against_verdicts(overall, share)}",
            numbers=_numbers(result, share),
        )
    what = percent(share.estimate)
    if overall.kind is Kind.RANGE:
        what = limits(share.low, share.high)
    return Headline(
        heading=f"{what} of the {items} in {where} are “{name}”{conditionally(overall)}",
        limits=_of_level(result, limits(share.low, share.high)),
        lead=_against_verdicts(overall, share),
        numbers=_numbers(result, share),
    )


def _of_level(result: AbstractJudgement, bounds: str) -> str:
    if result.overall.kind is Kind.RANGE:
        return "a range of what remains possible, not a confidence interval"
    if result.overall.kind is Kind.CONDITIONAL:
        return f"{100 * result.level:g}% interval {bounds}"
    return f"{100 * result.level:g}% confidence interval {bounds}"


def _against_verdicts(overall: JudgedBatch, share: Share) -> str:
    naive = overall.naive(share.label)
    if naive is None:
        return ""
    where = "within" if share.low <= naive <= share.high else "outside"
    what = Kind.RANGE if overall.kind.is_range else "interval"
    return f"Counting the machine’s verdicts gives {percent(naive)}, {where} the {what}."


def _numbers(result: AbstractJudgement, share: Share) -> tuple[tuple[str, str], ...]:
    naive = result.overall.naive(share.label)
    name, bounds = shown(result, share.label), limits(share.low, share.high)
    figures = [(f"range of the true share of {name}", bounds)]
    if not result.overall.kind.is_range:
        figures = [
            (f"true share of {name}", estimate_text(share)),
            (limits_head(result.overall.kind, result.level), bounds),
        ]
    if naive is not None:
        figures.append(("by the verdicts alone", percent(naive)))
    mean = result.overall.mean
    if mean is not None:
        bounds = f"{mean.low:.2f} to {mean.high:.2f}"
        of_mean = (f"mean ({bounds})", f"{mean.estimate:.2f}")
        figures.insert(
            0, ("range of the mean", bounds) if result.overall.kind.is_range else of_mean
        )
    wins = result.overall.win_rate
    if wins is not None:
        name = f"win rate of {shown(result, wins.label)} ({limits(wins.low, wins.high)})"
        figures.append((name, percent(wins.estimate)))
    return (*figures, ("labels by people", f"{result.overall.n_labelled:,}"))


def _tables(result: AbstractJudgement, *, several: bool) -> list[dict[str, Any]]:
    """The shares: of one batch class by class, or for each class batch by batch."""
    tables = []
    for label in result.classes if several else (result.headline,):
        head, *rows = summary_rows(replace(result, headline=label))
        if not any(row[-1] for row in rows):
            head, rows = head[:-1], [row[:-1] for row in rows]
        chosen = label == result.headline
        tables.append({"label": shown(result, label), "head": head, "rows": rows, "shown": chosen})
    return tables


def _unknown(result: AbstractJudgement) -> list[str]:
    return [
        f"{shortened(batch.name)}: {batch.no_estimate_reason}"
        for batch in result.batches
        if not batch.can_be_estimated
    ]


def _judge(result: AbstractJudgement, judge: JudgeQuality) -> dict[str, Any]:
    says = dict(zip(judge.verdicts, judge.says, strict=True))
    cells = {(rate.label, rate.verdict): rate for rate in judge.rates}
    rows = []
    for label in result.classes:
        row = []
        for verdict in judge.verdicts:
            rate, right = cells.get((label, verdict)), says[verdict] == label
            if rate is None:
                row.append(("?", "", 0, right))
                continue
            bounds = f"({100 * rate.low:.0f} to {100 * rate.high:.0f})"
            strength = round(100 * rate.estimate)
            row.append((f"{100 * rate.estimate:.0f}", bounds, strength, right))
        rows.append((shown(result, label), row))
    kappa = ""
    if judge.agreement is not None:
        agreement = judge.agreement
        measure = "Cohen’s kappa, squared distances" if result.ordered else "Cohen’s kappa"
        kappa = (
            f"Agreement with people beyond chance ({measure}; 0 is chance, 1 is full agreement): "
            f"{agreement.estimate:.2f}, between {agreement.low:.2f} and {agreement.high:.2f}"
            f"{kappa_among(result.overall)}."
        )
    verdicts = [shortened(verdict) for verdict in judge.verdicts]
    return {"name": shortened(judge.name), "kappa": kappa, "verdicts": verdicts, "rows": rows}


def _differences(result: AbstractJudgement) -> list[tuple[str, str, str, str]]:
    """The differences of two systems class by class, or of several in pairs for the headline."""
    several = _n_pairs(result) > 1
    compared = [(d, False) for d in result.differences]
    compared += [(d, True) for d in result.mean_differences]
    if several:
        compared = [(d, bool(result.mean_differences)) for d in leading_differences(result)]
    rows = []
    for d, of_means in compared:
        name = "mean" if of_means else shown(result, d.label)
        estimate, bounds = points(d, of_means=of_means)
        chance = "more than chance" if d.more_than_chance else decided_by(d)
        if several:
            name, chance = pair_text(d), f"{chance} (p = {d.p_adjusted:.2g})"
        rows.append((name, estimate, bounds.strip("()"), chance))
    return rows


def _n_pairs(result: AbstractJudgement) -> int:
    return len({(d.system, d.other) for d in result.differences})


def _compared(result: AbstractJudgement) -> str:
    if not result.differences:
        return ""
    first = result.differences[0]
    if _n_pairs(result) > 1:
        return "Which system is better"
    return f"{shortened(first.system)} against {shortened(first.other)}"


def _compared_how(result: AbstractJudgement) -> str:
    if not result.differences:
        return ""
    first = result.differences[0]
    if _n_pairs(result) > 1:
        what = "means" if result.mean_differences else f"shares of {shown(result, result.headline)}"
        return f"True {what}, in pairs. p-values are adjusted for the number of pairs (Holm)."
    n, m = first.n_items, first.n_other
    how = (
        f"On the same {n:,} items"
        if first.paired
        else f"On different items, {n:,} of one and {m:,} of the other"
    )
    return (
        f"{how}: the true share in {shortened(first.system)} minus that in "
        f"{shortened(first.other)}, in points of a percentage"
        f"{', and the same of the means' if result.mean_difference else ''}. "
        f"{sentence(which_is_better(result))}"
    )


def _state(batch: JudgedBatch) -> tuple[str, str, str]:
    """Class of style, sign and words for how the labels were chosen."""
    labels = batch.labels
    words = f"Labels: {design_text(batch)}"
    if not labels.ok:
        return "fails", "✗", f"{words}; the table contradicts it"
    if labels.guessed or batch.no_estimate_reason:
        return "untold", "?", words
    return "holds", "✓", words


def _facts(result: AbstractJudgement) -> list[tuple[str, str]]:
    facts = [("judges", ", ".join(result.judges) or "none")]
    if result.score is not None:
        facts.append(("score", result.score))
    if result.label is not None:
        facts.append(("labels in", result.label))
    if result.by is not None:
        facts.append(("groups by", result.by))
    return [*facts, ("intervals", f"{100 * result.level:g}%, for each class on its own")]


def _chart_data(
    result: AbstractJudgement, conditions: Sequence[Condition], *, several: bool
) -> dict[str, Any]:
    """What the chart needs. Names are on one line: Vega's expressions cannot hold a break."""
    rows = [
        {
            "name": shortened(batch.name) if several else shown(result, share.label),
            "label": one_line(share.label),
            "share": share.estimate,
            "low": share.low,
            "high": share.high,
            "naive": batch.naive(share.label),
            "range": batch.kind.is_range,
        }
        for batch in result.batches
        for share in batch.shares
    ]
    return {
        "several": several,
        "headline": one_line(result.headline),
        "classes": [one_line(label) for label in result.classes],
        "names": {one_line(label): shown(result, label) for label in result.classes},
        "rows": rows,
        "alternatives": [
            {"name": f"if {i}", "low": a.low, "high": a.high, "assumption": one_line(a.assumption)}
            for i, a in enumerate(result.overall.alternatives, 1)
        ],
        "found": [asdict(_headline(result, label)) for label in result.classes],
        "thresholds": thresholds(result, conditions),
    }
