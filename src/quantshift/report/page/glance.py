"""The first table of the page: every method under every kind of shift, in one figure each."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from quantshift.report.page.sections import Section
from quantshift.report.table import MISSING
from quantshift.report.tables import decimal

YARDSTICK = "MLPE"
"""Where the prevalence stays it is right by design, so it cannot be the best."""


@dataclass(frozen=True)
class GlanceCell:
    """A mean error as text, for sorting, and as a share of the largest of its column."""

    text: str = MISSING
    sort: str = ""
    share: str = "0"
    note: str = ""
    best: bool = False


@dataclass(frozen=True)
class GlanceRow:
    """A method, its place among the page's methods, and its cells."""

    method: str
    index: int
    cells: tuple[GlanceCell, ...]


@dataclass(frozen=True)
class Glance:
    """The table; `partial` if some means are left out because estimates are missing."""

    columns: tuple[str, ...]
    rows: tuple[GlanceRow, ...]
    yardstick: str
    partial: bool


def glance_of(rows: pl.DataFrame, sections: Sequence[Section], methods: Sequence[str]) -> Glance:
    """Mean errors over all samples of each part, by method."""
    panels = [(section, panel) for section in sections for panel in section.panels]
    means = rows.group_by("part", "method").agg(n=pl.len(), mean=pl.col("error").mean())
    columns = [_column(means.filter(pl.col("part") == panel.part), methods) for _, panel in panels]
    return Glance(
        columns=tuple(
            f"{section.title}: {panel.label}" if panel.label else section.title
            for section, panel in panels
        ),
        rows=tuple(
            GlanceRow(method, index, tuple(column[index] for column in columns))
            for index, method in enumerate(methods)
        ),
        yardstick=YARDSTICK if YARDSTICK in methods else "",
        partial=any(cell.note for column in columns for cell in column),
    )


def _column(means: pl.DataFrame, methods: Sequence[str]) -> list[GlanceCell]:
    found = {row["method"]: row for row in means.iter_rows(named=True)}
    expected = max((row["n"] for row in found.values()), default=0)
    complete = {name: row["mean"] for name, row in found.items() if row["n"] == expected}
    racing = [mean for name, mean in complete.items() if name != YARDSTICK]
    largest = max(complete.values(), default=0) or 1
    cells = []
    for method in methods:
        mean = complete.get(method)
        if mean is not None:
            best = method != YARDSTICK and mean == min(racing)
            cells.append(
                GlanceCell(decimal(mean), f"{mean:.6f}", f"{mean / largest:.3f}", best=best)
            )
        else:
            n = found[method]["n"] if method in found else 0
            cells.append(GlanceCell(note=f"{n:,} of {expected:,} estimates"))
    return cells
