"""Conditions on shares, and events of batches, for scripts that must stop if one of them holds.

A condition is about a share, and the kind of the answer says what decides it (`DECIDED_BY`): of an
interval the estimate, or the limit that is named (`spam.low>0.05`); of two intervals both must say
the same, and of a range all of it must be on one side of the bound, or the condition is *open*. All
commands that answer end with the same exit codes (`exit_code`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

from quantshift.answers.shares import Answer, HasClasses
from quantshift.answers.words import limits, shortened
from quantshift.base.nouns import percent
from quantshift.claims import Grounds, Kind, Reason
from quantshift.errors import UserError, unknown_name

FINE, FAILED, OPEN = 0, 3, 4
"""Exit codes: of a call in which nothing is wrong, in which a condition holds, and in which a
condition is open or a share cannot be estimated."""

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "shift": "more has changed than the shares of the classes, according to the test",
        "changed": "a share differs from that of the previous batch by more than chance (only if "
        "batches are dates or numbered, and for batches of 30 items or more)",
        "unreliable": "it cannot be estimated, its limits are more than 40 points apart, or the "
        "answer is a range or either of two intervals, because the items contradict that only the "
        "shares of the classes changed or cannot tell, and no audit overrides it",
        "declared": "the answer rests on what you declared, or on a method that you chose",
    }
)
"""Named conditions that can be checked for every batch, and what they mean."""

DECLARED = "declared"
"""The event that answers of every command can have."""


class DecidedBy(Enum):
    """What of an answer decides a condition."""

    ESTIMATE = "the estimate, or the limit that is named"
    BOTH = "the estimate of each of two intervals, or the limit that is named; open if they differ"
    LIMITS = "both limits, or the one that is named; open if they differ"
    NOTHING = "nothing: it is open"


DECIDED_BY: Mapping[Kind, DecidedBy] = MappingProxyType(
    {
        Kind.INTERVAL: DecidedBy.ESTIMATE,
        Kind.SEQUENCE: DecidedBy.ESTIMATE,
        Kind.CONDITIONAL: DecidedBy.ESTIMATE,
        Kind.EITHER: DecidedBy.BOTH,
        Kind.RANGE: DecidedBy.LIMITS,
        Kind.CANNOT: DecidedBy.NOTHING,
    }
)
"""What decides a condition, by the kind of the answer; what rests on a guess decides nothing."""


def decided_by(grounds: Grounds) -> DecidedBy:
    """What decides a condition on an answer."""
    return DecidedBy.NOTHING if grounds.reason is Reason.GUESSED else DECIDED_BY[grounds.kind]


_CONDITION = re.compile(
    r"(?P<label>.+)(?P<sign>>=|<=|>|<)\s*(?P<number>[0-9]*\.?[0-9]+)\s*(?P<percent>%?)"
)

_LIMIT = re.compile(r"(?P<label>.+)\.(?P<limit>low|high)")


class Outcome(Enum):
    """What a share says about a condition: it holds, it does not, or that cannot be told."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    IS_OPEN = "is open"


@dataclass(frozen=True)
class Checked:
    """A condition on the share of one batch. found: the estimate or the limits, as shown."""

    condition: "Condition"
    batch: str
    outcome: Outcome
    found: str

    def __str__(self) -> str:
        """The batch, the condition and what was found.

        >>> str(Checked(Condition.parse("spam>5%"), "week 9", Outcome.HOLDS, "7.2%"))
        'week 9: spam>5% (7.2%)'
        """
        return f"{shortened(self.batch)}: {self.condition.text} ({self.found})"


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

    def is_on(self, target: str) -> bool:
        """Whether the condition is on one of several targets, or on one of its limits."""
        return self.label in (target, f"{target}.low", f"{target}.high")

    def checked(self, result: Answer) -> Iterator[Checked]:
        """What the share of every batch says about the condition."""
        label, limit = self.class_and_limit(result)
        for batch in result.batches:
            share = next(share for share in batch.shares if share.label == label)
            by = decided_by(batch.grounds_of(label))
            found = limits(share.low, share.high)
            if by is DecidedBy.NOTHING or not share.is_known:
                yield Checked(self, batch.name, Outcome.IS_OPEN, found)
                continue
            if limit is not None:
                tested = [part.low if limit == "low" else part.high for part in share.parts]
            elif by is DecidedBy.LIMITS:
                tested = [share.low, share.high]
            else:
                tested = [part.estimate for part in share.parts if part.estimate is not None]
            if by is not DecidedBy.LIMITS or limit is not None:
                found = " or ".join(map(percent, tested))
            holds = {_holds(value, self.sign, self.bound) for value in tested}
            outcome = Outcome.IS_OPEN
            if len(holds) == 1:
                outcome = Outcome.HOLDS if holds.pop() else Outcome.DOES_NOT_HOLD
            yield Checked(self, batch.name, outcome, found)

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


def checked(conditions: Iterable[Condition], result: Any, *outcomes: Outcome) -> Iterator[Checked]:
    """The conditions on every batch of an answer that have one of these outcomes."""
    for condition in conditions:
        yield from (each for each in condition.checked(result) if each.outcome in outcomes)


def failures_of(conditions: Iterable[Condition], result: Any) -> list[str]:
    """The batches of an answer for which any of the conditions holds, in words."""
    return [str(each) for each in checked(conditions, result, Outcome.HOLDS)]


def open_in(conditions: Iterable[Condition], result: Any) -> list[str]:
    """The batches for which it cannot be told whether a condition holds, in words."""
    return [str(each) for each in checked(conditions, result, Outcome.IS_OPEN)]


def declared_in(result: Answer) -> list[str]:
    """The batches whose answers rest on what the user has declared, in words."""
    return [
        f"{shortened(batch.name)}: {DECLARED}"
        for batch in result.batches
        if batch.grounds_of(result.headline).reason is Reason.DECLARED
    ]


def exit_code(*, failed: bool, is_open: bool) -> int:
    """The exit code of every command that answers.

    failed: whether a condition, an event or an alarm holds. is_open: whether a condition is open,
    or a share cannot be estimated; that something failed is more.

    >>> exit_code(failed=True, is_open=True), exit_code(failed=False, is_open=True)
    (3, 4)
    """
    if failed:
        return FAILED
    return OPEN if is_open else FINE


def check_conditions(conditions: Iterable[str], model: HasClasses) -> None:
    """Raise an error for text that is not a condition, or for a class the model does not have."""
    for text in conditions:
        Condition.parse(text).class_and_limit(model)


def check_events(names: Sequence[str], allowed: Mapping[str, str] = EVENTS) -> None:
    """Raise an error for an unknown name."""
    for name in names:
        if name not in allowed:
            if _CONDITION.fullmatch(name.strip()):
                raise UserError(f"{name!r} is a bound on a share", arguments=["fail_if"])
            raise unknown_name("condition", name, allowed)


def _holds(value: float, sign: str, bound: float) -> bool:
    if sign.startswith(">"):
        return value > bound or (sign == ">=" and value == bound)
    return value < bound or (sign == "<=" and value == bound)
