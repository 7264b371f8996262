"""What all protocols share: draws, pools, and the way from a grid to index arrays.

A protocol is a grid of points. Every point is a recipe: nominal coordinates and a number of items
for each group of the pool (say, the negatives of a category). A draw takes that many items from
each group, at random and without replacement, with a generator of its own that is named by the
protocol, the side (train or test) and the coordinates. Hence a draw is the same whatever was drawn
before it, and no draw knows of any quantifier.
"""

import abc
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.errors import DataError, PoolTooSmallError, UserError, unknown_name
from quantshift.labels import column
from quantshift.seeding import generator
from quantshift.types import Indices

Coordinates: TypeAlias = Mapping[str, float | int | bool]
"""Nominal values of the grid, by name."""

TRAIN_COORDINATES = ("alpha_train", "cut_train", "p_train", "replace", "train_repeat")
"""Names by which a training set may be described (several classes: also "p_train:<class>")."""

_SIDES = {"train": "training set", "test": "test sample"}


@dataclass(frozen=True, eq=False)
class Draw:
    """One training set or test sample.

    indices      positions in the user's arrays, shape (size,); a set, its order means nothing;
                 no index occurs twice unless the protocol draws with replacement
    labels       the labels of those items in the same order
    coordinates  nominal grid values, e.g. {"p_train": 0.5, "p_test": 0.3, "repeat": 4}
    degree       degree of shift from the nominal coordinates, rounded so that equal degrees are
                 equal numbers; nan for training sets and where the training side is unknown
    """

    indices: Indices
    labels: NDArray[Any]
    coordinates: Coordinates
    degree: float


@dataclass(frozen=True, eq=False)
class TrainTest:
    """A training set and the test samples that belong to it."""

    train: Draw
    tests: tuple[Draw, ...]


