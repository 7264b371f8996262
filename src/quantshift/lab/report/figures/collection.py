"""All figures that can be drawn from a set of results, by name."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from matplotlib.figure import Figure

from quantshift.errors import DataError
from quantshift.lab.analysis.deviations import require, with_errors
from quantshift.lab.analysis.facets import ensure_part
from quantshift.lab.analysis.lean import lean
from quantshift.lab.analysis.methods import order_methods
from quantshift.lab.analysis.ranks import RankComparison, mean_ranks
from quantshift.lab.report.figures.bias import bias_boxes, class_bias
from quantshift.lab.report.figures.critical import critical_difference_diagram
from quantshift.lab.report.figures.diagonal import class_diagonals, diagonal_bands
from quantshift.lab.report.figures.lines import error_lines
from quantshift.lab.report.figures.outcomes import Outcomes, outcomes_of
from quantshift.lab.report.figures.sheets import error_boxes
from quantshift.lab.report.style.marks import MethodStyle, method_styles
from quantshift.lab.report.style.wording import Subject, subjects_of
from quantshift.lab.report.tables.collection import shown_methods
from quantshift.lab.report.tables.prevalences import as_numbers, positive
from quantshift.lab.results.about import About

FORCED_METHODS = ("PCC", "SLD")
"""The methods of the paper's figure of forced priors."""


def gallery(
    frame: pl.DataFrame,
    abouts: Mapping[str, About] | None = None,
    *,
    methods: Sequence[str] | None = None,
    measure: str = "ae",
) -> Iterator[tuple[str, Figure]]:
    """Names and figures, one at a time, for every experiment on every data set.

    These are boxes, lines and bias by degree, true against estimated prevalence, and mean ranks
    over training sets, and over data sets if there are several.

    abouts: descriptions of the experiments; what they lack is taken from the rows.
    methods: those to show, in this order; None: in lines all that have results, in panels those
        that tables show (`shown_methods`).
    """
    require(frame, ["experiment", "dataset", "facet", "method", "degree"])
    rows = frame if methods is None else frame.filter(pl.col("method").is_in(list(methods)))
    require(rows, ["method"])
    if "error" not in rows.columns:
        rows = with_errors(rows, measure=measure)
    subjects = subjects_of(rows, abouts)
    rows = as_numbers(lean(ensure_part(rows)))
    styles = method_styles(rows["method"].unique())
    for subject in subjects:
        subject_rows = rows.filter(pl.col("experiment") == subject.name)
        several = len(subject.datasets) > 1
        for dataset in subject.datasets:
            dataset_rows = (
                subject_rows.filter(pl.col("dataset") == dataset) if several else subject_rows
            )
            outcomes = outcomes_of(
                dataset_rows,
                subject.about,
                methods=methods and order_methods(dataset_rows["method"].unique(), methods),
                measure=measure,
                styles=styles,
            )
            yield from _figures(outcomes, f"-{dataset}" if several else "", methods)
        if several:
            yield from _over_datasets(subject_rows, subject, styles)


def _figures(
    outcomes: Outcomes, dataset: str, methods: Sequence[str] | None
) -> Iterator[tuple[str, Figure]]:
    subject = outcomes.subject
    panels = outcomes.only(outcomes.methods if methods else shown_methods(outcomes.methods))
    if outcomes.by_degree:
        for key, sheet in error_boxes(panels).items():
            yield f"{subject.name}{dataset}-boxes" + (f"-{key}" if key else ""), sheet
        if subject.about.shift == "concept" and _is_forced(panels):
            yield from _pair(panels, f"{subject.name}{dataset}-pair")
        yield f"{subject.name}{dataset}-lines", error_lines(outcomes)
    for facet in subject.facets:
        facet_outcomes = panels.of(facet)
        name = f"{facet.part}{dataset}"
        if len(outcomes.classes) > 2:
            yield f"{name}-bias", class_bias(facet_outcomes)
        elif outcomes.by_degree:
            yield f"{name}-bias", bias_boxes(facet_outcomes)
        # With a single true prevalence (forced priors) there is no line to compare.
        if (
            facet_outcomes.rows.select(positive("p_true", facet_outcomes.rows))["p_true"].n_unique()
            > 1
        ):
            draw = class_diagonals if len(outcomes.classes) > 2 else diagonal_bands
            yield f"{name}-diagonal", draw(facet_outcomes)
        comparison = _ranks(facet_outcomes.rows, ("experiment", "dataset", "cell"))
        if comparison is not None:
            yield (
                f"{name}-ranks",
                critical_difference_diagram(
                    comparison, blocks="training sets", styles=outcomes.styles
                ),
            )


def _is_forced(outcomes: Outcomes) -> bool:
    """Whether the prevalence of test samples was forced, as in the paper's last experiment."""
    rows = outcomes.rows
    return "p_test" in rows.columns and bool(rows["p_test"].is_not_null().all())


def _pair(outcomes: Outcomes, name: str) -> Iterator[tuple[str, Figure]]:
    """The paper's figure of forced priors, with the two methods it compares."""
    if set(FORCED_METHODS) <= set(outcomes.methods):
        [sheet] = error_boxes(outcomes.only(FORCED_METHODS)).values()
        yield name, sheet


def _over_datasets(
    rows: pl.DataFrame, subject: Subject, styles: Mapping[str, MethodStyle]
) -> Iterator[tuple[str, Figure]]:
    for facet in subject.facets:
        comparison = _ranks(rows.filter(pl.col("facet") == facet.name), ("dataset",))
        if comparison is not None:
            yield (
                f"{facet.part}-ranks-over-datasets",
                critical_difference_diagram(comparison, blocks="data sets", styles=styles),
            )


def _ranks(rows: pl.DataFrame, blocks: Sequence[str]) -> RankComparison | None:
    """Mean ranks over blocks, or None if too few of them are complete."""
    try:
        return mean_ranks(rows, blocks)
    except DataError:
        return None
