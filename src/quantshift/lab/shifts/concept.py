"""Concept shift: what counts as positive changes.

Items have ordered levels (stars). Training sets and test samples contain all levels in equal parts
and are binarised at different cut points: the same item may be negative in training and positive in
test. With forced prevalences the classes have a given prevalence, and the levels are in equal parts
within each class, so that P(X) changes as well.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.errors import UserError
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import CUT_TEST, CUT_TRAIN, P_TEST, P_TRAIN, number
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.lab.shifts.parts.grids import grid_values, nominal
from quantshift.lab.shifts.parts.pools import same_length
from quantshift.lab.shifts.parts.strata import Recipe, Strata
from quantshift.lab.shifts.protocol import Words
from quantshift.lab.shifts.shift import AbstractShift
from quantshift.prevalence import simplex
from quantshift.prevalence.binarisation import ordinal
from quantshift.prevalence.labels import column

HALF_STARS = (1.5, 2.5, 3.5, 4.5)


@final
@dataclass(frozen=True, kw_only=True)
class ConceptShift(AbstractShift):
    """Concept shift.

    `y` is the ordered column (stars), and the labels of a draw are 0 below its cut point and 1
    above; a level equal to the cut point is left out. `train_prevalence` and `test_prevalence`
    force the prevalence (the paper: 0.5 and 0.75). Degree: cut_train - cut_test.

    Parameters
    ----------
    seed : int
        Seed of all draws.
    test_size : int
        Items of a test sample.
    train_size : int
        Items of a training set.
    test_repeats : int
        Draws at each point of the test grid.
    train_repeats : int
        Draws at each point of the training grid.
    replace : bool
        Whether items are drawn with replacement.
    test_cuts : array
        Cut points of test samples.
    train_cuts : array
        Those of training sets.
    test_prevalence : float, optional
        Forced prevalence of test samples; by default that above the cut point.
    train_prevalence : float, optional
        The same of training sets.

    Examples
    --------
    >>> import numpy as np
    >>> stars = np.tile([1, 2, 3, 4, 5], 40)
    >>> protocol = ConceptShift(test_size=50, test_repeats=1, test_cuts=[1.5, 4.5])
    >>> [draw.coordinates["cut_test"] for draw in protocol.samples(stars)]
    [1.5, 4.5]
    """

    name: ClassVar[str] = "concept"
    changes: ClassVar[str] = "P(Y|X) changes (the cut point moves), P(X) stays"
    cuts_levels: ClassVar[bool] = True

    test_cuts: ArrayLike = HALF_STARS
    train_cuts: ArrayLike = HALF_STARS
    test_prevalence: float | None = None
    train_prevalence: float | None = None

    def words(self) -> Words:
        """The degree is in terms of cut points, even if prevalences are forced."""
        forced = self.train_prevalence is not None or self.test_prevalence is not None
        pairs = product(self._cuts("train"), self._cuts("test"))
        whole = all(float(nominal(train - test)).is_integer() for train, test in pairs)
        title = "Concept shift, forced priors" if forced else "Concept shift"
        return Words(title, "$c_L - c_U$", digits=0 if whole else 1)

    def _bound(
        self, classes: tuple[Any, ...], categories: tuple[Any, ...] | None, given: Given | None
    ) -> Self:
        # Levels stay as they are, because cut points refer to them.
        levels = tuple(np.unique(ordinal(classes)).tolist())
        for cut in (*self._cuts("train"), *self._cuts("test")):
            _sides(levels, cut)
        return self

    def _declared(self) -> tuple[Coordinate, ...]:
        return (
            *((P_TRAIN,) if self.train_prevalence is not None else ()),
            CUT_TRAIN,
            *((P_TEST,) if self.test_prevalence is not None else ()),
            CUT_TEST,
        )

    def _train_grid(self) -> list[Coordinates]:
        return [*self._grid("train")]

    def _test_grid(self) -> list[Coordinates]:
        return [*self._grid("test")]

    def _grid(self, side: str) -> list[dict[str, float]]:
        name = f"{side}_prevalence"
        p = self.train_prevalence if side == "train" else self.test_prevalence
        forced = {} if p is None else {f"p_{side}": grid_values(name, [p], low=0, high=1)[0]}
        return [{f"cut_{side}": cut, **forced} for cut in self._cuts(side)]

    def _cuts(self, side: str) -> list[float]:
        cuts = self.train_cuts if side == "train" else self.test_cuts
        return grid_values(f"{side}_cuts", cuts, low=-math.inf, high=math.inf)

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        stars = ordinal(y)
        if categories is not None:
            same_length(stars, column(categories, name="categories"))
        levels, codes = np.unique(stars, return_inverse=True)
        members = tuple(np.flatnonzero(codes == code) for code in range(levels.size))
        names = tuple(f"items of level {level:g}" for level in levels)
        return Strata(names, members, tuple(levels.tolist())), stars

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        return [self._recipe("train", point, strata, labels) for point in self._grid("train")]

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        return [self._recipe("test", point, strata, labels) for point in self._grid("test")]

    def _recipe(
        self, side: str, point: Mapping[str, float], strata: Strata, labels: NDArray[Any]
    ) -> Recipe:
        cut, forced = point[f"cut_{side}"], point.get(f"p_{side}")
        return Recipe(
            point,
            _level_counts(strata.classes, cut, forced, self._size(side)),
            (labels > cut).astype(np.int64),
            self._repeats(side),
        )

    def _degree(self, coordinates: Coordinates) -> float:
        if "cut_train" not in coordinates:
            return math.nan
        return nominal(number(coordinates["cut_train"]) - number(coordinates["cut_test"]))


def _sides(levels: tuple[float, ...], cut: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which levels are below the cut point and which above; neither side may be empty."""
    values = np.array(levels)
    below, above = values < cut, values > cut
    if not below.any() or not above.any():
        raise UserError(
            f"cut point {cut:g} leaves a class empty: the levels are "
            f"{', '.join(f'{level:g}' for level in levels)}; cut between two of them"
        )
    return below, above


def _level_counts(
    levels: tuple[float, ...], cut: float, forced: float | None, size: int
) -> list[int]:
    """Items of every level: equal parts of the whole or, if forced, of each class."""
    below, above = _sides(levels, cut)
    counts = np.zeros(len(levels), dtype=np.int64)
    if forced is None:
        used = below | above
        counts[used] = _equal_parts(int(used.sum()), size)
    else:
        n_below, n_above = simplex.whole_counts((1 - forced, forced), size).tolist()
        counts[below] = _equal_parts(int(below.sum()), n_below)
        counts[above] = _equal_parts(int(above.sum()), n_above)
    result: list[int] = counts.tolist()
    return result


def _equal_parts(n_parts: int, size: int) -> NDArray[np.int64]:
    return simplex.whole_counts(np.full(n_parts, 1 / n_parts), size)
