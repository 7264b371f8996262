"""Mean ranks of methods over blocks: Friedman's test and Nemenyi's critical difference.

In every block (a training set, a data set ...) the methods are ranked by their mean error, 1 for
the smallest; equal errors share their mean rank. Friedman's test asks whether all methods have
the same mean rank; two methods differ significantly if their mean ranks differ by at least
q_alpha * sqrt(k (k + 1) / (6 N)), for k methods and N blocks, where q_alpha is the quantile of the
studentised range with infinitely many degrees of freedom, divided by sqrt(2).

J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).

Blocks should be independent of each other: data sets are, training sets of one data set nearly so,
the samples of one training set are not. Ranks over the training sets of one data set (`mean_ranks`)
show what holds for that data set, ranks over data sets (`rank_datasets`) what holds in general.
Blocks in which a method lacks estimates that others have are left out, and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from quantshift.base.forks import uses_tables
from quantshift.errors import DataError, UserError
from quantshift.lab.analysis.deviations import ensure_errors, require
from quantshift.lab.analysis.facets import ensure_part
from quantshift.lab.analysis.methods import order_methods
from quantshift.lab.analysis.paired import CLUSTER

TIE_DECIMALS = 10


@dataclass(frozen=True)
class RankComparison:
    """Methods by mean rank, best first, and which of them differ significantly.

    methods, ranks: in the same order.
    groups: maximal runs of methods that do not differ significantly, at least two each.
    blocks, dropped: blocks ranked, and blocks left out because a method lacked estimates.
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    chi2: float
    p_value: float
    critical_difference: float
    alpha: float
    groups: tuple[tuple[str, ...], ...]
    blocks: int
    dropped: int

    def frame(self) -> pl.DataFrame:
        """The mean rank of each method."""
        return pl.DataFrame({"method": self.methods, "mean_rank": self.ranks})


@uses_tables
def mean_ranks(
    frame: pl.DataFrame, blocks: Sequence[str] = CLUSTER, *, alpha: float = 0.05
) -> RankComparison:
    """Rank the methods of `frame` in every block named by the columns `blocks`."""
    if not 0 < alpha < 1:
        raise UserError(f"alpha must be between 0 and 1, got {alpha}")
    if not blocks:
        raise UserError("name at least one column that identifies the blocks, e.g. 'cell'")
    table = block_means(frame, blocks)
    complete = ~np.isnan(table.means).any(axis=1)
    k, n = len(table.methods), int(complete.sum())
    if k < 2:
        raise DataError(f"ranks need at least two methods, got {', '.join(table.methods)}")
    if n < 2:
        lacking = table.methods[int(np.isnan(table.means).sum(axis=0).argmax())]
        raise DataError(
            f"ranks need at least two blocks with all {k} methods, got {n}; {lacking} is missing "
            "most often: leave it out or finish the run"
        )
    ranks = stats.rankdata(np.round(table.means[complete], TIE_DECIMALS), axis=1)
    chi2 = _friedman(ranks)
    average = ranks.mean(axis=0)
    order = np.argsort(average, kind="stable")
    difference = critical_difference(k, n, alpha=alpha)
    methods = tuple(table.methods[i] for i in order)
    ordered = tuple(float(average[i]) for i in order)
    return RankComparison(
        methods=methods,
        ranks=ordered,
        chi2=chi2,
        p_value=float(stats.chi2.sf(chi2, k - 1)),
        critical_difference=difference,
        alpha=alpha,
        groups=tuple(tuple(methods[a:b]) for a, b in _runs(ordered, difference)),
        blocks=n,
        dropped=len(table.means) - n,
    )


@uses_tables
def rank_datasets(frame: pl.DataFrame) -> RankComparison:
    """Rank the methods of `frame` in every data set, by their mean errors there."""
    return mean_ranks(frame, ["dataset"])


def critical_difference(n_methods: int, n_blocks: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks.

    >>> round(critical_difference(4, 14), 2)  # the example of Demsar (2006), section 3.2.3
    1.25
    """
    q = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks)))


@dataclass(frozen=True)
class BlockMeans:
    """Mean errors of shape (blocks, methods), NaN where a method lacks some estimates."""

    methods: tuple[str, ...]
    means: NDArray[np.float64]


def block_means(frame: pl.DataFrame, blocks: Sequence[str]) -> BlockMeans:
    """The mean error of every method in every block named by the columns `blocks`."""
    rows = ensure_errors(frame)
    if "part" in blocks:
        rows = ensure_part(rows)
    require(rows, [*blocks, "method"])
    if "method" in blocks:
        raise UserError("methods are ranked within a block; leave 'method' out of `blocks`")
    methods = order_methods(rows["method"].unique())
    means = (
        rows.group_by([*blocks, "method"], maintain_order=True)
        .agg(pl.col("error").mean(), _n=pl.len())
        .filter(pl.col("_n") == pl.col("_n").max().over(blocks))
    )
    # In row order, so that sums over blocks do not depend on threads.
    wide = means.group_by(blocks, maintain_order=True).agg(
        pl.col("error").filter(pl.col("method") == name).first().alias(f"_mean:{name}")
        for name in methods
    )
    columns = [f"_mean:{name}" for name in methods]
    return BlockMeans(methods, wide.select(pl.col(columns).fill_null(float("nan"))).to_numpy())


def _friedman(ranks: NDArray[np.float64]) -> float:
    """Friedman's statistic, corrected for ties; 0 if all methods tie in every block."""
    n, k = ranks.shape
    spread = ((ranks - (k + 1) / 2) ** 2).sum()
    if spread == 0:
        return 0.0
    between = ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()
    return float((k - 1) * between / spread)


def _runs(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Maximal intervals [a, b) of sorted ranks that span less than the critical difference."""
    runs: list[tuple[int, int]] = []
    for a, first in enumerate(ranks):
        b = sum(rank - first < difference for rank in ranks[a:]) + a
        if b - a > 1 and (not runs or b > runs[-1][1]):
            runs.append((a, b))
    return runs
