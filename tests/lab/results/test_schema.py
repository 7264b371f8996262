import math

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.lab.results import CORE, conform, schema_of
from quantshift.lab.results.schema import select, union
from quantshift.lab.shifts.parts.coordinate import Coordinate


def test_declared_columns_follow_the_core_in_their_order(schema):
    assert list(schema)[: len(CORE)] == list(CORE)
    declared = ["p_train", "p_test", "repeat", "iterations", "converged", "distance"]
    assert list(schema)[len(CORE) :] == declared
    kinds = schema_of(
        [Coordinate("v", "test", "vector", "", ""), Coordinate("s", "train", "string", "", "")], {}
    )
    assert kinds["v"] == pl.List(pl.Float64)
    assert kinds["s"] == pl.String


def test_columns_are_ordered_cast_and_filled(rows, schema):
    given = rows().drop("p_train", "degree").with_columns(size=pl.lit(500.0))
    given = given.select(reversed(given.columns))
    result = conform(given, schema)
    assert result.schema == schema
    assert result["size"].to_list() == [500] * 40
    assert result["p_train"].null_count() == result["degree"].null_count() == 40
    assert result["iterations"].null_count() == 20
    assert result["p_hat"].equals(given["p_hat"])


def test_arrays_of_numbers_are_lists_of_numbers(rows, schema):
    given = rows()
    array = np.array(given["p_hat"].to_list(), dtype=np.float32)
    result = conform(given.with_columns(p_hat=array), schema)
    assert result["p_hat"].to_list() == array.astype(float).tolist()


def test_a_degree_that_is_not_a_number_is_unknown(rows, schema):
    given = rows().with_columns(degree=pl.Series([0.5, math.nan] * 20))
    assert conform(given, schema)["degree"].to_list() == [0.5, None] * 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.lit(1).alias("mae"), "unknown result columns mae; known: experiment, shift"),
        (pl.lit("many").alias("size"), "'size' does not hold Int32 values"),
        (pl.lit(3_000_000_000).alias("sample"), "'sample' does not hold Int32 values"),
        (pl.lit(0.5).alias("repeat"), "'repeat' holds fractions"),
        (pl.lit(0.5).alias("p_hat"), r"'p_hat' does not hold List\(Float64\) values"),
        (pl.lit(None).alias("p_hat"), "column 'p_hat' of the results needs a value in every row"),
        (pl.lit(None).alias("facet"), "column 'facet' of the results needs a value in every row"),
        (
            pl.concat_list(pl.lit(0.5), pl.lit(0.25), pl.lit(0.25)).alias("p_hat"),
            "p_hat of method 'CC' .* is not one number for each number of p_true in 40 of 40",
        ),
        (
            pl.concat_list(pl.lit(0.5), pl.lit(None, dtype=pl.Float64)).alias("p_true"),
            "p_true of method 'CC' .* is not finite numbers in 40 of 40",
        ),
        (
            pl.when(pl.col("method") == "SLD")
            .then(pl.concat_list(pl.lit(0.5), pl.lit(float("nan"))))
            .otherwise(pl.col("p_hat"))
            .alias("p_hat"),
            "p_hat of method 'SLD' in cell 'p_train=0.1,train_repeat=0' is not finite numbers "
            "in 20 of 40 rows",
        ),
    ],
)
def test_what_does_not_fit_is_refused(rows, schema, change, message):
    with pytest.raises(DataError, match=message):
        conform(rows().with_columns(change), schema)


@pytest.mark.parametrize("name", ["p_true", "shift", "dataset", "stratum", "train_repeat"])
def test_core_columns_may_not_be_missing(rows, schema, name):
    with pytest.raises(DataError, match=f"column '{name}' of the results needs a value"):
        conform(rows().drop(name), schema)


def test_nulls_of_whole_numbers_stay_nulls(rows, schema):
    given = rows().with_columns(iterations=pl.Series([None, 2.0] * 20))
    assert conform(given, schema)["iterations"].to_list() == [None, 2] * 20


def test_a_column_of_two_types_gets_the_one_that_holds_both():
    def declared(**kinds):
        return schema_of([Coordinate(n, "test", kind, "", "") for n, kind in kinds.items()], {})

    first = declared(a="int", b="float", c="bool", d="string", e="int")
    second = declared(a="float", b="vector", c="string", d="string", f="bool")
    whole = union([first, second])
    kinds = {name: kind for name, kind in whole.items() if name not in CORE}
    vector = pl.List(pl.Float64())
    expected = (pl.Float64(), vector, pl.String(), pl.String(), pl.Int64(), pl.Boolean())
    assert kinds == dict(zip("abcdef", expected, strict=True))
    row = pl.DataFrame(
        {"a": 1, "b": 0.5, "c": True, "d": "x", "e": 2}, schema={n: first[n] for n in "abcde"}
    )
    found = row.select(
        expression
        for expression, name in zip(select(first, whole), whole, strict=True)
        if name not in CORE
    )
    assert found.to_dicts() == [{"a": 1.0, "b": [0.5], "c": "true", "d": "x", "e": 2, "f": None}]
