"""Which design it was: implied by what is given, guessed from the data, or checked against them."""

from dataclasses import dataclass, replace

from quantshift.base.nouns import listed
from quantshift.errors import UserError
from quantshift.judging.designs.design import Check, Design
from quantshift.judging.designs.parts.label_evidence import Clue, LabelEvidence, Strength
from quantshift.judging.designs.registry import design_named, designs
from quantshift.judging.items.judged_items import DEFAULTS, JudgedItems, Settings


@dataclass(frozen=True)
class Guess:
    """The design taken if none was stated, and why, as a part of a sentence."""

    design: Design
    why: str


def implied_design(items: JudgedItems) -> Design | None:
    """The design that follows from what is given, so that nobody has to state or guess it.

    If several do, it is the one registered last: known rates rather than a table of labels, which
    the check of known rates then refuses.
    """
    for design in reversed(designs()):
        if design.is_implied_by(items):
            return design
    return None


def guess_design(items: JudgedItems) -> Guess:
    """The design that the labels of some items look like.

    The design with the strongest clue is taken. Several clues of the same strength, such as even
    numbers of verdicts and of labels, are an error.
    """
    clues = _clues(items, LabelEvidence.of(items))
    strongest = max(clue.strength for clue in clues)
    first, *others = (clue for clue in clues if clue.strength == strongest)
    if others:
        possible = [first, *others, *(c for c in clues if c.strength is Strength.NOTHING_ELSE)]
        raise UserError(
            f"{listed([clue.why for clue in (first, *others)])}: say how they were chosen "
            f"({listed([clue.design for clue in possible], 'or')})",
            arguments=["labels"],
        )
    return Guess(design_named(first.design), first.why)


def check_design(design: Design, items: JudgedItems, settings: Settings = DEFAULTS) -> Check:
    """Whether the data contradict a design."""
    evidence = LabelEvidence.of(items)
    others = tuple(clue for clue in _clues(items, evidence) if clue.design != design.name)
    return design.check(items, replace(evidence, other_clues=others), settings)


def _clues(items: JudgedItems, evidence: LabelEvidence) -> list[Clue]:
    clues = (design.clue(items, evidence) for design in designs())
    return [clue for clue in clues if clue is not None]
