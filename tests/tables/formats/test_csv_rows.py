"""Both parsers of CSV rows give the same rows, and leave out the same ones."""

import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.errors import DataError
from quantshift.tables.formats import csv_rows
from quantshift.tables.reading import open_table, read_frame

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=6)


def read(path, without_arrow: bool):
    """All rows by chunks and at once, with the counts of rows that were left out."""
    with pytest.MonkeyPatch.context() as patch:
        if without_arrow:
            patch.setattr(csv_rows, "installed_arrow", lambda: None)
        table = open_table(path)
        chunks = [*table.chunks(table.columns)]
        frame = read_frame(path)
    rows = [row for chunk in chunks for row in chunk.columns.rows()]
    assert rows == frame.columns.rows()
    assert sum(chunk.ragged for chunk in chunks) == frame.ragged
    where = next((chunk.first_ragged for chunk in chunks if chunk.first_ragged), "")
    assert where == frame.first_ragged
    return rows, frame.ragged, where


def read_or_refused(path, *, without_arrow: bool):
    """What is read, or why the file is refused: a header of one column does not show the delimiter,
    so that quotes of further cells may look as if they were never closed.
    """
    try:
        return read(path, without_arrow=without_arrow)
    except DataError as error:
        return str(error)


@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=8),
    st.integers(1, 3),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_both_parsers_give_the_same(tmp_path_factory, rows, n_columns, delimiter, end, gzipped):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow([f"column {i}" for i in range(n_columns)])
    writer.writerows(rows)
    content = text.getvalue().encode()
    path = tmp_path_factory.mktemp("csv") / ("t.csv.gz" if gzipped else "t.csv")
    path.write_bytes(gzip.compress(content) if gzipped else content)
    outcome = read_or_refused(path, without_arrow=True)
    assert outcome == read_or_refused(path, without_arrow=False)
    assert n_columns == 1 or not isinstance(outcome, str)


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
        b"sep=;\na;b\n1;2\n",
    ],
)
def test_both_parsers_give_the_same_of_odd_files(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert read(path, without_arrow=True) == read(path, without_arrow=False)


def test_a_cell_that_is_too_long_is_refused_alike(tmp_path):
    # The limit belongs to the process: another library may have raised it.
    csv.field_size_limit(1 << 30)
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{'x' * 9_000_000},1\n")
    messages = set()
    for without_arrow in (True, False):
        with pytest.raises(DataError) as caught:
            read(path, without_arrow=without_arrow)
        messages.add(str(caught.value))
    assert messages == {f"{path}: a row is longer than 4 MB; is every row on its own line?"}


def test_many_rows_come_in_several_blocks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},x\n" for i in range(10_000)) + "1\n")
    rows, ragged, where = read(path, without_arrow=True)
    assert rows == [(str(i), "x") for i in range(10_000)]
    assert (ragged, where) == (1, "line 10002")
