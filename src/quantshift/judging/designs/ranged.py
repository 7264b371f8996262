"""Designs whose answer is a range: labels of these items that do not show how a judge errs."""

from quantshift.judging.designs.design import Design, LabelsStandFor
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality
from quantshift.judging.designs.parts.ranges import unknown_quality
from quantshift.judging.items.judged_items import JudgedItems, Settings


class AbstractRangedDesign(Design):
    """What such designs have in common."""

    labelled_are_items = True
    shares_labels = False
    uses_labels = True
    labels_stand_for = LabelsStandFor.THEMSELVES

    def is_implied_by(self, items: JudgedItems) -> bool:
        """Never."""
        return False

    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """It is not known."""
        return unknown_quality(counts)
