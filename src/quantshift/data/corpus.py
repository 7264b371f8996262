"""The corpus on disk: a folder with one Parquet file and a manifest.

    DIR/manifest.json     format and version, counts, origin of the rows, hashes
    DIR/reviews.parquet   zstd; columns category (dictionary of strings), stars (int8), text

Rows keep the order in which they were written. The corpus hash is taken over the content (names of
the categories, codes, stars, texts), not over the bytes of the Parquet file, so that the same
reviews have the same hash whichever version of the Parquet library wrote them. The folder may hold
more (such as the term counts of the texts); everything derived from a corpus records its hash.

A corpus exists when its folder has its final name: everything is written into a sibling folder,
flushed to disk and renamed at the end.
"""

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray

from quantshift.base.files import folder_aside, write_errors
from quantshift.base.manifests import FolderKind
from quantshift.errors import DataError, UserError

REVIEWS = "reviews.parquet"
STARS = (1, 2, 3, 4, 5)
CORPUS = FolderKind(
    format="quantshift-corpus",
    version=1,
    noun="corpus",
    described="a corpus",
    keys=frozenset({"hash", "documents", "categories", "files", "origin"}),
    absent="{folder} is not a corpus: it {reason}; create one with `quantshift corpus import`",
    cure="import the corpus again",
)
BLOCK_BYTES = 1 << 24
ROW_GROUP_BYTES = 1 << 25

Texts: TypeAlias = Any
"""A pyarrow string array (pyarrow has no type annotations)."""


@dataclass(frozen=True)
class Category:
    """One category of a corpus and its number of documents, in total and per star."""

    name: str
    n_documents: int
    star_counts: tuple[int, ...]


@dataclass(frozen=True)
class Corpus:
    """Reviews on disk: categories, stars and texts, read on demand."""

    path: Path
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The corpus in the folder `path`; refused unless its format is supported."""
        folder = Path(path)
        manifest = CORPUS.read(folder)
        CORPUS.check_sizes(folder, manifest)
        return cls(path=folder, manifest=manifest)

    @property
    def hash(self) -> str:
        """SHA-256 of the content, in hexadecimal."""
        return str(self.manifest["hash"])

    @property
    def n_documents(self) -> int:
        """Number of documents (rows)."""
        return int(self.manifest["documents"])

    @property
    def origin(self) -> Mapping[str, Any]:
        """The origin of the rows: sources, options and counts, as recorded when it was written."""
        origin: Mapping[str, Any] = self.manifest["origin"]
        return origin

    @cached_property
    def category_table(self) -> tuple[Category, ...]:
        """The categories with their counts, in the order of their codes."""
        return tuple(
            Category(c["name"], c["documents"], tuple(c["stars"]))
            for c in self.manifest["categories"]
        )

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the categories; `category_codes` are positions in it."""
        return tuple(category.name for category in self.category_table)

    @cached_property
    def stars(self) -> NDArray[np.int8]:
        """Stars of each document, 1 to 5, shape (n_documents,)."""
        column = self._table("stars").column("stars")
        stars = np.asarray(column.to_numpy(), dtype=np.int8)
        stars.flags.writeable = False
        return stars

    @cached_property
    def category_codes(self) -> NDArray[np.int16]:
        """Category of each document as a position in `categories`, shape (n_documents,)."""
        column = self._table("category").column("category")
        codes = np.concatenate(
            [_codes_of(chunk, self.categories) for chunk in column.chunks]
            or [np.empty(0, dtype=np.int16)]
        )
        codes.flags.writeable = False
        return codes

    def text_blocks(self, max_bytes: int = BLOCK_BYTES) -> Iterator[tuple[int, Texts]]:
        """All texts in row order, as (first row, pyarrow string array) pairs.

        A block holds at most `max_bytes` of UTF-8, or a single longer text. At most one row group
        (32 MB of text) is in memory in addition.
        """
        if max_bytes < 1:
            raise UserError(f"a block needs at least 1 byte, got max_bytes={max_bytes}")
        start = 0
        with self._parquet() as file:
            for group in range(file.num_row_groups):
                texts = _text_array(self._texts_of(file, group))
                for block in split_by_bytes(texts, max_bytes):
                    yield start, block
                    start += len(block)

    def texts(self, indices: ArrayLike) -> list[str]:
        """The texts of the documents at `indices`, in that order."""
        rows = np.asarray(indices)
        if rows.size == 0:
            return []
        if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
            raise DataError(f"row indices must be a vector of integers, got {indices!r}")
        if rows.min() < 0 or rows.max() >= self.n_documents:
            outside = int(rows.min() if rows.min() < 0 else rows.max())
            raise DataError(f"row {outside} is outside the corpus of {self.n_documents} documents")
        texts_taken = np.empty(len(rows), dtype=object)
        with self._parquet() as file:
            sizes = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
            starts = np.concatenate([[0], np.cumsum(sizes)])
            groups = np.searchsorted(starts, rows, side="right") - 1
            for group in np.unique(groups):
                wanted = np.flatnonzero(groups == group)
                column = self._texts_of(file, int(group))
                texts_taken[wanted] = column.take(
                    pa.array(rows[wanted] - starts[group])
                ).to_pylist()
        return list(texts_taken)

    def verify(self) -> None:
        """Read everything and compare it with the hashes of the manifest."""
        self.verify_files()
        content = _ContentHash(self.categories)
        for start, texts in self.text_blocks():
            rows = slice(start, start + len(texts))
            content.update(self.category_codes[rows], self.stars[rows], texts)
        if content.hexdigest() != self.hash:
            raise CORPUS.damaged(
                f"the manifest in {self.path} was changed (its hash does not match the reviews)"
            )

    def verify_files(self) -> None:
        """Compare the files with the hashes of the manifest, without parsing them."""
        CORPUS.check_hashes(self.path, self.manifest)

    def _parquet(self) -> Any:
        with self._reading():
            return pq.ParquetFile(self.path / REVIEWS)

    def _table(self, column: str) -> Any:
        with self._parquet() as file, self._reading():
            return file.read(columns=[column])

    def _texts_of(self, file: Any, group: int) -> Any:
        with self._reading():
            return file.read_row_group(group, columns=["text"]).column("text")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise CORPUS.damaged(f"{self.path / REVIEWS} cannot be read") from error


