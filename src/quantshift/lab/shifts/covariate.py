"""Global covariate shift: the mixture of two categories changes.

Items come from categories A and B, a share alpha from A, each at the same prevalence. With p_train
= p_test ("pure") only the weights of the categories change; with p_train != p_test ("mixed") prior
shift is added.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, final

from numpy.typing import ArrayLike, NDArray

from quantshift.lab.shifts.categories import AbstractCategoryShift
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import ALPHA_TEST, ALPHA_TRAIN, P_TEST, P_TRAIN, number
from quantshift.lab.shifts.parts.grids import TENTHS, grid_values, nominal, rounded
from quantshift.lab.shifts.parts.strata import Recipe, Strata
from quantshift.lab.shifts.protocol import Words
from quantshift.prevalence import simplex

QUARTERS = (0.25, 0.5, 0.75)

_SAME = 1e-9
"""Prevalences that differ by less are treated as the same point of a grid."""


@final
@dataclass(frozen=True, kw_only=True)
class CovariateShift(AbstractCategoryShift):
    """Global covariate shift.

    `alpha` is the share of category A (rounded up to whole items), the rest is of category B; both
    are at prevalence p of the positive class (`positive`, default: the last). With two categories A
    is the first in sorted order; with more, name `category_a` and `category_b`. Degree: alpha_train
    - alpha_test to one decimal. Facets: "pure" where p_train = p_test, else "mixed".

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
    category_a : category, optional
        Category A; by default the first of two.
    category_b : category, optional
        Category B; by default the second of two.
    test_alphas : array
        Shares of category A in test samples.
    train_alphas : array
        Those in training sets.
    test_prevalences : array
        Prevalences of test samples: of the positive class, or a vector for each.
    train_prevalences : array
        Those of training sets.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(["ham", "spam"], 300)
    >>> categories = np.tile(["books", "music"], 300)
    >>> protocol = CovariateShift(
    ...     test_size=50, test_repeats=1, test_prevalences=[0.5], test_alphas=[0.0, 1.0]
    ... )
    >>> [set(categories[draw.indices].tolist()) for draw in protocol.samples(y, categories)]
    [{'music'}, {'books'}]
    """

    name: ClassVar[str] = "covariate"
    changes: ClassVar[str] = "P(X) changes (share of a category), P(Y|X) stays"

    test_alphas: ArrayLike = TENTHS
    train_alphas: ArrayLike = TENTHS
    test_prevalences: ArrayLike = QUARTERS
    train_prevalences: ArrayLike = QUARTERS

    def words(self) -> Words:
        """As in the paper, a table per training prevalence, with pure covariate shift in grey."""
        return Words(
            "Global covariate shift",
            r"$\alpha_L - \alpha_U$",
            digits=1,
            facets={"pure": "pure", "mixed": "mixed"},
            tables_by="p_train",
            columns_by="p_test",
            shaded_facet="pure",
            note="Grey: pure covariate shift (the prevalence stays the same).",
        )

    def facet(self, coordinates: Coordinates) -> str:
        """Pure if the prevalence stays the same, mixed if it changes too."""
        if not {"p_train", "p_test"} <= coordinates.keys():
            return ""
        moved = number(coordinates["p_train"]) - number(coordinates["p_test"])
        return "pure" if abs(moved) < _SAME else "mixed"

    def _declared(self) -> tuple[Coordinate, ...]:
        return P_TRAIN, ALPHA_TRAIN, P_TEST, ALPHA_TEST

    def _train_grid(self) -> list[Coordinates]:
        return [*self._grid("train")]

    def _test_grid(self) -> list[Coordinates]:
        return [*self._grid("test")]

    def _grid(self, side: str) -> list[dict[str, float]]:
        alphas, prevalences = (
            (self.train_alphas, self.train_prevalences)
            if side == "train"
            else (self.test_alphas, self.test_prevalences)
        )
        axes = (
            grid_values(f"{side}_alphas", alphas, low=0, high=1),
            grid_values(f"{side}_prevalences", prevalences, low=0, high=1),
        )
        return [{f"alpha_{side}": alpha, f"p_{side}": p} for alpha, p in product(*axes)]

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        return self._mixtures("train", labels)

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        return self._mixtures("test", labels)

    def _mixtures(self, side: str, labels: NDArray[Any]) -> list[Recipe]:
        repeats, grid, size = self._repeats(side), self._grid(side), self._size(side)
        return [
            Recipe(
                point, _counts(point[f"alpha_{side}"], point[f"p_{side}"], size), labels, repeats
            )
            for point in grid
        ]

    def _degree(self, coordinates: Coordinates) -> float:
        if "alpha_train" not in coordinates:
            return math.nan
        moved = number(coordinates["alpha_train"]) - number(coordinates["alpha_test"])
        return rounded(moved, 1)


def _counts(alpha: float, p: float, size: int) -> list[int]:
    """Negatives and positives of A, then of B."""
    n_a = math.ceil(nominal(alpha * size))
    shares = simplex.of_positive(p)
    of_a, of_b = (simplex.whole_counts(shares, n).tolist() for n in (n_a, size - n_a))
    return [*of_a, *of_b]
