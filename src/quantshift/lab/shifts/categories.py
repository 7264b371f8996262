"""What shifts between two categories of items share: the choice of categories, and four groups."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.errors import DataError, UserError, unknown_name
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.lab.shifts.parts.pools import same_length
from quantshift.lab.shifts.parts.strata import Strata, positive_code, positive_last
from quantshift.lab.shifts.shift import AbstractShift
from quantshift.prevalence.labels import column, encode_labels


@dataclass(frozen=True, kw_only=True)
class AbstractCategoryShift(AbstractShift):
    """A shift between two categories, A and B, of items of two classes.

    positive                the class that prevalences refer to; default: the last
    category_a, category_b  must be named if there are more than two categories; default: the two in
                            sorted order
    """

    needs_categories: ClassVar[bool] = True
    needs_two_classes: ClassVar[bool] = True

    positive: Any = None
    category_a: Any = None
    category_b: Any = None

    def class_order(self, classes: Sequence[Any]) -> tuple[Any, ...]:
        """The classes in the order of their codes: the positive one last."""
        return positive_last(classes, self.positive)

    def _bound(
        self, classes: tuple[Any, ...], categories: tuple[Any, ...] | None, given: Given | None
    ) -> Self:
        self.class_order(classes)
        a, b = _category_pair(categories or (), self.category_a, self.category_b)
        return dataclasses.replace(self, positive=None, category_a=a, category_b=b)

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        return _category_strata(y, categories, self.positive, self.category_a, self.category_b)


def _category_strata(
    y: ArrayLike,
    categories: ArrayLike | None,
    positive: Any,
    category_a: Any,
    category_b: Any,
) -> tuple[Strata, NDArray[Any]]:
    """Negatives and positives of A, negatives and positives of B, and the column of labels."""
    if categories is None:
        raise UserError("this shift is between two categories; pass the categories of the items")
    labels = column(y)
    groups, group_codes = encode_labels(categories, name="categories")
    same_length(labels, group_codes)
    classes, codes = encode_labels(labels)
    if classes.size != 2:
        raise DataError(
            f"this shift needs two classes, found {classes.size}: {classes[:5].tolist()}; "
            "binarise the labels first"
        )
    pair = _category_pair(groups.tolist(), category_a, category_b)
    is_positive = codes == positive_code(classes.tolist(), positive)
    members = tuple(
        np.flatnonzero((group_codes == group) & (is_positive == sign))
        for group, sign in product(pair, (False, True))
    )
    names = tuple(
        f"{kind} of category {groups[group].item()!r}"
        for group, kind in product(pair, ("negatives", "positives"))
    )
    return Strata(names, members), labels


def _category_pair(categories: Sequence[Any], category_a: Any, category_b: Any) -> tuple[int, int]:
    """Positions of categories A and B among the sorted categories."""
    for category in (category_a, category_b):
        if category is not None and category not in categories:
            raise unknown_name("category", str(category), map(str, categories))
    if len(categories) < 2:
        raise DataError(f"this shift needs two categories, found only {categories[0]!r}")
    if category_a is None or category_b is None:
        if len(categories) > 2:
            raise UserError(
                f"found {len(categories)} categories ({', '.join(map(repr, categories[:5]))}); "
                "name two with category_a and category_b"
            )
        category = category_b if category_a is None else category_a
        # If none is named, they are in sorted order; if one is named, the other is the one left.
        swapped = category is not None and categories.index(category) == (
            0 if category_a is None else 1
        )
        return (1, 0) if swapped else (0, 1)
    if category_a == category_b:
        raise UserError(f"category_a and category_b are both {category_a!r}; name two")
    return categories.index(category_a), categories.index(category_b)
