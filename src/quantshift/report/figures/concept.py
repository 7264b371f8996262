"""Results for concept shift: boxes of error by cut_train - cut_test, a panel per method."""

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from quantshift.analysis.methods import PAPER_METHODS
from quantshift.report.figures.boxes import boxes_by_degree


def concept_boxes(
    frame: pl.DataFrame,
    *,
    methods: Sequence[str] | None = PAPER_METHODS,
    measure: str = "ae",
) -> Figure:
    """The paper's figure for concept shift (six panels; methods None: all with results)."""
    return boxes_by_degree(frame, "concept", methods=methods, measure=measure)
