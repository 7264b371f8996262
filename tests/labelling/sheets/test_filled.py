"""Sheets as they come back: labels in the order of the plan, and cells that go together."""

import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.labelling.sheets.filled import in_order_of_places, read_sheet
from tests.labelling.sheets.made_sheets import DRAWN_BY, drawn, filled, opened


@pytest.fixture
def blank(tmp_path):
    drawn().write(tmp_path / "sheet.csv")
    return pl.read_csv(tmp_path / "sheet.csv", infer_schema=False)


def test_a_filled_sheet_comes_back_in_the_order_of_its_plan(blank):
    frame = blank.with_columns(y=pl.Series(["a", None, "b"]))
    sheet = filled(frame[::-1])
    assert (sheet.numbers, sheet.labels, sheet.places) == ([3, 1], ["a", "b"], [1, 3])
    assert (sheet.unlabelled, sheet.removed) == (1, 0)
    assert sheet.cells["word"] == ["grey", "=blue()"]
    assert filled(frame[:1]).removed == 2


@pytest.mark.parametrize("column", ["item", "place", "probability", "check"])
def test_cells_that_do_not_go_together_are_refused(blank, column):
    frame = blank.with_columns(y=pl.lit("a"))
    changed = {"probability": "0.75"}.get(column, frame[column][1])
    other = frame.with_columns(
        pl.when(pl.int_range(3) == 0).then(pl.lit(changed)).otherwise(column).alias(column)
    )
    with pytest.raises(DataError, match="row 1: the cells in the columns item"):
        filled(other)


def test_a_table_of_people_is_put_into_the_order_of_its_places():
    table = pl.DataFrame({"y": ["a", "b", None], "place": [2, 1, 3], "word": ["r", "g", "b"]})
    sheet = read_sheet(opened(table), label="y", beside=["place", "word", "other"], missing=None)
    assert sheet.cells == {"place": ["2", "1"], "word": ["r", "g"]}
    ordered = in_order_of_places(sheet, drawn_by=DRAWN_BY)
    assert (ordered.numbers, ordered.labels, ordered.places) == ([2, 1], ["b", "a"], [1, 2])
    assert ordered.unlabelled == 1
