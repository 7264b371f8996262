"""Conditions on shares, and events of batches, for scripts that must stop if one of them holds."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from quantshift.answers.shares import Answer, HasClasses, Share
from quantshift.answers.words import percent, shortened
from quantshift.errors import UserError, unknown_name

FAILED, CANNOT_BE_ESTIMATED = 3, 4
"""Exit codes of a call in which a condition holds, or a share cannot be estimated."""

TOO_WIDE = 0.4
"""An interval or range wider than this makes an estimate unreliable."""

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "shift": "more has changed than the shares of the classes, according to the test",
        "changed": "a share differs from that of the previous batch by more than chance (only if "
        "batches are dates or numbered, and for batches of 30 items or more)",
        "unreliable": "it cannot be estimated, its limits are more than 40 points apart, or the "
        "answer is a range, because the items contradict that only the shares of the classes "
        "changed or cannot tell, and no audit overrides it",
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
        match = _CONDITION.fullmatch(text.strip())
        label = "" if match is None else match["label"].rstrip()
        if match is None or not label or label[-1] in "<>":
            raise UserError(
                f"{text!r} is not a condition; write a class, > or <, and a share: spam>0.05",
                arguments=["fail_if"],
            )
        bound = float(match["number"]) / (100 if match["percent"] else 1)
        if bound > 1:
            raise UserError(
                f"{text!r}: a share is at most 1; write 0.05, or 5%", arguments=["fail_if"]
            )
        return cls(text.strip(), label, match["sign"], bound)

    def failures(self, result: Answer) -> Iterator[str]:
        """The batches for which the condition holds, in words."""
        label, limit = self.class_and_limit(result)
        for batch in result.batches:
            share = next(share for share in batch.shares if share.label == label)
            value = _value(share, limit)
            if value is not None and _holds(value, self.sign, self.bound):
                yield f"{shortened(batch.name)}: {self.text} ({percent(value)})"

    def class_and_limit(self, result: HasClasses) -> tuple[str, str | None]:
        """The class and the limit that are meant; a class may be given by its displayed name."""
        labels = {name: label for label, name in result.names.items()}
        labels |= {label: label for label in result.classes}
        if self.label in labels:
            return labels[self.label], None
        match = _LIMIT.fullmatch(self.label)
        if match is not None and match["label"] in labels:
            return labels[match["label"]], match["limit"]
        raise unknown_name("class", self.label if match is None else match["label"], labels)


def failures_of(conditions: Iterable[Condition], result: Any) -> list[str]:
    """The batches of an answer for which any of the conditions holds, in words."""
    return [line for condition in conditions for line in condition.failures(result)]


def check_conditions(conditions: Iterable[str], model: HasClasses) -> None:
    """Raise an error for text that is not a condition, or for a class the model does not have."""
    for text in conditions:
        Condition.parse(text).class_and_limit(model)


def check_events(names: Sequence[str], allowed: Mapping[str, str] = EVENTS) -> None:
    """Raise an error for an unknown name."""
    for name in names:
        if name not in allowed:
            raise unknown_name("condition", name, allowed)


def _value(share: Share, limit: str | None) -> float | None:
    if share.estimate is None or limit is None:
        return share.estimate
    return share.low if limit == "low" else share.high


def _holds(value: float, sign: str, bound: float) -> bool:
    if sign.startswith(">"):
        return value > bound or (sign == ">=" and value == bound)
    return value < bound or (sign == "<=" and value == bound)