class CorpusWriter:
    """Writes a corpus: `write` blocks of rows, then `commit`.

    A context manager; leaving it without `commit` removes everything that was written.

        with CorpusWriter(out, categories=("Books", "Electronics")) as writer:
            writer.write(category_codes, stars, texts)
            corpus = writer.commit(origin={"kind": "mine"})

    Memory is bounded by the size of the blocks. With `overwrite`, an older corpus at `out` stays in
    place until the new one is complete, and files in it that are not part of the corpus are always
    kept. A folder that is not a corpus, or that contains one of the `inputs`, is never replaced.
    """

    def __init__(
        self,
        out: str | Path,
        *,
        categories: Sequence[str],
        overwrite: bool = False,
        inputs: Iterable[str | Path] = (),
    ) -> None:
        self.out = Path(out).absolute()
        self.categories = tuple(categories)
        self.overwrite = overwrite
        self.inputs = tuple(inputs)

    def __enter__(self) -> Self:
        if not self.categories or len(set(self.categories)) < len(self.categories):
            raise UserError(f"give at least one category, and each only once: {self.categories}")
        self._check_free()
        self._star_counts = np.zeros((len(self.categories), len(STARS)), dtype=np.int64)
        self._hash = _ContentHash(self.categories)
        self._pending: list[Any] = []
        self._pending_bytes = 0
        self._schema = pa.schema(
            [
                ("category", pa.dictionary(pa.int16(), pa.string())),
                ("stars", pa.int8()),
                ("text", pa.string()),
            ]
        )
        with ExitStack() as stack:
            self._folder = stack.enter_context(folder_aside(self.out))
            with write_errors(self.out):
                self._file = pq.ParquetWriter(
                    self._folder / REVIEWS,
                    self._schema,
                    compression="zstd",
                    compression_level=1,
                    use_dictionary=["category", "stars"],
                    write_statistics=["stars"],
                )
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # An incomplete file is removed anyway, so errors while closing it do not matter.
        with suppress(OSError):
            self._file.close()
        self._stack.__exit__(kind, error, trace)

    def write(self, category_codes: ArrayLike, stars: ArrayLike, texts: Texts) -> None:
        """Append rows; `texts` is a pyarrow string array or a sequence of str."""
        codes = np.asarray(category_codes, dtype=np.int16)
        star_levels = np.asarray(stars, dtype=np.int8)
        column = texts if isinstance(texts, pa.Array) else pa.array(texts, type=pa.string())
        if not len(codes) == len(star_levels) == len(column):
            raise DataError(
                f"{len(codes)} category codes, {len(star_levels)} stars and {len(column)} texts; "
                "each row needs one of each"
            )
        if len(codes) == 0:
            return
        if codes.min() < 0 or codes.max() >= len(self.categories):
            raise DataError(f"category codes must be from 0 to {len(self.categories) - 1}")
        if (
            star_levels.min() < STARS[0]
            or star_levels.max() > STARS[-1]
            or np.any(star_levels != stars)
        ):
            raise DataError("stars must be whole numbers from 1 to 5")
        if column.null_count:
            raise DataError("a text is missing; every row needs one")
        np.add.at(self._star_counts, (codes, star_levels - STARS[0]), 1)
        self._hash.update(codes, star_levels, column)
        start = 0
        for part in split_by_bytes(column, ROW_GROUP_BYTES):
            rows = slice(start, start + len(part))
            names = pa.DictionaryArray.from_arrays(
                pa.array(codes[rows]), pa.array(self.categories, pa.string())
            )
            batch = pa.record_batch([names, pa.array(star_levels[rows]), part], schema=self._schema)
            start += len(part)
            self._pending.append(batch)
            self._pending_bytes += text_bytes(part)
            if self._pending_bytes >= ROW_GROUP_BYTES:
                self._flush()

    def commit(self, *, origin: Mapping[str, Any]) -> Corpus:
        """Finish the files, give the folder its final name and open it.

        `origin` goes into the manifest: any JSON data that says how the rows were made.
        """
        self._flush()
        with write_errors(self.out):
            self._file.close()
        about = {
            "quantshift": importlib.metadata.version("quantshift"),
            "hash": self._hash.hexdigest(),
            "documents": int(self._star_counts.sum()),
            "categories": [
                {"name": name, "documents": int(counts.sum()), "stars": counts.tolist()}
                for name, counts in zip(self.categories, self._star_counts, strict=True)
            ],
            "origin": origin,
        }
        with write_errors(self.out):
            CORPUS.write(self._folder, about, [self._folder / REVIEWS])
        # Checked again: the folder may have been created while the corpus was written.
        self._check_free()
        CORPUS.put_in_place(self._folder, self.out)
        return Corpus.open(self.out)

    def _check_free(self) -> None:
        CORPUS.check_free(self.out, overwrite=self.overwrite, inputs=self.inputs)

    def _flush(self) -> None:
        if self._pending:
            table = pa.Table.from_batches(self._pending)
            with write_errors(self.out):
                self._file.write_table(table, row_group_size=len(table))
        self._pending, self._pending_bytes = [], 0