@dataclass(frozen=True, eq=False)
class Strata:
    """The groups that a protocol draws from.

    names    what error messages call each group
    members  ascending positions of each group's items
    classes  the user's classes, whose rank (not name) enters the seeds
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

    def axes(self, coordinates: Coordinates) -> dict[str, float | int | bool]:
        """Coordinates as seed axes: a class goes by its rank, so recoded labels draw the same."""
        rank = {str(label): position for position, label in enumerate(self.classes)}
        axes = {}
        for key, value in coordinates.items():
            side, colon, label = key.partition(":")
            axes[f"{side}:{rank[label]}" if colon else key] = value
        return axes


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


@dataclass(frozen=True, kw_only=True)
class AbstractShift(abc.ABC):
    """A protocol: what changes between training sets and test samples, and by how much.

    replace  draw with replacement (recorded as the coordinate "replace")
    seed     the user's seed; every draw derives its own from it and its coordinates
    """

    name: ClassVar[str]
    """Short name, in the seeds and on the command line."""

    changes: ClassVar[str]
    """What changes and what stays, in one line."""

    replace: bool = False
    seed: int = 0

    @abc.abstractmethod
    def training_points(self) -> list[Coordinates]:
        """Coordinates that name each training set, without any data, in the order of the draws.

        Those that only a pool can tell (its natural prevalence) are left out.
        """

    @abc.abstractmethod
    def test_points(self) -> list[Coordinates]:
        """Coordinates that name each test sample of a training set, likewise."""

    @abc.abstractmethod
    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        """The groups of all items, and the column of labels."""

    @abc.abstractmethod
    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        """The test grid."""

    @abc.abstractmethod
    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        """The training grid."""

    @abc.abstractmethod
    def _degree(self, coordinates: Coordinates) -> float:
        """Degree of shift; nan if a coordinate that it needs is absent."""

    def samples(
        self,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
        train: Coordinates | None = None,
    ) -> Iterator[Draw]:
        """Test samples of the whole grid.

        `pool` restricts what may be drawn; indices always refer to the full arrays. `train` holds
        the coordinates of the training set (those of its draw): they give the degree of shift and
        are part of the seeds.
        """
        strata, labels = self._strata(y, categories)
        within = strata.within(pool, labels.size)
        recipes = self._checked(self._test_recipes(within, labels), within, "test")
        known = _checked_coordinates(train or {}, within)
        return self._draws(recipes, within, "test", known)

    def training_sets(
        self,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
    ) -> Iterator[Draw]:
        """Training sets of the whole grid."""
        strata, labels = self._strata(y, categories)
        within = strata.within(pool, labels.size)
        recipes = self._checked(self._train_recipes(within, labels), within, "train")
        return self._draws(recipes, within, "train", {})

    def training_set(
        self,
        coordinates: Coordinates,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
    ) -> Draw:
        """The one training set at the coordinates, one of `training_points()`."""
        strata, labels = self._strata(y, categories)
        within = strata.within(pool, labels.size)
        recipes = self._checked(self._train_recipes(within, labels), within, "train")
        wanted = dict(_checked_coordinates(coordinates, within))
        repeat = int(wanted.pop("train_repeat", -1))
        wanted.pop("replace", None)
        found = [
            recipe
            for recipe in recipes
            if wanted.items() <= recipe.coordinates.items() and repeat in recipe.repeats
        ]
        if len(found) != 1:
            where = ", ".join(f"{key}={value:g}" for key, value in coordinates.items())
            raise UserError(
                f"{self.name} shift: {len(found) or 'no'} training sets at ({where}); "
                "take one of training_points()"
            )
        alone = dataclasses.replace(found[0], repeats=range(repeat, repeat + 1))
        return next(self._draws([alone], within, "train", {}))

    def train_test(
        self,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        train_pool: ArrayLike | None = None,
        test_pool: ArrayLike | None = None,
    ) -> Iterator[TrainTest]:
        """Every training set with its test samples.

        Without pools the items are split once, 60 % for training, stratified by label and (if
        given) category; with pools, they must not share an item.
        """
        strata, labels = self._strata(y, categories)
        train_ids, test_ids = self._pools(y, categories, train_pool, test_pool, labels.size)
        train_strata = strata.within(train_ids, labels.size)
        test_strata = strata.within(test_ids, labels.size)
        train_recipes = self._checked(
            self._train_recipes(train_strata, labels), train_strata, "train"
        )
        test_recipes = self._checked(self._test_recipes(test_strata, labels), test_strata, "test")
        return (
            TrainTest(
                train, tuple(self._draws(test_recipes, test_strata, "test", train.coordinates))
            )
            for train in self._draws(train_recipes, train_strata, "train", {})
        )

    def _pools(
        self,
        y: ArrayLike,
        categories: ArrayLike | None,
        train_pool: ArrayLike | None,
        test_pool: ArrayLike | None,
        n_items: int,
    ) -> tuple[Indices, Indices]:
        if train_pool is None and test_pool is None:
            columns = [y] if categories is None else [categories, y]
            return split_pools(*columns, seed=self.seed)
        if train_pool is None or test_pool is None:
            raise UserError("only one of train_pool and test_pool is given; give both or neither")
        train, test = checked_pool(train_pool, n_items), checked_pool(test_pool, n_items)
        shared = np.intersect1d(train, test)
        if shared.size:
            raise UserError(
                f"train_pool and test_pool share {shared.size} items, e.g. {shared[0]}; "
                "make them disjoint"
            )
        return train, test

    def _checked(self, recipes: list[Recipe], strata: Strata, side: str) -> list[Recipe]:
        # All points at once, before the first draw; the message names the worst shortage, so that
        # one correction is enough.
        asked = np.array([recipe.counts for recipe in recipes])
        available = np.array(strata.sizes)
        # With replacement one item serves any number.
        shortage = np.minimum(asked, 1) - available if self.replace else asked - available
        if shortage.max() > 0:
            point, group = np.unravel_index(int(shortage.argmax()), shortage.shape)
            where = ", ".join(f"{k}={v:g}" for k, v in recipes[point].coordinates.items())
            cure = "" if self.replace else " or set replace=True"
            raise PoolTooSmallError(
                f"{self.name} shift: a {_SIDES[side]} ({where}) asks for {asked[point, group]} "
                f"{strata.names[group]}, the pool has {available[group]}; "
                f"ask for a smaller size, give a larger pool{cure}"
            )
        return recipes

    def _draws(
        self, recipes: list[Recipe], strata: Strata, side: str, train: Coordinates
    ) -> Iterator[Draw]:
        repeat_name = "repeat" if side == "test" else "train_repeat"
        replaced = {"replace": True} if self.replace else {}
        pooled = np.concatenate(strata.members)
        for recipe in recipes:
            draw = _positions(recipe.counts, strata.sizes, replace=self.replace)
            point = {**train, **recipe.coordinates, **replaced}
            axes = strata.axes(point)
            degree = self._degree(point) if side == "test" else math.nan
            for repeat in recipe.repeats:
                axes[repeat_name] = repeat
                rng = generator(self.seed, shift=self.name, side=side, **axes)
                indices = pooled[draw(rng)]
                coordinates = {**point, repeat_name: repeat}
                yield Draw(indices, recipe.labels[indices], coordinates, degree)


def split_pools(
    *columns: ArrayLike, train_share: float = 0.6, seed: int = 0
) -> tuple[Indices, Indices]:
    """Positions of a training pool and a test pool, stratified by the columns jointly.

    Every stratum, e.g. every (category, label), gives `train_share` of its items, to the nearest
    whole item, to the training pool. Both pools are ascending.
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
    """The pool as an index array, refused if it is no set of positions among `n_items`."""
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
        raise DataError("a pool holds a position twice; pass numpy.unique(pool)")
    return indices.astype(np.int64, copy=False)


