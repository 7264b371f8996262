"""Single cells are named and converted as polars does it with whole columns."""

import datetime
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.tables.columns.cell_names import cell_of, names_of_cells, number_of, text_of
from quantshift.tables.columns.kinds import label_names, names_of
from quantshift.tables.columns.labels import labels_of_cells

FLOATS = st.floats(allow_nan=False) | st.integers(-(2**60), 2**60).map(float)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.from_regex(
    r"\s?[+-]?[0-9]{1,3}(\.[0-9]{0,3})?(e-?[0-9])?\s?", fullmatch=True
)


@given(st.lists(FLOATS, min_size=1))
def test_floats(numbers):
    column = pl.Series(numbers, dtype=pl.Float64)
    assert [text_of(number) for number in numbers] == column.cast(pl.String).to_list()
    assert names_of_cells(numbers) == names_of(column).to_list()


@given(st.lists(TEXTS, min_size=1))
def test_texts(texts):
    column = pl.Series(texts, dtype=pl.String)
    numbers = column.cast(pl.Float64, strict=False).to_list()
    for text, number in zip(texts, numbers, strict=True):
        found = number_of(text)
        assert found == number or (math.isnan(found) and math.isnan(number))
    assert names_of_cells(texts) == names_of(column).to_list()
    assert labels_of_cells(texts) == label_names(column).to_list()
    assert labels_of_cells(texts, [" a "]) == label_names(column, [" a "]).to_list()


@pytest.mark.parametrize(
    "cell", ["inf", "-Infinity", "NaN", "1_000", "٣", "0x10", "1e", ".5", "1.", "1e400", "+5", "."]
)
def test_odd_numbers(cell):
    ours, polars = number_of(cell), pl.Series([cell]).cast(pl.Float64, strict=False)[0]
    assert ours == polars or (math.isnan(ours) and math.isnan(polars))


@pytest.mark.parametrize("cells", [[True, False, None], [1, -7, None], [1e-5, 1.5e-6, 1e16, -0.0]])
def test_columns_with_types(cells):
    column = pl.Series(cells)
    assert [text_of(cell) for cell in cells] == column.cast(pl.String).to_list()
    assert names_of_cells(cells) == names_of(column).to_list()
    assert labels_of_cells(cells) == label_names(column).to_list()
    assert [number_of(cell) for cell in cells] == column.cast(pl.Float64).to_list()


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (np.float64(2.5), 2.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (float("nan"), None),
        (2**70, str(2**70)),
        (b"caf\xe9", "caf\ufffd"),
        ("\ud800", "?"),
        (datetime.datetime(2026, 1, 2, 3), "2026-01-02 03:00:00.000000"),
        ({"a": [1]}, '{"a": [1]}'),
    ],
)
def test_any_value_is_a_cell(value, cell):
    assert cell_of(value) == cell
    assert type(cell_of(value)) is type(cell)
