"""ARFF files: dense and sparse rows, quotes, missing values, broken files."""

import gzip
import io
import os
import threading

import numpy as np
import polars as pl
import pytest
from scipy.io import arff as scipy_arff

from quantshift.errors import DataError
from quantshift.lab.data import DataFolder, import_table
from quantshift.tables.files.chunks import ROWS
from quantshift.tables.reading import open_table, read_frame

DENSE = r"""% made for a test
@RELATION 'two words'

@attribute length NUMERIC
@Attribute 'the colour' {red, 'dark blue', "it's"}   % a comment
@attribute "say \"so\"" string
@attribute day date "yyyy-MM-dd"
@attribute odd\~name {0,1}

@data
1.5, red, 'a, b', 2026-01-02, 0
% between the rows
-2e3,'dark blue',"\"q\" \\ \tend", '2026-01-03',1

?,?,?,?,?
+.5, 'it\'s','?',2026-01-04,0
"""

SPARSE = """@relation r
@attribute a numeric
@attribute b {no,yes}
@attribute c integer
@data
{}
{ 0 2.5, 1 yes }
{2 -3}
{1 ?,2 ?}
"""


def written(folder, text, name="t.arff"):
    path = folder / name
    path.write_text(text)
    return path


def table(folder, text):
    return read_frame(written(folder, text)).columns


def test_dense_rows(tmp_path):
    frame = table(tmp_path, DENSE)
    assert frame.schema == {
        "length": pl.Float64,
        "the colour": pl.String,
        'say "so"': pl.String,
        "day": pl.String,
        r"odd\~name": pl.String,
    }
    assert frame.rows() == [
        (1.5, "red", "a, b", "2026-01-02", "0"),
        (-2000.0, "dark blue", '"q" \\ \tend', "2026-01-03", "1"),
        (None, None, None, None, None),
        (0.5, "it's", "?", "2026-01-04", "0"),
    ]


def test_what_a_sparse_row_leaves_out_is_zero_or_the_first_value(tmp_path):
    assert table(tmp_path, SPARSE).rows() == [
        (0.0, "no", 0.0),
        (2.5, "yes", 0.0),
        (0.0, "no", -3.0),
        (0.0, None, None),
    ]


