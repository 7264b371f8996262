"""Cells of both kinds give the same values and the same frames."""

import datetime

import pandas as pd
import polars as pl
import pytest

from quantshift.tables.cells import FrameCells, ListedCells, joined_columns, taken_rows
from quantshift.tables.formats import values as of_values
from quantshift.tables.formats.frames import frame_table, given_frame
from quantshift.tables.reading import open_table

COLUMNS = {
    "text": ["a", None, "c"],
    "whole": [1, 2, None],
    "number": [0.5, None, 2.0],
    "truth": [True, False, None],
}
TYPES = {"text": str, "whole": int, "number": float, "truth": bool}


@pytest.fixture
def both():
    frame = pl.DataFrame(COLUMNS)
    return ListedCells(COLUMNS, TYPES), FrameCells(frame)


def test_both_kinds_of_cells_agree(both):
    listed, framed = both
    assert listed.names == framed.names == tuple(COLUMNS)
    assert len(listed) == len(framed) == 3
    assert listed.frame().equals(framed.frame())
    assert listed.frame().schema == framed.frame().schema
    for name in COLUMNS:
        assert listed.values(name) == framed.values(name) == COLUMNS[name]


def test_some_rows_and_columns(both):
    for cells in both:
        part = cells.select(["whole", "text"]).slice(1, 5)
        assert part.names == ("whole", "text")
        assert part.values("whole") == [2, None]
        assert part.frame().rows() == [(2, None), (None, "c")]


def test_columns_that_share_a_type_with_other_files(both):
    wider = {"text": str, "whole": float, "number": str, "truth": str}
    listed, framed = (cells.cast(wider) for cells in both)
    assert listed.frame().equals(framed.frame())
    assert listed.values("number") == ["0.5", None, "2.0"]
    assert listed.values("truth") == ["true", "false", None]


def test_other_types_of_polars_are_texts_or_numbers():
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5)
    frame = pl.DataFrame(
        {
            "date": [moment.date(), None],
            "moment": [moment, None],
            "span": [datetime.timedelta(hours=1), None],
            "small": pl.Series([0.1, None], dtype=pl.Float32),
            "byte": pl.Series([7, None], dtype=pl.UInt8),
        }
    )
    cells = FrameCells(frame)
    assert [cells.values(name)[0] for name in frame.columns] == [
        "2026-01-02",
        "2026-01-02 03:04:05.000000",
        "1:00:00",
        0.1,
        7,
    ]
    assert all(cells.values(name)[1] is None for name in frame.columns)


def test_parts_are_joined_and_rows_taken(both):
    listed, framed = both
    joined = joined_columns([listed, framed], ["whole", "text"])
    assert joined == {"whole": [1, 2, None] * 2, "text": ["a", None, "c"] * 2}
    assert taken_rows(joined, [5, 0]) == {"whole": [None, 1], "text": ["c", "a"]}


def test_a_frame_of_pandas_has_the_same_cells_without_polars():
    moments = pd.to_datetime(["2026-01-02 03:04:05", None, "2026-03-04 00:00:00"])
    frame = pd.DataFrame(
        {
            "text": ["a", None, " nan "],
            "whole": [1, 2, 3],
            "number": [0.5, float("nan"), 2.0],
            "truth": [True, False, True],
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "category": pd.Categorical(["x", None, "y"]),
            "moment": moments,
            5: [1, 2, 3],
        }
    )
    mixed = pd.DataFrame({"mixed": [1, "a", None], "truths": [1, True, None]})
    assert_same_cells(frame)
    assert_same_cells(mixed)


def assert_same_cells(frame):
    small = of_values.pandas_table("the table", frame)
    whole = frame_table("the table", given_frame(frame, "the table"))
    assert small.columns == whole.columns
    (ours,), (theirs,) = (list(table.chunks(table.columns)) for table in (small, whole))
    for name in small.columns:
        assert ours.cells.values(name) == theirs.cells.values(name), name


def test_lists_in_a_column_of_values_are_nested():
    table = of_values.table_of_values("the table", {"a": [[1], None], "b": ["x", "y"]})
    assert table.nested == {"a"}
    assert open_table(table) is table
