import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quantshift.base.integrity import sealed, unsealed
from quantshift.data.corpus import Category, Corpus, CorpusWriter, split_by_bytes
from quantshift.errors import DataError, UserError
from quantshift.texts.counts import tokenise_corpus

CODES = [0, 1, 0, 1, 1]
STARS = [1, 5, 3, 4, 4]
TEXTS = ["first", "a tab\tand é", "", "nul \x00 here", "last 😀\nline"]


def write(out: Path, *, overwrite: bool = False, texts: list[str] = TEXTS) -> Corpus:
    with CorpusWriter(out, categories=("Books", "Music"), overwrite=overwrite) as writer:
        writer.write(CODES, STARS, texts)
        return writer.commit(origin={"kind": "test"})


def alter_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    manifest = unsealed(json.loads(path.read_text())) | changes
    path.write_text(json.dumps(sealed({k: v for k, v in manifest.items() if v is not None})))


def test_what_is_written_is_read(tmp_path):
    write(tmp_path / "c")
    corpus = Corpus.open(tmp_path / "c")
    assert corpus.categories == ("Books", "Music")
    assert corpus.n_documents == 5
    assert corpus.stars.tolist() == STARS
    assert corpus.stars.dtype == np.int8
    assert corpus.category_codes.tolist() == CODES
    assert corpus.texts(range(5)) == TEXTS
    assert corpus.category_table == (
        Category("Books", 2, (1, 0, 1, 0, 0)),
        Category("Music", 3, (0, 0, 0, 2, 1)),
    )
    assert corpus.origin == {"kind": "test"}
    corpus.verify()


def test_any_tool_can_read_it(tmp_path):
    write(tmp_path / "c")
    table = pq.read_table(tmp_path / "c" / "reviews.parquet")
    assert table.column_names == ["category", "stars", "text"]
    assert table.column("category").to_pylist() == ["Books", "Music", "Books", "Music", "Music"]


def test_texts_come_in_the_order_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("quantshift.data.corpus.ROW_GROUP_BYTES", 8)
    corpus = write(tmp_path / "c")
    assert corpus.texts(np.array([4, 0, 4, 2])) == [TEXTS[4], TEXTS[0], TEXTS[4], TEXTS[2]]
    assert corpus.texts([]) == []
    with pq.ParquetFile(corpus.path / "reviews.parquet") as file:
        assert file.num_row_groups > 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 5], "row 5 is outside the corpus of 5"),
        ([-1], "row -1 is outside"),
        ([0.5], "vector of integers"),
        ([[0]], "vector of integers"),
    ],
)
def test_rows_outside_are_refused(tmp_path, rows, message):
    corpus = write(tmp_path / "c")
    with pytest.raises(DataError, match=message):
        corpus.texts(rows)


@pytest.mark.parametrize("max_bytes", [1, 7, 20, 1 << 20])
@pytest.mark.parametrize("group_bytes", [8, 1 << 20])
def test_blocks_hold_all_texts_in_order(tmp_path, monkeypatch, max_bytes, group_bytes):
    monkeypatch.setattr("quantshift.data.corpus.ROW_GROUP_BYTES", group_bytes)
    corpus = write(tmp_path / "c")
    seen: list[str] = []
    for start, block in corpus.text_blocks(max_bytes):
        assert start == len(seen)
        assert len(block) == 1 or sum(len(t.encode()) for t in block.to_pylist()) <= max_bytes
        seen += block.to_pylist()
    assert seen == TEXTS
    corpus.verify()


def test_a_block_needs_room(tmp_path):
    with pytest.raises(UserError, match="at least 1 byte"):
        next(write(tmp_path / "c").text_blocks(0))


def test_split_by_bytes_never_loses_an_empty_text():
    texts = pa.array(["", "ab", "", "", "abc", ""])
    parts = [part.to_pylist() for part in split_by_bytes(texts, 2)]
    assert parts == [["", "ab", "", ""], ["abc"], [""]]
    assert list(split_by_bytes(texts.slice(0, 0), 2)) == []


