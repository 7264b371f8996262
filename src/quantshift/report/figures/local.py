"""Results for local covariate shift: every box beside that of its control.

The control has the same prevalences and sizes, but leaves P(X|Y) alone: plain prior shift. What
the two boxes at a degree differ by is the price of the cluster that grew.
"""

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from quantshift.analysis.methods import PAPER_METHODS
from quantshift.report.figures.boxes import (
    box_legend,
    box_numbers,
    degree_axis,
    draw_boxes,
    floor_at_zero,
)
from quantshift.report.figures.canvas import INK, house_style, tint
from quantshift.report.figures.outcomes import degree_label, degrees_of, measure_label, outcomes_of
from quantshift.report.figures.panels import finish, method_panels, note_gap

_CONDITIONS = {
    "-control": ("#0072B2", "", "control: $P_L(X|Y) = P_U(X|Y)$"),
    "": ("#E69F00", "/////", "shifted: $P_L(X|Y=1) \\neq P_U(X|Y=1)$"),
}
"""Ending of the part -> colour, hatch and label; a dark and a light tone in greyscale."""


def local_boxes(
    frame: pl.DataFrame,
    experiment: str = "local",
    *,
    methods: Sequence[str] | None = PAPER_METHODS,
    measure: str = "ae",
) -> Figure:
    """The paper's figure for local covariate shift, a panel per method (None: all)."""
    parts = [experiment + ending for ending in _CONDITIONS]
    rows, chosen = outcomes_of(frame, parts, methods, measure=measure)
    numbers = box_numbers(rows, ["part", "method", "degree"])
    degrees = degrees_of(rows)
    with house_style():
        figure, panels = method_panels(chosen)
        for method, axes in panels.items():
            of_method = numbers.filter(pl.col("method") == method)
            degree_axis(axes, degrees)
            if of_method.is_empty():
                note_gap(axes)
                continue
            for place, (part, condition) in enumerate(
                zip(parts, _CONDITIONS.values(), strict=True)
            ):
                colour, hatch, _ = condition
                draw_boxes(
                    axes,
                    of_method.filter(pl.col("part") == part),
                    degrees,
                    colour=colour,
                    hatch=hatch,
                    place=place,
                    places=len(_CONDITIONS),
                )
        floor_at_zero(panels.values())
        conditions = [
            Patch(facecolor=tint(colour), edgecolor=INK, linewidth=0.6, hatch=hatch, label=label)
            for colour, hatch, label in _CONDITIONS.values()
        ]
        finish(
            figure,
            x=degree_label(experiment),
            y=measure_label(measure),
            handles=[*conditions, *box_legend()],
        )
    return figure
