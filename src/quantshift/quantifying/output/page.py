"""A quantification as one self-contained web page: no network, no server, no other file.

It has the shell and the look of the other pages (`quantshift.answers.shell.shell`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from quantshift.answers.conditions import Condition, failures_of
from quantshift.answers.kinds import limits_head
from quantshift.answers.marks import legend
from quantshift.answers.merging import merged
from quantshift.answers.page import data_links, on_one_line, render_answer, thresholds
from quantshift.answers.rows import rows_text
from quantshift.answers.shares import Share, headline_first, headline_share, share_of
from quantshift.answers.shell.colours import ON_DARK, PALETTE
from quantshift.answers.text import shown
from quantshift.answers.words import estimates_and_limits, held_by, one_line, percents, shortened
from quantshift.claims import NOTHING_KNOWN, Alternative, Kind, Reason
from quantshift.claims.findings import Finding
from quantshift.quantifying.columns import parts
from quantshift.quantifying.findings import BatchFindings
from quantshift.quantifying.group_errors import METHOD_NAMES, GroupErrors, groups_text
from quantshift.quantifying.output.advice import CONFUSED
from quantshift.quantifying.output.headline import (
    batch_label,
    headline_found,
    headline_of_all,
    later_batches_text,
    leading_batch,
)
from quantshift.quantifying.output.performance import performance_cells, performance_columns
from quantshift.quantifying.output.text import (
    training_mix,
)
from quantshift.quantifying.result import AbstractQuantification, Batch
from quantshift.quantifying.training.learnt_from_groups import LeftOutAnswer, left_out_answers
from quantshift.quantifying.training.methods import IF_COVARIATE_SHIFT, IF_PRIOR_SHIFT
from quantshift.quantifying.training.model import accuracy_text
from quantshift.tables.columns.kinds import TEXT


def render_page(
    result: AbstractQuantification,
    *,
    conditions: Sequence[Condition] = (),
    provenance: Sequence[tuple[str, str]] = (),
) -> str:
    """The page as one string of HTML.

    conditions: thresholds to draw. provenance: how the result was made, such as the command and the
    seed, each with its name.
    """
    chosen = leading_batch(result)
    headline = headline_found(result, result.batches[chosen], result.headline)
    chosen_batch = f"{headline.heading} ({headline.limits}). {headline.lead}"
    title = headline
    if len(result.batches) > 1:
        title = headline_of_all(result, result.headline)
    if not _is_series(result):
        headline = title
    left_out = _left_out(result)
    return render_answer(
        __package__,
        title=f"{title.heading} ({title.limits})",
        opening=headline,
        lead=headline.lead,
        numbers=headline.numbers,
        result=result,
        by=result.by or "batch",
        headline=result.classes.index(result.headline),
        classes=[(label, shown(result, label)) for label in result.classes],
        columns=[shown(result, label) for label in _headline_first(result)],
        series=_is_series(result),
        chosen=chosen,
        kinds_of_batches={batch.kind.value for batch in result.batches},
        chosen_batch=chosen_batch,
        batches=[
            {"index": i, **_batch(result, batch, texts)}
            for i, (batch, texts) in enumerate(zip(result.batches, _texts(result), strict=True))
        ],
        downloads=data_links(result.to_json(), result.to_csv()),
        alarms=[*result.alarms(), *_unknown(result)],
        crossed=failures_of(conditions, result),
        warnings=[
            *filter(None, [later_batches_text(result)]),
            *merged(result.shown_findings(), len(result.batches), _shown_batch(result)),
        ],
        rows=[rows_text(rows) for rows in result.all_rows],
        facts=[*_facts(result), *provenance],
        legend=legend(mark for batch in result.batches for mark in batch.marks),
        limits_head=limits_head(result.batches[chosen].kind, result.level),
        level=f"{100 * result.level:g}%",
        groups=None if result.groups is None else _groups(result, result.groups, left_out),
        performance=[
            (batch_label(result, batch), cells)
            for batch, cells in zip(result.batches, performance_cells(result), strict=True)
            if cells
        ],
        performance_columns=performance_columns(result),
        data={**_chart_data(result, conditions), "left_out": _left_out_data(left_out)},
    )


def _is_series(result: AbstractQuantification) -> bool:
    """Whether the page is about one batch at first, the newest one."""
    return result.in_sequence or len(result.batches) == 1


def _headline_first(result: AbstractQuantification) -> list[str]:
    return sorted(result.classes, key=lambda label: label != result.headline)


def _unknown(result: AbstractQuantification) -> list[str]:
    """The batches that cannot be estimated, except the one that the lead is about."""
    leading = leading_batch(result) if _is_series(result) else None
    unknown = [
        batch
        for i, batch in enumerate(result.batches)
        if i != leading and not batch.can_be_estimated
    ]
    found = (_not_estimated(result, batch) for batch in unknown)
    return merged(found, len(result.batches), _shown_batch(result))


def _not_estimated(result: AbstractQuantification, batch: Batch) -> Finding:
    """That nothing can be estimated in a batch, and why, or what is possible."""
    name, share = shown(result, result.headline), headline_share(result, batch)
    if batch.n_items and batch.kind is Kind.CANNOT and batch.reason not in NOTHING_KNOWN:
        return BatchFindings.NOT_WITHOUT_LABELS.found(
            batch=batch.name, name=name, low=share.low, high=share.high
        )
    reason = batch.no_estimate_reason or CONFUSED
    return BatchFindings.NOT_ESTIMATED.found(batch=batch.name, name=name, reason=reason)


def _shown_batch(result: AbstractQuantification) -> Callable[[str], str]:
    """How the name of a batch is shown."""
    labels = {batch.name: batch_label(result, batch) for batch in result.batches}
    return labels.__getitem__


def _chart_data(result: AbstractQuantification, conditions: Sequence[Condition]) -> dict[str, Any]:
    """Data for the charts. Names are on one line: Vega's expressions cannot hold line breaks."""
    data: dict[str, Any] = on_one_line(asdict(result))
    return {
        **data,
        "names": {one_line(label): shown(result, label) for label in result.classes},
        "method_names": dict(METHOD_NAMES),
        "conditions": {
            alternative.assumption.value: alternative.condition(_parts(result))
            for batch in result.batches
            for alternative in batch.alternatives
        },
        "kinds": {kind.value: kind.words for kind in Kind},
        "ranges": [kind.value for kind in Kind if kind.is_range],
        "batch_names": [batch_label(result, batch) for batch in result.batches],
        "found": [
            [asdict(headline_found(result, batch, label)) for label in result.classes]
            for batch in result.batches
        ],
        "of_all": []
        if _is_series(result)
        else [asdict(headline_of_all(result, label)) for label in result.classes],
        "first_batch": leading_batch(result),
        "significant_shift": ["shift" in batch.marks for batch in result.batches],
        "thresholds": thresholds(result, conditions),
        "colours": [f"light-dark({c}, {ON_DARK.get(c, c)})" for c in PALETTE],
    }


