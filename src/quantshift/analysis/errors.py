"""The error of every estimate, by any measure of `quantshift.metrics`, and its sign."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from quantshift import metrics, prevalence
from quantshift.errors import DataError, unknown_name

MEASURES = (*metrics.PLAIN, *metrics.SMOOTHED)


def with_errors(
    frame: pl.DataFrame, *, measure: str = "ae", smoothing: float | None = None
) -> pl.DataFrame:
    """The rows with `error` (the measure) and `signed` (p_hat - p_true, positive: too high).

    smoothing: for the measures that need it; default 1 / (2 * size of the sample).
    """
    if measure not in MEASURES:
        raise unknown_name("error measure", measure, MEASURES)
    require(frame, ["p_true", "p_hat", "size"])
    p_true, p_hat = frame["p_true"].to_numpy(), frame["p_hat"].to_numpy()
    smooth = 1 / (2 * frame["size"].to_numpy()) if smoothing is None else smoothing
    error = metrics.measure(
        measure, prevalence.of_positive(p_true), prevalence.of_positive(p_hat), smoothing=smooth
    )
    return frame.with_columns(
        error=pl.Series(error, dtype=pl.Float64),
        signed=pl.Series(p_hat - p_true, dtype=pl.Float64),
    )


def ensure_errors(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with absolute errors, unless `with_errors` has already been applied."""
    return frame if {"error", "signed"} <= set(frame.columns) else with_errors(frame)


def require(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Refuse an empty frame and one without these columns."""
    for name in columns:
        if name not in frame.columns:
            raise unknown_name("result column", name, frame.columns)
    if frame.is_empty():
        raise DataError("there are no results to analyse; run an experiment first")
    if {"p_true", "p_hat"} <= set(columns) and not np.isfinite(frame["p_hat"].to_numpy()).all():
        raise DataError("p_hat must be a finite number in every row of the results")
