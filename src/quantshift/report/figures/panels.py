"""Sheets with a panel per method, on shared axes, and what stands around the panels."""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quantshift.report.figures.canvas import MUTED, TEXT_WIDTH, blank

_COLUMNS = 3
_PANEL_HEIGHT = 1.75


def method_panels(
    methods: Sequence[str], *, panel_height: float = _PANEL_HEIGHT
) -> tuple[Figure, dict[str, Axes]]:
    """A sheet with a titled panel per method, three in a row."""
    columns = min(_COLUMNS, len(methods))
    n_rows = -(-len(methods) // columns)
    figure = blank(TEXT_WIDTH, panel_height * n_rows + 0.75)
    grid = figure.subplots(n_rows, columns, squeeze=False, sharex=True, sharey=True)
    panels = dict(zip(methods, grid.flat, strict=False))
    for method, axes in panels.items():
        axes.set_title(method)
    for axes in list(grid.flat)[len(methods) :]:
        axes.set_axis_off()
    return figure, panels


def note_gap(axes: Axes) -> None:
    """Words in an empty panel, so that a gap is not taken for zeros."""
    axes.text(
        *(0.5, 0.5),
        "no results",
        transform=axes.transAxes,
        ha="center",
        va="center",
        color=MUTED,
        style="italic",
    )


def finish(figure: Figure, *, x: str, y: str, handles: Sequence[Artist] = ()) -> None:
    """Axis labels, below the last panel of each column and once at the left, and a legend."""
    shown = [axes for axes in figure.axes if axes.axison]
    lowest = {_column(axes): axes for axes in shown}
    for axes in lowest.values():
        axes.set_xlabel(x)
        axes.tick_params(labelbottom=True)
    figure.supylabel(y, fontsize=8)
    figure.legend(handles=handles, loc="outside lower center", ncols=4)


def _column(axes: Axes) -> int:
    place = axes.get_subplotspec()
    assert place is not None, "panels are made as a grid"
    return place.colspan.start
