"""Natural prevalence: random samples of the pool as it is.

No shift is simulated: a sample's prevalence differs from the pool's only by chance. This is the
baseline for all other protocols, some of which use the same kind of training sets.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import (
    prevalence_degree,
    prevalence_value,
    prevalence_words,
    prevalences_declared,
)
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.lab.shifts.parts.grids import whole_number
from quantshift.lab.shifts.parts.strata import Recipe, Strata, class_strata, positive_last
from quantshift.lab.shifts.protocol import BOUND, Words
from quantshift.lab.shifts.shift import AbstractShift


@dataclass(frozen=True, kw_only=True)
class AbstractNaturalTraining(AbstractShift):
    """A shift whose training sets are random samples of their pool, regardless of class.

    whole_pool: a training set is all items of the pool, each once; train_size and train_repeats are
        ignored, and `replace` applies to test samples.
    splits: with whole_pool, the number of training sets. Each is the training pool of a split of
        its own of the data, and is tried on samples of the other items.
    n_classes  filled in by `bind`: prevalences are numbers with two classes, vectors with more
    """

    title: ClassVar[str]
    """Its title in reports."""

    later_options: ClassVar[frozenset[str]] = frozenset({"splits", "whole_pool"})

    test_repeats: int = 100
    positive: Any = None
    whole_pool: bool = False
    splits: int = 1
    n_classes: int | None = dataclasses.field(default=None, metadata=BOUND)

    def words(self) -> Words:
        """Its title, and the degree as in prior shift."""
        return Words(self.title, prevalence_words(self.n_classes or 2), digits=1)

    def class_order(self, classes: Sequence[Any]) -> tuple[Any, ...]:
        """The classes in the order of their codes; with two classes, the positive one is last."""
        return positive_last(classes, self.positive)

    def _bound(
        self, classes: tuple[Any, ...], categories: tuple[Any, ...] | None, given: Given | None
    ) -> Self:
        order = self.class_order(classes)
        return dataclasses.replace(
            self, positive=None, n_classes=len(order), **self._in_codes(order, categories)
        )

    def _in_codes(
        self, order: tuple[Any, ...], categories: tuple[Any, ...] | None
    ) -> dict[str, Any]:
        """Options that name a class or a category, with its code instead of the name."""
        return {}

    def _declared(self) -> tuple[Coordinate, ...]:
        return prevalences_declared(self.n_classes or 2)

    def _train_grid(self) -> list[Coordinates]:
        return [{}]

    def _test_grid(self) -> list[Coordinates]:
        return [{}]

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        """The groups of the classes and, as a last group, all items together."""
        strata, labels = class_strata(y, categories, self.positive)
        whole = np.arange(labels.size, dtype=np.int64)
        return Strata((*strata.names, "items"), (*strata.members, whole), strata.classes), labels

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        return [self._natural("train", strata, labels)]

    def _repeats(self, side: str) -> range:
        if side == "train" and self.whole_pool:
            return range(whole_number("splits", self.splits))
        return super()._repeats(side)

    def split_of(self, train: Coordinates) -> int:
        """With whole_pool, every training set has a split of its own."""
        return cast(int, train["train_repeat"]) if self.whole_pool else 0

    def on_one_split(self) -> Self:
        """Its only training set is the whole pool."""
        return dataclasses.replace(self, splits=1)

    def _replaces(self, side: str) -> bool:
        return self.replace and not (side == "train" and self.whole_pool)

    def _natural(self, side: str, strata: Strata, labels: NDArray[Any]) -> Recipe:
        """A recipe that draws from the last group, which contains items of all classes.

        The groups before it are those of the classes, once or several times.
        """
        sizes = np.array(strata.sizes)
        n_items = int(sizes[-1]) if side == "train" and self.whole_pool else self._size(side)
        counts = [0] * (len(sizes) - 1) + [n_items]
        class_sizes = sizes[:-1].reshape(-1, len(strata.classes)).sum(axis=0)
        point: Coordinates = {f"p_{side}": prevalence_value(class_sizes / sizes[-1])}
        return Recipe(point, counts, labels, self._repeats(side))

    def _degree(self, coordinates: Coordinates) -> float:
        return prevalence_degree(coordinates)


@final
@dataclass(frozen=True, kw_only=True)
class NaturalPrevalence(AbstractNaturalTraining):
    """Natural prevalence (no simulated shift).

    The nominal prevalences are those of the pools, so the degree (as in prior shift) is 0 unless
    the training pool and the test pool differ.

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
    positive : class label, optional
        The class that prevalences refer to if there are two; by default the last.
    whole_pool : bool
        Train on the whole training pool, instead of drawing from it.
    splits : int
        Divisions of the data into training and test items, each with its own training sets.
    n_classes : int, optional
        Filled in by an experiment.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(["ham", "spam"], 300)
    >>> protocol = NaturalPrevalence(test_size=100, test_repeats=1)
    >>> [draw.true_prevalence(["ham", "spam"]).round(2).tolist() for draw in protocol.samples(y)]
    [[0.43, 0.57]]
    """

    name: ClassVar[str] = "natural"
    changes: ClassVar[str] = "nothing changes except by chance"
    title: ClassVar[str] = "Natural prevalence"

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        return [self._natural("test", strata, labels)]
