"""Natural shift: groups of the data as they are, some to train on, the others to estimate.

No shift is simulated: between regions, hospitals or years everything changes a little, as it does
in the data. Training sets and samples come from different groups, so they share no items and the
items need not be split. With the forward design nothing is learnt from the future.

The groups are known only from the data; `surveyed` fills them in.
"""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Indices
from quantshift.errors import DataError, UserError
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import (
    REPEAT,
    SEPARATION,
    TRAIN_COORDINATES,
    checked_coordinates,
    prevalence_degree,
    prevalence_value,
    prevalence_words,
    prevalences_declared,
    shown_coordinates,
)
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.lab.shifts.parts.grids import repeated, whole_number
from quantshift.lab.shifts.parts.pools import checked_pool, same_length
from quantshift.lab.shifts.parts.strata import positive_last
from quantshift.lab.shifts.protocol import BOUND, AbstractProtocol, Draw, TrainTest, Words
from quantshift.prevalence import simplex
from quantshift.prevalence.labels import column, encode_labels
from quantshift.quantifying.training.groups import FEWEST_OF_CLASS, Groups, Side, Survey

GROUP_TRAIN = Coordinate("group_train", "train", "string", "training groups")
GROUP_TEST = Coordinate("group_test", "test", "string", "test group")

SHOWN = 10
"""The most names of groups that are listed; the rest are counted."""


