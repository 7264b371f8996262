"""Stratified folds: which part of the training set each item is held out with."""

import numpy as np

from quantshift.errors import UserError
from quantshift.seeding import generator
from quantshift.types import Codes, Indices


def stratified_folds(codes: Codes, n_folds: int, *, seed: int) -> Indices:
    """The fold (0 .. n_folds - 1) of each item, shape (n_items,).

    Every class is spread over the folds as evenly as whole numbers allow, and so are the items
    as a whole: a class goes on dealing where the class before it stopped.
    """
    if n_folds < 2:
        raise UserError(f"cv must be at least 2 folds, got {n_folds}")
    counts = np.bincount(codes)
    smallest = int(counts.min())
    if smallest < n_folds:
        raise UserError(
            f"a class has only {smallest} training items, fewer than cv={n_folds} folds: "
            f"add items of it or set cv={max(smallest, 2)} (at least 2 items are needed)"
        )
    rng = generator(seed, purpose="folds", n_folds=n_folds)
    shuffled = rng.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[by_class] = np.arange(len(codes)) % n_folds
    return folds


def stratified_split(codes: Codes, share: float, *, seed: int) -> tuple[Indices, Indices]:
    """Positions of a stratified part of about `share` of the items, and of the rest.

    Each class gives the nearest whole number of its items, at least one to either side.
    """
    if not 0 < share < 1:
        raise UserError(f"the share of a split must be between 0 and 1, got {share}")
    rng = generator(seed, purpose="split", share=share)
    first = np.zeros(len(codes), dtype=bool)
    for code in range(int(codes.max()) + 1):
        members = rng.permutation(np.flatnonzero(codes == code))
        if members.size < 2:
            raise UserError(
                f"class {code} has {members.size} items: both sides of a split need one"
            )
        n_first = min(max(round(share * members.size), 1), members.size - 1)
        first[members[:n_first]] = True
    return np.flatnonzero(first), np.flatnonzero(~first)
