"""A synthetic table of mixed columns whose P(y | x) is known: `customers` as a frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from numpy.typing import NDArray

from quantshift.base.forks import uses_tables
from quantshift.base.types import Posteriors
from quantshift.lab.data.embedded.customers import (
    CHANNELS,
    MISSING,
    PLANS,
    draw_customers,
    posteriors,
)

_SCHEMA = {
    "age": pl.Float64,
    "income": pl.Float64,
    "visits": pl.Float64,
    "member": pl.Boolean,
    "channel": pl.String,
    "plan": pl.String,
    "rating": pl.Float64,
}


@dataclass(frozen=True, eq=False)
class MixedTable:
    """The table: columns of features, and the label, site and date of each row.

    columns  a polars frame: numbers, booleans and strings; null where a cell is missing
    labels   "yes" or "no"
    sites    the group of each row
    dates    as YYYY-MM-DD
    """

    columns: pl.DataFrame
    labels: NDArray[Any]
    sites: NDArray[Any]
    dates: NDArray[Any]

    @property
    def posteriors(self) -> Posteriors:
        """The true P(no | x) and P(yes | x) of each row."""
        return mixed_posteriors(self.columns)


@uses_tables
def mixed_table(n_items: int = 12_000, *, seed: int = 0) -> MixedTable:
    """Draw the table; the defaults give the embedded data set `mixed-table`.

    >>> table = mixed_table(1000)
    >>> table.columns.columns
    ['age', 'income', 'visits', 'member', 'channel', 'plan', 'rating']
    >>> table.posteriors.shape
    (1000, 2)
    """
    drawn = draw_customers(n_items, seed=seed)
    columns = pl.DataFrame(drawn.columns, schema=_SCHEMA)
    return MixedTable(columns, drawn.labels, drawn.sites, drawn.dates)


@uses_tables
def mixed_posteriors(columns: pl.DataFrame) -> Posteriors:
    """The true P(no | x) and P(yes | x) of rows with the columns of a `MixedTable`."""
    numbers = {name: columns[name].to_numpy() for name in ("age", "income", "visits", "member")}
    return posteriors(
        **numbers, channel=_codes(columns["channel"], CHANNELS), plan=_codes(columns["plan"], PLANS)
    )


def _codes(column: pl.Series, levels: Sequence[str]) -> NDArray[Any]:
    positions = {level: code for code, level in enumerate(levels)}
    return column.replace_strict(positions, default=MISSING, return_dtype=pl.Int64).to_numpy()
