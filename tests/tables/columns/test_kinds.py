"""What columns hold, told by their cells; which are features, and why the others are not."""

import datetime
import math

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.tables.columns.cell_names import names_of
from quantshift.tables.columns.kinds import (
    check_kinds,
    choose,
    odd_cells,
    prepared,
    typed,
)

N = 100
WORDS = ("Ann", "Ben", "Cem", "Dora", "Eve", "Finn", "Gia", "Hugo", "Ida", "Jo")


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
        ([1.5, 2.0], ["1.5", "2"]),
        (["1.0", "1", "01", "x"], ["1", "1", "01", "x"]),
        ([True, False], ["true", "false"]),
        ([" a", "b"], ["a", "b"]),
    ],
)
def test_names_do_not_depend_on_the_file(values, names):
    assert names_of(pl.Series("x", values)).to_list() == names


def frame(**columns):
    return pl.DataFrame({"x": [i * 0.5 for i in range(N)], **columns})


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "column", "reason"),
    [
        ("y", [None] * N, "all missing"),
        ("y", ["NA"] * N, "constant"),
        ("y", ["a"] * N, "constant"),
        ("y", [3] * N, "constant"),
        ("y", [f"id{i}" for i in range(N)], "100 different values in 100 rows"),
        ("y", [f"{a} {b}" for a in WORDS for b in WORDS], "100 different values in 100 rows"),
        ("y", list(range(1, N + 1)), "row numbers"),
        ("y", list(range(N, 0, -1)), "row numbers"),
        ("y", [str(7 * i + i % 3) for i in range(N)], "a counter"),
        ("y", (RNG.permutation(N) + 500).tolist(), "rows, like ids"),
        ("y", RNG.choice(400, N, replace=False).tolist(), "rows, like ids"),
        ("y", RNG.integers(10**9, 10**10, N).tolist(), "different numbers of 10 digits"),
        ("customerId", RNG.integers(0, 10**6, N).tolist(), "its name says it is an id"),
        (
            "policy id",
            np.repeat(RNG.integers(0, 10**6, N // 2), 2).tolist(),
            "its name says it is an id",
        ),
        ("policy_nr", RNG.integers(0, 10**6, N).tolist(), "its name says it is an id"),
        ("userid", RNG.integers(0, 10**6, N).tolist(), "its name says it is an id"),
        ("user_key", [f"u{i // 2}" for i in range(N)], "like names or ids"),
        ("y", [[i] for i in range(N)], "not supported"),
    ],
)
def test_what_is_no_feature_is_left_out_with_a_reason(name, column, reason):
    table = frame(**{name: column})
    features, left_out = choose(table)
    assert [feature.name for feature in features] == ["x"]
    assert [column.name for column in left_out] == [name]
    assert reason in left_out[0].reason


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([3] * N, "number"),
        (list(range(N)), "number"),
        ([f"id{i}" for i in range(N)], "category"),
        (["a"] * N, "category"),
    ],
)
def test_a_column_that_is_named_is_used(column, kind):
    features, left_out = choose(frame(y=column), named=["y"])
    assert left_out == ()
    assert features[1].kind == kind


def test_a_named_column_of_lists_is_an_error():
    with pytest.raises(DataError, match="column 'y' holds lists or objects"):
        choose(frame(y=[[i] for i in range(N)]), named=["y"])


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("salary", RNG.lognormal(10.5, 0.5, 3000).round().astype(int).tolist()),
        ("salary", RNG.lognormal(10.5, 0.5, 300).round().astype(int).tolist()),
        ("population", RNG.lognormal(9, 2, 1000).round().astype(int).tolist()),
        ("steps", RNG.integers(0, 20_000, 1000).tolist()),
        ("size", RNG.integers(0, 50, 1000).tolist()),
        ("flag", RNG.integers(0, 2, 1000).tolist()),
        ("price", sorted(RNG.normal(size=1000).tolist())),
        ("price_index", RNG.integers(0, 300, 1000).tolist()),
        ("paid", RNG.integers(0, 300, 1000).tolist()),
        ("mass", (RNG.normal(size=1000) * 1e200).tolist()),
    ],
)
def test_quantities_are_no_ids(name, numbers):
    features, left_out = choose(pl.DataFrame({name: numbers}))
    assert left_out == ()
    assert features[0].kind == "number"


def sentences(n, rng=RNG):
    words = np.array(["the", "old", "house", "stands", "near", "a", "quiet", "river", "bridge"])
    return [" ".join(rng.choice(words, 9)) for _ in range(n)]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (sentences(N), "text"),
        (sentences(30) * 10, "text"),
        (sentences(15), "text"),
        ([f"{a} {b} trees" for a in WORDS for b in WORDS], "text"),
        (["Bank transfer (automatic)", "Electronic check by mail"] * 50, "category"),
        ([f"town of {a} river" for a in WORDS] * 10, "category"),
    ],
)
def test_several_words_that_mostly_differ_are_a_text(column, kind):
    features, left_out = choose(pl.DataFrame({"y": column}))
    assert left_out == ()
    assert features[0].kind == kind


