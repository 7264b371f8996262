"""The leaderboard as LaTeX tables: one per suite, with several measures, ranks and times."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from quantshift.base.nouns import counted
from quantshift.lab.analysis.methods import order_methods
from quantshift.lab.analysis.paired import mark_of
from quantshift.lab.analysis.pairwise import FEWEST_BLOCKS, against
from quantshift.lab.leaderboard.contents import Contents
from quantshift.lab.leaderboard.pairs import COMPARED, EVERY, error_matrix, suites_of
from quantshift.lab.report.tables.latex import latex
from quantshift.lab.report.tables.table import (
    MISSING,
    Cell,
    ColumnGroup,
    Mark,
    ReportTable,
    Row,
    decimal,
)
from quantshift.quantifiers.baselines import BASELINE

MADE_BY = "% A leaderboard made by quantshift\n"
"""The first line of the file."""

FEWEST_DECIMALS, MOST_DECIMALS = 4, 7

SIGNIFICANT_DIGITS = 3
"""Digits of the smallest error in a column; the others have as many decimals."""


def latex_tables(contents: Contents) -> str:
    """All tables, one after the other."""
    tables = [_table(suite, contents, rows) for suite, rows in suites_of(contents.scores).items()]
    return MADE_BY + "\n".join(latex(table) for table in tables)


def _table(suite: str, contents: Contents, scores: pl.DataFrame) -> ReportTable:
    methods = order_methods(scores["method"].unique())
    by_measure = {name: scores.filter(pl.col("measure") == name) for name in COMPARED}
    means = {name: _means(rows, methods) for name, rows in by_measure.items()}
    times = _times(contents.times, scores, methods)
    ranks = _mean_ranks(*error_matrix(by_measure[COMPARED[0]], methods))
    pairs = contents.pairs.filter(pl.col("suite") == suite)
    columns: list[list[Cell]] = []
    for name, (errors, spread) in means.items():
        marks = _marks(pairs.filter(pl.col("measure") == name), methods, errors)
        decimals = _decimals(errors)
        columns.append(_cells(errors, decimals, marks))
        columns.append(_cells(spread, decimals))
    columns += [_cells(ranks, 2), *map(_times_in_cells, times)]
    order = sorted(range(len(methods)), key=lambda i: (math.isnan(ranks[i]), ranks[i], methods[i]))
    n_datasets, n_parts = scores["dataset"].n_unique(), scores["part"].n_unique()
    name = "all suites" if suite == EVERY else f"the suite {suite}" if suite else "the experiments"
    return ReportTable(
        name=f"leaderboard-{suite or 'experiments'}",
        caption=f"Mean errors in {name}: {counted(n_datasets, 'data set')}, "
        f"{counted(n_parts, 'kind')} of shift.",
        corner="method",
        groups=(
            *(ColumnGroup(name.upper(), ("mean", "s.e.")) for name in COMPARED),
            ColumnGroup("AE", ("rank",)),
            ColumnGroup("ms", ("fit", "predict")),
        ),
        rows=tuple(
            Row(methods[i], tuple(column[i] for column in columns), methods[i]) for i in order
        ),
        legend=_legend(n_datasets),
    )


def _legend(n_datasets: int) -> tuple[str, ...]:
    tests = (
        "‡: not significantly different from the best at the 5% level, †: at the .1% level "
        "(Wilcoxon's signed-rank test over data sets, Holm's correction)."
        if n_datasets >= FEWEST_BLOCKS
        else f"Fewer than {FEWEST_BLOCKS} data sets: no test over data sets can be significant."
    )
    return (
        "Bold: the least mean error.",
        tests,
        "s.e.: standard error over training sets. Times in milliseconds of processor time: to fit, "
        "and to estimate one sample, without the shared classifier.",
    )


def _means(
    scores: pl.DataFrame, methods: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean over all columns of each method, and its standard error; NaN if it lacks one."""
    errors, _ = error_matrix(scores, methods)
    spread, _ = error_matrix(scores.with_columns(error=pl.col("standard_error")), methods)
    return errors.mean(axis=0), np.sqrt((spread**2).sum(axis=0)) / len(spread)


def _mean_ranks(errors: NDArray[np.float64], datasets: Sequence[str]) -> NDArray[np.float64]:
    """Mean ranks over data sets of the methods that have every number."""
    complete = np.flatnonzero(~np.isnan(errors).any(axis=0))
    _, block = np.unique(datasets, return_inverse=True)
    means = np.array([errors[block == b][:, complete].mean(axis=0) for b in range(block.max() + 1)])
    ranks = np.full(errors.shape[1], np.nan)
    ranks[complete] = stats.rankdata(np.round(means, 10), axis=1).mean(axis=0)
    return ranks


def _times(
    times: pl.DataFrame, scores: pl.DataFrame, methods: Sequence[str]
) -> list[NDArray[np.float64]]:
    """Medians over experiments and data sets of the times to fit and per sample."""
    present = times.join(
        scores.select("experiment", "dataset", "method").unique(),
        on=["experiment", "dataset", "method"],
    )
    medians = present.group_by("method").agg(pl.col("fit_ms", "sample_ms").median())
    times_of_method = {name: (fit, sample) for name, fit, sample in medians.iter_rows()}
    absent = (math.nan, math.nan)
    return [np.array([times_of_method.get(m, absent)[which] for m in methods]) for which in (0, 1)]


def _marks(pairs: pl.DataFrame, methods: Sequence[str], means: NDArray[np.float64]) -> list[Mark]:
    """The best method, and which do not differ significantly from it over data sets."""
    candidates = [i for i, m in enumerate(methods) if m != BASELINE and not math.isnan(means[i])]
    if not candidates:
        return [""] * len(methods)
    best = methods[min(candidates, key=lambda i: means[i])]
    marks: dict[str, Mark] = {best: "best"}
    if not pairs.filter(pl.col("blocks") >= FEWEST_BLOCKS).is_empty():
        p_values = against(pairs.drop("suite", "measure"), best)
        for other, p in p_values.select("other", "p_holm").iter_rows():
            marks[other] = "" if p is None else mark_of(p)
    return [marks.get(method, "") for method in methods]


def _decimals(errors: NDArray[np.float64]) -> int:
    """Enough for three digits of the smallest error.

    >>> _decimals(np.array([0.0294, 0.5])), _decimals(np.array([0.000123]))
    (4, 6)
    """
    positive = errors[errors > 0]
    if not positive.size:
        return FEWEST_DECIMALS
    needed = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(positive.min()))
    return min(max(needed, FEWEST_DECIMALS), MOST_DECIMALS)


def _cells(values: NDArray[np.float64], decimals: int, marks: Sequence[Mark] = ()) -> list[Cell]:
    unmarked: list[Mark] = [""] * len(values)
    texts = [MISSING if math.isnan(value) else decimal(value, decimals) for value in values]
    return [
        Cell(text, None if math.isnan(value) else float(value), mark)
        for text, value, mark in zip(texts, values, marks or unmarked, strict=True)
    ]


def _times_in_cells(values: NDArray[np.float64]) -> list[Cell]:
    """Times with two digits."""
    return [
        Cell(MISSING) if math.isnan(value) else Cell(_two_digits(value), float(value))
        for value in values
    ]


def _two_digits(value: float) -> str:
    """A number with two significant digits, and no exponent.

    >>> _two_digits(0.0123), _two_digits(1.27), _two_digits(1234.5)
    ('0.012', '1.3', '1234')
    """
    if value <= 0:
        return "0"
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}"
