"""Columns that were constant in training, where a sample has other values.

Nothing can be learnt from such a column, so it is not used; and what another value of it changes
about the items, a sample cannot show. So there is a warning, and nothing else.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from quantshift.base.nouns import counted
from quantshift.tables.columns.cell_names import shown
from quantshift.tables.columns.kinds import names_of
from quantshift.tables.columns.spelling import known_spellings

MOST_NAMED = 3

MOST_COUNTED = 1000
"""Once a column has this many other values, only their rows are counted: it may hold ids."""


@dataclass(eq=False)
class ConstantReader:
    """Reads these columns of one table, chunk by chunk. values: those of training, by column."""

    values: Mapping[str, str]
    differing_rows: Counter[str] = field(default_factory=Counter)
    others: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, cells: pl.DataFrame) -> None:
        """Count the cells of a chunk that differ; missing ones, or other spellings, do not."""
        for name, value in self.values.items():
            names = names_of(cells[name]).drop_nulls()
            differing = names.filter(names != value)
            spellings = known_spellings(differing.unique(), [value])
            differing = differing.filter(~differing.is_in(list(spellings)))
            self.differing_rows[name] += len(differing)
            if len(self.others[name]) < MOST_COUNTED:
                self.others[name].update(differing)

    def warnings(self, table: str) -> Iterator[str]:
        """A sentence about the columns that differ, those with the most such rows first."""
        found = [(name, n_rows) for name, n_rows in self.differing_rows.most_common() if n_rows]
        columns = [
            f"{name!r} (always {shown(self.values[name])}; here "
            f"{shown(_most_frequent(self.others[name]))}"
            f"{' and others' if len(self.others[name]) > 1 else ''} in {counted(n_rows, 'row')})"
            for name, n_rows in found[:MOST_NAMED]
        ]
        if columns:
            more = len(found) - len(columns)
            yield (
                f"{table}: constant in training, so not used, and different here: "
                f"{', '.join(columns)}{f' and {more:,} more' if more else ''}"
            )


def _most_frequent(values: Counter[str]) -> str:
    return min(values, key=lambda value: (-values[value], value))
