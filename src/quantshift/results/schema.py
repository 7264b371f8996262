"""The columns of a result: one row per (cell, test sample, method), raw outcomes only.

Errors, tests and tables are computed from these rows afterwards, so that a new measure costs no
new run. Coordinates and diagnostics are null where they do not apply.
"""

from typing import Any

import polars as pl
import pyarrow as pa

from quantshift.errors import DataError

SCHEMA_VERSION = 1
"""Changes whenever the columns or their meaning do."""

SCHEMA = pl.Schema(
    {
        "experiment": pl.String(),
        "cell": pl.String(),
        "method": pl.String(),
        "p_train": pl.Float64(),
        "alpha_train": pl.Float64(),
        "cut_train": pl.Float64(),
        "p_test": pl.Float64(),
        "alpha_test": pl.Float64(),
        "cut_test": pl.Float64(),
        "train_repeat": pl.Int32(),
        "repeat": pl.Int32(),
        "control": pl.Boolean(),
        "degree": pl.Float64(),
        "size": pl.Int32(),
        "p_true": pl.Float64(),
        "p_hat": pl.Float64(),
        "clipped": pl.Boolean(),
        "separation": pl.Float64(),
        "iterations": pl.Int32(),
        "converged": pl.Boolean(),
        "distance": pl.Float64(),
        "fallback": pl.Boolean(),
        "setting": pl.String(),
        "classifier_converged": pl.Boolean(),
    }
)
"""Every column with its type, in the order of the files."""

REQUIRED = ("experiment", "cell", "method", "size", "p_true", "p_hat")
"""Columns without which a row says nothing: never null."""

CONTINUOUS = ("p_hat", "separation", "distance")
"""Columns whose values hardly ever repeat; they are encoded without a dictionary."""

_ARROW = {
    pl.String(): pa.string(),
    pl.Float64(): pa.float64(),
    pl.Int32(): pa.int32(),
    pl.Boolean(): pa.bool_(),
}

ARROW_SCHEMA: Any = pa.schema([(name, _ARROW[kind]) for name, kind in SCHEMA.items()])
"""The same columns as they are written to Parquet."""


def conform(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with all columns of the schema, in its order and types.

    Missing columns become null. Refused: unknown columns, values that do not fit the type of their
    column, nulls in `REQUIRED`, and estimates or prevalences that are no finite numbers.
    """
    unknown = [name for name in frame.columns if name not in SCHEMA]
    if unknown:
        raise DataError(f"unknown result columns {', '.join(unknown)}; known: {', '.join(SCHEMA)}")
    rows = frame.select(_cast(frame, name, kind) for name, kind in SCHEMA.items())
    for name in REQUIRED:
        if rows[name].null_count():
            raise DataError(f"results need a value of {name!r} in every row")
    for name in ("p_true", "p_hat"):
        wrong = rows.filter(~pl.col(name).is_finite())
        if len(wrong):
            raise DataError(
                f"{name} of method {wrong['method'][0]!r} in cell {wrong['cell'][0]!r} is not a "
                f"finite number in {len(wrong)} of {len(rows)} rows"
            )
    return rows


def _cast(frame: pl.DataFrame, name: str, kind: pl.DataType) -> pl.Series:
    if name not in frame.columns:
        return pl.Series(name, [None], dtype=kind).new_from_index(0, len(frame))
    try:
        cast = frame[name].cast(kind)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"result column {name!r} does not hold {kind} values") from error
    # A cast from float to integer drops the fraction without a word.
    if kind.is_integer() and frame.schema[name].is_float() and not (cast == frame[name]).all():
        raise DataError(f"result column {name!r} holds fractions, it must be whole numbers")
    return cast
