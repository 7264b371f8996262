"""Pools: the positions that training sets and test samples may be drawn from."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.nouns import counted
from quantshift.base.seeding import generator
from quantshift.base.types import Indices
from quantshift.errors import DataError, UserError
from quantshift.lab.shifts.parts.grids import half_up
from quantshift.prevalence.labels import column


def split_pools(
    *columns: ArrayLike, train_share: float = 0.6, seed: int = 0
) -> tuple[Indices, Indices]:
    """Positions of a training pool and a test pool, stratified by the columns jointly.

    The training pool contains a share of `train_share` of every stratum, e.g. of every (category,
    label), rounded to whole items. Both pools are ascending.

    Parameters
    ----------
    *columns : arrays of shape (n_items,)
        Labels, and categories if there are any.
    train_share : float
        The share of the training pool.
    seed : int
        Seed of the split.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.lab.shifts import split_pools
    >>> y = np.repeat(["ham", "spam"], [10, 20])
    >>> train, test = split_pools(y)
    >>> (y[train] == "spam").sum(), (y[test] == "spam").sum()
    (np.int64(12), np.int64(8))
    """
    if not columns:
        raise UserError("split_pools needs a column to stratify by; pass the labels")
    if not 0 < train_share < 1:
        raise UserError(f"train_share={train_share} is not between 0 and 1; give e.g. 0.6")
    strata = np.zeros(column(columns[0]).size, dtype=np.int64)
    for values in columns:
        _, codes = np.unique(column(values), return_inverse=True)
        same_length(strata, codes)
        _, strata = np.unique(strata * (codes.max() + 1) + codes, return_inverse=True)
    in_train = np.zeros(strata.size, dtype=np.bool_)
    for stratum in range(int(strata.max()) + 1):
        members = np.flatnonzero(strata == stratum)
        rng = generator(seed, split="pools", stratum=stratum, train_share=train_share)
        chosen = rng.permutation(members.size)[: half_up(train_share * members.size)]
        in_train[members[chosen]] = True
    return np.flatnonzero(in_train), np.flatnonzero(~in_train)


def checked_pool(pool: ArrayLike, n_items: int) -> Indices:
    """The pool as an index array; an error if it is not a set of positions among `n_items`."""
    indices = np.asarray(pool)
    if indices.ndim != 1 or indices.size == 0:
        raise DataError(
            f"a pool must be a vector of at least one position, got shape {indices.shape}"
        )
    if indices.dtype.kind not in "iu":
        cure = "use numpy.flatnonzero(mask)" if indices.dtype.kind == "b" else "give integers"
        raise DataError(f"a pool must hold positions, got {indices.dtype}; {cure}")
    if indices.min() < 0 or indices.max() >= n_items:
        wrong = indices[(indices < 0) | (indices >= n_items)][0]
        raise DataError(f"pool position {wrong} is outside 0..{n_items - 1}; drop it")
    if np.bincount(indices.astype(np.int64)).max() > 1:
        raise DataError("a pool contains a position twice; pass numpy.unique(pool)")
    return indices.astype(np.int64, copy=False)


def checked_pair(
    train_pool: ArrayLike, test_pool: ArrayLike, n_items: int
) -> tuple[Indices, Indices]:
    """Both pools as index arrays; an error if they share an item."""
    train, test = checked_pool(train_pool, n_items), checked_pool(test_pool, n_items)
    shared = np.intersect1d(train, test)
    if shared.size:
        raise UserError(
            f"train_pool and test_pool share {counted(shared.size, 'item')}, e.g. {shared[0]}; "
            "make them disjoint"
        )
    return train, test


def same_length(first: NDArray[Any], second: NDArray[Any]) -> None:
    """Raise an error if two columns differ in length."""
    if first.size != second.size:
        raise DataError(
            f"labels and categories differ in length ({first.size} and {second.size} items); "
            "every column needs one value per item"
        )
