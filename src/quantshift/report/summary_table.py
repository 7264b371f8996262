"""One table per part of the experiments: every method's error, its limits, its bias, its rank."""

import polars as pl

from quantshift.analysis.errors import with_errors
from quantshift.analysis.paired import compare_with_best
from quantshift.analysis.parts import ensure_part
from quantshift.analysis.ranks import RankComparison, mean_ranks
from quantshift.analysis.summary import summarise
from quantshift.errors import DataError
from quantshift.report.table import MISSING, Cell, ColumnGroup, ReportTable, Row
from quantshift.report.tables import MEASURE_NAMES, decimal, mark_legend

COLUMNS = ("low", "high", "median", "bias")


def summary_table(
    frame: pl.DataFrame, part: str, *, measure: str = "ae", confidence: float = 0.95, seed: int = 0
) -> ReportTable:
    """All methods of a part: mean error with limits, median, bias, mean rank, estimates.

    The best mean is bold, the others are marked as in the tables by degree.
    """
    rows = ensure_part(frame).filter(pl.col("part") == part)
    if rows.is_empty():
        raise DataError(f"there are no results of {part}; run that experiment first")
    rows = with_errors(rows, measure=measure)
    summary = summarise(rows, ["method"], confidence=confidence, seed=seed)
    lines = compare_with_best(rows, []).join(
        summary.drop("n", "mean"), on="method", maintain_order="left"
    )
    ranks = _ranks(rows)
    of_method = dict(zip(ranks.methods, ranks.ranks, strict=True)) if ranks else {}
    return ReportTable(
        name=f"summary-{part}",
        caption=f"{part}: {MEASURE_NAMES[measure]} of each method over all samples.",
        corner="method",
        groups=(ColumnGroup("", ("mean", *COLUMNS, "mean rank", "estimates")),),
        rows=tuple(
            Row(
                label=line["method"],
                value=line["method"],
                cells=(
                    Cell(
                        decimal(line["mean"]),
                        line["mean"],
                        mark=line["mark"],
                        n=line["n"],
                        samples=line["samples"],
                    ),
                    *(_cell(line[column]) for column in COLUMNS),
                    _cell(of_method.get(line["method"]), digits=2),
                    Cell(f"{line['n']:,}", line["n"]),
                ),
            )
            for line in lines.iter_rows(named=True)
        ),
        legend=_legend(confidence, ranks),
    )


def _ranks(rows: pl.DataFrame) -> RankComparison | None:
    try:
        return mean_ranks(rows, ["experiment", "cell"])
    except DataError:  # One method, or too few training sets with all of them.
        return None


def _cell(value: float | None, *, digits: int = 3) -> Cell:
    return Cell(MISSING) if value is None else Cell(decimal(value, digits), value)


def _legend(confidence: float, ranks: RankComparison | None) -> tuple[str, ...]:
    sentences = [
        *(
            sentence.replace("row", "column")
            for sentence in mark_legend(grouped=False, correction=None)
        ),
        f"Low, high: {confidence:.0%} limits of the mean, by bootstrap over training sets.",
        "Bias: mean of estimated minus true prevalence.",
    ]
    if ranks:
        sentences.append(
            f"Ranks over {ranks.blocks} training sets: Friedman's test p = {ranks.p_value:.2g}; "
            f"mean ranks differ significantly (Nemenyi, {ranks.alpha:g}) from a difference of "
            f"{ranks.critical_difference:.2f}."
        )
        if ranks.dropped:
            sentences.append(
                f"{ranks.dropped} training sets without results of all methods are not ranked."
            )
    return tuple(sentences)
