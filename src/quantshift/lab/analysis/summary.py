"""Errors per group: mean with bootstrap limits, the five numbers of a box plot, bias.

The errors of one training set (a cell) are not independent: all its samples are judged by the same
classifier. So the limits come from resampling training sets, not rows (a cluster bootstrap). The
grid of training coordinates is fixed by the experiment and only the draw at each of its points is
random; therefore training sets are resampled within each point (strata), with the rescaling of
Rao & Wu, "Resampling inference with complex survey data", JASA 83 (1988): n - 1 of the n training
sets of a stratum are drawn with replacement and weighted n / (n - 1), so that few repetitions do
not make the limits too narrow. Where some point of the grid has a single training set, all
training sets of the group are resampled together, which errs on the wide side. A group that rests
on one training set has no limits (null).

Few repetitions make rough limits: with two training sets per point they show the order of magnitude
only, with the paper's ten they are usable. Test samples come from one pool, whose own sampling
error is not part of the limits.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.base.forks import uses_tables
from quantshift.base.seeding import generator
from quantshift.errors import UserError
from quantshift.lab.analysis.deviations import ensure_errors, require
from quantshift.lab.analysis.facets import ensure_part
from quantshift.lab.analysis.lean import spelt

STRATUM = ("experiment", "dataset", "stratum")
"""What the design of an experiment fixes (a point of its training grid, on a data set), within
which training sets are drawn."""

WHISKER = 1.5
"""Tukey's reach of the whiskers, in interquartile ranges."""

CONFIDENCE = 0.95
"""The level of the limits of means."""

Array = NDArray[np.float64]


@uses_tables
def summarise(
    frame: pl.DataFrame,
    by: Sequence[str],
    *,
    confidence: float = CONFIDENCE,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> pl.DataFrame:
    """One row per group of `by`, sorted by it.

    Columns: n (estimates), training_sets, mean, low, high (limits of the mean), median, q1, q3,
    whisker_low, whisker_high (the outermost errors within 1.5 interquartile ranges of the box),
    bias (mean of p_hat - p_true; null with more than two classes). Absolute errors unless
    `with_errors` chose another measure.
    """
    if not by:
        raise UserError("name at least one column to summarise by, e.g. ['part', 'method']")
    if not 0 < confidence < 1:
        raise UserError(f"confidence must be between 0 and 1, got {confidence}")
    if n_bootstrap < 1:
        raise UserError(f"the bootstrap needs at least one resample, got {n_bootstrap}")
    rows = ensure_errors(frame)
    if "part" in by:
        rows = ensure_part(rows)
    require(rows, [*by, *STRATUM, "cell"])
    limits = _limits(_totals(rows, by), by, (1 - confidence) / 2, n_bootstrap, seed)
    summary = (
        _boxes(rows, by)
        .join(limits, on=list(by), how="left", nulls_equal=True)
        .sort(by)
        .select(
            *by,
            *("n", "training_sets", "mean", "low", "high"),
            *("median", "q1", "q3", "whisker_low", "whisker_high", "bias"),
        )
    )
    return spelt(summary)


def box_numbers(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """What boxes of the column `error` show, per group of `by` that has a degree, sorted by it."""
    return spelt(_boxes(rows, by).filter(pl.col("degree").is_not_null()).sort(by))


def _boxes(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    error = pl.col("error")
    q1 = error.quantile(0.25, interpolation="linear")
    q3 = error.quantile(0.75, interpolation="linear")
    reach = WHISKER * (q3 - q1)
    boxes = rows.group_by(by).agg(
        n=pl.len(),
        mean=error.mean(),
        median=error.median(),
        q1=q1,
        q3=q3,
        whisker_low=error.filter(error >= q1 - reach).min(),
        whisker_high=error.filter(error <= q3 + reach).max(),
        bias=pl.col("signed").mean(),
        lowest=error.min(),
        highest=error.max(),
    )
    # Interpolated quartiles of few values may lie beyond every error within reach.
    return boxes.with_columns(
        whisker_low=pl.min_horizontal("whisker_low", "q1"),
        whisker_high=pl.max_horizontal("whisker_high", "q3"),
    )


def _totals(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Sum and number of errors per group and training set, in lists ordered by stratum.

    Strata are ordered by their first cells, so that their numbering does not affect the limits.
    """
    within = [name for name in (*STRATUM, "cell") if name not in by]
    clusters = rows.group_by([*by, *within]).agg(total=pl.col("error").sum(), n=pl.len())
    strata = [name for name in STRATUM if name not in by]
    first = pl.col("cell").cast(pl.String).min().over([*by, *strata]).alias("_first")
    return (
        clusters.with_columns(first, _size=pl.len().over([*by, *strata]))
        .sort([*by, "_first", *within], nulls_last=True)
        .group_by(by, maintain_order=True)
        .agg("total", "n", "_size")
    )


def _limits(
    groups: pl.DataFrame, by: Sequence[str], tail: float, n_bootstrap: int, seed: int
) -> pl.DataFrame:
    """Number of training sets and limits of the mean, per group.

    Groups with strata of the same sizes share their resamples: one product serves them all.
    """
    limits = np.full((len(groups), 2), np.nan)
    patterns: dict[tuple[int, ...], list[int]] = {}
    for row, sizes in enumerate(groups["_size"].to_list()):
        patterns.setdefault(_stratum_sizes(sizes), []).append(row)
    for pattern, members in patterns.items():
        if min(pattern) < 2:
            continue
        weights = _resamples(pattern, n_bootstrap, seed)
        totals = np.array(groups["total"].gather(members).to_list()).T
        counts = np.array(groups["n"].gather(members).to_list(), dtype=np.float64).T
        means = (weights @ totals) / (weights @ counts)
        limits[members] = np.quantile(means, [tail, 1 - tail], axis=0).T
    return groups.select(
        *by,
        training_sets=pl.col("n").list.len(),
        low=pl.Series(limits[:, 0]).fill_nan(None),
        high=pl.Series(limits[:, 1]).fill_nan(None),
    )


def _stratum_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes of the strata from the size of each member's stratum; one stratum if any has one."""
    if min(sizes) == 1:
        return (len(sizes),)
    strata, position = [], 0
    while position < len(sizes):
        strata.append(sizes[position])
        position += sizes[position]
    return tuple(strata)


def _resamples(pattern: tuple[int, ...], n_bootstrap: int, seed: int) -> Array:
    """Weights of the training sets in every resample, shape (n_bootstrap, training sets)."""
    rng = generator(seed, bootstrap=",".join(map(str, pattern)))
    return np.concatenate(
        [
            rng.multinomial(size - 1, np.full(size, 1 / size), size=n_bootstrap)
            * (size / (size - 1))
            for size in pattern
        ],
        axis=1,
    )
