import json
from pathlib import Path

import polars as pl
import pytest

from quantshift.errors import UserError
from quantshift.lab.data.importing.review_layouts import (
    MalformedRow,
    ReviewColumns,
    ReviewLayout,
    ReviewLimits,
    ReviewTally,
    json_row,
    layout_of,
    sift,
    tabbed_row,
)
from quantshift.tables.files.chunks import Chunk


def line(**fields: object) -> bytes:
    return json.dumps({"reviewText": "fine", "overall": 5.0, **fields}).encode()


@pytest.mark.parametrize(
    ("fields", "useful"),
    [
        ({"helpful": [3, 7]}, 3),
        ({"helpful": [0, 0]}, 0),
        ({"vote": "1,234"}, 1234),
        ({"vote": "2"}, 2),
        ({"vote": 2}, 2),
        ({}, 0),
        ({"helpful": None, "vote": None}, 0),
        ({"helpful": [3, 7], "vote": "9"}, 3),
        ({"summary": {"nested": ["x"]}, "overall": 5}, 0),
    ],
)
def test_json_lines_of_both_crawls(fields, useful):
    assert json_row(line(**fields)) == (5, "fine", useful)


def test_json_keeps_the_text_as_it_is():
    text = ' "quoted"\t\n\r\u2028 \x00 é 😀 '
    assert json_row(line(reviewText=text)) == (5, text, 0)
    raw = json.dumps({"reviewText": text, "overall": 0}, ensure_ascii=False).encode()
    assert json_row(raw) == (0, text, 0)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"garbage", "not a JSON object"),
        (b'{"reviewText": "cut off', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"[1, 2]", "not a JSON object"),
        (b"[" * 100_000, "not a JSON object"),
        (b'{"overall": 5}', "no reviewText"),
        (line(reviewText=None), "no reviewText"),
        (line(reviewText=7), "no reviewText"),
        (b'{"reviewText": "a"}', "no number of stars"),
        (line(overall=4.5), "the number of stars is '4.5', not 1 to 5"),
        (line(overall=6), "the number of stars is '6'"),
        (line(overall=-1), "the number of stars is '-1'"),
        (line(overall="5"), "the number of stars is '5'"),
        (line(overall=True), "the number of stars is 'True'"),
        (line(overall=[5]), "the number of stars is"),
        (b'{"reviewText": "a", "overall": NaN}', "the number of stars is 'nan'"),
        (line(helpful=[]), "helpful is not"),
        (line(helpful="3"), "helpful is not"),
        (line(helpful=[1.5, 2]), "helpful is not"),
        (line(vote="many"), "vote is 'many'"),
        (b'{"reviewText": "half \\ud83d", "overall": 5}', "a lone surrogate"),
    ],
)
def test_malformed_json_lines(row, reason):
    with pytest.raises(MalformedRow, match=reason):
        json_row(row)


def test_bytes_that_are_not_utf8():
    with pytest.raises(UnicodeDecodeError):
        json_row(b'{"reviewText": "\xff", "overall": 5}')
    with pytest.raises(UnicodeDecodeError):
        tabbed_row(b"5\t\xff")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (b"5\tfine", (5, "fine", None)),
        (b"3.0\tfine", (3, "fine", None)),
        (b"0\tfine", (0, "fine", None)),
        (b"1\twith\ttabs\t", (1, "with\ttabs\t", None)),
        (b"1\t", (1, "", None)),
        ("2\tnaïve 😀".encode(), (2, "naïve 😀", None)),
    ],
)
def test_tabbed_lines(row, expected):
    assert tabbed_row(row) == expected


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"no tab here", "no tab"),
        (b"\ttext", "the number of stars is ''"),
        (b"4.5\ttext", "the number of stars is '4.5'"),
        (b"6\ttext", "the number of stars is '6'"),
        (b"-1\ttext", "the number of stars is '-1'"),
        (
            b"a very long line that is no star\tx",
            r"the number of stars is 'a very long line tha\.\.\.'",
        ),
    ],
)
def test_malformed_tabbed_lines(row, reason):
    with pytest.raises(MalformedRow, match=reason):
        tabbed_row(row)


@pytest.mark.parametrize(
    ("stars", "reason"),
    [
        (["4", "4.0", " 4 ", "4"], None),
        ([4, 4, 4, 4], None),
        ([4.0, 4.0, 4.0, 4.0], None),
        (["4", "4", "4", ""], "row 10: the number of stars is '', not 1 to 5"),
        (["4", "4", "4", None], "row 10: no number of stars"),
        ([4.0, 4.0, 4.0, 3.5], "row 10: the number of stars is '3.5'"),
        ([4.0, 4.0, 4.0, float("nan")], "row 10: the number of stars is 'nan'"),
        (["4", "4", "4", "six"], "row 10: the number of stars is 'six'"),
        ([True] * 4, "row 7: the number of stars is 'True'"),
    ],
)
def test_rows_of_tables(stars, reason):
    frame = pl.DataFrame({"s": stars, "t": ["fine", "", None, "x"]}, strict=False)
    chunk = Chunk(7, frame)
    columns = ReviewColumns(text="t", stars="s")
    sifted = sift(chunk, ReviewLayout("CSV", "", "row"), ReviewLimits(0, 1), columns)
    assert (sifted.first_bad or "").startswith(reason or "")
    assert (sifted.first_bad is None) == (reason is None)
    n_kept = 4 if reason is None else 3 * (reason.startswith("row 10"))
    assert sifted.stars.tolist() == [4] * n_kept
    assert sifted.texts.to_pylist() == ["fine", "", "", "x"][:n_kept]
    assert sifted.tally == ReviewTally(rows=4, malformed=4 - n_kept, kept=n_kept)
    longer = sift(chunk, ReviewLayout("CSV", "", "row"), ReviewLimits(2, 1), columns)
    assert longer.tally.short == max(n_kept - 1, 0)


def test_the_reasons_of_tables_have_an_order():
    frame = pl.DataFrame({"s": ["9", "0", "5", "5"], "t": ["\ufffd", "x", "a\ufffd", "good"]})
    columns, layout = ReviewColumns(text="t", stars="s"), ReviewLayout("CSV", "", "row")
    clean = sift(Chunk(1, frame), layout, ReviewLimits(2, 0), columns)
    assert clean.tally == ReviewTally(rows=4, malformed=1, zero_stars=1, kept=2)
    # Where bytes were replaced, the replacement stands for them.
    broken = sift(Chunk(1, frame, 2, 3, "line 7"), layout, ReviewLimits(2, 0), columns)
    assert broken.tally == ReviewTally(rows=7, malformed=4, undecodable=1, zero_stars=1, kept=1)
    assert (broken.n_judged, broken.n_judged_bad) == (7, 5)


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("a.json", "json"),
        ("a.b.JSONL", "json"),
        ("Books", "tabbed"),
        ("a.txt", "tabbed"),
        ("a.txt.gz", "tabbed"),
        ("a.csv", "CSV"),
        ("a.TSV", "CSV"),
        ("a.parquet", "Parquet"),
        ("a.xlsx", "Excel"),
    ],
)
def test_the_name_tells_the_layout(name, layout):
    assert layout_of(Path(name)).name == layout


def test_an_unknown_ending_names_the_known_ones():
    with pytest.raises(UserError, match=r"a\.pdf: unknown format '\.pdf'; known: \.json, .*\.csv"):
        layout_of(Path("a.pdf"))
