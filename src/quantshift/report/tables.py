"""The tables of results: the paper's four, and those it leaves out.

Each function turns raw outcomes into a `ReportTable`. Rows are degrees of shift and a total over
all samples, columns are methods, values are mean errors: the best of a row is bold, the others are
marked by a paired test against it (`quantshift.analysis.paired`). A method without results has a
gap, one that lacks some samples of a row shows how many it has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quantshift.analysis.errors import with_errors
from quantshift.analysis.methods import ORDER, PAPER_METHODS, order_methods
from quantshift.analysis.paired import Correction, compare_pairs, paired_errors
from quantshift.analysis.parts import ensure_part
from quantshift.analysis.published import COVARIATE, grid_point
from quantshift.errors import DataError
from quantshift.report.table import MISSING, Cell, ColumnGroup, ReportTable, Row

MEASURE_NAMES = {
    "ae": "mean absolute error",
    "se": "mean squared error",
    "nae": "mean normalised absolute error",
    "rae": "mean relative absolute error",
    "nrae": "mean normalised relative absolute error",
    "kld": "mean Kullback-Leibler divergence",
    "nkld": "mean normalised Kullback-Leibler divergence",
}

KNOWN_PARTS = ("prior", *COVARIATE, "local", "local-control", "concept", "concept-forced")


def shown_methods(present: Iterable[str]) -> tuple[str, ...]:
    """The columns by default: the paper's six methods and any that are not the paper's.

    HDy, SMM and MLPE are in the paper's text but not in its tables. Without any of the six, all
    that are present are shown.
    """
    names = set(present)
    if not names.intersection(PAPER_METHODS):
        return order_methods(names)
    return order_methods({*PAPER_METHODS, *names.difference(ORDER)})


def prior_table(frame: pl.DataFrame, **options: Any) -> ReportTable:
    """The paper's table of prior shift; options as of `error_table`."""
    return error_table(
        frame,
        ["prior"],
        name="prior",
        title="Prior shift",
        degree="$p_U - p_L$, rounded to one decimal",
        **options,
    )


def covariate_table(frame: pl.DataFrame, p_train: float, **options: Any) -> ReportTable:
    """The paper's table of global covariate shift for one training prevalence.

    A group of columns per test prevalence; that of pure covariate shift is grey.
    """
    at = pl.col("p_train").round(6) == round(p_train, 6)
    rows = ensure_part(frame).filter(pl.col("part").is_in(COVARIATE) & at)
    groups = [
        _Group(f"$p_U = {p_test:g}$", pl.col("p_test").round(6) == p_test, shaded=p_test == p_train)
        for p_test in rows["p_test"].round(6).unique().sort().to_list()
    ]
    return error_table(
        rows,
        COVARIATE,
        name=f"covariate-{p_train:g}",
        title=f"Global covariate shift, $p_L = {p_train:g}$",
        degree=r"$\alpha_L - \alpha_U$",
        note="Grey: pure covariate shift, the prevalence stays.",
        groups=groups,
        **options,
    )


def local_table(frame: pl.DataFrame, **options: Any) -> ReportTable:
    """Local covariate shift beside its control."""
    control = pl.col("control").fill_null(value=False)
    return error_table(
        frame,
        ["local", "local-control"],
        name="local",
        title="Local covariate shift and its control",
        degree="$p_U - p_L$",
        note="Control: the same prevalences under plain prior shift.",
        groups=[_Group("shifted", ~control), _Group("control", control)],
        digits=2,
        **options,
    )


def concept_table(frame: pl.DataFrame, **options: Any) -> ReportTable:
    """Concept shift."""
    return error_table(
        frame,
        ["concept"],
        name="concept",
        title="Concept shift",
        degree="$c_L - c_U$",
        digits=0,
        **options,
    )


def forced_table(frame: pl.DataFrame, **options: Any) -> ReportTable:
    """Concept shift with forced priors."""
    return error_table(
        frame,
        ["concept-forced"],
        name="concept-forced",
        title="Concept shift with forced priors",
        degree="$c_L - c_U$",
        digits=0,
        **options,
    )


def result_tables(frame: pl.DataFrame, **options: Any) -> list[ReportTable]:
    """All tables of mean errors the results allow, the paper's first; options of `error_table`."""
    rows = ensure_part(frame)
    parts = set(rows["part"].unique())
    tables = [prior_table(rows, **options)] if "prior" in parts else []
    if parts.intersection(COVARIATE):
        covariate = rows.filter(pl.col("part").is_in(COVARIATE))
        tables += [
            covariate_table(covariate, p_train, **options)
            for p_train in covariate["p_train"].round(6).unique().sort().to_list()
        ]
    if parts.intersection({"local", "local-control"}):
        tables.append(local_table(rows, **options))
    if "concept" in parts:
        tables.append(concept_table(rows, **options))
    if "concept-forced" in parts:
        tables.append(forced_table(rows, **options))
    return tables + [
        error_table(rows, [part], name=part, title=part, degree="degree", digits=2, **options)
        for part in sorted(parts.difference(KNOWN_PARTS))
    ]


