"""Conditions on a quantification, for scripts that must stop if one of them holds."""

from collections.abc import Sequence

from quantshift.answers.conditions import TOO_WIDE, Condition, failures_of
from quantshift.answers.kinds import is_range
from quantshift.answers.words import limits, shortened
from quantshift.quantifiers.base.guarding import NO_EVIDENCE
from quantshift.quantifying.output.result import Batch, Quantification
from quantshift.quantifying.output.verdicts import p_text


def failures(
    result: Quantification, events: Sequence[str], conditions: Sequence[Condition]
) -> list[str]:
    """The batches for which an event or a condition holds, in words."""
    lines = [
        f"{shortened(batch.name)}: {event}{_reason(batch, event)}"
        for event in events
        for batch in result.batches
        if _happened(batch, event)
    ]
    return [*lines, *failures_of(conditions, result)]


def is_unreliable(batch: Batch) -> bool:
    """Whether the estimate should not be acted upon; see `EVENTS`."""
    return bool(_doubts(batch))


def _doubts(batch: Batch) -> list[str]:
    if not batch.can_be_estimated:
        return ["cannot be estimated"]
    widest = max(batch.shares, key=lambda share: share.high - share.low)
    doubts = []
    if widest.high - widest.low > TOO_WIDE:
        kind = "range" if is_range(batch.kind) else "interval"
        doubts.append(f"{kind} {limits(widest.low, widest.high)}")
    if batch.audit is None and batch.shift is not None and batch.shift.is_significant:
        doubts.append(f"shift, {p_text(batch.shift)}")
    elif batch.reason == NO_EVIDENCE:
        doubts.append("a range: the items cannot tell what has changed")
    return doubts


def _happened(batch: Batch, event: str) -> bool:
    if event == "shift":
        return batch.shift is not None and batch.shift.is_significant
    return bool(batch.change) if event == "changed" else is_unreliable(batch)


def _reason(batch: Batch, event: str) -> str:
    if event == "shift" and batch.shift is not None:
        return f" ({p_text(batch.shift)})"
    return f" ({', '.join(_doubts(batch))})" if event == "unreliable" else ""
