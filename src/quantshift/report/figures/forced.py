"""Results for concept shift with forced priors: two biases that meet.

With p_train = 0.5 and p_test = 0.75, PCC underestimates where the cut points agree; cut points that
differ add a bias which may cancel the first. So PCC can look better at a degree other than 0.
"""

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from quantshift.report.figures.boxes import boxes_by_degree

FORCED_METHODS = ("PCC", "SLD")
"""A biased method and one that corrects for the prior: the paper's pair."""


def forced_boxes(
    frame: pl.DataFrame,
    *,
    methods: Sequence[str] | None = FORCED_METHODS,
    measure: str = "ae",
) -> Figure:
    """The paper's figure for forced priors: PCC and SLD (methods None: all with results)."""
    return boxes_by_degree(frame, "concept-forced", methods=methods, measure=measure)
