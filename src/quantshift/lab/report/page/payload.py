"""The page's data: slices packed column by column into plain JSON.

Figures are stored as integer multiples of `UNIT`, coordinates as positions of their values. This
takes a third of the space of rows of floats, and is exact as far as a reader can see.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from quantshift.answers.shell.colours import ON_DARK
from quantshift.lab.report.page.sections import Section
from quantshift.lab.report.page.slices import (
    BIAS_FIGURES,
    DIAGONAL_FIGURES,
    ERROR_FIGURES,
    SectionRows,
    Slices,
)
from quantshift.lab.report.style.marks import MethodStyle
from quantshift.lab.report.style.wording import value_text

UNIT = 1e-4

OPEN = -1
"""Stands for a coordinate that the slice does not fix, instead of the position of its value."""

CLASS = "class"
"""The coordinate that every slice fixes."""

SHAPES = {
    "o": "M-.9,0A.9,.9,0,1,0,.9,0A.9,.9,0,1,0,-.9,0Z",
    "s": "M-.8,-.8H.8V.8H-.8Z",
    "D": "M0,-1.1L1.1,0L0,1.1L-1.1,0Z",
    "d": "M0,-1.1L.65,0L0,1.1L-.65,0Z",
    "^": "M0,-1L1,.8H-1Z",
    "v": "M0,1L1,-.8H-1Z",
    "<": "M-1,0L.8,1V-1Z",
    ">": "M1,0L-.8,1V-1Z",
    "P": "M-.4,-1H.4V-.4H1V.4H.4V1H-.4V.4H-1V-.4H-.4Z",
    "X": "M-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0L-1,-.6Z",
    "*": "M0,-1L.29,-.4L.95,-.31L.48,.15L.59,.81L0,.5L-.59,.81L-.48,.15L-.95,-.31L-.29,-.4Z",
    "h": "M0,-1L.87,-.5L.87,.5L0,1L-.87,.5L-.87,-.5Z",
    "p": "M0,-1L.95,-.31L.59,.81L-.59,.81L-.95,-.31Z",
}
"""matplotlib's markers as SVG paths, for both the charts and the page."""


def method_entries(styles: Mapping[str, MethodStyle]) -> list[dict[str, Any]]:
    """Name and style of each method, for the charts and the keys next to their names."""
    return [
        {
            "name": name,
            "light": style.colour,
            "dark": ON_DARK.get(style.colour, style.colour),
            "shape": SHAPES[style.marker],
            "dash": [] if isinstance(style.dash, str) else [2 * step for step in style.dash[1]],
        }
        for name, style in styles.items()
    ]


def section_entry(
    data: SectionRows, errors: Slices, diagonal: Slices, bias: Slices | None, methods: Sequence[str]
) -> dict[str, Any]:
    """The data of the charts of a section."""
    section = data.section
    degrees = errors.frame["x"].drop_nulls().unique().sort().to_list()
    slices = [part for part in (errors, diagonal, bias) if part is not None]
    names = dict.fromkeys(name for part in slices for name in part.coordinates)
    values: dict[str, list[Any]] = {name: _values(name, slices) for name in names}
    if len(degrees) > 1:
        values["degree"] = degrees
    if data.classes:
        values[CLASS] = list(data.classes)
    labels = _labels(section)
    step = f", in steps of {data.step:g}" if data.step else ""
    return {
        "id": section.identifier,
        "title": section.title,
        "degree": f"{section.degree}{step}",
        "panels": [panel.label for panel in section.panels],
        "coordinates": [
            {
                "name": name,
                "label": labels.get(name, name),
                "texts": [_text(value) for value in values[name]],
                "open": name != CLASS,
            }
            for name in values
        ],
        "degrees": degrees,
        "errors": _packed(errors, values, methods, ERROR_FIGURES),
        "diagonal": _packed(diagonal, values, methods, DIAGONAL_FIGURES),
        **({"bias": _packed(bias, values, methods, BIAS_FIGURES)} if bias else {}),
    }


def published_entry(compared: pl.DataFrame, methods: Sequence[str]) -> dict[str, Any]:
    """The published errors and ours, for the rows of `against_published` where we have both."""
    rows = compared.filter(pl.col("ours").is_not_null() & pl.col("method").is_in(methods))
    labels = [_row_label(row) for row in rows.iter_rows(named=True)]
    distinct = list(dict.fromkeys(labels))
    errors = (rows.select("theirs", "ours") / UNIT).with_columns(pl.all().round().cast(pl.Int32))
    return {
        "id": "published",
        "title": "Published and own mean absolute errors",
        "degree": "",
        "panels": [""],
        "coordinates": [],
        "published": {
            "rows": distinct,
            "columns": {
                "method": _positions(rows["method"], methods),
                "row": _positions(pl.Series(labels, dtype=pl.String), distinct),
                **errors.to_dict(as_series=False),
            },
        },
    }


def _row_label(row: Mapping[str, Any]) -> str:
    fixed = [f"{name} {row[name]:g}" for name in ("p_train", "p_test") if row[name] is not None]
    return ", ".join([row["setup"], *fixed, f"degree {row['degree']:g}"])


def _labels(section: Section) -> dict[str, str]:
    declared = {c.name: c.label for c in section.subject.about.coordinates}
    return {"dataset": "data set", "degree": "degree", CLASS: "class", **declared}


def _text(value: Any) -> str:
    text = value_text(value)
    return text.replace("-", "−") if isinstance(value, float) else text


def _values(name: str, slices: Sequence[Slices]) -> list[Any]:
    present = [part.frame[name] for part in slices if name in part.coordinates]
    return pl.concat(present).drop_nulls().unique().sort().to_list()


def _packed(
    slices: Slices,
    values: Mapping[str, list[Any]],
    methods: Sequence[str],
    figures: Sequence[str],
) -> dict[str, Any]:
    frame = slices.frame
    fixed = [*slices.coordinates, *([CLASS] if CLASS in frame.columns else [])]
    x = frame["x"].drop_nulls().unique().sort().to_list()
    columns: dict[str, list[Any]] = {
        "x": _positions(frame["x"], x),
        "method": _positions(frame["method"], methods),
        "n": frame["n"].to_list(),
    }
    # Columns without information are left out: the panel if there is one, `expected` without gaps.
    if frame["panel"].n_unique() > 1:
        columns["panel"] = frame["panel"].to_list()
    if (frame["n"] != frame["expected"]).any():
        columns["expected"] = frame["expected"].to_list()
    columns |= {name: _positions(frame[name], values[name]) for name in fixed}
    whole = (frame.select(figures) / UNIT).with_columns(pl.all().round().cast(pl.Int64))
    columns |= whole.to_dict(as_series=False)
    return {"coordinates": fixed, "x": x, "columns": columns}


def _positions(column: pl.Series, values: Sequence[Any]) -> list[int]:
    position_of = {value: position for position, value in enumerate(values)}
    return [position_of.get(value, OPEN) for value in column]
