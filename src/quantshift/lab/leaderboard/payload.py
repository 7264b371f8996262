"""The data of the page: numbers packed method by method into plain JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from quantshift.lab.analysis.methods import order_methods
from quantshift.lab.analysis.stability import FEWEST_SAMPLES
from quantshift.lab.leaderboard.contents import Contents
from quantshift.lab.leaderboard.samples import ALPHABET, LACKING, STEPS
from quantshift.lab.report.page.payload import SHAPES, method_entries
from quantshift.lab.report.style.marks import method_styles
from quantshift.metrics import MEASURES
from quantshift.quantifiers.baselines import BASELINE

UNIT = 1e-6
"""Errors are rounded to multiples of this, which is small enough to make ties rare."""

ALPHA = 0.05
"""Significance level of the critical differences."""


def payload_of(contents: Contents) -> dict[str, Any]:
    """The data that the script of the page uses."""
    scores = contents.scores
    methods = order_methods(scores["method"].unique())
    columns = scores.select(
        "suite", "experiment", "part", "title", "shift", "dataset", "classes", "ordered"
    ).unique(maintain_order=True)
    places = [(row["part"], row["dataset"]) for row in columns.iter_rows(named=True)]
    looks = distinct_marks(method_entries(method_styles(methods)))
    families = dict(scores.select("method", "family").unique("method").iter_rows())
    return {
        "unit": UNIT,
        "alpha": ALPHA,
        "fewest": FEWEST_SAMPLES,
        "baseline": BASELINE if BASELINE in methods else "",
        "measures": [_measure(m) for m in MEASURES if m in set(scores["measure"])],
        "methods": [{**look, "family": families[look["name"]]} for look in looks],
        "columns": [
            {**row, "samples": _expected(scores, row), "names": list(contents.classes[place])}
            for row, place in zip(columns.iter_rows(named=True), places, strict=True)
        ],
        "errors": _by_measure(scores, "error", methods, places),
        "spread": _by_measure(scores, "standard_error", methods, places),
        "high": _by_measure(scores, "high", methods, places),
        "level": _level(scores, methods, places),
        "absences": _absences(contents.absences, methods, columns),
        "times": _times(contents.times, methods, columns),
        "quantiles": [round(q, 4) for q in _quantiles(len(methods))],
        "points": {
            "alphabet": ALPHABET,
            "steps": STEPS,
            "lacking": LACKING,
            "columns": [_points(contents, place, methods) for place in places],
        },
        "published": _published(contents.published, methods, places),
    }


def distinct_marks(looks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The looks of methods, with another shape for a point that would look like an earlier one.

    Lines also differ in their dashes; points and the marks beside names do not have any.
    """
    taken: set[tuple[str, str]] = set()
    distinct = []
    for look in looks:
        shapes = [look["shape"], *SHAPES.values()]
        free = (shape for shape in shapes if (look["light"], shape) not in taken)
        shape = next(free, look["shape"])
        taken.add((look["light"], shape))
        distinct.append({**look, "shape": shape})
    return distinct


def _measure(name: str) -> dict[str, Any]:
    measure = MEASURES[name]
    return {"name": name, "title": measure.title, "ordinal": measure.ordinal}


def _expected(scores: pl.DataFrame, column: Mapping[str, Any]) -> int:
    rows_of_column = scores.filter(
        (pl.col("part") == column["part"]) & (pl.col("dataset") == column["dataset"])
    )
    return int(rows_of_column["expected"][0])


def _by_measure(
    scores: pl.DataFrame, name: str, methods: Sequence[str], places: Sequence[tuple[str, str]]
) -> dict[str, list[list[int | None]]]:
    """Measure -> a row per method with a whole number per column, null where there is none.

    Measures for ordered classes are left out where classes are not ordered.
    """
    at_method = {method: i for i, method in enumerate(methods)}
    at_place = {place: i for i, place in enumerate(places)}
    packed: dict[str, list[list[int | None]]] = {}
    for (measure,), rows_of_measure in scores.group_by("measure", maintain_order=True):
        comparable = (
            rows_of_measure.filter("ordered") if MEASURES[str(measure)].ordinal else rows_of_measure
        )
        table: list[list[int | None]] = [[None] * len(places) for _ in methods]
        for part, dataset, method, value in comparable.select(
            "part", "dataset", "method", name
        ).iter_rows():
            if value is not None:
                table[at_method[method]][at_place[part, dataset]] = round(value / UNIT)
        packed[str(measure)] = table
    return packed


