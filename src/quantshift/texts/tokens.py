r"""Words of texts, as found by default by scikit-learn's text vectorisers, but compiled.

A text is lower-cased by Python's `str.lower`; its words are the matches of (?u)\b\w\w+\b: the
maximal runs of at least two word characters. Python's `re` decides once which code points are word
characters, so that the table is exact for the current Unicode version.

Texts come in blocks. Threads count the words of blocks independently, each block with its own
dictionary; the blocks' dictionaries are then merged into one, in the order of the blocks.
"""

import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from quantshift.errors import DataError, UserError
from quantshift.texts.words import (
    Bytes,
    Codes,
    Ints,
    Longs,
    count_rows,
    fill_slots,
    find_words,
    lower_ascii,
    number_words,
    sort_rows,
)

Texts: TypeAlias = Any
"""A pyarrow string array (pyarrow has no type annotations)."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class BlockCounts:
    """Term counts of consecutive documents, CSR: row lengths, words, counts.

    Words are numbered within the block; `numbers` are their numbers in the common dictionary.
    """

    numbers: Ints
    lengths: Longs
    words: Ints
    counts: Ints

    def placed(self, columns: Ints) -> tuple[Ints, Ints]:
        """Columns, ascending in each row, and counts; columns[number] is the column of a word."""
        block_columns = columns[self.numbers]
        order = np.argsort(block_columns)
        words, counts = sort_rows(self.lengths, self.words, self.counts, order)
        return block_columns[order][words], counts


class Dictionary:
    """Distinct words, numbered from 0 in order of appearance; grows as needed."""

    def __init__(self, capacity: int = 1 << 14) -> None:
        self.n_words = 0
        self._slots = np.full(2 * capacity, -1, np.int32)
        self._codes = np.empty(capacity, np.uint64)
        self._bounds = np.zeros(capacity + 1, np.int64)
        self._bytes = np.empty(8 * capacity, np.uint8)
        self._frequency = np.zeros(capacity, np.int64)

    def number(self, text: Bytes, codes: Codes, spans: Longs) -> Ints:
        """The numbers of the words text[start:start + length], new words included."""
        numbers = np.empty(len(codes), np.int32)
        done = 0
        while done < len(codes):
            done, self.n_words = number_words(
                self._slots,
                self._codes,
                self._bounds,
                self._bytes,
                self.n_words,
                text,
                codes,
                spans,
                numbers,
                done,
            )
            if done < len(codes):
                self._grow(int(spans[done, 1]))
        return numbers

    def merge(self, other: "Dictionary") -> Ints:
        """Add the words of another dictionary and their frequencies; returns their numbers."""
        bounds = other._bounds[: other.n_words + 1]
        spans = np.stack([bounds[:-1], np.diff(bounds)], axis=1)
        numbers = self.number(other._bytes, other._codes[: other.n_words], spans)
        self._frequency[numbers] += other._frequency[: other.n_words]
        return numbers

    def add_frequency(self, frequency: Longs) -> None:
        """Add to the document frequency of the words 0, 1, ..., in that order."""
        self._frequency[: len(frequency)] += frequency

    def sort(self) -> tuple[Ints, Any, Longs]:
        """The column of every word when words are sorted as Python sorts str.

        Also returns the sorted words, a pyarrow array, and their document frequencies.
        """
        bounds = self._bounds[: self.n_words + 1]
        words = pa.LargeStringArray.from_buffers(
            self.n_words, pa.py_buffer(bounds), pa.py_buffer(self._bytes[: bounds[-1]])
        )
        # The order of UTF-8 bytes is the order of code points.
        order = pc.sort_indices(words).to_numpy()
        columns = np.empty(self.n_words, np.int32)
        columns[order] = np.arange(self.n_words, dtype=np.int32)
        return columns, words.take(pa.array(order)), self._frequency[order]

    def _grow(self, needed_bytes: int) -> None:
        capacity = len(self._codes)
        if self.n_words == capacity:
            self._codes = _extended(self._codes, capacity)
            self._bounds = _extended(self._bounds, capacity)
            self._frequency = _extended(self._frequency, capacity)
            self._slots = np.full(4 * capacity, -1, np.int32)
            fill_slots(self._slots, self._codes[: self.n_words])
        else:
            self._bytes = _extended(self._bytes, len(self._bytes) + needed_bytes)


def count_blocks(
    blocks: Iterable[tuple[int, Texts]], dictionary: Dictionary, *, workers: int
) -> Iterator[BlockCounts]:
    """Term counts of blocks (first row, texts), in order; their words are added to `dictionary`.

    At most `workers` + 1 blocks are in memory at a time.
    """
    for local, lengths, words, counts in ordered_map(_count_block, blocks, workers=workers):
        yield BlockCounts(dictionary.merge(local), lengths, words, counts)


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], *, workers: int
) -> Iterator[Result]:
    """`map` on threads: results in the order of the items, of which only a few are read ahead."""
    if workers < 1:
        raise UserError(f"workers must be at least 1, got {workers}")
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[Future[Result]] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(function, item))
                if len(ahead) > workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


def _count_block(block: tuple[int, Texts]) -> tuple[Dictionary, Longs, Ints, Ints]:
    first_row, texts = block
    text, starts, stops = _lowered(first_row, texts)
    lengths, codes, spans = find_words(text, starts, stops, _word_characters())
    local = Dictionary()
    words = local.number(text, codes, spans)
    lengths, words, counts, frequency = count_rows(lengths, words, local.n_words)
    local.add_frequency(frequency)
    return local, lengths, words, counts


def _lowered(first_row: int, texts: Texts) -> tuple[Bytes, Longs, Longs]:
    # The block is lower-cased as ASCII, which is right for ASCII documents; each of the others is
    # lower-cased as str and appended.
    if texts.null_count:
        row = first_row + pc.index(pc.is_null(texts), True).as_py()
        raise DataError(f"document {row} has no text; every row needs one")
    column = texts.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    raw = np.frombuffer(data if data is not None else b"", np.uint8)[bounds[0] : bounds[-1]]
    bounds = bounds - bounds[0]
    starts, stops = bounds[:-1].copy(), bounds[1:].copy()
    lowered, is_ascii = lower_ascii(raw, bounds)
    parts, size = [lowered], len(lowered)
    for i in np.flatnonzero(~is_ascii):
        try:
            part = raw[starts[i] : stops[i]].tobytes().decode().lower().encode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"document {first_row + i} is not valid UTF-8; import the data again"
            ) from error
        parts.append(np.frombuffer(part, np.uint8))
        starts[i], stops[i] = size, size + len(part)
        size += len(part)
    return np.concatenate(parts), starts, stops


@cache
def _word_characters() -> NDArray[np.bool_]:
    table = np.zeros(sys.maxunicode + 1, np.bool_)
    for run in re.finditer(r"\w+", "".join(map(chr, range(len(table))))):
        table[run.start() : run.end()] = True
    table.flags.writeable = False
    return table


def _extended(array: NDArray[Any], by: int) -> NDArray[Any]:
    longer = np.zeros(len(array) + by, array.dtype)
    longer[: len(array)] = array
    return longer
