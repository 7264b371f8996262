"""Numbers with a decimal comma, and what is no such number."""

import numpy as np
import polars as pl
import pytest

from quantshift.tables.columns.decimal_commas import COMMA, COMMA_AND_DOTS, comma_format
from quantshift.tables.columns.kinds import CATEGORY, NUMBER, Column, as_kind, choose

NUMBERS = np.random.default_rng(0).normal(300, 900, 200).round(2)


def written(numbers, dots=False):
    grouped = [f"{number:,}" if dots else str(number) for number in numbers]
    return [text.replace(",", " ").replace(".", ",").replace(" ", ".") for text in grouped]


def chosen(cells):
    features, left_out = choose(pl.DataFrame({"x": cells}))
    return features[0] if features else left_out[0]


@pytest.mark.parametrize(("dots", "format_"), [(False, COMMA), (True, COMMA_AND_DOTS)])
def test_decimal_commas_are_numbers(dots, format_):
    cells = pl.Series("x", [*written(NUMBERS, dots), "NA", "7", None])
    column = chosen(cells)
    assert (column.kind, column.format, column.odd, column.gaps) == (NUMBER, format_, 0, 2)
    values = as_kind(cells, column).to_list()
    assert values == [*NUMBERS.tolist(), None, 7.0, None]
    assert as_kind(pl.Series("x", NUMBERS), column).to_list() == NUMBERS.tolist()


def test_a_few_other_cells_are_missing_values():
    column = chosen([*written(NUMBERS), "unknown", "?"])
    assert (column.kind, column.odd, column.gaps) == (NUMBER, 1, 2)


@pytest.mark.parametrize(
    "cells",
    [
        [f"{n},{n + 1}" for n in range(1, 9)] * 20,  # lists of codes
        [f"{n},{n * 7 % 900 + 100}" for n in range(1, 10)] * 20,  # perhaps thousands
        [f"{n},a" for n in range(50)] * 4,
    ],
)
def test_commas_that_may_mean_something_else_are_left_alone(cells):
    assert chosen(cells).kind == CATEGORY


def test_numbers_that_may_have_thousands_separators_are_left_out_if_levels_are_rare():
    """They were a category without a frequent level."""
    cells = [f"{n},{n * 7 % 900 + 100}" for n in range(1, 100)] * 2
    _, (left_out,) = choose(pl.DataFrame({"x": cells}))
    assert left_out.reason.startswith("all cells look like numbers with thousands separators")


def test_dots_are_thousands_only_if_they_were_in_training():
    cells = pl.Series(["1.234", "1.234,5", "2.5"])
    assert as_kind(cells, Column("x", NUMBER, 0, format=COMMA)).to_list() == [None, None, None]
    assert as_kind(cells, Column("x", NUMBER, 0, format=COMMA_AND_DOTS)).to_list() == [
        1234.0,
        1234.5,
        None,
    ]


def test_the_shares_from_which_commas_are_decimal():
    """One cell in 20 with a comma shows that it is no thousand, half of all have one, 21 differ."""
    thousands = [f"{n},{n + 100}" for n in range(1, 40)]
    assert comma_format(pl.Series([*thousands[:38], "1,5", "2,5"]), 0) == COMMA  # 2 of 40
    assert comma_format(pl.Series([*thousands, "1,5", "2,5"]), 0) is None  # 2 of 41
    half = [f"{n},5" for n in range(20)]
    assert comma_format(pl.Series([*half, *map(str, range(20))]), 0) == COMMA
    assert comma_format(pl.Series([*half, *map(str, range(21))]), 0) is None
    assert comma_format(pl.Series(half), 0) is None
    assert comma_format(pl.Series([*half, "20,5"]), 0) == COMMA
    assert comma_format(pl.Series([*half, "20,5", "odd"]), 0) is None
    assert comma_format(pl.Series([*half, "20,5", "odd"]), 1) == COMMA