def _level(
    scores: pl.DataFrame, methods: Sequence[str], places: Sequence[tuple[str, str]]
) -> dict[str, list[list[int | None]]]:
    """Measure -> by method and column: 1 if it is the best or not significantly worse, else 0.

    null where nothing was tested: there are too few training sets, or the method has no number.
    """
    tested = pl.col("p_best").is_not_null().any().over("measure", "part", "dataset")
    level = (pl.col("p_best").fill_null(1.0) >= ALPHA).cast(pl.Float64) * UNIT
    has_level = tested & pl.col("error").is_not_null()
    return _by_measure(
        scores.with_columns(level=pl.when(has_level).then(level)), "level", methods, places
    )


def _absences(
    absences: Mapping[tuple[str, str, str], str], methods: Sequence[str], columns: pl.DataFrame
) -> dict[str, Any]:
    """The distinct reasons, and for each method and column the number of its reason (from 1)."""
    reasons = list(dict.fromkeys(absences.values()))
    number = {reason: i + 1 for i, reason in enumerate(reasons)}
    keys = list(columns.select("experiment", "dataset").iter_rows())
    return {
        "reasons": reasons,
        "which": [
            [number.get(absences.get((*key, method), ""), 0) for key in keys] for method in methods
        ],
        "nowhere": sorted({m for _, _, m in absences} - set(methods)),
    }


def _times(
    times: pl.DataFrame, methods: Sequence[str], columns: pl.DataFrame
) -> dict[str, list[list[float | None]]]:
    """Milliseconds to fit, and per sample, by method and column."""
    milliseconds = {(e, d, m): (f, s) for e, d, m, f, s in times.select(
        "experiment", "dataset", "method", "fit_ms", "sample_ms"
    ).iter_rows()}  # fmt: skip
    keys = list(columns.select("experiment", "dataset").iter_rows())
    return {
        name: [
            [
                _significant(milliseconds[(*key, method)][which])
                if (*key, method) in milliseconds
                else None
                for key in keys
            ]
            for method in methods
        ]
        for which, name in enumerate(("fit", "sample"))
    }


def _significant(value: float) -> float:
    return float(f"{value:.3g}")


def _quantiles(n_methods: int) -> list[float]:
    """For Nemenyi's critical difference of 0, 1, 2, ... methods; see `analysis/ranks.py`."""
    counts = range(2, n_methods + 1)
    return [0.0, 0.0] + [
        float(stats.studentized_range.ppf(1 - ALPHA, k, np.inf) / np.sqrt(2)) for k in counts
    ]


def _points(
    contents: Contents, place: tuple[str, str], methods: Sequence[str]
) -> dict[str, Any] | None:
    points = contents.points.get(place)
    if points is None:
        return None
    return {
        "true": points.true,
        "classes": list(points.classes),
        "estimated": [points.estimated.get(method) for method in methods],
    }


def _published(
    published: pl.DataFrame, methods: Sequence[str], places: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    at_place = {place: i for i, place in enumerate(places)}
    at_method = {method: i for i, method in enumerate(methods)}
    return [
        {
            "column": at_place[row["part"], row["dataset"]],
            "method": row["method"],
            "same_as": at_method.get(row["same_as"]),
            "measure": row["measure"],
            "value": row["value"],
            "ours": row["ours"],
            "source": row["source"],
            "differs": row["differs"],
        }
        for row in published.iter_rows(named=True)
        if (row["part"], row["dataset"]) in at_place
    ]
