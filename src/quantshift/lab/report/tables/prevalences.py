"""Prevalences as single numbers if there are two classes.

Filtering millions of lists takes a second each time, filtering numbers almost no time. With two
classes the prevalence of the positive one is enough.
"""

import polars as pl

_COLUMNS = ("p_true", "p_hat")


def as_numbers(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the prevalence of the positive class, if all of them have two classes."""
    if not isinstance(rows.schema["p_true"], pl.List):
        return rows
    if rows.select((pl.col("p_true").list.len() == 2).all()).item():
        return rows.with_columns(pl.col(name).list.last() for name in _COLUMNS)
    return rows


def positive(name: str, rows: pl.DataFrame) -> pl.Expr:
    """The prevalence of the last class, whether the column holds numbers or lists."""
    column = pl.col(name)
    return column.list.last() if isinstance(rows.schema[name], pl.List) else column
