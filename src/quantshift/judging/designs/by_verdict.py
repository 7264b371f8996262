"""Labels chosen by verdict, a number of each: they show what share of each verdict is right."""

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Reals
from quantshift.errors import UserError
from quantshift.judging.designs.design import (
    Check,
    Design,
    LabelsStandFor,
    Plannable,
    even_numbers_against,
)
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality, quality_by_verdict
from quantshift.judging.designs.parts.label_evidence import (
    Clue,
    LabelEvidence,
    Strength,
    are_round,
    numbers_in_words,
)
from quantshift.judging.designs.parts.plan_strata import PlanStrata, strata_by_verdict
from quantshift.judging.designs.parts.share_estimate import ShareEstimate, allowing_for_unlike
from quantshift.judging.designs.parts.verdict_strata import in_strata, pooled_cells
from quantshift.judging.items.judged_items import JudgedItems, Settings


class ByVerdict(Design, Plannable):
    """A number of items of each verdict, at random within it."""

    name = "by-verdict"
    chosen = "chosen by verdict"
    words = "chosen by verdict, a number of each"
    help = "a fixed number of each verdict"
    assumption = (
        "Among items of one verdict the labelled ones are a random sample; nothing else is assumed "
        "of the judge."
    )
    source = ""
    cannot_be_stated = ""
    cannot_be_planned = ""
    labelled_are_items = True
    shares_labels = False
    uses_labels = True
    labels_stand_for = LabelsStandFor.THEIR_VERDICT
    plan_words = "by verdict"
    plan_needs = ("verdict",)
    plans_together = False

    def is_implied_by(self, items: JudgedItems) -> bool:
        """Never."""
        return False

    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """As many labelled items of each verdict, or tens of each if they are not random ones."""
        if evidence.lacks_cells:
            return None
        if evidence.even_verdicts:
            why = f"the labelled items have {evidence.of_each_verdict} of each verdict"
            return Clue(self.name, Strength.EVEN_NUMBERS, why, "as if chosen by it")
        tens = evidence.tens_of_verdicts
        if tens is None:
            return None
        why = f"the labelled items have {numbers_in_words(tens)} of the verdicts"
        return Clue(self.name, Strength.ROUND_NUMBERS, why, "as if chosen by them")

    def check(self, items: JudgedItems, evidence: LabelEvidence, settings: Settings) -> Check:
        """Contradicted by even numbers of something else, if those of verdicts are not round."""
        if evidence.even_verdicts:
            stated = f"The labelled items have {evidence.of_each_verdict} of each verdict"
            return Check(sentence=f"{stated}, as stated.")
        return even_numbers_against(
            evidence, may_be_chance=any(map(are_round, evidence.verdict_counts))
        )

    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """The shares of the verdicts times their rates.

        With several judges each combination of verdicts is a stratum, and anything may be true of
        items with a verdict that no labelled item has.
        """
        if items.verdicts is not None and items.verdicts.shape[1] > 1:
            unlike = items.verdicts_without_labels()
        else:
            unlike = np.zeros(len(items), dtype=bool)
        return allowing_for_unlike(items, unlike, lambda part: _estimate(part, settings))

    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """By labels that are random within their verdict."""
        return quality_by_verdict(counts, settings)

    def plan_strata(self, items: JudgedItems, *, random_so_far: bool) -> PlanStrata:
        """A stratum for each verdict, divided by weight if items have weights."""
        return strata_by_verdict(items).in_bands()

    def allocated(
        self, strata: PlanStrata, total: int, had: NDArray[np.int64], level: float
    ) -> Reals:
        """More where the verdict leaves the class open."""
        return strata.allocated(total, had, level)


def _estimate(items: JudgedItems, settings: Settings) -> ShareEstimate:
    if items.verdicts is None:
        raise UserError("labels by verdict need verdicts; by score, the plan's strata")
    cells = items.cells_of_verdicts()
    if items.verdicts.shape[1] == 1:
        return in_strata(items, cells.codes, settings)
    codes, weights = pooled_cells(cells, items.is_labelled)
    return in_strata(items, codes, settings, weights=weights)
