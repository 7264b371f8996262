"""Counts of cells in one array, for as many batches as memory is granted for.

Rows of many batches that come in any order have few cells twice in a part of a file, so that
counting part by part makes a table as long as the rows. An array with a place for every cell of
every batch does not grow.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.sketches import cells
from quantshift.sketches.sketch_table import CELL, COUNT

WIDTH = cells.LAST + 1 - cells.OUTSIDE
"""Cells of a score, with those of rows that are left out."""

MOST_PLACES = 1 << 24
"""Of the array, of eight bytes each: about 1,800 batches."""

Key = tuple[str | None, ...]


class Tally:
    """How many rows of each key are in each cell of a score."""

    def __init__(self) -> None:
        self._codes: dict[Key, int] = {}
        self._counts: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    @property
    def has_counts(self) -> bool:
        """Whether anything was added."""
        return bool(self._codes)

    def add(self, keys: pl.DataFrame, groups: cells.Cells, cell: cells.Cells) -> bool:
        """Count rows; False, and nothing is counted, if there are too many keys.

        keys: those that may occur; groups: which of them each row has.
        """
        occurring = np.flatnonzero(np.bincount(groups, minlength=keys.height))
        known_codes = self._own_codes(keys[occurring].rows())
        if known_codes is None:
            return False
        codes = np.zeros(keys.height, dtype=np.int64)
        codes[occurring] = known_codes
        np.add.at(self._counts, codes[groups] * WIDTH + (cell - cells.OUTSIDE), 1)
        return True

    def add_counts(self, counts: pl.DataFrame) -> bool:
        """Add what has been counted, in cells; False if there are too many keys."""
        keys = counts.columns[: counts.columns.index(CELL)]
        codes = self._own_codes(counts.select(keys).rows())
        if codes is None:
            return False
        place = np.array(codes, dtype=np.int64) * WIDTH + (counts[CELL].to_numpy() - cells.OUTSIDE)
        np.add.at(self._counts, place, counts[COUNT].to_numpy())
        return True

    def table(self, names: Sequence[str]) -> pl.DataFrame:
        """What was counted, sorted by key and cell. names: of the keys."""
        schema = dict.fromkeys(names, pl.String)
        keys = pl.DataFrame(list(self._codes), schema=schema, orient="row")
        keys = keys.with_row_index("code").sort(names)
        order = keys["code"].to_numpy()
        places, cell, numbers = [], [], []
        for place, code in enumerate(order):
            counts = self._counts[code * WIDTH : (code + 1) * WIDTH]
            occupied = np.flatnonzero(counts)
            places.append(np.full(len(occupied), place))
            cell.append(occupied + cells.OUTSIDE)
            numbers.append(counts[occupied])
        texts = keys.drop("code")[np.concatenate(places)]
        return texts.with_columns(
            pl.Series(CELL, np.concatenate(cell)), pl.Series(COUNT, np.concatenate(numbers))
        )

    def _own_codes(self, keys: Sequence[Key]) -> list[int] | None:
        """The place of each key, new ones behind the known; None if there are too many."""
        new = [key for key in dict.fromkeys(keys) if key not in self._codes]
        n_known = len(self._codes) + len(new)
        if n_known * WIDTH > MOST_PLACES:
            return None
        self._codes.update(zip(new, range(len(self._codes), n_known), strict=True))
        if n_known * WIDTH > len(self._counts):
            room = min(max(n_known, 2 * (len(self._counts) // WIDTH)) * WIDTH, MOST_PLACES)
            counts = np.zeros(room, dtype=np.int64)
            counts[: len(self._counts)] = self._counts
            self._counts = counts
        return [self._codes[key] for key in keys]
