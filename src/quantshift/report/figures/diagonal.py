"""True against estimated prevalence: an unbiased method follows the diagonal.

The line is the mean estimate, the dark band holds the middle half of the estimates and the light
one nine tenths of them. True prevalences are grouped to two decimals, since samples of different
size cannot all meet the point of the grid exactly.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from quantshift.analysis.methods import PAPER_METHODS
from quantshift.report.figures.canvas import INK, MUTED, house_style, tint
from quantshift.report.figures.outcomes import outcomes_of
from quantshift.report.figures.panels import finish, method_panels, note_gap
from quantshift.report.style import method_styles

_PANEL_HEIGHT = 2.2
_HALF = 0.7
_NINE_TENTHS = 0.3


def diagonal_bands(
    frame: pl.DataFrame, part: str, *, methods: Sequence[str] | None = PAPER_METHODS
) -> Figure:
    """Estimates of one part of the results, a panel per method (None: all with results)."""
    rows, chosen = outcomes_of(frame, [part], methods)
    bands = _bands(rows)
    styles = method_styles(chosen)
    with house_style():
        figure, panels = method_panels(chosen, panel_height=_PANEL_HEIGHT)
        for method, axes in panels.items():
            axes.axline((0, 0), (1, 1), color=INK, linewidth=0.8, linestyle="--", zorder=2.5)
            of_method = bands.filter(pl.col("method") == method)
            if of_method.is_empty():
                note_gap(axes)
            else:
                _draw_band(axes, of_method, styles[method].colour)
            axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
            axes.set_xticks(np.linspace(0, 1, 6))
            axes.set_yticks(np.linspace(0, 1, 6))
            axes.grid(visible=True)
        finish(
            figure,
            x="true prevalence, $p$",
            y="estimated prevalence, $\\hat{p}$",
            handles=[
                Line2D([], [], color=INK, marker="o", markersize=2.5, label="mean"),
                Patch(facecolor=tint(MUTED, _HALF), label="middle half"),
                Patch(facecolor=tint(MUTED, _NINE_TENTHS), label="nine tenths"),
                Line2D([], [], color=INK, linewidth=0.8, linestyle="--", label="no error"),
            ],
        )
    return figure


def _bands(rows: pl.DataFrame) -> pl.DataFrame:
    """Per method and true prevalence: mean and quantiles; null where a method has none."""
    estimate = pl.col("p_hat")
    grouped = rows.with_columns(p_true=pl.col("p_true").round(2))
    found = grouped.group_by("method", "p_true").agg(
        mean=estimate.mean(),
        **{f"q{q}": estimate.quantile(q / 100, interpolation="linear") for q in (5, 25, 75, 95)},
    )
    every = grouped.select("method").unique().join(grouped.select("p_true").unique(), how="cross")
    return every.join(found, on=["method", "p_true"], how="left").sort("method", "p_true")


def _draw_band(axes: Axes, band: pl.DataFrame, colour: str) -> None:
    columns = {name: band[name].to_numpy() for name in band.columns if name != "method"}
    x = columns["p_true"]
    for low, high, share in (("q5", "q95", _NINE_TENTHS), ("q25", "q75", _HALF)):
        axes.fill_between(x, columns[low], columns[high], color=tint(colour, share), linewidth=0)
    axes.plot(x, columns["mean"], color=INK, linewidth=0.9, marker="o", markersize=2.5)
