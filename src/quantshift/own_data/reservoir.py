"""What is kept of a long table: all items or, of too many, a random part of every batch.

A share among half a million random items has a standard error of less than a tenth of a point; more
items would cost memory and gain nothing. Every item has a random key, and a batch keeps the items
with its smallest keys. Batches are cut at one common size, the largest at which all fit, so that a
small batch keeps everything however large another is. This size only ever falls while a table is
read, hence what is kept is a random draw from all that was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from quantshift.types import Indices


class Keepable(Protocol):
    """Values of items, of which some can be taken and several joined."""

    def take(self, rows: Indices) -> Self:
        """The values of these items."""

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The values of all parts, one behind the other."""


T = TypeVar("T", bound=Keepable)

MOST_KEPT = 500_000
"""Items of all batches together."""

SLACK = 1.25
"""How many more are held before a cut, as a factor: a cut for every chunk would be slow."""


@dataclass(frozen=True, eq=False)
class Kept(Generic[T]):
    """Items in the order they came.

    values: what is known of each; batches: the code of its batch; numbers: its row in
    the table; marks: -1, or whatever number the caller will know it by; keys: random.
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
        """The parts behind each other."""
        return cls(
            type(parts[0].values).joined([part.values for part in parts]),
            np.concatenate([part.batches for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.marks for part in parts]),
            np.concatenate([part.keys for part in parts]),
        )


class Reservoir(Generic[T]):
    """Takes items chunk by chunk, and has at most `most` of them in the end.

    nothing: the values of no items at all.
    """

    def __init__(self, nothing: T, rng: np.random.Generator, *, most: int = MOST_KEPT) -> None:
        self.nothing, self.rng, self.most = nothing, rng, most
        self.sizes = np.zeros(0, dtype=np.int64)
        self._parts: list[Kept[T]] = []

    def add(self, values: T, batches: Indices, numbers: Indices, marks: Indices) -> None:
        """Take items as described in `Kept`; those with a mark of 0 or more stay at any rate."""
        sizes = np.bincount(batches, minlength=max(len(self.sizes), 1))
        sizes[: len(self.sizes)] += self.sizes
        self.sizes = sizes
        keys = np.where(marks >= 0, -1.0, self.rng.random(len(batches)))
        self._parts.append(Kept(values, batches, numbers, marks, keys))
        if sum(map(len, self._parts)) > SLACK * self.most:
            self._parts = [self._cut()]

    def kept(self) -> Kept[T]:
        """The items that remain."""
        if not self._parts:
            nothing = np.empty(0, dtype=np.int64)
            return Kept(self.nothing, nothing, nothing, nothing, np.empty(0))
        return self._cut()

    def _cut(self) -> Kept[T]:
        whole = Kept.joined(self._parts)
        return whole[smallest_keys(whole, common_size(self.sizes, self.most))]


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


def smallest_keys(items: Kept[T], size: int) -> Indices:
    """Positions of the items with the `size` smallest keys of each batch, and of marked items."""
    order = np.lexsort((items.keys, items.batches))
    counts = np.bincount(items.batches)
    first = np.cumsum(counts) - counts
    rank = np.arange(len(items)) - first[items.batches[order]]
    return np.sort(order[(rank < size) | (items.marks[order] >= 0)])
