"""Counts of scores of two classes in arrays, for as many batches as fit into a fixed memory.

If rows of many batches come in any order, few cells occur twice in a part of a file, so that
counting part by part makes a table as long as the rows. Narrow cells, in which counting begins, are
kept as one number for each row. Once there are so many rows that all batches are in wide cells, an
array with a place for every cell of every batch takes over, and does not grow.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.sketches.about import CELL, COUNT, About
from quantshift.sketches.cells import score as cells
from quantshift.sketches.cells.score import NARROW, WIDE, WIDTHS, Cells
from quantshift.sketches.widths import width_for

WIDTH = WIDE.end - cells.OUTSIDE
"""Wide cells of a score, with those of rows that are left out."""

EVERY = NARROW.end - cells.OUTSIDE
"""Cells of any width, with those of rows that are left out."""

MOST_PLACES = 1 << 24
"""The most places in the array, of eight bytes each: enough for about 1,800 batches."""

Key = tuple[str | None, ...]


class Tally:
    """How many rows of each key are in each cell of a score. about: two classes, no labels."""

    def __init__(self, about: About) -> None:
        self._about = about
        self._codes: dict[Key, int] = {}
        self._counts: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._waiting: list[tuple[Cells, NDArray[np.int32] | Cells]] = []
        self._n_usable = 0

    @property
    def has_counts(self) -> bool:
        """Whether anything was added."""
        return bool(self._codes)

    def add(self, keys: pl.DataFrame, groups: Cells, cell: Cells) -> bool:
        """Count rows; False, and nothing is counted, if there are too many keys.

        keys: those that may occur; groups: which of them each row has. cell: wide ones if
        `is_wide`, else narrow ones.
        """
        occurring = np.flatnonzero(np.bincount(groups, minlength=keys.height))
        codes_of_occurring = self._own_codes(keys[occurring].rows())
        if codes_of_occurring is None:
            return False
        codes = np.zeros(keys.height, dtype=np.int64)
        codes[occurring] = codes_of_occurring
        if self.is_wide:
            self._make_room()
            np.add.at(self._counts, codes[groups] * WIDTH + (cell - cells.OUTSIDE), 1)
        else:
            self._add(codes[groups], cell, np.ones(len(cell), dtype=np.int32))
        return True

    def add_counts(self, counts: pl.DataFrame) -> bool:
        """Add what has been counted in narrow cells; False if it is in others, or has many keys."""
        cell = counts[CELL].to_numpy()
        if ((cell >= 0) & (cell < NARROW.first)).any():
            return False
        keys = counts.columns[: counts.columns.index(CELL)]
        codes = self._own_codes(counts.select(keys).rows())
        if codes is None:
            return False
        self._add(np.array(codes, dtype=np.int64), cell, counts[COUNT].to_numpy())
        return True

    def table(self) -> pl.DataFrame:
        """What was counted, sorted by key and cell, each batch in the cells it ends up with."""
        names = self._about.keys
        schema = dict.fromkeys(names, pl.String)
        keys = pl.DataFrame(list(self._codes), schema=schema, orient="row")
        keys = keys.with_row_index("code").sort(names)
        order = keys["code"].to_numpy()
        texts = keys.drop("code")
        key_index, cell, numbers = (
            self._wide(order) if self.is_wide else self._settled(texts, order)
        )
        return texts[key_index].with_columns(pl.Series(CELL, cell), pl.Series(COUNT, numbers))

    @property
    def is_wide(self) -> bool:
        """Whether there are so many rows that all batches are in wide cells."""
        return self._n_usable > cells.MOST_NARROW

    def _add(self, codes: Cells, cell: Cells, numbers: NDArray[np.int32] | Cells) -> None:
        self._n_usable += int(numbers[cell >= 0].sum())
        self._waiting.append((codes * EVERY + (cell - cells.OUTSIDE), numbers))
        if not self.is_wide:
            return
        self._make_room()
        for packed, counted in self._waiting:
            number = packed % EVERY + cells.OUTSIDE
            wide = np.where(number < 0, number, NARROW.widened(number, WIDE)) - cells.OUTSIDE
            np.add.at(self._counts, packed // EVERY * WIDTH + wide, counted)
        self._waiting.clear()

    def _make_room(self) -> None:
        """A place for every wide cell of every key."""
        room = len(self._codes) * WIDTH
        if room > len(self._counts):
            counts = np.zeros(min(max(room, 2 * len(self._counts)), MOST_PLACES), dtype=np.int64)
            counts[: len(self._counts)] = self._counts
            self._counts = counts

    def _wide(self, order: Cells) -> tuple[Cells, Cells, Cells]:
        """The position of the key, the cell and the number of every count, in order."""
        places, cell, numbers = [], [], []
        for position, code in enumerate(order):
            counts = self._counts[code * WIDTH : (code + 1) * WIDTH]
            occupied = np.flatnonzero(counts)
            places.append(np.full(len(occupied), position))
            cell.append(occupied + cells.OUTSIDE)
            numbers.append(counts[occupied])
        return np.concatenate(places), np.concatenate(cell), np.concatenate(numbers)

    def _settled(self, texts: pl.DataFrame, order: Cells) -> tuple[Cells, Cells, Cells]:
        """The same for counts in narrow cells, each batch in the cells that it ends up with."""
        positions = np.argsort(order)
        packed, numbers = _summed(
            np.concatenate([waiting for waiting, _ in self._waiting]),
            np.concatenate([counted for _, counted in self._waiting]),
        )
        key_index, cell = positions[packed // EVERY], packed % EVERY + cells.OUTSIDE
        # Keys are in the order of their batches.
        batch = texts.to_series(0).rle_id().to_numpy().astype(np.int64)
        used = cell >= 0
        sizes = np.bincount(batch[key_index[used]], numbers[used], int(batch[-1]) + 1).astype(
            np.int64
        )
        goals = np.array([width_for(self._about, int(n), self._n_usable) for n in sizes])
        goal = goals[batch[key_index]]
        for width, kind in enumerate(WIDTHS[:-1]):
            own = used & (goal == width)
            cell[own] = NARROW.widened(cell[own], kind)
        packed, numbers = _summed(key_index * EVERY + (cell - cells.OUTSIDE), numbers)
        return packed // EVERY, packed % EVERY + cells.OUTSIDE, numbers

    def _own_codes(self, keys: Sequence[Key]) -> list[int] | None:
        """The code of each key; new keys get the next codes. None if there are too many keys."""
        new = [key for key in dict.fromkeys(keys) if key not in self._codes]
        n_keys = len(self._codes) + len(new)
        if n_keys * WIDTH > MOST_PLACES:
            return None
        self._codes.update(zip(new, range(len(self._codes), n_keys), strict=True))
        return [self._codes[key] for key in keys]


def _summed(places: Cells, numbers: Cells) -> tuple[Cells, Cells]:
    """Every place once, in order, and the sum of its numbers."""
    order = np.argsort(places)
    places = places[order]
    first = np.flatnonzero(np.diff(places, prepend=-1))
    return places[first], np.add.reduceat(numbers[order].astype(np.int64), first)
