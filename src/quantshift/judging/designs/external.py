"""Labels of other items: an older evaluation set, another product.

Two assumptions are common: that the judge errs as often here as there, and that a verdict means the
same. Nothing shows that either holds, not even that they agree: between the queries of a table of
relevance judgements, intervals given where they agreed held 9 times out of 40, and the range of
both held in half to three quarters of the transfers of other tables. Without a declaration the
answer is a range that allows for rates and shares to move as they do between sources
(`moving_rates`), if it is narrow enough to be of use.
"""

from dataclasses import replace

import numpy as np

from quantshift.base.types import Flags, Reals
from quantshift.claims import Assumption
from quantshift.judging.designs.design import Check, Design, LabelsStandFor, even_numbers_against
from quantshift.judging.designs.parts.carried_rates import (
    UNLIKE_ALL,
    carried_over,
    carried_quality,
)
from quantshift.judging.designs.parts.judge_quality import (
    JudgeCounts,
    Quality,
    counted_quality,
)
from quantshift.judging.designs.parts.label_evidence import Clue, LabelEvidence
from quantshift.judging.designs.parts.moving_rates import moving_shares
from quantshift.judging.designs.parts.share_estimate import (
    Alternative,
    ShareEstimate,
    item_counts,
    labelled_table,
)
from quantshift.judging.designs.parts.transfer_checks import Youden, moved_rates
from quantshift.judging.findings import JudgeAdvice, JudgeFindings
from quantshift.judging.items.judged_items import JudgedItems, Settings
from quantshift.labelling.strata import stratified

IF_RATES = f"{Assumption.RATES.words} (rates)"
IF_VERDICTS = f"{Assumption.VERDICTS.words} (verdicts)"
VERDICTS_ASSUMED = "A verdict means the same here as among the labelled items."
MOVING = "From source to source the errors of the judge and the share move as they usually do."
CARRIES_NOTHING = (
    "the judge hardly tells the classes apart among the labelled items, so that its verdicts here "
    "show nothing"
)
PROBES = 30
"""Labels of random items here to ask for: with a good judge they are enough for a rate."""
LABEL_SOME_HERE = JudgeAdvice.LABEL_AT_RANDOM.found(n=PROBES)


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

        Without a declaration it is a range, and how far the shares move if the rates do.
        """
        sample = self.in_sample(items)
        rates = carried_over(items, sample, settings, labelled_are_items=self.labelled_are_items)
        labelled, verdicts = _tables(items, sample)
        interval = stratified(
            verdicts / verdicts.sum(), labelled.T, float(verdicts.sum()), level=settings.level
        )
        other = np.stack([interval.prevalence, interval.low, interval.high])
        by_verdicts = replace(
            rates,
            prevalence=other[0],
            low=other[1],
            high=other[2],
            no_estimate_reason="",
            assumption=VERDICTS_ASSUMED,
        )
        if rates.no_estimate_reason == UNLIKE_ALL:
            return rates
        verdicts_if = Alternative(IF_VERDICTS, by_verdicts.low, by_verdicts.high)
        rates_if = Alternative(IF_RATES, rates.low, rates.high)
        fits = not rates.no_estimate_reason
        alternatives = (rates_if, verdicts_if) if fits else (verdicts_if,)
        if settings.assume == Assumption.VERDICTS:
            return replace(by_verdicts, alternatives=alternatives)
        if settings.assume == Assumption.RATES or not fits:
            settle = None if fits else LABEL_SOME_HERE
            return replace(rates, alternatives=alternatives, settle=settle)
        youden = Youden.of(labelled, settings.level)
        sources = _by_source(items)
        doubt = JudgeFindings.SPREAD_ASSUMED.found()
        if len(sources) > 1:
            doubt = JudgeFindings.SPREAD_LEARNT.found(n=len(sources))
        reason = ""
        if youden is not None and not youden.is_informative:
            reason = CARRIES_NOTHING
            doubt = JudgeFindings.UNINFORMATIVE_JUDGE.found(
                youden=youden.estimate, low=youden.low, high=youden.high
            )
        middle, low, high = moving_shares(sources, verdicts, settings.level, settings.seed)
        return replace(
            rates,
            prevalence=middle,
            low=low,
            high=high,
            bounds=True,
            no_estimate_reason=reason,
            alternatives=alternatives,
            can_be_halved=False,
            assumption=MOVING,
            findings=(*rates.findings, doubt),
            settle=LABEL_SOME_HERE,
            if_rates_move=moved_rates(labelled, verdicts),
        )

    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """Rates by labels that are random within their class; kappa among the labelled items.

        That of the items in question would be one of shares that nobody knows.
        """
        among_labelled = counted_quality(counts, settings)
        return replace(
            carried_quality(counts, settings),
            kappa=among_labelled.kappa,
            kappa_low=among_labelled.kappa_low,
            kappa_high=among_labelled.kappa_high,
        )


def _by_source(items: JudgedItems) -> Reals:
    """Labelled items by class and verdict of each source, (n_sources, n_classes, n_cells)."""
    cells = items.cells()
    cell_of_label, y = items.labelled_cells(cells)
    sources = None if items.external is None else items.external.sources
    codes = np.zeros(len(y), dtype=np.int64) if sources is None else sources
    return np.stack(
        [
            labelled_table(
                cell_of_label[rows], y[rows], cells.n, items.n_classes, items.label_weights[rows]
            )
            for rows in (codes == code for code in np.unique(codes))
        ]
    )


def _tables(items: JudgedItems, sample: Flags) -> tuple[Reals, Reals]:
    """Labelled items by class and verdict, and the items in question by verdict."""
    cells = items.cells()
    cell_of_label, y = items.labelled_cells(cells)
    labelled = labelled_table(cell_of_label, y, cells.n, items.n_classes, items.label_weights)
    weights = items.item_weights[sample] if items.weights is not None else None
    return labelled, item_counts(cells.codes[sample], cells.n, weights)
