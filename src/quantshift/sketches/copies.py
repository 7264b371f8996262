"""Batches that are in two sketches: merging them would count their rows twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma, log

import polars as pl

from quantshift.sketches.about import BATCH, CELL, COUNT, About

BY_CHANCE = 1e-6
"""If other rows would have the same counts with a smaller probability, the rows are the same."""

_PRINT, _LINES, _POSITION = "print", "lines", "position"


@dataclass(frozen=True)
class Copy:
    """A batch that has the same counts in two sketches.

    first, second: the positions of the sketches. batch: its name, None for rows without one.
    chance: the probability that as many other rows, drawn from the same scores, have just these
    counts.
    """

    first: int
    second: int
    batch: str | None
    chance: float

    @property
    def is_certain(self) -> bool:
        """Whether the rows are the same, rather than others that have the same counts."""
        return self.chance < BY_CHANCE

    def __str__(self) -> str:
        of_batch = "" if self.batch is None else f" of the batch {self.batch!r}"
        return f"have the same counts{of_batch}, as a sketch and its copy have"


def first_copy(about: About, tables: Sequence[pl.DataFrame]) -> Copy | None:
    """The batch that is most certainly the same in two sketches; None if no counts are the same.

    tables: those of sketches that are all described by `about`.
    """
    prints = pl.concat(_prints(table, position) for position, table in enumerate(tables))
    key = [BATCH, _PRINT, _LINES]
    several = prints.filter(pl.len().over(key) > 1)
    copies = []
    for group in several.partition_by(key, maintain_order=True):
        first, second = group[_POSITION].to_list()[:2]
        batch = group[BATCH][0]
        copies.append(Copy(first, second, batch, _chance(about, tables[first], batch)))
    return min(copies, key=lambda copy: copy.chance, default=None)


def _prints(table: pl.DataFrame, position: int) -> pl.DataFrame:
    """A fingerprint of every batch."""
    columns = "|".join(table.columns)
    rows = table.select(BATCH, table.hash_rows().alias(_PRINT))
    prints = rows.group_by(BATCH, maintain_order=True).agg(
        pl.col(_PRINT).bitwise_xor(), pl.len().alias(_LINES)
    )
    return prints.with_columns(
        pl.format("{} {}", pl.lit(columns), pl.col(_PRINT)).alias(_PRINT),
        pl.lit(position).alias(_POSITION),
    )


def _chance(about: About, table: pl.DataFrame, batch: str | None) -> float:
    """The probability of the counts of a batch, if as many rows are drawn from the same scores."""
    own = table.filter(
        pl.col(BATCH).eq_missing(pl.lit(batch, pl.String)),
        pl.col(CELL) < about.end_of_rows,
    )
    counts = own[COUNT].to_list()
    n = sum(counts)
    logarithm = lgamma(n + 1) - sum(lgamma(k + 1) - k * log(k / n) for k in counts)
    return exp(logarithm)
