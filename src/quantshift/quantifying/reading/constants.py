"""Columns that were constant in training, where a sample has other values.

Nothing can be learnt from such a column, so it is not used; and what another value of it changes
about the items, a sample cannot show. So that is found, and nothing else.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from quantshift.claims.findings import Finding
from quantshift.quantifying.findings import SampleFindings
from quantshift.tables.columns.cell_names import clipped, names_of
from quantshift.tables.columns.spelling import known_spellings

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

    def findings(self, table: str) -> Iterator[Finding]:
        """The columns that differ, those with the most such rows first."""
        for name, n_rows in self.differing_rows.most_common():
            if n_rows:
                yield SampleFindings.NO_LONGER_CONSTANT.found(
                    table=table,
                    column=name,
                    usual=clipped(self.values[name]),
                    example=clipped(_most_frequent(self.others[name])),
                    others=len(self.others[name]) > 1,
                    n=n_rows,
                )


def _most_frequent(values: Counter[str]) -> str:
    return min(values, key=lambda value: (-values[value], value))
