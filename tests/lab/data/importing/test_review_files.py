"""Every layout, and every way in which a file can be broken, through the public import."""

import gzip
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.data import DataFolder, ImportOptions
from quantshift.lab.data.importing.review_layouts import ReviewTally
from quantshift.tables.formats import csv_rows
from tests.lab.data.made_reviews import imported, rows_of, tally_of
from tests.lab.data.made_workbooks import workbook

REVIEWS = [(5, "good\tbook"), (1, 'bad "book"'), (3, "so, so"), (4, "naïve 😀 book")]
TABBED = "".join(f"{star}\t{text}\n" for star, text in REVIEWS).encode()
JSON = "".join(json.dumps({"overall": s, "reviewText": t}) + "\n" for s, t in REVIEWS).encode()
CSV = (
    b"id,stars,text\n"
    b'1,5,"good\tbook"\n2,1,"bad ""book"""\n3,3,"so, so"\n'
    b'4,4,"na\xc3\xafve \xf0\x9f\x98\x80 book"\n'
)
LAYOUTS = "quantshift.lab.data.importing.review_layouts"
TSV = b"stars\ttext\n5\tgood book\n"


def run(path: Path, **options: object) -> DataFolder:
    return imported(path, options=ImportOptions(overwrite=True), **options)


def first_malformed(data: DataFolder) -> str | None:
    return data.manifest["sources"][0]["first_malformed"]


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", TABBED),
        ("a.txt.gz", TABBED),
        ("a.gz", TABBED),
        ("a", TABBED),
        ("a.txt", TABBED.rstrip(b"\n")),
        ("a.txt", b"\xef\xbb\xbf" + TABBED),
        ("a.txt", TABBED.replace(b"\n", b"\r\n")),
        ("a.txt", b"\n" + TABBED + b"\n\n"),
        ("a.json", JSON),
        ("a.json.gz", JSON),
        ("a.jsonl", JSON),
        ("a.ndjson.gz", JSON),
        ("a.csv", CSV),
        ("a.csv.gz", CSV),
        ("a.csv", b"\xef\xbb\xbf" + CSV),
    ],
)
@pytest.mark.parametrize("block_bytes", [1 << 22, 64])
def test_layouts(tmp_path, monkeypatch, name, content, block_bytes):
    monkeypatch.setattr(f"{LAYOUTS}.BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", block_bytes)
    assert rows_of(run(written(tmp_path / name, content))) == REVIEWS


def test_tsv(tmp_path):
    assert rows_of(run(written(tmp_path / "a.tsv", TSV))) == [(5, "good book")]


@pytest.mark.parametrize("name", ["in.txt", "in", "sub/in.json", "in.csv"])
def test_zip(tmp_path, name):
    content = {"json": JSON, "csv": CSV}.get(name.rpartition(".")[2], TABBED)
    path = zipped(tmp_path / "a.zip", {name: content, "__MACOSX/._in": b"\x00", "empty/": b""})
    assert rows_of(run(path)) == REVIEWS


def test_members_of_an_archive_follow_one_another(tmp_path):
    path = zipped(tmp_path / "a.zip", {"b.txt": b"1\tone\n", "a.json": JSON})
    data = run(path, min_useful=1, min_chars=3)
    assert rows_of(data) == [(1, "one")]
    assert data.manifest["sources"][0]["layout"] == "tabbed+json"
    assert tally_of(data).unvoted == 4


def test_concatenated_gzip_is_one_file(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(TABBED, mtime=0) + gzip.compress(TABBED, mtime=0))
    assert rows_of(run(path)) == REVIEWS * 2


@pytest.mark.parametrize(
    "stars",
    [
        pa.array([5, 1, 3, 4], pa.int8()),
        pa.array([5.0, 1.0, 3.0, 4.0]),
        pa.array(["5", "1", "3.0", "4"]),
        pa.array(["5", "1", "3", "4"]).dictionary_encode(),
    ],
)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_parquet(tmp_path, stars, kind):
    texts = pa.array([text.encode() for _, text in REVIEWS]).cast(kind)
    pq.write_table(pa.table({"rating": stars, "body": texts}), tmp_path / "a.parquet")
    assert rows_of(run(tmp_path / "a.parquet", text="body", stars="rating")) == REVIEWS