def same_length(first: NDArray[Any], second: NDArray[Any]) -> None:
    """Refuse columns that do not describe the same items."""
    if first.size != second.size:
        raise DataError(
            f"labels and categories differ in length ({first.size} and {second.size} items); "
            "every column needs one value per item"
        )


def whole_number(name: str, value: int, *, least: int = 1) -> int:
    """The option's value, refused if it is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise UserError(f"{name}={value!r} must be a whole number of at least {least}")
    return int(value)


def grid_values(name: str, values: ArrayLike, *, low: float, high: float) -> list[float]:
    """One axis of a grid as plain numbers, refused if empty, out of range or doubled."""
    array = numbers(name, values)
    if array.ndim != 1 or array.size == 0:
        raise UserError(f"{name} must be a sequence of numbers, got shape {array.shape}")
    if not np.all((array >= low) & (array <= high)):
        raise UserError(f"{name}={array.tolist()} must lie between {low:g} and {high:g}")
    cleaned = [nominal(value) for value in array]
    if len(set(cleaned)) < len(cleaned):
        raise UserError(f"{name}={cleaned} holds a value twice; name each point once")
    return cleaned


def repeated(points: Sequence[Coordinates], name: str, repeats: int) -> list[Coordinates]:
    """Every point so many times, numbered by the coordinate `name`."""
    return [{**point, name: repeat} for point in points for repeat in range(repeats)]


def numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """The option's values as an array of numbers, refused if they are none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UserError(f"{name}={values!r} must hold numbers, in rows of one length") from None


def nominal(value: float) -> float:
    """A grid value without floating-point noise: 0.1 + 0.2 and 0.3 are one point, -0.0 is 0.0."""
    return round(float(value), 9) + 0.0


def half_up(value: float) -> int:
    """The nearest whole number, halves upwards."""
    return math.floor(nominal(value) + 0.5)


def rounded(value: float, decimals: int) -> float:
    """The value with so many decimals, halves away from zero.

    Python's `round` lets floating-point noise decide the halves: 0.35 - 0.2 and 0.45 - 0.3 would
    become different degrees.
    """
    scale = 10**decimals
    return math.copysign(half_up(abs(value) * scale) / scale, value) + 0.0


def _positions(
    counts: Sequence[int], sizes: Sequence[int], *, replace: bool
) -> Callable[[np.random.Generator], Indices]:
    """A draw of `counts` from groups of the given sizes that lie one after the other."""
    offsets = np.cumsum([0, *sizes[:-1]])
    if not replace and any(2 * count > size for count, size in zip(counts, sizes, strict=True)):
        return lambda rng: _dense(counts, sizes, offsets, rng)
    starts, spans = np.repeat(offsets, counts), np.repeat(sizes, counts)
    return lambda rng: _sparse(starts, spans, rng, replace=replace)


def _sparse(starts: Indices, spans: Indices, rng: np.random.Generator, *, replace: bool) -> Indices:
    # All groups in one call; what was drawn twice is drawn again until nothing is. The procedure
    # treats all items of a group alike, hence all sets of the size are equally likely. Groups are
    # ascending, so sorting keeps every slot in its group.
    positions = np.sort(starts + (rng.random(spans.size) * spans).astype(np.int64))
    while not replace and (twice := np.flatnonzero(positions[1:] == positions[:-1])).size:
        again = (rng.random(twice.size) * spans[twice]).astype(np.int64)
        positions[twice] = starts[twice] + again
        positions.sort()
    return positions


def _dense(
    counts: Sequence[int], sizes: Sequence[int], offsets: Indices, rng: np.random.Generator
) -> Indices:
    # More than half of a group: drawing again what was drawn twice would take many rounds.
    parts = [
        offset + np.sort(rng.permutation(size)[:count])
        for count, size, offset in zip(counts, sizes, offsets, strict=True)
        if count
    ]
    return np.concatenate(parts)


def _checked_coordinates(train: Coordinates, strata: Strata) -> Coordinates:
    classes = [f"p_train:{label}" for label in strata.classes]
    known = [*TRAIN_COORDINATES, *classes]
    checked: dict[str, float | int | bool] = {}
    for key, value in train.items():
        if key not in known:
            raise unknown_name("training coordinate", key, known)
        if isinstance(value, bool | np.bool_):
            checked[key] = bool(value)
        elif isinstance(value, int | np.integer):
            checked[key] = int(value)
        else:
            checked[key] = nominal(value)
    return checked
