"""Columns as names, texts and numbers, and any value of Python as a cell."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.tables.columns.cell_names import as_numbers, as_texts, cell_of, names_of
from quantshift.tables.columns.labels import label_name, label_names


@given(st.integers(-(2**53), 2**53), st.sampled_from(["", ".", ".0", ".00"]))
def test_whole_numbers_have_one_name_in_every_type(number, end):
    columns = ([number], [float(number)], [f" {number}{end} "])
    assert {names_of(pl.Series(column))[0] for column in columns} == {str(number)}
    assert {as_numbers(pl.Series(column))[0] for column in columns} == {number}


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (
            ["inf", "1_000", "0x10", ".5", "1.", " 7", "", None],
            [np.inf, None, None, 0.5, 1, 7, None, None],
        ),
        ([True, False, None], [1, 0, None]),
        ([datetime.date(2026, 1, 2)], [None]),
    ],
)
def test_what_is_a_number(cells, numbers):
    assert as_numbers(pl.Series(cells)).to_list() == numbers


def test_texts_of_every_type():
    frame = pl.DataFrame(
        {
            "truth": [True, None],
            "date": [datetime.date(2026, 1, 2), None],
            "moment": [datetime.datetime(2026, 1, 2, 3), None],
            "small": pl.Series([0.1, None], dtype=pl.Float32),
            "list": [[1, 2], None],
        }
    )
    assert [as_texts(column)[0] for column in frame] == [
        "true",
        "2026-01-02",
        "2026-01-02 03:00:00.000000",
        "0.1",
        "[1, 2]",
    ]
    assert all(as_texts(column)[1] is None for column in frame)


def test_labels_that_mean_none():
    column = pl.Series(["1.0", " yes", "NA", "", None])
    assert label_names(column).to_list() == ["1", "yes", None, None, None]
    assert label_names(column, [" yes "]).to_list() == ["1", None, "NA", None, None]
    assert label_names(pl.Series([True, None])).to_list() == ["True", None]
    given = (True, 2.0, np.int64(3), "a ")
    assert [label_name(value) for value in given] == ["True", "2", "3", "a"]


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
