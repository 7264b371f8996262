"""What the batches of all answers say about themselves."""

from abc import ABC
from collections.abc import Sequence

from quantshift.answers.shares import AbstractLabelShare, Share
from quantshift.answers.show.notebook import batch_line
from quantshift.claims import Grounds, Kind, Reason


class AbstractBatch(ABC):
    """A sample whose classes share their grounds."""

    name: str
    n_items: int
    shares: tuple[Share, ...]
    grounds: Grounds
    condition: str

    @property
    def kind(self) -> Kind:
        """The kind of the answer."""
        return self.grounds.kind

    @property
    def reason(self) -> Reason:
        """Why it is of that kind."""
        return self.grounds.reason

    @property
    def can_be_estimated(self) -> bool:
        """Whether there is any estimate."""
        return self.kind is not Kind.CANNOT

    def grounds_of(self, label: str) -> Grounds:
        """The grounds of the answer about a class, which are those of all classes."""
        return self.grounds

    def __repr__(self) -> str:
        """The shares in a line."""
        return batch_line(self)


class AbstractLabelsBatch(ABC):
    """A sample with several labels, each of which has grounds of its own."""

    name: str
    n_items: int
    labels: Sequence[AbstractLabelShare]

    @property
    def shares(self) -> tuple[Share, ...]:
        """One for each label."""
        return tuple(answer.share for answer in self.labels)

    @property
    def can_be_estimated(self) -> bool:
        """Whether every label has an estimate."""
        return all(answer.can_be_estimated for answer in self.labels)

    @property
    def condition(self) -> str:
        """None for all labels: each of the answers has its own."""
        return ""

    def grounds_of(self, label: str) -> Grounds:
        """What the answer about a label stands on."""
        return next(answer.grounds for answer in self.labels if answer.label == label)

    def __repr__(self) -> str:
        """The shares in a line."""
        return batch_line(self)
