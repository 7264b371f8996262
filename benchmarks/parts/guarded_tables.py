"""`GuardedSLD` on rows of a table."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from parts.real_tables import LabelledTable
from quantshift import GuardedSLD
from quantshift.tables.preparation import TableColumns

MOST_TRAINING = 2000


@dataclass(frozen=True, eq=False)
class Trained:
    """A quantifier, and what prepares the rows of its table."""

    view: Any
    quantifier: GuardedSLD

    @classmethod
    def on(cls, table: LabelledTable, train: Any) -> "Trained":
        """Trained on these rows."""
        view = TableColumns.of(pl.from_pandas(table.columns)).view(train)
        quantifier = GuardedSLD(mode="columns").fit(view.transform(train), table.codes[train])
        return cls(view, quantifier)