def test_parquet_with_missing_values_and_stars_that_are_none(tmp_path):
    texts = pa.array(["a", "b", None, "d", "e"]).dictionary_encode()
    stars = pa.array([1, None, 3, None, 7])
    pq.write_table(pa.table({"stars": stars, "text": texts}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="3 of the first 5 rows are not reviews"):
        run(tmp_path / "a.parquet")
    more = pa.concat_tables(
        [pa.table({"stars": stars, "text": texts})]
        + [pa.table({"stars": pa.array([1]), "text": pa.array(["fine"]).dictionary_encode()})] * 2
    )
    pq.write_table(more, tmp_path / "a.parquet")
    data = run(tmp_path / "a.parquet")
    # A missing text is an empty one, which is short unless any length will do.
    assert rows_of(data) == [(1, "a"), (3, ""), (1, "fine"), (1, "fine")]
    assert tally_of(data).malformed == 3
    assert first_malformed(data) == "row 2: no number of stars"
    assert tally_of(run(tmp_path / "a.parquet", min_chars=1)).short == 1


def test_ragged_and_undecodable_rows_of_a_csv_are_skipped_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 48)
    good = b"5,good text\n"
    content = b"stars,text\n" + good * 6 + b"4,x,y\n" + good * 3 + b"4,\xff\n" + b"7,b\n" + b"1\n"
    data = run(written(tmp_path / "a.csv", content))
    assert rows_of(data) == [(5, "good text")] * 9
    tally = tally_of(data)
    assert (tally.rows, tally.malformed, tally.undecodable) == (13, 3, 1)
    assert first_malformed(data) == "line 8: wrong number of columns"
    assert data.manifest["rows"]["left_out"] == {"malformed": 3, "not UTF-8": 1}


def test_a_table_of_any_format(tmp_path):
    workbook(tmp_path / "a.xlsx", [["stars", "text"], *[[s, t] for s, t in REVIEWS]])
    assert rows_of(run(tmp_path / "a.xlsx")) == REVIEWS
    path = zipped(tmp_path / "a.zip", {"in.xlsx": (tmp_path / "a.xlsx").read_bytes()})
    assert rows_of(run(path)) == REVIEWS


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_wrong_column_name_gets_a_suggestion(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        path.write_bytes(CSV)
    else:
        pq.write_table(pa.table({"stars": [1], "text": ["a"]}), path)
    told = r"unknown column 'txt'; did you mean 'text'\?; name it"
    with pytest.raises(DataError, match=told) as caught:
        run(path, text="txt")
    assert caught.value.arguments == ("text",)
    told = r"unknown column 'Stars'; did you mean 'stars'\?"
    with pytest.raises(DataError, match=told) as caught:
        run(path, stars="Stars")
    assert caught.value.arguments == ("label",)


def test_a_tsv_without_header_is_told_its_ending(tmp_path):
    with pytest.raises(
        DataError, match=r"known: .*star<TAB>text without a header must end in \.txt"
    ):
        run(written(tmp_path / "a.tsv", b"5\t" + b"long " * 99 + b"\n1\tb\n"))


def test_two_columns_of_one_name(tmp_path):
    with pytest.raises(DataError, match="two columns are called 'text'"):
        run(written(tmp_path / "a.csv", b"stars,text,text\n1,a,b\n"))


def test_a_text_column_must_hold_text(tmp_path):
    pq.write_table(pa.table({"stars": [1], "text": [1.5]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="column 'text' holds numbers, not text"):
        run(tmp_path / "a.parquet")


PACKED = gzip.compress(TABBED, mtime=0)


def truncated(content: bytes) -> bytes:
    return gzip.compress(content * 50, mtime=0)[:-20]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "the file is empty"),
        ("a.txt", b"\n\n\n", "the file is empty"),
        ("a.json", b"", "the file is empty"),
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"stars,text\n", "the file is empty"),
        ("a.txt.gz", b"", "the file is empty"),
        ("a.txt.gz", gzip.compress(b"", mtime=0), "the file is empty"),
        ("a.txt.gz", truncated(TABBED), "truncated or damaged gzip"),
        ("a.json.gz", truncated(JSON), "truncated or damaged gzip"),
        ("a.csv.gz", truncated(CSV), "truncated or damaged gzip"),
        (
            "a.txt.gz",
            PACKED[:-8] + b"12345678",
            "truncated or damaged gzip",
        ),
        ("a.txt.gz", TABBED, "not a gzip file, though its name ends in .gz"),
        ("a.csv.gz", CSV, "not a gzip file, though its name says so"),
        (
            "a.txt",
            gzip.compress(TABBED, mtime=0),
            "a gzip file, though its name does not end in .gz",
        ),
        ("a.zip", TABBED, "not a readable zip archive"),
        ("a.parquet", TABBED, "not a Parquet file, though its name says so"),
        ("a.parquet", b"PAR1" + TABBED, "not a readable Parquet file"),
        ("a.parquet", b"", "the file is empty"),
        ("a.parquet.gz", b"", "unknown format '.parquet.gz'"),
        ("a.pdf", b"", "unknown format"),
        (
            "a.txt",
            JSON,
            r"4 of the first 4 lines are not reviews \(line 1: no tab\); " ".*star<TAB>te",
        ),
        ("a.json", TABBED, r"\(line 1: not a JSON object\); by its name it should be one JSON"),
        ("a.json", b"null\n" * 5, "5 of the first 5 lines are not reviews"),
        ("a.txt", "5\tUTF-16\n".encode("utf-16") * 9, "lines are not reviews"),
        ("a.csv", b"st\xff,text\n1,a\n", "names of the columns are not UTF-8"),
    ],
)
def test_broken_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        run(path)
    assert name in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_broken_archives(tmp_path):
    with pytest.raises(DataError, match="the archive is empty"):
        run(zipped(tmp_path / "empty.zip", {}))
    with pytest.raises(DataError, match=r"a\.zip:in\.parquet: not a Parquet file"):
        run(zipped(tmp_path / "a.zip", {"in.parquet": b"none"}))
    with pytest.raises(DataError, match=r"a\.zip:in\.txt\.gz: a \.gz file in an archive"):
        run(zipped(tmp_path / "a.zip", {"in.txt.gz": PACKED}))
    with pytest.raises(DataError, match=r"b\.zip:in\.txt: the file is empty"):
        run(zipped(tmp_path / "b.zip", {"in.txt": b""}))
    path = zipped(tmp_path / "c.zip", {"in.txt": TABBED * 20})
    content = bytearray(path.read_bytes())
    content[60] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"c\.zip:in\.txt: "):
        run(path)


