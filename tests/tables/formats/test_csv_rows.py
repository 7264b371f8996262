"""The rows of CSV files are those of Python's own parser, and the same ones are left out."""

import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.errors import DataError
from quantshift.tables.files.chunks import MISSING
from quantshift.tables.reading import open_table, read_frame

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=6)


def read(path):
    """All rows by chunks and at once, with the counts of rows that were left out."""
    table = open_table(path)
    chunks = [*table.chunks(table.columns)]
    frame = read_frame(path)
    rows = [row for chunk in chunks for row in chunk.columns.rows()]
    assert rows == frame.columns.rows()
    assert sum(chunk.ragged for chunk in chunks) == frame.ragged
    where = next((chunk.first_ragged for chunk in chunks if chunk.first_ragged), "")
    assert where == frame.first_ragged
    return rows, frame.ragged


def parsed(content, delimiter):
    """What Python makes of the bytes."""
    text = io.StringIO(content.decode("utf-8-sig", "replace"), newline="")
    lines = csv.reader(text, delimiter=delimiter)
    header = next(row for row in lines if row)
    # In a table of one column an empty line is a missing cell.
    given = [row or [""] for row in lines if row or len(header) == 1]
    rows = [row for row in given if len(row) == len(header)]
    cells = [tuple(None if cell.strip() in MISSING else cell for cell in row) for row in rows]
    return cells, len(given) - len(rows)


@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=8),
    st.integers(1, 3),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_rows_are_those_of_python(tmp_path_factory, rows, n_columns, delimiter, end, gzipped):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow([f"column {i}" for i in range(n_columns)])
    writer.writerows(rows)
    content = text.getvalue().encode()
    path = tmp_path_factory.mktemp("csv") / ("t.csv.gz" if gzipped else "t.csv")
    path.write_bytes(gzip.compress(content) if gzipped else content)
    # A header of one column does not show the delimiter, so that quotes of further cells may look
    # as if they were never closed.
    try:
        found = read(path)
    except DataError:
        assert n_columns == 1
    else:
        assert n_columns == 1 or found == parsed(content, delimiter)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n",
        b"a,b\n1,2",
        b"a,b",
        b"\xef\xbb\xbfa,b\r\n1,2\r\n\r\n3,4\r\n",
        b"\n\na\n1\n\n3\n",
        b"a\r1\r\r2\r",
        b"a,b\n1\n1,2\n1,2,3\n",
        b'a,b\n"1\n2","x""y"\n,NaN\n',
        b"a,b\n \n\xff,1\n",
    ],
)
def test_odd_files(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert read(path) == parsed(content, ",")


def test_the_first_line_may_declare_the_delimiter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"sep=;\na;b\n1;2\n")
    assert read(path) == ([("1", "2")], 0)


def test_a_cell_that_is_too_long_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{'x' * 9_000_000},1\n")
    with pytest.raises(DataError, match="a row is longer than 4 MB; is every row on its own line"):
        read(path)


def test_many_rows_come_in_several_blocks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},x\n" for i in range(10_000)) + "1\n")
    table = open_table(path)
    chunks = [*table.chunks(table.columns)]
    assert read(path) == ([(str(i), "x") for i in range(10_000)], 1)
    assert [chunk.first_ragged for chunk in chunks if chunk.ragged] == ["line 10002"]
    assert max(map(len, chunks)) == 4096
