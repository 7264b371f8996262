"""A design: one way in which labelled items can have been chosen, and all that follows from it.

What labels say about a judge depends on the design. Random items show the rate by themselves; items
chosen by their verdict show what share of each verdict is right; items chosen by their label, or
labelled elsewhere, show how often a class gets each verdict. Which it was is a fact about the past
that data can contradict but not prove.

A new design is a subclass of `Design` in a file of its own and a line in `registry`: the command
line, its help, errors, texts, pages and JSON ask the registry. A design that `plan judge` can draw
items for is `Plannable` as well.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Flags, Reals
from quantshift.claims import Assumption
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality
from quantshift.judging.designs.parts.label_evidence import Clue, LabelEvidence, Strength
from quantshift.judging.designs.parts.plan_strata import PlanStrata
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.items.judged_items import JudgedItems, Settings


class LabelsStandFor(Enum):
    """What labelled items are a random sample of."""

    ALL_ITEMS = "all items"
    THEIR_VERDICT = "the items of their verdict"
    THEIR_CLASS = "the items of their class"
    THEIR_STRATUM = "the items that a plan chooses with their probability"
    THEMSELVES = "nothing but themselves"


@dataclass(frozen=True)
class Check:
    """What the data say about a design.

    ok: False if they contradict it. p_value: of the test that labelled items have the verdicts (or
    scores) of all items; None if the design does not claim it.
    looks_like: the design that the numbers look like, also where they do not contradict the one
        that was checked, or two ("by-verdict or by-label"); None if they look like no other.
    sentence: one sentence for the user.
    """

    ok: bool = True
    p_value: float | None = None
    looks_like: str | None = None
    sentence: str = "Nothing in the data contradicts it."


class Design(ABC):
    """How labelled items were chosen.

    name: in `labels=`, on the command line and in JSON. chosen: in errors, after "labels": "chosen
        at random". words: in texts and pages, after the number of labels. help: in the help of the
        command; empty if it cannot be stated.
    assumption: the sentence on what the estimate rests on. declares: the assumption that giving
        this design declares, if any.
    source: how it is known if the user does not state it; empty if it must be stated.
    cannot_be_stated: why `labels=` cannot name it, and what to do; else empty.
    cannot_be_planned: why `plan judge` cannot draw such items; else empty.
    labelled_are_items: whether labelled items are among those in question.
    shares_labels: whether the labels of all groups serve each of them, as labels from elsewhere
        do, because the rates of the judge are carried over.
    uses_labels: whether there are labels at all.
    labels_stand_for: what labelled items are a random sample of: all items, those of one verdict,
        those of one class, what a plan has drawn, or nothing.
    """

    name: ClassVar[str]
    chosen: ClassVar[str]
    words: ClassVar[str]
    help: ClassVar[str]
    assumption: ClassVar[str]
    declares: ClassVar[Assumption | None] = None
    source: ClassVar[str]
    cannot_be_stated: ClassVar[str]
    cannot_be_planned: ClassVar[str]
    labelled_are_items: ClassVar[bool]
    shares_labels: ClassVar[bool]
    uses_labels: ClassVar[bool]
    labels_stand_for: ClassVar["LabelsStandFor"]

    @abstractmethod
    def is_implied_by(self, items: JudgedItems) -> bool:
        """Whether it follows from what is given, so that nobody has to state or guess it."""

    @abstractmethod
    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """What points to it; None if nothing does."""

    @abstractmethod
    def check(self, items: JudgedItems, evidence: LabelEvidence, settings: Settings) -> Check:
        """Whether the data contradict it; the evidence has clues that point to other designs.

        Data that the design cannot be used with are an error.
        """

    @abstractmethod
    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """The shares of the classes."""

    @abstractmethod
    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """Error rates and kappa of one judge."""

    def in_sample(self, items: JudgedItems) -> Flags:
        """Which items are in question: not those labelled elsewhere, even if they are among these.

        Labels in a table of their own make no difference.
        """
        if not self.labelled_are_items and items.external is None:
            return ~items.is_labelled
        return np.ones(len(items), dtype=bool)


class Plannable(ABC):
    """A way to choose items to label, in strata.

    name: in `how=` and on the command line. plan_words: in errors, after "a plan".
    plan_needs: columns without which it is impossible: "verdict", "score".
    plans_together: whether items are drawn from all together, and strata only show how precise the
        answer will be.
    """

    name: ClassVar[str]
    plan_words: ClassVar[str]
    plan_needs: ClassVar[tuple[str, ...]]
    plans_together: ClassVar[bool]

    @abstractmethod
    def plan_strata(self, items: JudgedItems, *, random_so_far: bool) -> PlanStrata:
        """Strata with the rates to expect; random_so_far: labels so far look like random ones."""

    @abstractmethod
    def allocated(
        self, strata: PlanStrata, total: int, had: NDArray[np.int64], level: float
    ) -> Reals:
        """How many labels each stratum has at the end; it `had` some of them already."""


def even_numbers_against(evidence: LabelEvidence, *, may_be_chance: bool) -> Check:
    """What even numbers of something else say about a design.

    may_be_chance: they may have come about by chance, and do not contradict it.
    """
    for clue in evidence.other_clues:
        if clue.strength is Strength.EVEN_NUMBERS:
            return Check(may_be_chance, None, clue.design, f"{clue.why}, {clue.as_if}")
    return Check()
