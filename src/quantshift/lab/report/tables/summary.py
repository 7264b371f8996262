"""One table per part of an experiment: every method's error, its limits, its bias, its rank.

With more than two classes there is a separate table with the bias of each class.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from quantshift.errors import DataError
from quantshift.lab.analysis import (
    RankComparison,
    bias_by_class,
    compare_with_best,
    mean_ranks,
    order_methods,
    summarise,
    with_errors,
)
from quantshift.lab.analysis.facets import ensure_part
from quantshift.lab.analysis.lean import OUTCOME, lean
from quantshift.lab.analysis.summary import CONFIDENCE
from quantshift.lab.report.style.wording import subjects_of
from quantshift.lab.report.tables.by_dataset import rank_legend
from quantshift.lab.report.tables.by_error import mark_legend, mean_cell
from quantshift.lab.report.tables.collection import on_dataset
from quantshift.lab.report.tables.shape import fitted, unmarked
from quantshift.lab.report.tables.table import MISSING, Cell, ColumnGroup, ReportTable, Row, decimal
from quantshift.lab.results.about import About
from quantshift.metrics import measure_called

COLUMNS = ("low", "high", "median", "bias")


def summary_tables(
    frame: pl.DataFrame,
    abouts: Mapping[str, About] | None = None,
    *,
    measure: str = "ae",
    methods: Sequence[str] | None = None,
) -> list[ReportTable]:
    """A summary of each part of each experiment on each data set, and biases by class.

    abouts, measure: see `result_tables`. methods: those that come first, in this order.
    """
    rows = ensure_part(frame)
    if "error" not in rows.columns:
        rows = with_errors(rows, measure=measure)
    tables = []
    reduced = lean(rows, OUTCOME)
    for subject in subjects_of(rows, abouts):
        for facet in subject.facets:
            for dataset in subject.datasets:
                where = (
                    (pl.col("experiment") == subject.name)
                    & (pl.col("part") == facet.part)
                    & (pl.col("dataset") == dataset)
                )
                part_rows = reduced.filter(where)
                if part_rows.is_empty():
                    continue
                summary = summary_table(
                    part_rows,
                    measure=measure,
                    methods=methods,
                    heading=subject.title(facet),
                )
                part_tables = [summary if subject.ranked else unmarked(summary)]
                classes = subject.classes(dataset)
                if len(classes) > 2:
                    part_tables += bias_tables(rows.filter(where), classes, methods)
                several = len(subject.datasets) > 1
                tables += [on_dataset(table) for table in part_tables] if several else part_tables
    return tables


def summary_table(
    frame: pl.DataFrame,
    *,
    measure: str = "ae",
    methods: Sequence[str] | None = None,
    heading: str | None = None,
) -> ReportTable:
    """All methods of one part on one data set: mean error, limits, median, bias, rank, estimates.

    The best mean is bold, the others are marked as in the tables by degree.

    methods: those that come first, in this order.
    heading: what the caption calls the part (default: its name).
    """
    title = measure_called(measure).title
    rows = ensure_part(frame)
    part, dataset = (_only(rows, name) for name in ("part", "dataset"))
    if "error" not in rows.columns:
        rows = with_errors(rows, measure=measure)
    summary = summarise(rows, ["method"])
    lines = compare_with_best(rows, []).join(
        summary.drop("n", "mean"), on="method", maintain_order="left"
    )
    by_method = {line["method"]: line for line in lines.iter_rows(named=True)}
    columns = [name for name in COLUMNS if name != "bias" or lines["bias"].null_count() == 0]
    ranks = _ranks(rows)
    rank_of = dict(zip(ranks.methods, ranks.ranks, strict=True)) if ranks else {}
    return ReportTable(
        name=f"summary-{part}",
        caption=f"{heading or part}: mean {title} of each method over all samples.",
        corner="method",
        groups=(ColumnGroup("", ("mean", *columns, "mean rank", "estimates")),),
        rows=tuple(
            Row(
                label=line["method"],
                value=line["method"],
                cells=(
                    mean_cell(line),
                    *(_cell(line[column]) for column in columns),
                    _cell(rank_of.get(line["method"]), digits=2),
                    Cell(f"{line['n']:,}", line["n"]),
                ),
            )
            for line in (by_method[method] for method in order_methods(by_method, methods))
        ),
        legend=(
            *(
                sentence.replace("row", "column")
                for sentence in mark_legend(grouped=False, correction=None)
            ),
            f"Low, high: {CONFIDENCE:.0%} limits of the mean, by bootstrap over training sets.",
            *(["Bias: mean of estimated minus true prevalence."] if "bias" in columns else []),
            *rank_legend(ranks, "training sets"),
        ),
        experiment=_only(rows, "experiment"),
        parts=(part,),
        dataset=dataset,
    )


def bias_tables(
    frame: pl.DataFrame, classes: Sequence[str], order: Sequence[str] | None = None
) -> list[ReportTable]:
    """Mean of estimated minus true prevalence: a row per class, a column per method.

    order: the methods that come first.
    """
    rows = ensure_part(frame)
    part = _only(rows, "part")
    methods = order_methods(rows["method"].unique(), order)
    biases = {
        (number, method): bias
        for method, number, bias in bias_by_class(rows, ["method"]).iter_rows()
    }
    table = ReportTable(
        name=f"bias-{part}",
        caption=f"{part}: mean bias of each method, by class.",
        corner="class",
        groups=(ColumnGroup("", methods),),
        rows=tuple(
            Row(
                label=name,
                value=name,
                cells=tuple(_cell(biases.get((number, method))) for method in methods),
            )
            for number, name in enumerate(classes)
        ),
        legend=("Bias: mean of estimated minus true prevalence of the class.",),
        experiment=_only(rows, "experiment"),
        parts=(part,),
        dataset=_only(rows, "dataset"),
    )
    return fitted(table)


def _only(rows: pl.DataFrame, name: str) -> str:
    """The only value of a column; an error if there are several, which must not be averaged."""
    present = sorted(rows[name].unique())
    if len(present) != 1:
        raise DataError(
            f"summarise one {name} at a time; there are results of {', '.join(present) or 'none'}"
        )
    return str(present[0])


def _ranks(rows: pl.DataFrame) -> RankComparison | None:
    try:
        return mean_ranks(rows)
    except DataError:  # One method, or too few training sets with all of them.
        return None


def _cell(value: float | None, *, digits: int = 3) -> Cell:
    return Cell(MISSING) if value is None else Cell(decimal(value, digits), value)
