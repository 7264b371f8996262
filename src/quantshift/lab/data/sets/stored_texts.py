"""Texts on disk: a Parquet file with one column, written and read in blocks of bounded size."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quantshift.errors import UserError

TEXTS = "texts.parquet"
COLUMN = "text"
ROW_GROUP_BYTES = 1 << 25
"""The most bytes of texts that are read at once, unless a single text is longer."""

Texts: TypeAlias = Any
"""A pyarrow array of large strings (pyarrow has no type annotations)."""


class TextsWriter:
    """Writes texts to a Parquet file, block by block; the file does not depend on the blocks."""

    def __init__(self, folder: Path) -> None:
        self._schema = pa.schema([(COLUMN, pa.large_string())])
        self._file = pq.ParquetWriter(
            folder / TEXTS,
            self._schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=False,
            write_statistics=False,
        )
        self._waiting: list[Texts] = []
        self._waiting_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            # An incomplete file is removed anyway, so errors while closing it do not matter.
            with suppress(OSError):
                self._file.close()

    def close(self) -> None:
        """Complete the file."""
        self._flush()
        self._file.close()

    def write(self, texts: Texts) -> None:
        """Append texts."""
        while len(texts):
            room = ROW_GROUP_BYTES - self._waiting_bytes
            part = next(split_by_bytes(texts, room))
            size = text_bytes(part)
            if self._waiting and size > room:
                self._flush()
                continue
            self._waiting.append(part)
            self._waiting_bytes += size
            texts = texts.slice(len(part))
            if len(texts):
                self._flush()

    def _flush(self) -> None:
        if self._waiting:
            table = pa.table([pa.chunked_array(self._waiting)], schema=self._schema)
            self._file.write_table(table, row_group_size=len(table))
        self._waiting, self._waiting_bytes = [], 0


@dataclass(frozen=True)
class StoredTexts:
    """The texts in a folder (a `quantshift.texts.counts.TextCorpus`).

    hash: of the data set that they belong to.
    """

    path: Path
    hash: str
    n_documents: int

    def text_blocks(self, max_bytes: int) -> Iterator[tuple[int, Texts]]:
        """All texts in row order, as (first row, pyarrow array) pairs.

        A block holds at most `max_bytes` of UTF-8, or a single longer text.
        """
        if max_bytes < 1:
            raise UserError(f"a block needs at least 1 byte, got max_bytes={max_bytes}")
        start = 0
        with pq.ParquetFile(self.path / TEXTS) as file:
            for group in range(file.num_row_groups):
                column = file.read_row_group(group, columns=[COLUMN]).column(COLUMN)
                for chunk in column.cast(pa.large_string()).chunks:
                    for block in split_by_bytes(chunk, max_bytes):
                        yield start, block
                        start += len(block)


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
