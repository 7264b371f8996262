import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.results import SCHEMA, conform
from quantshift.results.schema import ARROW_SCHEMA


def test_columns_are_ordered_cast_and_filled(rows):
    given = rows().select(reversed(rows().columns)).with_columns(size=pl.lit(500.0))
    result = conform(given)
    assert result.schema == SCHEMA
    assert result["size"].to_list() == [500] * 40
    assert result["alpha_train"].null_count() == 40
    assert result["iterations"].null_count() == 20
    assert result["p_hat"].equals(given["p_hat"])


def test_the_parquet_schema_has_the_same_columns(rows):
    assert conform(rows()).to_arrow().cast(ARROW_SCHEMA).column_names == list(SCHEMA)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.lit(1).alias("mae"), "unknown result columns mae; known: experiment, cell"),
        (pl.lit("many").alias("size"), "'size' does not hold Int32 values"),
        (pl.lit(3_000_000_000).alias("repeat"), "'repeat' does not hold Int32 values"),
        (pl.lit(0.5).alias("repeat"), "'repeat' holds fractions"),
        (pl.lit(None).alias("p_hat"), "need a value of 'p_hat' in every row"),
        (
            pl.when(pl.col("method") == "SLD").then(float("nan")).otherwise(0.5).alias("p_hat"),
            "p_hat of method 'SLD' in cell 'p_train=0.1,train_repeat=0' is not a finite number "
            "in 20 of 40 rows",
        ),
    ],
)
def test_what_does_not_fit_is_refused(rows, change, message):
    with pytest.raises(DataError, match=message):
        conform(rows().with_columns(change))


def test_required_columns_may_not_be_missing(rows):
    with pytest.raises(DataError, match="need a value of 'p_true'"):
        conform(rows().drop("p_true"))


def test_nulls_of_whole_numbers_stay_nulls(rows):
    given = rows().with_columns(iterations=pl.Series([None, 2.0] * 20))
    assert conform(given)["iterations"].to_list() == [None, 2] * 20
