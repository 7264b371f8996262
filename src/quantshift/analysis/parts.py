"""The part of an experiment a row belongs to: what may be averaged together.

An experiment may hold samples that answer different questions: covariate shift is pure where the
prevalence stays and mixed where it moves too; local covariate shift comes with its control. Their
errors must not be averaged together, so each gets a part of its own: the name of the experiment,
followed by

- `-pure` or `-mixed` where the rows have mixtures of categories (alpha) and prevalences on both
  sides, according to whether p_train equals p_test;
- `-control` where the rows are marked as such.

All other rows are in the part that has the name of their experiment.
"""

import polars as pl

from quantshift.analysis.errors import require

_SAME = 1e-9
"""Prevalences of a grid that differ by less are the same point."""


def part_of(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with `part`: prior, covariate-pure, covariate-mixed, local, local-control ..."""
    columns = ("alpha_train", "alpha_test", "p_train", "p_test", "control")
    require(frame, ["experiment", *columns])
    alpha_train, alpha_test, p_train, p_test, control = map(pl.col, columns)
    mixture = pl.all_horizontal(
        alpha_train.is_not_null(),
        alpha_test.is_not_null(),
        p_train.is_not_null(),
        p_test.is_not_null(),
    )
    suffix = (
        pl.when(mixture & ((p_train - p_test).abs() < _SAME))
        .then(pl.lit("-pure"))
        .when(mixture)
        .then(pl.lit("-mixed"))
        .when(control.fill_null(value=False))
        .then(pl.lit("-control"))
        .otherwise(pl.lit(""))
    )
    return frame.with_columns(part=pl.col("experiment") + suffix)


def ensure_part(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with `part`, unless they have it already."""
    return frame if "part" in frame.columns else part_of(frame)
