"""Prevalences drawn uniformly from the simplex (Kraemer's algorithm).

A grid of prevalences grows beyond use with the number of classes; uniform draws cover the simplex
with as many samples as one can afford. N. A. Smith and R. W. Tromble, "Sampling uniformly from the
unit simplex" (2004).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from numpy.typing import ArrayLike, NDArray

from quantshift import prevalence
from quantshift.seeding import generator
from quantshift.shifts.natural import natural_recipe, with_whole
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
class UniformPrevalence(AbstractShift):
    """Uniform prevalence (prior probability shift, drawn uniformly from the simplex).

    Each test sample has a prevalence of its own, the same for every training set; training sets
    are random samples of their pool. Degree as in prior shift.
    """

    name: ClassVar[str] = "uniform"
    changes: ClassVar[str] = "P(Y) changes (uniform on the simplex), P(X|Y) stays"

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
        return [self._test_recipe(repeat, size, strata, labels) for repeat in range(repeats)]

    def _test_recipe(self, repeat: int, size: int, strata: Strata, labels: NDArray[Any]) -> Recipe:
        rng = generator(self.seed, shift=self.name, side="test", draws="prevalence", repeat=repeat)
        point = prevalence.uniform(1, len(strata.classes), rng)[0]
        return Recipe(
            prevalence_coordinates("p_test", point, strata.classes),
            [*prevalence.whole_counts(point, size).tolist(), 0],
            labels,
            range(repeat, repeat + 1),
        )

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        size = whole_number("train_size", self.train_size)
        repeats = whole_number("train_repeats", self.train_repeats)
        return [natural_recipe("p_train", strata, labels, size, repeats)]

    def _degree(self, coordinates: Coordinates) -> float:
        return prevalence_degree(coordinates)
