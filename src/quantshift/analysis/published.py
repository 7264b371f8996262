"""The published numbers beside ours: the four tables of mean absolute errors.

`published/prior.csv` and `published/covariate.csv` hold the four tables of results of "Binary
Quantification and Dataset Shift: An Experimental Investigation", with their marks.
"""

from importlib import resources

import polars as pl

from quantshift.analysis.errors import with_errors
from quantshift.analysis.methods import PAPER_METHODS
from quantshift.analysis.paired import compare_with_best
from quantshift.analysis.parts import ensure_part

KEY = ("part", "p_train", "p_test", "degree")
"""What identifies a row of the published tables; prior shift has only the degree."""

COVARIATE = ("covariate-pure", "covariate-mixed")

_OURS = pl.Schema(
    {
        "part": pl.String(),
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
    """The published tables: part, p_train, p_test, degree, method, mae, mark."""
    prior = _read("prior").with_columns(
        part=pl.lit("prior"), p_train=pl.lit(None, pl.Float64), p_test=pl.lit(None, pl.Float64)
    )
    pure = pl.col("p_train") == pl.col("p_test")
    covariate = _read("covariate").with_columns(
        part=pl.when(pure).then(pl.lit("covariate-pure")).otherwise(pl.lit("covariate-mixed"))
    )
    columns = [*KEY, "method", "mae", "mark"]
    return pl.concat([prior.select(columns), covariate.select(columns)])


def against_published(frame: pl.DataFrame) -> pl.DataFrame:
    """A row for every published number: theirs, ours, the difference and the rank correlation.

    Columns: part, p_train, p_test, degree, method, theirs, their_mark, ours, our_mark, n, samples,
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
    """Our rows with the published keys, compared among the paper's methods alone."""
    rows = ensure_part(frame).filter(pl.col("method").is_in(PAPER_METHODS))
    tables = [
        _compare(rows.filter(pl.col("part") == "prior"), ["degree"]),
        _compare(rows.filter(pl.col("part").is_in(COVARIATE)), list(KEY)),
    ]
    return pl.concat(tables)


def _compare(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    if rows.is_empty():
        return pl.DataFrame(schema=_OURS)
    compared = compare_with_best(with_errors(rows).with_columns(grid_point("degree")), by)
    if "part" not in by:
        compared = compared.with_columns(
            part=pl.lit(rows["part"][0]),
            p_train=pl.lit(None, pl.Float64),
            p_test=pl.lit(None, pl.Float64),
        )
    return compared.select(_OURS.names())


def grid_point(name: str) -> pl.Expr:
    """A coordinate rounded to a point of the paper's grids, so that equal points are equal."""
    # Adding zero makes one zero of the two.
    return (pl.col(name).round(2) + 0.0).alias(name)


def _read(name: str) -> pl.DataFrame:
    text = resources.files("quantshift.analysis").joinpath("published", f"{name}.csv").read_bytes()
    return pl.read_csv(text, schema_overrides={"mark": pl.String}).with_columns(
        pl.col("mark").fill_null("")
    )
