"""Tables of every format give the same rows; what is wrong with a file is one line."""

import datetime
import gc
import gzip
import io
import json
import os
import random
import tempfile
import threading
import time
import tracemalloc
import zipfile
from contextlib import closing
from types import FunctionType

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quantshift.errors import DataError, UserError
from quantshift.tables.columns.findings import TableFindings
from quantshift.tables.formats import csv as csv_tables
from quantshift.tables.formats import csv_rows
from quantshift.tables.formats import json as json_tables
from quantshift.tables.formats import parquet as parquet_tables
from quantshift.tables.reading import expanded, files_of, open_table, read_frame
from tests.lab.data.made_workbooks import workbook

TEXTS = ["good, really", 'a "bad" one', "two\nlines", "naïve café"]
NUMBERS = [1, 2, 3, 4]
FRAME = pl.DataFrame({"text": TEXTS, "n": NUMBERS, "other": [True, False, True, False]})


def write(path):
    kind = path.name.partition(".")[2]
    if kind == "csv":
        FRAME.write_csv(path)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(FRAME.write_csv().encode()))
    elif kind == "tsv":
        FRAME.write_csv(path, separator="\t")
    elif kind in ("jsonl", "json", "ndjson"):
        FRAME.write_ndjson(path)
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(FRAME.write_ndjson().encode()))
    elif kind == "parquet":
        FRAME.write_parquet(path)
    elif kind == "xlsx":
        workbook(path, [["text", "n"], *zip(TEXTS, NUMBERS, strict=True)])
    else:
        raise AssertionError(kind)
    return path


def rows(source, columns=("text", "n")):
    found = {name: [] for name in columns}
    for chunk in open_table(source).chunks(columns):
        for name in columns:
            found[name] += chunk.columns[name].to_list()
    return found


@pytest.mark.parametrize(
    "ending",
    ["csv", "csv.gz", "tsv", "jsonl", "json", "ndjson", "jsonl.gz", "parquet", "xlsx"],
)
def test_every_format_gives_the_same_rows(tmp_path, ending):
    found = rows(write(tmp_path / f"table.{ending}"))
    assert found["text"] == TEXTS
    assert [float(n) for n in found["n"]] == NUMBERS


def test_data_frames_of_any_library():
    for frame in (FRAME, pd.DataFrame({"text": TEXTS, "n": NUMBERS}), pa.table({"text": TEXTS})):
        assert rows(frame, ["text"])["text"] == TEXTS
    # The class of data frames was an AttributeError.
    for frames in (pl.DataFrame, pd.DataFrame):
        with pytest.raises(UserError, match="the table must be a path or a data frame, got type"):
            open_table(frames)
    with pytest.raises(UserError, match="the table must be a path or a data frame, got int"):
        open_table([1, 2])


def test_a_semicolon_separates_too(tmp_path):
    (tmp_path / "a.csv").write_text("text;n\nyes, indeed;1\n")
    assert rows(tmp_path / "a.csv") == {"text": ["yes, indeed"], "n": ["1"]}


def test_chunks_number_their_rows(tmp_path, monkeypatch):
    for format_ in (csv_tables, json_tables, parquet_tables):
        monkeypatch.setattr(format_, "ROWS", 3)
    for ending in ("csv", "jsonl", "parquet"):
        chunks = list(open_table(write(tmp_path / f"t.{ending}")).chunks(["n"]))
        assert [(chunk.first, len(chunk)) for chunk in chunks] == [(1, 3), (4, 1)]


def test_nothing_is_none(tmp_path):
    (tmp_path / "a.csv").write_text('text,n\n"",1\nnan,2\n  ,3\nnone,4\n')
    assert rows(tmp_path / "a.csv")["text"] == [None, None, None, "none"]
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n{"text": null, "n": 2}\n{"text": "x"}\n')
    assert rows(tmp_path / "a.jsonl")["text"] == [None, None, "x"]
    frame = pd.DataFrame({"text": ["a", None], "n": [float("nan"), 1.0]})
    assert rows(frame) == {"text": ["a", None], "n": [None, 1.0]}


