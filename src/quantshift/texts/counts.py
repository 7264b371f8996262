"""Term counts of texts, computed once: a CSR matrix over one sorted vocabulary, memory-mapped.

    DIR/counts/manifest.json        format and version, shape, hash of the corpus, hashes of files
    DIR/counts/indptr.npy           int64, where each document's entries begin
    DIR/counts/indices.npy          int32, columns, ascending within a document
    DIR/counts/data.npy             counts; uint16, or int32 if a word occurs 65,536 times
    DIR/counts/vocabulary.parquet   zstd; columns word (sorted as Python sorts str), documents

Every training set's tf-idf is a view of these counts (see `quantshift.texts.tfidf`). The words
are those of scikit-learn's CountVectorizer with its defaults, column by column. The counts exist
when their folder has its final name: everything is written into a sibling folder, flushed to disk
and renamed. Processes that open the same counts share one copy in memory.

There are two passes: the first writes blocks of documents with words numbered in order of
appearance, the second assigns the words their final columns. Memory is bounded by the blocks and
the vocabulary.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import csr_array

from quantshift.base.storage.files import disk_errors, folder_aside
from quantshift.base.storage.manifests import FolderKind
from quantshift.base.types import Indices
from quantshift.errors import DataError
from quantshift.texts.rows import Counts, Ints, Longs, gather_rows
from quantshift.texts.tokens import BlockCounts, Dictionary, Texts, count_blocks, ordered_map

FOLDER = "counts"
VOCABULARY = "vocabulary.parquet"
ARRAYS = ("indptr", "indices", "data")
BLOCK_BYTES = 1 << 22
COUNTS = FolderKind(
    format="quantshift-counts",
    version=1,
    noun="counts",
    described="term counts",
    keys=frozenset({"corpus", "shape", "entries", "count_type", "files"}),
    absent="no term counts in {folder}; import the data again",
    cure="import the data again",
)


class TextCorpus(Protocol):
    """The interface of a corpus that can be tokenised."""

    @property
    def path(self) -> Path:
        """Its folder; the counts go into a folder inside it."""

    @property
    def hash(self) -> str:
        """A hash of its content."""

    @property
    def n_documents(self) -> int:
        """Number of documents."""

    def text_blocks(self, max_bytes: int) -> Iterator[tuple[int, Texts]]:
        """All texts in row order, as (first row, pyarrow string array)."""


@dataclass(frozen=True, eq=False)
class CountMatrix:
    """The count of each word of one vocabulary in each document."""

    indptr: Longs
    indices: Ints
    data: Counts
    n_words: int
    source: Any
    """The words as a pyarrow string array, or the path of the Parquet file that holds them."""

    @classmethod
    def open(cls, path: str | Path, *, corpus_hash: str | None = None) -> "CountMatrix":
        """The counts in the folder `path`, memory-mapped; refused if they are not complete.

        With `corpus_hash`, they are also refused if they were made from other texts.
        """
        folder = Path(path)
        manifest = COUNTS.read(folder)
        if corpus_hash is not None and manifest["corpus"] != corpus_hash:
            raise DataError(f"the counts in {folder} are those of other texts; {COUNTS.cure}")
        COUNTS.check_sizes(folder, manifest)
        n_documents, n_words = manifest["shape"]
        types = ("int64", "int32", manifest["count_type"])
        sizes = (n_documents + 1, manifest["entries"], manifest["entries"])
        indptr, indices, data = (
            _mapped(folder / f"{name}.npy", dtype, size)
            for name, dtype, size in zip(ARRAYS, types, sizes, strict=True)
        )
        if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(np.diff(indptr) < 0):
            raise COUNTS.damaged(f"{folder / 'indptr.npy'} is not ascending")
        return cls(indptr, indices, data, n_words, folder / VOCABULARY)

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> "CountMatrix":
        """The counts of a few texts, in memory."""
        return tokenise(_text_blocks(texts))

    @classmethod
    def from_csr(cls, counts: Any, vocabulary: Sequence[str]) -> "CountMatrix":
        """The counts of a sparse matrix of whole numbers; column j counts vocabulary[j]."""
        matrix = csr_array(counts, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        if matrix.shape[1] != len(vocabulary):
            raise DataError(
                f"{matrix.shape[1]} columns of counts and {len(vocabulary)} words; "
                "each column needs one word"
            )
        data = matrix.data
        if not np.all((data >= 0) & (data <= np.iinfo(np.int32).max) & (data == np.floor(data))):
            raise DataError("counts must be whole numbers from 0 to 2147483647")
        return cls(
            _frozen(matrix.indptr.astype(np.int64)),
            _frozen(matrix.indices.astype(np.int32)),
            _narrowed(data.astype(np.int32)),
            len(vocabulary),
            pa.array(vocabulary, pa.large_string()),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of words."""
        return len(self.indptr) - 1, self.n_words

    @cached_property
    def vocabulary(self) -> Any:
        """The words in column order, a pyarrow string array."""
        if not isinstance(self.source, Path):
            return self.source
        try:
            words = pq.read_table(self.source, columns=["word"]).column("word").combine_chunks()
        except (OSError, pa.ArrowException) as error:
            raise COUNTS.damaged(f"{self.source} cannot be read") from error
        if len(words) != self.n_words:
            raise COUNTS.damaged(f"{self.source} has {len(words)} words instead of {self.n_words}")
        return words

    def rows(self, rows: ArrayLike) -> csr_array:
        """The counts of the documents at `rows`, in that order, (n_rows, n_words), int32."""
        chosen = self.check_rows(rows)
        indptr, indices, data = gather_rows(self.indptr, self.indices, self.data, chosen)
        return csr_array((data, indices, indptr), shape=(len(chosen), self.n_words))

    def check_rows(self, rows: ArrayLike) -> Indices:
        """The row indices as int64, refused unless they are whole numbers within the matrix."""
        chosen = np.asarray(rows)
        if chosen.size == 0:
            return np.empty(0, np.int64)
        if chosen.ndim != 1 or not np.issubdtype(chosen.dtype, np.integer):
            raise DataError(
                f"row indices must be a vector of integers, got {chosen.dtype} of shape "
                f"{chosen.shape}"
            )
        n_documents = self.shape[0]
        for row in (int(chosen.min()), int(chosen.max())):
            if not 0 <= row < n_documents:
                raise DataError(f"row {row} is outside the counts of {n_documents} documents")
        return chosen.astype(np.int64)


