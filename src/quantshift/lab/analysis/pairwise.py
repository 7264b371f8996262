"""All pairs of methods over independent blocks: wins, tests with Holm's correction, effect sizes.

Nemenyi's critical difference (`ranks.py`) grows with the number of methods compared and depends on
which others take part. A test of each pair depends on the two methods alone; Holm's correction
keeps the chance of any false claim among all pairs at the level of the test.

The blocks are data sets, whose errors are independent of each other. The test of a pair is
Wilcoxon's signed-rank test of the differences of its mean errors, by the conventions of
`paired.py`. With n blocks the smallest possible p-value is 2 / 2^n, so that fewer than six blocks
can never show a difference at the 5% level.

A. Benavoli, G. Corani, F. Mangili, "Should we really use post-hoc tests based on mean-ranks?", JMLR
17 (2016); S. Garcia, F. Herrera, JMLR 9 (2008).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.base.forks import uses_tables
from quantshift.errors import unknown_name
from quantshift.lab.analysis.paired import TIE, signed_ranks
from quantshift.lab.analysis.ranks import block_means
from quantshift.statistics.multiple_tests import holm

FEWEST_BLOCKS = 6
"""With fewer blocks, no p-value can be below 5%."""

SCHEMA = pl.Schema(
    {
        "method": pl.String(),
        "other": pl.String(),
        "blocks": pl.Int64(),
        "wins": pl.Int64(),
        "ties": pl.Int64(),
        "losses": pl.Int64(),
        "difference": pl.Float64(),
        "effect": pl.Float64(),
        "p_value": pl.Float64(),
        "p_holm": pl.Float64(),
    }
)
"""The columns of a comparison of all pairs.

wins, losses  blocks in which `method` has the smaller, or the larger, mean error
difference    mean error of `method` minus that of `other`, averaged over blocks
effect        matched-pairs rank-biserial correlation; 1: `method` is better in every block
p_value       two-sided; null if the two have no block in common
p_holm        adjusted for the number of pairs
"""


@uses_tables
def compare_all_pairs(frame: pl.DataFrame, blocks: Sequence[str] = ("dataset",)) -> pl.DataFrame:
    """A row with the columns of `SCHEMA` for every pair of the methods in `frame`.

    blocks: columns that identify the blocks. A pair is compared in the blocks in which neither of
    the two lacks estimates that other methods have.
    """
    table = block_means(frame, blocks)
    return compare_columns(table.means, table.methods, range(len(table.means)))


def compare_columns(
    errors: NDArray[np.float64], methods: Sequence[str], blocks: Sequence[object]
) -> pl.DataFrame:
    """The same for mean errors of shape (columns, methods), NaN where there is none.

    blocks: the block of each column; the columns that both methods of a pair have are averaged.
    """
    _, block = np.unique([str(name) for name in blocks], return_inverse=True)
    rows = [
        {"method": methods[i], "other": methods[j], **_pair(errors[:, i] - errors[:, j], block)}
        for i, j in combinations(range(len(methods)), 2)
    ]
    return _with_holm(pl.DataFrame(rows, schema={n: k for n, k in SCHEMA.items() if n != "p_holm"}))


def against(pairs: pl.DataFrame, reference: str) -> pl.DataFrame:
    """The pairs of one method, named first in each, with Holm's correction for these alone."""
    names = pl.concat([pairs["method"], pairs["other"]]).unique().sort().to_list()
    if reference not in names:
        raise unknown_name("method", reference, names)
    first = pairs.filter(pl.col("method") == reference)
    second = pairs.filter(pl.col("other") == reference).select(
        method="other",
        other="method",
        blocks="blocks",
        wins="losses",
        ties="ties",
        losses="wins",
        difference=-pl.col("difference"),
        effect=-pl.col("effect"),
        p_value="p_value",
    )
    return _with_holm(pl.concat([first.drop("p_holm"), second]).sort("other"))


def _pair(difference: NDArray[np.float64], block: NDArray[np.intp]) -> dict[str, Any]:
    """The comparison of two methods, from the differences of their errors in every column."""
    both = ~np.isnan(difference)
    sizes = np.bincount(block[both])
    present = np.flatnonzero(sizes)
    if not present.size:
        return {"blocks": 0, "wins": 0, "ties": 0, "losses": 0}
    means = np.bincount(block[both], weights=difference[both])[present] / sizes[present]
    test = signed_ranks(means)
    return {
        "blocks": len(means),
        "wins": int((means < -TIE).sum()),
        "ties": int((np.abs(means) <= TIE).sum()),
        "losses": int((means > TIE).sum()),
        "difference": float(means.mean()),
        "effect": -test.effect + 0.0,
        "p_value": test.p_value,
    }


def _with_holm(pairs: pl.DataFrame) -> pl.DataFrame:
    p_values = pairs["p_value"].drop_nulls()
    adjusted: Iterator[float] = iter(holm(p_values.to_numpy()))
    column = [None if p is None else next(adjusted) for p in pairs["p_value"]]
    return pairs.with_columns(p_holm=pl.Series(column, dtype=pl.Float64)).select(SCHEMA.names())
