"""Whether two versions of the code give the same estimates: two result stores, row by row.

    python benchmarks/same_estimates.py BEFORE AFTER

BEFORE and AFTER are folders of `quantshift run`, of the same experiments on the same data under
any name, one data set each. The Parquet files are read as they are, so that a store of an older
format can be compared, too. Rows are paired by experiment, cell, method and sample; a row that only
one store has, and samples that differ, are errors.

Printed for each method, for all of them and for each experiment: the estimates, how many of them
are equal to the last bit, how many have another setting of the classifier, how many differ by more
than 1e-12, 1e-9 and 1e-6, and the largest difference between two shares.
"""

import argparse
import sys
from pathlib import Path

import polars as pl

PAIRED_BY = ("experiment", "cell", "method", "sample")
LIMITS = (1e-12, 1e-9, 1e-6)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    before, after = rows(options.before), rows(options.after)
    both = before.join(after, on=PAIRED_BY, how="inner", suffix="_after")
    if not len(both) == len(before) == len(after):
        sys.exit(f"{len(before):,} and {len(after):,} rows, of which {len(both):,} are in both")
    if not both["p_true"].equals(both["p_true_after"]):
        sys.exit("the samples are not the same")
    apart = both.select(
        "experiment",
        "method",
        apart=(pl.col("p_hat") - pl.col("p_hat_after")).list.eval(pl.element().abs()).list.max(),
        other_setting=pl.col("setting") != pl.col("setting_after"),
    )
    everything = apart.with_columns(experiment=pl.lit("all"), method=pl.lit("all"))
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True):
        print(summary(pl.concat([apart, everything]), "method"))
        print(summary(apart, "experiment"))


def summary(apart: pl.DataFrame, by: str) -> pl.DataFrame:
    """The numbers that are printed, by method or by experiment."""
    return apart.group_by(by, maintain_order=True).agg(
        estimates=pl.len(),
        equal=(pl.col("apart") == 0).sum(),
        other_setting=pl.col("other_setting").sum(),
        **{f"> {limit:g}": (pl.col("apart") > limit).sum() for limit in LIMITS},
        largest=pl.col("apart").max(),
    )


def rows(store: Path) -> pl.DataFrame:
    """The estimates of all experiments in a store."""
    columns = [*PAIRED_BY, "p_true", "p_hat", "setting"]
    parts = sorted(store.glob("*/*/*/*.parquet"))
    return pl.concat(pl.read_parquet(part, columns=columns) for part in parts)


if __name__ == "__main__":
    main()
