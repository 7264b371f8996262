"""The columns of a result: one row per (cell, test sample, method), raw outcomes only.

Every row has the columns of `CORE`. An experiment adds the coordinates that its protocol declares
and the diagnostics that its methods declare; they are null where they do not apply. Errors, tests
and tables are computed from these rows afterwards, so that a new measure needs no new run.
"""

from collections.abc import Iterable, Mapping

import polars as pl

from quantshift.errors import DataError
from quantshift.lab.shifts.parts.coordinate import Coordinate

SCHEMA_VERSION = 1
"""Changes with the core columns or their meaning; new coordinates do not change it."""

CORE = pl.Schema(
    {
        "experiment": pl.String(),
        "shift": pl.String(),
        "dataset": pl.String(),
        "cell": pl.String(),
        "method": pl.String(),
        "stratum": pl.Int32(),
        "train_repeat": pl.Int32(),
        "sample": pl.Int32(),
        "facet": pl.String(),
        "degree": pl.Float64(),
        "size": pl.Int32(),
        "p_true": pl.List(pl.Float64()),
        "p_hat": pl.List(pl.Float64()),
        "setting": pl.String(),
        "classifier_converged": pl.Boolean(),
    }
)
"""The columns that all results have, with their types.

shift          the kind of shift: prior, covariate ...
stratum        number of the training grid point, not counting repeats
sample         number of the test sample in its cell, by which methods are paired
facet          pure, mixed, control ... or ""; facets must not be averaged together
degree         degree of shift; null if unknown
p_true, p_hat  one number per class, in the order of the data set's classes; the positive one of two
               is last
"""

ROUNDING = 1e-6
"""How far an estimate may be from the simplex."""

OPTIONAL = ("degree", "setting", "classifier_converged")
"""Core columns that may be null."""

TYPES: Mapping[str, pl.DataType] = {
    "float": pl.Float64(),
    "int": pl.Int64(),
    "bool": pl.Boolean(),
    "string": pl.String(),
    "vector": pl.List(pl.Float64()),
}
"""The types that coordinates and diagnostics are declared with."""

DIAGNOSTICS: Mapping[str, str] = {
    "clipped": "bool",
    "separation": "float",
    "iterations": "int",
    "converged": "bool",
    "distance": "float",
    "fallback": "bool",
}
"""The diagnostics of the library's methods."""


def schema_of(coordinates: Iterable[Coordinate], diagnostics: Mapping[str, str]) -> pl.Schema:
    """The columns of an experiment with these coordinates and diagnostics (name -> type)."""
    declared = [(c.name, c.type) for c in coordinates] + list(diagnostics.items())
    columns = dict(CORE)
    for name, kind in declared:
        if name in columns:
            raise DataError(f"result column {name!r} is declared twice; rename one")
        if not name.isidentifier():
            raise DataError(f"result column {name!r} must be a name of letters, digits and _")
        if kind not in TYPES:
            raise DataError(f"result column {name!r} has type {kind!r}; known: {', '.join(TYPES)}")
        columns[name] = TYPES[kind]
    return pl.Schema(columns)


def union(schemas: Iterable[pl.Schema]) -> pl.Schema:
    """All columns of the schemas; a column with two types gets a type that can hold both."""
    columns = dict(CORE)
    for schema in schemas:
        for name, kind in schema.items():
            columns[name] = _common_type(columns.get(name, kind), kind)
    return pl.Schema(columns)


def narrow_columns(
    current: Mapping[str, pl.DataType], declared: Mapping[str, pl.DataType]
) -> tuple[str, ...]:
    """Columns of numbers that are declared as vectors.

    They were written when all data sets of the experiment had two classes.
    """
    return tuple(
        name
        for name, kind in current.items()
        if kind == TYPES["float"] and declared.get(name) == TYPES["vector"]
    )


