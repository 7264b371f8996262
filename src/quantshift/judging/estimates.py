"""The design of one call of `judge`, and estimates for its table and for parts of it."""

from dataclasses import dataclass, replace

from quantshift.errors import UserError
from quantshift.judging.designs.design import Design
from quantshift.judging.designs.guessing import Guess, guess_design, implied_design
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.inputs import ReadItems
from quantshift.judging.judge_run import JudgeRun


@dataclass(frozen=True)
class ChosenDesign:
    """The design of the labels; guess: why, if it was guessed."""

    design: Design
    guess: Guess | None = None


def design_of(run: JudgeRun) -> ChosenDesign:
    """How labels of the table were chosen: as what is given implies or the user states; guessed."""
    if run.stated is not None and run.table.items.inclusion is not None:
        raise UserError(
            "the sheet of a plan says how its labels were chosen; leave out what you state of them",
            arguments=["labels"],
        )
    items = run.judged_items(run.table.items)
    design = implied_design(items) or run.stated_for_items
    if design is not None:
        return ChosenDesign(design)
    guess = guess_design(items)
    return ChosenDesign(guess.design, guess)


def estimate_table(run: JudgeRun, design: Design) -> Judged:
    """The shares among all items."""
    return estimate(run.judged_items(run.table.items), design, run.settings)


def estimate_group(run: JudgeRun, group: ReadItems, design: Design) -> Judged:
    """The shares among some of the items.

    The design was checked on the whole: among many groups one would contradict it by chance. If
    rates of the judge are carried over, the labels of all groups show them.
    """
    items = run.judged_items(group, pooled=design.shares_labels)
    implied = implied_design(items)
    return estimate(items, implied or design, replace(run.settings, insist=True))
