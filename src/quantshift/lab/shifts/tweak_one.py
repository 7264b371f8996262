"""Tweak-one shift: one class has a given prevalence, the others share the rest equally.

This is the simplest shift of P(Y) with many classes: the share of one class changes, and the others
are always in equal proportions. Z. Lipton et al., "Detecting and correcting for label shift with
black box predictors", ICML 2018.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Prevalences
from quantshift.lab.shifts.natural import AbstractNaturalTraining
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import prevalence_value, prevalences_declared
from quantshift.lab.shifts.parts.grids import TENTHS, grid_values
from quantshift.lab.shifts.parts.strata import Recipe, Strata, named_code
from quantshift.prevalence import simplex

TWEAKED = Coordinate("tweaked", "test", "float", "prevalence of the tweaked class")


@final
@dataclass(frozen=True, kw_only=True)
class TweakOneShift(AbstractNaturalTraining):
    """Tweak-one shift.

    Training sets are random samples of their pool. With two classes it is prior shift. Degree as in
    prior shift.

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
    label : class label, optional
        The class that is tweaked (default: the last).
    prevalences : array
        Of that class, in test samples.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(["ham", "spam"], 300)
    >>> protocol = TweakOneShift(test_size=50, test_repeats=1, prevalences=[0.2])
    >>> [draw.true_prevalence(["ham", "spam"]).round(2).tolist() for draw in protocol.samples(y)]
    [[0.8, 0.2]]
    """

    name: ClassVar[str] = "tweak-one"
    changes: ClassVar[str] = "P(Y) changes (one class; the others share the rest), P(X|Y) stays"
    title: ClassVar[str] = "Tweak-one shift"

    test_repeats: int = 20
    label: Any = None
    prevalences: ArrayLike = TENTHS[1:-1]

    def _in_codes(
        self, order: tuple[Any, ...], categories: tuple[Any, ...] | None
    ) -> dict[str, Any]:
        return {"label": named_code(order, self.label, "class")}

    def _declared(self) -> tuple[Coordinate, ...]:
        return *prevalences_declared(self.n_classes or 2), TWEAKED

    def _test_grid(self) -> list[Coordinates]:
        values = grid_values("prevalences", self.prevalences, low=0, high=1)
        return [{"tweaked": value} for value in values]

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        position = named_code(strata.classes, self.label, "class")
        size, repeats = self._size("test"), self._repeats("test")
        recipes = []
        for value in grid_values("prevalences", self.prevalences, low=0, high=1):
            shares = _shares(value, position, len(strata.classes))
            recipes.append(
                Recipe(
                    {"p_test": prevalence_value(shares), "tweaked": value},
                    [*simplex.whole_counts(shares, size).tolist(), 0],
                    labels,
                    repeats,
                )
            )
        return recipes


def _shares(value: float, position: int, n_classes: int) -> Prevalences:
    shares = np.full(n_classes, (1 - value) / (n_classes - 1))
    shares[position] = value
    return shares