def _texts(result: AbstractQuantification) -> list[dict[str, tuple[str, str]]]:
    """Estimate and limits of each class in each batch, with the same decimals in a column."""
    if len(result.batches) == 1:
        shares = result.batches[0].shares
        pairs = zip(shares, estimates_and_limits(shares), strict=True)
        return [{share.label: texts for share, texts in pairs}]
    columns = {
        label: estimates_and_limits([share_of(batch, label) for batch in result.batches])
        for label in result.classes
    }
    return [
        {label: column[i] for label, column in columns.items()} for i in range(len(result.batches))
    ]


def _audit_texts(
    result: AbstractQuantification, shares: Sequence[Share]
) -> list[tuple[str, str, str]]:
    ordered = headline_first(result, shares)
    pairs = zip(ordered, estimates_and_limits(ordered), strict=True)
    return [(shown(result, share.label), *texts) for share, texts in pairs]


def _batch(
    result: AbstractQuantification, batch: Batch, texts: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
    return {
        "name": batch_label(result, batch),
        "n_items": f"{batch.n_items:,}",
        "shares": [
            {
                "index": result.classes.index(share.label),
                "label": shown(result, share.label),
                "estimate": texts[share.label][0],
                "limits": texts[share.label][1],
                "bars": [(100 * p.low, 100 * p.width) for p in share.parts],
                "middle": None if share.estimate is None else 100 * share.estimate,
            }
            for share in headline_first(result, batch.shares)
        ],
        "state": _state(batch),
        "marks": batch.marks,
        "verdict": batch.verdict,
        "advice": [_with_commands(found.sentence) for found in batch.advice],
        "command": batch.command,
        "is_range": batch.kind.is_range,
        "audit": batch.audit,
        "counted": [] if batch.audit is None else _audit_texts(result, batch.audit.counted),
        "unaudited": _audit_texts(result, batch.unaudited),
        "changes": [(shortened(c.name), c.description) for c in batch.changes],
        "alternatives": [
            (each.condition(_parts(result)), each.technical, _alternative_mark(each), shares)
            for each, shares in zip(batch.alternatives, _assumed(result, batch), strict=True)
        ],
    }


def _parts(result: AbstractQuantification) -> str:
    """What a class is made of."""
    return parts(topics=any(column.kind == TEXT for column in result.used))


def _alternative_mark(alternative: Alternative) -> str:
    if alternative.refuted:
        return "contradicted"
    return "for comparison" if alternative.for_comparison else ""


def _assumed(result: AbstractQuantification, batch: Batch) -> list[tuple[str, ...]]:
    """The shares under each assumption, a column per class."""
    columns = (
        percents([alternative.prevalence[label] for alternative in batch.alternatives])
        for label in _headline_first(result)
    )
    return list(zip(*columns, strict=True))


def _with_commands(advice: str) -> list[tuple[str, bool]]:
    """The parts of a sentence, and whether each is a command.

    >>> _with_commands("Run `ls` now")
    [('Run ', False), ('ls', True), (' now', False)]
    """
    return [(part, i % 2 == 1) for i, part in enumerate(advice.split("`")) if part]


def _groups(
    result: AbstractQuantification, groups: GroupErrors, left_out: Sequence[LeftOutAnswer]
) -> dict[str, Any]:
    """The left-out groups as the page shows them."""
    truths = percents([group.prevalence[result.headline] for group in groups.groups])
    return {
        "sentence": groups_text(groups),
        "methods": [METHOD_NAMES.get(method, method) for method in groups.errors],
        "lead": shown(result, result.headline),
        "rows": [
            (
                shortened(group.name),
                f"{group.n_items:,}",
                truth,
                [f"{100 * error:.1f}" for error in group.errors.values()],
            )
            for group, truth in zip(groups.groups, truths, strict=True)
        ],
        "means": [f"{100 * error:.1f}" for error in groups.errors.values()],
        "notes": [found.sentence for found in groups.findings],
        "noun": groups.noun,
        "legend": _legend(groups, left_out),
    }


def _left_out_data(answers: Sequence[LeftOutAnswer]) -> list[dict[str, Any]]:
    """The left-out groups for their chart: shares in the order of the classes."""
    return [
        {
            "name": one_line(answer.name),
            "truth": answer.truth.tolist(),
            "estimate": answer.estimate.tolist(),
            "low": None if answer.low is None else answer.low.tolist(),
            "high": None if answer.high is None else answer.high.tolist(),
        }
        for answer in answers
    ]


def _left_out(result: AbstractQuantification) -> list[LeftOutAnswer]:
    """Each group as the others, or the earlier ones, would have estimated it."""
    if result.groups is None:
        return []
    return left_out_answers(
        result.groups, IF_COVARIATE_SHIFT.__name__, IF_PRIOR_SHIFT.__name__, result.level
    )


def _legend(groups: GroupErrors, answers: Sequence[LeftOutAnswer]) -> str:
    """What the chart of the left-out groups shows, and how often their ranges held."""
    if groups.in_time:
        return (
            f"Dots: the share that the earlier {groups.noun}s would have given; diamonds: the "
            "truth. The range of a sample also depends on its items, and is not shown here."
        )
    outcomes = [answer.holds for answer in answers if answer.holds is not None]
    dots = "the share and range that the other groups would have given; diamonds: the truth."
    if not outcomes:
        return f"Dots: {dots} The others are too few to give a range."
    held = f"The range held the true shares of {sum(outcomes)} of {len(outcomes)} groups."
    return f"Dots with dashed lines: {dots} {held}"


def _state(batch: Batch) -> tuple[str, str, str]:
    """CSS class, sign and text for the state of a batch."""
    if batch.audit is not None:
        if batch.audit.contradicts:
            return "fails", "✗", "The audit contradicts the method"
        return "holds", "✓", "Audited"
    if not batch.can_be_estimated:
        return "fails", "?", "Cannot be estimated"
    if batch.reason is Reason.REFUTED:
        return "fails", "✗", "More has changed than the shares of the classes"
    if batch.kind is Kind.RANGE:
        return "untold", "?", "The items cannot tell what has changed"
    if batch.kind is Kind.EITHER:
        return "untold", "?", "The items cannot tell which of the two intervals holds"
    if batch.shift is None:
        return "untold", "?", "Not tested for shift"
    if batch.shift.rejected:
        return "untold", "?", "A sign of shift that may be chance"
    if batch.reason is Reason.DECLARED:
        return "untold", "?", "Nothing contradicts what you declared, and nothing confirms it"
    return "holds", "✓", STATES.get(batch.reason, "Nothing contradicts the assumption")


STATES: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.EVIDENCE: "The items support that only the shares of the classes have changed",
        Reason.AGREEMENT: "The interval covers all assumptions",
    }
)
"""Why an interval may be called one."""


def _facts(result: AbstractQuantification) -> list[tuple[str, str]]:
    training = result.training
    in_words = result.plain_assumption
    formula = f" ({result.assumption})" if in_words != result.assumption else ""
    facts = [
        ("method", f"{result.method}: {result.reason}"),
        ("assumes", f"{in_words}{formula}"),
        *([("you declared", result.declared)] if result.declared else []),
    ]
    if training.n_items:
        facts += [
            (
                "trained on",
                f"{training.n_items:,} rows of {training.source} ({training_mix(result)})",
            ),
            ("classifier", accuracy_text(training.classifier, training.accuracy or 0.0)),
        ]
    holds = held_by(result.classes, simultaneous=result.simultaneous)
    drawn = "bootstrap replicates of the training items and of the items of the sample"
    if all(batch.kind.is_range for batch in result.batches):
        text = "a range of what remains possible, not a confidence interval"
        return [*facts, ("limits", text)]
    return [*facts, ("intervals", f"{drawn}; they hold {holds}" if holds else drawn)]
