"""Sheets as they are drawn: their columns, their cells, and what goes together on them."""

import polars as pl
import pytest

from quantshift.errors import UserError
from quantshift.labelling.sheets.drawn import is_blank_sheet
from tests.labelling.sheets.made_sheets import drawn, opened


def written(sheet, tmp_path, **options) -> pl.DataFrame:
    path = tmp_path / "sheet.csv"
    sheet.write(path, **options)
    return pl.read_csv(path, infer_schema=False)


def test_a_line_has_the_cells_of_its_item_and_its_place(tmp_path):
    frame = written(drawn(), tmp_path)
    assert frame.columns == ["item", "y", "word", "n", "probability", "plan", "place", "check"]
    assert frame.drop("plan", "check").rows() == [
        ("5", None, "grey", "5", "0.5", "1"),
        ("1", None, "red", "1", "0.25", "2"),
        ("3", "yes", "'=blue()", "3", "1", "3"),
    ]
    assert frame["plan"].str.ends_with("-3").all()
    assert frame["plan"].n_unique() == 1


def test_without_probabilities_there_is_no_column_of_them(tmp_path):
    frame = written(drawn(probabilities=None), tmp_path)
    assert frame.columns == ["item", "y", "word", "n", "plan", "place", "check"]
    assert frame["place"].to_list() == ["1", "2", "3"]


def test_the_plan_is_named_after_its_rows_and_probabilities(tmp_path):
    names = [
        written(sheet, tmp_path, overwrite=True)["plan"][0]
        for sheet in (drawn(), drawn(rows=(1, 5, 3)), drawn(probabilities=("0.5", "0.5", "1")))
    ]
    assert len(set(names)) == 3


def test_columns_of_the_table_with_names_of_the_sheet_get_others(tmp_path):
    table = opened(pl.DataFrame({"item": ["a"] * 6, "y": ["no"] * 6, "place": range(6)}))
    sheet = drawn(table=table, content=("item",), probabilities=None)
    frame = written(sheet, tmp_path)
    named = ["item (in the table)", "place (in the table)"]
    assert frame.columns == ["item", "y", *named, "plan", "place", "check"]
    assert frame["place (in the table)"].to_list() == ["4", "0", "2"]
    with pytest.raises(UserError, match="a column 'place' of its own"):
        drawn(label="place").write(tmp_path / "other.csv")


def test_only_a_sheet_without_labels_is_blank(tmp_path):
    path = tmp_path / "sheet.csv"
    drawn(labels={}).write(path)
    assert is_blank_sheet(path)
    drawn(labels={}).write(path)
    drawn().write(path)
    with pytest.raises(UserError, match="holds 1 labels"):
        drawn().write(path)
    path.write_text("item,check\n1,2\n")
    assert not is_blank_sheet(path)
    path.write_text("item,y,word\n1,,a\n")
    assert not is_blank_sheet(path)
