"""How far mean ranks can be trusted: intervals, and ranks without one of the data sets.

Methods are ranked by their mean error in every data set, and ranks are averaged over data sets. Two
things could change that average: other training sets and samples of the same data sets (the
intervals, by resampling training sets, or the samples where there is one training set), and other
data sets (the lowest and highest mean rank when one of them is left out). Data sets with few
samples are not ranked at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from quantshift.base.forks import uses_tables
from quantshift.base.seeding import generator
from quantshift.errors import DataError, check_level
from quantshift.lab.analysis.deviations import ensure_errors, require
from quantshift.lab.analysis.methods import order_methods
from quantshift.lab.analysis.ranks import TIE_DECIMALS

FEWEST_SAMPLES = 10
"""The fewest samples of a data set that is ranked."""

DRAWS = 1000
"""Number of resamples behind an interval."""


@dataclass(frozen=True)
class RankStability:
    """Methods by mean rank over data sets, best first; all tuples of numbers are in their order.

    low, high           interval of the mean rank, over training sets and samples
    lowest, highest     mean rank when one data set is left out; equal to `ranks` if there is one
    datasets            those that are ranked
    few                 those with too few samples, and how many they have
    unranked            methods that lack estimates that others have
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    datasets: tuple[str, ...]
    few: Mapping[str, int]
    unranked: tuple[str, ...]

    def frame(self) -> pl.DataFrame:
        """One row per method."""
        names = ("ranks", "low", "high", "lowest", "highest")
        columns = {name: getattr(self, name) for name in names}
        return pl.DataFrame({"method": self.methods, **columns}).rename({"ranks": "mean_rank"})


@uses_tables
def rank_stability(
    frame: pl.DataFrame, *, fewest: int = FEWEST_SAMPLES, level: float = 0.95, seed: int = 0
) -> RankStability:
    """Mean ranks over the data sets of `frame` that have at least `fewest` samples.

    level: that of the intervals. seed: that of the resamples.
    """
    check_level(level)
    rows = ensure_errors(frame)
    require(rows, ["dataset", "method", "cell", "sample"])
    counts = dict(
        rows.group_by("dataset", "method").len().group_by("dataset").agg(pl.col("len").max())
        .sort("dataset").iter_rows()
    )  # fmt: skip
    few = {name: n for name, n in counts.items() if n < fewest}
    datasets = tuple(name for name in counts if name not in few)
    if not datasets:
        raise DataError(
            f"ranks need {fewest} samples of a data set or more; "
            + ", ".join(f"{name} has {n}" for name, n in few.items())
        )
    methods = _complete(rows, {name: counts[name] for name in datasets})
    if len(methods) < 2:
        raise DataError("ranks need two methods that have estimates of all samples")
    unranked = set(rows["method"]) - set(methods)
    tables = [_units(rows.filter(pl.col("dataset") == name), methods) for name in datasets]
    ranks = np.array([_ranked(sums.sum(0) / n.sum()) for sums, n in tables])
    mean = ranks.mean(axis=0)
    drawn = _resampled(tables, seed)
    left_out = (ranks.sum(axis=0) - ranks) / (len(ranks) - 1) if len(ranks) > 1 else ranks
    tails = [(1 - level) / 2, (1 + level) / 2]
    order = np.argsort(mean, kind="stable")
    low, high = np.quantile(drawn, tails, axis=0)
    return RankStability(
        methods=tuple(methods[i] for i in order),
        ranks=tuple(mean[order].tolist()),
        low=tuple(low[order].tolist()),
        high=tuple(high[order].tolist()),
        lowest=tuple(left_out.min(axis=0)[order].tolist()),
        highest=tuple(left_out.max(axis=0)[order].tolist()),
        datasets=datasets,
        few=few,
        unranked=tuple(order_methods(unranked)),
    )


def _complete(rows: pl.DataFrame, counts: Mapping[str, int]) -> list[str]:
    """Methods with an estimate of every sample of every data set."""
    numbers = rows.group_by("dataset", "method").len()
    whole = numbers.filter(
        pl.col("len") == pl.col("dataset").replace_strict(dict(counts), default=-1)
    )
    by_method = whole.group_by("method").len().filter(pl.col("len") == len(counts))
    return list(order_methods(by_method["method"]))


def _units(
    rows: pl.DataFrame, methods: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of errors and numbers of samples of the units that are resampled, (n_units, ...)."""
    unit = ["cell"] if rows["cell"].n_unique() > 1 else ["cell", "sample"]
    sums = rows.group_by(unit, maintain_order=True).agg(
        *(pl.col("error").filter(pl.col("method") == name).sum().alias(name) for name in methods),
        (pl.col("method") == methods[0]).sum().alias("_n"),
    )
    return sums.select(methods).to_numpy(), sums["_n"].cast(pl.Float64).to_numpy()


def _resampled(
    tables: list[tuple[NDArray[np.float64], NDArray[np.float64]]], seed: int
) -> NDArray[np.float64]:
    """Mean ranks of resamples, (DRAWS, n_methods)."""
    total = np.zeros((DRAWS, tables[0][0].shape[1]))
    for number, (sums, n) in enumerate(tables):
        rng = generator(seed, purpose="rank stability", dataset=number)
        weights = rng.multinomial(len(n), np.full(len(n), 1 / len(n)), size=DRAWS)
        total += _ranked((weights @ sums) / (weights @ n)[:, None])
    return np.asarray(total / len(tables))


def _ranked(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(stats.rankdata(np.round(means, TIE_DECIMALS), axis=-1))
