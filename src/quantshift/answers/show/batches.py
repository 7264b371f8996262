"""What the batches of all answers say about themselves."""

from abc import ABC
from collections.abc import Iterator
from typing import NamedTuple

from quantshift.answers.marks import marks_of_answer
from quantshift.answers.shares import Share
from quantshift.answers.show.notebook import batch_line
from quantshift.claims import Grounds, Kind, Reason
from quantshift.claims.findings import Finding, Severity


class Fact(NamedTuple):
    """Something that is said of an answer, under a head. is_detail: among the details alone."""

    head: str
    text: str
    is_detail: bool = True


class AbstractBatch(ABC):
    """A sample whose classes share their grounds."""

    name: str
    n_items: int
    shares: tuple[Share, ...]
    grounds: Grounds
    condition: str
    findings: tuple[Finding, ...]
    command: str = ""

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

    @property
    def marks(self) -> list[str]:
        """What stands out, in a word each (see `MARKS`)."""
        return marks_of_answer(changed=False, shift=False, kind=self.kind, contradicted=None)

    @property
    def advice(self) -> list[Finding]:
        """What to do next."""
        return [found for found in self.findings if found.severity is Severity.ADVICE]

    @property
    def cells(self) -> dict[str, str]:
        """What stands beside the share of one of several targets, by the head of its column."""
        return {}

    def facts(self) -> Iterator[Fact]:
        """What is said of this batch alone."""
        yield from ()

    def __repr__(self) -> str:
        """The shares in a line."""
        return batch_line(self)
