"""Sketches of earlier versions, in the cells of this one.

Cells of two classes are wide ones in every version. Version 2 counts three or more classes in joint
cells that know the mean posteriors and the spread of what the first class and the first two leave.
These become joint cells with the same means and the covariances that follow from that spread. The
cells of its labelled rows become rounded rows at their means.
"""

import numpy as np
import polars as pl

from quantshift.errors import DataError
from quantshift.sketches import joint_cells, rounded
from quantshift.sketches.about import CELL, COUNT, SUM, About
from quantshift.sketches.cells import WIDE, Cells, Reals

DEEPEST, FIXED = 12, 30
"""Octaves of version 2 begin at 2**-DEEPEST; its sums are in units of 2**-FIXED."""

PRODUCTS = ("left_left", "left_rest", "rest_rest")


def in_present_cells(about: About, version: int, frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """The table of a file of any version with cells of this one; exact scores are left alone."""
    if version > 2 or about.n_classes == 2 or about.values[0] in frame.columns:
        return frame
    if version == 1:
        raise DataError(
            f"{source}: a sketch of version 1, whose cells of {about.n_classes} classes are no "
            "longer used; make it again from the rows"
        )
    sums = [SUM + str(k) for k in range(about.n_classes)]
    numbers = [CELL, *sums, *PRODUCTS, COUNT]
    if not {*about.keys, *numbers} <= set(frame.columns):
        return frame
    try:
        table = frame.with_columns(pl.col(numbers).cast(pl.Int64))
    except pl.exceptions.PolarsError:
        return frame
    per_octave, rest_per_octave = (
        (4, 4) if about.labelled else (2 if about.n_classes == 3 else 1, 1)
    )
    n_levels = (1 + per_octave * DEEPEST) * (1 + rest_per_octave * DEEPEST)
    n_joint = about.n_classes**3 * n_levels
    cell = table[CELL].to_numpy()
    is_joint, out = (cell >= 0) & (cell < n_joint), table.filter(cell < 0)
    joint, marginal = table.filter(is_joint), table.filter(cell >= n_joint)
    if about.labelled:
        joint = joint.with_columns(pl.col(name).sum().over(CELL) for name in sums)
    means = joint.select(sums).to_numpy().astype(np.float64)
    means /= means.sum(axis=1, keepdims=True)
    if about.labelled:
        largest, codes = rounded.rounded(means)
        parts = [_filled(about, joint, largest, codes=codes)]
    else:
        triple = joint[CELL].to_numpy() // n_levels
        first = triple // about.n_classes**2
        second = triple // about.n_classes % about.n_classes
        unit = joint[COUNT].to_numpy()[:, np.newaxis] * float(1 << FIXED)
        moments = joint.select(PRODUCTS).to_numpy() / unit
        totals = _totals(means, first, second, moments, joint[COUNT].to_numpy())
        parts = [_filled(about, joint, about.joint.of(means, first), totals=totals)]
        parts.append(_filled(about, marginal, _marginal(about, marginal, n_joint)))
    return pl.concat([*parts, _filled(about, out, out[CELL].to_numpy())])


def _marginal(about: About, table: pl.DataFrame, n_joint: int) -> Cells:
    """Marginal cells; a class above one half has the largest posterior."""
    place = table[CELL].to_numpy() - n_joint
    k, score_cell = place // WIDE.n_cells, place % WIDE.n_cells
    starts = np.array(
        [
            [about.joint.marginal_start(c, largest=b) for b in (False, True)]
            for c in range(about.n_classes)
        ]
    )
    return np.asarray(starts[k, (score_cell > WIDE.half).astype(np.int64)] + score_cell)


def _totals(means: Reals, first: Cells, second: Cells, moments: Reals, counts: Cells) -> Cells:
    """Sums of posteriors and of products, if the rest is divided as in the mean."""
    rows = np.arange(len(means))
    left = 1 - means[rows, first]
    rest = np.maximum(left - means[rows, second], 0.0)
    # Every posterior is a sum of 1, what the first leaves and what the first two leave.
    others = means.copy()
    others[rows, first] = others[rows, second] = 0.0
    share = np.divide(
        others, rest[:, np.newaxis], out=np.zeros_like(others), where=rest[:, np.newaxis] > 0
    )
    factors = np.zeros((*means.shape, 3))
    factors[:, :, 2] = share
    factors[rows, first] = [1, -1, 0]
    factors[rows, second] = [0, 1, -1]
    second_moments = np.ones((len(means), 3, 3))
    second_moments[:, 0, 1] = second_moments[:, 1, 0] = left
    second_moments[:, 0, 2] = second_moments[:, 2, 0] = rest
    second_moments[:, 1, 1], second_moments[:, 2, 2] = moments[:, 0], moments[:, 2]
    second_moments[:, 1, 2] = second_moments[:, 2, 1] = moments[:, 1]
    both = factors @ second_moments @ factors.transpose(0, 2, 1)
    n_classes = means.shape[1]
    columns = [means[:, k] * counts * (1 << joint_cells.FIXED) for k in range(n_classes - 1)]
    columns += [
        both[:, a, b] * counts * (1 << joint_cells.PRODUCT_FIXED)
        for a, b in joint_cells.products(n_classes)
    ]
    return np.rint(np.stack(columns, axis=1)).astype(np.int64)


def _filled(
    about: About,
    table: pl.DataFrame,
    cell: Cells,
    *,
    codes: Cells | None = None,
    totals: Cells | None = None,
) -> pl.DataFrame:
    """The keys and numbers of a table with other cells, and zeros where nothing is given."""
    zeros = np.zeros(table.height, dtype=np.int64)
    columns = [
        pl.Series(name, zeros if given is None else given[:, i])
        for names, given in ((about.codes, codes), (about.totals, totals))
        for i, name in enumerate(names)
    ]
    return table.select(about.keys).with_columns(
        pl.Series(CELL, cell, dtype=pl.Int64), *columns, table[COUNT]
    )
