"""Critical-difference diagram: mean ranks on a line, best on the left.

Bars join methods whose ranks do not differ significantly (Nemenyi's test after Friedman's).

J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
"""

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quantshift.analysis.ranks import RankComparison
from quantshift.report.figures.canvas import INK, MUTED, TEXT_WIDTH, blank, house_style
from quantshift.report.style import method_styles

_LEVEL = 0.26
"""Distance of two lines of text, in inches; one unit of the vertical axis is one inch."""

_BAR = 0.11
_OVERHANG = 0.04


def critical_difference_diagram(comparison: RankComparison) -> Figure:
    """The diagram of `quantshift.analysis.mean_ranks`."""
    k = len(comparison.methods)
    bars = 0.12 + _BAR * len(comparison.groups)
    depth = bars + _LEVEL * math.ceil(k / 2) + 0.08
    above = 0.75
    with house_style():
        figure = blank(TEXT_WIDTH, depth + above + 0.3)
        axes = figure.subplots()
        axes.set_axis_off()
        # Names of methods stand on either side; a difference longer than the scale needs room too.
        margin = 0.28 * (k - 1)
        end = max(k, 1 + comparison.critical_difference)
        axes.set(xlim=(1 - margin, end + margin), ylim=(-depth, above))
        _draw_scale(axes, k)
        _draw_difference(axes, comparison)
        _draw_groups(axes, comparison)
        _draw_methods(axes, comparison, bars)
        figure.supxlabel(_verdict(comparison), fontsize=7.5, color=MUTED)
    return figure


def _draw_scale(axes: Axes, k: int) -> None:
    axes.plot([1, k], [0, 0], color=INK, linewidth=0.9)
    for rank in range(1, k + 1):
        axes.plot([rank, rank], [0, 0.07], color=INK, linewidth=0.9)
        axes.text(rank, 0.1, str(rank), ha="center", va="bottom")


def _draw_difference(axes: Axes, comparison: RankComparison) -> None:
    width, y = comparison.critical_difference, 0.45
    axes.plot([1, 1 + width], [y, y], color=INK, linewidth=1.2, marker="|", markersize=6)
    axes.text(1 + width / 2, y + 0.07, f"CD = {width:.2f}", ha="center", va="bottom")


def _draw_groups(axes: Axes, comparison: RankComparison) -> None:
    ranks = dict(zip(comparison.methods, comparison.ranks, strict=True))
    for i, group in enumerate(comparison.groups):
        y = -0.12 - _BAR * i
        axes.plot(
            [ranks[group[0]] - _OVERHANG, ranks[group[-1]] + _OVERHANG],
            [y, y],
            color=INK,
            linewidth=3,
            solid_capstyle="butt",
        )


def _draw_methods(axes: Axes, comparison: RankComparison, bars: float) -> None:
    k = len(comparison.methods)
    half = math.ceil(k / 2)
    styles = method_styles(comparison.methods)
    for i, (method, rank) in enumerate(zip(comparison.methods, comparison.ranks, strict=True)):
        left = i < half
        # The outermost method gets the highest line, so that no line crosses another.
        y = -bars - _LEVEL * ((i if left else k - 1 - i) + 0.5)
        edge = 0.9 if left else k + 0.1
        axes.plot([rank, rank, edge], [0, y, y], color=INK, linewidth=0.7)
        style = styles[method]
        axes.plot(
            rank,
            0,
            marker=style.marker,
            color=style.colour,
            markeredgecolor=INK,
            markeredgewidth=0.5,
            markersize=5.5,
            zorder=3,
        )
        axes.text(
            edge + (-0.08 if left else 0.08),
            y,
            f"{method}  {rank:.2f}" if left else f"{rank:.2f}  {method}",
            ha="right" if left else "left",
            va="center",
        )


def _verdict(comparison: RankComparison) -> str:
    p = "p < 0.001" if comparison.p_value < 0.001 else f"p = {comparison.p_value:.3f}"
    dropped = f" ({comparison.dropped} incomplete ones left out)" if comparison.dropped else ""
    return (
        f"mean rank, 1 = least error; {comparison.blocks} blocks{dropped}; "
        f"Friedman $\\chi^2$ = {comparison.chi2:.1f}, {p}; "
        f"joined: no difference at {comparison.alpha:g}"
    )
