"""Labels of items that somebody picked: disputed, low-scored, complained about.

If verdicts or scores show the rule, because items with some of them have no labels at all, there is
an answer for those that have, and anything may be true of the rest. Otherwise nothing is known
about the items without a label.
"""

from dataclasses import replace

import numpy as np
from scipy.special import bdtr

from quantshift.judging.designs.design import Check
from quantshift.judging.designs.parts.label_evidence import (
    SURELY,
    Clue,
    LabelEvidence,
    Strength,
)
from quantshift.judging.designs.parts.ranges import (
    LABEL_AT_RANDOM,
    RANDOM_ITEMS,
    cells_without_labels,
    range_from_labels,
    within_cells,
)
from quantshift.judging.designs.parts.share_estimate import Alternative, ShareEstimate
from quantshift.judging.designs.ranged import AbstractRangedDesign
from quantshift.judging.findings import JudgeAdvice
from quantshift.judging.items.judged_items import JudgedItems, Settings


class Picked(AbstractRangedDesign):
    """Items that were chosen for what they are."""

    name = "picked"
    chosen = "picked by hand"
    words = "of items picked for what they are"
    help = "because they are disputed, low-scored or complained about"
    assumption = (
        "Hand-picked items are not representative, so nothing is known about the items without a "
        "label: this is a range, not a confidence interval."
    )
    source = ""
    cannot_be_stated = ""
    cannot_be_planned = "picked items stand for nothing but themselves"

    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """A judge that errs more often than by lot; otherwise it is for the user to say."""
        if items.n_classes != 2 or not items.is_labelled.any() or items.verdicts is None:
            return None
        if not any(_errs_more_than_chance(items, j) for j in range(items.verdicts.shape[1])):
            return None
        why = (
            "a judge is wrong about more of the labelled items than verdicts drawn by lot would "
            "be, as if they had been picked for its errors"
        )
        return Clue(self.name, Strength.SHOWN, why)

    def check(self, items: JudgedItems, evidence: LabelEvidence, settings: Settings) -> Check:
        """Never contradicted."""
        return Check(p_value=evidence.p_value, sentence="Picked items need no check.")

    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """Bounds; with an answer for items like the labelled ones, if the table shows which."""
        unlike = cells_without_labels(items)
        if not unlike.any():
            return replace(range_from_labels(items), settle=LABEL_AT_RANDOM)
        what = "verdicts" if items.score is None else "scores"
        like = within_cells(items.take(~unlike), settings)
        part = float(items.item_weights[~unlike].sum() / items.item_weights.sum())
        among = (
            f"among the {part:.0%} of the items with {what} like those of the labelled ones, if "
            "these are random ones of them"
        )
        bounded = like.with_items_unlike(unlike, what, items.item_weights)
        return replace(
            bounded,
            bounds=True,
            alternatives=(Alternative(among, like.low, like.high),),
            settle=JudgeAdvice.LABEL_THE_OTHERS.found(n=RANDOM_ITEMS, what=what),
        )


def _errs_more_than_chance(items: JudgedItems, judge: int) -> bool:
    """Whether a judge agrees with people surely less often than verdicts drawn by lot would."""
    verdicts, y = items.labelled(judge)
    assert verdicts is not None
    classes = items.class_of_verdicts(judge)[verdicts]
    classes, y = classes[classes >= 0], y[classes >= 0]
    if not len(y):
        return False
    by_lot = float((np.bincount(classes, minlength=2) * np.bincount(y, minlength=2)).sum()) / len(y)
    return bool(bdtr(int((classes == y).sum()), len(y), by_lot / len(y)) < SURELY)
