"""Our mean absolute errors next to the published ones, in the layout of the four tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from quantshift.lab.analysis import PAPER_METHODS, order_methods
from quantshift.lab.report.tables.table import MISSING, Cell, ColumnGroup, ReportTable, Row, decimal

CORRELATION = r"$\rho$"


def published_comparison_tables(
    compared: pl.DataFrame, methods: Sequence[str] | None = None
) -> list[ReportTable]:
    """A table for each published one that we have results for: ours / theirs, rank correlation.

    compared: the frame of `quantshift.lab.paper.against_published`.
    methods: those that come first, in this order; the columns are always all of the paper's.
    """
    tables, order = [], order_methods(PAPER_METHODS, methods)
    for (p_train,), rows in compared.group_by(["p_train"], maintain_order=True):
        if rows["ours"].null_count() < len(rows):
            tables.append(_table(rows, p_train, order))
    return tables


def _table(rows: pl.DataFrame, p_train: Any, methods: Sequence[str]) -> ReportTable:
    p_tests = rows["p_test"].unique().sort().to_list()
    cells = {
        (row["degree"], row["p_test"], row["method"]): row for row in rows.iter_rows(named=True)
    }
    degrees = rows["degree"].unique().sort().to_list()
    prior = p_train is None
    return ReportTable(
        name="published-prior" if prior else f"published-covariate-{p_train:g}",
        caption=("Prior shift" if prior else f"Global covariate shift, $p_L = {p_train:g}$")
        + ": our mean absolute error / the published one.",
        corner="degree",
        groups=tuple(
            ColumnGroup(
                "" if prior else f"$p_U = {p_test:g}$",
                (*methods, CORRELATION),
                shaded=not prior and p_test == p_train,
            )
            for p_test in p_tests
        ),
        rows=tuple(
            Row(
                label=f"{degree:.1f}",
                value=degree,
                cells=tuple(
                    cell
                    for p_test in p_tests
                    for cell in _group(
                        {method: cells[degree, p_test, method] for method in methods},
                        shaded=not prior and p_test == p_train,
                    )
                ),
            )
            for degree in degrees
        ),
        legend=(
            f"Ours: means of {_range(rows['samples'].drop_nulls().to_list())} samples; with the "
            "profile paper, of as many as the published ones.",
            f"{CORRELATION}: Spearman's rank correlation of ours and theirs over the methods.",
            "Bold: our best.",
            *([] if prior else ["Grey: pure covariate shift."]),
        ),
    )


def _group(rows: Mapping[str, Mapping[str, Any]], *, shaded: bool) -> list[Cell]:
    """The cells of a degree and a test prevalence: one per method, and the correlation."""
    cells = [
        Cell(
            f"{_number(row['ours'])} / {decimal(row['theirs'])}",
            row["ours"],
            mark="best" if row["our_mark"] == "best" else "",
            shaded=shaded,
            n=row["n"],
            samples=row["samples"],
        )
        for row in rows.values()
    ]
    correlation = next(iter(rows.values()))["spearman"]
    return [*cells, Cell(_number(correlation, 2), correlation, shaded=shaded)]


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _number(value: float | None, digits: int = 3) -> str:
    return MISSING if value is None else decimal(value, digits)
