"""Shifts: protocols that are grids, and the way from a grid to index arrays.

A shift is a grid of points. Every point is a recipe: nominal coordinates and a number of items
for each group of the pool (such as the negatives of a category). A draw takes that many items from
each group, at random and without replacement, with its own generator, which is seeded by the
protocol, the side (train or test) and the coordinates. So a draw does not depend on earlier draws
or on any quantifier.
"""

import abc
import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.domains import check_value
from quantshift.base.seeding import generator
from quantshift.base.types import Indices
from quantshift.errors import PoolTooSmallError, UserError
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import (
    REPEAT,
    REPLACE,
    TRAIN_COORDINATES,
    checked_coordinates,
    seed_axes,
    shown_coordinates,
)
from quantshift.lab.shifts.parts.draws import positions
from quantshift.lab.shifts.parts.grids import repeated, whole_number
from quantshift.lab.shifts.parts.pools import checked_pair, split_pools
from quantshift.lab.shifts.parts.strata import Recipe, Strata
from quantshift.lab.shifts.protocol import AbstractProtocol, Draw, TrainTest

_SIDES = {"train": "training set", "test": "test sample"}


@dataclass(frozen=True, kw_only=True)
class AbstractShift(AbstractProtocol):
    """A shift: what changes between training sets and test samples, and by how much.

    Parameters
    ----------
    seed : int
        Seed of all draws.
    test_size : int
        Items in a test sample and in a training set.
    train_size : int
        Items in a test sample and in a training set.
    test_repeats : int
        Draws at each point of the test grid and of the training grid.
    train_repeats : int
        Draws at each point of the test grid and of the training grid.
    replace : bool
        Draw with replacement (recorded as the coordinate "replace").

    Examples
    --------
    >>> from quantshift import PriorShift
    >>> isinstance(PriorShift(), AbstractShift), PriorShift.changes
    (True, 'P(Y) changes, P(X|Y) stays')
    """

    test_size: int = 500
    train_size: int = 5000
    test_repeats: int = 50
    train_repeats: int = 10
    replace: bool = False

    @abc.abstractmethod
    def _declared(self) -> tuple[Coordinate, ...]:
        """The coordinates of both grids: the training side first."""

    @abc.abstractmethod
    def _train_grid(self) -> list[Coordinates]:
        """The points of the training grid, as far as they are known without data."""

    @abc.abstractmethod
    def _test_grid(self) -> list[Coordinates]:
        """The points of the test grid, as far as they are known without data."""

    @abc.abstractmethod
    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        """The groups of all items, and the column of labels."""

    @abc.abstractmethod
    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        """The recipes of the training grid."""

    @abc.abstractmethod
    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        """The recipes of the test grid."""

    @abc.abstractmethod
    def _degree(self, coordinates: Coordinates) -> float:
        """Degree of shift; nan if a coordinate that it needs is missing."""

    def coordinates(self) -> tuple[Coordinate, ...]:
        """The coordinates of both grids, the repeat, and whether draws are with replacement."""
        return (*self._declared(), REPEAT, *((REPLACE,) if self.replace else ()))

    def count_training_sets(self) -> int:
        """Number of training sets: points times repeats."""
        return len(self._train_grid()) * len(self._repeats("train"))

    def count_samples(self) -> int:
        """Number of test samples of each training set: points times repeats.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PriorShift
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> protocol = PriorShift(
        ...     train_size=50, test_size=20, train_prevalences=[0.5], train_repeats=1,
        ...     test_prevalences=[0.2, 0.8], test_repeats=2,
        ... )
        >>> protocol.count_samples()
        4
        """
        return len(self._test_grid()) * len(self._repeats("test"))

    def training_points(self) -> list[Coordinates]:
        """Coordinates that name each training set, without any data, in the order of the draws.

        Coordinates that depend on the pool (its natural prevalence) are left out.
        """
        return repeated(self._train_grid(), "train_repeat", len(self._repeats("train")))

    def test_points(self) -> list[Coordinates]:
        """Coordinates that name each test sample of a training set, in the same way.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PriorShift
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> protocol = PriorShift(
        ...     train_size=50, test_size=20, train_prevalences=[0.5], train_repeats=1,
        ...     test_prevalences=[0.2, 0.8], test_repeats=2,
        ... )
        >>> protocol.test_points()[0]
        {'p_test': 0.2, 'repeat': 0}
        """
        return repeated(self._test_grid(), "repeat", len(self._repeats("test")))

    def samples(
        self,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
        train: Coordinates | None = None,
    ) -> Iterator[Draw]:
        """Test samples of the whole grid.

        `pool` restricts what may be drawn; indices always refer to the full arrays. `train`: the
        coordinates of the training set (those of its draw), which determine the degree of shift and
        are part of the seeds.

        Parameters
        ----------
        y : array of shape (n_items,)
            Labels.
        categories : array of shape (n_items,), optional
            The category column, for protocols that need one.
        pool : array, optional
            Positions that may be drawn (default: all).
        train : dict, optional
            Coordinates of the training set.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PriorShift
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> protocol = PriorShift(
        ...     train_size=50, test_size=20, train_prevalences=[0.5], train_repeats=1,
        ...     test_prevalences=[0.2, 0.8], test_repeats=2,
        ... )
        >>> [int((y[draw.indices] == "spam").sum()) for draw in protocol.samples(y)]
        [4, 4, 16, 16]
        """
        recipes, within = self._recipes("test", y, categories, pool)
        return self._draws(recipes, within, "test", self._train_coordinates(train or {}, within))

    def training_sets(
        self,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
    ) -> Iterator[Draw]:
        """Training sets of the whole grid.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PriorShift
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> protocol = PriorShift(
        ...     train_size=50, test_size=20, train_prevalences=[0.5], train_repeats=1,
        ...     test_prevalences=[0.2, 0.8], test_repeats=2,
        ... )
        >>> [draw.indices.size for draw in protocol.training_sets(y)]
        [50]
        """
        recipes, within = self._recipes("train", y, categories, pool)
        return self._draws(recipes, within, "train", {})

    def training_set(
        self,
        point: Coordinates,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
    ) -> Draw:
        """The one training set at the point, one of `training_points()`."""
        recipes, within = self._recipes("train", y, categories, pool)
        requested = self._train_coordinates(point, within)
        repeat = requested.pop("train_repeat", -1)
        requested.pop("replace", None)
        matching = [
            recipe
            for recipe in recipes
            if requested.items() <= recipe.coordinates.items() and repeat in recipe.repeats
        ]
        if len(matching) != 1:
            raise UserError(
                f"{self.name} shift: {len(matching) or 'no'} training sets at "
                f"({shown_coordinates(point)}); use one of training_points()"
            )
        single = dataclasses.replace(matching[0], repeats=range(repeat, repeat + 1))
        return next(self._draws([single], within, "train", {}))

    def train_test(
        self,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        train_pool: ArrayLike | None = None,
        test_pool: ArrayLike | None = None,
    ) -> Iterator[TrainTest]:
        """Every training set with its test samples.

        Without pools the items are split once, 60% for training, stratified by label and (if
        given) category; with pools, they must not share an item.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PriorShift
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> protocol = PriorShift(
        ...     train_size=50, test_size=20, train_prevalences=[0.5], train_repeats=1,
        ...     test_prevalences=[0.2, 0.8], test_repeats=2,
        ... )
        >>> for pair in protocol.train_test(y):
        ...     print(pair.train.indices.size, len(list(pair.tests)))
        50 4
        """
        train_ids, test_ids = self._pools(y, categories, train_pool, test_pool)
        train_recipes, train_strata = self._recipes("train", y, categories, train_ids)
        test_recipes, test_strata = self._recipes("test", y, categories, test_ids)
        return (
            TrainTest(
                train, tuple(self._draws(test_recipes, test_strata, "test", train.coordinates))
            )
            for train in self._draws(train_recipes, train_strata, "train", {})
        )

    def check_pools(
        self,
        y: ArrayLike,
        categories: ArrayLike | None,
        *,
        train_pool: ArrayLike | None,
        test_pool: ArrayLike | None,
    ) -> None:
        """Raise an error if a pool is too small for any draw, before the first draw."""
        self._recipes("train", y, categories, train_pool)
        self._recipes("test", y, categories, test_pool)

    def _replaces(self, side: str) -> bool:
        """Whether the draws of a side are with replacement."""
        check_value("replace", self.replace, bool, of=type(self).__name__)
        return self.replace

    def _repeats(self, side: str) -> range:
        repeats = self.train_repeats if side == "train" else self.test_repeats
        return range(whole_number(f"{side}_repeats", repeats))

    def _size(self, side: str, *, least: int = 1) -> int:
        size = self.train_size if side == "train" else self.test_size
        return whole_number(f"{side}_size", size, least=least)

    def _recipes(
        self, side: str, y: ArrayLike, categories: ArrayLike | None, pool: ArrayLike | None
    ) -> tuple[list[Recipe], Strata]:
        """The recipes of a side, after checking that the pool is large enough, and its groups."""
        strata, labels = self._strata(y, categories)
        within = strata.within(pool, labels.size)
        make = self._train_recipes if side == "train" else self._test_recipes
        return self._checked(make(within, labels), within, side), within

    def _train_coordinates(self, train: Coordinates, strata: Strata) -> dict[str, Any]:
        own_names = [item.name for item in self.coordinates() if item.side == "train"]
        has_classes = strata.classes and not self.cuts_levels
        n_classes = len(strata.classes) if has_classes else 2
        return checked_coordinates(train, {*TRAIN_COORDINATES, *own_names}, n_classes)

    def _pools(
        self,
        y: ArrayLike,
        categories: ArrayLike | None,
        train_pool: ArrayLike | None,
        test_pool: ArrayLike | None,
    ) -> tuple[Indices, Indices]:
        _, labels = self._strata(y, categories)
        if train_pool is None and test_pool is None:
            columns = [y] if categories is None else [categories, y]
            return split_pools(*columns, seed=self.seed)
        if train_pool is None or test_pool is None:
            raise UserError("only one of train_pool and test_pool is given; give both or neither")
        return checked_pair(train_pool, test_pool, labels.size)

    def _checked(self, recipes: list[Recipe], strata: Strata, side: str) -> list[Recipe]:
        # Checks all points before the first draw; the message names the worst shortage, so that one
        # correction is enough.
        needed = np.array([recipe.counts for recipe in recipes])
        available = np.array(strata.sizes)
        # With replacement, one item is enough for any number of draws.
        shortage = np.minimum(needed, 1) - available if self.replace else needed - available
        if shortage.max() > 0:
            point, group = np.unravel_index(int(shortage.argmax()), shortage.shape)
            cure = "" if self.replace else " or set replace=True"
            raise PoolTooSmallError(
                f"{self.name} shift: a {_SIDES[side]} "
                f"({shown_coordinates(recipes[point].coordinates)}) asks for "
                f"{needed[point, group]} {strata.names[group]}, the pool has "
                f"{available[group]}; ask for a smaller size, give a larger pool{cure}"
            )
        return recipes

    def _draws(
        self, recipes: list[Recipe], strata: Strata, side: str, train: Coordinates
    ) -> Iterator[Draw]:
        repeat_name = "repeat" if side == "test" else "train_repeat"
        replaced = {"replace": True} if self.replace else {}
        pooled = np.concatenate(strata.members)
        for recipe in recipes:
            draw = positions(recipe.counts, strata.sizes, replace=self._replaces(side))
            point = {**train, **recipe.coordinates, **replaced}
            axes = seed_axes(point)
            degree, facet = math.nan, ""
            if side == "test":
                degree, facet = self._degree(point), self.facet(point)
            for repeat in recipe.repeats:
                axes[repeat_name] = repeat
                rng = generator(self.seed, shift=self.name, side=side, **axes)
                indices = pooled[draw(rng)]
                coordinates = {**point, repeat_name: repeat}
                yield Draw(indices, recipe.labels[indices], coordinates, degree, facet)
