"""Texts in blocks: all of them in order, and a file that does not depend on how they came."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quantshift.errors import UserError
from quantshift.lab.data.sets import stored_texts
from quantshift.lab.data.sets.stored_texts import (
    StoredTexts,
    TextsWriter,
    split_by_bytes,
    text_bytes,
)

TEXTS = ["first", "", "é" * 9, "a\ttab", "", "longer than a whole group of rows", "last"]


def written(folder: Path, texts: list[str], cuts: tuple[int, ...] = ()) -> bytes:
    """The file of these texts, written in parts that end at the cuts."""
    folder.mkdir()
    with TextsWriter(folder) as writer:
        for start, stop in zip((0, *cuts), (*cuts, len(texts)), strict=True):
            writer.write(pa.array(texts[start:stop], type=pa.large_string()))
    return (folder / stored_texts.TEXTS).read_bytes()


def test_the_file_does_not_depend_on_the_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_texts, "ROW_GROUP_BYTES", 20)
    whole = written(tmp_path / "whole", TEXTS)
    for number, cuts in enumerate([(1,), (3, 3), (2, 5, 6), (0, 7), tuple(range(1, 7))]):
        assert written(tmp_path / f"parts-{number}", TEXTS, cuts) == whole, cuts
    with pq.ParquetFile(tmp_path / "whole" / stored_texts.TEXTS) as file:
        groups = [file.read_row_group(g).column(0).to_pylist() for g in range(file.num_row_groups)]
    assert groups == [["first", ""], [TEXTS[2]], ["a\ttab", ""], [TEXTS[5]], ["last"]]


def test_an_error_is_not_hidden_by_that_of_closing_the_file(tmp_path, monkeypatch):
    close = pq.ParquetWriter.close

    def full(file: pq.ParquetWriter) -> None:
        close(file)
        raise OSError("no space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "close", full)
    with pytest.raises(KeyError), TextsWriter(tmp_path):
        raise KeyError
    with pytest.raises(OSError, match="no space left"), TextsWriter(tmp_path):
        pass


def test_a_block_needs_room(tmp_path):
    written(tmp_path / "texts", TEXTS)
    with pytest.raises(UserError, match="at least 1 byte"):
        next(StoredTexts(tmp_path / "texts", "hash", len(TEXTS)).text_blocks(0))


def test_split_by_bytes_never_loses_an_empty_text():
    texts = pa.array(["", "ab", "", "", "abc", ""])
    parts = [part.to_pylist() for part in split_by_bytes(texts, 2)]
    assert parts == [["", "ab", "", ""], ["abc"], [""]]
    assert list(split_by_bytes(texts.slice(0, 0), 2)) == []


def test_bytes_are_those_of_utf_8():
    texts = pa.array(TEXTS, type=pa.large_string())
    assert text_bytes(texts) == sum(len(text.encode()) for text in TEXTS)
    assert text_bytes(texts.slice(0, 0)) == 0