def test_numbers_and_values_are_those_of_scipy(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{float(a)!r},{rng.choice(['x', 'y'])},{b:.3e}" for a, b in rng.normal(size=(50, 2))]
    text = "@relation r\n@attribute a real\n@attribute k {x,y}\n@attribute b real\n@data\n"
    text += "\n".join(lines)
    ours = table(tmp_path, text)
    theirs, _ = scipy_arff.loadarff(io.StringIO(text))
    for name in ("a", "b"):
        assert ours[name].to_list() == theirs[name].tolist()
    assert ours["k"].to_list() == [value.decode() for value in theirs["k"]]


def test_many_rows_come_in_chunks_of_wanted_columns(tmp_path):
    rows = [f"{{0 {i},1 yes}}" if i % 2 else f"{{0 {i}}}" for i in range(ROWS + 3)]
    path = written(tmp_path, SPARSE.split("@data")[0] + "@data\n" + "\n".join(rows))
    chunks = list(open_table(path).chunks(["b", "a"]))
    assert [(chunk.first, len(chunk)) for chunk in chunks] == [(1, ROWS), (ROWS + 1, 3)]
    assert chunks[0].columns.columns == ["b", "a"]
    assert pl.concat(c.columns for c in chunks)["a"].to_list() == list(range(ROWS + 3))
    assert pl.concat(c.columns for c in chunks)["b"].to_list() == ["no", "yes"] * (
        ROWS // 2 + 1
    ) + ["no"]


def test_compressed_and_piped_files_are_recognised(tmp_path):
    path = tmp_path / "t.arff.gz"
    path.write_bytes(gzip.compress(SPARSE.encode()))
    assert len(read_frame(path).columns) == 4
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = b"\xef\xbb\xbf" + DENSE.encode()
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert open_table(pipe).columns[0] == "length"
    writer.join()


def test_text_that_is_not_utf8_is_counted(tmp_path):
    path = tmp_path / "t.arff"
    path.write_bytes(b"@relation r\n@attribute a string\n@data\nna\xefve\nplain\n")
    frame = read_frame(path)
    assert frame.undecodable == 1
    assert frame.columns["a"].to_list() == ["na\ufffdve", "plain"]


def test_a_table_of_weka_is_imported(tmp_path):
    rows = "\n".join(f"{i % 7},{'yes' if i % 3 else 'no'}" for i in range(30))
    text = f"@relation r\n@attribute x real\n@attribute y {{no,yes}}\n@data\n{rows}\n"
    import_table(written(tmp_path, text), tmp_path / "set", label="y")
    content = DataFolder.open(tmp_path / "set").manifest
    assert content["classes"] == [{"name": "no", "items": 10}, {"name": "yes", "items": 20}]
    assert [column["name"] for column in content["columns"]] == ["x"]


HEADER = "@relation r\n@attribute a numeric\n@attribute b {no,yes}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER, "no line '@data'; is the file complete?"),
        ("@relation r\n@data\n1\n", "line 2: @data before any @attribute"),
        ("a,b\n1,2\n", "line 1 is not a declaration (@relation, @attribute or @data): 'a,b'"),
        ("@relation r\n@attribute a\n", "line 2: 'a' has the type ''; known: numeric, real"),
        ("@relation r\n@attribute a relational\n", "'a' has the type 'relational'; known:"),
        ("@relation r\n@attribute 'a numeric\n", "line 2: not '@attribute NAME TYPE'"),
        ("@relation r\n@attribute a {}\n", "line 2: 'a' has no values; declare at least one"),
        (HEADER + "@attribute a real\n@data\n1,no,2\n", "two columns are called 'a'; rename one"),
        (HEADER + "@data\n1\n", "line 5 has 1 values, but 2 are declared"),
        (HEADER + "@data\n1,no\n1_0,yes\n", "line 6: the value '1_0' of 'a' is not a number"),
        (HEADER + "@data\n1,maybe\n", "the value 'maybe' of 'b' is not among the declared values"),
        (HEADER + "@data\n1,'no\n", 'line 5: a quote is misplaced near "\'no"'),
        (HEADER + "@data\n1,no,{5}\n", "line 5: a weight in braces after a row is not read"),
        (HEADER + "@data\n{0 1}, {5}\n", "line 5: a weight in braces after a row is not read"),
        (HEADER + "@data\n{0 1\n", "line 5: not 'POSITION VALUE' in a sparse row: '0 1'"),
        (HEADER + "@data\n{zero 1}\n", "line 5: not 'POSITION VALUE' in a sparse row"),
        (HEADER + "@data\n{2 1}\n", "position 2, but the last of the 2 declared columns is 1"),
        (HEADER + "@data\n{0 1,0 2}\n", "line 5: position 0 is given twice"),
        (
            "@relation r\n@attribute a string\n@attribute b real\n@data\n{0 x}\n{1 2}\n",
            "line 6: 'a' must be given in a sparse row, since no string is zero",
        ),
    ],
)
def test_broken_files_are_refused_in_one_line(tmp_path, text, message):
    with pytest.raises(DataError) as refusal:
        table(tmp_path, text)
    assert message in str(refusal.value)
    assert "t.arff" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("text", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_a_changed_byte_gives_a_table_or_one_line(tmp_path, text):
    rng = np.random.default_rng(0)
    refusals = []
    for _ in range(150):
        content = bytearray(text.encode())
        content[rng.integers(len(content))] = rng.integers(256)
        (tmp_path / "t.arff").write_bytes(content)
        try:
            read_frame(tmp_path / "t.arff")
        except DataError as refusal:
            refusals.append(str(refusal))
    assert 0 < len(refusals) < 150
    assert not any("\n" in refusal for refusal in refusals)
