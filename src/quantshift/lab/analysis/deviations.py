"""How far every estimate is off: its error by any measure of `quantshift.metrics`, and its sign.

Every row of the results holds one prevalence per class. Rows of the same data set have the same
number of classes, so a frame splits into a few rectangular arrays, each measured in one call.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.base.forks import uses_tables
from quantshift.base.types import Prevalences
from quantshift.errors import DataError, unknown_name
from quantshift.lab.analysis.lean import spelt
from quantshift.metrics import measure_called

PREVALENCES = ("p_true", "p_hat")


@uses_tables
def with_errors(
    frame: pl.DataFrame, *, measure: str = "ae", smoothing: float | None = None
) -> pl.DataFrame:
    """The rows with `error` (the measure) and `signed` (p_hat - p_true, positive: too high).

    `signed` is that of the last class, the positive one of two. With more classes no single number
    gives the direction, so it is null: see `bias_by_class`.

    smoothing: for the measures that need it; default 1 / (2 * size of the sample).
    """
    chosen = measure_called(measure)
    require(frame, [*PREVALENCES, "size"])
    smooth = 1 / (2 * frame["size"].to_numpy()) if smoothing is None else smoothing
    smooth = np.broadcast_to(smooth, len(frame))
    error, signed = np.empty(len(frame)), np.full(len(frame), np.nan)
    for rows, p_true, p_hat in _rectangles(frame):
        error[rows] = chosen(p_true, p_hat, smoothing=smooth[rows])
        if p_true.shape[1] == 2:
            signed[rows] = p_hat[:, 1] - p_true[:, 1]
    return frame.with_columns(
        error=pl.Series(error, dtype=pl.Float64),
        signed=pl.Series(signed, dtype=pl.Float64).fill_nan(None),
    )


def ensure_errors(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with absolute errors, unless `with_errors` has already been applied."""
    return frame if {"error", "signed"} <= set(frame.columns) else with_errors(frame)


@uses_tables
def bias_by_class(frame: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Mean of p_hat - p_true per group and class; columns: by, class (its number), bias.

    Sorted by `by` and class; data sets with fewer classes have no rows for the others.
    """
    require(frame, [*by, *PREVALENCES])
    n_classes = int(frame["p_true"].list.len().max())  # type: ignore[arg-type]
    deviation = [
        pl.col("p_hat").list.get(k, null_on_oob=True)
        - pl.col("p_true").list.get(k, null_on_oob=True)
        for k in range(n_classes)
    ]
    wide = frame.group_by(by).agg(d.mean().alias(f"_{k}") for k, d in enumerate(deviation))
    biases = (
        wide.unpivot(index=list(by), variable_name="class", value_name="bias")
        .drop_nulls("bias")
        .with_columns(pl.col("class").str.slice(1).cast(pl.Int32))
        .sort([*by, "class"])
    )
    return spelt(biases)


def require(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Refuse an empty frame, a frame without these columns, and prevalences that are not lists."""
    for name in columns:
        if name not in frame.columns:
            raise unknown_name("result column", name, frame.columns)
        if name in PREVALENCES and not isinstance(frame.schema[name], pl.List):
            raise DataError(f"{name} must hold a list in every row, one prevalence per class")
    if frame.is_empty():
        raise DataError("there are no results to analyse; run an experiment first")


def _rectangles(
    frame: pl.DataFrame,
) -> Iterator[tuple[slice | NDArray[np.bool_], Prevalences, Prevalences]]:
    """Rows with the same number of classes, their true and their estimated prevalences."""
    sizes = frame["p_true"].list.len()
    if not sizes.eq_missing(frame["p_hat"].list.len()).all() or (sizes.fill_null(0) == 0).any():
        raise DataError("p_true and p_hat must have a number for every class in every row")
    classes = sizes.unique().sort().to_list()
    for n_classes in classes:
        rows = slice(None) if len(classes) == 1 else (sizes == n_classes).to_numpy()
        subset = frame if len(classes) == 1 else frame.filter(sizes == n_classes)
        p_true, p_hat = (_matrix(subset[name], n_classes) for name in PREVALENCES)
        yield rows, p_true, p_hat


def _matrix(lists: pl.Series, n_classes: int) -> Prevalences:
    flat = lists.explode().cast(pl.Float64).to_numpy()
    if not np.isfinite(flat).all():
        raise DataError(f"{lists.name} must be finite numbers in every row of the results")
    return flat.reshape(-1, n_classes)
