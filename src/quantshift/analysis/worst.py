"""The worst estimates of a method: how many were clipped, how many had hardly any separation.

An adjusted count divides by tpr - fpr, the separation: where that is small the quotient explodes
and is clipped to 0 or 1. The paper looks at the 100 worst estimates of ACC under prior shift: 36%
needed clipping and 46% had a separation below 0.05.
"""

from dataclasses import dataclass

import polars as pl

from quantshift.analysis.deviations import ensure_errors, require
from quantshift.analysis.facets import ensure_part
from quantshift.analysis.paired import SAMPLE
from quantshift.base.forks import uses_tables
from quantshift.errors import DataError, UserError

SMALL_SEPARATION = 0.05


@dataclass(frozen=True)
class WorstEstimates:
    """The `n` worst estimates of a method; shares are None where the method keeps no such record.

    least_error: the smallest error among them.
    share_clipped: share that fell outside [0, 1] and was clipped.
    share_unseparated: share with a separation below the limit.
    share_fallback: share that is not adjusted at all, because there was no separation.
    rows: the estimates, worst first.
    """

    method: str
    n: int
    least_error: float
    share_clipped: float | None
    share_unseparated: float | None
    share_fallback: float | None
    rows: pl.DataFrame


@uses_tables
def worst_estimates(
    frame: pl.DataFrame,
    *,
    method: str = "ACC",
    part: str | None = None,
    n: int = 100,
    separation: float = SMALL_SEPARATION,
) -> WorstEstimates:
    """The `n` estimates of `method` with the largest errors (all, if there are fewer).

    part: look at this part of the experiments only.
    """
    if n < 1:
        raise UserError(f"ask for at least one estimate, got {n}")
    require(frame, ["method", "clipped", "separation", "fallback"])
    rows = ensure_part(frame).filter(pl.col("method") == method)
    rows = rows if part is None else rows.filter(pl.col("part") == part)
    if rows.is_empty():
        where = "" if part is None else f" in part {part!r}"
        raise DataError(f"there are no results of method {method!r}{where}")
    # The sample breaks ties, so that the rows do not depend on the order of the frame.
    worst = (
        ensure_errors(rows)
        .sort(["error", *SAMPLE], descending=[True] + [False] * len(SAMPLE))
        .head(n)
    )
    return WorstEstimates(
        method=method,
        n=len(worst),
        least_error=worst["error"][-1],
        share_clipped=_share(worst["clipped"]),
        share_unseparated=_share(worst["separation"] < separation),
        share_fallback=_share(worst["fallback"]),
        rows=worst,
    )


def _share(values: pl.Series) -> float | None:
    recorded = values.drop_nulls()
    return float(recorded.mean()) if len(recorded) else None  # type: ignore[arg-type]
