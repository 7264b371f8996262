"""Items of a sheet by number, by id and by content."""

import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.labelling.findings import SheetFindings
from quantshift.labelling.sheets.matching import rows_by_content, rows_by_id, rows_by_number
from tests.labelling.sheets.made_sheets import DRAWN_BY, WORDS, drawn, filled, opened

COLUMNS = ("word", "n")


def own_table(words, label="a"):
    """A table that people made themselves."""
    return pl.DataFrame({"word": words, "y": [label] * len(words)})


def test_items_with_equal_content_are_taken_in_turn():
    sheet = filled(own_table(["red", "pink", "red"]), ordered=False)
    tables = [opened(pl.DataFrame({"word": ["pink", "blue"]})), opened()]
    found = rows_by_content(sheet, ["word"], tables, drawn_by=DRAWN_BY)
    assert found == [(1, 1), (0, 1), (1, 4)]


def test_more_equal_items_than_the_sample_has_are_refused():
    sheet = filled(own_table(["red"] * 3), ordered=False)
    with pytest.raises(DataError, match="row 3 is not an item of the sample"):
        rows_by_content(sheet, ["word"], [opened()], drawn_by=DRAWN_BY)
    with pytest.raises(DataError, match="nor the column 'n'"):
        rows_by_content(sheet, ["word", "n"], [opened()], drawn_by=DRAWN_BY)


def test_ids_are_found_in_several_tables():
    sheet = filled(own_table(["b", "d", "a"]), ordered=False)
    tables = [opened(pl.DataFrame({"word": list(words)})) for words in ("xa", "db")]
    assert rows_by_id(sheet, "word", tables, drawn_by=DRAWN_BY) == [(1, 2), (1, 1), (0, 2)]
    again = [opened(pl.DataFrame({"word": list("bbad")}))]
    with pytest.raises(DataError, match="row 2: duplicate id 'b'"):
        rows_by_id(sheet, "word", again, drawn_by=DRAWN_BY)
    with pytest.raises(DataError, match="row 3: there is no id 'a'"):
        rows_by_id(sheet, "word", tables[1:], drawn_by=DRAWN_BY)


@pytest.fixture
def sheet(tmp_path):
    """All items of the table, labelled, in another order."""
    path = tmp_path / "sheet.csv"
    order = (6, 2, 4, 1, 3, 5)
    drawn(rows=order, labels=dict.fromkeys(order, "a"), probabilities=None).write(path)
    return pl.read_csv(path, infer_schema=False)


def numbered(sheet, words=WORDS):
    sample = opened(pl.DataFrame({"word": words, "n": [1, 2, 3, 1, 5, 6]}))
    return rows_by_number(filled(sheet), sample, COLUMNS, label="y", drawn_by=DRAWN_BY)


def test_the_items_of_a_plan_are_found_by_their_numbers(sheet):
    assert numbered(sheet) == ([6, 2, 4, 1, 3, 5], [])
    with pytest.raises(DataError, match="item 6 of a sample of 5 rows"):
        rows_by_number(
            filled(sheet),
            opened(pl.DataFrame({"word": WORDS[:5], "n": [1, 2, 3, 1, 5]})),
            COLUMNS,
            label="y",
            drawn_by=DRAWN_BY,
        )


def test_a_few_edited_cells_are_counted_and_more_are_another_table(sheet):
    """Half of the rows must be as they were, and half of the cells of every other row."""
    edited = list(WORDS)
    for i, place in enumerate((0, 1, 2), start=1):
        edited[place] = f"edited {i}"
        rows, findings = numbered(sheet, edited)
        assert rows == [6, 2, 4, 1, 3, 5]
        assert findings == [SheetFindings.EDITED_CELLS.found(table="sheet", n=i)]
    edited[3] = "edited 4"
    with pytest.raises(DataError, match="has different content"):
        numbered(sheet, edited)


def test_a_row_of_which_nothing_is_left_is_of_another_table(sheet):
    other = sheet.with_columns(
        pl.when(pl.col("item") == "2").then(pl.lit("9")).otherwise(column).alias(column)
        for column in COLUMNS
    )
    with pytest.raises(DataError, match="row 2: item 2 of the sample has different content"):
        numbered(other, ["red", "other", *WORDS[2:]])


def test_if_fewer_than_half_of_the_rows_are_as_they_were_the_others_do_not_pass(sheet):
    """Two of five: their other cells agree, but it is another table."""
    five = sheet.filter(pl.col("item") != "6")
    with pytest.raises(DataError, match="has different content"):
        numbered(five, ["edited", "edited", "edited", *WORDS[3:]])
    rows, findings = numbered(five, ["edited", "edited", *WORDS[2:]])
    assert rows == [2, 4, 1, 3, 5]
    assert findings == [SheetFindings.EDITED_CELLS.found(table="sheet", n=2)]
