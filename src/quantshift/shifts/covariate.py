"""Global covariate shift: the mixture of two categories changes.

Items come from categories A and B, a share alpha from A, each at the same prevalence. With p_train
= p_test ("pure") the categories' weights are all that moves; with p_train != p_test ("mixed") prior
shift is added.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift import prevalence
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.labels import column, encode_labels
from quantshift.shifts.prior import TENTHS, positive_code
from quantshift.shifts.sampling import (
    AbstractShift,
    Coordinates,
    Recipe,
    Strata,
    grid_values,
    nominal,
    repeated,
    rounded,
    same_length,
    whole_number,
)

QUARTERS = (0.25, 0.5, 0.75)


@final
@dataclass(frozen=True, kw_only=True)
class CovariateShift(AbstractShift):
    """Global covariate shift.

    `alpha` is the share of category A (rounded up to whole items), the rest is of category B; both
    are at prevalence p of the positive class (`positive`, default: the last). With two categories
    A is the first in sorted order; with more, name `category_a` and `category_b`. Degree:
    alpha_train - alpha_test to one decimal.
    """

    name: ClassVar[str] = "covariate"
    changes: ClassVar[str] = "P(X) changes (share of a category), P(Y|X) stays"

    test_alphas: ArrayLike = TENTHS
    train_alphas: ArrayLike = TENTHS
    test_prevalences: ArrayLike = QUARTERS
    train_prevalences: ArrayLike = QUARTERS
    test_size: int = 500
    train_size: int = 5000
    test_repeats: int = 50
    train_repeats: int = 10
    positive: Any = None
    category_a: Any = None
    category_b: Any = None

    def training_points(self) -> list[Coordinates]:
        """Coordinates of the training sets."""
        points: list[Coordinates] = [
            {"alpha_train": alpha, "p_train": p} for alpha, p in product(*self._train_axes())
        ]
        return repeated(points, "train_repeat", whole_number("train_repeats", self.train_repeats))

    def test_points(self) -> list[Coordinates]:
        """Coordinates of the test samples."""
        points: list[Coordinates] = [
            {"alpha_test": alpha, "p_test": p} for alpha, p in product(*self._test_axes())
        ]
        return repeated(points, "repeat", whole_number("test_repeats", self.test_repeats))

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        return category_strata(y, categories, self.positive, self.category_a, self.category_b)

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        size = whole_number("test_size", self.test_size)
        repeats = range(whole_number("test_repeats", self.test_repeats))
        return [
            Recipe({"alpha_test": alpha, "p_test": p}, counts, labels, repeats)
            for alpha, p, counts in _mixtures(*self._test_axes(), size)
        ]

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        size = whole_number("train_size", self.train_size)
        repeats = range(whole_number("train_repeats", self.train_repeats))
        return [
            Recipe({"alpha_train": alpha, "p_train": p}, counts, labels, repeats)
            for alpha, p, counts in _mixtures(*self._train_axes(), size)
        ]

    def _test_axes(self) -> tuple[list[float], list[float]]:
        return (
            grid_values("test_alphas", self.test_alphas, low=0, high=1),
            grid_values("test_prevalences", self.test_prevalences, low=0, high=1),
        )

    def _train_axes(self) -> tuple[list[float], list[float]]:
        return (
            grid_values("train_alphas", self.train_alphas, low=0, high=1),
            grid_values("train_prevalences", self.train_prevalences, low=0, high=1),
        )

    def _degree(self, coordinates: Coordinates) -> float:
        if "alpha_train" not in coordinates:
            return math.nan
        return rounded(coordinates["alpha_train"] - coordinates["alpha_test"], 1)


def category_strata(
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
    is_positive = codes == positive_code(classes, positive)
    members = tuple(
        np.flatnonzero((group_codes == group) & (is_positive == sign))
        for group, sign in product(pair, (False, True))
    )
    names = tuple(
        f"{kind} of category {groups[group].item()!r}"
        for group, kind in product(pair, ("negatives", "positives"))
    )
    return Strata(names, members), labels


def _category_pair(known: list[Any], category_a: Any, category_b: Any) -> tuple[int, int]:
    for named in (category_a, category_b):
        if named is not None and named not in known:
            raise unknown_name("category", str(named), map(str, known))
    if len(known) < 2:
        raise DataError(f"this shift needs two categories, found only {known[0]!r}")
    if category_a is None or category_b is None:
        if len(known) > 2:
            raise UserError(
                f"found {len(known)} categories ({', '.join(map(repr, known[:5]))}); "
                "name two with category_a and category_b"
            )
        named = category_b if category_a is None else category_a
        # Unnamed: sorted order. One named: the other is what remains.
        swapped = named is not None and known.index(named) == (0 if category_a is None else 1)
        return (1, 0) if swapped else (0, 1)
    if category_a == category_b:
        raise UserError(f"category_a and category_b are both {category_a!r}; name two")
    return known.index(category_a), known.index(category_b)


def _mixtures(
    alphas: list[float], prevalences: list[float], size: int
) -> Iterator[tuple[float, float, list[int]]]:
    for alpha, p in product(alphas, prevalences):
        n_a = math.ceil(nominal(alpha * size))
        shares = prevalence.of_positive(p)
        counts = [prevalence.whole_counts(shares, n).tolist() for n in (n_a, size - n_a)]
        yield alpha, p, counts[0] + counts[1]
