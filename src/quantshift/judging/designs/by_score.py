"""Items chosen by score, more of them where the score leaves the class open.

This is a way to plan labels and not a design of its own: what labels show depends on the strata of
the plan, and comes with its sheet (`planned`).
"""

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Reals
from quantshift.judging.designs.design import Plannable
from quantshift.judging.designs.parts.plan_strata import PlanStrata, strata_by_score
from quantshift.judging.items.judged_items import JudgedItems


class ByScore(Plannable):
    """Strata of scores, with two classes."""

    name = "by-score"
    plan_words = "by score"
    plan_needs = ("score",)
    plans_together = False

    def plan_strata(self, items: JudgedItems, *, random_so_far: bool) -> PlanStrata:
        """Finer at the end of the score where a rare class is."""
        return strata_by_score(items, random_so_far=random_so_far)

    def allocated(
        self, strata: PlanStrata, total: int, had: NDArray[np.int64], level: float
    ) -> Reals:
        """More where the score leaves the class open."""
        return strata.allocated(total, had, level)
