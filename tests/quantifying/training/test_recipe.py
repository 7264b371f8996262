"""Which columns a model for these batches leaves out."""

import numpy as np
import polars as pl
import pytest

from quantshift.quantifying.options import ColumnOptions, ModelRecipe
from quantshift.quantifying.training.recipe import tied_to_batches
from quantshift.tables.reading import open_table

N = 200
SHARED = ("copy", "x", "more")


def tied(*, by="site", tables=1, without=False, shared=SHARED, **columns):
    """Of batches by site, whose names a column copies and another, as numbers."""
    number = np.arange(N) % 4
    frame = pl.DataFrame(
        {
            "site": np.array(["a", "b", "c", "d"])[number],
            "copy": np.array(["A", "B", "C", "D"])[number],
            "x": np.random.default_rng(0).normal(size=N),
            "more": number,
        }
    )
    samples = [open_table(frame)] * tables
    if without:
        samples.append(open_table(frame.drop("site")))
    return tied_to_batches(ModelRecipe(ColumnOptions(label="y", **columns), by=by), samples, shared)


def test_columns_that_follow_from_the_batch_are_tied_to_it():
    assert tied() == ("copy", "more")
    assert tied(tables=2) == ("copy", "more")
    assert tied(drop=("copy",)) == ("more",)
    assert tied(shared=("x", "more")) == ("more",)


@pytest.mark.parametrize(
    "options",
    [
        {"by": None},
        {"text": ("copy",)},
        {"features": ("copy", "x")},
        {"posteriors": ("x", "more")},
        {"without": True},
    ],
)
def test_nothing_is_tied_without_batches_or_where_columns_are_chosen(options):
    assert tied(**options) == ()
