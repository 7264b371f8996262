"""Every pair of methods over data sets, for each suite and for all of them together."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.lab.analysis.methods import order_methods
from quantshift.lab.analysis.pairwise import SCHEMA as PAIR
from quantshift.lab.analysis.pairwise import compare_columns

COMPARED = ("ae", "rae", "nkld")
"""The measures by which pairs are compared in the file; the page compares by any."""

EVERY = "all"
"""Stands for all suites together."""

SCHEMA = pl.Schema({"suite": pl.String(), "measure": pl.String(), **PAIR})
"""The columns of the table: the suite (or `EVERY`), the measure, and those of a comparison."""


def pair_table(scores: pl.DataFrame) -> pl.DataFrame:
    """A row for each suite with at least two data sets, measure and pair of methods.

    Methods are compared by their mean errors on data sets, over the kinds of shift that both have.
    """
    frames = [pl.DataFrame(schema=SCHEMA)]
    for suite, rows in suites_of(scores).items():
        if rows["dataset"].n_unique() < 2:
            continue
        for measure in COMPARED:
            pairs = compare_scores(rows.filter(pl.col("measure") == measure))
            frames.append(
                pairs.with_columns(suite=pl.lit(suite), measure=pl.lit(measure)).select(
                    SCHEMA.names()
                )
            )
    return pl.concat(frames)


def suites_of(scores: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    """The scores of each suite and, if there are several, of `EVERY` one."""
    names = scores["suite"].unique(maintain_order=True).to_list()
    suites = {name: scores.filter(pl.col("suite") == name) for name in names}
    return suites if len(suites) == 1 else {**suites, EVERY: scores}


def compare_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """All pairs of the methods, by scores of one measure."""
    methods = order_methods(scores["method"].unique())
    errors, datasets = error_matrix(scores, methods)
    return compare_columns(errors, methods, datasets)


def error_matrix(
    scores: pl.DataFrame, methods: Sequence[str]
) -> tuple[NDArray[np.float64], list[str]]:
    """Errors by part and data set (rows) and method, and the data set of each row."""
    wide = scores.pivot(on="method", index=["part", "dataset"], values="error", maintain_order=True)
    errors = wide.select(pl.col(list(methods)).fill_null(float("nan"))).to_numpy()
    return errors, wide["dataset"].to_list()