def select(current: pl.Schema, target: pl.Schema) -> list[pl.Expr]:
    """Expressions that turn rows of the first schema into rows of the second, wider one."""
    return [
        _widened(pl.col(name), current[name], kind).alias(name)
        if name in current
        else pl.lit(None, dtype=kind).alias(name)
        for name, kind in target.items()
    ]


def conform(frame: pl.DataFrame, schema: pl.Schema = CORE) -> pl.DataFrame:
    """The rows with all columns of the schema, in its order and types.

    Missing columns become null, and so does a degree of NaN. Errors are raised for unknown columns,
    values that do not fit the type of their column, nulls in core columns that are not `OPTIONAL`,
    estimates or prevalences that are not one finite number for each class, and estimates that are
    not prevalences.
    """
    unknown = [name for name in frame.columns if name not in schema]
    if unknown:
        raise DataError(f"unknown result columns {', '.join(unknown)}; known: {', '.join(schema)}")
    rows = frame.select(_cast(frame, name, kind) for name, kind in schema.items())
    for name in CORE:
        if name not in OPTIONAL and rows[name].null_count():
            raise DataError(f"column {name!r} of the results needs a value in every row")
    for name in ("p_true", "p_hat"):
        finite = pl.col(name).list.eval(pl.element().is_finite().fill_null(value=False)).list.all()
        _refuse(rows, name, ~finite | (pl.col(name).list.len() == 0), "not finite numbers")
    _refuse(rows, "p_hat", pl.col("p_hat").list.len() != pl.col("p_true").list.len(), _LENGTHS)
    _refuse(rows, "p_hat", ~is_estimate(), _NO_SHARES)
    return rows.with_columns(pl.col("degree").fill_nan(None))


def is_estimate() -> pl.Expr:
    """Whether `p_hat` is a prevalence: no share is negative, and they sum to 1 up to rounding."""
    shares = pl.col("p_hat").list
    valid = ((shares.sum() - 1).abs() <= ROUNDING) & (shares.min() >= -ROUNDING)
    # Comparisons with NaN are not false in polars.
    return valid & shares.sum().is_finite()


_LENGTHS = "not one number for each number of p_true"
_NO_SHARES = "not a prevalence (negative, or with another sum than 1)"


def _refuse(rows: pl.DataFrame, name: str, wrong: pl.Expr, fault: str) -> None:
    faulty = rows.filter(wrong)
    if len(faulty):
        raise DataError(
            f"{name} of method {faulty['method'][0]!r} in cell {faulty['cell'][0]!r} is {fault} "
            f"in {len(faulty)} of {len(rows)} rows"
        )


def _cast(frame: pl.DataFrame, name: str, kind: pl.DataType) -> pl.Series:
    if name not in frame.columns:
        return pl.Series(name, [None], dtype=kind).new_from_index(0, len(frame))
    current = frame.schema[name]
    try:
        # A cast from a number to a list would silently make a list of one.
        if kind.is_nested() and not current.is_nested() and current != pl.Null():
            raise pl.exceptions.InvalidOperationError(str(current))
        cast = frame[name].cast(kind)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"result column {name!r} does not hold {kind} values") from error
    # A cast from float to integer silently drops the fraction.
    if kind.is_integer() and current.is_float() and not (cast == frame[name]).all():
        raise DataError(f"result column {name!r} holds fractions but must hold whole numbers")
    return cast


def _common_type(first: pl.DataType, second: pl.DataType) -> pl.DataType:
    if first == second:
        return first
    if first.is_nested() or second.is_nested():
        return TYPES["vector"]
    return TYPES["float" if first.is_numeric() and second.is_numeric() else "string"]


def _widened(column: pl.Expr, current: pl.DataType, target: pl.DataType) -> pl.Expr:
    if current == target:
        return column
    if target.is_nested():
        number = column.cast(pl.Float64(), strict=False)
        return pl.when(number.is_not_null()).then(pl.concat_list(number))
    return column.cast(target)
