"""Stratified folds and splits of the training items."""

import heapq
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Annotated, Any, Protocol, TypeAlias

import numpy as np

from quantshift.base.domains import Several, Such
from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices
from quantshift.errors import DataError, UserError


class Splitter(Protocol):
    """A splitter of scikit-learn."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Pairs of the positions of training and held-out items."""


def _splits(value: Any) -> bool:
    return hasattr(value, "split") and not isinstance(value, str)


def _is_given_splits(value: Any) -> bool:
    """Whether it is a list of (training, held out) positions, as splitters make them."""
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(split, tuple) and len(split) == 2 for split in value)
    )


Folds: TypeAlias = (
    Several
    | Sequence[int]
    | Indices
    | Annotated[
        Splitter,
        Such("a splitter such as KFold(3)", _splits),
    ]
    | Annotated[
        Sequence[tuple[Indices, Indices]],
        Such("a list of (training, held out) positions", _is_given_splits),
    ]
    | None
)
"""A number of folds, the fold of each item, or a splitter; None: 5."""

N_FOLDS = 5
"""The number of folds if none is given."""


def stratified_folds(codes: Codes, n_folds: int, *, seed: int) -> Indices:
    """The fold (0 .. n_folds - 1) of each item, shape (n_items,).

    Every class is spread over the folds as evenly as whole numbers allow, and so are all items
    together: each class starts with the fold after the last one of the class before it. A class
    with fewer items than folds has fewer folds made, so that each holds one of its items out.
    """
    if n_folds < 2:
        raise UserError(f"cv must be at least 2 folds, got {n_folds}")
    counts = np.bincount(codes)
    smallest = int(counts.min())
    if smallest < 2:
        raise UserError(
            f"a class has only {smallest} training item, and none can be held out of fewer than 2: "
            "add items of it"
        )
    n_folds = min(n_folds, smallest)
    rng = generator(seed, purpose="folds", n_folds=n_folds)
    shuffled = rng.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[by_class] = np.arange(len(codes)) % n_folds
    return folds


def grouped_folds(codes: Codes, groups: Indices, n_folds: int, *, seed: int) -> Indices:
    """Stratified folds in which items of one group and class are held out together.

    groups: a number for each item. The largest groups of each class are assigned first, each to the
    fold with the fewest items of the class so far; with groups of one item this is as even as
    `stratified_folds`.
    """
    rng = generator(seed, purpose="folds of groups", n_folds=n_folds)
    folds = np.empty(len(codes), dtype=np.int64)
    totals = np.zeros(n_folds, dtype=np.int64)
    for code in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == code)
        _, group_of_member, sizes = np.unique(
            groups[members], return_inverse=True, return_counts=True
        )
        if len(sizes) < 2:
            raise UserError(
                f"all training items of class {code} are copies of one item: none can be held out; "
                "add different items"
            )
        emptiest = [(0, int(total), fold) for fold, total in enumerate(totals)]
        heapq.heapify(emptiest)
        fold_of_group = np.empty(len(sizes), dtype=np.int64)
        for group in np.lexsort((rng.random(len(sizes)), -sizes)).tolist():
            n_in_class, total, fold = emptiest[0]
            fold_of_group[group] = fold
            size = int(sizes[group])
            heapq.heapreplace(emptiest, (n_in_class + size, total + size, fold))
        folds[members] = fold_of_group[group_of_member]
        totals = np.bincount(folds[codes <= code], minlength=n_folds)
    return _renumbered(folds)


def folds_of(cv: Any, codes: Codes, *, seed: int) -> Indices:
    """The folds of `cv`: a number of stratified folds, or the given fold of each item.

    Also a splitter of scikit-learn that holds out every item once, such as `KFold(3)`; None: 5.
    """
    if cv is None:
        cv = N_FOLDS
    cv = fold_of_each(cv, len(codes))
    if _splits(cv):
        folds = _split_by(cv, codes)
    elif np.ndim(cv) == 0:
        if not isinstance(cv, Integral):
            raise UserError(
                f"cv={cv!r} is not a number of folds; give a whole number, the fold of each item, "
                "or a splitter of scikit-learn such as KFold(3)"
            )
        return stratified_folds(codes, int(cv), seed=seed)
    else:
        folds = np.asarray(cv)
    if folds.shape != codes.shape or folds.dtype.kind not in "iu":
        raise DataError(
            f"cv of shape {folds.shape} does not fit {len(codes)} items: give the number of folds, "
            "or the fold of each item"
        )
    folds = _renumbered(folds)
    for fold in range(int(folds.max()) + 1):
        if len(np.unique(codes[folds != fold])) <= codes.max():
            raise DataError(
                f"all items of a class are in fold {fold} of cv: none is left to train on"
            )
    return folds


def fold_of_each(cv: Any, n_items: int) -> Any:
    """A list of (training, held out) positions as the fold of each item; others as they are."""
    return _held_out_once(cv, n_items, "this list") if _is_given_splits(cv) else cv


def folds_of_rows(cv: Any, n_items: int, rows: Indices) -> Any:
    """What `cv` is for some of the items: if it says the fold of each item, that of these.

    >>> folds_of_rows([0, 1, 0, 1], 4, np.array([1, 2])), folds_of_rows(5, 4, np.array([1, 2]))
    (array([1, 0]), 5)
    """
    cv = fold_of_each(cv, n_items)
    return np.asarray(cv)[rows] if isinstance(cv, list | tuple | np.ndarray) else cv


def _split_by(splitter: Any, codes: Codes) -> Indices:
    try:
        splits = list(splitter.split(codes[:, np.newaxis], codes))
    except (TypeError, ValueError) as error:
        raise UserError(f"cv={splitter!r} cannot split {len(codes)} items: {error}") from error
    return _held_out_once(splits, len(codes), repr(splitter))


def _held_out_once(splits: Sequence[tuple[Any, Any]], n_items: int, name: str) -> Indices:
    folds = np.full(n_items, -1, dtype=np.int64)
    n_held_out = 0
    try:
        for fold, (_, held_out) in enumerate(splits):
            folds[held_out] = fold
            n_held_out += len(held_out)
    except (IndexError, TypeError) as error:
        raise UserError(f"cv={name} cannot split {n_items} items: {error}") from error
    if n_held_out != n_items or folds.min() < 0:
        raise UserError(
            f"cv={name} does not hold out every item once; use a splitter that does, such as "
            "KFold or StratifiedKFold",
            arguments=["cv"],
        )
    return folds


def _renumbered(folds: Indices) -> Indices:
    """The same folds, numbered from 0 without gaps."""
    return np.unique(folds, return_inverse=True)[1].astype(np.int64)


def stratified_split(codes: Codes, share: float, *, seed: int) -> tuple[Indices, Indices]:
    """Positions of a stratified part of about `share` of the items, and of the rest.

    Each class contributes the nearest whole number of its items, at least one to either side.
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
