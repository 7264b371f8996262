"""Every method against the best of its group: paired Wilcoxon signed-rank tests.

The best is the method with the least mean error in the group. All methods see the same samples, so
errors are paired by (experiment, dataset, cell, sample). The marks are the paper's:

    best    least mean error
    ddag    p >= .05: no significant difference from the best
    dag     .001 < p < .05
    (none)  p <= .001

Conventions. The test is two-sided and without correction for continuity. Pairs with equal errors
are dropped (Wilcoxon's own rule); differences below `TIE` count as equal, because methods that
agree in exact arithmetic differ in the last bits of a float and a rank test would mistake this
rounding for a consistent difference. Ties among the others share their mean rank and the variance
is corrected for them. The p-value is exact for at most `EXACT` untied pairs, otherwise from the
normal approximation. If all pairs are equal, p = 1.

As in the paper, the pairs are treated as independent. Those of one training set are not, and the
best method was chosen with the same data: the marks show which differences are small, no more.

The mean of a method that lacks some samples of the group is not comparable with the other means:
the method is compared on the pairs it has, and can be the best only if no method is complete.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from quantshift.base.forks import uses_tables
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.lab.analysis.deviations import ensure_errors, require
from quantshift.lab.analysis.facets import ensure_part
from quantshift.lab.analysis.lean import spelt
from quantshift.lab.analysis.methods import order_methods
from quantshift.statistics.multiple_tests import holm

CLUSTER = ("experiment", "dataset", "cell")
"""What identifies a training set, with which all its test samples are judged."""

SAMPLE = (*CLUSTER, "sample")
"""What identifies a test sample."""

TIE = 1e-10
"""Errors that differ by less are equal."""

EXACT = 50
"""Most pairs for which the p-value is exact."""

NOT_SIGNIFICANT, SIGNIFICANT = 0.05, 0.001
"""The limits of the marks."""

Errors = NDArray[np.float64]

Correction = Literal["holm"]


@dataclass(frozen=True)
class PairedErrors:
    """Errors of all methods on the same samples, sorted by the keys of their groups.

    keys: the group of each sample, one row per sample.
    errors: shape (samples, methods), NaN where a method has no estimate.
    """

    keys: pl.DataFrame
    methods: tuple[str, ...]
    errors: Errors

    def pooled(self) -> Self:
        """The same errors in one group."""
        return type(self)(pl.DataFrame(), self.methods, self.errors)

    def groups(self) -> Iterator[tuple[dict[str, Any], Errors]]:
        """The key and the errors of each group."""
        if not self.keys.columns:
            yield {}, self.errors
            return
        sizes = self.keys.group_by(self.keys.columns, maintain_order=True).len(name="_size")
        start = 0
        for key, size in zip(
            sizes.drop("_size").iter_rows(named=True), sizes["_size"].to_list(), strict=True
        ):
            yield key, self.errors[start : start + size]
            start += size


@uses_tables
def compare_with_best(
    frame: pl.DataFrame, by: Sequence[str], *, correction: Correction | None = None
) -> pl.DataFrame:
    """One row per group of `by` and method.

    Columns: by, method, n (samples the method has), samples (samples of the group), mean, p_value
    (null for the best, and for a method that shares no sample with it), mark.

    correction: "holm" adjusts the p-values of each group for its number of comparisons
        (Holm, Scandinavian Journal of Statistics 6, 1979).
    """
    return compare_pairs(paired_errors(frame, by), correction=correction)


def compare_pairs(pairs: PairedErrors, *, correction: Correction | None = None) -> pl.DataFrame:
    """The frame of `compare_with_best` for errors already paired."""
    if correction not in (None, "holm"):
        raise unknown_name("correction", str(correction), ["holm"])
    rows = [
        {**key, **row}
        for key, errors in pairs.groups()
        for row in _compare(errors, pairs.methods, correction)
    ]
    schema = dict(pairs.keys.schema) | {
        "method": pl.String(),
        "n": pl.Int64(),
        "samples": pl.Int64(),
        "mean": pl.Float64(),
        "p_value": pl.Float64(),
        "mark": pl.String(),
    }
    return pl.DataFrame(rows, schema=schema)


def paired_errors(frame: pl.DataFrame, by: Sequence[str]) -> PairedErrors:
    """The errors of `frame` with a row per test sample and a column per method."""
    if "method" in by:
        raise UserError("methods are compared within a group; leave 'method' out of `by`")
    rows = ensure_errors(frame)
    if "part" in by:
        rows = ensure_part(rows)
    require(rows, [*by, *SAMPLE, "method"])
    methods = order_methods(rows["method"].unique())
    sample, n_samples = _numbered_samples(rows)
    column = rows["method"].cast(pl.Enum(methods)).to_physical().to_numpy()
    flat_index = sample * len(methods) + column
    errors = np.full((n_samples, len(methods)), np.nan)
    errors.reshape(-1)[flat_index] = rows["error"].to_numpy()
    if np.bincount(flat_index).max() > 1:
        raise _duplicate_error(rows)
    # Any row of a sample has its keys; a stable sort keeps the samples of a group in their order.
    some_row = np.zeros(n_samples, dtype=np.intp)
    some_row[sample] = np.arange(len(rows))
    keys = spelt(rows.select(by)[some_row]) if by else pl.DataFrame()
    if by:
        order = keys.with_row_index("_row").sort(by, maintain_order=True)["_row"].to_numpy()
        keys, errors = keys[order], errors[order]
    return PairedErrors(keys, methods, errors)


def _numbered_samples(rows: pl.DataFrame) -> tuple[NDArray[np.intp], int]:
    """The number of each row's sample in the order of `SAMPLE`, and how many samples there are."""
    first = pl.col("sample").min().alias("_first")
    count = (pl.col("sample").max() - pl.col("sample").min() + 1).cast(pl.Int64).alias("_count")
    cells = rows.group_by(CLUSTER).agg(first, count).sort(CLUSTER)
    offset = pl.col("_count").cum_sum() - pl.col("_count") - pl.col("_first")
    numbered = (
        rows.select(SAMPLE)
        .join(
            cells.select(*CLUSTER, _offset=offset),
            on=list(CLUSTER),
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        .select(pl.col("_offset") + pl.col("sample"))
        .to_series()
        .to_numpy()
    )
    has_results = np.zeros(int(cells["_count"].sum()), dtype=bool)
    has_results[numbered] = True
    if has_results.all():
        return numbered, len(has_results)
    # Samples without results of any method are skipped in the numbering.
    return (np.cumsum(has_results) - 1)[numbered], int(has_results.sum())


def _duplicate_error(rows: pl.DataFrame) -> DataError:
    duplicate = rows.filter(rows.select(*SAMPLE, "method").is_duplicated()).row(0, named=True)
    return DataError(
        f"a sample of cell {duplicate['cell']!r} of {duplicate['experiment']!r} has several "
        "estimates of one method; remove the duplicates"
    )


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's signed-rank test of paired differences.

    n: pairs that are not equal. positive: sum of the ranks of the positive differences.
    p_value: two-sided.
    """

    n: int
    positive: float
    p_value: float

    @property
    def effect(self) -> float:
        """The matched-pairs rank-biserial correlation, from -1 to 1; positive: mostly positive.

        (D. S. Kerby, Comprehensive Psychology 3, 2014): the ranks of the positive differences minus
        those of the negative ones, as a share of all.
        """
        return 4 * self.positive / (self.n * (self.n + 1)) - 1 if self.n else 0.0


def wilcoxon(difference: Errors) -> float:
    """Two-sided p-value of the signed-rank test of paired differences."""
    return signed_ranks(difference).p_value


def signed_ranks(difference: Errors) -> SignedRanks:
    """The signed-rank test of paired differences, by the conventions of this module."""
    nonzero = difference[np.abs(difference) > TIE]
    if not nonzero.size:
        return SignedRanks(0, 0.0, 1.0)
    # Ranks of magnitudes that agree up to rounding are tied.
    nonzero = np.round(nonzero, 10)
    order = np.argsort(np.abs(nonzero))
    magnitude, positive = np.abs(nonzero)[order], (nonzero > 0)[order]
    # Starts of the runs of equal magnitudes; the members of a run share its mean rank.
    starts = np.flatnonzero(np.concatenate([[True], magnitude[1:] != magnitude[:-1]]))
    ties = np.diff(np.append(starts, nonzero.size))
    n = nonzero.size
    mean_rank = starts + (ties + 1) / 2
    rank_sum = float((np.add.reduceat(positive, starts, dtype=np.float64) * mean_rank).sum())
    if ties.size == n <= EXACT:
        return SignedRanks(n, rank_sum, _exact_p_value(n, int(rank_sum)))
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties.astype(float) ** 3 - ties).sum() / 48
    p_value = 2 * stats.norm.sf(abs(rank_sum - n * (n + 1) / 4) / np.sqrt(variance))
    return SignedRanks(n, rank_sum, float(p_value))


def _exact_p_value(n: int, rank_sum: int) -> float:
    smaller = min(rank_sum, n * (n + 1) // 2 - rank_sum)
    return min(1.0, 2 * float(_rank_sum_chances(n)[: smaller + 1].sum()))


@lru_cache(maxsize=EXACT)
def _rank_sum_chances(n: int) -> Errors:
    """The chance of every sum of the positive ranks of n pairs, if signs are fair coins.

    They are multiples of 2^-n, so that their sums are exact.
    """
    chances = np.ones(1)
    for rank in range(1, n + 1):
        chances = np.concatenate([chances, np.zeros(rank)]) / 2
        chances[rank:] += chances[: len(chances) - rank].copy()
    return chances


def _compare(
    errors: Errors, methods: Sequence[str], correction: Correction | None
) -> list[dict[str, Any]]:
    """The rows of one group."""
    has_error = ~np.isnan(errors)
    n = has_error.sum(axis=0)
    present = np.flatnonzero(n)
    means = np.array([errors[has_error[:, column], column].mean() for column in present])
    best = present[_best(means, complete=n[present] == len(errors))]
    others = present[present != best]
    p_values = np.array([_p_value(errors[:, column] - errors[:, best]) for column in others])
    if correction == "holm":
        has_p_value = ~np.isnan(p_values)
        p_values[has_p_value] = holm(p_values[has_p_value])
    p_of = dict(zip(others.tolist(), p_values.tolist(), strict=True))
    return [
        {
            "method": methods[column],
            "n": int(n[column]),
            "samples": len(errors),
            "mean": float(mean),
            "p_value": _none_if_nan(p_of.get(column)),
            "mark": "best" if column == best else mark_of(p_of[column]),
        }
        for column, mean in zip(present.tolist(), means, strict=True)
    ]


def _best(means: Errors, complete: NDArray[np.bool_]) -> int:
    candidates = np.flatnonzero(complete) if complete.any() else np.arange(len(means))
    # If means are equal up to rounding, the first in the order of the methods wins.
    return int(candidates[np.argmin(np.round(means[candidates], 10))])


def _p_value(difference: Errors) -> float:
    """The p-value of the pairs both methods have; NaN if there is none."""
    paired = difference[~np.isnan(difference)]
    return wilcoxon(paired) if paired.size else float("nan")


def _none_if_nan(p_value: float | None) -> float | None:
    return None if p_value is None or np.isnan(p_value) else p_value


def mark_of(p_value: float) -> Literal["ddag", "dag", ""]:
    """The mark of a method that is not the best."""
    if p_value >= NOT_SIGNIFICANT:
        return "ddag"
    return "dag" if p_value > SIGNIFICANT else ""
