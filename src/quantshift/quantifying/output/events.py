"""Events of a quantification, for scripts that must stop if one of them holds."""

from collections.abc import Sequence

from quantshift.answers.conditions import DECLARED
from quantshift.answers.words import limits, shortened
from quantshift.claims import WIDEST, Kind, Reason
from quantshift.quantifying.output.verdicts import p_text
from quantshift.quantifying.result import AbstractQuantification, Batch


def held_events(result: AbstractQuantification, events: Sequence[str]) -> list[str]:
    """The batches for which an event holds, in words."""
    return [
        f"{shortened(batch.name)}: {event}{_reason(batch, event)}"
        for event in events
        for batch in result.batches
        if _happened(batch, event)
    ]


def is_unreliable(batch: Batch) -> bool:
    """Whether the estimate should not be acted upon; see `EVENTS`."""
    return bool(_doubts(batch))


def _doubts(batch: Batch) -> list[str]:
    if not batch.can_be_estimated:
        return ["cannot be estimated"]
    widest = max(batch.shares, key=lambda share: share.width)
    doubts = []
    if batch.kind is not Kind.EITHER and widest.width > WIDEST:
        kind = "range" if batch.kind.is_range else "interval"
        doubts.append(f"{kind} {limits(widest.low, widest.high)}")
    if batch.audit is None and batch.shift is not None and batch.shift.is_significant:
        doubts.append(f"shift, {p_text(batch.shift)}")
    elif batch.reason is Reason.NO_EVIDENCE:
        kind = "one of two intervals" if batch.kind is Kind.EITHER else "a range"
        doubts.append(f"{kind}: the items cannot tell what has changed")
    return doubts


def _happened(batch: Batch, event: str) -> bool:
    if event == "shift":
        return batch.shift is not None and batch.shift.is_significant
    if event == DECLARED:
        return batch.reason is Reason.DECLARED
    return bool(batch.change) if event == "changed" else is_unreliable(batch)


def _reason(batch: Batch, event: str) -> str:
    if event == "shift" and batch.shift is not None:
        return f" ({p_text(batch.shift)})"
    return f" ({', '.join(_doubts(batch))})" if event == "unreliable" else ""
