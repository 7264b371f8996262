"""Every method against the best of its group: paired Wilcoxon signed-rank tests.

The best is the method with the least mean error in the group. All methods see the same samples, so
errors are paired by (experiment, cell, test coordinates, repetition). The marks are the paper's:

    best    least mean error
    ddag    p >= .05: no significant difference from the best
    dag     .001 < p < .05
    (none)  p <= .001

Conventions. The test is two-sided and without correction for continuity. Pairs with equal errors
are dropped (Wilcoxon's own rule); differences below `TIE` count as equal, because methods that
agree in exact arithmetic differ in the last bits of a float and a rank test would take that dust
for a consistent difference. Ties among the others share their mean rank and the variance
is corrected for them. The p-value is exact for at most `EXACT` untied pairs, else from the normal
approximation. If all pairs are equal, p = 1.

As in the paper the pairs are taken as independent. Those of one training set are not, and
the best was chosen with the same data: the marks say which differences are small, not more.

A method that lacks some samples of the group has a mean over other samples than the rest: it is
compared on the pairs it has, and can be the best only if no method is complete.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from quantshift.analysis.errors import ensure_errors, require
from quantshift.analysis.methods import order_methods
from quantshift.analysis.parts import ensure_part
from quantshift.errors import DataError, UserError, unknown_name

SAMPLE = ("experiment", "cell", "p_test", "alpha_test", "cut_test", "control", "repeat")
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
    keys = [*by, *(name for name in SAMPLE if name not in by)]
    methods = order_methods(rows["method"].unique())
    # Text is slow to group by; and methods become numbers, for a name may be that of a column.
    text = [name for name in keys if rows.schema[name] == pl.String]
    number = pl.col("method").cast(pl.Enum(methods)).to_physical().cast(pl.String)
    slim = rows.select(*keys, "error", _method=number).with_columns(
        pl.col(text).cast(pl.Categorical)
    )
    try:
        table = slim.pivot(on="_method", index=keys, values="error")
    except pl.exceptions.ComputeError as error:
        raise _doubled(slim, keys) from error
    table = table.with_columns(pl.col(text).cast(pl.String)).sort(keys)
    columns = [str(position) for position in range(len(methods))]
    errors = table.select(pl.col(columns).fill_null(float("nan"))).to_numpy()
    return PairedErrors(table.select(by), methods, errors)


def _doubled(rows: pl.DataFrame, keys: Sequence[str]) -> DataError:
    first = rows.filter(rows.select(*keys, "_method").is_duplicated()).row(0, named=True)
    return DataError(
        f"a sample of cell {first['cell']!r} of {first['experiment']!r} has several estimates of "
        "one method; remove the duplicates"
    )


def wilcoxon(difference: Errors) -> float:
    """Two-sided p-value of the signed-rank test of paired differences."""
    nonzero = difference[np.abs(difference) > TIE]
    if not nonzero.size:
        return 1.0
    # Ranks of magnitudes that agree up to rounding are tied.
    nonzero = np.round(nonzero, 10)
    magnitude, ties = np.unique(np.abs(nonzero), return_counts=True)
    if magnitude.size == nonzero.size <= EXACT:
        return float(stats.wilcoxon(nonzero, method="exact").pvalue)
    n = nonzero.size
    positive = stats.rankdata(np.abs(nonzero))[nonzero > 0].sum()
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties.astype(float) ** 3 - ties).sum() / 48
    return float(2 * stats.norm.sf(abs(positive - n * (n + 1) / 4) / np.sqrt(variance)))


def holm(p_values: Errors) -> Errors:
    """Holm's step-down adjustment of p-values.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def _compare(
    errors: Errors, methods: Sequence[str], correction: Correction | None
) -> list[dict[str, Any]]:
    """The rows of one group."""
    there = ~np.isnan(errors)
    n = there.sum(axis=0)
    present = np.flatnonzero(n)
    means = np.array([errors[there[:, column], column].mean() for column in present])
    best = present[_best(means, complete=n[present] == len(errors))]
    others = present[present != best]
    p_values = np.array([_p_value(errors[:, column] - errors[:, best]) for column in others])
    if correction == "holm":
        told = ~np.isnan(p_values)
        p_values[told] = holm(p_values[told])
    p_of = dict(zip(others.tolist(), p_values.tolist(), strict=True))
    return [
        {
            "method": methods[column],
            "n": int(n[column]),
            "samples": len(errors),
            "mean": float(mean),
            "p_value": _known(p_of.get(column)),
            "mark": "best" if column == best else _mark(p_of[column]),
        }
        for column, mean in zip(present.tolist(), means, strict=True)
    ]


def _best(means: Errors, complete: NDArray[np.bool_]) -> int:
    candidates = np.flatnonzero(complete) if complete.any() else np.arange(len(means))
    # Equal up to rounding: the first in the order of methods, whatever the last bits say.
    return int(candidates[np.argmin(np.round(means[candidates], 10))])


def _p_value(difference: Errors) -> float:
    """The p-value of the pairs both methods have; NaN if there is none."""
    paired = difference[~np.isnan(difference)]
    return wilcoxon(paired) if paired.size else float("nan")


def _known(p_value: float | None) -> float | None:
    return None if p_value is None or np.isnan(p_value) else p_value


def _mark(p_value: float) -> str:
    if p_value >= NOT_SIGNIFICANT:
        return "ddag"
    return "dag" if p_value > SIGNIFICANT else ""
