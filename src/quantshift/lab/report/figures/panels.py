"""Sheets with a panel per method or class on shared axes, with their labels and legends."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from quantshift.lab.displays.drawing.boxes import degree_ticks, draw_boxes
from quantshift.lab.displays.drawing.ink import MUTED
from quantshift.lab.report.figures.canvas import TEXT_WIDTH, blank, fitted_size, text_width
from quantshift.lab.report.style.marks import MethodStyle

TITLE_SIZE = 8.5

_LEGEND_ROW = 0.19
HANDLE = 0.57
"""Inches of a row of the legend, and of the sign and the space beside a name."""

_MOST_COLUMNS = 8


class PanelGrid(NamedTuple):
    """Columns of panels, the height of one and the labels that fit below it."""

    columns: int
    height: float
    labels: int


def sheet_for(n_panels: int) -> PanelGrid:
    """The layout of a number of panels; many panels are smaller, so that they fit on one sheet."""
    if n_panels <= 9:
        return PanelGrid(min(3, n_panels), 1.75, 7)
    return PanelGrid(4, 1.45, 5) if n_panels <= 16 else PanelGrid(5, 1.3, 3)


def titled_panels(
    names: Sequence[str], *, height: float | None = None
) -> tuple[Figure, dict[str, Axes]]:
    """A sheet with a panel for each name. height: that of a panel on a sheet of three columns."""
    sheet = sheet_for(len(names))
    panel_height = sheet.height if height is None else height * sheet.height / sheet_for(1).height
    n_rows = -(-len(names) // sheet.columns)
    figure = blank(panel_height * n_rows + 0.75)
    grid = figure.subplots(n_rows, sheet.columns, squeeze=False, sharex=True, sharey=True)
    panels = dict(zip(names, grid.flat, strict=False))
    room = 0.85 * TEXT_WIDTH / sheet.columns
    for name, axes in panels.items():
        axes.set_title(name, fontsize=fitted_size(name, TITLE_SIZE, room), parse_math=False)
    for axes in list(grid.flat)[len(names) :]:
        axes.set_axis_off()
    return figure, panels


def note_gap(axes: Axes) -> None:
    """Write "no results" in an empty panel, so that it is not mistaken for zeros."""
    axes.text(
        *(0.5, 0.5),
        "no results",
        transform=axes.transAxes,
        ha="center",
        va="center",
        color=MUTED,
        style="italic",
    )


def finish(figure: Figure, *, x: str, y: str, handles: Sequence[Artist]) -> Legend:
    """Axis labels, below the last panel of each column and once at the left, and a legend."""
    visible = [axes for axes in figure.axes if axes.axison]
    lowest = {_column(axes): axes for axes in visible}
    # A label wider than its panel is shown once, above the legend.
    wide = len(lowest) > 1 and text_width(x, 8) > 0.9 * TEXT_WIDTH / len(lowest)
    for axes in lowest.values():
        axes.tick_params(labelbottom=True)
        if not wide:
            axes.set_xlabel(x)
    figure.supylabel(y, fontsize=8)
    return legend_below(figure, handles, title=x if wide else "")


def legend_below(figure: Figure, handles: Sequence[Artist], *, title: str = "") -> Legend:
    """A legend of as many columns as fit the width, below everything else.

    The figure grows by what the legend needs beyond one row.
    """
    widths = [text_width(str(handle.get_label()), 8) + HANDLE for handle in handles]
    columns = columns_that_fit(widths, TEXT_WIDTH)
    n_rows = -(-len(widths) // columns) + (1 if title else 0)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + _LEGEND_ROW * max(0, n_rows - 1))
    return figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        columnspacing=1.2,
        handletextpad=0.5,
        handlelength=2.6,
        title=title or None,
        title_fontsize=8,
    )


def columns_that_fit(widths: Sequence[float], room: float) -> int:
    """The most columns of a legend that fit into `room` inches.

    A legend is filled column by column; the first columns may be one entry longer.
    """
    for columns in range(min(len(widths), _MOST_COLUMNS), 1, -1):
        short, longer = divmod(len(widths), columns)
        sizes = [short + (column < longer) for column in range(columns)]
        starts = [sum(sizes[:column]) for column in range(columns)]
        needed = sum(
            max(widths[start : start + size]) for start, size in zip(starts, sizes, strict=True)
        )
        if needed <= room - 0.1:
            return columns
    return 1


def plain_names(legend: Legend, names: Iterable[str]) -> None:
    """Keep dollar signs in the names of methods from being taken for mathematics."""
    plain = set(names)
    for text in legend.get_texts():
        if text.get_text() in plain:
            text.set_parse_math(False)


def _column(axes: Axes) -> int:
    spec = axes.get_subplotspec()
    assert spec is not None, "panels are made as a grid"
    return spec.colspan.start


def draw_method_boxes(
    panels: Mapping[str, Axes],
    numbers: pl.DataFrame,
    degrees: Sequence[float],
    styles: Mapping[str, MethodStyle],
) -> None:
    """Boxes in the colour of each method, or a note where a method has no results."""
    by_method = numbers.partition_by("method", as_dict=True)
    for method, axes in panels.items():
        degree_ticks(axes, degrees)
        if (method,) in by_method:
            draw_boxes(axes, by_method[method,], degrees, colour=styles[method].colour)
        else:
            note_gap(axes)
