"""Reviews as a data set: the same whatever the blocks, and nothing half-written."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quantshift.base.storage.integrity import sealed, unsealed
from quantshift.errors import DataError, UserError
from quantshift.lab.data import DataFolder, new_reviews
from tests.lab.data.made_reviews import rows_of, texts_of

CODES = [0, 1, 0, 1, 1]
STARS = [1, 5, 3, 4, 4]
TEXTS = ["first", "a tab\tand é", "", "nul \x00 here", "last 😀\nline"]
HASH = "d39f5e8004248c418be6a0499f9fb8ccf80c2227fb1bcfd3aed6a234e1cff93c"
"""What these reviews have had since they were first written; results refer to it."""


def write(out: Path, *, overwrite: bool = False, texts: list[str] = TEXTS) -> DataFolder:
    with new_reviews(out, ("Books", "Music"), overwrite=overwrite) as writer:
        writer.write(CODES, STARS, texts)
        return writer.commit()


def alter_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    manifest = unsealed(json.loads(path.read_text())) | changes
    path.write_text(json.dumps(sealed(manifest)))


def test_what_is_written_is_read(tmp_path):
    write(tmp_path / "c")
    data = DataFolder.open(tmp_path / "c")
    data.verify()
    assert (data.name, data.kind, data.hash) == ("c", "text", HASH)
    assert rows_of(data) == list(zip(STARS, TEXTS, strict=True))
    dataset = data.dataset()
    assert dataset.labels.dtype == np.int8
    assert (dataset.ordinal, dataset.cut_point) == (True, 3.0)
    assert dataset.classes.tolist() == [1, 3, 4, 5]
    assert dataset.categories.tolist() == ["Books", "Music", "Books", "Music", "Music"]
    assert dataset.features.shape == (5, 7)


def test_the_manifest_describes_categories(tmp_path):
    books, music = write(tmp_path / "c").manifest["categories"]
    assert [level["items"] for level in books["classes"]] == [1, 0, 1, 0, 0]
    assert [level["items"] for level in music["classes"]] == [0, 0, 0, 2, 1]
    lengths = np.array([len(TEXTS[i]) for i in (1, 3, 4)])
    assert (music["items"], music["characters"]) == (
        3,
        {
            "mean": pytest.approx(lengths.mean()),
            "median": 11.0,
            "5%": pytest.approx(np.percentile(lengths, 5)),
            "95%": pytest.approx(np.percentile(lengths, 95)),
        },
    )


def test_any_tool_can_read_it(tmp_path):
    write(tmp_path / "c")
    items = pl.read_parquet(tmp_path / "c" / "items.parquet")
    assert items.to_dict(as_series=False) == {
        "label": STARS,
        "category": ["Books", "Music", "Books", "Music", "Music"],
    }
    assert pl.read_parquet(tmp_path / "c" / "texts.parquet")["text"].to_list() == TEXTS


@pytest.mark.parametrize("max_bytes", [1, 7, 20, 1 << 20])
@pytest.mark.parametrize("group_bytes", [8, 1 << 20])
def test_blocks_hold_all_texts_in_order(tmp_path, monkeypatch, max_bytes, group_bytes):
    monkeypatch.setattr("quantshift.lab.data.sets.stored_texts.ROW_GROUP_BYTES", group_bytes)
    data = write(tmp_path / "c")
    seen: list[str] = []
    for start, block in data.texts.text_blocks(max_bytes):
        assert start == len(seen)
        assert len(block) == 1 or sum(len(t.encode()) for t in block.to_pylist()) <= max_bytes
        seen += block.to_pylist()
    assert seen == TEXTS
    data.verify()
    with pq.ParquetFile(data.path / "texts.parquet") as file:
        assert (file.num_row_groups > 1) == (group_bytes == 8)


def test_files_and_hash_are_of_the_content_not_of_the_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("quantshift.lab.data.sets.stored_texts.ROW_GROUP_BYTES", 13)
    whole = write(tmp_path / "whole")
    with new_reviews(tmp_path / "pieces", ("Books", "Music")) as writer:
        for row in range(5):
            writer.write(CODES[row : row + 1], STARS[row : row + 1], TEXTS[row : row + 1])
        pieces = writer.commit()
    assert pieces.hash == whole.hash == HASH
    assert pieces.manifest["files"] == whole.manifest["files"]
    assert write(tmp_path / "other", texts=[*TEXTS[:4], "else"]).hash != whole.hash
    # The same bytes cut elsewhere are other texts.
    assert write(tmp_path / "moved", texts=["firs", "t" + TEXTS[1], *TEXTS[2:]]).hash != whole.hash


def test_a_sliced_array_is_written_as_it_is_seen(tmp_path):
    texts = pa.array(["x", *TEXTS, "y"]).slice(1, 5)
    with new_reviews(tmp_path / "c", ("Books", "Music")) as writer:
        writer.write(CODES, STARS, texts)
        data = writer.commit()
    assert texts_of(data) == TEXTS
    assert data.hash == HASH


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
        new_reviews(tmp_path / "c", ("Books", "Music")) as writer,
    ):
        writer.write(codes, stars, texts)
    assert list(tmp_path.iterdir()) == []


def test_categories_must_be_distinct(tmp_path):
    with (
        pytest.raises(UserError, match="each only once"),
        new_reviews(tmp_path / "c", ("A", "A")),
    ):
        pass


def test_without_commit_nothing_is_left(tmp_path):
    with new_reviews(tmp_path / "deep" / "c", ("Books", "Music")) as writer:
        writer.write(CODES, STARS, TEXTS)
        assert len(list((tmp_path / "deep").iterdir())) == 1
    assert list((tmp_path / "deep").iterdir()) == []


def test_nothing_written_is_no_data_set(tmp_path):
    with new_reviews(tmp_path / "c", ("A",)) as writer:
        writer.write([], [], [])
        with pytest.raises(DataError, match="needs at least one"):
            writer.commit()
    assert list(tmp_path.iterdir()) == []


def test_reviews_in_the_way_need_overwrite(tmp_path):
    write(tmp_path / "c")
    with pytest.raises(UserError, match=r"already holds a data set; .* or overwrite it"):
        write(tmp_path / "c")
    new = write(tmp_path / "c", overwrite=True, texts=list("abcde"))
    assert texts_of(new) == list("abcde")
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_a_failed_overwrite_keeps_the_old_reviews(tmp_path):
    old = write(tmp_path / "c")

    def interrupted() -> None:
        with new_reviews(tmp_path / "c", ("A",), overwrite=True) as writer:
            writer.write([0], [1], ["new"])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert DataFolder.open(tmp_path / "c").hash == old.hash
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_a_failed_swap_brings_the_old_reviews_back(tmp_path, monkeypatch):
    old = write(tmp_path / "c")
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name.endswith(".partial") and self.parent == tmp_path:
            raise OSError("refused")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(UserError, match=r"/c cannot be written \(refused\); choose another"):
        write(tmp_path / "c", overwrite=True, texts=list("abcde"))
    assert DataFolder.open(tmp_path / "c").hash == old.hash
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_no_data_set_is_never_replaced(tmp_path, overwrite):
    precious = tmp_path / "home" / "thesis.tex"
    precious.parent.mkdir()
    precious.write_text("all my work")
    with pytest.raises(UserError, match="exists and is not a data set"):
        write(tmp_path / "home", overwrite=overwrite)
    assert precious.read_text() == "all my work"


@pytest.mark.parametrize("name", ["texts.parquet", "items.parquet", "counts/indices.npy"])
def test_verify_finds_an_altered_byte(tmp_path, name):
    path = write(tmp_path / "c").path / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="does not match its manifest"):
        DataFolder.open(tmp_path / "c").verify()


def test_verify_finds_an_altered_manifest(tmp_path):
    data = write(tmp_path / "c")
    alter_manifest(data.path, hash="0" * 64)
    with pytest.raises(DataError, match=r"the manifest in .* was changed"):
        DataFolder.open(data.path).verify()
    alter_manifest(data.path, hash=HASH)
    DataFolder.open(data.path).verify()
    books, music = data.manifest["categories"]
    alter_manifest(data.path, categories=[{**books, "name": "Boots"}, music])
    with pytest.raises(DataError, match=r"the reviews in .* cannot be read"):
        DataFolder.open(data.path).verify()
