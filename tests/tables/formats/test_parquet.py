"""Parquet files: rows as they are stored, in groups, and sheets written and read again."""

import math

import polars as pl
import pytest

from quantshift.tables import open_table, read_frame
from quantshift.tables.formats.parquet import PARQUET

ROWS = pl.DataFrame(
    {"p": [0.5, None, math.nan, 1.0, 0.0], "n": pl.Series([1, 2, None, 4, 5], dtype=pl.Int16)}
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.parquet"
    ROWS.write_parquet(path, row_group_size=2)
    return path


def test_stored_rows_keep_types_gaps_and_nan(file):
    stored = PARQUET.stored(file)
    assert stored.columns == ("p", "n")
    assert stored.sizes == (2, 2, 1)
    assert pl.concat(stored.read(["p", "n"], None, 100)).equals(ROWS)
    chunk = next(iter(open_table(file).chunks(["p"])))
    assert chunk.columns["p"].to_list() == [0.5, None, None, 1.0, 0.0]


def test_stored_rows_of_some_groups_and_columns_in_small_parts(file):
    stored = PARQUET.stored(file)
    parts = list(stored.read(["n"], [0, 2], 2))
    assert pl.concat(parts)["n"].to_list() == [1, 2, 5]
    assert {part.width for part in parts} == {1}
    assert max(map(len, stored.read(["n"], None, 1))) == 1


def test_what_is_written_is_read(tmp_path):
    rows = [["1", "a|b"], ["2", None]]
    (tmp_path / "sheet.parquet").write_bytes(PARQUET.write(".parquet", ["item", "text"], rows))
    read = read_frame(tmp_path / "sheet.parquet").columns
    assert [list(row) for row in read.rows()] == rows
    assert read.columns == ["item", "text"]
