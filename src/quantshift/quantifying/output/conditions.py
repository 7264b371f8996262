"""Conditions on a quantification, for scripts that must stop if one of them holds."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from quantshift.errors import UserError, unknown_name
from quantshift.quantifying.output.result import RANGE, Answer, Batch, Quantification, Share
from quantshift.quantifying.output.verdicts import p_text
from quantshift.quantifying.output.words import limits, percent, shortened
from quantshift.quantifying.training.model import Model

TOO_WIDE = 0.4
"""An interval or range wider than this makes an estimate unreliable."""

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "shift": "more has changed than the shares of the classes, according to the test",
        "changed": "a share differs from that of the previous batch by more than chance (only if "
        "batches are dates or numbered)",
        "unreliable": "it cannot be estimated, or its limits are more than 40 points apart, or the "
        "shift test rejects and no audit overrides it",
    }
)
"""Named conditions that can be checked for every batch, and what they mean."""

_CONDITION = re.compile(
    r"(?P<label>.+)(?P<sign>>=|<=|>|<)\s*(?P<number>[0-9]*\.?[0-9]+)\s*(?P<percent>%?)"
)
_LIMIT = re.compile(r"(?P<label>.+)\.(?P<limit>low|high)")


@dataclass(frozen=True)
class Condition:
    """A bound on the share of a class: `spam>0.05`, `spam > 5%`, `spam.low>=0.05`.

    label: the class; a suffix .low or .high refers to a limit of its interval.
    """

    text: str
    label: str
    sign: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Read a condition. The last sign counts, because class names may contain others.

        >>> Condition.parse("not spam > 5%").bound
        0.05
        """
        found = _CONDITION.fullmatch(text.strip())
        label = "" if found is None else found["label"].rstrip()
        if found is None or not label or label[-1] in "<>":
            raise UserError(
                f"{text!r} is not a condition; write a class, > or <, and a share: spam>0.05",
                arguments=["fail_if"],
            )
        bound = float(found["number"]) / (100 if found["percent"] else 1)
        if bound > 1:
            raise UserError(
                f"{text!r}: a share is at most 1; write 0.05, or 5%", arguments=["fail_if"]
            )
        return cls(text.strip(), label, found["sign"], bound)

    def failures(self, result: Answer) -> Iterator[str]:
        """The batches for which the condition holds, in words."""
        label, limit = self.asked(result)
        for batch in result.batches:
            share = next(share for share in batch.shares if share.label == label)
            value = _value(share, limit)
            if value is not None and _holds(value, self.sign, self.bound):
                yield f"{shortened(batch.name)}: {self.text} ({percent(value)})"

    def asked(self, result: Answer | Model) -> tuple[str, str | None]:
        """The class and the limit meant; a class may be given by the name that is shown."""
        known = {shown: label for label, shown in result.names.items()}
        known |= {label: label for label in result.classes}
        if self.label in known:
            return known[self.label], None
        split = _LIMIT.fullmatch(self.label)
        if split is not None and split["label"] in known:
            return known[split["label"]], split["limit"]
        raise unknown_name("class", self.label if split is None else split["label"], known)


def check_conditions(conditions: Iterable[str], model: Model) -> None:
    """Raise an error for text that is not a condition, or on a class the model does not know."""
    for text in conditions:
        Condition.parse(text).asked(model)


def check_events(names: Sequence[str], known: Mapping[str, str] = EVENTS) -> None:
    """Raise an error for an unknown name."""
    for name in names:
        if name not in known:
            raise unknown_name("condition", name, known)


def failures(
    result: Quantification, events: Sequence[str], conditions: Sequence[Condition]
) -> list[str]:
    """The batches for which an event or a condition holds, in words."""
    found = [
        f"{shortened(batch.name)}: {event}{_reason(batch, event)}"
        for event in events
        for batch in result.batches
        if _happened(batch, event)
    ]
    return [*found, *(line for condition in conditions for line in condition.failures(result))]


def is_unreliable(batch: Batch) -> bool:
    """Whether the estimate should not be acted upon; see `EVENTS`."""
    return bool(_doubts(batch))


def _doubts(batch: Batch) -> list[str]:
    if not batch.can_be_estimated:
        return ["cannot be estimated"]
    widest = max(batch.shares, key=lambda share: share.high - share.low)
    doubts = []
    if widest.high - widest.low > TOO_WIDE:
        kind = "range" if batch.limits_are == RANGE else "interval"
        doubts.append(f"{kind} {limits(widest.low, widest.high)}")
    if batch.audit is None and batch.shift is not None and batch.shift.stands_out:
        doubts.append(f"shift, {p_text(batch.shift)}")
    return doubts


def _happened(batch: Batch, event: str) -> bool:
    if event == "shift":
        return batch.shift is not None and batch.shift.stands_out
    return bool(batch.change) if event == "changed" else is_unreliable(batch)


def _reason(batch: Batch, event: str) -> str:
    if event == "shift" and batch.shift is not None:
        return f" ({p_text(batch.shift)})"
    return f" ({', '.join(_doubts(batch))})" if event == "unreliable" else ""


def _value(share: Share, limit: str | None) -> float | None:
    if share.estimate is None or limit is None:
        return share.estimate
    return share.low if limit == "low" else share.high


def _holds(value: float, sign: str, bound: float) -> bool:
    if sign.startswith(">"):
        return value > bound or (sign == ">=" and value == bound)
    return value < bound or (sign == "<=" and value == bound)
