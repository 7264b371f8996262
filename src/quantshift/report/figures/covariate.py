"""Results for global covariate shift: a page per training prevalence.

A row per method, a column per test prevalence, boxes by alpha_train - alpha_test. On grey: pure
covariate shift, where the prevalences are equal.
"""

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from quantshift.analysis.methods import PAPER_METHODS
from quantshift.report.figures.boxes import (
    box_legend,
    box_numbers,
    draw_method_boxes,
    floor_at_zero,
)
from quantshift.report.figures.canvas import PALE, TEXT_WIDTH, blank, house_style
from quantshift.report.figures.outcomes import degree_label, degrees_of, measure_label, outcomes_of
from quantshift.report.figures.panels import finish

_ROW_HEIGHT = 1.32
_SAME = 1e-9
"""Prevalences of a grid that differ by less are the same point."""


def covariate_pages(
    frame: pl.DataFrame,
    experiment: str = "covariate",
    *,
    methods: Sequence[str] | None = PAPER_METHODS,
    measure: str = "ae",
) -> dict[float, Figure]:
    """The paper's figures for global covariate shift: training prevalence -> page.

    All pages have the same panels and the same scale (methods None: all with results).
    """
    parts = [f"{experiment}-pure", f"{experiment}-mixed"]
    rows, chosen = outcomes_of(frame, parts, methods, measure=measure)
    numbers = box_numbers(rows, ["p_train", "p_test", "method", "degree"])
    degrees = degrees_of(rows)
    p_tests = numbers["p_test"].unique().sort().to_list()
    top = 1.05 * float(numbers["highest"].to_numpy().max())
    with house_style():
        return {
            p_train: _page(
                numbers.filter(pl.col("p_train") == p_train),
                p_train,
                p_tests,
                chosen,
                degrees,
                top=top,
                x=degree_label(experiment),
                y=measure_label(measure),
            )
            for p_train in numbers["p_train"].unique().sort()
        }


def _page(
    numbers: pl.DataFrame,
    p_train: float,
    p_tests: Sequence[float],
    methods: Sequence[str],
    degrees: Sequence[float],
    *,
    top: float,
    x: str,
    y: str,
) -> Figure:
    figure = blank(TEXT_WIDTH, _ROW_HEIGHT * len(methods) + 1.1)
    grid = figure.subplots(len(methods), len(p_tests), squeeze=False, sharex=True, sharey=True)
    figure.suptitle(f"$p_L = {p_train:g}$")
    for p_test, column in zip(p_tests, grid.T, strict=True):
        of_column = numbers.filter(pl.col("p_test") == p_test)
        panels = dict(zip(methods, column, strict=True))
        draw_method_boxes(panels, of_column, degrees)
        pure = abs(p_train - p_test) < _SAME
        column[0].set_title(f"$p_U = {p_test:g}$" + (" (pure)" if pure else ""))
        if pure:
            for axes in column:
                axes.set_facecolor(PALE)
    for method, axes in zip(methods, grid[:, -1], strict=True):
        axes.annotate(
            method,
            (1.02, 0.5),
            xycoords="axes fraction",
            rotation=270,
            va="center",
            fontsize=8.5,
        )
    floor_at_zero(grid.flat)
    grid[0, 0].set_ylim(top=top)
    finish(figure, x=x, y=y, handles=box_legend())
    return figure
