"""Labels of other items: an older evaluation set, another product.

The rates of the judge are carried over. The other common assumption, that a verdict means the same
there and here, has its limits beside them.
"""

from dataclasses import replace

import numpy as np

from quantshift.base.types import Reals
from quantshift.judging.designs.design import Check, Design, even_numbers_against
from quantshift.judging.designs.parts.carried_rates import carried_over, carried_quality
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality
from quantshift.judging.designs.parts.label_evidence import Clue, LabelEvidence
from quantshift.judging.designs.parts.share_estimate import ShareEstimate, labelled_table
from quantshift.judging.judged_items import JudgedItems, Settings
from quantshift.labelling.strata import stratified


class External(Design):
    """Items that are not among those in question, in a table of their own or marked as such."""

    name = "elsewhere"
    chosen = "given elsewhere"
    words = "labelled elsewhere, for another purpose"
    help = "from other items"
    assumption = "Items of one class get each verdict as often here as among the labelled items."
    source = "they are in a table of their own"
    cannot_be_stated = ""
    cannot_be_planned = "a plan chooses items of the table itself"
    labelled_are_items = False
    shares_labels = True
    uses_labels = True

    def is_implied_by(self, items: JudgedItems) -> bool:
        """All labels are in a table of their own."""
        return items.external is not None and not items.known.any()

    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """None: labels in the table itself are taken to be of its own items."""
        return None

    def check(self, items: JudgedItems, evidence: LabelEvidence, settings: Settings) -> Check:
        """Never contradicted, but even numbers of verdicts are pointed out.

        Those of labels do no harm: the estimate is that of labels chosen by label.
        """
        if evidence.even_labels:
            return Check()
        return even_numbers_against(evidence, may_be_chance=True)

    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """The joint posterior of the items in question."""
        sample = self.in_sample(items)
        found = carried_over(items, sample, settings, labelled_are_items=self.labelled_are_items)
        return replace(found, if_verdicts_mean_the_same=self._calibrated(items, settings.level))

    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """That of labels which are random within their class."""
        return carried_quality(counts, settings)

    def _calibrated(self, items: JudgedItems, level: float) -> Reals:
        """Limits if a verdict means the same elsewhere and here, (2, n_classes)."""
        cells = items.cells()
        cell_of_label, y = items.labelled_cells(cells)
        counts = labelled_table(cell_of_label, y, cells.n, items.n_classes).T
        N = np.bincount(cells.codes[self.in_sample(items)], minlength=cells.n)
        found = stratified(N / N.sum(), counts, float(N.sum()), level=level)
        return np.stack([found.low, found.high])
