"""How narrow the cells of every batch are: this depends on numbers of rows, and on no order.

Counts begin in the narrowest cells. Those of a batch go into wider ones once it has many rows, or
all batches together have many. Both numbers only grow when sketches are merged, and a wide cell is
made of narrow ones, so that it makes no difference in which order rows were counted and merged.
Labelled rows, of which there are few beside the others, stay in the narrowest cells.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.sketches.about import BATCH, CELL, COUNT, About
from quantshift.sketches.cells import rounded
from quantshift.sketches.cells import score as cells
from quantshift.sketches.cells.joint import summed
from quantshift.sketches.cells.score import Cells

WIDTH, ROWS = "width", "rows"

AT_ONCE = 1 << 16
"""Rounded rows that are put into joint and marginal cells at once, which takes many columns."""


def settled(about: About, table: pl.DataFrame) -> pl.DataFrame:
    """The counts of all rows, each batch in the cells that it ends up with."""
    cell = table[CELL].to_numpy()
    used = (cell >= 0) & (cell < about.end_of_rows)
    widths = _widths(about, cell)
    n_all = int(table[COUNT].to_numpy()[used].sum())
    sizes = (
        table.select(BATCH, COUNT, pl.Series(WIDTH, widths))
        .filter(used)
        .group_by(BATCH)
        .agg(pl.col(COUNT).sum().alias(ROWS), pl.col(WIDTH).min())
    )
    by_size = np.array([width_for(about, n, n_all) for n in sizes[ROWS].to_list()], dtype=np.int64)
    sizes = sizes.select(BATCH, pl.Series(WIDTH, np.minimum(by_size, sizes[WIDTH].to_numpy())))
    joined = table.select(BATCH).join(
        sizes, on=BATCH, how="left", nulls_equal=True, maintain_order="left"
    )
    goals = joined[WIDTH].fill_null(0).to_numpy()
    return _widened(about, table, used & (goals < widths), goals)


def all_wide(about: About, table: pl.DataFrame) -> pl.DataFrame:
    """The same counts, all batches in the widest cells."""
    cell = table[CELL].to_numpy()
    used = (cell >= 0) & (cell < about.end_of_rows)
    narrow = used & (_widths(about, cell) > 0)
    return _widened(about, table, narrow, np.zeros(len(cell), dtype=np.int64))


def most_narrow(about: About) -> int:
    """If a sketch has more rows in all, every batch is in the widest cells."""
    return cells.MOST_NARROW if about.n_classes == 2 else rounded.MOST_ROWS_IN_ALL


def width_for(about: About, n_rows: int, n_all: int) -> int:
    """Which cells a batch has: 0 for the widest."""
    if about.n_classes > 2:
        few = n_rows <= rounded.MOST_ROWS and n_all <= rounded.MOST_ROWS_IN_ALL
        return int(about.labelled or few)
    if about.labelled:
        return len(cells.WIDTHS) - 1
    if n_all > cells.MOST_NARROW:
        return 0
    for most, kind in cells.BY_SIZE:
        if n_rows <= most:
            return cells.WIDTHS.index(kind)
    return 0


def totals_by_key(frame: pl.DataFrame, keys: Sequence[str], numbers: Sequence[str]) -> pl.DataFrame:
    """The sums of numbers for each key."""
    totals = frame.group_by(keys).agg(pl.col(name).sum() for name in numbers)
    return totals.select([*keys, *numbers])


def totalled(about: About, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The sums of counts in cells, of all parts.

    With more than two classes, rounded rows, joint and marginal cells are summed one after the
    other, each without the columns that are zero for them; a part without such cells may lack
    their columns.
    """
    order = [*about.keys, CELL, *about.codes, *about.totals, COUNT]
    if about.n_classes == 2:
        return totals_by_key(pl.concat(parts), order[:-1], [COUNT])
    sums = []
    for first, end, codes, totals in (
        (min(cells.REASONS), about.n_classes, about.codes, []),
        (about.n_classes, about.end_of_rows, [], about.totals),
        (about.end_of_rows, about.n_cells, [], []),
    ):
        keys, numbers = [*about.keys, CELL, *codes], [*totals, COUNT]
        kind = pl.concat(
            part.filter(pl.col(CELL).is_between(first, end, closed="left")).select(keys + numbers)
            for part in parts
            if set(keys + numbers) <= set(part.columns)
        )
        zeros = [pl.lit(0, pl.Int64).alias(name) for name in order if name not in kind.columns]
        sums.append(totals_by_key(kind, keys, numbers).with_columns(zeros).select(order))
    return pl.concat(sums)


def _widths(about: About, cell: Cells) -> Cells:
    """How narrow each cell is; with more than two classes, 1 for rounded rows."""
    if about.n_classes == 2:
        return cells.width_of(cell)
    return (cell < about.n_classes).astype(np.int64)


def _widened(
    about: About, table: pl.DataFrame, chosen: NDArray[np.bool_], goals: Cells
) -> pl.DataFrame:
    """The counts with some of their rows in cells of another width."""
    if not chosen.any():
        return table
    parts = [table.filter(~chosen)]
    if about.n_classes > 2:
        for rows in table.filter(chosen).iter_slices(AT_ONCE):
            parts += _joint_and_marginal(about, rows)
    else:
        cell = table[CELL].to_numpy().copy()
        widths = cells.width_of(cell)
        for width, kind in enumerate(cells.WIDTHS):
            for goal, wider in enumerate(cells.WIDTHS[:width]):
                own = chosen & (widths == width) & (goals == goal)
                cell[own] = kind.widened(cell[own], wider)
        parts = [table.with_columns(pl.Series(CELL, cell))]
    return totalled(about, parts)


def _joint_and_marginal(about: About, table: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The counts of rounded rows in joint cells, and in marginal ones."""
    largest, numbers = table[CELL].to_numpy(), table[COUNT].to_numpy()
    rows = rounded.middles(largest, table.select(about.codes).to_numpy())
    sums = summed(rows) * numbers[:, np.newaxis]
    keys = table.select(about.keys)
    joint = keys.with_columns(
        pl.Series(CELL, about.joint.of(rows, largest)),
        *(pl.Series(name, sums[:, i]) for i, name in enumerate(about.totals)),
        table[COUNT],
    )
    marginal = pl.concat(
        keys.with_columns(pl.Series(CELL, cell), table[COUNT])
        for cell in about.joint.marginal(rows, largest)
    )
    by_cell = [*about.keys, CELL]
    return (
        totals_by_key(joint, by_cell, [*about.totals, COUNT]),
        totals_by_key(marginal, by_cell, [COUNT]),
    )
