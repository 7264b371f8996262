"""The shares of the classes in a batch, and what all answers have in common."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from quantshift.claims import Assumption, Grounds, Quantity


@dataclass(frozen=True)
class Candidate:
    """One of two intervals for a share, and the assumption under which it holds."""

    assumption: Assumption
    estimate: float
    low: float
    high: float

    @property
    def condition(self) -> str:
        """The assumption in words, from "if" on."""
        return f"if {self.assumption.meaning}"


@dataclass(frozen=True)
class Share(Quantity):
    """The prevalence of one class between its limits; None where it cannot be estimated.

    either: two intervals, if the items cannot tell which of them holds. The estimate is then None,
    and the limits go from the lower end of one to the upper end of the other.
    """

    either: tuple[Candidate, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate, or two of which one holds."""
        return self.estimate is not None or bool(self.either)

    @property
    def parts(self) -> "tuple[Share, ...]":
        """The share itself, or one for each of the two intervals."""
        if not self.either:
            return (self,)
        return tuple(Share(self.label, c.estimate, c.low, c.high) for c in self.either)

    def complement(self, label: str) -> "Share":
        """The share of the other of two classes."""
        return Share(
            label,
            None if self.estimate is None else 1 - self.estimate,
            1 - self.high,
            1 - self.low,
            tuple(
                Candidate(c.assumption, 1 - c.estimate, 1 - c.high, 1 - c.low) for c in self.either
            ),
        )


def conditional_parts(share: Share, condition: str = "") -> list[tuple[Share, str]]:
    """The share with its condition, or each of its two intervals with the one of its own."""
    if not share.either:
        return [(share, condition)]
    return [(part, c.condition) for part, c in zip(share.parts, share.either, strict=True)]


def by_class(classes: Sequence[str], shares: Iterable[float]) -> dict[str, float]:
    """The share of each class, by its name."""
    return dict(zip(classes, map(float, shares), strict=True))


class SharesOfBatch(Protocol):
    """What batches of every answer have in common."""

    @property
    def name(self) -> str:
        """The displayed name."""

    @property
    def n_items(self) -> int:
        """How many items it has."""

    @property
    def shares(self) -> tuple[Share, ...]:
        """One for each class."""

    @property
    def condition(self) -> str:
        """What a conditional answer is right under, from "if" on; empty for all others."""

    def grounds_of(self, label: str) -> Grounds:
        """What the answer about a class stands on."""


class HasClasses(Protocol):
    """An answer, or a model that can give one."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in order."""

    @property
    def names(self) -> Mapping[str, str]:
        """How classes are shown."""


class Answer(HasClasses, Protocol):
    """What the answers of `quantify` and `judge` have in common."""

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""

    @property
    def headline(self) -> str:
        """The class whose share is the headline."""

    @property
    def batches(self) -> Sequence[SharesOfBatch]:
        """The samples."""

    def records(self) -> Iterator[dict[str, Any]]:
        """One row per batch and class."""


def headline_share(result: Answer, batch: SharesOfBatch) -> Share:
    """The share of the headline class."""
    return share_of(batch, result.headline)


def is_estimated(result: Answer) -> bool:
    """Whether the headline class has an estimate in every batch, or two of which one holds."""
    return all(headline_share(result, batch).is_known for batch in result.batches)


def headline_first(result: Answer, shares: Sequence[Share]) -> list[Share]:
    """The shares, with that of the headline class first."""
    return sorted(shares, key=lambda share: share.label != result.headline)


def share_of(batch: SharesOfBatch, label: str) -> Share:
    """The share of a class."""
    return next(share for share in batch.shares if share.label == label)
