"""Summaries of every slice of a part: what the page needs to let its reader choose.

A slice fixes some coordinates (p_train = 0.5, say) and leaves the others open. A page cannot
average quartiles or bootstrap limits, so those of every slice are computed here. The page must stay
small whatever the run: coordinates can be chosen as long as all their slices fit a budget of rows.

A method that lacks some of the samples the other methods of its slice have would be averaged over
other samples than theirs; such groups keep their counts but have no figures: a gap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from quantshift.analysis.summary import summarise

COORDINATES = ("p_train", "p_test", "cut_train", "cut_test", "alpha_train", "alpha_test")
"""What may be fixed, the most telling first."""

MOST_VALUES = 50
"""A coordinate with more values is not offered as a choice."""

ERROR_FIGURES = (
    *("mean", "low", "high", "median", "q1", "q3"),
    *("whisker_low", "whisker_high", "bias"),
)
DIAGONAL_FIGURES = ("p_true", "p_hat", "deviation")

_BINS = 20
"""Bins of the true prevalence on the diagonal; the paper's grids fall into their middles."""


@dataclass(frozen=True)
class Slices:
    """Figures of all slices: a row per slice, position on the x axis and method.

    coordinates: those that can be chosen; null in `frame` where the slice leaves them open.
    frame: panel, the coordinates, `x`, method, n, expected (most samples of any method), figures
        (null where n is less than expected).
    """

    coordinates: tuple[str, ...]
    frame: pl.DataFrame


def error_slices(rows: pl.DataFrame, *, budget: int) -> Slices:
    """Mean with limits, box and bias by degree; `rows` with panel, error, signed."""
    rows = _lean(rows)
    chosen = choosable(rows, COORDINATES, budget)
    frames = [
        _marked(summarise(rows, ["panel", *fixed, "x", "method"]), fixed, ERROR_FIGURES)
        for fixed in subsets(chosen)
    ]
    return Slices(chosen, _stacked(frames, chosen, ERROR_FIGURES))


def diagonal_slices(rows: pl.DataFrame, *, budget: int) -> Slices:
    """Mean and standard deviation of the estimates by true prevalence, in bins."""
    rows = rows.with_columns(
        x=(pl.col("p_true") * _BINS).round() / _BINS, degree=pl.col("degree").round(6) + 0.0
    )
    chosen = choosable(rows, (*COORDINATES[:4], "degree", *COORDINATES[4:]), budget)
    sums = rows.group_by(["panel", *chosen, "x", "method"]).agg(
        n=pl.len(),
        p_true=pl.col("p_true").sum(),
        p_hat=pl.col("p_hat").sum(),
        square=(pl.col("p_hat") ** 2).sum(),
    )
    frames = []
    for fixed in subsets(chosen):
        by = ["panel", *fixed, "x", "method"]
        n, total = pl.col("n").sum(), pl.col("p_hat").sum()
        variance = pl.col("square").sum() / n - (total / n) ** 2
        figures = sums.group_by(by).agg(
            n=n,
            p_true=pl.col("p_true").sum() / n,
            p_hat=total / n,
            # Rounding may leave a constant estimate with a variance just below 0.
            deviation=pl.max_horizontal(variance, 0.0).sqrt(),
        )
        frames.append(_marked(figures.sort(by), fixed, DIAGONAL_FIGURES))
    return Slices(chosen, _stacked(frames, chosen, DIAGONAL_FIGURES))


def choosable(rows: pl.DataFrame, names: Sequence[str], budget: int) -> tuple[str, ...]:
    """The coordinates whose slices, all together, have at most `budget` rows.

    Left out are those that are null somewhere, have one value or too many, or tell no more than
    the degree or an earlier coordinate does.
    """
    known = [name for name in names if name in rows.columns and not rows[name].null_count()]
    points = rows.select("panel", *known, "x", "method").unique()
    chosen: tuple[str, ...] = ()
    for name in known:
        redundant = any(_same_partition(points, name, other) for other in ("x", *chosen))
        if not 2 <= points[name].n_unique() <= MOST_VALUES or (redundant and name != "degree"):
            continue
        wanted = (*chosen, name)
        if sum(_size(points, fixed) for fixed in subsets(wanted)) <= budget:
            chosen = wanted
    return chosen


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All subsets, the empty one first.

    >>> list(subsets(["a", "b"]))
    [(), ('a',), ('b',), ('a', 'b')]
    """
    for size in range(len(names) + 1):
        yield from combinations(names, size)


def _lean(rows: pl.DataFrame) -> pl.DataFrame:
    """Only the columns of a summary, names as numbers: millions of rows group twice as fast."""
    names = ("experiment", "cell", "method")
    return rows.select(
        "panel",
        *COORDINATES,
        "error",
        "signed",
        *(pl.col(name).cast(pl.Enum(rows[name].unique().sort())) for name in names),
        x=pl.col("degree").round(6) + 0.0,
    )


def _size(points: pl.DataFrame, fixed: Sequence[str]) -> int:
    return points.select("panel", *fixed, "x", "method").n_unique()


def _same_partition(points: pl.DataFrame, one: str, other: str) -> bool:
    if one == other:
        return False
    pairs = points.select(one, other).n_unique()
    return pairs == points[one].n_unique() == points[other].n_unique()


def _marked(frame: pl.DataFrame, fixed: Sequence[str], figures: Sequence[str]) -> pl.DataFrame:
    """With `expected`, and without the figures of methods that lack samples."""
    expected = pl.col("n").max().over(["panel", *fixed, "x"])
    return frame.with_columns(expected=expected).with_columns(
        pl.when(pl.col("n") == pl.col("expected")).then(pl.col(name)).alias(name)
        for name in figures
    )


def _stacked(
    frames: Sequence[pl.DataFrame], chosen: Sequence[str], figures: Sequence[str]
) -> pl.DataFrame:
    columns = ["panel", *chosen, "x", "method", "n", "expected", *figures]
    return pl.concat(
        frame.with_columns(
            pl.lit(None, pl.Float64).alias(name) for name in chosen if name not in frame.columns
        ).select(pl.col("method").cast(pl.String) if c == "method" else c for c in columns)
        for frame in frames
    )
