"""Sheets as they come back: labels in the order of the plan, and cells that go together."""

import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.labelling.findings import SheetFindings
from quantshift.labelling.sheets.filled import in_order_of_places, left_open, read_sheet
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


def test_rows_that_are_still_open_are_found(blank):
    frame = blank.with_columns(y=pl.Series(["a", None, "b"]))
    assert [(f.code, f.numbers["n"]) for f in left_open(filled(frame))] == [
        (SheetFindings.ROWS_WITHOUT_LABEL, 1)
    ]
    assert left_open(filled(blank.with_columns(y=pl.lit("a")))) == []
    (gone,) = left_open(filled(frame[:2]))
    assert (gone.code, gone.numbers["n"], gone.numbers["n_rows"]) == (
        SheetFindings.ROWS_OF_PLAN_GONE,
        2,
        3,
    )


def test_rows_of_two_plans_are_refused(blank, tmp_path):
    drawn(rows=(5, 1, 2), labels={}).write(tmp_path / "other.csv")
    other = pl.read_csv(tmp_path / "other.csv", infer_schema=False)
    both = pl.concat([blank[:2], other[2:]]).with_columns(y=pl.lit("a"))
    with pytest.raises(DataError, match="row 3 is of another plan"):
        filled(both)
