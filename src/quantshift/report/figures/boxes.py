"""Box plots of errors by degree of shift, a panel per method, all on one scale.

A box is drawn from numbers computed beforehand, so millions of outcomes are no burden. A small
cross marks the largest error beyond a whisker: a method that is fine as a rule and far off now and
then shows it. A method or a degree without results is an empty place.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator

from quantshift.analysis.methods import PAPER_METHODS
from quantshift.analysis.summary import summarise
from quantshift.report.figures.canvas import INK, MUTED, house_style, tint
from quantshift.report.figures.outcomes import degree_label, degrees_of, measure_label, outcomes_of
from quantshift.report.figures.panels import finish, method_panels, note_gap
from quantshift.report.style import method_styles

_GROUP_WIDTH = 0.72
"""Width of all boxes at a degree, as a share of the distance to the next degree."""

_BOX_WIDTH = 0.92
"""Width of a box, as a share of its place among those at a degree."""

_LABELS = 7
"""Labels that fit below the narrowest panel."""

_LINE = 0.6
_MEDIAN = 1.4
_MEAN: Mapping[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 1.9,
    "markerfacecolor": "white",
    "markeredgecolor": INK,
    "markeredgewidth": 0.5,
}
_LARGEST: Mapping[str, Any] = {
    "linestyle": "none",
    "marker": "x",
    "markersize": 2.2,
    "markeredgecolor": MUTED,
    "markeredgewidth": 0.6,
}


def boxes_by_degree(
    frame: pl.DataFrame,
    part: str,
    *,
    methods: Sequence[str] | None = PAPER_METHODS,
    measure: str = "ae",
) -> Figure:
    """Errors of one part of the results, a panel per method (None: all that have results)."""
    rows, chosen = outcomes_of(frame, [part], methods, measure=measure)
    numbers = box_numbers(rows, ["method", "degree"])
    with house_style():
        figure, panels = method_panels(chosen)
        draw_method_boxes(panels, numbers, degrees_of(rows))
        floor_at_zero(panels.values())
        finish(figure, x=degree_label(part), y=measure_label(measure), handles=box_legend())
    return figure


def box_numbers(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """What a box shows, per group of `by`: quartiles, whiskers, mean, lowest and highest error."""
    # One resample is the least the summary takes; boxes do not show the limits of the mean.
    boxes = summarise(rows, by, n_bootstrap=1)
    ends = rows.group_by(by).agg(lowest=pl.col("error").min(), highest=pl.col("error").max())
    return boxes.join(ends, on=list(by), how="left", nulls_equal=True).filter(
        pl.col("degree").is_not_null()
    )


def draw_method_boxes(
    panels: Mapping[str, Axes], numbers: pl.DataFrame, degrees: Sequence[float]
) -> None:
    """Boxes in the colour of each method, or a note where a method has no results."""
    styles = method_styles(panels)
    for method, axes in panels.items():
        of_method = numbers.filter(pl.col("method") == method)
        degree_axis(axes, degrees)
        if of_method.is_empty():
            note_gap(axes)
        else:
            draw_boxes(axes, of_method, degrees, colour=styles[method].colour)


def draw_boxes(
    axes: Axes,
    numbers: pl.DataFrame,
    degrees: Sequence[float],
    *,
    colour: str,
    hatch: str = "",
    place: int = 0,
    places: int = 1,
) -> None:
    """A box at each degree, in one of several places side by side.

    Each kind of line is one collection: a page of boxes as separate artists takes seconds to draw.
    """
    width = _GROUP_WIDTH * _step(degrees) / places
    centre = numbers["degree"].to_numpy() + (place - (places - 1) / 2) * width
    left, right = centre - _BOX_WIDTH * width / 2, centre + _BOX_WIDTH * width / 2
    median, q1, q3, low, high, lowest, highest = (
        numbers[name].to_numpy()
        for name in ("median", "q1", "q3", "whisker_low", "whisker_high", "lowest", "highest")
    )
    axes.vlines(centre, low, high, color=INK, linewidth=_LINE, zorder=2)
    corners = [(left, q1), (left, q3), (right, q3), (right, q1)]
    axes.add_collection(
        PolyCollection(
            list(np.moveaxis(np.array(corners), -1, 0)),
            facecolor=tint(colour),
            edgecolor=INK,
            linewidth=_LINE,
            hatch=hatch,
            zorder=3,
        )
    )
    axes.hlines(median, left, right, color=INK, linewidth=_MEDIAN, zorder=4)
    axes.plot(centre, numbers["mean"].to_numpy(), zorder=5, **_MEAN)
    for end, beyond in (
        (lowest, lowest < np.minimum(low, 0)),
        (highest, highest > np.maximum(high, 0)),
    ):
        axes.plot(centre[beyond], end[beyond], zorder=3, **_LARGEST)


def degree_axis(axes: Axes, degrees: Sequence[float]) -> None:
    """All degrees from edge to edge, a tick at each, as many labels as fit."""
    step = _step(degrees)
    axes.set_xlim(degrees[0] - 0.75 * step, degrees[-1] + 0.75 * step)
    axes.xaxis.set_major_locator(FixedLocator(labelled(degrees)))
    axes.xaxis.set_minor_locator(FixedLocator(list(degrees)))
    axes.grid(axis="y")


def labelled(degrees: Sequence[float]) -> list[float]:
    """The degrees to be labelled: all, or every n-th with zero among them, both ends if possible.

    >>> labelled([-1.0, -0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    [-0.8, -0.4, 0.0, 0.4, 0.8]
    """
    last, zero = len(degrees) - 1, int(np.argmin(np.abs(degrees)))
    least = -(-len(degrees) // _LABELS)
    with_ends = [n for n in range(least, last // 4 + 1) if zero % n == 0 and last % n == 0]
    every = with_ends[0] if with_ends else least
    return list(degrees[zero % every :: every])


def floor_at_zero(panels: Iterable[Axes]) -> None:
    """Start the shared scale of errors at no error."""
    for axes in panels:
        axes.set_ylim(bottom=0)


def box_legend() -> list[Artist]:
    """What the parts of a box stand for."""
    return [
        Patch(facecolor="white", edgecolor=INK, linewidth=_LINE, label="quartiles and median"),
        Line2D([], [], color=INK, linewidth=_LINE, label="1.5 interquartile ranges"),
        Line2D([], [], **_MEAN, label="mean"),
        Line2D([], [], **_LARGEST, label="largest beyond"),
    ]


def _step(degrees: Sequence[float]) -> float:
    return float(np.diff(degrees).min()) if len(degrees) > 1 else 1.0
