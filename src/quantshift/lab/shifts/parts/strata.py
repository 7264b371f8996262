"""The groups that a shift draws from, and the recipes that say how many items of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Indices
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.lab.shifts.parts.coordinate import Coordinates
from quantshift.lab.shifts.parts.pools import checked_pool, same_length
from quantshift.prevalence.labels import column, encode_labels


@dataclass(frozen=True, eq=False)
class Strata:
    """The groups that a protocol draws from.

    names    the name of each group in error messages
    members  ascending positions of each group's items
    classes  the user's classes (or levels), in the order of their groups
    """

    names: tuple[str, ...]
    members: tuple[Indices, ...]
    classes: tuple[Any, ...] = ()

    @property
    def sizes(self) -> list[int]:
        """Number of items in each group."""
        return [member.size for member in self.members]

    def within(self, pool: ArrayLike | None, n_items: int) -> "Strata":
        """The same groups, restricted to the pool."""
        if pool is None:
            return self
        inside = np.zeros(n_items, dtype=np.bool_)
        inside[checked_pool(pool, n_items)] = True
        return Strata(self.names, tuple(m[inside[m]] for m in self.members), self.classes)


@dataclass(frozen=True, eq=False)
class Recipe:
    """One point of a grid: how many items of each group, and how often.

    labels   the column that the drawn items take their labels from, shape (n_items,)
    repeats  numbers of the draws at this point
    """

    coordinates: Coordinates
    counts: Sequence[int]
    labels: NDArray[Any]
    repeats: range


def class_strata(
    y: ArrayLike, categories: ArrayLike | None, positive: Any
) -> tuple[Strata, NDArray[Any]]:
    """One group per class (the positive one of two last), and the column of labels."""
    labels = column(y)
    if categories is not None:
        same_length(labels, column(categories, name="categories"))
    classes, codes = encode_labels(labels)
    if classes.size < 2:
        raise DataError(f"labels have only one class ({classes[0].item()!r}); give two or more")
    in_order = classes.tolist()
    values = positive_last(in_order, positive)
    members: list[Indices] = [np.flatnonzero(codes == in_order.index(value)) for value in values]
    names = tuple(f"items of class {value!r}" for value in values)
    return Strata(names, tuple(members), values), labels


def positive_last(classes: Sequence[Any], positive: Any) -> tuple[Any, ...]:
    """The classes in the order of their codes; with two classes, the positive one is last."""
    if len(classes) != 2:
        if positive is not None:
            raise UserError(f"positive={positive!r} needs two classes, found {len(classes)}")
        return tuple(classes)
    code = positive_code(classes, positive)
    return classes[1 - code], classes[code]


def positive_code(classes: Sequence[Any], positive: Any) -> int:
    """Position of the positive class: the one named, otherwise the last."""
    return named_code(classes, positive, "positive class")


def named_code(names: Sequence[Any], name: Any, kind: str) -> int:
    """Position of the given name, otherwise of the last; `kind`: for error messages."""
    if name is None:
        return len(names) - 1
    if name not in names:
        raise unknown_name(kind, str(name), map(str, names))
    return names.index(name)
