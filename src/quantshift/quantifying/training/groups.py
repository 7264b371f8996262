"""Groups as they are in the data: which of them train, and which are estimated.

Regions, hospitals or years of a column are groups as they stand; dates are joined into periods, and
values in order into chunks of about equal size.
"""

import datetime
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Indices
from quantshift.errors import DataError, UserError
from quantshift.tables.columns.names import NO_NAME

FEWEST_OF_CLASS = 10
"""The fewest items of every class that a training set needs."""

LONGEST_NAME = 40
"""The most characters of a group's name in the name of a training set."""


@dataclass(frozen=True)
class Side:
    """A training set and its samples, by the positions of their groups in `Survey.names`."""

    name: str
    train: tuple[int, ...]
    tests: tuple[int, ...]


@dataclass(frozen=True)
class Survey:
    """The groups of the data, in order, and the training sets they make.

    names      names of the groups that are large enough
    too_small  names of those that are not
    sides      training sets with enough items of every class
    untrained  names of training sets that lack items of a class
    """

    names: tuple[str, ...]
    too_small: tuple[str, ...]
    sides: tuple[Side, ...]
    untrained: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of every item, -1 if it has none, and the names of the groups, in order."""

    codes: Codes
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        values: NDArray[Any],
        *,
        every: str = "",
        chunks: int | None = None,
        names: Sequence[str] | None = None,
    ) -> "Groups":
        """Groups of the items by their values; names: of the values, if these are codes."""
        distinct, codes = np.unique(values, return_inverse=True)
        shown = [str(value) if names is None else names[value] for value in distinct.tolist()]
        shown = [name if name == NO_NAME else _period(name, every) for name in shown]
        ordered = sorted({name for name in shown if name != NO_NAME}, key=_order(shown))
        code_of = {name: k for k, name in enumerate(ordered)}
        groups = np.array([code_of.get(name, -1) for name in shown])[codes]
        if chunks is not None:
            groups, ordered = _chunked(groups, ordered, chunks)
        return cls(groups, tuple(ordered))

    def rows(self, names: Sequence[str]) -> Indices:
        """Positions of the items of these groups, ascending."""
        return np.flatnonzero(np.isin(self.codes, [self.names.index(name) for name in names]))

    def survey(
        self,
        codes: Codes,
        n_classes: int,
        *,
        design: str,
        smallest: int,
        ahead: int = 1,
        source: str = "the groups",
    ) -> Survey:
        """Which groups train and which are estimated; an error if there are too few.

        codes: the class of every item. source: where the groups come from, for the error.
        """
        sizes = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        large = [k for k, size in enumerate(sizes) if size >= smallest]
        too_small = tuple(self.names[k] for k, size in enumerate(sizes) if 0 < size < smallest)
        sides = _sides([self.names[k] for k in large], design, ahead)
        if not sides:
            needed = 1 + ahead if design == "forward" else 2
            raise DataError(
                f"{source}: {len(large)} of {len(large) + len(too_small)} groups have {smallest} "
                f"items or more, and {needed} are needed; use another column or a lower smallest"
            )
        counts = np.stack([np.bincount(codes[self.codes == k], minlength=n_classes) for k in large])
        trainable = [s for s in sides if counts[list(s.train)].sum(axis=0).min() >= FEWEST_OF_CLASS]
        if not trainable:
            raise DataError(
                f"no training set of the groups has {FEWEST_OF_CLASS} items of every class; use "
                'another column, or design="leave-one-out", which trains on more groups'
            )
        untrained = tuple(side.name for side in sides if side not in trainable)
        return Survey(tuple(self.names[k] for k in large), too_small, tuple(trainable), untrained)


def _sides(groups: Sequence[str], design: str, ahead: int) -> list[Side]:
    names, every = [_short(name) for name in groups], range(len(groups))
    if design == "forward":
        return [
            Side(
                f"up to {names[k]}",
                tuple(range(k + 1)),
                tuple(range(k + 1, k + 1 + ahead)),
            )
            for k in range(len(names) - ahead)
        ]
    if len(names) < 2:
        return []
    others = {k: tuple(other for other in every if other != k) for k in every}
    if design == "one-to-others":
        return [Side(names[k], (k,), others[k]) for k in every]
    if design == "leave-one-out":
        return [Side(f"all but {names[k]}", others[k], (k,)) for k in every]
    raise UserError(f"design={design!r} is not one of leave-one-out, one-to-others, forward")


def _chunked(groups: Codes, names: Sequence[str], n_chunks: int) -> tuple[Codes, list[str]]:
    """Consecutive groups merged into chunks of about equal size, named by what they span."""
    sizes = np.bincount(groups[groups >= 0], minlength=len(names))
    before = np.cumsum(sizes) - sizes
    chunk = np.unique(before * n_chunks // max(int(sizes.sum()), 1), return_inverse=True)[1]
    joined: list[str] = []
    for k in range(int(chunk.max(initial=-1)) + 1):
        first, last = np.flatnonzero(chunk == k)[[0, -1]]
        joined.append(names[first] if first == last else f"{names[first]} to {names[last]}")
    # The last entry is for items without a group.
    return np.append(chunk, -1)[groups], joined


def _short(name: str) -> str:
    """A name short enough for a folder: long ones are cut, and a hash keeps them unique."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}~{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _order(names: Sequence[str]) -> Any:
    """The sort key of names: numbers by value, everything else (ISO dates too) alphabetically."""
    try:
        for name in names:
            if name != NO_NAME and not math.isfinite(float(name)):
                return str
    except ValueError:
        return str
    return float


def _period(name: str, every: str) -> str:
    """The day, week, month, quarter or year of a date, named so that names sort in time."""
    if not every:
        return name
    try:
        day = datetime.date.fromisoformat(name[:10])
    except ValueError:
        raise DataError(
            f"{name!r} is not a date (YYYY-MM-DD), so it has no {every}; leave out every, or use "
            "another column"
        ) from None
    year, week, _ = day.isocalendar()
    return {
        "day": day.isoformat(),
        "week": f"{year:04}-W{week:02}",
        "month": f"{day:%Y-%m}",
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04}",
    }[every]
