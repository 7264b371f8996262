"""Prevalences drawn uniformly from the simplex (Kraemer's algorithm).

A grid of prevalences grows beyond use with the number of classes; uniform draws cover the simplex
with as many samples as one can afford. N. A. Smith and R. W. Tromble, "Sampling uniformly from the
unit simplex" (2004).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from numpy.typing import NDArray

from quantshift import prevalence
from quantshift.seeding import generator
from quantshift.shifts.coordinates import prevalence_value
from quantshift.shifts.natural import AbstractNaturalTraining
from quantshift.shifts.strata import Recipe, Strata


@final
@dataclass(frozen=True, kw_only=True)
class UniformPrevalence(AbstractNaturalTraining):
    """Uniform prevalence (prior probability shift, drawn uniformly from the simplex).

    Each test sample has a prevalence of its own, the same for every training set; training sets
    are random samples of their pool. Degree as in prior shift.
    """

    name: ClassVar[str] = "uniform"
    changes: ClassVar[str] = "P(Y) changes (uniform on the simplex), P(X|Y) stays"
    title: ClassVar[str] = "Uniform prevalence"

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        size = self._size("test")
        return [self._test_recipe(repeat, size, strata, labels) for repeat in self._repeats("test")]

    def _test_recipe(self, repeat: int, size: int, strata: Strata, labels: NDArray[Any]) -> Recipe:
        rng = generator(self.seed, shift=self.name, side="test", draws="prevalence", repeat=repeat)
        point = prevalence.uniform(1, len(strata.classes), rng)[0]
        return Recipe(
            {"p_test": prevalence_value(point)},
            [*prevalence.whole_counts(point, size).tolist(), 0],
            labels,
            range(repeat, repeat + 1),
        )
