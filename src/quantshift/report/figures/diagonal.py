"""True against estimated prevalence: an unbiased method follows the diagonal.

With two classes every method has a panel: the line is the mean estimate, the dark band contains the
middle half of the estimates and the light one the middle 90%. With more classes every class has a
panel with a line per method. True prevalences are rounded to two decimals, because samples of
different sizes cannot all match a grid point exactly; if there are many, to multiples of 0.05.
"""

from collections.abc import Iterable

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from quantshift.report.figures.canvas import INK, MUTED, house_style, tint
from quantshift.report.figures.lines import line_look, method_lines
from quantshift.report.figures.outcomes import Outcomes
from quantshift.report.figures.panels import finish, note_gap, plain_names, titled_panels

_PANEL_HEIGHT = 2.2
_HALF = 0.7
_NINE_TENTHS = 0.3
_MOST_POINTS = 30
_TWENTIETHS = 20


def diagonal_bands(outcomes: Outcomes) -> Figure:
    """Estimates of the positive class by its true prevalence, a panel per method."""
    bands = _bands(outcomes.rows)
    with house_style():
        figure, panels = titled_panels(outcomes.methods, height=_PANEL_HEIGHT)
        _unit_squares(panels.values())
        for method, axes in panels.items():
            band = bands.filter(pl.col("method") == method)
            if band.is_empty():
                note_gap(axes)
            else:
                _draw_band(axes, band, outcomes.styles[method].colour)
        finish(
            figure,
            x="true prevalence, $p$",
            y="estimated prevalence, $\\hat{p}$",
            handles=[
                Line2D([], [], color=INK, marker="o", markersize=2.5, label="mean"),
                Patch(facecolor=tint(MUTED, _HALF), label="middle half"),
                Patch(facecolor=tint(MUTED, _NINE_TENTHS), label="middle 90%"),
                Line2D([], [], color=INK, linewidth=0.8, linestyle="--", label="no error"),
            ],
        )
    return figure


def class_diagonals(outcomes: Outcomes) -> Figure:
    """Mean estimate of every class by its true prevalence, a panel per class, a line per method."""
    with house_style():
        figure, panels = titled_panels(outcomes.classes, height=_PANEL_HEIGHT)
        _unit_squares(panels.values())
        for position, axes in enumerate(panels.values()):
            means = mean_estimates(outcomes.rows, position)
            for method in outcomes.methods:
                line = means.filter(pl.col("method") == method)
                look = line_look(outcomes.styles[method])
                axes.plot(line["p_true"], line["p_hat"], linewidth=0.9, **look)
        legend = finish(
            figure,
            x="true prevalence, $p$",
            y="mean estimated prevalence, $\\hat{p}$",
            handles=method_lines(outcomes.methods, outcomes.styles),
        )
        plain_names(legend, outcomes.methods)
    return figure


def mean_estimates(rows: pl.DataFrame, position: int) -> pl.DataFrame:
    """Mean estimate of a class per method and true prevalence; null where a method has none."""
    rounded = rows.select(
        "method",
        p_true=pl.col("p_true").list.get(position),
        p_hat=pl.col("p_hat").list.get(position),
    ).with_columns(p_true=_grouped(rows["p_true"].list.get(position)))
    means = rounded.group_by("method", "p_true").agg(pl.col("p_hat").mean())
    return _every(rounded).join(means, on=["method", "p_true"], how="left").sort("method", "p_true")


def _unit_squares(panels: Iterable[Axes]) -> None:
    """Draw panels from 0 to 1 with the diagonal; shared settings are made on the first."""
    for number, axes in enumerate(panels):
        if not number:
            axes.set(xlim=(0, 1), ylim=(0, 1))
            axes.set_xticks(np.linspace(0, 1, 6))
            axes.set_yticks(np.linspace(0, 1, 6))
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle="--", zorder=2.5)
        axes.set_aspect("equal")
        axes.grid(visible=True)


def _bands(rows: pl.DataFrame) -> pl.DataFrame:
    """Per method and true prevalence: mean and quantiles; null where a method has none."""
    grouped = rows.select("method", "p_hat", p_true=_grouped(rows["p_true"]))
    estimate = pl.col("p_hat")
    quantiles = grouped.group_by("method", "p_true").agg(
        mean=estimate.mean(),
        **{f"q{q}": estimate.quantile(q / 100, interpolation="linear") for q in (5, 25, 75, 95)},
    )
    return (
        _every(grouped)
        .join(quantiles, on=["method", "p_true"], how="left")
        .sort("method", "p_true")
    )


def _grouped(p_true: pl.Series) -> pl.Series:
    points = p_true.round(2) + 0.0
    return (
        points
        if points.n_unique() <= _MOST_POINTS
        else (p_true * _TWENTIETHS).round() / _TWENTIETHS
    )


def _every(grouped: pl.DataFrame) -> pl.DataFrame:
    return grouped.select("method").unique().join(grouped.select("p_true").unique(), how="cross")


def _draw_band(axes: Axes, band: pl.DataFrame, colour: str) -> None:
    columns = {name: band[name].to_numpy() for name in band.columns if name != "method"}
    x = columns["p_true"]
    for low, high, share in (("q5", "q95", _NINE_TENTHS), ("q25", "q75", _HALF)):
        axes.fill_between(x, columns[low], columns[high], color=tint(colour, share), linewidth=0)
    axes.plot(x, columns["mean"], color=INK, linewidth=0.9, marker="o", markersize=2.5)
