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


@dataclass(eq=False)
class ConstantReader:
    """Reads these columns of one table, chunk by chunk. values: those of training, by column."""

    values: Mapping[str, str]
    others: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, cells: pl.DataFrame) -> None:
        """Count the cells of a chunk that differ; missing ones, or other spellings, do not."""
        for name, value in self.values.items():
            names = names_of(cells[name]).drop_nulls()
            differing = names.filter(names != value)
            spellings = known_spellings(differing.unique(), [value])
            self.others[name].update(differing.filter(~differing.is_in(list(spellings))))

    def warnings(self, table: str) -> Iterator[str]:
        """A sentence about the columns that differ, those with the most such rows first."""
        found = [(name, others) for name, others in self.others.items() if others]
        found.sort(key=lambda pair: -pair[1].total())
        columns = [
            f"{name!r} (always {shown(self.values[name])}; here {shown(_most_frequent(others))}"
            f"{' and others' if len(others) > 1 else ''} in {counted(others.total(), 'row')})"
            for name, others in found[:MOST_NAMED]
        ]
        if columns:
            more = len(found) - len(columns)
            yield (
                f"{table}: constant in training, so not used, and different here: "
                f"{', '.join(columns)}{f' and {more:,} more' if more else ''}"
            )


def _most_frequent(values: Counter[str]) -> str:
    return min(values, key=lambda value: (-values[value], value))
