"""Labels of other items: an older evaluation set, another product.

The rates of the judge are carried over. The other common assumption is that a verdict means the
same there and here. Nothing shows that either holds, not even that they agree: between the queries
of a table of relevance judgements, intervals given where they agreed held 9 times out of 40.
Without a declaration the answer is a range (`transfer_checks`).
"""

from dataclasses import replace

import numpy as np

from quantshift.base.types import Flags, Reals
from quantshift.judging.designs.design import Check, Design, LabelsStandFor, even_numbers_against
from quantshift.judging.designs.parts.carried_rates import carried_over, carried_quality
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality
from quantshift.judging.designs.parts.label_evidence import Clue, LabelEvidence
from quantshift.judging.designs.parts.ranges import LABEL_AT_RANDOM, hull
from quantshift.judging.designs.parts.share_estimate import (
    ShareEstimate,
    item_counts,
    labelled_table,
)
from quantshift.judging.designs.parts.transfer_checks import Youden, agree, moved_rates
from quantshift.judging.items.judged_items import RATES, VERDICTS, JudgedItems, Settings
from quantshift.labelling.strata import stratified

IF_RATES = "if the judge errs as often here as among the labelled items (rates)"
IF_VERDICTS = "if a verdict means the same here as among the labelled items (verdicts)"
AGREE = (
    "Two assumptions about labels from elsewhere give about the same share, but verdicts cannot "
    "show that either holds here: this is a range. For a confidence interval declare one of them "
    "(assume: rates or verdicts), or label random items here."
)
DISAGREE = (
    "Two assumptions about labels from elsewhere give different shares, and nothing shows which "
    "holds; if you know, say so (assume: rates or verdicts)."
)
VERDICTS_ASSUMED = "A verdict means the same here as among the labelled items."
EITHER = (
    "Either the judge errs as often here as among the labelled items, or its verdicts mean the "
    "same: the range has the limits of both."
)


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
    labels_stand_for = LabelsStandFor.THEIR_CLASS

    def is_implied_by(self, items: JudgedItems) -> bool:
        """All labels are in a table of their own."""
        return items.external is not None and not items.is_labelled.any()

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
        """The joint posterior of the items in question, if the user declares that rates carry over.

        Without a declaration it is the range of both assumptions, and how far the shares move if
        the rates do.
        """
        sample = self.in_sample(items)
        rates = carried_over(items, sample, settings, labelled_are_items=self.labelled_are_items)
        labelled, verdicts = _tables(items, sample)
        interval = stratified(
            verdicts / verdicts.sum(), labelled.T, float(verdicts.sum()), level=settings.level
        )
        other = np.stack([interval.prevalence, interval.low, interval.high])
        by_rates = replace(rates, if_verdicts_mean_the_same=other[1:])
        if settings.assume == RATES or rates.no_estimate_reason:
            return by_rates
        by_verdicts = replace(by_rates, prevalence=other[0], low=other[1], high=other[2])
        if settings.assume == VERDICTS:
            return replace(by_verdicts, assumption=VERDICTS_ASSUMED)
        youden = Youden.of(labelled, settings.level)
        ranged = hull([(IF_RATES, by_rates), (IF_VERDICTS, by_verdicts)], "", first=by_rates)
        if youden is not None and not youden.is_informative:
            doubt = (
                "The judge hardly tells the classes apart (Youden's J "
                f"{youden.estimate:.2f}, {youden.low:.2f} to {youden.high:.2f})."
            )
        elif agree(rates.prevalence, rates.low, rates.high, other):
            doubt = AGREE
        else:
            doubt = DISAGREE
        return replace(
            ranged,
            assumption=EITHER,
            notes=(*rates.notes, doubt),
            settle=LABEL_AT_RANDOM,
            if_rates_move=moved_rates(labelled, verdicts),
        )

    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """By labels that are random within their class."""
        return carried_quality(counts, settings)


def _tables(items: JudgedItems, sample: Flags) -> tuple[Reals, Reals]:
    """Labelled items by class and verdict, and the items in question by verdict."""
    cells = items.cells()
    cell_of_label, y = items.labelled_cells(cells)
    labelled = labelled_table(cell_of_label, y, cells.n, items.n_classes, items.label_weights)
    weights = items.item_weights[sample] if items.weights is not None else None
    return labelled, item_counts(cells.codes[sample], cells.n, weights)
