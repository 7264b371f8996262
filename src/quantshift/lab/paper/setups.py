"""Which of the paper's setups a row belongs to, judged by its kind of shift, not by its name.

prior shift          kind prior
pure covariate shift, mixed covariate shift
                     kind covariate, by facet
local covariate shift, its control
                     kind local, by facet
concept shift, forced priors
                     kind concept, by whether the test prevalence was forced
"""

import polars as pl

from quantshift.lab.analysis import PAPER_METHODS, with_errors
from quantshift.lab.analysis.deviations import require

PRIOR = "prior"
PURE = "covariate-pure"
MIXED = "covariate-mixed"
LOCAL = "local"
CONTROL = "local-control"
CONCEPT = "concept"
FORCED = "concept-forced"

_NEEDED = (
    *("experiment", "shift", "dataset", "cell", "sample", "method", "facet", "degree", "size"),
    *("p_true", "p_hat"),
)


def setups_of(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows that are evidence for the paper's claims, with `setup` and absolute errors.

    Only its six methods, data sets with two classes and its kinds of shift are kept. `p_train` and
    `p_test` are numbers, null where the results have none. A frame that this function returned is
    not changed.
    """
    if "setup" in frame.columns:
        return frame
    require(frame, _NEEDED)
    kind, facet = pl.col("shift"), pl.col("facet")
    rows = frame.select(*_NEEDED, *(_number(frame, name) for name in ("p_train", "p_test"))).filter(
        pl.col("method").is_in(PAPER_METHODS) & (pl.col("p_true").list.len() == 2)
    )
    forced = pl.col("p_test").is_not_null()
    setup = (
        pl.when(kind == "prior")
        .then(pl.lit(PRIOR))
        .when((kind == "covariate") & (facet == "pure"))
        .then(pl.lit(PURE))
        .when((kind == "covariate") & (facet == "mixed"))
        .then(pl.lit(MIXED))
        .when((kind == "local") & (facet == "control"))
        .then(pl.lit(CONTROL))
        .when(kind == "local")
        .then(pl.lit(LOCAL))
        .when((kind == "concept") & forced)
        .then(pl.lit(FORCED))
        .when(kind == "concept")
        .then(pl.lit(CONCEPT))
    )
    paper_rows = rows.with_columns(setup=setup).filter(pl.col("setup").is_not_null())
    if paper_rows.is_empty():
        return paper_rows.with_columns(
            error=pl.lit(None, pl.Float64), signed=pl.lit(None, pl.Float64)
        )
    return with_errors(paper_rows)


def _number(frame: pl.DataFrame, name: str) -> pl.Expr:
    """A coordinate as a number; results of several experiments may hold it as a list of one."""
    if name not in frame.columns:
        return pl.lit(None, pl.Float64).alias(name)
    if isinstance(frame.schema[name], pl.List):
        is_single = pl.col(name).list.len() == 1
        return pl.when(is_single).then(pl.col(name).list.first()).alias(name)
    return pl.col(name)
