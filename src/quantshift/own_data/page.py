"""A quantification as one self-contained web page: no network, no server, no other file.

It has the shell and the look of the report's page (`quantshift.report.page.shell`).
"""

from dataclasses import asdict
from typing import Any

from quantshift.own_data.rendering import marks
from quantshift.own_data.result import Batch, Quantification, Share
from quantshift.own_data.words import headline, held_by, limits, percent
from quantshift.report.page.shell import render_shell


def render_page(result: Quantification) -> str:
    """The page as one string of HTML."""
    label = headline(result.classes)
    last = result.batches[-1]
    return render_shell(
        __package__,
        title=f"How common is “{label}”?",
        lead=_lead(result, last, label),
        numbers=_numbers(result, last, label),
        label=label,
        result=result,
        batches=[_batch(batch) for batch in result.batches],
        warnings=[*result.warnings, *_warnings(result)],
        facts=_facts(result),
        level=f"{100 * result.level:g} %",
        data={**asdict(result), "headline": label},
    )


def _lead(result: Quantification, last: Batch, label: str) -> str:
    share = _share(last, label)
    if share.estimate is None:
        return f"{last.name} has no items: nothing can be estimated."
    where = last.name if len(result.batches) == 1 else f"{last.name}, the last of the batches,"
    return (
        f"{percent(share.estimate)} of the items like those of {where} are “{label}”; with "
        f"{100 * result.level:g} % confidence {limits(share.low, share.high)}."
    )


def _numbers(result: Quantification, last: Batch, label: str) -> list[tuple[str, str]]:
    share = _share(last, label)
    return [
        (f"share of {label}", "?" if share.estimate is None else percent(share.estimate)),
        (f"{100 * result.level:g} % interval", limits(share.low, share.high)),
        ("items", f"{last.n_items:,}"),
        ("method", result.method if last.audit is None else f"{result.method}, audited"),
    ]


def _share(batch: Batch, label: str) -> Share:
    return next(share for share in batch.shares if share.label == label)


def _batch(batch: Batch) -> dict[str, Any]:
    return {
        "name": batch.name,
        "n_items": f"{batch.n_items:,}",
        "shares": [
            {
                "label": share.label,
                "estimate": "?" if share.estimate is None else percent(share.estimate),
                "limits": limits(share.low, share.high),
                "low": 100 * share.low,
                "width": 100 * (share.high - share.low),
                "middle": 100 * (share.low if share.estimate is None else share.estimate),
            }
            for share in batch.shares
        ],
        "state": _state(batch),
        "marks": marks(batch),
        "verdict": batch.verdict,
        "advice": [advice.replace("`", "") for advice in batch.advice],
        "audit": batch.audit,
        "counted": []
        if batch.audit is None
        else [
            (s.label, percent(s.estimate or 0.0), limits(s.low, s.high))
            for s in batch.audit.counted
        ],
        "unaudited": [
            (s.label, percent(s.estimate or 0.0), limits(s.low, s.high)) for s in batch.unaudited
        ],
    }


def _state(batch: Batch) -> tuple[str, str, str]:
    """Class of style, sign and words for the state of a batch."""
    if batch.audit is not None:
        if batch.audit.contradicts:
            return "fails", "✗", "The audit contradicts the method"
        return "holds", "✓", "Audited"
    if batch.shift is None:
        return "untold", "?", "Not tested for shift"
    if batch.shift.rejected:
        return "fails", "✗", "More than the prevalence has changed"
    return "holds", "✓", "No sign of more than a change of prevalence"


def _warnings(result: Quantification) -> list[str]:
    return [f"{batch.name}: {w}" for batch in result.batches for w in batch.warnings]


def _facts(result: Quantification) -> list[tuple[str, str]]:
    told = result.training
    facts = [("method", f"{result.method}: {result.reason}"), ("assumes", result.assumption)]
    if told.n_items:
        mix = ", ".join(f"{label} {percent(p)}" for label, p in told.prevalence.items())
        facts += [
            ("trained on", f"{told.n_items:,} rows of {told.source} ({mix})"),
            (
                "classifier",
                f"{told.classifier}, right on {percent(told.accuracy or 0)} of unseen rows",
            ),
        ]
    holds = held_by(result.classes, simultaneous=result.simultaneous)
    drawn = "replicates of the training items and of the items of the sample"
    return [*facts, ("intervals", f"{drawn}; they hold {holds}" if holds else drawn)]
