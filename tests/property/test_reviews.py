"""Whatever Unicode a review holds, it is the same after import and opening, in every layout."""

import csv
import io
import itertools
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.lab.data import new_reviews
from tests.lab.data.made_reviews import imported as import_file
from tests.lab.data.made_reviews import rows_of, texts_of

HOSTILE = ["", "\x00", "\ufeff", "\u2028\u2029\x85", "İSTANBUL ς", "e\u0301", "😀\U0010ffff", "\\n"]
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(HOSTILE)
reviews = st.lists(st.tuples(st.integers(1, 5), texts), min_size=1, max_size=20)


def imported(name: str, content: bytes) -> list[tuple[int, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        data = import_file(path)
        data.verify()
        return rows_of(data)


@pytest.mark.slow
@given(rows=reviews, ascii_only=st.booleans())
def test_json_lines(rows, ascii_only):
    lines = [
        json.dumps({"overall": star, "reviewText": text}, ensure_ascii=ascii_only)
        for star, text in rows
    ]
    assert imported("a.json", "\n".join(lines).encode()) == rows


@pytest.mark.slow
@given(rows=reviews)
def test_tabbed(rows):
    # The layout ends a review at a line feed, and one carriage return before it belongs to it.
    clean = [(star, text.replace("\n", " ").rstrip("\r")) for star, text in rows]
    content = "".join(f"{star}\t{text}\n" for star, text in clean)
    assert imported("a.txt", content.encode()) == clean


UNLIKE = {0: "0", **dict.fromkeys(range(0x1C, 0x20), "x")}
"""A text file has no zero bytes, and the separators of ASCII are blank to Python alone."""


def in_tables(rows: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Reviews that a table can hold, and what is read of them: a blank text is a missing one."""
    clean = [(star, text.translate(UNLIKE)) for star, text in rows]
    return clean, [(s, "" if t.strip() in ("", "nan", "NaN") else t) for s, t in clean]


@pytest.mark.slow
@given(rows=reviews)
def test_csv(rows):
    clean, expected = in_tables(rows)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerows([("stars", "text"), *clean])
    assert imported("a.csv", buffer.getvalue().encode()) == expected


@pytest.mark.slow
@given(rows=reviews)
def test_parquet(rows):
    clean, expected = in_tables(rows)
    buffer = io.BytesIO()
    stars, texts = [star for star, _ in clean], [text for _, text in clean]
    pq.write_table(pa.table({"stars": stars, "text": texts}), buffer)
    assert imported("a.parquet", buffer.getvalue()) == expected


@pytest.mark.slow
@given(rows=reviews, cuts=st.lists(st.integers(0, 20), max_size=4), max_bytes=st.integers(1, 50))
def test_the_files_and_the_blocks_do_not_depend_on_how_rows_were_written(rows, cuts, max_bytes):
    stars, words = [s for s, _ in rows], [t for _, t in rows]
    contents = set()
    with tempfile.TemporaryDirectory() as folder:
        for name, bounds in (("whole", [0, len(rows)]), ("cut", sorted([0, *cuts, len(rows)]))):
            with new_reviews(Path(folder) / name, ("A",)) as writer:
                for start, stop in itertools.pairwise(bounds):
                    part = slice(start, min(stop, len(rows)))
                    writer.write([0] * len(stars[part]), stars[part], words[part])
                data = writer.commit(name="same", title="same")
            contents.add((data.path / "manifest.json").read_bytes())
            blocks = [block.to_pylist() for _, block in data.texts.text_blocks(max_bytes)]
            assert [text for block in blocks for text in block] == texts_of(data) == words
    assert len(contents) == 1
