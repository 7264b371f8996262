"""Knock-out shift: part of the items of one class, or of one region, is missing from the samples.

If a class is knocked out, P(Y) changes and P(X|Y) stays. If a region is knocked out (a country, a
product category), items of all its classes are missing, so that P(X) changes, P(Y|X) stays, and
P(Y) changes as far as the region's prevalence differs.

References: Z. Lipton et al., "Detecting and correcting for label shift with black box predictors",
ICML 2018; S. Rabanser et al., "Failing loudly", NeurIPS 2019 (removed from the samples, as here,
rather than from training).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.errors import DataError
from quantshift.lab.shifts.natural import AbstractNaturalTraining
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import number, prevalence_value, prevalences_declared
from quantshift.lab.shifts.parts.grids import grid_values
from quantshift.lab.shifts.parts.strata import Recipe, Strata, class_strata, named_code
from quantshift.lab.shifts.protocol import Words
from quantshift.prevalence import simplex
from quantshift.prevalence.labels import column

REMOVED = Coordinate("removed", "test", "float", "share removed", r"\delta")


@final
@dataclass(frozen=True, kw_only=True)
class KnockOutShift(AbstractNaturalTraining):
    """Knock-out shift.

    Training sets are random samples of their pool. Test samples have classes (and the region) in
    the shares of their pool after the removal. Degree: the share that is removed.

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
    removed : array
        Shares of the items that are removed.
    label : class label, optional
        The class they are removed from (default: the last, or all classes of a region).
    by : str
        A column of groups; without it, regions are the categories of the data.
    region : category, optional
        The group or category they are removed from (default: none; with `by`, the last).

    Examples
    --------
    >>> KnockOutShift(removed=[0.0, 0.5], test_repeats=5).count_samples()
    10
    """

    name: ClassVar[str] = "knock-out"
    changes: ClassVar[str] = (
        "P(Y) changes (a class is removed) and P(X|Y) stays, or P(X) changes (a region is removed)"
    )
    title: ClassVar[str] = "Knock-out shift"

    test_repeats: int = 20
    removed: ArrayLike = (0.0, 0.25, 0.5, 0.75, 1.0)
    label: Any = None
    by: str = ""
    region: Any = None

    def words(self) -> Words:
        """The degree is the share that is removed."""
        return Words(self.title, r"share removed $\delta$")

    def group_column(self) -> str:
        """The column of the regions; empty: the categories."""
        return self.by

    def _in_codes(
        self, order: tuple[Any, ...], categories: tuple[Any, ...] | None
    ) -> dict[str, Any]:
        codes: dict[str, Any] = {}
        if self.label is not None or not self._by_region():
            codes["label"] = named_code(order, self.label, "class")
        if self._by_region():
            if categories is None:
                raise DataError(
                    f"region={self.region!r}: the data have no categories; set by to a group column"
                )
            names = [str(name) for name in categories]
            region = None if self.region is None else str(self.region)
            codes["region"] = named_code(names, region, "region")
        return codes

    def _by_region(self) -> bool:
        return bool(self.by) or self.region is not None

    def _declared(self) -> tuple[Coordinate, ...]:
        return *prevalences_declared(self.n_classes or 2), REMOVED

    def _test_grid(self) -> list[Coordinates]:
        return [{"removed": share} for share in self._shares()]

    def _shares(self) -> list[float]:
        return grid_values("removed", self.removed, low=0, high=1)

    def _strata(self, y: ArrayLike, categories: ArrayLike | None) -> tuple[Strata, NDArray[Any]]:
        """Classes outside the knocked-out part, classes inside it, and all items together."""
        strata, labels = class_strata(y, categories, self.positive)
        inside = self._removable(strata, labels, categories)
        names = [f"kept {name}" for name in strata.names]
        names += [f"removable {name}" for name in strata.names]
        members = [m[~inside[m]] for m in strata.members] + [m[inside[m]] for m in strata.members]
        whole = np.arange(labels.size, dtype=np.int64)
        return Strata((*names, "items"), (*members, whole), strata.classes), labels

    def _removable(
        self, strata: Strata, labels: NDArray[Any], categories: ArrayLike | None
    ) -> NDArray[np.bool_]:
        """Which items may be removed."""
        removable = np.ones(labels.size, dtype=np.bool_)
        if self.label is not None or not self._by_region():
            removable[:] = False
            removable[strata.members[named_code(strata.classes, self.label, "class")]] = True
        if self._by_region():
            if categories is None:
                raise DataError(f"{self.name} shift of a region needs the category of every item")
            regions = column(categories, name="categories")
            names = np.unique(regions).tolist()
            removable &= regions == names[named_code(names, self.region, "region")]
        return removable

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        sizes = np.array(strata.sizes[:-1], dtype=np.float64)
        n_classes, size = len(strata.classes), self._size("test")
        recipes = []
        for share in self._shares():
            remaining = sizes * np.repeat([1.0, 1 - share], n_classes)
            if not remaining.sum():
                raise DataError(
                    f"removed={share:g} leaves no items: the whole pool is one class or region"
                )
            shares = remaining / remaining.sum()
            point = {
                "p_test": prevalence_value(shares.reshape(2, n_classes).sum(axis=0)),
                "removed": share,
            }
            counts = [*simplex.whole_counts(shares, size).tolist(), 0]
            recipes.append(Recipe(point, counts, labels, self._repeats("test")))
        return recipes

    def _degree(self, coordinates: Coordinates) -> float:
        return number(coordinates["removed"])
