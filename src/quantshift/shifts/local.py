"""Local covariate shift: one cluster of one class grows, and its control.

The training set has equal parts of categories A and B, A at prevalence 2/3 and B at 1/3. A test
sample has the negatives of A and both classes of B as in a balanced sample, and as many positives
of A as bring the whole to p_test: P(X|Y) changes inside the positives alone. The control has the
same numbers of positives and negatives, but each class is made of A and B as in training: plain
prior shift. The counts of all four groups are computed anew at every point, so sizes do not drift.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from numpy.typing import ArrayLike, NDArray

from quantshift.errors import UserError
from quantshift.prevalence import whole_counts
from quantshift.shifts.covariate import category_strata
from quantshift.shifts.prior import prevalence_degree
from quantshift.shifts.sampling import (
    AbstractShift,
    Coordinates,
    Recipe,
    Strata,
    grid_values,
    half_up,
    repeated,
    whole_number,
)

_P_TRAIN = 0.5
_MINORITY_FIRST = (1 / 3, 2 / 3)
_MAJORITY_FIRST = (2 / 3, 1 / 3)


@final
@dataclass(frozen=True, kw_only=True)
class LocalCovariateShift(AbstractShift):
    """Local covariate shift.

    `test_size` is the size at p_test = 0.5; the others follow (500: from 333 at 0.25 to 1000 at
    0.75). `with_control` also yields the control of every sample, told apart by the coordinate
    "control". Categories and `positive` as in global covariate shift. Degree: p_test - p_train
    (p_train is 0.5) to two decimals.
    """

    name: ClassVar[str] = "local"
    changes: ClassVar[str] = "P(X|Y=1) changes (one cluster grows), and P(Y) with it; P(Y|X) stays"

    test_prevalences: ArrayLike = tuple(i / 20 for i in range(5, 16))
    test_size: int = 500
    train_size: int = 5000
    test_repeats: int = 50
    train_repeats: int = 10
    with_control: bool = False
    positive: Any = None
    category_a: Any = None
    category_b: Any = None

    def training_points(self) -> list[Coordinates]:
        """Coordinates of the training sets."""
        repeats = whole_number("train_repeats", self.train_repeats)
        return repeated([{"p_train": _P_TRAIN}], "train_repeat", repeats)

    def test_points(self) -> list[Coordinates]:
        """Coordinates of the test samples."""
        points = [point for point, _ in self._test_grid()]
        return repeated(points, "repeat", whole_number("test_repeats", self.test_repeats))

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        return category_strata(y, categories, self.positive, self.category_a, self.category_b)

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        repeats = range(whole_number("test_repeats", self.test_repeats))
        return [Recipe(point, counts, labels, repeats) for point, counts in self._test_grid()]

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        n_a, n_b = whole_counts((0.5, 0.5), whole_number("train_size", self.train_size)).tolist()
        counts_a = whole_counts(_MINORITY_FIRST, n_a).tolist()
        counts_b = whole_counts(_MAJORITY_FIRST, n_b).tolist()
        repeats = range(whole_number("train_repeats", self.train_repeats))
        return [Recipe({"p_train": _P_TRAIN}, counts_a + counts_b, labels, repeats)]

    def _test_grid(self) -> list[tuple[Coordinates, list[int]]]:
        """Every point and its control, with the counts of the four groups."""
        size = whole_number("test_size", self.test_size, least=6)  # one item of every group
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
