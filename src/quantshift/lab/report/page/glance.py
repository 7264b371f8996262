"""The first table of the page: the mean error of every method under every kind of shift."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from quantshift.base.nouns import counted, listed
from quantshift.lab.report.page.sections import Section
from quantshift.lab.report.tables.table import MISSING
from quantshift.quantifiers.baselines import BASELINE


@dataclass(frozen=True)
class GlanceCell:
    """A mean error as text, as a sort key, and as a share of the largest in its column."""

    text: str = MISSING
    sort: str = ""
    share: str = "0"
    note: str = ""
    best: bool = False


@dataclass(frozen=True)
class GlanceRow:
    """A method, its position among the page's methods, and its cells."""

    method: str
    index: int
    cells: tuple[GlanceCell, ...]


@dataclass(frozen=True)
class Glance:
    """The table; `partial` if some means are left out because estimates are missing.

    unranked: the columns whose best method is not marked. datasets: how many data sets the means
    are over.
    """

    columns: tuple[str, ...]
    unranked: tuple[str, ...]
    rows: tuple[GlanceRow, ...]
    baseline: str
    partial: bool
    datasets: int = 1


def glance_of(rows: pl.DataFrame, sections: Sequence[Section], methods: Sequence[str]) -> Glance:
    """Mean errors over all samples of each part, by method; all data sets have equal weight."""
    panels = [(section, panel) for section in sections for panel in section.panels]
    by = ["experiment", "part", "dataset", "method"]
    means = rows.group_by(by).agg(n=pl.len(), mean=pl.col("error").mean())
    columns = [
        _column(_part_means(means, section, panel.part), methods, ranked=section.subject.ranked)
        for section, panel in panels
    ]
    titles = [
        f"{section.title}: {panel.label}" if panel.label else section.title
        for section, panel in panels
    ]
    return Glance(
        columns=tuple(titles),
        unranked=tuple(
            title
            for title, (section, _) in zip(titles, panels, strict=True)
            if not section.subject.ranked
        ),
        rows=tuple(
            GlanceRow(method, index, tuple(column[index] for column in columns))
            for index, method in enumerate(methods)
        ),
        baseline=BASELINE if BASELINE in methods else "",
        partial=any(cell.note for column in columns for cell in column),
        datasets=rows["dataset"].n_unique(),
    )


def best_methods(glance: Glance, n: int) -> tuple[str, ...]:
    """The n methods with the best mean rank over the columns, in the order of the table.

    The baseline is not among them.
    """
    ranks: dict[str, list[int]] = {row.method: [] for row in glance.rows}
    ranked = [i for i, name in enumerate(glance.columns) if name not in glance.unranked]
    for column in ranked or range(len(glance.columns)):
        with_results = [
            row for row in glance.rows if row.cells[column].sort and row.method != glance.baseline
        ]
        ordered = sorted(with_results, key=lambda row: float(row.cells[column].sort))
        for rank, row in enumerate(ordered):
            ranks[row.method].append(rank)
    mean_rank = {
        method: sum(ranks_of_method) / len(ranks_of_method)
        for method, ranks_of_method in ranks.items()
        if ranks_of_method
    }
    best = sorted(mean_rank, key=lambda method: mean_rank[method])[:n]
    return tuple(row.method for row in glance.rows if row.method in best)


def winners(glance: Glance, measure: str) -> str:
    """Which methods have the lowest error under how many kinds of shift, in a sentence or two."""
    n_ranked = len(glance.columns) - len(glance.unranked)
    won = Counter(row.method for row in glance.rows for cell in row.cells if cell.best)
    sentences = ""
    if n_ranked == 1 and won:
        errors = [cell.text for row in glance.rows for cell in row.cells if cell.best]
        sentences = f"{listed(list(won))} has the lowest mean {measure}: {errors[0]}."
    elif len(won) == 1:
        sentences = f"{next(iter(won))} has the lowest mean {measure} under all {n_ranked} shifts."
    elif won:
        counts = [f"{method} under {n}" for method, n in won.most_common()]
        sentences = (
            f"No method wins under every shift: of {n_ranked}, the lowest mean {measure} is that "
            f"of {listed(counts)}."
        )
    if glance.unranked:
        columns = listed([f"“{name}”" for name in glance.unranked])
        sentences += f" Under {columns} all methods fail, so none is marked as the best."
    return sentences.strip()


def _part_means(means: pl.DataFrame, section: Section, part: str) -> pl.DataFrame:
    return means.filter((pl.col("experiment") == section.experiment) & (pl.col("part") == part))


def _column(means: pl.DataFrame, methods: Sequence[str], *, ranked: bool) -> list[GlanceCell]:
    expected = pl.col("n").max().over("dataset")
    counts = means.with_columns(expected=expected)
    datasets = counts["dataset"].n_unique()
    total = counts.unique("dataset")["expected"].sum()
    by_method = counts.group_by("method").agg(
        pl.col("n").sum(),
        pl.col("mean").mean(),
        complete=(pl.len() == datasets) & (pl.col("n") == pl.col("expected")).all(),
    )
    row_of = {row["method"]: row for row in by_method.iter_rows(named=True)}
    complete = {name: row["mean"] for name, row in row_of.items() if row["complete"]}
    racing = [mean for name, mean in complete.items() if name != BASELINE]
    largest = max(complete.values(), default=0) or 1
    cells = []
    for method in methods:
        mean = complete.get(method)
        if mean is not None:
            best = ranked and method != BASELINE and mean == min(racing)
            cells.append(
                GlanceCell(f"{mean:.3f}", f"{mean:.6f}", f"{mean / largest:.3f}", best=best)
            )
        else:
            n = row_of[method]["n"] if method in row_of else 0
            cells.append(GlanceCell(note=f"{n:,} of {counted(int(total), 'estimate')}"))
    return cells
