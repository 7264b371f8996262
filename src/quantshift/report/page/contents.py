"""What a report holds, computed once for the page and for the files beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from quantshift.analysis.errors import require, with_errors
from quantshift.analysis.findings import Verdict, verdicts
from quantshift.analysis.parts import part_of
from quantshift.analysis.published import against_published
from quantshift.report.published_table import published_comparison_tables
from quantshift.report.summary_table import summary_table
from quantshift.report.table import ReportTable
from quantshift.report.tables import error_table, result_tables

PURE = "covariate-pure"


@dataclass(frozen=True)
class Contents:
    """Results with what was computed from them.

    rows: raw outcomes with part, error and signed.
    tables: mean errors by degree; summaries: one table for each part, over all degrees.
    compared, published: our errors beside the published ones, as a frame and as tables; None and
        empty unless asked for.
    """

    rows: pl.DataFrame
    verdicts: Sequence[Verdict]
    tables: Sequence[ReportTable]
    summaries: Sequence[ReportTable]
    compared: pl.DataFrame | None = None
    published: Sequence[ReportTable] = ()

    @property
    def all_tables(self) -> tuple[ReportTable, ...]:
        """Every table, in reading order."""
        return (*self.tables, *self.summaries, *self.published)


def contents_of(
    frame: pl.DataFrame, *, against_paper: bool = False, progress: Callable[[str], None]
) -> Contents:
    """All that a report says of these raw outcomes; `progress` is told what is being computed."""
    require(frame, ["method", "p_true", "p_hat"])
    rows = with_errors(part_of(frame))
    progress("findings")
    found = verdicts(rows)
    progress("tables")
    tables = result_tables(rows)
    if PURE in rows["part"].unique():
        tables.append(_pure_table(rows))
    summaries = [summary_table(rows, part) for part in rows["part"].unique().sort()]
    if not against_paper:
        return Contents(rows, found, tables, summaries)
    progress("comparison with the published numbers")
    return Contents(
        rows,
        found,
        tables,
        summaries,
        compared=against_published(rows),
        published=published_comparison_tables(rows),
    )


def _pure_table(rows: pl.DataFrame) -> ReportTable:
    """Pure covariate shift over all prevalences; the paper shows each prevalence alone."""
    return error_table(
        rows,
        [PURE],
        name=PURE,
        title="Pure global covariate shift, all prevalences",
        degree=r"$\alpha_L - \alpha_U$",
    )