@final
@dataclass(frozen=True, kw_only=True)
class GroupShift(AbstractProtocol):
    """Natural shift between groups (regions, hospitals, years) as they are in the data.

    Degree as in prior shift. `group_auc`, which experiments measure, is a second degree: how well a
    classifier separates the sample from the training items (AUC).

    Parameters
    ----------
    seed : int
        Seed of all draws.
    by : str
        The column of the groups; empty: the categories of the data.
    design : {"leave-one-out", "one-to-others", "forward"}
        "leave-one-out" trains on all groups but one and estimates that one; "one-to-others" trains
        on one and estimates every other; "forward" trains on all groups up to one, in the order of
        numbers, dates or names, and estimates the `ahead` next.
    every : {"", "day", "week", "month", "quarter", "year"}
        Group dates (YYYY-MM-DD) by "day", "week", "month", "quarter" or "year"; empty: every value
        is a group.
    chunks : int, optional
        Divide the values of the column, in order, into this many consecutive groups of about equal
        size; items with the same value stay together.
    ahead : int
        With "forward", how many groups after those of training are estimated.
    smallest : int
        Groups of fewer items are left out, and the report says so.
    train_size : int, optional
        Draw this many random items of a training set (all, if there are fewer) or of a group,
        `train_repeats` and `test_repeats` times; None: all of them, once. Groups of fewer than
        test_size items are left out as well.
    train_repeats : int
        Draws at each point of the training grid.
    test_size : int, optional
        Draw this many random items of a training set (all, if there are fewer) or of a group,
        `train_repeats` and `test_repeats` times; None: all of them, once. Groups of fewer than
        test_size items are left out as well.
    test_repeats : int
        Draws at each point of the test grid.
    positive : class label, optional
        The class that p_train and p_test refer to if there are two (default: the last).
    n_classes : int, optional
        Filled in by an experiment.
    category_names : tuple, optional
        Filled in by an experiment.
    survey : Survey, optional
        Filled in by an experiment.

    Examples
    --------
    >>> GroupShift(by="region", design="leave-one-out").changes
    'whatever changes between groups of the data: regions, hospitals, years'
    """

    name: ClassVar[str] = "groups"
    changes: ClassVar[str] = (
        "whatever changes between groups of the data: regions, hospitals, years"
    )
    needs_categories: ClassVar[bool] = True
    from_groups: ClassVar[bool] = True
    later_options: ClassVar[frozenset[str]] = frozenset({"chunks"})

    by: str = ""
    design: Literal["leave-one-out", "one-to-others", "forward"] = "leave-one-out"
    every: Literal["", "day", "week", "month", "quarter", "year"] = ""
    chunks: int | None = None
    ahead: int = 1
    smallest: int = 100
    train_size: int | None = None
    train_repeats: int = 1
    test_size: int | None = None
    test_repeats: int = 1
    positive: Any = None
    n_classes: int | None = dataclasses.field(default=None, metadata=BOUND)
    category_names: tuple[str, ...] | None = dataclasses.field(default=None, metadata=BOUND)
    survey: Survey | None = dataclasses.field(default=None, repr=False, metadata=BOUND)

    def coordinates(self) -> tuple[Coordinate, ...]:
        """The groups and prevalences of both sides, and how well a classifier separates them."""
        p_train, p_test = prevalences_declared(self.n_classes or 2)
        return GROUP_TRAIN, p_train, GROUP_TEST, p_test, REPEAT, SEPARATION

    def words(self) -> Words:
        """The degree as in prior shift, and a note on what was left out."""
        return Words(
            "Natural shift between groups",
            prevalence_words(self.n_classes or 2),
            digits=1,
            note=self._left_out(),
        )

    def group_column(self) -> str:
        """The column of the groups; empty: the categories."""
        return self.by

    def class_order(self, classes: Sequence[Any]) -> tuple[Any, ...]:
        """The classes in the order of their codes; with two classes, the positive one is last."""
        return positive_last(classes, self.positive)

    def count_training_sets(self) -> int:
        """Number of training sets; 0 if there are no data yet."""
        n_sides = 0 if self.survey is None else len(self.survey.sides)
        return n_sides * self._repeats("train")

    def count_samples(self) -> int | None:
        """Number of test samples of each training set; None if there are no data yet."""
        repeats = self._repeats("test")
        if self.survey is None:
            return None
        return repeats * len(self.survey.sides[0].tests)

    def training_points(self) -> list[Coordinates]:
        """The names of the training groups; empty if there are no data yet."""
        sides = () if self.survey is None else self.survey.sides
        points: list[Coordinates] = [{"group_train": side.name} for side in sides]
        return repeated(points, "train_repeat", self._repeats("train"))

    def surveyed(self, y: ArrayLike, categories: ArrayLike | None) -> Self:
        """The protocol with the groups of these items; an error if there are too few."""
        groups = self._groups(categories)
        labels = column(y)
        same_length(labels, groups.codes)
        classes = range(self.n_classes) if self.n_classes is not None else np.unique(labels)
        survey = groups.survey(
            encode_labels(labels, classes=classes)[1],
            len(classes),
            design=self.design,
            smallest=max(whole_number("smallest", self.smallest), self.test_size or 1),
            ahead=whole_number("ahead", self.ahead),
            source=f"column {self.by!r}" if self.by else "the categories",
        )
        return dataclasses.replace(self, survey=survey)

    def training_set(
        self,
        point: Coordinates,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
    ) -> Draw:
        """The items of the training groups at the point, or some of them."""
        protocol = self._with_survey(y, categories)
        side = protocol._side(point.get("group_train"))
        repeat: Any = point.get("train_repeat", 0)
        if side is None or repeat not in range(self._repeats("train")):
            raise UserError(
                f"no training set at ({shown_coordinates(point)}); use one of training_points()"
            )
        rows = protocol._members(side.train, categories, pool)
        axes = {"group_train": side.name, "train_repeat": repeat}
        rows = self._drawn(rows, self.train_size, "train", axes)
        labels = column(y)[rows]
        coordinates = {"group_train": side.name, "p_train": protocol._share(y, rows)}
        return Draw(rows, labels, {**coordinates, "train_repeat": repeat}, math.nan)

    def samples(
        self,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
        train: Coordinates | None = None,
    ) -> Iterator[Draw]:
        """The groups that belong to the training set `train`; all groups if it is not given."""
        protocol = self._with_survey(y, categories)
        accepted = {*TRAIN_COORDINATES, GROUP_TRAIN.name}
        train_coordinates = checked_coordinates(train or {}, accepted, protocol._width(y))
        side = protocol._side(train_coordinates.get("group_train"))
        if side is None and "group_train" in train_coordinates:
            raise UserError(
                f"no training set at ({shown_coordinates(train_coordinates)}); use one of "
                "training_points()"
            )
        tests = range(len(protocol._surveyed.names)) if side is None else side.tests
        return protocol._draws(tests, y, categories, pool, train_coordinates)

    def train_test(
        self, y: ArrayLike, categories: ArrayLike, *, pool: ArrayLike | None = None
    ) -> Iterator[TrainTest]:
        """Every training set with its test samples."""
        protocol = self._with_survey(y, categories)
        for point in protocol.training_points():
            train = protocol.training_set(point, y, categories, pool=pool)
            tests = protocol.samples(y, categories, pool=pool, train=train.coordinates)
            yield TrainTest(train, tuple(tests))

    def _bound(
        self, classes: tuple[Any, ...], categories: tuple[Any, ...] | None, given: Given | None
    ) -> Self:
        return dataclasses.replace(
            self,
            positive=None,
            n_classes=len(self.class_order(classes)),
            category_names=None if categories is None else tuple(map(str, categories)),
        )

    def _repeats(self, side: str) -> int:
        repeats, size = (
            (self.train_repeats, self.train_size)
            if side == "train"
            else (self.test_repeats, self.test_size)
        )
        if size is not None:
            whole_number(f"{side}_size", size)
        elif repeats != 1:
            raise UserError(
                f"{side}_repeats={repeats} would repeat the same items; set {side}_size"
            )
        return whole_number(f"{side}_repeats", repeats)

    def _with_survey(self, y: ArrayLike, categories: ArrayLike | None) -> Self:
        return self if self.survey is not None else self.surveyed(y, categories)

    @property
    def _surveyed(self) -> Survey:
        """The groups of the data, once they have been looked at."""
        assert self.survey is not None
        return self.survey

    def _groups(self, categories: ArrayLike | None) -> Groups:
        if categories is None:
            raise DataError("groups are missing: give the group of every item as categories")
        return Groups.of(
            column(categories, name="groups"),
            every=self.every,
            chunks=None if self.chunks is None else whole_number("chunks", self.chunks, least=2),
            names=self.category_names,
        )

    def _side(self, name: Any) -> Side | None:
        return next((side for side in self._surveyed.sides if side.name == name), None)

    def _members(
        self,
        groups: Sequence[int],
        categories: ArrayLike | None,
        pool: ArrayLike | None,
    ) -> Indices:
        """Positions of the items of some groups, ascending."""
        names = [self._surveyed.names[k] for k in groups]
        items = self._groups(categories)
        rows = items.rows(names)
        if pool is not None:
            rows = np.intersect1d(rows, checked_pool(pool, len(items.codes)))
        if not rows.size:
            raise DataError(
                f"the pool has no items of the groups {', '.join(names)}; pass a larger pool"
            )
        return rows

    def _drawn(self, rows: Indices, size: int | None, side: str, axes: dict[str, Any]) -> Indices:
        if size is None or size >= len(rows):
            return rows
        rng = generator(self.seed, shift=self.name, side=side, **axes)
        return np.sort(rng.choice(rows, size, replace=False))

    def _draws(
        self,
        tests: Sequence[int],
        y: ArrayLike,
        categories: ArrayLike | None,
        pool: ArrayLike | None,
        train: Coordinates,
    ) -> Iterator[Draw]:
        labels = column(y)
        for test in tests:
            members = self._members([test], categories, pool)
            name = self._surveyed.names[test]
            for repeat in range(self._repeats("test")):
                # The samples of a group are the same for every training set.
                axes = {"group_test": name, "repeat": repeat}
                rows = self._drawn(members, self.test_size, "test", axes)
                point = {**train, "group_test": name, "p_test": self._share(y, rows)}
                yield Draw(
                    rows, labels[rows], {**point, "repeat": repeat}, prevalence_degree(point)
                )

    def _share(self, y: ArrayLike, rows: Indices) -> float | tuple[float, ...]:
        labels = column(y)
        order = self._classes(labels)
        return prevalence_value(
            simplex.from_codes(encode_labels(labels[rows], classes=order)[1], len(order))
        )

    def _classes(self, labels: NDArray[Any]) -> tuple[Any, ...]:
        """The classes, with the positive one of two last; once bound, they are codes."""
        if self.n_classes is not None:
            return tuple(range(self.n_classes))
        return self.class_order(np.unique(labels).tolist())

    def _width(self, y: ArrayLike) -> int:
        return self.n_classes or len(np.unique(column(y)))

    def _left_out(self) -> str:
        if self.survey is None:
            return ""
        small, untrained = self.survey.too_small, self.survey.untrained
        notes = []
        if small:
            least = max(self.smallest, self.test_size or 1)
            notes.append(f"Groups of fewer than {least} items are left out: {_listed(small)}.")
        if untrained:
            notes.append(
                f"Training sets of fewer than {FEWEST_OF_CLASS} items of a class are left out: "
                f"{_listed(untrained)}."
            )
        return " ".join(notes)


def _listed(names: Sequence[str]) -> str:
    if len(names) <= SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"
