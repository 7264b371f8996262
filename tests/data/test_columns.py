"""What columns hold, told by their cells; which are features, and why the others are not."""

import datetime

import polars as pl
import pytest

from quantshift.data.columns import choose, names_of, prepared, typed
from quantshift.errors import DataError

N = 100


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", " 2 ", None], [1, 2, None]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1e3", "-2", "NA", "?"], [1000.0, -2.0, None, None]),
        (["NA", "?"], ["NA", "?"]),
        (["True", "false", None], [True, False, None]),
        (["yes", "no"], ["yes", "no"]),
        ([" ja ", "nein"], ["ja", "nein"]),
        (["2020-01-31", None], [datetime.date(2020, 1, 31), None]),
        (["31.01.2020"], [datetime.date(2020, 1, 31)]),
        (["2020-01-31 10:00:00"], [datetime.datetime(2020, 1, 31, 10)]),
        (["2020-01-31", "soon"], ["2020-01-31", "soon"]),
        ([None, None], [None, None]),
    ],
)
def test_the_cells_tell_the_type(cells, values):
    assert typed(pl.Series(cells, dtype=pl.String)).to_list() == values


def test_types_of_a_file_that_has_them_stay():
    assert typed(pl.Series([1, 2], dtype=pl.Int8)).dtype == pl.Int8
    assert typed(pl.Series(["a", "b"], dtype=pl.Categorical)).dtype == pl.String
    assert typed(pl.Series(["1", "2"], dtype=pl.Categorical)).to_list() == [1, 2]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([1.0, 2.0, None], ["1", "2", None]),
        ([1.5, 2.0], ["1.5", "2.0"]),
        ([True, False], ["true", "false"]),
        ([" a", "b"], ["a", "b"]),
    ],
)
def test_names_do_not_depend_on_the_file(values, names):
    assert names_of(pl.Series("x", values)).to_list() == names


def frame(**columns):
    return pl.DataFrame({"x": [i * 0.5 for i in range(N)], **columns})


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ([None] * N, "all gaps"),
        (["a"] * N, "constant"),
        ([3] * N, "constant"),
        ([f"id{i}" for i in range(N)], "100 different words in 100 rows"),
        (list(range(1, N + 1)), "row numbers"),
        ([f"2020-01-{i % 28 + 1:02d}" for i in range(N)], "dates"),
        ([[i] for i in range(N)], "not understood"),
    ],
)
def test_what_is_no_feature_is_left_out_with_a_reason(column, reason):
    features, left_out = choose(frame(y=column))
    assert [feature.name for feature in features] == ["x"]
    assert [column.name for column in left_out] == ["y"]
    assert reason in left_out[0].reason


@pytest.mark.parametrize(
    ("column", "kind", "gaps", "levels"),
    [
        (["a", None] * (N // 2), "category", N // 2, 1),
        ([f"c{i % 30}" for i in range(N)], "category", 0, 30),
        ([True, None] * (N // 2), "truth value", N // 2, None),
        ([(i * 7919) % 1000 for i in range(N)], "number", 0, None),
    ],
)
def test_features_and_their_gaps(column, kind, gaps, levels):
    features, left_out = choose(frame(y=column))
    assert left_out == ()
    assert (features[1].kind, features[1].gaps, features[1].levels) == (kind, gaps, levels)


def test_numbers_that_are_codes_are_categories():
    table = frame(y=[i % 3 for i in range(N)])
    features, _ = choose(table, codes=["y"])
    assert (features[1].kind, features[1].levels) == ("category", 3)
    assert prepared(table, features, "t")["y"].unique().sort().to_list() == ["0", "1", "2"]


def test_infinite_numbers_are_gaps():
    table = frame(y=[float("inf"), -1.0] * (N // 2))
    features, _ = choose(table)
    assert prepared(table, features, "t")["y"].to_list()[:2] == [None, -1.0]


def test_another_table_must_have_numbers_where_the_main_one_has():
    features, _ = choose(frame())
    with pytest.raises(DataError, match=r"0\.csv: column 'x' holds words or dates"):
        prepared(pl.DataFrame({"x": ["1", "two"]}), features, "0.csv")
    assert prepared(pl.DataFrame({"x": ["1", "2"]}), features, "0.csv")["x"].to_list() == [1, 2]