def test_a_password_is_named(tmp_path):
    path = zipped(tmp_path / "a.zip", {"in.txt": TABBED})
    content = bytearray(path.read_bytes())
    # The flag of encryption, in the local header and in the central directory.
    content[6] |= 1
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot unpack .*password"):
        run(path)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(DataError, match=r"none\.txt: no such file"):
        run(tmp_path / "none.txt")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(DataError, match=r"folder\.txt: a folder, not a file"):
        run(tmp_path / "folder.txt")


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{LAYOUTS}.BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(f"{LAYOUTS}.LONGEST_LINE", 1 << 20)
    with pytest.raises(DataError, match=r"line 2 is longer than 1 MB; is this one review per line"):
        run(written(tmp_path / "a.txt", b"1\ta\n" + b"5\t" + b"x" * (1 << 21)))


def test_an_open_quote_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 64)
    with pytest.raises(DataError, match=r"line 2: a quote .* in column 'text' and never closed"):
        run(written(tmp_path / "a.csv", b'stars,text\n1,"open\n' + b"2,b\n" * 100))


def test_a_row_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 64)
    with pytest.raises(DataError, match="a row is longer than 4 MB; is every row"):
        run(written(tmp_path / "a.csv", b"stars,text\n1," + b"word " * 100 + b"\n"))


def swallowed(column: int) -> bytes:
    """A CSV of 100 reviews with a quote left open in two of them."""
    rows = [[f"{i % 5 + 1}", f"a review with words {i}", "x"] for i in range(100)]
    for i in (20, 70):
        rows[i][column] = '"' + rows[i][column]
    return "".join(",".join(row) + "\n" for row in [["stars", "text", "note"], *rows]).encode()


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.zip"])
@pytest.mark.parametrize("column", [1, 2])
def test_a_quote_left_open_stops_the_import(tmp_path, name, column):
    content = swallowed(column)
    path = tmp_path / name
    if name == "a.zip":
        zipped(path, {"in.csv": content})
    else:
        written(path, content)
    said = rf"line 22: a quote \(\"\) is opened in column '{['', 'text', 'note'][column]}' and clos"
    with pytest.raises(DataError, match=said) as caught:
        run(path)
    assert caught.value.arguments == ("lenient",)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    data = run(path, lenient=True)
    assert tally_of(data) == ReviewTally(rows=100, kept=100)
    assert rows_of(data)[20] == (1, '"' * (column == 1) + "a review with words 20")


def test_line_by_line_counts_what_is_no_row(tmp_path):
    good = b"5,fine\n"
    content = b"stars,text\n" + good * 8 + b'4,"two\nlines"\n' + good
    assert tally_of(run(written(tmp_path / "a.csv", content))).rows == 10
    data = run(tmp_path / "a.csv", lenient=True)
    assert tally_of(data) == ReviewTally(rows=11, malformed=1, kept=10)
    assert first_malformed(data) == "line 11: wrong number of columns"


def test_a_ragged_row_of_bytes_that_are_no_utf_8_is_malformed(tmp_path):
    header = "\ufeffstars,größe\n".encode()
    content = header + b"5,fine\n" * 18 + b"4,\xff,x\n" + b"4,\xff\n" + "5,schön\n".encode()
    data = run(written(tmp_path / "a.csv", content), text="größe")
    assert tally_of(data) == ReviewTally(rows=21, malformed=1, undecodable=1, kept=19)
    assert rows_of(data)[-1] == (5, "schön")
