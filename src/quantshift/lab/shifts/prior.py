"""Prior probability shift, by the artificial-prevalence protocol.

Training sets and test samples are drawn at chosen prevalences from the same classes: P(Y) changes,
P(X|Y) stays. With two classes a grid is a sequence of prevalences of the positive class; with two
or more, it can be an array of prevalence vectors, one row per point, such as
`quantshift.prevalence.grid` makes.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Prevalences
from quantshift.errors import UserError
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import (
    prevalence_degree,
    prevalence_value,
    prevalence_words,
    prevalences_declared,
)
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.lab.shifts.parts.grids import TENTHS, grid_values, numbers
from quantshift.lab.shifts.parts.strata import Recipe, Strata, class_strata, positive_last
from quantshift.lab.shifts.protocol import Words
from quantshift.lab.shifts.shift import AbstractShift
from quantshift.prevalence import simplex


@final
@dataclass(frozen=True, kw_only=True)
class PriorShift(AbstractShift):
    """Prior probability shift (label shift).

    The defaults are the paper's grid. Degree: p_test - p_train to one decimal; with more than two
    classes, where both are vectors, their total variation distance. `positive` is the class that a
    binary grid refers to (default: the last); the columns of an array of prevalence vectors are the
    sorted classes.

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
    test_prevalences : array
        Prevalences of test samples: of the positive class, or a vector for each.
    train_prevalences : array
        Those of training sets.
    positive : class label, optional
        The class that prevalences refer to if there are two; by default the last.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(["ham", "spam"], 300)
    >>> protocol = PriorShift(test_size=50, test_repeats=1, test_prevalences=[0.1, 0.9])
    >>> [draw.true_prevalence(["ham", "spam"]).round(2).tolist() for draw in protocol.samples(y)]
    [[0.9, 0.1], [0.1, 0.9]]
    """

    name: ClassVar[str] = "prior"
    changes: ClassVar[str] = "P(Y) changes, P(X|Y) stays"

    test_prevalences: ArrayLike = TENTHS
    train_prevalences: ArrayLike = (0.02, *TENTHS[1:-1], 0.98)
    positive: Any = None

    def words(self) -> Words:
        """As in the paper."""
        return Words("Prior shift", prevalence_words(self._width()), digits=1)

    def is_for_two_classes(self) -> bool:
        """Whether its grids are prevalences of the positive class of two."""
        return self._width() == 2

    def class_order(self, classes: Sequence[Any]) -> tuple[Any, ...]:
        """The classes in the order of their codes; with two classes, the positive one is last."""
        return positive_last(classes, self.positive)

    def _bound(
        self, classes: tuple[Any, ...], categories: tuple[Any, ...] | None, given: Given | None
    ) -> Self:
        order = self.class_order(classes)
        return dataclasses.replace(
            self,
            positive=None,
            test_prevalences=_in_codes("test_prevalences", self.test_prevalences, order),
            train_prevalences=_in_codes("train_prevalences", self.train_prevalences, order),
        )

    def _declared(self) -> tuple[Coordinate, ...]:
        # Checked separately: drawing only test samples does not need a training grid.
        train = _width("train_prevalences", self.train_prevalences)
        return prevalences_declared(train)[0], prevalences_declared(self._width())[1]

    def _width(self) -> int:
        return _width("test_prevalences", self.test_prevalences)

    def _train_grid(self) -> list[Coordinates]:
        points = self._points("train_prevalences", self.train_prevalences)
        return [{"p_train": prevalence_value(point)} for point in points]

    def _test_grid(self) -> list[Coordinates]:
        points = self._points("test_prevalences", self.test_prevalences)
        return [{"p_test": prevalence_value(point)} for point in points]

    def _points(self, name: str, values: ArrayLike) -> Prevalences:
        if self.positive is not None and numbers(name, values).ndim == 2:
            raise UserError(
                f"{name} holds prevalence vectors, and the column of positive={self.positive!r} "
                "depends on the data; list the prevalences of the positive class instead"
            )
        return _points(name, values, range(_width(name, values)))

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        return class_strata(y, categories, self.positive)

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        points = _points("train_prevalences", self.train_prevalences, strata.classes)
        return _recipes("p_train", points, labels, self._size("train"), self._repeats("train"))

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        points = _points("test_prevalences", self.test_prevalences, strata.classes)
        return _recipes("p_test", points, labels, self._size("test"), self._repeats("test"))

    def _degree(self, coordinates: Coordinates) -> float:
        return prevalence_degree(coordinates)


def _width(name: str, values: ArrayLike) -> int:
    """The number of classes of a grid: two for a sequence of prevalences."""
    array = numbers(name, values)
    return int(array.shape[1]) if array.ndim == 2 else 2


def _points(name: str, values: ArrayLike, classes: Sequence[Any]) -> Prevalences:
    """Prevalences in the order of the groups, shape (n_points, n_classes)."""
    n_classes = len(classes)
    array = numbers(name, values)
    if array.ndim != 2 and n_classes == 2:
        return simplex.of_positive(grid_values(name, array, low=0, high=1))
    if array.ndim != 2 or array.shape[1] != n_classes or n_classes < 2 or not len(array):
        raise UserError(
            f"{name} must have one row per point and one column per class ({n_classes}), "
            f"got shape {array.shape}; quantshift.prevalence.grid makes such an array"
        )
    if len(np.unique(array, axis=0)) < len(array):
        raise UserError(f"{name} contains a point twice; list each point once")
    # The user's columns are the sorted classes; the positive one of two groups is last.
    columns = [sorted(classes).index(label) for label in classes]
    return simplex.check(array)[:, columns]


def _in_codes(name: str, values: ArrayLike, order: Sequence[Any]) -> ArrayLike:
    """The grid with columns in the order of the codes; an error if it is not for these classes."""
    points = _points(name, values, order)
    return values if numbers(name, values).ndim == 1 else tuple(map(tuple, points.tolist()))


def _recipes(
    prefix: str, points: Prevalences, labels: NDArray[Any], size: int, repeats: range
) -> list[Recipe]:
    return [
        Recipe(
            {prefix: prevalence_value(point)},
            simplex.whole_counts(point, size).tolist(),
            labels,
            repeats,
        )
        for point in points
    ]
