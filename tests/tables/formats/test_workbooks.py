"""Workbooks: which sheet is the table, and what is refused before it is read."""

import zipfile

import pytest

from quantshift.errors import DataError, UserError
from quantshift.quantifying import quantify
from quantshift.tables.columns.findings import TableFindings
from quantshift.tables.reading import expanded, open_table, read_frame
from tests.found import only
from tests.lab.data.made_workbooks import workbook

ROWS = [["a", "b"], [1, "x"], [2, "y"]]
OTHER = [["a", "b"], [3, "z"]]


def read(path):
    table = open_table(path)
    return [row for chunk in table.chunks(table.columns) for row in chunk.columns.rows()]


def test_the_only_visible_sheet_with_data_is_the_table(tmp_path):
    """The first sheet used to be read, even if hidden, without a word of the others."""
    path = workbook(tmp_path / "t.xlsx", Notes=[], Old=OTHER, Data=ROWS, hidden=["Old"])
    assert read(path) == [(1, "x"), (2, "y")]
    assert read_frame(path).columns.rows() == [(1, "x"), (2, "y")]


def test_several_sheets_with_data_are_refused_and_one_can_be_named(tmp_path):
    path = workbook(tmp_path / "t.xlsx", **{"March": ROWS, "April #2": OTHER})
    with pytest.raises(
        DataError,
        match=r"t.xlsx: 2 sheets hold data: 'March', 'April #2'; name one after the file, "
        r".*t.xlsx#March$",
    ):
        open_table(path)
    assert read(f"{path}#April #2") == [(3, "z")]
    assert open_table(f"{path}#March").name == f"{path}#March"
    assert expanded([f"{path}#March"]) == [f"{path}#March"]
    with pytest.raises(UserError, match=r"unknown sheet of .*t.xlsx: 'march'; did you mean 'March"):
        open_table(f"{path}#march")


def test_a_hidden_sheet_is_read_only_if_it_is_named(tmp_path):
    path = workbook(tmp_path / "t.xlsx", Old=OTHER, hidden=["Old"])
    with pytest.raises(DataError, match=r"only hidden sheets hold data; .*t.xlsx#Old$"):
        open_table(path)
    assert read(f"{path}#Old") == [(3, "z")]


def test_a_file_with_a_number_sign_in_its_name_is_that_file(tmp_path):
    path = workbook(tmp_path / "t.xlsx#1.xlsx", ROWS)
    assert read(path) == [(1, "x"), (2, "y")]


def test_an_empty_workbook_is_one_line(tmp_path):
    with pytest.raises(DataError, match=r"t.xlsx: the workbook is empty$"):
        open_table(workbook(tmp_path / "t.xlsx", []))


@pytest.mark.parametrize("header", [["a", "b", "a"], ["a", "a", "a_1"]])
def test_two_columns_of_one_name_are_refused(tmp_path, header):
    """The first used to be the column, the second one of another name."""
    path = workbook(tmp_path / "t.xlsx", [header, [1, 2, 3]])
    with pytest.raises(DataError, match=r"t.xlsx: two columns are called 'a'; rename one$"):
        open_table(path)


def test_names_that_only_look_repeated_are_fine(tmp_path):
    assert open_table(workbook(tmp_path / "t.xlsx", [["a", "a_1"], [1, 2]])).columns == ("a", "a_1")


def test_empty_cells_of_a_single_column_are_rows(tmp_path):
    """They used to be skipped."""
    assert read(workbook(tmp_path / "t.xlsx", [["p"], [0.5], [None], [0.25], [None]])) == [
        (0.5,),
        (None,),
        (0.25,),
    ]
    assert read(workbook(tmp_path / "u.xlsx", [["p", "q"], [1, 2], [None, None], [3, 4]])) == [
        (1, 2),
        (3, 4),
    ]


def test_columns_without_values_are_no_message_of_the_reader(tmp_path, capfd, caplog):
    """It printed `Could not determine dtype for column 1, falling back to string`."""
    path = workbook(tmp_path / "t.xlsx", [["a", "b"], [1, None], [2, None]])
    assert read(path) == [(1, None), (2, None)]
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


@pytest.mark.parametrize(
    "stray",
    [
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        "<row r='1048576'><c s='1' r = 'XFD1048576'><v>1</v></c></row>",
        '<row r="1"><c r="XFD1"/></row><row r="1048576"><c><v>1</v></c></row>',
        f'<row>{"<c/>" * 2000}</row><row r="1048576"><c/></row>',
    ],
)
def test_a_stray_cell_far_away_is_refused_before_it_is_read(tmp_path, stray):
    """The reader used to ask for 17 billion cells and to abort the process with signal 6."""
    path = workbook(tmp_path / "t.xlsx", a='<row r="1"><c r="A1"><v>1</v></c></row>' + stray)
    with pytest.raises(
        DataError,
        match=r"sheet 'a' reaches to row 1,048,576 and column [\d,]+, but only \d cells hold "
        r"something; delete the stray cells, or save the sheet as CSV$",
    ):
        open_table(path)


def test_parts_that_are_missing_or_broken_are_one_line(tmp_path):
    path = workbook(tmp_path / "t.xlsx", ROWS)
    for removed, message in (
        ("xl/workbook.xml", "not an .xlsx workbook; save it as .xlsx or CSV"),
        ("xl/_rels/workbook.xml.rels", "not a readable workbook"),
        ("xl/worksheets/sheet1.xml", "the workbook is empty"),
    ):
        with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as part:
            for name in whole.namelist():
                if name != removed:
                    part.writestr(name, whole.read(name))
        with pytest.raises(DataError, match=rf"b.xlsx: {message}"):
            open_table(tmp_path / "b.xlsx")


def test_truth_values_among_numbers_stay_truth_values(tmp_path):
    """They used to be 1 and 0, without a warning."""
    rows = [
        ["n", "m", "truth"],
        [1.5, 1, True],
        [True, 2, False],
        [None, 3, True],
        [False, 4, True],
    ]
    assert read(workbook(tmp_path / "t.xlsx", rows)) == [
        ("1.5", 1, True),
        ("true", 2, False),
        (None, 3, True),
        ("false", 4, True),
    ]


def test_a_hidden_sheet_that_was_not_read_is_mentioned(tmp_path):
    """It used to be ignored without a word."""
    path = workbook(tmp_path / "t.xlsx", Data=ROWS, Old=OTHER, Empty=[], hidden=["Old", "Empty"])
    old = TableFindings.HIDDEN_SHEET.found(sheet="Old")
    assert open_table(path).findings == (old,)
    other = workbook(tmp_path / "u.xlsx", Data=OTHER, Old=OTHER, hidden=["Old"])
    both = (old.in_table(str(path)), old.in_table(str(other)))
    assert open_table([path, other]).findings == both
    assert open_table(f"{path}#Data").findings == ()


def test_a_hidden_sheet_is_a_finding_of_the_result(tmp_path):
    rows = [["p"], [0.5], [0.25]]
    path = workbook(tmp_path / "t.xlsx", Data=rows, Old=rows, hidden=["Old"])
    found = quantify(path, posteriors=["p"], replicates=100)
    assert only(found.findings, TableFindings.HIDDEN_SHEET).about.table == str(path)
