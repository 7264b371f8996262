"""Whatever a file has been through: one error, or every row is used or reported."""

import csv
import io
import itertools
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.errors import DataError
from quantshift.tables.reading import MISSING, open_table, read_frame

CELLS = st.text(st.sampled_from("ab1 .\"\n\r,;\tü\u2028'"), max_size=8) | st.sampled_from(
    ["positive", "negative", "12", "0.5", "2024-01-02", '""', "a,b\nc,d"]
)
NAMES = st.lists(
    st.text(st.sampled_from('ab"\n, '), min_size=1, max_size=4).map(lambda name: f"c{name}"),
    min_size=1,
    max_size=4,
    unique=True,
)
DELIMITERS = st.sampled_from(",;\t")


@st.composite
def tables(draw):
    """Names, rows of cells, and how they are written."""
    names = draw(NAMES)
    row = st.lists(CELLS, min_size=len(names), max_size=len(names))
    rows = draw(st.lists(row, max_size=12))
    style = {
        "delimiter": draw(DELIMITERS),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "lineterminator": draw(st.sampled_from(["\n", "\r\n"])),
    }
    return names, rows, style


def written(names, rows, style):
    file = io.StringIO(newline="")
    csv.writer(file, **style).writerows([names, *rows])
    return file.getvalue().encode()


def as_read(cell):
    return None if cell.strip() in MISSING else cell


def read(path, *, lenient=False):
    """The rows and the number of those left out."""
    table = open_table(path, lenient=lenient)
    chunks = list(table.chunks(table.columns))
    frame = read_frame(path, lenient=lenient)
    rows = [row for chunk in chunks for row in chunk.columns.rows()]
    ragged = sum(chunk.ragged for chunk in chunks)
    assert frame.ragged == ragged
    assert frame.columns.rows() == rows
    assert all(chunk.columns.schema == dict.fromkeys(table.columns, pl.String) for chunk in chunks)
    if ragged:
        assert [c.first_ragged for c in chunks if c.first_ragged] != []
    return rows, ragged


@pytest.mark.slow
@given(tables())
@settings(max_examples=300)
def test_undamaged_tables_are_read_back(tmp_path_factory, table):
    names, rows, style = table
    if len(names) < 2 or any("," in name for name in names):
        # Which separator it is shows in the header.
        style["delimiter"] = ","
    if any("\r" in cell for row in rows for cell in row):
        # The writer does not quote every line end.
        style["quoting"] = csv.QUOTE_ALL
    path = tmp_path_factory.mktemp("fuzz") / "a.csv"
    path.write_bytes(written(names, rows, style))
    found, ragged = read(path)
    assert found == [tuple(map(as_read, row)) for row in rows]
    assert ragged == 0


@st.composite
def damaged(draw):
    """A file that some bytes were put into, taken out of or replaced."""
    names, rows, style = draw(tables())
    content = bytearray(written(names, rows, style))
    byte = st.sampled_from(b'",;\t\n\ra\xff\xc3')
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        how = draw(st.sampled_from(["put in", "take out", "replace"]))
        content[at : at + (how != "put in")] = bytes([draw(byte)]) * (how != "take out")
    return bytes(content)


def rows_in(content, delimiter):
    """The records of a file by another reader; blank lines are missing cells of a single column."""
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header, *rows = itertools.dropwhile(lambda row: not row, reader)
    return len(rows) if len(header) == 1 else len([row for row in rows if row])


def delimiter_of(content):
    line = re.sub(rb'"[^"]*"', b"", content.lstrip(b"\r\n")).split(b"\n", 1)[0]
    return max(",;\t", key=lambda d: line.count(d.encode()))


@pytest.mark.slow
@given(damaged())
@settings(max_examples=500)
def test_damaged_tables_are_refused_or_accounted_for(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "a.csv"
    path.write_bytes(content)
    try:
        rows, ragged = read(path)
    except DataError:
        return
    assert len(rows) + ragged == rows_in(content, delimiter_of(content))


@pytest.mark.slow
@given(damaged())
@settings(max_examples=300)
def test_line_by_line_every_line_is_used_or_reported(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "a.csv"
    content = content.replace(b"\r", b"")
    path.write_bytes(content)
    try:
        rows, ragged = read(path, lenient=True)
    except DataError as error:
        if "quote" in str(error):
            raise
        return
    lines = content.lstrip(b"\n").removesuffix(b"\n").split(b"\n")[1:]
    single = any(len(row) == 1 for row in rows)  # of whose cells blank lines are missing ones
    assert len(rows) + ragged == len([line for line in lines if line or single])