def test_mixed_encodings_cost_a_character(tmp_path):
    content = "text,n\nnaïve,1\n".encode() + "café,2\n".encode("latin-1")
    (tmp_path / "a.csv").write_bytes(content)
    (chunk,) = open_table(tmp_path / "a.csv").chunks(["text"])
    assert chunk.columns["text"].to_list() == ["naïve", "caf\ufffd"]
    assert chunk.undecodable == 1


def test_a_byte_order_mark_is_no_part_of_the_name(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbftext,n\nx,1\n")
    assert open_table(tmp_path / "a.csv").columns == ("text", "n")


def test_ragged_rows_are_counted(tmp_path):
    (tmp_path / "a.csv").write_text("text,n\na,1\nb,2,3\nc\nd,4\n")
    chunks = list(open_table(tmp_path / "a.csv").chunks(["text"]))
    assert [t for chunk in chunks for t in chunk.columns["text"]] == ["a", "d"]
    assert sum(chunk.ragged for chunk in chunks) == 2


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    # The parser reads up to 32 blocks ahead, which is 2 MB.
    for module in (csv_tables, csv_rows):
        monkeypatch.setattr(module, "BLOCK_BYTES", 1 << 16)
    path = tmp_path / "long.csv"
    with path.open("w") as file:
        file.write("text,n\n")
        file.writelines(f"{'word ' * 100},{i}\n" for i in range(60_000))
    assert path.stat().st_size > 28 << 20
    # Arrow counts for the whole process: what earlier tests have left is no part of this one.
    gc.collect()
    left = pa.total_allocated_bytes()
    n = arrow = 0
    tracemalloc.start()
    for chunk in open_table(path).chunks(["text"]):
        n, arrow = n + len(chunk), max(arrow, pa.total_allocated_bytes())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n == 60_000
    assert peak < 10 << 20
    assert 0 < arrow - left < 10 << 20


def test_a_table_waits_for_threads_that_hold_its_function():
    def function(row):
        return "skip"

    def let_go(held):
        time.sleep(0.05)
        held.clear()

    held = []
    with csv_rows._released_by_threads(function):
        held.append(function)
        thread = threading.Thread(target=let_go, args=(held,))
        thread.start()
    assert held == []
    thread.join()


@pytest.mark.slow
def test_a_table_left_half_read_lets_go_of_everything(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("text,n\n" + "word,1\nword\n" * 200_000)
    with closing(open_table(path).chunks(["text"])) as chunks:
        assert len(next(chunks)) == csv_tables.ROWS
    functions = [f for f in gc.get_objects() if isinstance(f, FunctionType)]
    assert [f for f in functions if f.__qualname__.endswith("read.<locals>.skip")] == []


def test_a_header_may_have_quotes_and_blank_lines_before(tmp_path):
    (tmp_path / "a.csv").write_text('\r\n\r\n"the ""text""",n\r\nx,1\r\n', newline="")
    assert open_table(tmp_path / "a.csv").columns == ('the "text"', "n")
    assert rows(tmp_path / "a.csv", ['the "text"', "n"]) == {'the "text"': ["x"], "n": ["1"]}


def test_a_header_that_is_not_utf_8_is_one_line(tmp_path):
    (tmp_path / "a.csv").write_bytes("café,n\nx,1\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"names of the columns are not UTF-8; save the file as"):
        open_table(tmp_path / "a.csv")


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_truncated_archive_is_one_line(tmp_path, keep):
    rng = random.Random(0)
    content = "text,n\n" + "".join(f"{rng.random()},{i}\n" for i in range(2000))
    packed = gzip.compress(content.encode())
    (tmp_path / "a.csv.gz").write_bytes(packed[: int(keep * len(packed))])
    with pytest.raises(DataError, match=r"a.csv.gz: truncated or damaged"):
        rows(tmp_path / "a.csv.gz")


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.csv", b"", "a.csv: the file is empty"),
        ("a.csv", b"PAR1....", "a.csv: a Parquet file, though its name ends in .csv; rename it"),
        (
            "a.csv",
            b"PK\x03\x04....",
            "a.csv: a zip archive, though its name ends in .csv; unpack it",
        ),
        ("a.csv", b"\x1f\x8b..", "a.csv: a gzip file, though its name ends in .csv; rename it"),
        ("a.csv", "text\nx".encode("utf-16"), "a.csv: text in UTF-16; save it as UTF-8"),
        ("a.csv", b"a\0b", "a.csv: not a text file, though its name ends in .csv"),
        ("a.parquet", b"text\nx", "a.parquet: not a Parquet file, though its name says so; rename"),
        ("a.xlsx", b"text\nx", "a.xlsx: not an Excel workbook, though its name says so; rename it"),
        ("a.csv.gz", b"text\nx", "a.csv.gz: not a gzip file, though its name says so; rename it"),
        ("a.jsonl", b"text,n\n", "a.jsonl: line 1 is not a JSON object"),
        ("a.jsonl", b"\n7\n", "a.jsonl: line 2 is not a JSON object"),
        (
            "a.json",
            b'[{"text": "x"}]',
            "a.json: line 1 is not a JSON object; write one object per line instead of one array",
        ),
        ("a.docx", b"x", "a.docx: unknown format '.docx'; known: .csv"),
        ("a.parquet", b"PAR1" + b"x" * 40, "a.parquet: not a readable Parquet file"),
        ("a.xlsx", b"PK\x03\x04" + b"x" * 40, "a.xlsx: not a readable workbook"),
    ],
    ids=str,
)
def test_a_file_that_is_not_what_its_name_says(tmp_path, name, content, line):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError) as caught:
        open_table(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path}/{line}")
    assert "\n" not in str(caught.value)


