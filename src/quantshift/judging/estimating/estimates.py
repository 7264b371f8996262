"""The design of one call of `judge`, and estimates for its table and for parts of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quantshift.base.types import Reals
from quantshift.claims import Assumption
from quantshift.errors import UserError
from quantshift.judging.designs.design import Design
from quantshift.judging.designs.guessing import Guess, guess_design, implied_design
from quantshift.judging.designs.parts.share_estimate import Alternative
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.estimating.judge_run import JudgeRun
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.reading.inputs import ReadItems


@dataclass(frozen=True)
class ChosenDesign:
    """The design of the labels; guess: why, if it was guessed."""

    design: Design
    guess: Guess | None = None


def design_of(run: JudgeRun) -> ChosenDesign:
    """How labels of the table were chosen: implied by the input, stated by the user or guessed."""
    if run.stated is not None and run.table.items.inclusion is not None:
        raise UserError(
            "the sheet of a plan says how its labels were chosen; do not state it as well",
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

    def estimated(variant: JudgeRun, items: ReadItems) -> Judged:
        return estimate(variant.judged_items(items), design, variant.settings)

    return _with_ties_halved(run, run.table.items, estimated, labels_of=run.table.items)


def estimate_group(run: JudgeRun, group: ReadItems, design: Design) -> Judged:
    """The shares among some of the items.

    The design was checked on the whole: among many groups one would contradict it by chance. If
    rates of the judge are carried over, the labels of all groups show them.
    """
    settings = replace(run.settings, insist=True)
    if design.labelled_are_items:
        # The labels are of these items, chosen by their label: that rates carry over is the design.
        settings = replace(settings, assume=Assumption.RATES)

    def estimated(variant: JudgeRun, part: ReadItems) -> Judged:
        items = variant.judged_items(part, pooled=design.shares_labels)
        return estimate(items, implied_design(items) or design, settings)

    labels_of = run.table.items if design.shares_labels else group
    return _with_ties_halved(run, group, estimated, labels_of=labels_of)


def _with_ties_halved(
    run: JudgeRun,
    items: ReadItems,
    estimated: Callable[[JudgeRun, ReadItems], Judged],
    *,
    labels_of: ReadItems,
) -> Judged:
    """The estimate in which an item on which people are undecided counts half for either label.

    To first order that is the mean of the estimates with either label, and the standard error of a
    mean is at most the mean of the standard errors, so that the means of the limits hold. What is
    said about the judges rests on the decided items. labels_of: the items whose labels count.
    """
    judged, n = estimated(run, items), int(labels_of.undecided.sum())
    if not n or judged.shares.no_estimate_reason:
        return judged
    other = estimated(run.with_labels(ReadItems.otherwise_decided), items.otherwise_decided())
    if other.shares.no_estimate_reason:
        return other
    ours, theirs = judged.shares, other.shares
    either = Alternative(
        f"whichever way people decide the {'item' if n == 1 else f'{n:,} items'} on which they are "
        "undecided",
        np.minimum(ours.low, theirs.low),
        np.maximum(ours.high, theirs.high),
    )
    halves: dict[str, Any] = {
        name: _mean(getattr(ours, name), getattr(theirs, name)) for name in _HALVED
    }
    shares = replace(ours, **halves, alternatives=(*ours.alternatives, either))
    split = JudgeFindings.SPLIT_ITEMS.found(n=n)
    judges = judged.judges
    if labels_of.only_decided().labelled.any():
        decided = run.with_labels(ReadItems.only_decided, insist=True)
        judges = estimated(decided, items.only_decided()).judges
    return replace(judged, shares=shares, judges=judges, findings=(*judged.findings, split))


_HALVED = ("prevalence", "low", "high", "by_labels", "by_items", "influence")
"""The fields of an estimate that are means of those with either label."""


def _mean(one: Reals, other: Reals) -> Reals:
    return np.asarray((one + other) / 2)
