"""Critical-difference diagram: mean ranks on a line, best on the left.

Bars join methods whose ranks do not differ significantly (Nemenyi's test after Friedman's).

J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
"""

import math
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quantshift.lab.analysis.ranks import RankComparison
from quantshift.lab.displays.drawing.ink import INK, MUTED
from quantshift.lab.report.figures.canvas import TEXT_WIDTH, fitted_size, house_style, text_width
from quantshift.lab.report.style.marks import MethodStyle, method_styles

_LEVEL = 0.21
"""Distance of two lines of text, in inches; one unit of the vertical axis is one inch."""

_BAR = 0.11
_NAME = 2.0
"""The most inches for a name; longer ones are set in a smaller font."""

_ABOVE = 0.75
_BELOW = 0.32
_RANK = 0.5
"""Inches above the line, below the names, and of a mean rank beside its name."""

_SIZE = 8.0


def critical_difference_diagram(
    comparison: RankComparison,
    *,
    blocks: str = "blocks",
    styles: Mapping[str, MethodStyle] | None = None,
) -> Figure:
    """The diagram of `quantshift.lab.analysis.mean_ranks`; `blocks`: what the blocks are called."""
    k = len(comparison.methods)
    bars = 0.12 + _BAR * len(comparison.groups)
    depth = bars + _LEVEL * math.ceil(k / 2) + 0.08
    height = depth + _ABOVE + _BELOW
    method_looks = method_styles(comparison.methods) if styles is None else styles
    with house_style():
        figure = Figure(figsize=(TEXT_WIDTH, height))
        axes = figure.add_axes((0, _BELOW / height, 1, 1 - _BELOW / height))
        axes.set_axis_off()
        axes.set(xlim=_limits(comparison), ylim=(-depth, _ABOVE))
        _draw_scale(axes, k)
        _draw_difference(axes, comparison)
        _draw_groups(axes, comparison)
        _draw_methods(axes, comparison, bars, method_looks)
        verdict = _verdict(comparison, blocks)
        size = fitted_size(verdict.replace("\\chi^2", "x2"), 7.5, TEXT_WIDTH - 0.2)
        figure.supxlabel(verdict, fontsize=size, color=MUTED, y=0.1 / height)
    return figure


def _limits(comparison: RankComparison) -> tuple[float, float]:
    """The limits of the axis in ranks, with room for the longest name on either side."""
    k = len(comparison.methods)
    half = math.ceil(k / 2)
    sides = (comparison.methods[:half], comparison.methods[half:])
    left, right = (
        min(_NAME, max((_width(name) for name in names), default=0.0)) + _RANK + 0.3
        for names in sides
    )
    # The critical difference may be longer than the scale and needs room too.
    end = max(k, 1 + comparison.critical_difference)
    per_rank = (TEXT_WIDTH - left - right) / (end - 1)
    return 1 - left / per_rank, end + right / per_rank


def _draw_scale(axes: Axes, k: int) -> None:
    axes.plot([1, k], [0, 0], color=INK, linewidth=0.9)
    every = 1 if k <= 12 else 5
    for rank in range(1, k + 1):
        is_labelled = rank in (1, k) or (rank % every == 0 and k - rank >= every / 2)
        axes.plot([rank, rank], [0, 0.07 if is_labelled else 0.04], color=INK, linewidth=0.9)
        if is_labelled:
            axes.text(rank, 0.1, str(rank), ha="center", va="bottom")


def _draw_difference(axes: Axes, comparison: RankComparison) -> None:
    width, y = comparison.critical_difference, 0.45
    axes.plot([1, 1 + width], [y, y], color=INK, linewidth=1.2, marker="|", markersize=6)
    axes.text(1 + width / 2, y + 0.07, f"CD = {width:.2f}", ha="center", va="bottom")


def _draw_groups(axes: Axes, comparison: RankComparison) -> None:
    ranks = dict(zip(comparison.methods, comparison.ranks, strict=True))
    overhang = 0.04 * max(1.0, len(ranks) / 10)
    for i, group in enumerate(comparison.groups):
        y = -0.12 - _BAR * i
        axes.plot(
            [ranks[group[0]] - overhang, ranks[group[-1]] + overhang],
            [y, y],
            color=INK,
            linewidth=3,
            solid_capstyle="butt",
        )


def _draw_methods(
    axes: Axes, comparison: RankComparison, bars: float, styles: Mapping[str, MethodStyle]
) -> None:
    k = len(comparison.methods)
    half = math.ceil(k / 2)
    first, last = axes.get_xlim()
    inch = (last - first) / TEXT_WIDTH
    for i, (method, rank) in enumerate(zip(comparison.methods, comparison.ranks, strict=True)):
        left = i < half
        # The outermost method gets the highest line, so that no line crosses another.
        y = -bars - _LEVEL * ((i if left else k - 1 - i) + 0.5)
        edge, out = (1 - 0.1 * inch, -inch) if left else (k + 0.1 * inch, inch)
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
        side = "right" if left else "left"
        number = axes.text(edge + 0.06 * out, y, f"{rank:.2f}", ha=side, va="center", color=MUTED)
        number.set_fontsize(_SIZE)
        axes.text(
            edge + _RANK * out,
            y,
            method,
            ha=side,
            va="center",
            fontsize=fitted_size(method, _SIZE, _NAME),
            parse_math=False,
        )


def _width(name: str) -> float:
    return text_width(name.replace("$", r"\$"), _SIZE)


def _verdict(comparison: RankComparison, blocks: str) -> str:
    p = "p < 0.001" if comparison.p_value < 0.001 else f"p = {comparison.p_value:.3f}"
    dropped = f" ({comparison.dropped} incomplete ones left out)" if comparison.dropped else ""
    return (
        f"mean rank, 1 = lowest error; {comparison.blocks} {blocks}{dropped}; "
        f"Friedman $\\chi^2$ = {comparison.chi2:.1f}, {p}; "
        f"joined: no difference at {comparison.alpha:g}"
    )
