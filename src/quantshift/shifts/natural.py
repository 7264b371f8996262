"""Natural prevalence: random samples of the pool as it is.

No shift is made on purpose: a sample's prevalence differs from the pool's by chance alone. The
baseline for every other protocol.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.shifts.prior import class_strata, prevalence_coordinates, prevalence_degree
from quantshift.shifts.sampling import (
    AbstractShift,
    Coordinates,
    Recipe,
    Strata,
    repeated,
    whole_number,
)


@final
@dataclass(frozen=True, kw_only=True)
class NaturalPrevalence(AbstractShift):
    """Natural prevalence (no shift on purpose).

    The nominal prevalences are those of the pools, so the degree (as in prior shift) is 0 unless
    the training pool and the test pool differ.
    """

    name: ClassVar[str] = "natural"
    changes: ClassVar[str] = "nothing changes but by chance"

    test_size: int = 500
    test_repeats: int = 100
    train_size: int = 5000
    train_repeats: int = 10
    positive: Any = None

    def training_points(self) -> list[Coordinates]:
        """Numbers of the training sets."""
        return repeated([{}], "train_repeat", whole_number("train_repeats", self.train_repeats))

    def test_points(self) -> list[Coordinates]:
        """Numbers of the test samples."""
        return repeated([{}], "repeat", whole_number("test_repeats", self.test_repeats))

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        return with_whole(*class_strata(y, categories, self.positive))

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        size = whole_number("test_size", self.test_size)
        repeats = whole_number("test_repeats", self.test_repeats)
        return [natural_recipe("p_test", strata, labels, size, repeats)]

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        size = whole_number("train_size", self.train_size)
        repeats = whole_number("train_repeats", self.train_repeats)
        return [natural_recipe("p_train", strata, labels, size, repeats)]

    def _degree(self, coordinates: Coordinates) -> float:
        return prevalence_degree(coordinates)


def with_whole(strata: Strata, labels: NDArray[Any]) -> tuple[Strata, NDArray[Any]]:
    """The groups of the classes and, as a last group, all items together."""
    whole = np.arange(labels.size, dtype=np.int64)
    return Strata((*strata.names, "items"), (*strata.members, whole), strata.classes), labels


def natural_recipe(
    prefix: str, strata: Strata, labels: NDArray[Any], size: int, repeats: int
) -> Recipe:
    """`size` items of the last group, whatever their class."""
    sizes = np.array(strata.sizes)
    shares = sizes[:-1] / sizes[-1]
    coordinates = prevalence_coordinates(prefix, shares, strata.classes)
    return Recipe(coordinates, [0] * len(strata.classes) + [size], labels, range(repeats))
