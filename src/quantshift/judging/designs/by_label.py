"""Labels chosen by label, a number of each class: they show how often a class gets each verdict.

The labelled items are part of the sample: their classes are known, and the posterior is that of the
other items.
"""

import numpy as np

from quantshift.judging.designs.design import Check, Design, LabelsStandFor, even_numbers_against
from quantshift.judging.designs.parts.carried_rates import carried_over, carried_quality
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality
from quantshift.judging.designs.parts.label_evidence import (
    SURELY,
    Clue,
    LabelEvidence,
    Strength,
    are_round,
    numbers_in_words,
)
from quantshift.judging.designs.parts.share_estimate import ShareEstimate, labelled_table
from quantshift.judging.designs.parts.transfer_checks import fit_p_value
from quantshift.judging.items.judged_items import JudgedItems, Settings

NO_SHARES = (
    "no shares of the classes give the other items the verdicts they have, if these are judged as "
    "labelled ones of their class are"
)


class ByLabel(Design):
    """A number of items of each class, at random within it."""

    name = "by-label"
    chosen = "chosen by label"
    words = "chosen by label, a number of each"
    help = "a fixed number of each label"
    assumption = "Items of one class are judged alike whether labelled or not."
    source = ""
    cannot_be_stated = ""
    cannot_be_planned = "nobody knows the label of an item before it is labelled"
    labelled_are_items = True
    shares_labels = True
    uses_labels = True
    labels_stand_for = LabelsStandFor.THEIR_CLASS

    def is_implied_by(self, items: JudgedItems) -> bool:
        """Never."""
        return False

    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """As many labels of each class, or tens of each if items are surely not random ones."""
        if evidence.lacks_cells or not (evidence.even_labels or evidence.tens_of_labels):
            return None
        if _contradicted(items):
            return None
        if evidence.even_labels:
            why = f"there are {evidence.of_each_label} labels of each class"
            # Labels may be even by chance where somebody chose tens of the verdicts.
            chosen = evidence.tens_of_verdicts is None or evidence.even_verdicts
            strength = Strength.EVEN_NUMBERS if chosen else Strength.ROUND_NUMBERS
            return Clue(self.name, strength, why, "as if chosen by their label")
        why = f"there are {numbers_in_words(evidence.label_counts)} labels of the classes"
        return Clue(self.name, Strength.ROUND_NUMBERS, why, "as if chosen by their label")

    def check(self, items: JudgedItems, evidence: LabelEvidence, settings: Settings) -> Check:
        """Contradicted by verdicts of the other items that no shares of the classes would give.

        Also by even numbers of something else, if those of labels are not round.
        """
        if _contradicted(items):
            return Check(ok=False, sentence=NO_SHARES)
        if evidence.even_labels:
            stated = f"There are {evidence.of_each_label} labels of each class"
            return Check(sentence=f"{stated}, as stated.")
        return even_numbers_against(evidence, may_be_chance=are_round(evidence.label_counts))

    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """The joint posterior of the items without labels, together with those that have one."""
        sample = self.in_sample(items)
        return carried_over(items, sample, settings, labelled_are_items=self.labelled_are_items)

    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """By labels that are random within their class."""
        return carried_quality(counts, settings)


def _contradicted(items: JudgedItems) -> bool:
    """Whether no shares of the classes give the verdicts that the items without a label have.

    Never for items in clusters, for which the test would be significant too often.
    """
    if items.verdicts is None or items.clusters is not None or items.external is not None:
        return False
    codes = items.verdicts_together()
    labelled, n = items.is_labelled, int(codes.max()) + 1
    table = labelled_table(codes[labelled], items.labels[labelled], n, items.n_classes)
    others = np.bincount(codes[~labelled], minlength=n).astype(np.float64)
    return fit_p_value(table, others) < SURELY
