"""Mean error by degree as lines, with limits of the mean.

Limits come from a bootstrap over training sets (`quantshift.lab.analysis.summarise`). A line is
broken where a method has no results. Each facet has a panel with all methods; if there are too
many to distinguish, they are split over several panels, best first, each showing the others in
grey.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from quantshift.lab.analysis.summary import CONFIDENCE, summarise
from quantshift.lab.displays.drawing.boxes import degree_axis, floor_at_zero
from quantshift.lab.displays.error_by_shift import ErrorByShiftDisplay
from quantshift.lab.report.figures.canvas import (
    GRID,
    TEXT_WIDTH,
    blank,
    fitted_size,
    house_style,
    readable,
    text_width,
)
from quantshift.lab.report.figures.outcomes import Outcomes
from quantshift.lab.report.figures.panels import HANDLE, columns_that_fit, legend_below, plain_names
from quantshift.lab.report.style.marks import MethodStyle

MOST_IN_A_PANEL = 12
"""The most methods in one panel; if there are more, they are split over several."""

_DIVIDED = 8
"""Methods per panel if they are split."""

_COLUMNS = 2
_PANEL_HEIGHT = 2.6
_LEGEND_HEIGHT = 0.5


def error_lines(outcomes: Outcomes) -> Figure:
    """Mean error by degree, one or more panels per facet, all on one scale."""
    facets = outcomes.subject.facets
    means = summarise(outcomes.rows, ["facet", "method", "degree"])
    groups = _groups(outcomes)
    contents = [(facet, group) for group in groups for facet in facets]
    columns = min(_COLUMNS, len(contents))
    n_rows = -(-len(contents) // columns)
    divided = len(groups) > 1
    with house_style():
        height = _PANEL_HEIGHT + (_LEGEND_HEIGHT if divided else 0)
        figure = blank(height * n_rows + 0.6)
        grid = figure.subplots(n_rows, columns, squeeze=False, sharey=True)
        for axes in list(grid.flat)[len(contents) :]:
            axes.set_axis_off()
        panels = list(grid.flat)[: len(contents)]
        for (facet, group), axes in zip(contents, panels, strict=True):
            facet_means = means.filter(pl.col("facet") == facet.name)
            _draw_lines(axes, facet_means, group, outcomes, others=divided)
            title = readable(outcomes.subject.title(facet))
            axes.set_title(f"{title}: {_rank_text(groups, group)}" if divided else title)
            axes.set_xlabel(readable(outcomes.degree_label))
            if divided:
                _legend_of_panel(axes, group, outcomes.styles)
        floor_at_zero(panels)
        figure.supylabel(f"mean {outcomes.measure.title}, {CONFIDENCE:.0%} limits", fontsize=8)
        if not divided:
            handles = method_lines(outcomes.methods, outcomes.styles)
            plain_names(legend_below(figure, handles), outcomes.methods)
    return figure


def method_lines(methods: Sequence[str], styles: Mapping[str, MethodStyle]) -> list[Line2D]:
    """Legend entries for the lines of the methods."""
    return [
        Line2D(
            [],
            [],
            label=method,
            color=styles[method].colour,
            **line_look(styles[method]),
            linewidth=1.2,
        )
        for method in methods
    ]


def line_look(style: MethodStyle) -> dict[str, Any]:
    """How the line of a method is drawn."""
    return {
        "linestyle": style.dash,
        "marker": style.marker,
        "markersize": 3.5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.3,
    }


def _groups(outcomes: Outcomes) -> list[tuple[str, ...]]:
    """The methods of each panel: all of them, or a few at a time ordered by mean error."""
    methods = outcomes.methods
    if len(methods) <= MOST_IN_A_PANEL:
        return [methods]
    by_method = outcomes.rows.group_by("method").agg(pl.col("error").mean())
    means = dict(by_method.iter_rows())
    ordered = sorted(methods, key=lambda method: means.get(method, np.inf))
    starts = range(0, len(ordered), _DIVIDED)
    return [tuple(ordered[start : start + _DIVIDED]) for start in starts]


def _rank_text(groups: Sequence[Sequence[str]], group: Sequence[str]) -> str:
    """Which methods a panel shows, by their mean error."""
    before = sum(len(other) for other in groups[: list(groups).index(group)])
    if not before:
        return f"the {len(group)} best"
    last = before + len(group)
    return f"place {last}" if len(group) == 1 else f"places {before + 1} to {last}"


def _draw_lines(
    axes: Axes, means: pl.DataFrame, methods: Sequence[str], outcomes: Outcomes, *, others: bool
) -> None:
    degrees = outcomes.degrees
    table = {
        name: means.pivot(on="degree", index="method", values=name, sort_columns=False)
        for name in ("mean", "low", "high")
    }
    lines = {name: _by_method(frame, degrees) for name, frame in table.items()}
    if others:
        other_lines = [
            np.column_stack([degrees, mean])
            for method, mean in lines["mean"].items()
            if method not in methods
        ]
        axes.add_collection(LineCollection(other_lines, colors=GRID, linewidths=0.6, zorder=1))
    no_results = np.full(len(degrees), np.nan)
    for method in methods:
        mean, low, high = (lines[name].get(method, no_results) for name in ("mean", "low", "high"))
        style = outcomes.styles[method]
        line = pl.DataFrame({"degree": degrees, "mean": mean, "low": low, "high": high})
        ErrorByShiftDisplay(line, method).plot(
            axes, colour=style.colour, decorated=False, **line_look(style)
        )
    degree_axis(axes, degrees)


def _by_method(table: pl.DataFrame, degrees: Sequence[float]) -> dict[str, Any]:
    """Numbers at each degree by method, NaN where there are none."""
    degree_of = {str(degree): degree for degree in degrees}
    column_of = {degree_of[name]: name for name in table.columns if name in degree_of}
    no_results = pl.lit(None, pl.Float64)
    columns = [
        (pl.col(column_of[degree]) if degree in column_of else no_results)
        .cast(pl.Float64)
        .alias(str(index))
        for index, degree in enumerate(degrees)
    ]
    return dict(zip(table["method"], table.select(columns).to_numpy(), strict=True))


def _legend_of_panel(axes: Axes, methods: Sequence[str], styles: Mapping[str, MethodStyle]) -> None:
    room = TEXT_WIDTH / _COLUMNS - 0.3
    sizes = [fitted_size(method, 7, room - HANDLE) for method in methods]
    widths = [
        text_width(method.replace("$", r"\$"), size) + HANDLE
        for method, size in zip(methods, sizes, strict=True)
    ]
    legend = axes.legend(
        handles=method_lines(methods, styles),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
        ncols=columns_that_fit(widths, room),
        columnspacing=1.0,
        handletextpad=0.4,
        handlelength=2.6,
        borderaxespad=0.0,
    )
    plain_names(legend, methods)
    for text, size in zip(legend.get_texts(), sizes, strict=True):
        text.set_fontsize(size)
