"""The design of one call of `judge`, and estimates for its table and for parts of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from quantshift.base.nouns import counted
from quantshift.errors import UserError
from quantshift.judging.designs.design import Design
from quantshift.judging.designs.guessing import Guess, guess_design, implied_design
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.items.inputs import ReadItems
from quantshift.judging.items.judged_items import RATES
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

    def of(items: ReadItems) -> Judged:
        return estimate(run.judged_items(items), design, run.settings)

    return _with_either_label(run.table.items, of)


def estimate_group(run: JudgeRun, group: ReadItems, design: Design) -> Judged:
    """The shares among some of the items.

    The design was checked on the whole: among many groups one would contradict it by chance. If
    rates of the judge are carried over, the labels of all groups show them.
    """
    settings = replace(run.settings, insist=True)
    if design.labelled_are_items:
        # The labels are of these items, chosen by their label: that rates carry over is the design.
        settings = replace(settings, assume=RATES)

    def of(part: ReadItems) -> Judged:
        items = run.judged_items(part, pooled=design.shares_labels)
        return estimate(items, implied_design(items) or design, settings)

    return _with_either_label(group, of)


def _with_either_label(items: ReadItems, estimated: Callable[[ReadItems], Judged]) -> Judged:
    """The estimate with limits that allow for either label where people are undecided."""
    found = estimated(items)
    others = items.other_labels
    if others is None or np.array_equal(others, items.labels):
        return found
    other = estimated(replace(items, labels=others))
    ours, theirs = found.shares, other.shares
    shares = replace(
        ours,
        prevalence=(ours.prevalence + theirs.prevalence) / 2,
        low=np.minimum(ours.low, theirs.low),
        high=np.maximum(ours.high, theirs.high),
    )
    n = int((others != items.labels).sum())
    undecided = f"On {counted(n, 'item')} people are undecided: the limits allow for either label."
    return replace(found, shares=shares, notes=(*found.notes, undecided))
