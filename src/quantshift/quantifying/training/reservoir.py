"""The items that are kept of a long table: all of them or, if there are too many, a random part of
every batch.

A share among 200,000 random items has a standard error of about a tenth of a percentage point, far
below that of the estimate; more items would cost time and memory and gain nothing. Every item gets
a random key, and a batch keeps the items with the smallest keys. All batches are cut to a common
size, the largest at which they fit, so that a small batch keeps everything however large another
one is. This size never grows while a table is read, so what is kept is a random sample of
everything that was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Indices


class Keepable(Protocol):
    """Values of items that can be subset and concatenated."""

    def take(self, rows: Indices) -> Self:
        """The values of these items."""

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The values of all parts, concatenated."""


T = TypeVar("T", bound=Keepable)

MOST_KEPT = 500_000
"""The most items to keep, over all batches."""

MOST_OF_BATCH = 200_000
"""The most items to keep of one batch."""

SLACK = 1.25
"""Items are cut back when there are this many times too many: cutting every chunk is slow."""


@dataclass(frozen=True, eq=False)
class Kept(Generic[T]):
    """Items in the order in which they were read.

    values: what is known about each; batches: the code of its batch; numbers: its row in the table;
    marks: -1, or a number by which the caller identifies it; keys: random.
    """

    values: T
    batches: Indices
    numbers: Indices
    marks: Indices
    keys: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, rows: Indices) -> "Kept[T]":
        return Kept(
            self.values.take(rows),
            self.batches[rows],
            self.numbers[rows],
            self.marks[rows],
            self.keys[rows],
        )

    @classmethod
    def joined(cls, parts: Sequence["Kept[T]"]) -> "Kept[T]":
        """All parts, concatenated."""
        return cls(
            type(parts[0].values).joined([part.values for part in parts]),
            np.concatenate([part.batches for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.marks for part in parts]),
            np.concatenate([part.keys for part in parts]),
        )


class Reservoir(Generic[T]):
    """Takes items chunk by chunk, and keeps at most `most` of them, of a batch at most `most_each`.

    nothing: the values of an empty set of items.
    """

    def __init__(
        self,
        nothing: T,
        rng: np.random.Generator,
        *,
        most: int = MOST_KEPT,
        most_each: int | None = None,
    ) -> None:
        self.nothing, self.rng, self.most = nothing, rng, most
        self.most_each = most if most_each is None else most_each
        self.sizes = np.zeros(0, dtype=np.int64)
        self._parts: list[Kept[T]] = []

    def add(self, values: T, batches: Indices, numbers: Indices, marks: Indices) -> None:
        """Add items as described in `Kept`; those with a mark of 0 or more are always kept."""
        sizes = np.bincount(batches, minlength=max(len(self.sizes), 1))
        sizes[: len(self.sizes)] += self.sizes
        self.sizes = sizes
        keys = np.where(marks >= 0, -1.0, self.rng.random(len(batches)))
        self._parts.append(Kept(values, batches, numbers, marks, keys))
        allowed = min(self.most, int(np.minimum(self.sizes, self.most_each).sum()))
        if sum(map(len, self._parts)) > SLACK * allowed:
            self._cut()

    def kept(self) -> Kept[T]:
        """The items that are kept."""
        if not self._parts:
            nothing = np.empty(0, dtype=np.int64)
            return Kept(self.nothing, nothing, nothing, nothing, np.empty(0))
        self._cut()
        self._parts = [Kept.joined(self._parts)]
        return self._parts[0]

    def _cut(self) -> None:
        """Leave out what is too much, part by part: copies of all at once would need memory."""
        batches, marks, keys = (
            np.concatenate([getattr(part, name) for part in self._parts])
            for name in ("batches", "marks", "keys")
        )
        size = min(common_size(self.sizes, self.most), self.most_each)
        chosen = smallest_keys(keys, batches, marks, size)
        ends = np.cumsum([len(part) for part in self._parts])
        rows = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
        for i, (end, inside) in enumerate(zip(ends, rows, strict=True)):
            part = self._parts[i]
            if len(inside) < len(part):
                self._parts[i] = part[inside - (end - len(part))]


def common_size(sizes: Indices, most: int) -> int:
    """The largest size, at least 1, to which batches can be cut so that at most `most` remain.

    >>> common_size(np.array([10, 100, 1000]), 150)
    70
    """
    low, high = 1, max(int(sizes.max()), 1)
    while low < high:
        middle = (low + high + 1) // 2
        fits = np.minimum(sizes, middle).sum() <= most
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def smallest_keys(
    keys: NDArray[np.float64], batches: Indices, marks: Indices, size: int
) -> Indices:
    """Positions of the items with the `size` smallest keys of each batch, and of marked items."""
    order = np.lexsort((keys, batches))
    counts = np.bincount(batches)
    first = np.cumsum(counts) - counts
    rank = np.arange(len(keys)) - first[batches[order]]
    return np.sort(order[(rank < size) | (marks[order] >= 0)])