@dataclass(frozen=True)
class _Group:
    """Columns for the rows of the frame that `where` chooses."""

    text: str
    where: pl.Expr
    shaded: bool = False


_EVERYTHING = _Group("", pl.lit(value=True))


def error_table(
    frame: pl.DataFrame,
    parts: Sequence[str],
    *,
    name: str,
    title: str,
    degree: str,
    note: str = "",
    groups: Sequence[_Group] = (_EVERYTHING,),
    digits: int = 1,
    methods: Sequence[str] | None = None,
    measure: str = "ae",
    correction: Correction | None = None,
) -> ReportTable:
    """Mean errors by degree and method in some parts of the experiments.

    methods: the columns, compared among themselves (default: `shown_methods`).
    measure: any of `quantshift.metrics`.
    correction: "holm" for tests corrected for the number of methods.
    """
    rows = ensure_part(frame).filter(pl.col("part").is_in(list(parts)))
    if rows.is_empty():
        raise DataError(f"there are no results of {' or '.join(parts)}; run that experiment first")
    columns = tuple(methods) if methods else shown_methods(rows["method"].unique())
    rows = with_errors(rows, measure=measure).with_columns(grid_point("degree"))
    rows = rows.filter(pl.col("method").is_in(columns))
    found = [_cells(rows.filter(group.where), group, correction) for group in groups]
    degrees = rows["degree"].drop_nulls().unique().sort().to_list()
    points: list[float | None] = [*degrees, None]
    lines = tuple(
        Row(
            label="all" if point is None else f"{point:.{digits}f}",
            value=point,
            total=point is None,
            cells=tuple(
                cells.get((point, method), Cell(MISSING, shaded=group.shaded))
                for group, cells in zip(groups, found, strict=True)
                for method in columns
            ),
        )
        for point in points
    )
    return ReportTable(
        name=name,
        caption=f"{title}: {MEASURE_NAMES[measure]} by degree ({degree}).",
        corner="degree",
        groups=tuple(ColumnGroup(group.text, columns, shaded=group.shaded) for group in groups),
        rows=lines,
        legend=(
            *mark_legend(grouped=len(groups) > 1, correction=correction),
            *([note] if note else []),
            *gap_legend(lines),
        ),
    )


def _cells(
    rows: pl.DataFrame, group: _Group, correction: Correction | None
) -> dict[tuple[float | None, str], Cell]:
    """The cells of a group of columns: (degree, method) -> cell; the total has degree None."""
    if rows.is_empty():
        return {}
    pairs = paired_errors(rows, ["degree"])
    compared = (
        compare_pairs(pairs, correction=correction).filter(pl.col("degree").is_not_null()),
        compare_pairs(pairs.pooled(), correction=correction),
    )
    return {
        (row.get("degree"), row["method"]): Cell(
            text=decimal(row["mean"]),
            value=row["mean"],
            mark=row["mark"],
            shaded=group.shaded,
            n=row["n"],
            samples=row["samples"],
        )
        for comparison in compared
        for row in comparison.iter_rows(named=True)
    }


def decimal(value: float, digits: int = 3) -> str:
    """A number in the paper's manner, without the zero before the point.

    >>> decimal(0.0294), decimal(-0.5), decimal(1.25), decimal(-0.0001)
    ('.029', '-.500', '1.250', '.000')
    """
    text = f"{round(value, digits) + 0.0:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def mark_legend(*, grouped: bool, correction: Correction | None) -> tuple[str, ...]:
    """What bold and the marks mean."""
    corrected = ", corrected by Holm's method" if correction == "holm" else ""
    return (
        "Bold: the least of its row" + (", in each group of columns." if grouped else "."),
        f"Paired Wilcoxon signed-rank test against that{corrected}: ‡ p ≥ .05 (no significant "
        "difference), † .001 < p < .05, no sign p ≤ .001.",
    )


def gap_legend(rows: Sequence[Row]) -> tuple[str, ...]:
    """What the signs of missing results mean, if there are any."""
    cells = [cell for row in rows for cell in row.cells]
    sentences = []
    if any(cell.value is None for cell in cells):
        sentences.append(f"{MISSING}: no result.")
    if any(cell.partial for cell in cells):
        sentences.append(
            "n: estimates there are, where some are missing; such a mean is over other samples "
            "than the rest of its row."
        )
    return tuple(sentences)
