"""Labels within other labels: every item that has the child has its parent too.

The share of a child can then not exceed that of its parent, and neither can its limits. Estimates
of the two are made separately, so what exceeds the parent's is cut. If the limits of both hold, so
do the cut ones: the share of the child is at most that of the parent, which is at most its limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from quantshift.answers.shares import Candidate, Share
from quantshift.base.nouns import counted
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.multilabel.label_tables import LabelTable


@dataclass(frozen=True)
class Parents:
    """The parent of each label that has one; parents come before their children."""

    of: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, written: Sequence[str], labels: Sequence[str]) -> "Parents":
        """From texts such as "hate=abuse"; errors name what is wrong."""
        of: dict[str, str] = {}
        for text in written:
            child, parent = _pair(text, labels)
            if not (child and parent):
                raise UserError(
                    f"{text!r} does not name a label and its parent; write hate=abuse",
                    arguments=["parents"],
                )
            for name in (child, parent):
                if name not in labels:
                    raise unknown_name("label", name, labels)
            if of.get(child, parent) != parent:
                raise UserError(
                    f"label {child!r} has two parents, {of[child]!r} and {parent!r}; give one",
                    arguments=["parents"],
                )
            of[child] = parent
        return cls(_from_the_top(of))

    def check(self, name: str, labels: LabelTable) -> None:
        """Refuse labelled rows that have a child without its parent. name: of their table."""
        names = labels.names.tolist()
        for child, parent in self.of.items():
            has, within = (labels.has[:, names.index(label)] for label in (child, parent))
            n_without = int((has & ~within).sum())
            if n_without:
                verb = "has" if n_without == 1 else "have"
                raise DataError(
                    f"{name}: {counted(n_without, 'row')} {verb} the label {child!r} without its "
                    f"parent {parent!r}; correct them, or leave this parent out",
                    arguments=["parents"],
                )

    def coherent(self, shares: Mapping[str, Share]) -> dict[str, Share]:
        """Shares of which none exceeds its parent's, nor do its limits.

        >>> shares = {"abuse": Share("abuse", 0.2, 0.1, 0.3), "hate": Share("hate", 0.25, 0.2, 0.4)}
        >>> Parents({"hate": "abuse"}).coherent(shares)["hate"]
        Share(label='hate', estimate=0.2, low=0.1, high=0.3, either=())
        """
        coherent = dict(shares)
        for child, parent in self.of.items():
            own, most = coherent[child], coherent[parent]
            bound = most.high if most.estimate is None else most.estimate
            under = {part.assumption: part for part in most.either}
            coherent[child] = Share(
                child,
                None if own.estimate is None else min(own.estimate, bound),
                min(own.low, most.low),
                min(own.high, most.high),
                tuple(_within(part, under.get(part.assumption, most)) for part in own.either),
            )
        return coherent

    def contradictions(self, shares: Mapping[str, Share]) -> list[tuple[str, str]]:
        """Children whose lower limit is above their parent's upper one, each with the parent."""
        pairs = self.of.items()
        return [
            (child, parent) for child, parent in pairs if shares[child].low > shares[parent].high
        ]


def _within(own: Candidate, most: Candidate | Share) -> Candidate:
    """One of two intervals for a child, none of whose numbers exceeds its parent's."""
    bound = most.high if most.estimate is None else most.estimate
    return Candidate(
        own.assumption,
        min(own.estimate, bound),
        min(own.low, most.low),
        min(own.high, most.high),
    )


def _pair(text: str, labels: Sequence[str]) -> tuple[str, str]:
    """The two labels of a text; names of labels may contain the sign between them."""
    signs = [position for position, sign in enumerate(text) if sign == "="]
    pairs = [(text[:position].strip(), text[position + 1 :].strip()) for position in signs]
    of_labels = [pair for pair in pairs if all(name in labels for name in pair)]
    return next(iter([*of_labels, *pairs]), ("", ""))


def _from_the_top(of: Mapping[str, str]) -> dict[str, str]:
    """The same, with parents before their children; a circle is an error."""
    ordered: dict[str, str] = {}
    waiting = dict(of)
    while waiting:
        ready = {child: parent for child, parent in waiting.items() if parent not in waiting}
        if not ready:
            raise UserError(
                f"label {next(iter(waiting))!r} is within itself, by way of its parents; correct "
                "them",
                arguments=["parents"],
            )
        ordered |= ready
        waiting = {child: parent for child, parent in waiting.items() if child not in ready}
    return ordered
