"""A table of mean errors by degree of shift and method.

Rows are degrees and a total over all samples; columns are methods, in groups if there are several
groups. The best of a row is bold, and the others are marked by a paired test against it
(`quantshift.lab.analysis.paired`). A method without results has an empty cell; one that lacks some
samples of a row shows how many it has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quantshift.lab.analysis.paired import Correction, compare_pairs, paired_errors
from quantshift.lab.report.style.wording import degree_in_steps, degree_step
from quantshift.lab.report.tables.shape import BOLD, IN_GROUPS, TESTED
from quantshift.lab.report.tables.table import MISSING, Cell, ColumnGroup, ReportTable, Row, decimal
from quantshift.metrics import Measure

EXACT_DIGITS = 3
MOST_DIGITS = 6
"""The most decimals of a degree: to show it exactly, and to tell it apart from others."""

TOO_FEW = 5
"""With this many samples Wilcoxon's test has a p-value of at least 1/16."""

_SAME = 1e-9

Point = float | None
"""A degree of shift; None for all samples together."""


@dataclass(frozen=True)
class Group:
    """Columns for the rows of the frame that `where` chooses."""

    text: str
    where: pl.Expr
    shaded: bool = False


EVERYTHING = Group("", pl.lit(value=True))


@dataclass(frozen=True)
class TableSpec:
    """What a table shows: its names and texts, the methods and the measure it compares."""

    name: str
    title: str
    degree: str
    methods: tuple[str, ...]
    measure: Measure
    digits: int = 2
    note: str = ""
    correction: Correction | None = None
    experiment: str = ""
    parts: tuple[str, ...] = ()
    dataset: str = ""


def error_table(
    rows: pl.DataFrame, spec: TableSpec, groups: Sequence[Group] = (EVERYTHING,)
) -> ReportTable:
    """The table of `rows` with `error`; if there are too many degrees they are rounded."""
    step = degree_step(rows["degree"].drop_nulls().unique())
    chosen = rows.filter(pl.col("method").is_in(spec.methods)).with_columns(
        degree=degree_in_steps(step)
    )
    cells = [_cells(chosen.filter(group.where), group, spec.correction) for group in groups]
    degrees = chosen["degree"].drop_nulls().unique().sort().to_list()
    digits = _digits(degrees, spec.digits)
    points: list[Point] = [*degrees, None]
    lines = tuple(
        Row(
            label="all" if point is None else f"{point:.{digits}f}",
            value=point,
            total=point is None,
            cells=tuple(
                cells_of_group.get((point, method), Cell(MISSING, shaded=group.shaded))
                for group, cells_of_group in zip(groups, cells, strict=True)
                for method in spec.methods
            ),
        )
        for point in points
    )
    degree = ", ".join(
        [*([spec.degree] if spec.degree else []), *([f"in steps of {step:g}"] if step else [])]
    )
    return ReportTable(
        name=spec.name,
        caption=f"{spec.title}: mean {spec.measure.title} by degree"
        + (f" ({degree})." if degree else "."),
        corner="degree",
        groups=tuple(
            ColumnGroup(group.text, spec.methods, shaded=group.shaded) for group in groups
        ),
        rows=lines,
        legend=(
            *mark_legend(grouped=len(groups) > 1, correction=spec.correction),
            *([spec.note] if spec.note else []),
            *few_legend(lines),
            *gap_legend(lines),
        ),
        experiment=spec.experiment,
        parts=spec.parts,
        dataset=spec.dataset,
    )


def _cells(
    rows: pl.DataFrame, group: Group, correction: Correction | None
) -> dict[tuple[Point, str], Cell]:
    """The cells of a group of columns: (degree, method) -> cell; the total has degree None."""
    if rows.is_empty():
        return {}
    pairs = paired_errors(rows, ["degree"])
    compared = (
        compare_pairs(pairs, correction=correction).filter(pl.col("degree").is_not_null()),
        compare_pairs(pairs.pooled(), correction=correction),
    )
    return {
        (row.get("degree"), row["method"]): mean_cell(row, shaded=group.shaded)
        for comparison in compared
        for row in comparison.iter_rows(named=True)
    }


def mean_cell(compared: Mapping[str, Any], *, shaded: bool = False) -> Cell:
    """The cell of a row of `compare_with_best`."""
    return Cell(
        text=decimal(compared["mean"]),
        value=compared["mean"],
        mark=compared["mark"],
        shaded=shaded,
        n=compared["n"],
        samples=compared["samples"],
    )


def mark_legend(*, grouped: bool, correction: Correction | None) -> tuple[str, ...]:
    """What bold and the marks mean."""
    corrected = ", corrected by Holm's method" if correction == "holm" else ""
    return (
        f"{BOLD} row{IN_GROUPS if grouped else ''}.",
        f"{TESTED} against the lowest{corrected}: ‡ p ≥ .05 (no significant "
        "difference), † .001 < p < .05, no sign p ≤ .001.",
    )


def few_legend(rows: Sequence[Row]) -> tuple[str, ...]:
    """What ‡ means in rows that are too short for a test, if there are any."""
    marked = [cell.samples for row in rows for cell in row.cells if cell.mark == "ddag"]
    if any(samples is not None and samples <= TOO_FEW for samples in marked):
        return (
            f"Rows of {TOO_FEW} samples or fewer are too short for the test: ‡ says nothing there.",
        )
    return ()


def gap_legend(rows: Sequence[Row]) -> tuple[str, ...]:
    """What the signs of missing results mean, if there are any."""
    cells = [cell for row in rows for cell in row.cells]
    sentences = []
    if any(cell.value is None for cell in cells):
        sentences.append(f"{MISSING}: no result.")
    if any(cell.partial for cell in cells):
        sentences.append(
            "n: the number of estimates, where some are missing; such a mean is over other samples "
            "than the rest of its row."
        )
    return tuple(sentences)


def _digits(degrees: Sequence[float], fewest: int) -> int:
    """At least this number of decimals, or more if degrees would look the same."""
    exact = (
        digits
        for digits in range(fewest, EXACT_DIGITS + 1)
        if all(abs(round(degree, digits) - degree) < _SAME for degree in degrees)
    )
    distinct = (
        digits
        for digits in range(fewest, MOST_DIGITS)
        if len({f"{degree:.{digits}f}" for degree in degrees}) == len(degrees)
    )
    return next(exact, next(distinct, MOST_DIGITS))