def split_by_bytes(texts: Texts, max_bytes: int) -> Iterator[Texts]:
    """Consecutive slices of at most `max_bytes` of UTF-8, or of a single longer text."""
    ends = np.cumsum(pc.binary_length(texts).to_numpy(zero_copy_only=False), dtype=np.int64)
    start, done = 0, 0
    while start < len(texts):
        stop = max(start + 1, int(np.searchsorted(ends, done + max_bytes, side="right")))
        yield texts.slice(start, stop - start)
        start, done = stop, int(ends[stop - 1])


def text_bytes(texts: Texts) -> int:
    """The number of bytes of UTF-8 in all texts together."""
    return int(pc.sum(pc.binary_length(texts), min_count=0).as_py())


class _ContentHash:
    """Hash of the rows, independent of the blocks they come in: one running hash per column."""

    def __init__(self, categories: Sequence[str]) -> None:
        self.names = json.dumps(list(categories)).encode()
        self.columns = [hashlib.sha256() for _ in range(4)]

    def update(self, codes: NDArray[np.int16], stars: NDArray[np.int8], texts: Texts) -> None:
        lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype("<i8")
        content = (codes.astype("<i2").tobytes(), stars.tobytes(), lengths.tobytes())
        for column, data in zip(self.columns, (*content, _utf8(texts)), strict=True):
            column.update(data)

    def hexdigest(self) -> str:
        digests = b"".join(column.digest() for column in self.columns)
        return hashlib.sha256(self.names + digests).hexdigest()


def _utf8(texts: Texts) -> memoryview | bytes:
    """The concatenated bytes of all texts, without a copy."""
    _, offsets, data = texts.buffers()
    if data is None or len(texts) == 0:
        return b""
    bounds = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(data)[int(bounds[0]) : int(bounds[-1])]


def _text_array(column: Any) -> Texts:
    """A chunked column as one string array."""
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else combined.chunk(0)


def _codes_of(names: Any, categories: Sequence[str]) -> NDArray[np.int16]:
    known = {name: code for code, name in enumerate(categories)}
    try:
        codes = np.array([known[name] for name in names.dictionary.to_pylist()], dtype=np.int16)
    except KeyError as error:
        raise CORPUS.damaged(f"category {error.args[0]!r} is not in the manifest") from error
    return np.asarray(codes[names.indices.to_numpy(zero_copy_only=False)])
