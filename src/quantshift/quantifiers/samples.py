"""Many samples from one pool, in blocks of bounded size.

A batch of samples is a pool of items and, per sample, the positions of its items. Samples of the
same size make a rectangular index matrix, so every aggregation sees only rectangles; samples of
unequal size are grouped by size and put back in order afterwards.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.errors import DataError
from quantshift.types import Indices

BLOCK_ITEMS = 1 << 16
"""Items gathered at once: small enough for the processor's cache, large enough for numpy."""

PADDING = -1
"""Fills the rows of an index matrix whose samples are smaller than its width."""


Blocks = Iterable[tuple[Indices, Indices]]
"""Which samples, and their index matrix; in blocks of at most BLOCK_ITEMS items."""


def consecutive_blocks(n_samples: int, size: int) -> Blocks:
    """Samples of one size that follow each other in the pool."""
    return _parts(np.arange(n_samples), np.arange(n_samples * size).reshape(n_samples, size))


def index_blocks(samples: ArrayLike | Sequence[ArrayLike], n_items: int | None) -> Blocks:
    """The blocks of samples that are given by the positions of their items.

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
