"""Whatever Unicode a review holds, it is the same after import and opening, in every layout."""

import csv
import io
import itertools
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from quantshift.data.corpus import CorpusWriter
from quantshift.data.importing.reviews import Source, import_reviews

HOSTILE = ["", "\x00", "\ufeff", "\u2028\u2029\x85", "İSTANBUL ς", "e\u0301", "😀\U0010ffff", "\\n"]
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(HOSTILE)
reviews = st.lists(st.tuples(st.integers(1, 5), texts), min_size=1, max_size=20)


def imported(name: str, content: bytes) -> list[tuple[int, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        out = Path(folder) / "c"
        corpus = import_reviews([Source("A", path)], out, min_chars=0, min_useful=0).corpus
        corpus.verify()
        return list(
            zip(corpus.stars.tolist(), corpus.texts(range(corpus.n_documents)), strict=True)
        )


@given(rows=reviews, ascii_only=st.booleans())
def test_json_lines(rows, ascii_only):
    lines = [
        json.dumps({"overall": star, "reviewText": text}, ensure_ascii=ascii_only)
        for star, text in rows
    ]
    assert imported("a.json", "\n".join(lines).encode()) == rows


@given(rows=reviews)
def test_tabbed(rows):
    # The layout ends a review at a line feed, and one carriage return before it belongs to it.
    clean = [(star, text.replace("\n", " ").rstrip("\r")) for star, text in rows]
    content = "".join(f"{star}\t{text}\n" for star, text in clean)
    assert imported("a.txt", content.encode()) == clean


@given(rows=reviews)
def test_csv(rows):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerows([("stars", "text"), *rows])
    assert imported("a.csv", buffer.getvalue().encode()) == rows


@given(rows=reviews)
def test_parquet(rows):
    buffer = io.BytesIO()
    pq.write_table(pa.table({"stars": [s for s, _ in rows], "text": [t for _, t in rows]}), buffer)
    assert imported("a.parquet", buffer.getvalue()) == rows


@given(rows=reviews, cuts=st.lists(st.integers(0, 20), max_size=4), max_bytes=st.integers(1, 50))
def test_the_hash_and_the_blocks_do_not_depend_on_how_rows_were_written(rows, cuts, max_bytes):
    stars, words = [s for s, _ in rows], [t for _, t in rows]
    hashes = set()
    with tempfile.TemporaryDirectory() as folder:
        for name, bounds in (("whole", [0, len(rows)]), ("cut", sorted([0, *cuts, len(rows)]))):
            with CorpusWriter(Path(folder) / name, categories=("A",)) as writer:
                for start, stop in itertools.pairwise(bounds):
                    part = slice(start, min(stop, len(rows)))
                    writer.write([0] * len(stars[part]), stars[part], words[part])
                corpus = writer.commit(origin={})
            hashes.add(corpus.hash)
            blocks = [block.to_pylist() for _, block in corpus.text_blocks(max_bytes)]
            assert [text for block in blocks for text in block] == words
    assert len(hashes) == 1
