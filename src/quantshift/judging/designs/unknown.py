"""Labels chosen in a way that the user does not state and that the data do not show.

The verdicts of the labelled items are not those of random ones, and no numbers are even or round.
They may have been chosen by verdict, by label, or for a reason that no column shows. The answer is
the range of what follows from the first two; it is not a confidence interval.
"""

from quantshift.judging.designs.by_label import ByLabel
from quantshift.judging.designs.design import Check
from quantshift.judging.designs.parts.label_evidence import Clue, LabelEvidence, Strength
from quantshift.judging.designs.parts.ranges import (
    LABEL_AT_RANDOM,
    hull,
    within_cells,
)
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.designs.ranged import AbstractRangedDesign
from quantshift.judging.items.judged_items import JudgedItems, Settings

BY_VERDICT = "if they are random ones among items with the same verdicts (by-verdict)"
BY_LABEL = "if they are random ones among items of their class (by-label)"


class Unknown(AbstractRangedDesign):
    """Nothing fits."""

    name = "unknown"
    chosen = "chosen in an unknown way"
    words = "chosen in a way that nothing shows"
    help = ""
    assumption = (
        "Nothing shows how the labelled items were chosen, so this is the range of what follows "
        "from different ways, not a confidence interval."
    )
    source = "you did not say, and nothing shows it"
    cannot_be_stated = "say how they were chosen, or that they were picked"
    cannot_be_planned = "say how the plan chooses items"

    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """Other verdicts or scores than random items would have."""
        if not evidence.not_random:
            return None
        why = f"{evidence.difference}, and neither verdicts nor labels come in chosen numbers"
        return Clue(self.name, Strength.DIFFERENT_ITEMS, why)

    def check(self, items: JudgedItems, evidence: LabelEvidence, settings: Settings) -> Check:
        """Nothing to check."""
        return Check(p_value=evidence.p_value, sentence="No way of choosing them is known to fit.")

    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """All that follows from labels by verdict and from labels by label."""
        by_cells = within_cells(items, settings)
        estimates = [(BY_VERDICT, by_cells)]
        by_label = ByLabel().estimate(items, settings)
        if not by_label.no_estimate_reason:
            estimates.append((BY_LABEL, by_label))
        return hull(estimates, LABEL_AT_RANDOM, first=by_cells)