def tokenise(blocks: Iterable[tuple[int, Texts]], *, workers: int = 2) -> CountMatrix:
    """The counts of blocks of texts (first row, pyarrow string array), in memory."""
    dictionary = Dictionary()
    counted = list(count_blocks(blocks, dictionary, workers=workers))
    columns, words, _ = dictionary.sort()
    placed = [block.placed(columns) for block in counted]
    return CountMatrix(
        _bounds(_joined((block.lengths for block in counted), np.int64)),
        _frozen(_joined((indices for indices, _ in placed), np.int32)),
        _narrowed(_joined((data for _, data in placed), np.int32)),
        dictionary.n_words,
        words,
    )


def tokenise_corpus(
    corpus: TextCorpus,
    *,
    workers: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> CountMatrix:
    """Count the words of a corpus into its folder `counts`, replacing older counts.

    The result does not depend on `workers`, the number of threads. `progress` is called with the
    number of documents done and the total.
    """
    final = corpus.path / FOLDER
    with folder_aside(final) as aside:
        with disk_errors(corpus.path):
            _write_counts(corpus, aside, workers=workers, progress=progress)
        COUNTS.put_in_place(aside, final)
    return open_counts(corpus)


def open_counts(corpus: TextCorpus) -> CountMatrix:
    """The counts in the corpus's folder, refused if they were made from other texts."""
    return CountMatrix.open(corpus.path / FOLDER, corpus_hash=corpus.hash)


@dataclass(frozen=True, eq=False)
class _Spooled:
    """Blocks of counts in a file, whose words have the numbers in which they were first seen.

    rows: the number of words in each text of a block; vocabulary_sizes: of the blocks. most: the
    largest count.
    """

    path: Path
    rows: Sequence[Longs]
    vocabulary_sizes: Sequence[int]
    most: int

    @property
    def n_rows(self) -> int:
        """How many texts there are."""
        return sum(map(len, self.rows))

    def blocks(self) -> Iterator[BlockCounts]:
        """The blocks, read one by one."""
        with self.path.open("rb") as file:
            for lengths, n_words in zip(self.rows, self.vocabulary_sizes, strict=True):
                numbers, words, counts = (
                    np.fromfile(file, np.int32, size)
                    for size in (n_words, int(lengths.sum()), int(lengths.sum()))
                )
                yield BlockCounts(numbers, lengths, words, counts)


def _spooled(
    corpus: TextCorpus,
    path: Path,
    dictionary: Dictionary,
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> _Spooled:
    """Count the words of all texts into a file; the dictionary learns them."""
    rows: list[Longs] = []
    vocabulary_sizes: list[int] = []
    n_rows, most = 0, 0
    with path.open("wb") as file:
        blocks = corpus.text_blocks(BLOCK_BYTES)
        for block in count_blocks(blocks, dictionary, workers=workers):
            for array in (block.numbers, block.words, block.counts):
                array.tofile(file)
            vocabulary_sizes.append(len(block.numbers))
            rows.append(block.lengths)
            n_rows += len(block.lengths)
            most = max(most, int(block.counts.max(initial=0)))
            if progress is not None:
                progress(n_rows, corpus.n_documents)
    if n_rows != corpus.n_documents:
        raise DataError(
            f"{corpus.path} has {n_rows} texts for {corpus.n_documents} documents; import the "
            "data again"
        )
    return _Spooled(path, rows, vocabulary_sizes, most)


def _write_counts(
    corpus: TextCorpus,
    folder: Path,
    *,
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    dictionary = Dictionary()
    spooled = _spooled(corpus, folder / "blocks.spool", dictionary, workers, progress)
    columns, words, frequency = dictionary.sort()
    indptr = _bounds(_joined(iter(spooled.rows), np.int64))
    n_entries = int(indptr[-1])
    count_type = _count_type(spooled.most)

    def placed(block: BlockCounts) -> tuple[Ints, Counts]:
        block_indices, block_counts = block.placed(columns)
        return block_indices, block_counts.astype(count_type)

    np.save(folder / "indptr.npy", indptr)
    with (folder / "indices.npy").open("wb") as indices, (folder / "data.npy").open("wb") as data:
        _write_header(indices, np.int32, n_entries)
        _write_header(data, count_type, n_entries)
        for block_indices, block_data in ordered_map(placed, spooled.blocks(), workers=workers):
            block_indices.tofile(indices)
            block_data.tofile(data)
    spooled.path.unlink()
    table = pa.table({"word": words, "documents": pa.array(frequency)})
    pq.write_table(table, folder / VOCABULARY, compression="zstd", use_dictionary=False)

    files = [folder / name for name in (*(f"{name}.npy" for name in ARRAYS), VOCABULARY)]
    about = {
        "corpus": corpus.hash,
        "unicode": unicodedata.unidata_version,
        "shape": [spooled.n_rows, dictionary.n_words],
        "entries": n_entries,
        "count_type": count_type.name,
    }
    COUNTS.write(folder, about, files)


def _text_blocks(texts: Sequence[str]) -> Iterator[tuple[int, Texts]]:
    start, size = 0, 0
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"document {row} is {type(text).__name__}, not str")
        size += len(text)
        if size >= BLOCK_BYTES or row == len(texts) - 1:
            # Lone surrogates cannot be encoded; like their replacement, they separate words.
            block = [part.encode("utf-8", "replace") for part in texts[start : row + 1]]
            yield start, pa.array(block, pa.large_binary())
            start, size = row + 1, 0


def _joined(parts: Iterable[NDArray[Any]], dtype: DTypeLike) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *parts])


def _bounds(lengths: Longs) -> Longs:
    return _frozen(np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]))


def _count_type(most: int) -> np.dtype[Any]:
    return np.dtype(np.uint16 if most <= np.iinfo(np.uint16).max else np.int32)


def _narrowed(counts: Ints) -> Counts:
    return _frozen(counts.astype(_count_type(int(counts.max(initial=0)))))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    # Read-only, like memory-mapped arrays: views cannot change, and the compiled loops need only
    # one kind of array.
    array.flags.writeable = False
    return array


def _mapped(path: Path, dtype: str, size: int) -> NDArray[Any]:
    array = COUNTS.array(path)
    if array.dtype != np.dtype(dtype) or array.shape != (size,):
        raise COUNTS.damaged(
            f"{path} holds {array.dtype} of shape {array.shape} instead of {dtype} of shape "
            f"({size},)"
        )
    return np.asarray(array)


def _write_header(file: BinaryIO, dtype: DTypeLike, size: int) -> None:
    descr = np.lib.format.dtype_to_descr(np.dtype(dtype))
    header = {"descr": descr, "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(file, header)
    # The arrays are then written to the same file, bypassing Python's buffer.
    file.flush()
