"""Tables of every format give the same rows; what is wrong with a file is one line."""

import gc
import gzip
import json
import random
import threading
import time
import tracemalloc
import zipfile
from contextlib import closing
from types import FunctionType

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from quantshift.data import reading
from quantshift.data.reading import open_table
from quantshift.errors import DataError, UserError

TEXTS = ["good, really", 'a "bad" one', "two\nlines", "naïve café"]
NUMBERS = [1, 2, 3, 4]
FRAME = pl.DataFrame({"text": TEXTS, "n": NUMBERS, "other": [True, False, True, False]})


def workbook(path, rows):
    """The smallest .xlsx there is: one sheet of strings and numbers."""

    def cell(value):
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    sheet = "".join("<row>" + "".join(map(cell, row)) + "</row>" for row in rows)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName='
            f'"/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/><Override PartName='
            f'"/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/></Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        file.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        file.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>',
        )


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
            found[name] += chunk.columns[name]
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
    with pytest.raises(UserError, match="the table must be a path or a data frame, got list"):
        open_table([1, 2])


def test_a_semicolon_separates_too(tmp_path):
    (tmp_path / "a.csv").write_text("text;n\nyes, indeed;1\n")
    assert rows(tmp_path / "a.csv") == {"text": ["yes, indeed"], "n": ["1"]}


def test_chunks_number_their_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "ROWS", 3)
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
    assert chunk.columns["text"] == ["naïve", "caf\ufffd"]
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
    # The parser reads a few dozen blocks ahead.
    monkeypatch.setattr(reading, "BLOCK_BYTES", 1 << 16)
    path = tmp_path / "long.csv"
    with path.open("w") as file:
        file.write("text,n\n")
        file.writelines(f"{'word ' * 100},{i}\n" for i in range(60_000))
    assert path.stat().st_size > 28 << 20
    n = arrow = 0
    tracemalloc.start()
    for chunk in open_table(path).chunks(["text"]):
        n, arrow = n + len(chunk), max(arrow, pa.total_allocated_bytes())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n == 60_000
    assert peak < 10 << 20
    assert arrow < 10 << 20


def test_a_table_waits_for_threads_that_hold_its_function():
    def function(row):
        return "skip"

    def let_go(held):
        time.sleep(0.05)
        held.clear()

    held = []
    with reading._let_go_of(function):
        held.append(function)
        thread = threading.Thread(target=let_go, args=(held,))
        thread.start()
    assert held == []
    thread.join()


def test_a_table_left_half_read_lets_go_of_everything(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("text,n\n" + "word,1\nword\n" * 200_000)
    with closing(open_table(path).chunks(["text"])) as chunks:
        assert len(next(chunks)) == reading.ROWS
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
            "a.csv: an Excel workbook, though its name ends in .csv; rename it",
        ),
        ("a.csv", b"\x1f\x8b..", "a.csv: a gzip file, though its name ends in .csv; rename it"),
        ("a.csv", "text\nx".encode("utf-16"), "a.csv: text in UTF-16; save it as UTF-8"),
        ("a.csv", b"a\0b", "a.csv: not a text file, though its name ends in .csv"),
        ("a.parquet", b"text\nx", "a.parquet: not a Parquet file, though its name says so; rename"),
        ("a.xlsx", b"text\nx", "a.xlsx: not an Excel workbook, though its name says so; rename it"),
        ("a.csv.gz", b"text\nx", "a.csv.gz: not a gzip file, though its name says so; rename it"),
        ("a.jsonl", b"text,n\n", "a.jsonl: line 1 is no JSON object"),
        ("a.jsonl", b"\n7\n", "a.jsonl: line 2 is no JSON object"),
        (
            "a.json",
            b'[{"text": "x"}]',
            "a.json: line 1 is no JSON object; write one object per line instead of one array",
        ),
        ("a.docx", b"x", "a.docx: cannot tell the format from the ending '.docx'; known: .csv"),
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
    with pytest.raises(DataError, match=r"b.csv: there are two columns 'x'; rename one$"):
        list(open_table(tmp_path / "b.csv").chunks(["x"]))


def test_json_keys_of_later_rows_are_columns(tmp_path):
    lines = [json.dumps({"a": 1}), json.dumps({"a": 2, "b": 3})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert rows(tmp_path / "a.jsonl", ["a", "b"]) == {"a": [1, 2], "b": [None, 3]}
