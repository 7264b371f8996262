"""The shares of the classes in a batch, and what all answers have in common."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Share:
    """The prevalence of one class between its limits; None where it cannot be estimated."""

    label: str
    estimate: float | None
    low: float
    high: float


def by_class(classes: Sequence[str], shares: Iterable[float]) -> dict[str, float]:
    """The share of each class, by its name."""
    return dict(zip(classes, map(float, shares), strict=True))


class AbstractLabelShare:
    """The share of one of several labels, with limits of its own and limits for all labels."""

    label: str
    estimate: float | None
    low: float
    high: float
    low_for_all: float
    high_for_all: float

    @property
    def share(self) -> Share:
        """The share between the limits that hold for this label on its own."""
        return Share(self.label, self.estimate, self.low, self.high)

    @property
    def share_for_all(self) -> Share:
        """The share between the limits that hold for all labels at once."""
        return Share(self.label, self.estimate, self.low_for_all, self.high_for_all)


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


def headline_first(result: Answer, shares: Sequence[Share]) -> list[Share]:
    """The shares, with that of the headline class first."""
    return sorted(shares, key=lambda share: share.label != result.headline)


def share_of(batch: SharesOfBatch, label: str) -> Share:
    """The share of a class."""
    return next(share for share in batch.shares if share.label == label)