def test_hash_is_of_the_content_not_of_the_blocks(tmp_path, monkeypatch):
    whole = write(tmp_path / "whole")
    monkeypatch.setattr("quantshift.data.corpus.ROW_GROUP_BYTES", 8)
    with CorpusWriter(tmp_path / "pieces", categories=("Books", "Music")) as writer:
        for row in range(5):
            writer.write(CODES[row : row + 1], STARS[row : row + 1], TEXTS[row : row + 1])
        pieces = writer.commit(origin={})
    assert pieces.hash == whole.hash
    assert write(tmp_path / "other", texts=[*TEXTS[:4], "else"]).hash != whole.hash
    # The same bytes cut elsewhere are other texts.
    assert write(tmp_path / "moved", texts=["firs", "t" + TEXTS[1], *TEXTS[2:]]).hash != whole.hash


def test_a_sliced_array_is_written_as_it_is_seen(tmp_path):
    texts = pa.array(["x", *TEXTS, "y"]).slice(1, 5)
    with CorpusWriter(tmp_path / "c", categories=("Books", "Music")) as writer:
        writer.write(CODES, STARS, texts)
        corpus = writer.commit(origin={})
    assert corpus.texts(range(5)) == TEXTS
    assert corpus.hash == write(tmp_path / "d").hash


@pytest.mark.parametrize(
    ("codes", "stars", "texts", "message"),
    [
        ([0], [1, 2], ["a", "b"], "1 category codes, 2 stars and 2 texts"),
        ([2], [1], ["a"], "category codes must be from 0 to 1"),
        ([0], [0], ["a"], "whole numbers from 1 to 5"),
        ([0], [4.5], ["a"], "whole numbers from 1 to 5"),
        ([0], [4], [None], "a text is missing"),
    ],
)
def test_wrong_rows_are_refused_and_leave_nothing(tmp_path, codes, stars, texts, message):
    with (
        pytest.raises(DataError, match=message),
        CorpusWriter(tmp_path / "c", categories=("Books", "Music")) as writer,
    ):
        writer.write(codes, stars, texts)
    assert list(tmp_path.iterdir()) == []


def test_categories_must_be_distinct(tmp_path):
    with (
        pytest.raises(UserError, match="each only once"),
        CorpusWriter(tmp_path / "c", categories=("A", "A")),
    ):
        pass


def test_without_commit_nothing_is_left(tmp_path):
    with CorpusWriter(tmp_path / "deep" / "c", categories=("Books", "Music")) as writer:
        writer.write(CODES, STARS, TEXTS)
        assert len(list((tmp_path / "deep").iterdir())) == 1
    assert list((tmp_path / "deep").iterdir()) == []


def test_a_corpus_in_the_way_needs_overwrite(tmp_path):
    tokenise_corpus(write(tmp_path / "c"))
    with pytest.raises(UserError, match=r"already holds a corpus; .* or overwrite it"):
        write(tmp_path / "c")
    new = write(tmp_path / "c", overwrite=True, texts=list("abcde"))
    assert new.texts(range(5)) == list("abcde")
    # What was derived from the old corpus went with it.
    assert sorted(p.name for p in new.path.iterdir()) == ["manifest.json", "reviews.parquet"]
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_a_failed_overwrite_keeps_the_old_corpus(tmp_path):
    old = write(tmp_path / "c")

    def interrupted() -> None:
        with CorpusWriter(tmp_path / "c", categories=("A",), overwrite=True) as writer:
            writer.write([0], [1], ["new"])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert Corpus.open(tmp_path / "c").hash == old.hash
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_a_failed_swap_brings_the_old_corpus_back(tmp_path, monkeypatch):
    old = write(tmp_path / "c")
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name.endswith(".partial"):
            raise OSError("refused")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(UserError, match=r"/c cannot be written \(refused\); choose another"):
        write(tmp_path / "c", overwrite=True, texts=list("abcde"))
    assert Corpus.open(tmp_path / "c").hash == old.hash
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_no_corpus_is_never_replaced(tmp_path, overwrite):
    precious = tmp_path / "home" / "thesis.tex"
    precious.parent.mkdir()
    precious.write_text("all my work")
    with pytest.raises(UserError, match="exists and is not a corpus"):
        write(tmp_path / "home", overwrite=overwrite)
    assert precious.read_text() == "all my work"


