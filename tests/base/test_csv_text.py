"""CSV is written in one place, and every reader gets back the cells that were written."""

import ast
import csv
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quantshift
from quantshift.answers.show.records import as_csv
from quantshift.base.storage.csv_text import csv_text, frame_csv
from quantshift.tables.formats.csv import CSV
from quantshift.tables.reading import open_table

SOURCE = Path(quantshift.__file__).parent
WRITERS = {"writer", "DictWriter", "write_csv", "sink_csv", "to_csv"}
CELLS = st.text(alphabet="a,;\t\"'\r\n é=", max_size=6)


def read(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1), st.sampled_from(",\t"))
def test_a_reader_gets_the_cells_that_were_written(rows, delimiter):
    text = csv_text(rows, delimiter=delimiter)
    found = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    assert [tuple(row) for row in found] == rows


def test_a_carriage_return_is_quoted_and_lines_end_in_a_line_feed():
    assert csv_text([["a\rb", "c\nd"], ["e", 1]]) == '"a\rb","c\nd"\ne,1\n'


def test_frames_are_written_alike():
    frame = pl.DataFrame({"a\rb": ["one\rtwo", 'q"', "x,y", "n\nm", "plain"], "c": list("vwxyz")})
    assert frame_csv(frame).decode() == csv_text([frame.columns, *frame.rows()])
    assert frame_csv(frame, header=False).decode() == csv_text(frame.rows())


def test_names_with_a_carriage_return_keep_their_row():
    # Such a name broke its row in `--csv` and `history export`: the cell was not quoted.
    records = [{"batch": "b\r1", "class": "bad\rnews", "estimate": 0.25}]
    assert read(as_csv(records)) == [["batch", "class", "estimate"], ["b\r1", "bad\rnews", "0.25"]]


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_our_own_reader_gets_them_too(tmp_path, ending):
    path = tmp_path / f"sheet{ending}"
    rows = [["one\rtwo", "x"], ["a\tb,c", 'q"']]
    path.write_bytes(CSV.write(ending, ["first\rname", "second"], rows))
    table = open_table(path)
    chunks = list(table.chunks(table.columns))
    assert [chunks[0].columns[name].to_list() for name in ("first\rname", "second")] == [
        ["one\rtwo", "a\tb,c"],
        ["x", 'q"'],
    ]


def test_nothing_else_writes_csv():
    elsewhere = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if path.name != "csv_text.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in WRITERS
        # The method of answers is called like those of frames.
        and not (node.func.attr == "to_csv" and not node.args and not node.keywords)
    ]
    assert elsewhere == []
