"""An estimate by one design, with what goes with it: checks, quality of the judges, notes."""

from dataclasses import dataclass

import numpy as np

from quantshift.errors import UserError
from quantshift.judging.designs.design import Check, Design
from quantshift.judging.designs.guessing import check_design, guess_design, implied_design
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.estimating.clustering import allowing_for_clusters
from quantshift.judging.judged_items import JudgedItems, Settings


@dataclass(frozen=True, eq=False)
class Judged:
    """The shares of the classes among the items in question, and all that goes with them.

    judges: one `Quality` per judge, in the order given; none if there are scores alone.
    check: what the data say of the design; assumption: one sentence on what the estimate rests on.
    notes: further sentences the user should read.
    labels_for_half_width: labels in all for an interval of half the width; None if more labels of
        these items cannot do it.
    """

    shares: ShareEstimate
    level: float
    design: Design
    n_items: int
    n_labelled: int
    judges: tuple[Quality, ...]
    check: Check
    assumption: str
    notes: tuple[str, ...]
    labels_for_half_width: int | None


def estimate_by_design(items: JudgedItems, stated: Design | None, settings: Settings) -> Judged:
    """The estimate from one kind of labels, by the design that is stated, implied or guessed."""
    design, about = _design(items, stated)
    checked = check_design(design, items, settings)
    if not checked.ok and not settings.insist and not design.is_implied_by(items):
        like = "" if checked.looks_like is None else f"; it looks like {checked.looks_like}"
        raise UserError(
            f"the data contradict labels {design.chosen}: {checked.sentence}{like}",
            arguments=["labels"],
        )
    shares = design.estimate(items, settings).within_limits()
    shares = allowing_for_clusters(shares, items, design, settings)
    return Judged(
        shares=shares,
        level=settings.level,
        design=design,
        n_items=int(design.in_sample(items).sum()),
        n_labelled=items.n_labelled,
        judges=_qualities(items, design, shares, settings),
        check=checked,
        assumption=design.assumption,
        notes=(*about, *shares.notes, *(items.notes() if design.uses_labels else ())),
        labels_for_half_width=_labels_for_half_width(shares, items, design, settings),
    )


def _design(items: JudgedItems, stated: Design | None) -> tuple[Design, tuple[str, ...]]:
    """The design to estimate with, and why if it was guessed."""
    implied = implied_design(items)
    if implied is None and stated is None:
        guess = guess_design(items)
        return guess.design, (f"Taken as {guess.design.name}: {guess.why}.",)
    if implied is not None and stated is not None and stated is not implied:
        raise UserError(
            f"the design of these labels is {implied.name}, not {stated.name}: leave it out",
            arguments=["labels"],
        )
    found = implied or stated
    assert found is not None
    return found, ()


def _qualities(
    items: JudgedItems, design: Design, shares: ShareEstimate, settings: Settings
) -> tuple[Quality, ...]:
    """Of each judge by itself; none if labelled items have scores alone."""
    if items.verdicts is None or (items.external is not None and items.external.verdicts is None):
        return ()
    sample = design.in_sample(items)
    return tuple(
        design.quality(items, JudgeCounts.of(items, judge, sample, shares.prevalence), settings)
        for judge in range(items.verdicts.shape[1])
    )


def _labels_for_half_width(
    shares: ShareEstimate, items: JudgedItems, design: Design, settings: Settings
) -> int | None:
    """Labels in all; without an error among the labels the width falls as their number rises.

    Of these items the square of the width falls with 1 / labels - 1 / items.
    """
    if not shares.can_be_halved or shares.no_estimate_reason:
        return None
    widest = int(np.argmax(shares.high - shares.low))
    by_labels, by_items = float(shares.by_labels[widest]), float(shares.by_items[widest])
    factor = 2.0
    if settings.of_items and design.labelled_are_items and not by_items:
        k, n = items.n_labelled, len(items)
        return int(np.ceil(4 / (1 / k + 3 / n))) if by_labels > 0 else min(2 * k, n)
    if by_labels > 0:
        rest = (by_labels + by_items) / 4 - by_items
        if rest <= 0:
            return None
        factor = max(by_labels / rest, 2.0)
    needed = int(np.ceil(factor * items.n_labelled))
    return needed if not design.labelled_are_items or needed <= len(items) else None