def test_an_empty_folder_may_become_a_corpus(tmp_path):
    (tmp_path / "c").mkdir()
    assert write(tmp_path / "c").n_documents == 5


def test_opening_what_is_no_corpus(tmp_path):
    with pytest.raises(
        DataError, match="does not exist; create one with `quantshift corpus import`"
    ):
        Corpus.open(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"has no manifest\.json"):
        Corpus.open(tmp_path)
    for text in ("{", "[" * 100_000):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(DataError, match="is not JSON"):
            Corpus.open(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": "other"}')
    with pytest.raises(DataError, match="does not describe a corpus"):
        Corpus.open(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 99}, "has corpus format 99, this is 1; upgrade quantshift"),
        ({"version": 0}, "has corpus format 0, this is 1; import the corpus again"),
        ({"version": None}, "has corpus format None"),
        ({"hash": None, "origin": None}, "lacks hash, origin"),
    ],
)
def test_the_error_of_another_format_names_the_cure(tmp_path, changes, message):
    write(tmp_path / "c")
    alter_manifest(tmp_path / "c", **changes)
    with pytest.raises(DataError, match=message):
        Corpus.open(tmp_path / "c")


def test_a_truncated_or_missing_file_is_seen_on_opening(tmp_path):
    reviews = write(tmp_path / "c").path / "reviews.parquet"
    reviews.write_bytes(reviews.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"reviews\.parquet has \d+ bytes instead of \d+"):
        Corpus.open(tmp_path / "c")
    reviews.unlink()
    with pytest.raises(DataError, match=r"reviews\.parquet is missing"):
        Corpus.open(tmp_path / "c")


def test_verify_finds_an_altered_byte(tmp_path):
    corpus = write(tmp_path / "c")
    reviews = corpus.path / "reviews.parquet"
    content = bytearray(reviews.read_bytes())
    content[len(content) // 2] ^= 1
    reviews.write_bytes(content)
    with pytest.raises(DataError, match="does not match its manifest"):
        corpus.verify()


def test_verify_finds_an_altered_manifest(tmp_path):
    write(tmp_path / "c")
    alter_manifest(tmp_path / "c", hash="0" * 64)
    with pytest.raises(DataError, match=r"the manifest in .* was changed"):
        Corpus.open(tmp_path / "c").verify()


def test_a_category_outside_the_manifest_is_damage(tmp_path):
    write(tmp_path / "c")
    manifest = json.loads((tmp_path / "c" / "manifest.json").read_text())
    manifest["categories"][0]["name"] = "Boots"
    alter_manifest(tmp_path / "c", categories=manifest["categories"])
    with pytest.raises(DataError, match="category 'Books' is not in the manifest"):
        _ = Corpus.open(tmp_path / "c").category_codes


def test_a_file_that_is_no_parquet_is_damage(tmp_path):
    reviews = write(tmp_path / "c").path / "reviews.parquet"
    reviews.write_bytes(b"x" * reviews.stat().st_size)
    with pytest.raises(DataError, match="cannot be read; import the corpus again"):
        _ = Corpus.open(tmp_path / "c").stars


def test_format_1_can_be_read(tmp_path):
    """The corpus in corpus_v1 was written by the first version of the format, and stays."""
    shutil.copytree(Path(__file__).parent / "corpus_v1", tmp_path / "v1")
    corpus = Corpus.open(tmp_path / "v1")
    corpus.verify()
    assert corpus.hash == "d39f5e8004248c418be6a0499f9fb8ccf80c2227fb1bcfd3aed6a234e1cff93c"
    assert corpus.texts(range(5)) == TEXTS
    assert corpus.stars.tolist() == STARS
    assert corpus.category_codes.tolist() == CODES
