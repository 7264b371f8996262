"""All figures that a set of results allows, by name: what a report puts into its folder."""

from collections.abc import Iterator, Sequence

import polars as pl
from matplotlib.figure import Figure

from quantshift.analysis.errors import require
from quantshift.analysis.methods import PAPER_METHODS, order_methods
from quantshift.analysis.parts import ensure_part
from quantshift.analysis.ranks import RankComparison, mean_ranks
from quantshift.errors import DataError
from quantshift.report.figures.bias import bias_boxes
from quantshift.report.figures.boxes import boxes_by_degree
from quantshift.report.figures.covariate import covariate_pages
from quantshift.report.figures.critical import critical_difference_diagram
from quantshift.report.figures.diagonal import diagonal_bands
from quantshift.report.figures.forced import FORCED_METHODS
from quantshift.report.figures.lines import error_lines
from quantshift.report.figures.local import local_boxes
from quantshift.report.figures.outcomes import COLUMNS, order_parts
from quantshift.report.style import METHOD_STYLE


def gallery(
    frame: pl.DataFrame, *, methods: Sequence[str] | None = None
) -> Iterator[tuple[str, Figure]]:
    """Names and figures, one at a time: boxes, lines, bias, diagonals and ranks per experiment.

    methods: those with a panel of their own and a rank; None: the paper's six and any that are not
    the paper's, as far as they have results (all methods with results, if there are none of these).
    Lines show all methods.
    """
    require(frame, ["experiment", "method", "degree"])
    rows = ensure_part(frame).select(COLUMNS)
    panels = tuple(methods) if methods is not None else _panel_methods(rows["method"].unique())
    for experiment in order_parts(rows["experiment"].unique()):
        yield from _figures(rows.filter(pl.col("experiment") == experiment), experiment, panels)


def _figures(
    rows: pl.DataFrame, experiment: str, methods: Sequence[str]
) -> Iterator[tuple[str, Figure]]:
    parts = order_parts(rows["part"].unique())
    by_degree = rows["degree"].is_not_null().any()
    if by_degree:
        yield from _boxes(rows, experiment, parts, methods)
        yield f"{experiment}-lines", error_lines(rows, parts)
    for part in parts:
        if by_degree:
            yield f"{part}-bias", bias_boxes(rows, part, methods=methods)
        of_part = rows.filter(pl.col("part") == part)
        # A single true prevalence (forced priors) makes no line to be compared with the diagonal.
        if of_part["p_true"].n_unique() > 1:
            yield f"{part}-diagonal", diagonal_bands(rows, part, methods=methods)
        comparison = _ranks(of_part.filter(pl.col("method").is_in(methods)))
        if comparison is not None:
            yield f"{part}-ranks", critical_difference_diagram(comparison)


def _boxes(
    rows: pl.DataFrame, experiment: str, parts: Sequence[str], methods: Sequence[str]
) -> Iterator[tuple[str, Figure]]:
    if {f"{experiment}-pure", f"{experiment}-mixed"}.intersection(parts):
        for p_train, page in covariate_pages(rows, experiment, methods=methods).items():
            yield f"{experiment}-boxes-p{p_train:g}", page
    elif f"{experiment}-control" in parts:
        yield f"{experiment}-boxes", local_boxes(rows, experiment, methods=methods)
    else:
        yield f"{experiment}-boxes", boxes_by_degree(rows, experiment, methods=methods)
    pair = set(FORCED_METHODS).intersection(rows["method"].unique())
    if experiment == "concept-forced" and pair:
        yield f"{experiment}-pair", boxes_by_degree(rows, experiment, methods=FORCED_METHODS)


def _panel_methods(present: Sequence[str] | pl.Series) -> tuple[str, ...]:
    ordered = order_methods(present)
    panels = tuple(m for m in ordered if m in PAPER_METHODS or m not in METHOD_STYLE)
    return panels or ordered


def _ranks(rows: pl.DataFrame) -> RankComparison | None:
    """Mean ranks over training sets, or nothing where too few of them are complete."""
    try:
        return mean_ranks(rows)
    except DataError:
        return None
