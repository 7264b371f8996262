"""The part of an experiment a row belongs to: what may be averaged together.

An experiment may hold samples that answer different questions: covariate shift is pure where the
prevalence stays and mixed where it moves too; local covariate shift comes with its control. Their
errors must not be averaged together. The protocol says so by the `facet` of each row, and the part
is the name of the experiment, followed by the facet if there is one: covariate-pure, local,
local-control.
"""

import polars as pl

from quantshift.base.forks import uses_tables
from quantshift.lab.analysis.deviations import require


@uses_tables
def part_of(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with `part`: prior, covariate-pure, covariate-mixed, local, local-control ..."""
    require(frame, ["experiment", "facet"])
    facet = pl.col("facet").fill_null("")
    return frame.with_columns(
        part=pl.when(facet == "")
        .then("experiment")
        .otherwise(pl.concat_str("experiment", pl.lit("-"), facet))
    )


def ensure_part(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with `part`, unless they have it already."""
    return frame if "part" in frame.columns else part_of(frame)
