"""Concept shift: what counts as positive changes.

Items carry ordered levels (stars). Training set and test sample hold all levels in equal parts and
are binarised at cut points of their own: the same item may be negative in training and positive in
test. With forced prevalences the classes are brought to a prevalence first and the levels are equal
inside each class, so that P(X) moves as well.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift import prevalence
from quantshift.corpora.binarise import ordinal
from quantshift.errors import UserError
from quantshift.labels import column
from quantshift.shifts.sampling import (
    AbstractShift,
    Coordinates,
    Recipe,
    Strata,
    grid_values,
    nominal,
    repeated,
    same_length,
    whole_number,
)

HALF_STARS = (1.5, 2.5, 3.5, 4.5)


@final
@dataclass(frozen=True, kw_only=True)
class ConceptShift(AbstractShift):
    """Concept shift.

    `y` is the ordered column (stars), and the labels of a draw are 0 below its cut point and 1
    above; a level equal to the cut point is left out. `train_prevalence` and `test_prevalence`
    force the prevalence (the paper: 0.5 and 0.75). Degree: cut_train - cut_test.
    """

    name: ClassVar[str] = "concept"
    changes: ClassVar[str] = "P(Y|X) changes (the cut point moves), P(X) stays"

    test_cuts: ArrayLike = HALF_STARS
    train_cuts: ArrayLike = HALF_STARS
    test_prevalence: float | None = None
    train_prevalence: float | None = None
    test_size: int = 500
    train_size: int = 5000
    test_repeats: int = 50
    train_repeats: int = 10

    def training_points(self) -> list[Coordinates]:
        """Coordinates of the training sets."""
        repeats = whole_number("train_repeats", self.train_repeats)
        return repeated(self._train_grid(), "train_repeat", repeats)

    def test_points(self) -> list[Coordinates]:
        """Coordinates of the test samples."""
        repeats = whole_number("test_repeats", self.test_repeats)
        return repeated(self._test_grid(), "repeat", repeats)

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        stars = ordinal(y)
        if categories is not None:
            same_length(stars, column(categories, name="categories"))
        levels, codes = np.unique(stars, return_inverse=True)
        members = tuple(np.flatnonzero(codes == code) for code in range(levels.size))
        names = tuple(f"items of level {level:g}" for level in levels)
        return Strata(names, members, tuple(levels.tolist())), stars

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        size = whole_number("test_size", self.test_size)
        repeats = range(whole_number("test_repeats", self.test_repeats))
        return [
            Recipe(
                point,
                _level_counts(strata.classes, point["cut_test"], point.get("p_test"), size),
                (labels > point["cut_test"]).astype(np.int64),
                repeats,
            )
            for point in self._test_grid()
        ]

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        size = whole_number("train_size", self.train_size)
        repeats = range(whole_number("train_repeats", self.train_repeats))
        return [
            Recipe(
                point,
                _level_counts(strata.classes, point["cut_train"], point.get("p_train"), size),
                (labels > point["cut_train"]).astype(np.int64),
                repeats,
            )
            for point in self._train_grid()
        ]

    def _test_grid(self) -> list[Coordinates]:
        cuts = grid_values("test_cuts", self.test_cuts, low=-math.inf, high=math.inf)
        p = _forced("test_prevalence", self.test_prevalence)
        return [{"cut_test": cut, **({} if p is None else {"p_test": p})} for cut in cuts]

    def _train_grid(self) -> list[Coordinates]:
        cuts = grid_values("train_cuts", self.train_cuts, low=-math.inf, high=math.inf)
        p = _forced("train_prevalence", self.train_prevalence)
        return [{"cut_train": cut, **({} if p is None else {"p_train": p})} for cut in cuts]

    def _degree(self, coordinates: Coordinates) -> float:
        if "cut_train" not in coordinates:
            return math.nan
        return nominal(coordinates["cut_train"] - coordinates["cut_test"])


def _forced(name: str, value: float | None) -> float | None:
    return None if value is None else grid_values(name, [value], low=0, high=1)[0]


def _level_counts(
    levels: tuple[float, ...], cut: float, forced: float | None, size: int
) -> list[int]:
    """Items of every level: equal parts, of the whole or (forced prevalence) of each class."""
    values = np.array(levels)
    below, above = values < cut, values > cut
    if not below.any() or not above.any():
        raise UserError(
            f"cut point {cut:g} leaves a class empty: the levels are "
            f"{', '.join(f'{level:g}' for level in levels)}; cut between two of them"
        )
    counts = np.zeros(values.size, dtype=np.int64)
    if forced is None:
        kept = below | above
        counts[kept] = _equal_parts(int(kept.sum()), size)
    else:
        n_below, n_above = prevalence.whole_counts((1 - forced, forced), size).tolist()
        counts[below] = _equal_parts(int(below.sum()), n_below)
        counts[above] = _equal_parts(int(above.sum()), n_above)
    result: list[int] = counts.tolist()
    return result


def _equal_parts(n_parts: int, size: int) -> NDArray[np.int64]:
    return prevalence.whole_counts(np.full(n_parts, 1 / n_parts), size)
