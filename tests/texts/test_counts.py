import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

from quantshift.errors import DataError, UserError
from quantshift.lab.data import new_reviews
from quantshift.texts import counts as module
from quantshift.texts.counts import (
    CountMatrix,
    open_counts,
    tokenise,
    tokenise_corpus,
)
from quantshift.texts.tfidf import TfidfView

TEXTS = [
    "The cat sat on the mat.",
    "",
    "Ein Über-Kater saß auf der Matte; ΟΔΟΣ!",
    "a b c",
    "the THE The dog",
    "dog 中文 dog 中文 𐐀𐐁",
]


@dataclass(frozen=True)
class ListCorpus:
    """A corpus of a list of texts."""

    path: Path
    documents: tuple[str, ...]
    hash: str = "abc"
    n_missing: int = 0

    @property
    def n_documents(self) -> int:
        return len(self.documents) + self.n_missing

    def text_blocks(self, max_bytes: int) -> Iterator[tuple[int, pa.Array]]:
        step = max(1, max_bytes // 100)
        for start in range(0, len(self.documents), step):
            yield start, pa.array(self.documents[start : start + step], pa.string())


@pytest.fixture
def corpus(tmp_path: Path) -> ListCorpus:
    return ListCorpus(tmp_path, tuple(TEXTS))


def dense(counts: CountMatrix) -> dict[str, list[int]]:
    matrix = counts.rows(np.arange(counts.shape[0])).toarray()
    return dict(zip(counts.vocabulary.to_pylist(), matrix.T.tolist(), strict=True))


def test_counts_of_texts() -> None:
    assert dense(CountMatrix.from_texts(["the cat the dog", "", "Dog, dog & dog."])) == {
        "cat": [1, 0, 0],
        "dog": [1, 0, 3],
        "the": [2, 0, 0],
    }


@pytest.mark.parametrize("texts", [[], [""], ["", "a b"]])
def test_texts_without_words(texts: list[str]) -> None:
    counts = CountMatrix.from_texts(texts)
    assert counts.shape == (len(texts), 0)
    assert counts.rows(range(len(texts))).shape == (len(texts), 0)


def test_lone_surrogates_part_words() -> None:
    assert dense(CountMatrix.from_texts(["ab\ud800cd"])) == {"ab": [1], "cd": [1]}


def test_a_document_that_is_no_text_is_named() -> None:
    with pytest.raises(DataError, match="document 1 is float, not str"):
        CountMatrix.from_texts(["fine", float("nan")])  # type: ignore[list-item]


def test_counts_above_65535_widen_the_type(corpus: ListCorpus) -> None:
    texts = ["yes " * 65_536 + "no", "yes"]
    small = CountMatrix.from_texts(["yes " * 65_535])
    large = CountMatrix.from_texts(texts)
    on_disk = tokenise_corpus(ListCorpus(corpus.path, tuple(texts)))
    assert small.data.dtype == np.uint16
    assert large.data.dtype == on_disk.data.dtype == np.int32
    assert dense(large) == dense(on_disk) == {"no": [1, 0], "yes": [65_536, 1]}


def test_rows_come_in_the_order_asked_for() -> None:
    counts = CountMatrix.from_texts(TEXTS)
    whole = counts.rows(np.arange(len(TEXTS))).toarray()
    chosen = [4, 0, 0, 5, 1]
    rows = counts.rows(chosen)
    assert np.array_equal(rows.toarray(), whole[chosen])
    assert rows.dtype == np.int32
    assert rows.has_sorted_indices
    assert counts.rows([]).shape == (0, counts.n_words)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 6], "row 6 is outside the counts of 6 documents"),
        ([-1, 2], "row -1 is outside"),
        ([0.5], "vector of integers"),
        ([True, False], "vector of integers"),
        ([[0, 1]], "vector of integers"),
    ],
)
def test_wrong_rows(rows: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        CountMatrix.from_texts(TEXTS).rows(rows)  # type: ignore[arg-type]


def test_from_csr() -> None:
    matrix = csr_array(
        (np.array([1, 2, 0, 3, 4]), np.array([2, 0, 1, 1, 1]), np.array([0, 3, 5])), shape=(2, 3)
    )
    counts = CountMatrix.from_csr(matrix, ["bad", "good", "ugly"])
    assert dense(counts) == {"bad": [2, 0], "good": [0, 7], "ugly": [1, 0]}
    assert counts.indices.tolist() == [0, 2, 1]
    assert len(matrix.data) == 5  # the matrix given is left as it was


@pytest.mark.parametrize("value", [-1, 0.5, np.nan, np.inf, 2.0**31])
def test_from_csr_refuses_what_is_no_count(value: float) -> None:
    with pytest.raises(DataError, match="whole numbers"):
        CountMatrix.from_csr(csr_array(np.array([[value, 1.0]])), ["one", "two"])


def test_from_csr_wants_a_word_per_column() -> None:
    with pytest.raises(DataError, match="2 columns of counts and 1 words"):
        CountMatrix.from_csr(csr_array(np.eye(2)), ["one"])


def test_counts_in_memory_cannot_be_written_to() -> None:
    counts = CountMatrix.from_texts(TEXTS)
    for array in (counts.indptr, counts.indices, counts.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_tokenise_corpus_equals_counts_in_memory(corpus: ListCorpus) -> None:
    seen: list[tuple[int, int]] = []
    on_disk = tokenise_corpus(corpus, progress=lambda *done: seen.append(done))
    in_memory = CountMatrix.from_texts(TEXTS)
    assert on_disk.shape == in_memory.shape
    assert on_disk.vocabulary.to_pylist() == in_memory.vocabulary.to_pylist()
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(on_disk, name), getattr(in_memory, name))
        assert not getattr(on_disk, name).flags.writeable
    assert seen[-1] == (6, 6)
    assert [path.name for path in corpus.path.iterdir()] == ["counts"]
    folder = corpus.path / "counts"
    module.COUNTS.check_hashes(folder, module.COUNTS.read(folder))


def test_document_frequency_is_written_beside_the_words(corpus: ListCorpus) -> None:
    tokenise_corpus(corpus)
    table = pq.read_table(corpus.path / "counts" / "vocabulary.parquet")
    frequency = dict(
        zip(*(table.column(c).to_pylist() for c in ("word", "documents")), strict=True)
    )
    assert {word: frequency[word] for word in ("the", "dog", "cat", "中文")} == {
        "the": 2,
        "dog": 2,
        "cat": 1,
        "中文": 1,
    }
    assert list(frequency) == sorted(frequency)


def test_result_depends_on_neither_workers_nor_blocks(
    corpus: ListCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for workers, block_bytes in [(1, 1 << 22), (1, 1), (2, 1), (3, 250), (2, 1 << 22)]:
        monkeypatch.setattr(module, "BLOCK_BYTES", block_bytes)
        tokenise_corpus(corpus, workers=workers)
        folder = corpus.path / "counts"
        files.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert all(other == files[0] for other in files[1:])


def test_blocks_in_memory_do_not_change_the_result() -> None:
    whole = tokenise([(0, pa.array(TEXTS))])
    single = tokenise(((i, pa.array([text])) for i, text in enumerate(TEXTS)), workers=1)
    assert dense(single) == dense(whole)
    assert np.array_equal(single.indices, whole.indices)


def test_a_written_data_set(tmp_path: Path) -> None:
    with new_reviews(tmp_path / "reviews", ("A", "B")) as writer:
        writer.write([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 1], TEXTS)
        data = writer.commit()
    assert dense(open_counts(data.texts)) == dense(CountMatrix.from_texts(TEXTS))
    assert dense(data.dataset().features) == dense(CountMatrix.from_texts(TEXTS))
    data.verify()


def test_an_empty_corpus(tmp_path: Path) -> None:
    assert tokenise_corpus(ListCorpus(tmp_path, ())).shape == (0, 0)
    assert tokenise_corpus(ListCorpus(tmp_path, ("", "a"))).shape == (2, 0)


def test_counts_of_another_corpus_are_refused(corpus: ListCorpus) -> None:
    tokenise_corpus(corpus)
    other = ListCorpus(corpus.path, corpus.documents, hash="def")
    with pytest.raises(DataError, match=r"those of other texts; import the data again"):
        open_counts(other)
    tokenise_corpus(other)
    assert dense(open_counts(other)) == dense(CountMatrix.from_texts(TEXTS))
    with pytest.raises(DataError, match="those of other texts"):
        open_counts(corpus)


def test_no_counts_yet(corpus: ListCorpus) -> None:
    with pytest.raises(DataError, match=r"no term counts in .*; import the data again"):
        open_counts(corpus)


@pytest.mark.parametrize("name", ["indptr.npy", "indices.npy", "data.npy", "vocabulary.parquet"])
def test_a_truncated_or_missing_file_is_named(corpus: ListCorpus, name: str) -> None:
    tokenise_corpus(corpus)
    path = corpus.path / "counts" / name
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(DataError, match=rf"damaged counts: .*{name} has \d+ bytes instead of"):
        open_counts(corpus)
    path.unlink()
    with pytest.raises(DataError, match=rf"{name} is missing; import the data again"):
        open_counts(corpus)


@pytest.mark.parametrize("name", ["indptr.npy", "indices.npy", "data.npy"])
def test_a_foreign_array_is_refused(corpus: ListCorpus, name: str) -> None:
    tokenise_corpus(corpus)
    path = corpus.path / "counts" / name
    size = path.stat().st_size
    path.write_bytes(b"x" * size)
    with pytest.raises(DataError, match=rf"{name} is not an array"):
        open_counts(corpus)
    np.save(path, np.zeros((size - 128) // 8))
    path.write_bytes(path.read_bytes().ljust(size, b"\0"))
    with pytest.raises(DataError, match=rf"{name} holds float64"):
        open_counts(corpus)


def test_a_foreign_vocabulary_is_refused(corpus: ListCorpus) -> None:
    counts = tokenise_corpus(corpus)
    path = corpus.path / "counts" / "vocabulary.parquet"
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(DataError, match=r"vocabulary\.parquet cannot be read"):
        _ = counts.vocabulary
    pq.write_table(pa.table({"word": ["one"]}), path)
    with pytest.raises(DataError, match="has 1 words instead of"):
        _ = counts.vocabulary


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "does not describe term counts"),
        ('{"format": "another"}', "does not describe term counts"),
        ('{"format": "quantshift-counts", "version": 0}', "format 0, this is 1; upgrade"),
        ('{"format": "quantshift-counts", "version": 2}', "format 2, this is 1; upgrade"),
        ('{"format": "quantshift-counts", "version": 1}', "lacks corpus, count_type, entries"),
    ],
)
def test_wrong_manifests(corpus: ListCorpus, content: str, message: str) -> None:
    tokenise_corpus(corpus)
    (corpus.path / "counts" / "manifest.json").write_text(content)
    with pytest.raises(DataError, match=message):
        open_counts(corpus)


def test_rows_that_run_backwards_are_refused(corpus: ListCorpus) -> None:
    tokenise_corpus(corpus)
    path = corpus.path / "counts" / "indptr.npy"
    indptr = np.load(path)
    indptr[1] = indptr[-1] + 1
    np.save(path, indptr)
    with pytest.raises(DataError, match=r"indptr\.npy is not ascending"):
        open_counts(corpus)


def test_a_changed_byte_is_found(corpus: ListCorpus) -> None:
    counts = tokenise_corpus(corpus)
    path = corpus.path / "counts" / "indices.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 0x40  # the last column is now far outside the vocabulary
    path.write_bytes(content)
    with pytest.raises(DataError, match="word number is outside the vocabulary"):
        TfidfView.fit(open_counts(corpus), [5], min_df=1)
    view = TfidfView(counts, np.array([0]), np.ones(1))
    with pytest.raises(DataError, match="word number is outside the vocabulary"):
        view.transform([5])
    with pytest.raises(DataError, match="word number is outside the vocabulary"):
        view.scores([5], [[1.0]], [0.0])


def test_a_failure_leaves_the_older_counts(corpus: ListCorpus) -> None:
    tokenise_corpus(corpus)
    before = (corpus.path / "counts" / "manifest.json").read_bytes()
    broken = ListCorpus(corpus.path, corpus.documents, hash="def", n_missing=1)
    with pytest.raises(DataError, match="has 6 texts for 7 documents"):
        tokenise_corpus(broken)
    assert [path.name for path in corpus.path.iterdir()] == ["counts"]
    assert (corpus.path / "counts" / "manifest.json").read_bytes() == before


def test_a_stop_in_the_middle_leaves_nothing(corpus: ListCorpus) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokenise_corpus(corpus, progress=stop)
    assert list(corpus.path.iterdir()) == []


def test_a_rename_that_fails_keeps_the_older_counts(
    corpus: ListCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenise_corpus(corpus)
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.suffix == ".partial":
            raise PermissionError("no")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(UserError, match="counts cannot be written"):
        tokenise_corpus(corpus)
    assert [path.name for path in corpus.path.iterdir()] == ["counts"]
    assert open_counts(corpus).shape[0] == 6


def test_the_manifest_says_what_the_counts_are(corpus: ListCorpus) -> None:
    counts = tokenise_corpus(corpus)
    manifest = json.loads((corpus.path / "counts" / "manifest.json").read_text())
    assert manifest["corpus"] == "abc"
    assert tuple(manifest["shape"]) == counts.shape
    assert manifest["entries"] == len(counts.data)
    assert sorted(manifest["files"]) == [
        "data.npy",
        "indices.npy",
        "indptr.npy",
        "vocabulary.parquet",
    ]
