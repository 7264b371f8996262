"""Boxes at degrees of shift.

Boxes are drawn from numbers computed in advance, so millions of outcomes are no problem. A small
cross marks the largest error beyond a whisker, which reveals methods that are usually accurate but
occasionally far off. A degree without results is left empty.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator
from numpy.typing import NDArray

from quantshift.lab.displays.drawing.ink import INK, MUTED, tint

Numbers = NDArray[np.float64]

MOST_LABELS = 7
"""Of the ticks of a scale of degrees."""

_GROUP_WIDTH = 0.72
"""Width of all boxes at a degree, as a share of the distance to the next degree."""

_BOX_WIDTH = 0.92
"""Width of a box, as a share of the space it has at a degree."""

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
_TICKS: Mapping[str, Any] = {
    "linestyle": "none",
    "marker": TICKDOWN,
    "markersize": 2,
    "markeredgecolor": INK,
    "markeredgewidth": 0.6,
    "clip_on": False,
    "label": "_ticks",
}
_LARGEST: Mapping[str, Any] = {
    "linestyle": "none",
    "marker": "x",
    "markersize": 2.2,
    "markeredgecolor": MUTED,
    "markeredgewidth": 0.6,
}


def draw_boxes(
    axes: Axes,
    numbers: pl.DataFrame,
    degrees: Sequence[float],
    *,
    colour: str,
    hatch: str = "",
    position: int = 0,
    n_positions: int = 1,
) -> None:
    """A box at each degree; position: which of several boxes side by side.

    Each kind of line is one collection, because separate artists would take seconds to draw.
    """
    width = _GROUP_WIDTH * _step(degrees) / n_positions
    centre = numbers["degree"].to_numpy() + (position - (n_positions - 1) / 2) * width
    left, right = centre - _BOX_WIDTH * width / 2, centre + _BOX_WIDTH * width / 2
    median, q1, q3, low, high, lowest, highest = (
        numbers[name].to_numpy()
        for name in ("median", "q1", "q3", "whisker_low", "whisker_high", "lowest", "highest")
    )
    _lines(axes, (centre, low), (centre, high), width=_LINE, zorder=2)
    corners = [(left, q1), (left, q3), (right, q3), (right, q1)]
    axes.add_collection(
        PolyCollection(
            list(np.moveaxis(np.array(corners), -1, 0)),
            facecolor=tint(colour),
            edgecolor=INK,
            linewidth=_LINE,
            hatch=hatch,
            zorder=3,
        ),
        autolim=False,
    )
    _lines(axes, (left, median), (right, median), width=_MEDIAN, zorder=4)
    axes.plot(centre, numbers["mean"].to_numpy(), zorder=5, **_MEAN)
    for end, beyond in (
        (lowest, lowest < np.minimum(low, 0)),
        (highest, highest > np.maximum(high, 0)),
    ):
        axes.plot(centre[beyond], end[beyond], zorder=3, **_LARGEST)


def share_scale(
    axes: Axes, degrees: Sequence[float], heights: tuple[float, float], *, labels: int = MOST_LABELS
) -> None:
    """Set the scale of a sheet on one of its panels, which share their axes.

    The horizontal axis covers all degrees; labels: the most tick labels. heights: the limits of the
    vertical axis.
    """
    _degree_scale(axes, degrees, labels)
    axes.set_ylim(*heights)


def degree_axis(axes: Axes, degrees: Sequence[float]) -> None:
    """Set the scale of degrees of a panel that does not share its axes."""
    _degree_scale(axes, degrees, MOST_LABELS)
    degree_ticks(axes, degrees)


def degree_ticks(axes: Axes, degrees: Sequence[float]) -> None:
    """Draw a small tick at each degree, and horizontal grid lines."""
    # One artist for all ticks: matplotlib's own would take most of the time of a sheet.
    axes.plot(degrees, [0] * len(degrees), transform=axes.get_xaxis_transform(), **_TICKS)
    axes.set_axisbelow(True)
    axes.grid(axis="y")


def top_of(numbers: pl.DataFrame) -> float:
    """The top of a scale from 0 that contains all boxes and the crosses beyond them."""
    return 1.05 * float(numbers["highest"].to_numpy().max()) or 1.0


def labelled(degrees: Sequence[float], most: int = 7) -> list[float]:
    """The degrees to label: all, or every n-th including zero, with both ends if possible.

    >>> labelled([-1.0, -0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    [-0.8, -0.4, 0.0, 0.4, 0.8]
    """
    last, zero = len(degrees) - 1, int(np.argmin(np.abs(degrees)))
    least = -(-len(degrees) // most)
    with_ends = [n for n in range(least, last // 4 + 1) if zero % n == 0 and last % n == 0]
    every = with_ends[0] if with_ends else least
    return list(degrees[zero % every :: every])


def floor_at_zero(panels: Iterable[Axes]) -> None:
    """Start the shared scale of errors at zero."""
    for axes in panels:
        axes.set_ylim(bottom=0)


def box_legend() -> list[Artist]:
    """Legend entries for the parts of a box."""
    return [
        Patch(facecolor="white", edgecolor=INK, linewidth=_LINE, label="quartiles and median"),
        Line2D([], [], color=INK, linewidth=_LINE, label="1.5 interquartile ranges"),
        Line2D([], [], **_MEAN, label="mean"),
        Line2D([], [], **_LARGEST, label="largest error beyond"),
    ]


def _degree_scale(axes: Axes, degrees: Sequence[float], labels: int) -> None:
    step = _step(degrees)
    axes.set_xlim(degrees[0] - 0.75 * step, degrees[-1] + 0.75 * step)
    axes.xaxis.set_major_locator(FixedLocator(labelled(degrees, labels)))


def _lines(
    axes: Axes,
    starts: tuple[Numbers, Numbers],
    ends: tuple[Numbers, Numbers],
    *,
    width: float,
    zorder: float,
) -> None:
    """Draw line segments as one artist that does not affect the axis limits."""
    segments = np.stack([np.stack(starts, axis=-1), np.stack(ends, axis=-1)], axis=1)
    lines = LineCollection(list(segments), colors=INK, linewidths=width, zorder=zorder)
    axes.add_collection(lines, autolim=False)


def _step(degrees: Sequence[float]) -> float:
    return float(np.diff(degrees).min()) if len(degrees) > 1 else 1.0