@pytest.mark.parametrize(
    ("column", "kind", "gaps", "levels"),
    [
        (["a", None] * (N // 2), "category", N // 2, 1),
        ([f"c{i % 30}" for i in range(N)], "category", 0, 30),
        ([True, None] * (N // 2), "truth value", N // 2, None),
        ([(i * 7919) % 1000 / 2 for i in range(N)], "number", 0, None),
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
    assert prepared(table, features)["y"].unique().sort().to_list() == ["0", "1", "2"]


def test_infinite_numbers_are_gaps():
    table = frame(y=[float("inf"), -1.0] * (N // 2))
    features, _ = choose(table)
    assert (features[1].gaps, features[1].odd) == (N // 2, N // 2)
    assert prepared(table, features)["y"].to_list()[:2] == [None, -1.0]


@pytest.mark.parametrize("cell", ["inf", "-inf", "long", "1,5", "1e999"])
def test_one_odd_cell_does_not_remove_a_column(cell):
    numbers = [str(i / 7) for i in range(N - 1)]
    table = frame(y=[*numbers, cell])
    features, left_out = choose(table)
    assert left_out == ()
    assert (features[1].kind, features[1].gaps, features[1].odd) == ("number", 1, 1)
    assert prepared(table, features)["y"].to_list()[-2:] == [(N - 2) / 7, None]
    assert odd_cells(table, features)["y"].arg_true().to_list() == [N - 1]


def test_words_for_a_gap_are_gaps_of_numbers_dates_and_truth_values():
    table = pl.DataFrame(
        {
            "n": [*[str(i / 3) for i in range(97)], "NA", "NULL", "?"],
            "d": [*[f"2020-01-{i % 28 + 1:02d}" for i in range(97)], "NA", "NULL", "?"],
            "t": [*["true", "FALSE"] * 48, "true", "NA", "NULL", "?"],
        }
    )
    features, _ = choose(table)
    assert [f.kind for f in features] == ["number", "date", "truth value"]
    assert [(f.gaps, f.odd) for f in features] == [(3, 0)] * 3


def test_dates_become_parts():
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=37 * i % 300) for i in range(N)]
    table = pl.DataFrame({"when": days})
    features, _ = choose(table)
    assert features[0].parts == ("month", "weekday")
    parts = prepared(table, features)
    assert parts.columns == [
        "when: month (sine)",
        "when: month (cosine)",
        "when: weekday (sine)",
        "when: weekday (cosine)",
    ]
    # 1 January 2020 was a Wednesday, the third day of the week.
    assert parts.row(0) == pytest.approx(
        (0, 1, math.sin(4 / 7 * math.pi), math.cos(4 / 7 * math.pi))
    )
    written = table.with_columns(pl.col("when").dt.strftime("%d.%m.%Y"))
    again, _ = choose(written)
    assert again[0].format == "%d.%m.%Y"
    assert prepared(written, again).equals(parts)
    # The format is that of training: a single day could be read otherwise.
    assert prepared(written[:1], again).equals(parts[:1])


def test_the_hour_is_used_if_there_are_times_and_the_day_if_there_are_years():
    start = datetime.datetime(2010, 1, 1)
    hours = [start + datetime.timedelta(hours=5 * i) for i in range(N)]
    assert choose(pl.DataFrame({"t": hours}))[0][0].parts == ("month", "weekday", "hour")
    years = [start + datetime.timedelta(days=(i * 977) % 4000) for i in range(N)]
    assert choose(pl.DataFrame({"t": years}))[0][0].parts == ("month", "weekday", "day")
    # In the order of the rows the day would be a counter.
    assert choose(pl.DataFrame({"t": sorted(years)}))[0][0].parts == ("month", "weekday")
    later, _ = choose(pl.DataFrame({"t": years}))
    assert "t: day" in prepared(pl.DataFrame({"t": [None, start]}), later).columns


def test_another_table_must_have_numbers_where_the_main_one_has():
    features, _ = choose(frame())
    with pytest.raises(DataError, match=r"0\.csv: column 'x' holds words such as 'two', but numb"):
        check_kinds(pl.DataFrame({"x": ["1", "two"]}), features, "0.csv")
    check_kinds(pl.DataFrame({"x": ["1", "2", "two"]}), features, "0.csv")
    with pytest.raises(
        DataError, match="most cells of column 'x' are like 'inf', which is not a fin"
    ):
        check_kinds(pl.DataFrame({"x": ["1", "inf"]}), features, "0.csv")
    assert prepared(pl.DataFrame({"x": ["1", "two"]}), features)["x"].to_list() == [1, None]


@pytest.mark.parametrize(
    "error", ["#DIV/0!", "#N/A", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!"]
)
def test_errors_of_a_spreadsheet_are_odd_cells_of_a_column_of_numbers(error):
    """With 10% of them, a column used to be a category of hundreds of levels."""
    cells = [error if i % 10 == 0 else f"{i / 7:.4f}" for i in range(N)]
    dates = [error if i % 10 == 0 else f"2026-01-{1 + i % 28:02d}" for i in range(N)]
    commas = [cell.replace(".", ",") for cell in cells]
    frame = pl.DataFrame({"n": cells, "day": dates, "comma": commas})
    features, left_out = choose(frame)
    assert not left_out
    assert [(column.kind, column.odd, column.gaps) for column in features] == [
        ("number", 10, 10),
        ("date", 10, 10),
        ("number", 10, 10),
    ]
    assert prepared(frame, features)["n"].null_count() == 10
