"""The contents of a report, computed once for the page and for the other files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from quantshift.lab.analysis.deviations import require, with_errors
from quantshift.lab.analysis.facets import ensure_part
from quantshift.lab.analysis.lean import lean
from quantshift.lab.paper import Verdict, against_published, setups_of, verdicts
from quantshift.lab.report.style.wording import subjects_of
from quantshift.lab.report.tables.collection import result_tables
from quantshift.lab.report.tables.published import published_comparison_tables
from quantshift.lab.report.tables.summary import summary_tables
from quantshift.lab.report.tables.table import ReportTable
from quantshift.lab.results.about import About
from quantshift.metrics import Measure, measure_called


@dataclass(frozen=True)
class Contents:
    """Results and everything computed from them.

    rows: raw outcomes with part, error and signed; text as categories.
    abouts: the description of every experiment of the rows, in the order to show them.
    measure: the error measure.
    tables: mean errors by degree; summaries: one table for each part, over all degrees.
    methods: the order that was requested; empty: that of `order_methods`.
    compared, published: our errors next to the published ones, as a frame and as tables; None and
        empty unless requested.
    """

    rows: pl.DataFrame
    abouts: Mapping[str, About]
    measure: Measure
    verdicts: Sequence[Verdict]
    tables: Sequence[ReportTable]
    summaries: Sequence[ReportTable]
    methods: Sequence[str] = ()
    compared: pl.DataFrame | None = None
    published: Sequence[ReportTable] = ()

    @property
    def all_tables(self) -> tuple[ReportTable, ...]:
        """Every table, in reading order."""
        return (*self.tables, *self.summaries, *self.published)


def contents_of(
    frame: pl.DataFrame,
    *,
    abouts: Mapping[str, About] | None = None,
    measure: str = "ae",
    methods: Sequence[str] | None = None,
    against_paper: bool = False,
    progress: Callable[[str], None],
) -> Contents:
    """The contents of a report on these raw outcomes; `progress` receives the current step.

    abouts: descriptions of the experiments; what they lack is taken from the rows.
    measure: any of `quantshift.metrics.MEASURES`; rows that have an `error` keep it.
    methods: the columns of the tables, in this order, which all other parts follow.
    """
    require(frame, ["experiment", "dataset", "method", "p_true", "p_hat"])
    rows = lean(ensure_part(frame))
    rows = rows if "error" in rows.columns else with_errors(rows, measure=measure)
    described = {subject.name: subject.about for subject in subjects_of(rows, abouts)}
    findings, compared = _evidence(rows, against_paper=against_paper, progress=progress)
    progress("tables")
    tables = result_tables(rows, described, measure=measure, methods=methods)
    progress("summaries")
    summaries = summary_tables(rows, described, measure=measure, methods=methods)
    return Contents(
        rows=rows,
        abouts=described,
        measure=measure_called(measure),
        verdicts=findings,
        tables=tables,
        summaries=summaries,
        methods=tuple(methods or ()),
        compared=compared,
        published=() if compared is None else published_comparison_tables(compared, methods),
    )


def _evidence(
    rows: pl.DataFrame, *, against_paper: bool, progress: Callable[[str], None]
) -> tuple[list[Verdict], pl.DataFrame | None]:
    """Verdicts on the paper's findings and, if requested, a comparison with its numbers."""
    progress("findings")
    paper_rows = setups_of(rows)
    findings = verdicts(paper_rows)
    if not against_paper:
        return findings, None
    progress("comparison with the published numbers")
    return findings, against_published(paper_rows)
