"""Local covariate shift: one cluster of one class grows, and its control.

The training set has equal parts of categories A and B, A at prevalence 2/3 and B at 1/3. A test
sample has the negatives of A and both classes of B as in a balanced sample, and enough positives of
A to reach p_test overall: P(X|Y) changes within the positives only. The control has the same
numbers of positives and negatives, but the mix of A and B in each class is that of training, so it
is plain prior shift. The counts of all four groups are computed independently at every point, so
rounding errors do not add up.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from numpy.typing import ArrayLike, NDArray

from quantshift.errors import UserError
from quantshift.lab.shifts.categories import AbstractCategoryShift
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import (
    CONTROL,
    DIFFERENCE,
    P_TEST,
    P_TRAIN,
    prevalence_degree,
)
from quantshift.lab.shifts.parts.grids import grid_values, half_up
from quantshift.lab.shifts.parts.strata import Recipe, Strata
from quantshift.lab.shifts.protocol import Words
from quantshift.prevalence.simplex import whole_counts

_P_TRAIN = 0.5
_MINORITY_FIRST = (1 / 3, 2 / 3)
_MAJORITY_FIRST = (2 / 3, 1 / 3)


@final
@dataclass(frozen=True, kw_only=True)
class LocalCovariateShift(AbstractCategoryShift):
    """Local covariate shift.

    `test_size` is the size at p_test = 0.5, which determines the others (500: from 333 at 0.25 to
    1000 at 0.75). `with_control` also yields the control of every sample, marked by the coordinate
    "control" and the facet of that name. Categories and `positive` as in global covariate shift.
    Degree: p_test - p_train (p_train is 0.5) to two decimals.

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
    test_prevalences : array
        Prevalences of test samples: of the positive class, or a vector for each.
    with_control : bool
        Whether a control of every sample is drawn as well.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(["ham", "spam"], 300)
    >>> categories = np.tile(["books", "music"], 300)
    >>> protocol = LocalCovariateShift(test_size=50, test_repeats=1, test_prevalences=[0.3])
    >>> (draw,) = protocol.samples(y, categories)
    >>> draw.true_prevalence(["ham", "spam"]).round(2).tolist()
    [0.71, 0.29]
    """

    name: ClassVar[str] = "local"
    changes: ClassVar[str] = "P(X|Y=1) changes (one cluster grows), and P(Y) with it; P(Y|X) stays"

    test_prevalences: ArrayLike = tuple(i / 20 for i in range(5, 16))
    with_control: bool = False

    def words(self) -> Words:
        """With the control, if there is one, next to the shift."""
        if not self.with_control:
            return Words("Local covariate shift", DIFFERENCE)
        return Words(
            "Local covariate shift",
            DIFFERENCE,
            facets={"": "shifted", "control": "control"},
            columns_by="facet",
            note="Control: the same prevalences under plain prior shift.",
        )

    def facet(self, coordinates: Coordinates) -> str:
        """Controls are for comparison and not part of the shift."""
        return "control" if coordinates.get("control") else ""

    def _declared(self) -> tuple[Coordinate, ...]:
        return P_TRAIN, P_TEST, CONTROL

    def _train_grid(self) -> list[Coordinates]:
        return [{"p_train": _P_TRAIN}]

    def _test_grid(self) -> list[Coordinates]:
        return [point for point, _ in self._test_counts()]

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        n_a, n_b = whole_counts((0.5, 0.5), self._size("train")).tolist()
        counts_a = whole_counts(_MINORITY_FIRST, n_a).tolist()
        counts_b = whole_counts(_MAJORITY_FIRST, n_b).tolist()
        return [Recipe({"p_train": _P_TRAIN}, counts_a + counts_b, labels, self._repeats("train"))]

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        repeats = self._repeats("test")
        return [Recipe(point, counts, labels, repeats) for point, counts in self._test_counts()]

    def _test_counts(self) -> list[tuple[Coordinates, list[int]]]:
        """Every point and its control, with the counts of the four groups."""
        size = self._size("test", least=6)  # one item of every group
        grid: list[tuple[Coordinates, list[int]]] = []
        for p in grid_values("test_prevalences", self.test_prevalences, low=0, high=1):
            shifted = _shifted_counts(p, size)
            grid.append(({"p_test": p, "control": False}, shifted))
            if self.with_control:
                grid.append(({"p_test": p, "control": True}, _control_counts(shifted)))
        return grid

    def _degree(self, coordinates: Coordinates) -> float:
        return prevalence_degree(coordinates, decimals=2)


def _shifted_counts(p: float, size: int) -> list[int]:
    """Negatives and positives of A, then of B."""
    if not 0.25 <= p < 1:
        raise UserError(
            f"test_prevalences: local covariate shift reaches 0.25 <= p < 1, not {p:g} "
            "(only the positives of category A grow)"
        )
    sixth = size / 6
    # p = (sixth + grown) / (4 * sixth + grown), solved for the positives of A.
    grown = sixth * (4 * p - 1) / (1 - p)
    return [half_up(sixth), half_up(grown), half_up(2 * sixth), half_up(sixth)]


def _control_counts(shifted: list[int]) -> list[int]:
    negatives_a, negatives_b = whole_counts(_MINORITY_FIRST, shifted[0] + shifted[2]).tolist()
    positives_a, positives_b = whole_counts(_MAJORITY_FIRST, shifted[1] + shifted[3]).tolist()
    return [negatives_a, positives_a, negatives_b, positives_b]
