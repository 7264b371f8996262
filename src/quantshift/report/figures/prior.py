"""Results for prior shift: boxes of error by p_test - p_train, a panel per method."""

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from quantshift.analysis.methods import PAPER_METHODS
from quantshift.report.figures.boxes import boxes_by_degree


def prior_boxes(
    frame: pl.DataFrame,
    *,
    methods: Sequence[str] | None = PAPER_METHODS,
    measure: str = "ae",
) -> Figure:
    """The paper's figure for prior shift (six panels; methods None: one for each with results)."""
    return boxes_by_degree(frame, "prior", methods=methods, measure=measure)
