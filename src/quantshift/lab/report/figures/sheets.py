"""Errors as boxes by degree of shift: a panel per method, all on one scale.

The protocol decides (in its `Words`) how many sheets there are and how they are divided:

- facets to be compared, such as a shift and its control, are side by side in every panel;
- `tables_by` makes a sheet for each value of a coordinate;
- `columns_by` makes a column of panels for each value of another, with a row per method; the facet
  that the protocol marks has a grey background.

A sheet with very many rows or columns would be illegible: then every facet has its own sheet, with
a panel per method.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from quantshift.lab.analysis.summary import box_numbers
from quantshift.lab.displays.drawing.boxes import (
    box_legend,
    degree_ticks,
    draw_boxes,
    share_scale,
    top_of,
)
from quantshift.lab.displays.drawing.ink import INK, tint
from quantshift.lab.report.figures.canvas import PALE, blank, fitted_size, house_style, readable
from quantshift.lab.report.figures.outcomes import Outcomes
from quantshift.lab.report.figures.panels import (
    draw_method_boxes,
    finish,
    note_gap,
    sheet_for,
    titled_panels,
)
from quantshift.lab.report.style.wording import symbol, value_text
from quantshift.lab.shifts.parts.coordinate import Coordinate

MOST_SHEETS = 12
MOST_COLUMNS = 5
MOST_ROWS = 12
"""The most values with their own sheet or column, and methods with their own row."""

_ROW_HEIGHT = 1.32

_FACETS = (("#0072B2", ""), ("#E69F00", "/////"), ("#009E73", "....."), ("#CC79A7", "xxxxx"))
"""Colours and hatches of facets side by side; they differ in brightness too."""


def error_boxes(outcomes: Outcomes) -> dict[str, Figure]:
    """The sheets of boxes of an experiment by name ("" if there is only one)."""
    with house_style():
        if outcomes.subject.side_by_side:
            return {"": _facets_side_by_side(outcomes)}
        return dict(_sheets(outcomes))


def _sheets(outcomes: Outcomes) -> Iterator[tuple[str, Figure]]:
    words = outcomes.subject.about.words
    columns = _values(outcomes, words.columns_by)
    grid = 1 < len(columns) <= MOST_COLUMNS and len(outcomes.methods) <= MOST_ROWS
    if not grid:
        for facet in outcomes.subject.facets:
            yield facet.name, _plain(outcomes.of(facet), readable(facet.title))
        return
    across = _coordinate(outcomes, words.columns_by)
    pages = _values(outcomes, words.tables_by)
    by = [across.name, "facet", "method", "degree"]
    if not 1 < len(pages) <= MOST_SHEETS:
        yield "", _grid(outcomes, box_numbers(outcomes.rows, by), across, columns, title="")
        return
    down = _coordinate(outcomes, words.tables_by)
    numbers = box_numbers(outcomes.rows, [down.name, *by])
    top = top_of(numbers)
    for value in pages:
        page_numbers = numbers.filter(pl.col(down.name) == pl.lit(value, numbers.schema[down.name]))
        title = f"{symbol(down)} = {value_text(value)}"
        yield _slug(value), _grid(outcomes, page_numbers, across, columns, title=title, top=top)


def _plain(outcomes: Outcomes, title: str) -> Figure:
    """A panel per method."""
    figure, panels = titled_panels(outcomes.methods)
    if title:
        figure.suptitle(title)
    numbers = box_numbers(outcomes.rows, ["method", "degree"])
    degrees, first = outcomes.degrees, next(iter(panels.values()))
    share_scale(first, degrees, (0, top_of(numbers)), labels=sheet_for(len(panels)).labels)
    draw_method_boxes(panels, numbers, degrees, outcomes.styles)
    finish(figure, x=_x(outcomes), y=outcomes.measure.title, handles=box_legend())
    return figure


def _grid(
    outcomes: Outcomes,
    numbers: pl.DataFrame,
    across: Coordinate,
    columns: Sequence[Any],
    *,
    title: str,
    top: float | None = None,
) -> Figure:
    """A row per method, a column per value of a coordinate."""
    methods, words = outcomes.methods, outcomes.subject.about.words
    figure = blank(_ROW_HEIGHT * len(methods) + 1.1)
    grid = figure.subplots(len(methods), len(columns), squeeze=False, sharex=True, sharey=True)
    if title:
        figure.suptitle(readable(title))
    degrees = outcomes.degrees
    share_scale(grid[0, 0], degrees, (0, top_of(numbers) if top is None else top))
    for value, column in zip(columns, grid.T, strict=True):
        column_numbers = numbers.filter(
            pl.col(across.name) == pl.lit(value, numbers.schema[across.name])
        )
        panels = dict(zip(methods, column, strict=True))
        draw_method_boxes(panels, column_numbers, degrees, outcomes.styles)
        shaded = set(column_numbers["facet"]) == {words.shaded_facet}
        name = f" ({words.shaded_facet})" if shaded else ""
        column[0].set_title(readable(f"{symbol(across)} = {value_text(value)}{name}"))
        if shaded:
            for axes in column:
                axes.set_facecolor(PALE)
    for method, axes in zip(methods, grid[:, -1], strict=True):
        axes.annotate(
            method,
            (1.02, 0.5),
            xycoords="axes fraction",
            rotation=270,
            va="center",
            fontsize=fitted_size(method, 8.5, 0.95 * _ROW_HEIGHT),
            parse_math=False,
        )
    finish(figure, x=_x(outcomes), y=outcomes.measure.title, handles=box_legend())
    return figure


def _facets_side_by_side(outcomes: Outcomes) -> Figure:
    """A panel per method with a box for each facet at every degree."""
    # The facet named last is the one that the others are compared with, so it is drawn first.
    facets = outcomes.subject.facets[::-1]
    facet_looks = [_FACETS[position % len(_FACETS)] for position in range(len(facets))]
    numbers = box_numbers(outcomes.rows, ["facet", "method", "degree"])
    figure, panels = titled_panels(outcomes.methods)
    degrees, first = outcomes.degrees, next(iter(panels.values()))
    share_scale(first, degrees, (0, top_of(numbers)), labels=sheet_for(len(panels)).labels)
    for method, axes in panels.items():
        method_numbers = numbers.filter(pl.col("method") == method)
        degree_ticks(axes, degrees)
        if method_numbers.is_empty():
            note_gap(axes)
            continue
        for position, (facet, (colour, hatch)) in enumerate(zip(facets, facet_looks, strict=True)):
            draw_boxes(
                axes,
                method_numbers.filter(pl.col("facet") == facet.name),
                degrees,
                colour=colour,
                hatch=hatch,
                position=position,
                n_positions=len(facets),
            )
    handles = [
        Patch(
            facecolor=tint(colour),
            edgecolor=INK,
            linewidth=0.6,
            hatch=hatch,
            label=readable(facet.title or facet.part),
        )
        for facet, (colour, hatch) in zip(facets, facet_looks, strict=True)
    ]
    finish(figure, x=_x(outcomes), y=outcomes.measure.title, handles=[*handles, *box_legend()])
    return figure


def _x(outcomes: Outcomes) -> str:
    return readable(outcomes.degree_label)


def _values(outcomes: Outcomes, name: str | None) -> list[Any]:
    """The values of a coordinate, in order; none if there is no such coordinate in the rows."""
    if name is None or name not in outcomes.rows.columns:
        return []
    present = outcomes.rows[name].drop_nulls().unique()
    return sorted(present.to_list())


def _coordinate(outcomes: Outcomes, name: str | None) -> Coordinate:
    return next(c for c in outcomes.subject.about.coordinates if c.name == name)


def _slug(value: Any) -> str:
    text = value_text(value).strip("()").replace(", ", "-")
    return "".join(c if c.isalnum() or c in ".-_" else "_" for c in text)
