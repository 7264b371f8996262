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

from quantshift.base.compiled import compiled
from quantshift.base.types import Indices, Reals
from quantshift.errors import DataError
from quantshift.statistics.numpy_sums import pairwise_plan

BLOCK_ITEMS = 1 << 16
"""Items gathered at once: few enough for the processor's cache, many enough for numpy."""

LARGEST = int(np.iinfo(np.int64).max)

PADDING = -1
"""Fills the rows of an index matrix whose samples are smaller than its width."""


Samples = ArrayLike | Sequence[ArrayLike]
"""Samples of a pool: an index matrix, or a list of index arrays."""

Blocks = Iterable[tuple[Indices, Indices]]
"""Which samples, and their index matrix; in blocks of at most BLOCK_ITEMS items."""


def consecutive_blocks(n_samples: int, size: int) -> Blocks:
    """Samples of equal size that are consecutive in the pool."""
    if n_samples == 1:
        return ((_FIRST, whole_pool(size)),)
    return _parts(np.arange(n_samples), np.arange(n_samples * size).reshape(n_samples, size))


def index_blocks(samples: ArrayLike | Sequence[ArrayLike], n_items: int | None) -> Blocks:
    """Blocks of samples given by the positions of their items.

    `samples` is an integer matrix (n_samples, size), its rows padded with -1 where a sample is
    smaller, or a sequence of integer arrays. All positions are checked against the pool's size
    (None: not known).
    """
    end = LARGEST if n_items is None else n_items
    if isinstance(samples, np.ndarray) and samples.dtype != object:
        matrix, n_done = _index_matrix(samples), 0
        for members, part in _parts(np.arange(len(matrix)), matrix):
            if not part.size or part.min() < 0 or part.max() >= end:
                break  # padded or wrong
            yield members, part
            n_done += len(part)
        if n_done == len(matrix):
            return
        rows = [row[row != PADDING] for row in matrix[n_done:]]
    else:
        n_done = 0
        rows = [_integers(row, f"sample {i}").ravel() for i, row in enumerate(samples)]  # type: ignore[arg-type]
    for members, matrix in _rectangles(rows, n_done):
        if matrix.shape[1] == 0:
            raise DataError(f"sample {members[0]} is empty: a prevalence needs at least one item")
        if matrix.min() < 0 or matrix.max() >= end:
            bad = int(np.argmax(((matrix < 0) | (matrix >= end)).any(axis=1)))
            raise DataError(
                f"sample {members[bad]} names items {matrix[bad].min()} to {matrix[bad].max()}, "
                f"but the pool has items 0 to {end - 1}"
            )
        yield from _parts(members, matrix)


def sample_rows(samples: ArrayLike | Sequence[ArrayLike], n_items: int) -> list[Indices]:
    """The positions of the items of each sample, in the order of the samples, checked."""
    rows = {
        int(member): row
        for members, index in index_blocks(samples, n_items)
        for member, row in zip(members, index, strict=True)
    }
    return [rows[member] for member in range(count_samples(samples))]


def gathered_means(representation: NDArray[Any], index: Indices) -> NDArray[np.float64]:
    """Mean representation of each sample, (n_samples, n_features).

    Summed in the order of numpy's `sum`, so that results are the same to the last digit.
    """
    rows = representation
    if rows.dtype != np.float64 or not rows.flags.forc:  # few kinds of arrays are compiled
        rows = np.ascontiguousarray(rows, dtype=np.float64)
    means, open_sums = np.empty((len(index), len(rows))), np.empty(64, dtype=np.complex128)
    # Unsigned positions spare a check for negative ones.
    _set_means(rows, index.view(np.uint64), pairwise_plan(index.shape[1]), open_sums, means)
    return means


@compiled
def _set_means(
    representation: Reals,
    index: NDArray[np.uint64],
    plan: Indices,
    open_sums: NDArray[np.complex128],
    means: Reals,
) -> None:
    """`gathered_means` by the plan of the samples' size; `open_sums` is a buffer.

    Two features are added at once, as the parts of complex numbers, because reading the positions
    of the items takes as long as adding. If the features of an item are next to each other in
    memory (order F), they are also read at once.
    """
    n_samples, size = index.shape
    last = len(representation) - 1
    for i in range(n_samples):
        rows = index[i]
        for k in range(0, last + 1, 2):
            xs, ys = representation[k], representation[min(k + 1, last)]
            start, n_open = 0, 0
            for part in range(len(plan)):
                stop = plan[part, 0]
                total = 0j
                if stop - start >= 8:
                    a, b, c, d = 0j, 0j, 0j, 0j
                    e, f, g, h = 0j, 0j, 0j, 0j
                    while stop - start >= 8:
                        a += complex(xs[rows[start]], ys[rows[start]])
                        b += complex(xs[rows[start + 1]], ys[rows[start + 1]])
                        c += complex(xs[rows[start + 2]], ys[rows[start + 2]])
                        d += complex(xs[rows[start + 3]], ys[rows[start + 3]])
                        e += complex(xs[rows[start + 4]], ys[rows[start + 4]])
                        f += complex(xs[rows[start + 5]], ys[rows[start + 5]])
                        g += complex(xs[rows[start + 6]], ys[rows[start + 6]])
                        h += complex(xs[rows[start + 7]], ys[rows[start + 7]])
                        start += 8
                    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
                while start < stop:
                    total += complex(xs[rows[start]], ys[rows[start]])
                    start += 1
                for _ in range(plan[part, 1]):
                    n_open -= 1
                    total = open_sums[n_open] + total
                open_sums[n_open] = total
                n_open += 1
            means[i, k] = open_sums[0].real / size
            means[i, min(k + 1, last)] = open_sums[0].imag / size


def whole_pool(n_items: int) -> Indices:
    """The index matrix of one sample of all items; kept, so do not write to it."""
    return _cached_positions(n_items) if n_items <= BLOCK_ITEMS else _positions(n_items)


def _positions(n_items: int) -> Indices:
    return np.arange(n_items).reshape(1, n_items)


_cached_positions = lru_cache(maxsize=16)(_positions)
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


def _index_matrix(samples: NDArray[Any]) -> Indices:
    if samples.ndim != 2:
        raise DataError(
            "samples must be an index matrix (n_samples, size) or a list of index arrays, "
            f"got an array of shape {samples.shape}"
        )
    return np.ascontiguousarray(_integers(samples, "samples"))


def _rectangles(rows: Sequence[Indices], first: int) -> list[tuple[Indices, Indices]]:
    """Samples of equal size, numbered from `first` on, and their index matrices."""
    sizes = np.array([row.size for row in rows])
    groups = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    return [(first + members, np.stack([rows[i] for i in members.tolist()])) for members in groups]


def _integers(values: Any, where: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"{where}: positions of items must be integers, got {array.dtype}")
    return array.astype(np.int64, copy=False)
