"""True against estimated prevalence: an unbiased method follows the diagonal.

With two classes every method has a panel: the line is the mean estimate, the dark band contains the
middle half of the estimates and the light one the middle 90%. With more classes every class has a
panel with a line per method. True prevalences are rounded to two decimals, because samples of
different sizes cannot all match a grid point exactly; if there are many, to multiples of 0.05.
"""

import polars as pl
from matplotlib.figure import Figure

from quantshift.lab.displays.diagonal import DiagonalDisplay, band_numbers, in_groups
from quantshift.lab.displays.drawing.bands import band_legend, unit_squares
from quantshift.lab.report.figures.canvas import house_style
from quantshift.lab.report.figures.lines import line_look, method_lines
from quantshift.lab.report.figures.outcomes import Outcomes
from quantshift.lab.report.figures.panels import finish, note_gap, plain_names, titled_panels

_PANEL_HEIGHT = 2.2


def diagonal_bands(outcomes: Outcomes) -> Figure:
    """Estimates of the positive class by its true prevalence, a panel per method."""
    bands = _bands(outcomes.rows)
    with house_style():
        figure, panels = titled_panels(outcomes.methods, height=_PANEL_HEIGHT)
        unit_squares(panels.values())
        for method, axes in panels.items():
            band = bands.filter(pl.col("method") == method)
            if band.is_empty():
                note_gap(axes)
            else:
                colour = outcomes.styles[method].colour
                DiagonalDisplay(band).plot(axes, colour=colour, decorated=False)
        finish(
            figure,
            x="true prevalence, $p$",
            y="estimated prevalence, $\\hat{p}$",
            handles=band_legend(),
        )
    return figure


def class_diagonals(outcomes: Outcomes) -> Figure:
    """Mean estimate of every class by its true prevalence, a panel per class, a line per method."""
    with house_style():
        figure, panels = titled_panels(outcomes.classes, height=_PANEL_HEIGHT)
        unit_squares(panels.values())
        for position, axes in enumerate(panels.values()):
            means = mean_estimates(outcomes.rows, position)
            for method in outcomes.methods:
                line = means.filter(pl.col("method") == method)
                style = outcomes.styles[method]
                axes.plot(
                    line["p_true"],
                    line["p_hat"],
                    color=style.colour,
                    linewidth=0.9,
                    **line_look(style),
                )
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
    ).with_columns(p_true=in_groups(rows["p_true"].list.get(position)))
    means = rounded.group_by("method", "p_true").agg(pl.col("p_hat").mean())
    return _every(rounded).join(means, on=["method", "p_true"], how="left").sort("method", "p_true")


def _bands(rows: pl.DataFrame) -> pl.DataFrame:
    """Per method and true prevalence: mean and quantiles; null where a method has none."""
    numbers = band_numbers(rows, ["method"])
    return (
        _every(numbers).join(numbers, on=["method", "p_true"], how="left").sort("method", "p_true")
    )


def _every(grouped: pl.DataFrame) -> pl.DataFrame:
    return grouped.select("method").unique().join(grouped.select("p_true").unique(), how="cross")
