"""Boxes of signed error by degree: above zero the prevalence is overestimated, below it under."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from quantshift.analysis.methods import PAPER_METHODS
from quantshift.report.figures.boxes import box_legend, box_numbers, draw_method_boxes
from quantshift.report.figures.canvas import INK, house_style
from quantshift.report.figures.outcomes import degree_label, degrees_of, outcomes_of
from quantshift.report.figures.panels import finish, method_panels


def bias_boxes(
    frame: pl.DataFrame, part: str, *, methods: Sequence[str] | None = PAPER_METHODS
) -> Figure:
    """Signed errors of one part of the results, a panel per method (None: all with results)."""
    rows, chosen = outcomes_of(frame, [part], methods)
    rows = rows.with_columns(error=pl.col("signed"))
    numbers = box_numbers(rows, ["method", "degree"])
    reach = 1.05 * float(np.abs(rows["signed"].to_numpy()).max())
    with house_style():
        figure, panels = method_panels(chosen)
        for axes in panels.values():
            axes.axhline(0, color=INK, linewidth=0.6)
            axes.set_ylim(-reach, reach)
        draw_method_boxes(panels, numbers, degrees_of(rows))
        finish(
            figure,
            x=degree_label(part),
            y="signed error, $\\hat{p} - p$",
            handles=box_legend(),
        )
    return figure