def test_missing_files_and_columns(tmp_path):
    with pytest.raises(DataError, match=r"nowhere.csv: no such file$"):
        open_table(tmp_path / "nowhere.csv")
    table = open_table(write(tmp_path / "a.csv"))
    with pytest.raises(DataError, match=r"a.csv: no column 'txt'; did you mean 'text'\?$"):
        list(table.chunks(["txt"]))
    (tmp_path / "b.csv").write_text("x,x\n1,2\n")
    with pytest.raises(DataError, match=r"b.csv: two columns are called 'x'; rename one$"):
        list(open_table(tmp_path / "b.csv").chunks(["x"]))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Y", "did you mean 'Y'?"),
        ("y\u200b", r"did you mean 'y\u200b'?"),
        (" y", "there is ' y': remove the blanks in its name"),
    ],
)
def test_names_that_look_alike(tmp_path, name, hint):
    (tmp_path / "a.csv").write_text(f"other,{name}\n1,2\n")
    with pytest.raises(DataError) as caught:
        list(open_table(tmp_path / "a.csv").chunks(["y"]))
    assert str(caught.value).endswith(f"a.csv: no column 'y'; {hint}")


def test_json_keys_of_later_rows_are_columns(tmp_path):
    lines = [json.dumps({"a": 1}), json.dumps({"a": 2, "b": 3})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert rows(tmp_path / "a.jsonl", ["a", "b"]) == {"a": [1, 2], "b": [None, 3]}


@pytest.mark.parametrize("good", ["", "a,1\n"])
def test_ragged_rows_at_the_end_are_counted(tmp_path, good):
    (tmp_path / "a.csv").write_text(f"text,n\n{good}b,2,3\nc\n")
    *_, last = open_table(tmp_path / "a.csv").chunks(["text"])
    assert sum(c.ragged for c in open_table(tmp_path / "a.csv").chunks(["text"])) == 2
    assert last.columns.schema == {"text": pl.String}


def test_types_are_kept_where_the_file_has_them(tmp_path):
    frame = pl.DataFrame(
        {
            "whole": [1, None],
            "real": [float("nan"), 0.5],
            "yes": [True, False],
            "day": [datetime.date(2020, 1, 2), None],
            "level": pl.Series(["a", ""], dtype=pl.Categorical),
            "raw": [b"caf\xc3\xa9", b"\xff"],
        }
    )
    frame.write_parquet(tmp_path / "a.parquet")
    for source in (frame, tmp_path / "a.parquet"):
        (chunk,) = open_table(source).chunks(frame.columns)
        assert chunk.columns.schema == {
            **frame.schema,
            "level": pl.String,
            "raw": pl.String,
        }
        assert chunk.columns.rows() == [
            (1, None, True, datetime.date(2020, 1, 2), "a", "café"),
            (None, 0.5, False, None, None, "\ufffd"),
        ]


def test_json_columns_have_one_type_in_all_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(json_tables, "ROWS", 1)
    records = [
        {"n": 1, "mixed": 1, "big": 1, "yes": True},
        {"n": 1.5, "mixed": "x", "big": 10**30, "yes": None, "late": "\ud800"},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    names = ["n", "mixed", "big", "yes", "late"]
    parts = [c.columns for c in open_table(tmp_path / "a.jsonl").chunks(names)]
    assert pl.concat(parts).rows() == [
        (1.0, "1", "1", True, None),
        (1.5, "x", str(10**30), None, "?"),
    ]


def test_columns_of_lists_or_objects_are_refused_by_name(tmp_path):
    records = [{"text": {"a": 1}, "n": 1}, {"text": ["x"], "n": 2}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    pl.DataFrame({"text": [[1], [2]], "n": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    for path in (tmp_path / "a.jsonl", tmp_path / "a.parquet"):
        table = open_table(path)
        table.require(["n"])
        with pytest.raises(
            DataError, match=r"the cells of 'text' are lists or objects; split them"
        ):
            table.require(["text"])
    (chunk,) = open_table(tmp_path / "a.jsonl").chunks(["text"])
    assert chunk.columns["text"].to_list() == ['{"a": 1}', '["x"]']


def test_pandas_columns_of_mixed_types_are_strings_and_the_index_is_no_column():
    frame = pd.DataFrame({"a": ["x", 1, None], 5: [1, 2, 3]}, index=[7, 3, 5])
    assert open_table(frame).columns == ("a", "5")
    assert rows(frame, ["a", "5"]) == {"a": ["x", "1", None], "5": [1, 2, 3]}
    assert open_table(frame[[5]]).columns == ("5",)


def total(table, columns):
    """All rows of a table, and how many were left out."""
    chunks = list(table.chunks(columns))
    numbers = [chunk.first + i for chunk in chunks for i in range(len(chunk))]
    assert numbers == list(range(1, len(numbers) + 1))
    parts = [chunk.columns for chunk in chunks]
    return pl.concat(parts).rows(), sum(chunk.ragged for chunk in chunks)


def reviews(n=300):
    words = ["fine", "dull", "long", "short"]
    rows = [[words[i % 4] + " film", ["pos", "neg"][i % 2], f"note {i % 7}"] for i in range(n)]
    return ["text", "label", "note"], rows


def as_csv(header, rows):
    return "".join(",".join(row) + "\n" for row in [header, *rows])


@pytest.mark.parametrize(
    ("places", "what"),
    [
        ([(99, 0)], "line 101: a quote (\") is opened in column 'text' and never closed"),
        ([(298, 0)], "line 300: a quote (\") is opened in column 'text' and never closed"),
        ([(99, 0), (249, 0)], "line 101: a quote (\") is opened in column 'text' and closed in"),
        ([(99, 2)], "line 101: a quote (\") is opened in column 'note' and never closed"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_quote_gone_wrong_stops_before_a_row_is_used(tmp_path, places, what, ending):
    header, rows = reviews()
    for row, column in places:
        rows[row][column] = '"' + rows[row][column]
    content = as_csv(header, rows).encode()
    path = tmp_path / f"a.{ending}"
    path.write_bytes(gzip.compress(content) if ending == "csv.gz" else content)
    for read in (open_table, read_frame):
        with pytest.raises(DataError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: {what}")
        assert str(caught.value).endswith("; fix the line, or read the file line by line")
        assert caught.value.arguments == ("lenient",)


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_lenient_reads_line_by_line(tmp_path, ending):
    header, rows = reviews()
    rows[99][0] = '"' + rows[99][0]
    rows[200] = ['"with, comma"', "pos", '""']
    content = as_csv(header, rows).replace("short film,neg,note 3\n", "two\nlines\n", 1).encode()
    path = tmp_path / f"a.{ending}"
    path.write_bytes(gzip.compress(content) if ending == "csv.gz" else content)
    table = open_table(path, lenient=True)
    assert table.name == str(path)
    found, ragged = total(table, header)
    assert (len(found), ragged) == (299, 2)
    assert found[98] == ('"short film', "neg", "note 1")
    assert found[199] == ("with, comma", "pos", None)
    frame = read_frame(path, lenient=True)
    assert (frame.columns.rows(), frame.ragged) == (found, 2)


def test_the_first_ragged_row_is_named(tmp_path):
    (tmp_path / "a.csv").write_text('text,n\n"two\nlines",1\n\nb,2,3\nc,1\nd\n')
    (chunk,) = open_table(tmp_path / "a.csv").chunks(["n"])
    assert (len(chunk), chunk.ragged, chunk.first_ragged) == (2, 2, "line 5")


def test_ragged_rows_of_bytes_that_are_no_utf_8_are_counted(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text,n\na,1\n\xff,2,3\n\xffb,4\n")
    found, ragged = total(open_table(tmp_path / "a.csv"), ["text", "n"])
    assert (found, ragged) == ([("a", "1"), ("\ufffdb", "4")], 1)


def test_a_column_without_a_name_keeps_it(tmp_path):
    (tmp_path / "a.csv").write_text(",text\n0,a\n")
    table = open_table(tmp_path / "a.csv")
    assert table.columns == ("", "text")
    assert total(table, table.columns) == ([("0", "a")], 0)


@pytest.mark.parametrize("header", ["text,n", "text,n\n"])
def test_a_header_without_rows(tmp_path, header):
    (tmp_path / "a.csv").write_text(header)
    table = open_table(tmp_path / "a.csv")
    assert table.columns == ("text", "n")
    assert list(table.chunks(["n"])) == []
    assert len(read_frame(tmp_path / "a.csv").columns) == 0
    (tmp_path / "b.csv").write_text("\n\n")
    with pytest.raises(DataError, match=r"b.csv: the file is empty$"):
        open_table(tmp_path / "b.csv")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "jsonl", "jsonl.gz", "parquet", "xlsx"])
def test_a_pipe_is_known_by_its_content(tmp_path, monkeypatch, ending):
    content = write(tmp_path / f"table.{ending}").read_bytes()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spool"))
    (tmp_path / "spool").mkdir()
    stdin = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr("sys.stdin", stdin)
    table = open_table("-")
    assert table.name == "standard input"
    found = total(table, ["text", "n"])[0]
    assert [text for text, _ in found] == TEXTS
    assert [float(n) for _, n in found] == NUMBERS
    assert len(list((tmp_path / "spool").iterdir())) == (ending != "xlsx")
    del table
    gc.collect()
    assert list((tmp_path / "spool").iterdir()) == []
    with pytest.raises(DataError, match=r"^standard input: empty; it can be read only once$"):
        open_table("-")
    gc.collect()
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_keyboard_is_no_table(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b""))
    monkeypatch.setattr(stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(UserError, match="standard input is a terminal; give a file, or pipe"):
        open_table("-")


def test_a_named_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("text,n\na,1\n",))
    writer.start()
    table = open_table(tmp_path / "pipe")
    writer.join()
    assert total(table, ["n"]) == ([("1",)], 0)
    assert total(table, ["n"]) == ([("1",)], 0)


def test_a_file_is_part_of_a_table_once(tmp_path):
    """Training tables that were named twice had narrower intervals."""
    rows = "".join(f"a,{i}\n" for i in range(400))
    for name in ("a.csv", "copy.csv", "part.csv"):
        (tmp_path / name).write_text(f"text,n\n{rows if name != 'part.csv' else 'b,1'}")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    for again in ("a.csv", "link.csv", "[a].csv"):
        with pytest.raises(UserError, match=r"\.csv is named twice, and would be counted twice"):
            open_table([tmp_path / "a.csv", tmp_path / again])
    table = open_table([tmp_path / "a.csv", tmp_path / "part.csv", tmp_path / "copy.csv"])
    assert table.findings == (TableFindings.COPIED_FILES.found(first="a.csv", second="copy.csv"),)


def test_several_files_are_one_table(tmp_path):
    (tmp_path / "a1.csv").write_text("text,n\na,1\nb,2,3\n")
    (tmp_path / "a2.csv").write_text("n,text\n3,c\n")
    for source in ([tmp_path / "a1.csv", tmp_path / "a2.csv"], f"{tmp_path}/a*.csv", tmp_path):
        table = open_table(source)
        assert table.columns == ("text", "n")
        assert total(table, ["text", "n"]) == ([("a", "1"), ("c", "3")], 1)
        (where,) = [c.first_ragged for c in table.chunks(["n"]) if c.first_ragged]
        assert where == f"{tmp_path}/a1.csv, line 3"
    assert open_table([tmp_path / "a1.csv", tmp_path / "a2.csv"]).name.endswith("a1.csv and 1 more")
    assert open_table(f"{tmp_path}/a*.csv").name == f"{tmp_path}/a*.csv"
    pl.DataFrame({"text": ["d"], "n": [4]}).write_parquet(tmp_path / "a3.parquet")
    pl.DataFrame({"text": ["e"], "n": [0.5]}).write_parquet(tmp_path / "a4.parquet")
    table = open_table(f"{tmp_path}/a[34].parquet")
    assert total(table, ["text", "n"])[0] == [("d", 4.0), ("e", 0.5)]
    assert [row[1] for row in total(open_table(tmp_path), ["text", "n"])[0]] == [
        "1",
        "3",
        "4",
        "0.5",
    ]
    (tmp_path / "a5.csv").write_text("text,m\na,1\n")
    with pytest.raises(DataError) as caught:
        open_table(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: {tmp_path}/a1.csv has a column 'n', {tmp_path}/a5.csv has not; files "
        "that form one table need the same columns"
    )
    with pytest.raises(DataError, match=r"b\*\.csv: no file matches$"):
        open_table(f"{tmp_path}/b*.csv")


def test_a_name_with_brackets_is_a_name_if_there_is_such_a_file(tmp_path):
    (tmp_path / "a[1].csv").write_text("text,n\na,1\n")
    assert open_table(f"{tmp_path}/a[1].csv").name == f"{tmp_path}/a[1].csv"


def test_each_file_of_a_pattern_or_a_folder_is_a_sample(tmp_path):
    for name in ("b.csv", "a.csv", "README", ".hidden.csv"):
        (tmp_path / name).write_text("text,n\na,1\n")
    (tmp_path / "parts").mkdir()
    FRAME.write_parquet(tmp_path / "parts" / "0.parquet")
    FRAME.write_parquet(tmp_path / "parts" / "1.parquet")
    (tmp_path / "parts" / "_SUCCESS").write_text("")
    both = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert expanded([tmp_path]) == both
    assert expanded([f"{tmp_path}/*.csv", "-", FRAME]) == [*both, "-", FRAME]
    assert expanded([tmp_path / "parts"]) == [tmp_path / "parts"]
    assert expanded([tmp_path / "parts" / "*.parquet"]) == sorted((tmp_path / "parts").glob("*.p*"))
    assert len(total(open_table(tmp_path / "parts"), ["n"])[0]) == 2 * len(FRAME)
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match=r"none: a folder without tables; give files, or a pattern"):
        expanded([tmp_path / "none"])


def test_a_zip_archive_is_called_so_and_a_workbook_too(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.csv", "w") as archive:
        archive.writestr("inside.csv", "text,n\na,1\n")
    with pytest.raises(DataError, match=r"a.csv: a zip archive, though its .* in .csv; unpack it$"):
        open_table(tmp_path / "a.csv")
    workbook(tmp_path / "b.csv", [["text"], ["a"]])
    with pytest.raises(DataError, match=r"b.csv: an Excel workbook, though .* in .csv; rename it$"):
        open_table(tmp_path / "b.csv")


def test_files_of_a_pattern_are_in_the_order_of_their_numbers(tmp_path):
    for week in (9, 10, 100):
        (tmp_path / f"week-{week}.csv").write_text("a\n1\n")
    names = [path.name for path in expanded([f"{tmp_path}/week-*.csv"])]
    assert names == ["week-9.csv", "week-10.csv", "week-100.csv"]


@pytest.mark.parametrize(
    ("source", "message"),
    [("", "the name of a file is empty"), ("s3://bucket/t.parquet", "s3:// addresses cannot be")],
)
def test_sources_that_are_no_files_are_refused(source, message):
    with pytest.raises(UserError, match=message):
        files_of(source)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n", "sep=,\n"])
def test_empty_lines_of_a_single_column_are_missing_cells(tmp_path, start, end):
    """They used to be skipped: of 1,000 scores, half of them missing, "500 read, all used"."""
    path = tmp_path / "a.csv"
    content = start + "p\n0.5\n\n0.1\n\n"
    path.write_text(content.replace("\n", end), encoding="utf-8", newline="")
    assert rows(path, ["p"])["p"] == ["0.5", None, "0.1", None]
    assert read_frame(path).columns["p"].to_list() == ["0.5", None, "0.1", None]
    polars_writes = pl.DataFrame({"p": [0.5, None, 0.1, None]}).write_csv()
    assert polars_writes == "p\n0.5\n\n0.1\n\n"


def test_empty_lines_of_several_columns_are_no_rows(tmp_path):
    (tmp_path / "a.csv").write_text("text,n\na,1\n\nb,2\n\n")
    assert rows(tmp_path / "a.csv") == {"text": ["a", "b"], "n": ["1", "2"]}


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;", "\ufeffsep=;"])
def test_a_first_line_may_declare_the_delimiter(tmp_path, line, lenient):
    """The line used to be taken for the header, so that all columns were missing."""
    path = tmp_path / "a.csv"
    path.write_text(f"{line}\r\ntext;n\r\na, b, c;1\r\n", encoding="utf-8", newline="")
    table = open_table(path, lenient=lenient)
    assert table.columns == ("text", "n")
    assert [chunk.columns.rows() for chunk in table.chunks(["text", "n"])] == [[("a, b, c", "1")]]


def test_lines_are_counted_from_the_declaration_of_the_delimiter(tmp_path):
    (tmp_path / "a.csv").write_text("sep=,\ntext,n\na,1\nb,2,3\n")
    chunk = next(open_table(tmp_path / "a.csv").chunks(["n"]))
    assert (chunk.ragged, chunk.first_ragged) == (1, "line 4")


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-be", "utf-16"])
def test_an_encoding_is_called_by_its_name(tmp_path, encoding):
    """UTF-32 used to be called UTF-16."""
    (tmp_path / "a.csv").write_text("\ufeff" * encoding.endswith("be") + "a\n1\n", encoding)
    name = encoding[:6].upper()
    with pytest.raises(DataError, match=rf"a.csv: text in {name}; save it as UTF-8$"):
        open_table(tmp_path / "a.csv")


def test_a_column_is_no_data_frame():
    """It used to be an AttributeError."""
    for column in (pl.Series("p", [0.1]), pd.Series([0.1], name="p"), pa.chunked_array([[0.1]])):
        with pytest.raises(UserError, match=r"^the table must be a path or a data frame, got "):
            open_table(column)


@pytest.fixture
def latin(tmp_path):
    """A table in a folder, whose name is in Latin-1."""
    path = tmp_path / "caf\udce9.csv"
    try:
        path.write_text("p,y\n0.5,a\n")
    except OSError:
        pytest.skip("this file system takes no such name")
    return path


def test_a_name_that_is_not_utf_8_is_refused(latin):
    """It was an UnicodeEncodeError, with the request to report it."""
    for source in (latin, str(latin), [latin], latin.parent, f"{latin.parent}/caf*.csv"):
        with pytest.raises(UserError, match=r"caf\\xe9\.csv: this name is not UTF-8"):
            open_table(source)


def test_such_a_name_on_the_command_line_is_one_line(quantshift, latin):
    for arguments in (["judge", latin], ["quantify", "--sample", latin], ["example", latin]):
        code, out, error = quantshift(*arguments)
        assert (code, out) == (2, "")
        assert r"caf\xe9.csv" in error
        assert error.count("\n") == 1


@pytest.mark.parametrize("name", ["a" * 5000, "a" * 300 + ".csv", "a" * 300 + "*.csv"])
def test_a_name_that_is_too_long_is_one_line(name, tmp_path):
    """It used to be an OSError."""
    line = rf"^a{{60}}\.\.\.: a name of {len(name):,} characters is too long for a file"
    with pytest.raises(DataError, match=line):
        open_table(name)
    with pytest.raises(DataError, match=line):
        read_frame(name)


def test_two_equal_keys_in_a_line_of_json_are_refused(tmp_path):
    """The last value used to win without a word."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "b": 1}\n\n{"a": 1, "a": 2, "b": 1}\n')
    with pytest.raises(DataError, match=r"t.jsonl: line 3: two values are called 'a'; rename one$"):
        open_table(path)


@pytest.mark.parametrize("kind", ["pandas", "pandas numbers", "arrow", "parquet"])
def test_two_columns_of_one_name_are_refused_in_every_format(tmp_path, kind):
    """Frames of pandas used to raise an AttributeError, and Parquet files lost both columns."""
    source = pa.table([[1], [2], [3]], names=["a", "b", "a"])
    if kind == "pandas":
        source = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    elif kind == "pandas numbers":
        source = pd.DataFrame([[1, 2]], columns=["a", "a"]).set_axis(["1", 1], axis=1)
    elif kind == "parquet":
        pq.write_table(source, tmp_path / "t.parquet")
        source = tmp_path / "t.parquet"
    with pytest.raises(DataError, match=r": two columns are called '[a1]'; rename one$"):
        open_table(source)


def test_column_names_of_pandas_may_be_of_any_type():
    """Names of several types used to leak a warning of pyarrow."""
    table = open_table(pd.DataFrame([[1, 2, 3]], columns=["a", 1, ("b", 2)]))
    assert table.columns == ("a", "1", "('b', 2)")


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        ([1.5, True], ["1.5", "True"]),
        ([True, 1.5], ["True", "1.5"]),
        ([1, pd.NA, False], ["1", None, "False"]),
        ([True, None], [True, None]),
        ([1, 2.5, None], [1.0, 2.5, None]),
    ],
)
def test_truth_values_among_numbers_of_pandas_stay_truth_values(cells, read):
    """After a number they used to be 1 and 0, without a warning."""
    table = open_table(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))
    assert next(table.chunks(["a"])).columns["a"].to_list() == read
