"""Data sets side by side: the mean error of every method on each, and ranks over all of them."""

from collections.abc import Mapping, Sequence

import polars as pl

from quantshift.errors import DataError
from quantshift.lab.analysis import RankComparison, compare_with_best, rank_datasets
from quantshift.lab.report.tables.by_error import TableSpec, gap_legend, mark_legend, mean_cell
from quantshift.lab.report.tables.table import MISSING, Cell, ColumnGroup, ReportTable, Row, decimal

_TIE_DECIMALS = 10


def dataset_table(rows: pl.DataFrame, spec: TableSpec, datasets: Sequence[str]) -> ReportTable:
    """A row per data set, the mean over data sets and the mean rank; `rows` with `error`."""
    chosen = rows.filter(pl.col("method").is_in(spec.methods))
    compared = {
        (row["dataset"], row["method"]): row
        for row in compare_with_best(chosen, ["dataset"], correction=spec.correction).iter_rows(
            named=True
        )
    }
    cells = {key: mean_cell(row) for key, row in compared.items()}
    ranks = _ranks(chosen)
    lines = (
        *(
            Row(
                label=dataset,
                value=dataset,
                cells=tuple(cells.get((dataset, method), Cell(MISSING)) for method in spec.methods),
            )
            for dataset in datasets
        ),
        Row("mean", _means(cells, datasets, spec.methods), total=True),
        *([Row("mean rank", _rank_cells(ranks, spec.methods), total=True)] if ranks else []),
    )
    return ReportTable(
        name=spec.name,
        caption=f"{spec.title}: mean {spec.measure.title} on each data set.",
        corner="data set",
        groups=(ColumnGroup("", spec.methods),),
        rows=lines,
        legend=(
            *mark_legend(grouped=False, correction=spec.correction),
            "Mean: over data sets, each counted once, of methods that have all their samples.",
            *rank_legend(ranks, "data sets"),
            *gap_legend(lines[: len(datasets)]),
        ),
        experiment=spec.experiment,
        parts=spec.parts,
    )


def rank_legend(ranks: RankComparison | None, blocks: str) -> tuple[str, ...]:
    """The legend of mean ranks over these blocks (training sets, data sets)."""
    if ranks is None:
        return ()
    sentence = (
        f"Ranks over {ranks.blocks} {blocks}: Friedman's test p = {ranks.p_value:.2g}; "
        f"mean ranks differ significantly (Nemenyi, {ranks.alpha:g}) from a difference of "
        f"{ranks.critical_difference:.2f}."
    )
    left_out = f"{ranks.dropped} {blocks} without results of all methods are not ranked."
    return (sentence, *([left_out] if ranks.dropped else []))


def _ranks(rows: pl.DataFrame) -> RankComparison | None:
    try:
        return rank_datasets(rows)
    except DataError:  # One method, or too few data sets with all of them.
        return None


def _means(
    cells: Mapping[tuple[str, str], Cell], datasets: Sequence[str], methods: Sequence[str]
) -> tuple[Cell, ...]:
    """The mean over data sets of each method; missing if a data set has too few estimates."""
    means: dict[str, float] = {}
    for method in methods:
        cells_of_method = [cells.get((dataset, method)) for dataset in datasets]
        values = [
            cell.value
            for cell in cells_of_method
            if cell is not None and isinstance(cell.value, float) and not cell.partial
        ]
        if len(values) == len(datasets):
            means[method] = sum(values) / len(values)
    lowest = round(min(means.values(), default=0.0), _TIE_DECIMALS)
    return tuple(
        Cell(
            decimal(means[method]),
            means[method],
            mark="best" if round(means[method], _TIE_DECIMALS) == lowest else "",
        )
        if method in means
        else Cell(MISSING)
        for method in methods
    )


def _rank_cells(ranks: RankComparison, methods: Sequence[str]) -> tuple[Cell, ...]:
    rank_of = dict(zip(ranks.methods, ranks.ranks, strict=True))
    return tuple(
        Cell(decimal(rank_of[method], 2), rank_of[method]) if method in rank_of else Cell(MISSING)
        for method in methods
    )
