"""Prior probability shift, by the artificial-prevalence protocol.

Training sets and test samples are drawn at chosen prevalences from the same classes: P(Y) changes,
P(X|Y) stays. With two classes a grid is a sequence of prevalences of the positive class; with more
(or two), an array of prevalence vectors, one row a point, as `quantshift.prevalence.grid` makes
them.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift import prevalence
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.labels import column, encode_labels
from quantshift.shifts.sampling import (
    AbstractShift,
    Coordinates,
    Recipe,
    Strata,
    grid_values,
    nominal,
    numbers,
    repeated,
    rounded,
    same_length,
    whole_number,
)
from quantshift.types import Indices, Prevalences

TENTHS = tuple(i / 10 for i in range(11))
"""0, 0.1, ..., 1."""


@final
@dataclass(frozen=True, kw_only=True)
class PriorShift(AbstractShift):
    """Prior probability shift (label shift).

    The defaults are the paper's grid. Degree: p_test - p_train to one decimal; with more than two
    classes the total variation distance of the two prevalence vectors, whose coordinates are named
    "p_test:<class>". `positive` is the class that a binary grid speaks of (default: the last); the
    columns of an array of prevalence vectors are the sorted classes.
    """

    name: ClassVar[str] = "prior"
    changes: ClassVar[str] = "P(Y) changes, P(X|Y) stays"

    test_prevalences: ArrayLike = TENTHS
    train_prevalences: ArrayLike = (0.02, *TENTHS[1:-1], 0.98)
    test_size: int = 500
    train_size: int = 5000
    test_repeats: int = 50
    train_repeats: int = 10
    positive: Any = None

    def training_points(self) -> list[Coordinates]:
        """Coordinates of the training sets; the grid must be of prevalences, not of vectors."""
        points = _binary_points("train_prevalences", self.train_prevalences, "p_train")
        return repeated(points, "train_repeat", whole_number("train_repeats", self.train_repeats))

    def test_points(self) -> list[Coordinates]:
        """Coordinates of the test samples, likewise."""
        points = _binary_points("test_prevalences", self.test_prevalences, "p_test")
        return repeated(points, "repeat", whole_number("test_repeats", self.test_repeats))

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        return class_strata(y, categories, self.positive)

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        points = _points("test_prevalences", self.test_prevalences, strata.classes)
        repeats = whole_number("test_repeats", self.test_repeats)
        size = whole_number("test_size", self.test_size)
        return _recipes("p_test", points, strata, labels, size, repeats)

    def _train_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        points = _points("train_prevalences", self.train_prevalences, strata.classes)
        repeats = whole_number("train_repeats", self.train_repeats)
        size = whole_number("train_size", self.train_size)
        return _recipes("p_train", points, strata, labels, size, repeats)

    def _degree(self, coordinates: Coordinates) -> float:
        return prevalence_degree(coordinates)


def class_strata(
    y: ArrayLike, categories: ArrayLike | None, positive: Any
) -> tuple[Strata, NDArray[Any]]:
    """One group per class (of two classes, the positive one last), and the column of labels."""
    labels = column(y)
    if categories is not None:
        same_length(labels, column(categories, name="categories"))
    classes, codes = encode_labels(labels)
    if classes.size < 2:
        raise DataError(f"labels hold one class only ({classes[0].item()!r}); give two or more")
    order = np.arange(classes.size)
    if classes.size == 2:
        order = np.roll(order, 1 - positive_code(classes, positive))
    elif positive is not None:
        raise UserError(f"positive={positive!r} needs two classes, found {classes.size}")
    values = [classes[code].item() for code in order]
    members: list[Indices] = [np.flatnonzero(codes == code) for code in order]
    names = tuple(f"items of class {value!r}" for value in values)
    return Strata(names, tuple(members), tuple(values)), labels


def positive_code(classes: NDArray[Any], positive: Any) -> int:
    """Position of the positive class: the one named, or else the last."""
    if positive is None:
        return int(classes.size - 1)
    known = classes.tolist()
    if positive not in known:
        raise unknown_name("positive class", str(positive), map(str, known))
    return int(known.index(positive))


def prevalence_coordinates(
    prefix: str, point: Prevalences, classes: tuple[Any, ...]
) -> dict[str, float]:
    """Nominal coordinates of a prevalence: that of the positive class, or one for each class."""
    if len(classes) == 2:
        return {prefix: nominal(point[1])}
    return {
        f"{prefix}:{label}": nominal(share) for label, share in zip(classes, point, strict=True)
    }


def prevalence_degree(coordinates: Coordinates, *, decimals: int = 1) -> float:
    """p_test - p_train, or the total variation distance where there are more than two classes."""
    if "p_test" in coordinates:
        if "p_train" not in coordinates:
            return math.nan
        return rounded(coordinates["p_test"] - coordinates["p_train"], decimals)
    tests = [key for key in coordinates if key.startswith("p_test:")]
    pairs = [(key, "p_train:" + key.removeprefix("p_test:")) for key in tests]
    if not all(train in coordinates for _, train in pairs):
        return math.nan
    return rounded(sum(abs(coordinates[a] - coordinates[b]) for a, b in pairs) / 2, decimals)


def _binary_points(name: str, values: ArrayLike, coordinate: str) -> list[Coordinates]:
    array = numbers(name, values)
    if array.ndim == 2:
        raise UserError(
            f"{name} holds prevalence vectors, whose coordinates depend on the classes of the "
            "data; list prevalences of the positive class"
        )
    return [{coordinate: p} for p in grid_values(name, array, low=0, high=1)]


def _points(name: str, values: ArrayLike, classes: tuple[Any, ...]) -> Prevalences:
    """Prevalences in the order of the groups, shape (n_points, n_classes)."""
    n_classes = len(classes)
    array = numbers(name, values)
    if array.ndim != 2 and n_classes == 2:
        return prevalence.of_positive(grid_values(name, array, low=0, high=1))
    if array.ndim != 2 or array.shape[1] != n_classes or not len(array):
        raise UserError(
            f"{name} must have one row per point and one column per class ({n_classes}), "
            f"got shape {array.shape}; quantshift.prevalence.grid makes such an array"
        )
    if len(np.unique(array, axis=0)) < len(array):
        raise UserError(f"{name} holds a point twice; name each point once")
    # The user's columns are the sorted classes; of two groups the positive one is last.
    columns = [sorted(classes).index(label) for label in classes]
    return prevalence.check(array)[:, columns]


def _recipes(
    prefix: str,
    points: Prevalences,
    strata: Strata,
    labels: NDArray[Any],
    size: int,
    repeats: int,
) -> list[Recipe]:
    return [
        Recipe(
            prevalence_coordinates(prefix, point, strata.classes),
            prevalence.whole_counts(point, size).tolist(),
            labels,
            range(repeats),
        )
        for point in points
    ]
