"""Gaussian noise: the features of test items are blurred, their labels stay.

A sensor ages, a camera gets dirty: P(X|Y) changes and P(Y) stays. A protocol does not know the
features; it determines the strength of the noise, and the experiment adds it
(`quantshift.lab.data.noise`).
S. Rabanser et al., "Failing loudly", NeurIPS 2019 (Gaussian noise shift).
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, final

from numpy.typing import ArrayLike, NDArray

from quantshift.lab.shifts.natural import AbstractNaturalTraining
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import NOISE, number, prevalences_declared
from quantshift.lab.shifts.parts.grids import grid_values
from quantshift.lab.shifts.parts.strata import Recipe, Strata
from quantshift.lab.shifts.protocol import Words

STRONGEST = 1e6
"""Noise of this many standard deviations leaves nothing of a feature."""


@final
@dataclass(frozen=True, kw_only=True)
class NoiseShift(AbstractNaturalTraining):
    """Gaussian noise (a covariate shift of the features themselves).

    Training sets and test samples are random samples of their pools; numeric features of test items
    get independent normal noise. Texts, sparse matrices and posteriors raise an error. Degree: the
    strength of the noise.

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
    strengths : array
        Standard deviations of the noise, in standard deviations of each feature among the training
        items; 0 is none.

    Examples
    --------
    >>> NoiseShift(strengths=[0.0, 1.0], test_repeats=5).count_samples()
    10
    """

    name: ClassVar[str] = "noise"
    changes: ClassVar[str] = "P(X|Y) changes (noise on the features), P(Y) stays"
    title: ClassVar[str] = "Gaussian noise"

    test_repeats: int = 20
    strengths: ArrayLike = (0.0, 0.25, 0.5, 1.0, 2.0)

    def words(self) -> Words:
        """The degree is the strength of the noise."""
        return Words(self.title, r"standard deviation $\sigma$ of the noise")

    def _declared(self) -> tuple[Coordinate, ...]:
        return *prevalences_declared(self.n_classes or 2), NOISE

    def _test_grid(self) -> list[Coordinates]:
        return [{NOISE.name: strength} for strength in self._strengths()]

    def _strengths(self) -> list[float]:
        return grid_values("strengths", self.strengths, low=0, high=STRONGEST)

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        natural = self._natural("test", strata, labels)
        return [
            dataclasses.replace(natural, coordinates={**natural.coordinates, NOISE.name: strength})
            for strength in self._strengths()
        ]

    def _degree(self, coordinates: Coordinates) -> float:
        return number(coordinates[NOISE.name])
