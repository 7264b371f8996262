"""Many samples from one pool, in blocks of bounded size.

A batch of samples is a pool of items and, per sample, the positions of its items. Samples of the
same size form a rectangular index matrix, so every aggregation only handles rectangles; samples of
different sizes are grouped by size and put back in order afterwards.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.compiled import compiled
from quantshift.errors import DataError
from quantshift.types import Indices

BLOCK_ITEMS = 1 << 16
"""Items gathered at once: few enough for the processor's cache, many enough for numpy."""

LONGEST_PART = 128
"""Numbers that numpy adds without splitting them into halves."""

PADDING = -1
"""Fills the rows of an index matrix whose samples are smaller than its width."""


Blocks = Iterable[tuple[Indices, Indices]]
"""Which samples, and their index matrix; in blocks of at most BLOCK_ITEMS items."""


def consecutive_blocks(n_samples: int, size: int) -> Blocks:
    """Samples of equal size that are consecutive in the pool."""
    if n_samples == 1:
        whole = _kept_whole_pool if size <= BLOCK_ITEMS else _whole_pool
        return ((_FIRST, whole(size)),)
    return _parts(np.arange(n_samples), np.arange(n_samples * size).reshape(n_samples, size))


def index_blocks(samples: ArrayLike | Sequence[ArrayLike], n_items: int | None) -> Blocks:
    """Blocks of samples given by the positions of their items.

    `samples` is an integer matrix (n_samples, size), its rows padded with -1 where a sample is
    smaller, or a sequence of integer arrays. All positions are checked against the pool's size
    (None: not known).
    """
    for members, matrix in _rectangles(samples):
        if matrix.shape[1] == 0:
            raise DataError(f"sample {members[0]} is empty: a prevalence needs at least one item")
        end = np.iinfo(np.int64).max if n_items is None else n_items
        if matrix.min() < 0 or matrix.max() >= end:
            bad = int(np.argmax(((matrix < 0) | (matrix >= end)).any(axis=1)))
            raise DataError(
                f"sample {members[bad]} names items {matrix[bad].min()} to {matrix[bad].max()}, "
                f"but the pool has items 0 to {end - 1}"
            )
        yield from _parts(members, matrix)


def gathered_means(representation: NDArray[np.float64], index: Indices) -> NDArray[np.float64]:
    """Mean representation of each sample, (n_samples, n_features).

    Summed in the order of numpy's `sum`, so that results are the same to the last digit.
    """
    return means_by_plan(representation, index, pairwise_plan(index.shape[1]))


@compiled
def means_by_plan(
    representation: NDArray[np.float64], index: Indices, plan: NDArray[np.int64]
) -> NDArray[np.float64]:
    """`gathered_means` with the plan of the samples' size."""
    n_samples, size = index.shape
    means = np.empty((n_samples, len(representation)))
    open_sums = np.empty(64)
    for i in range(n_samples):
        rows = index[i].view(np.uint64)  # unsigned, which spares a check for negative positions
        for k in range(len(representation)):
            values = representation[k]
            start, n_open = 0, 0
            for part in range(len(plan)):
                stop = plan[part, 0]
                total = 0.0
                if stop - start >= 8:
                    a, b, c, d = 0.0, 0.0, 0.0, 0.0
                    e, f, g, h = 0.0, 0.0, 0.0, 0.0
                    while stop - start >= 8:
                        a += values[rows[start]]
                        b += values[rows[start + 1]]
                        c += values[rows[start + 2]]
                        d += values[rows[start + 3]]
                        e += values[rows[start + 4]]
                        f += values[rows[start + 5]]
                        g += values[rows[start + 6]]
                        h += values[rows[start + 7]]
                        start += 8
                    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
                while start < stop:
                    total += values[rows[start]]
                    start += 1
                for _ in range(plan[part, 1]):
                    n_open -= 1
                    total = open_sums[n_open] + total
                open_sums[n_open] = total
                n_open += 1
            means[i, k] = open_sums[0] / size
    return means


@lru_cache(maxsize=64)
def pairwise_plan(size: int) -> NDArray[np.int64]:
    """The order in which numpy adds `size` numbers: halves, down to parts of at most 128.

    For each part, which gets eight running sums: its end, and how many sums of earlier parts are
    added to its own.
    """
    parts: list[list[int]] = []

    def split(start: int, length: int) -> None:
        if length <= LONGEST_PART:
            parts.append([start + length, 0])
            return
        half = length // 2
        half -= half % 8
        split(start, half)
        split(start + half, length - half)
        parts[-1][1] += 1

    split(0, size)
    return np.array(parts, dtype=np.int64)


def _whole_pool(n_items: int) -> Indices:
    return np.arange(n_items).reshape(1, n_items)


_kept_whole_pool = lru_cache(maxsize=16)(_whole_pool)
_FIRST = np.zeros(1, dtype=np.int64)


def _parts(members: Indices, matrix: Indices) -> Blocks:
    if matrix.size <= BLOCK_ITEMS:
        return [(members, matrix)]
    per_block = max(1, BLOCK_ITEMS // matrix.shape[1])
    parts = [slice(start, start + per_block) for start in range(0, len(members), per_block)]
    return [(members[part], matrix[part]) for part in parts]


def count_samples(samples: ArrayLike | Sequence[ArrayLike]) -> int:
    """Number of samples in the batch."""
    n = len(samples)  # type: ignore[arg-type]
    if n == 0:
        raise DataError("no samples: the index matrix has no rows")
    return n


def _rectangles(samples: ArrayLike | Sequence[ArrayLike]) -> list[tuple[Indices, Indices]]:
    if isinstance(samples, np.ndarray) and samples.dtype != object:
        if samples.ndim != 2:
            raise DataError(
                "samples must be an index matrix (n_samples, size) or a list of index arrays, "
                f"got an array of shape {samples.shape}"
            )
        matrix = _integers(samples, "samples")
        if not (matrix == PADDING).any():
            return [(np.arange(len(matrix)), matrix)]
        rows = [row[row != PADDING] for row in matrix]
    else:
        rows = [_integers(row, f"sample {i}").ravel() for i, row in enumerate(samples)]  # type: ignore[arg-type]
    sizes = np.array([row.size for row in rows])
    groups = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    return [(members, np.stack([rows[i] for i in members])) for members in groups]


def _integers(values: Any, where: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"{where}: positions of items must be integers, got {array.dtype}")
    return array.astype(np.int64, copy=False)
