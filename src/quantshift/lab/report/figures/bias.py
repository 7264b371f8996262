"""The direction of errors: boxes of signed error by degree, or the mean of every class.

With two classes a box above zero means that the positive class is overestimated. With more classes
no single number gives the direction, so a heat map shows the mean signed error of each class.
"""

import numpy as np
import polars as pl
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from quantshift.lab.analysis.deviations import bias_by_class
from quantshift.lab.analysis.summary import box_numbers
from quantshift.lab.displays.bias import BiasDisplay
from quantshift.lab.displays.drawing.boxes import box_legend, share_scale
from quantshift.lab.displays.drawing.ink import INK
from quantshift.lab.report.figures.canvas import (
    TEXT_WIDTH,
    blank,
    fitted_size,
    house_style,
    readable,
    text_width,
)
from quantshift.lab.report.figures.outcomes import Outcomes
from quantshift.lab.report.figures.panels import finish, note_gap, sheet_for, titled_panels

_ROW = 0.22
_DIGITS = 12
"""The most classes for which numbers fit into the cells of the heat map."""

_PALE = 0.55
"""Share of the range above which a cell is so dark that its number is white."""


def bias_boxes(outcomes: Outcomes) -> Figure:
    """Signed errors of the positive class by degree, a panel per method."""
    numbers = box_numbers(
        outcomes.rows.with_columns(error=pl.col("signed")), ["method", "degree"]
    ).partition_by("method", as_dict=True)
    displays = {method: BiasDisplay(part) for (method,), part in numbers.items()}
    reach = 1.05 * max(display.largest for display in displays.values()) or 1.0
    degrees = outcomes.degrees
    with house_style():
        figure, panels = titled_panels(outcomes.methods)
        first = next(iter(panels.values()))
        share_scale(first, degrees, (-reach, reach), labels=sheet_for(len(panels)).labels)
        for method, axes in panels.items():
            if method in displays:
                look = outcomes.styles[method].colour
                displays[method].plot(axes, colour=look, degrees=degrees, decorated=False)
            else:
                note_gap(axes)
        finish(
            figure,
            x=readable(outcomes.degree_label),
            y="signed error, $\\hat{p} - p$",
            handles=box_legend(),
        )
    return figure


def class_bias(outcomes: Outcomes) -> Figure:
    """Mean signed error by method and class, over all samples: blue too low, orange too high."""
    classes, methods = outcomes.classes, outcomes.methods
    table = np.full((len(methods), len(classes)), np.nan)
    for method, position, bias in bias_by_class(outcomes.rows, ["method"]).iter_rows():
        table[methods.index(method), position] = bias
    reach = max(float(np.nanmax(np.abs(table))), 1e-9)
    with house_style():
        longest_name = max(text_width(name.replace("$", r"\$"), 7) for name in classes)
        slanted = longest_name > 0.8 * (TEXT_WIDTH - 1.5) / len(classes)
        figure = blank(_ROW * len(methods) + 0.9 + (min(longest_name, 1.6) if slanted else 0))
        axes = figure.subplots()
        image = axes.imshow(
            table, cmap="PuOr_r", norm=TwoSlopeNorm(0, -reach, reach), aspect="auto"
        )
        axes.set_xticks(range(len(classes)), classes, rotation=90 if slanted else 0)
        axes.set_yticks(range(len(methods)), methods)
        axes.tick_params(length=0)
        for label in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
            label.set_parse_math(False)
            label.set_fontsize(fitted_size(label.get_text(), 7, 1.6))
        if len(classes) <= _DIGITS:
            for (row, column), bias in np.ndenumerate(table):
                dark = abs(bias) > _PALE * reach
                text = "–" if np.isnan(bias) else f"{bias:+.3f}"
                colour = "white" if dark else INK
                axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=6)
        bar = figure.colorbar(image, ax=axes, label="mean of $\\hat{p} - p$", pad=0.02, aspect=40)
        bar.outline.set_linewidth(0.4)
    return figure
