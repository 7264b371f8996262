"""Mean error by degree as lines, a panel per part of the results, with limits of the mean.

Limits come from a bootstrap over training sets (`quantshift.analysis.summarise`). A degree that
a method lacks breaks its line.
"""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quantshift.analysis.summary import summarise
from quantshift.report.figures.boxes import degree_axis, floor_at_zero
from quantshift.report.figures.canvas import TEXT_WIDTH, blank, house_style
from quantshift.report.figures.outcomes import (
    degree_label,
    degrees_of,
    measure_label,
    outcomes_of,
    part_title,
)
from quantshift.report.style import method_styles

_COLUMNS = 2
_PANEL_HEIGHT = 2.6


def error_lines(
    frame: pl.DataFrame,
    parts: Sequence[str],
    *,
    methods: Sequence[str] | None = None,
    measure: str = "ae",
    confidence: float = 0.95,
) -> Figure:
    """Mean error by degree, a panel per part on one scale (methods None: all with results)."""
    rows, chosen = outcomes_of(frame, parts, methods, measure=measure)
    means = summarise(rows, ["part", "method", "degree"], confidence=confidence)
    columns = min(_COLUMNS, len(parts))
    n_rows = -(-len(parts) // columns)
    with house_style():
        figure = blank(TEXT_WIDTH, _PANEL_HEIGHT * n_rows + 0.6)
        grid = figure.subplots(n_rows, columns, squeeze=False, sharey=True)
        panels = dict(zip(parts, grid.flat, strict=False))
        for axes in list(grid.flat)[len(parts) :]:
            axes.set_axis_off()
        for part, axes in panels.items():
            _draw_lines(axes, means.filter(pl.col("part") == part), chosen)
            axes.set_title(part_title(part))
            axes.set_xlabel(degree_label(part))
        floor_at_zero(panels.values())
        figure.supylabel(f"mean {measure_label(measure)}, {confidence:.0%} limits", fontsize=8)
        handles = next(iter(panels.values())).get_lines()
        figure.legend(handles=handles, loc="outside lower center", ncols=min(9, len(handles)))
    return figure


def _draw_lines(axes: Axes, means: pl.DataFrame, methods: Sequence[str]) -> None:
    degrees = degrees_of(means)
    styles = method_styles(methods)
    every = pl.DataFrame({"degree": degrees})
    for method in methods:
        line = every.join(means.filter(pl.col("method") == method), on="degree", how="left").select(
            pl.col("mean", "low", "high").cast(pl.Float64)
        )
        mean, low, high = line.to_numpy().T
        style = styles[method]
        axes.plot(
            degrees,
            mean,
            color=style.colour,
            linestyle=style.dash,
            linewidth=1.2,
            marker=style.marker,
            markersize=3.5,
            markeredgecolor="white",
            markeredgewidth=0.3,
            label=method,
        )
        axes.vlines(degrees, low, high, color=style.colour, linewidth=0.9)
    degree_axis(axes, degrees)
