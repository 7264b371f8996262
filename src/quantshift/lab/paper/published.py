"""The published mean absolute errors, four tables of them, next to ours.

`published/prior.csv` and `published/covariate.csv` hold the four tables of results of "Binary
Quantification and Dataset Shift: An Experimental Investigation", with their marks.
"""

from importlib import resources

import polars as pl

from quantshift.lab.analysis import compare_with_best
from quantshift.lab.paper.setups import MIXED, PRIOR, PURE, setups_of

KEY = ("setup", "p_train", "p_test", "degree")
"""The columns that identify a row of the published tables; prior shift has only the degree."""

_OURS = pl.Schema(
    {
        "setup": pl.String(),
        "p_train": pl.Float64(),
        "p_test": pl.Float64(),
        "degree": pl.Float64(),
        "method": pl.String(),
        "n": pl.Int64(),
        "samples": pl.Int64(),
        "mean": pl.Float64(),
        "mark": pl.String(),
    }
)


def published_tables() -> pl.DataFrame:
    """The published tables: setup, p_train, p_test, degree, method, mae, mark."""
    prior = _read("prior").with_columns(
        setup=pl.lit(PRIOR), p_train=pl.lit(None, pl.Float64), p_test=pl.lit(None, pl.Float64)
    )
    pure = pl.col("p_train") == pl.col("p_test")
    covariate = _read("covariate").with_columns(
        setup=pl.when(pure).then(pl.lit(PURE)).otherwise(pl.lit(MIXED))
    )
    columns = [*KEY, "method", "mae", "mark"]
    return pl.concat([prior.select(columns), covariate.select(columns)])


def against_published(frame: pl.DataFrame) -> pl.DataFrame:
    """A row for every published number: theirs, ours, the difference and the rank correlation.

    Columns: setup, p_train, p_test, degree, method, theirs, their_mark, ours, our_mark, n, samples,
    difference (ours - theirs), spearman (rank correlation of ours and theirs over the methods of
    the row; null with fewer than three methods or if all of one side are equal). Ours is the
    mean absolute error, null where we have no result.
    """
    theirs = published_tables().rename({"mae": "theirs", "mark": "their_mark"})
    ours = _our_tables(frame).rename({"mean": "ours", "mark": "our_mark"})
    joined = theirs.join(
        ours, on=[*KEY, "method"], how="left", nulls_equal=True, maintain_order="left"
    )
    both = pl.col("ours").is_not_null()
    ranks = (
        joined.filter(both)
        .group_by(KEY)
        .agg(
            spearman=pl.corr("ours", "theirs", method="spearman").fill_nan(None), _methods=pl.len()
        )
    )
    return (
        joined.join(ranks, on=list(KEY), how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            difference=pl.col("ours") - pl.col("theirs"),
            spearman=pl.when(pl.col("_methods") >= 3).then("spearman"),
        )
        .select(
            *KEY,
            "method",
            "theirs",
            "their_mark",
            "ours",
            "our_mark",
            "n",
            "samples",
            "difference",
            "spearman",
        )
    )


def _our_tables(frame: pl.DataFrame) -> pl.DataFrame:
    """Our rows with the published keys; only the paper's methods are compared."""
    rows = setups_of(frame)
    tables = [
        _compare(rows.filter(pl.col("setup") == PRIOR), ["setup", "degree"]),
        _compare(rows.filter(pl.col("setup").is_in([PURE, MIXED])), list(KEY)),
    ]
    return pl.concat(tables)


def _compare(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    if rows.is_empty():
        return pl.DataFrame(schema=_OURS)
    # Equal points of a grid must be equal; adding zero turns -0.0 into 0.0.
    degree = pl.col("degree").round(2) + 0.0
    compared = compare_with_best(rows.with_columns(degree), by)
    return compared.with_columns(
        pl.lit(None, pl.Float64).alias(name) for name in KEY if name not in by
    ).select(_OURS.names())


def _read(name: str) -> pl.DataFrame:
    text = resources.files("quantshift.lab.paper").joinpath("published", f"{name}.csv").read_bytes()
    return pl.read_csv(text, schema_overrides={"mark": pl.String}).with_columns(
        pl.col("mark").fill_null("")
    )
