"""Natural shift: groups of the data as they are, some to train on, the others to estimate.

No shift is simulated: between regions, hospitals or years everything changes a little, as it does
in the data. Training sets and samples come from different groups, so they share no items and the
items need not be split. With the forward design nothing is learnt from the future.

The groups are known only from the data; `surveyed` fills them in.
"""

import dataclasses
import datetime
import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices
from quantshift.errors import DataError, UserError
from quantshift.prevalence import simplex
from quantshift.prevalence.labels import column, encode_labels
from quantshift.shifts.given import Given
from quantshift.shifts.parts.coordinates import (
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
from quantshift.shifts.parts.grids import repeated, whole_number
from quantshift.shifts.parts.pools import checked_pool, same_length
from quantshift.shifts.parts.strata import positive_last
from quantshift.shifts.protocol import (
    BOUND,
    AbstractProtocol,
    Coordinate,
    Coordinates,
    Draw,
    TrainTest,
    Words,
)
from quantshift.tables.columns.names import NO_NAME

GROUP_TRAIN = Coordinate("group_train", "train", "string", "training groups")
GROUP_TEST = Coordinate("group_test", "test", "string", "test group")

FEWEST_OF_CLASS = 10
"""The fewest items of every class that a training set needs."""

LONGEST_NAME = 40
"""The most characters of a group's name in the name of a training set."""

SHOWN = 10
"""The most names of groups that are listed; the rest are counted."""


@dataclass(frozen=True)
class Side:
    """A training set and its samples, by the positions of their groups in `Survey.names`."""

    name: str
    train: tuple[int, ...]
    tests: tuple[int, ...]


@dataclass(frozen=True)
class Survey:
    """The groups of the data, in order, and the training sets they make.

    names      names of the groups that are large enough
    too_small  names of those that are not
    sides      training sets with enough items of every class
    untrained  names of training sets that lack items of a class
    """

    names: tuple[str, ...]
    too_small: tuple[str, ...]
    sides: tuple[Side, ...]
    untrained: tuple[str, ...]


@final
@dataclass(frozen=True, kw_only=True)
class GroupShift(AbstractProtocol):
    """Natural shift between groups (regions, hospitals, years) as they are in the data.

    by: the column of the groups; empty: the categories of the data.
    design: "leave-one-out" trains on all groups but one and estimates that one; "one-to-others"
        trains on one and estimates every other; "forward" trains on all groups up to one, in the
        order of numbers, dates or names, and estimates the `ahead` next.
    every: group dates (YYYY-MM-DD) by "day", "week", "month", "quarter" or "year"; empty: every
        value is a group.
    chunks: divide the values of the column, in order, into this many consecutive groups of about
        equal size; items with the same value stay together.
    smallest: groups of fewer items are left out, and the report says so.
    train_size, test_size: draw this many random items of a training set (all, if there are fewer)
        or of a group, `train_repeats` and `test_repeats` times; None: all of them, once. Groups of
        fewer than test_size items are left out as well.
    positive: the class that p_train and p_test refer to if there are two (default: the last).

    Degree as in prior shift. `group_auc`, which experiments measure, is a second degree: how well
    a classifier separates the sample from the training items (AUC).

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
        codes, names = self._groups(categories)
        labels = column(y)
        same_length(labels, codes)
        sizes = np.bincount(codes[codes >= 0], minlength=len(names))
        smallest = max(whole_number("smallest", self.smallest), self.test_size or 1)
        large = [k for k in range(len(names)) if sizes[k] >= smallest]
        too_small = tuple(names[k] for k in range(len(names)) if 0 < sizes[k] < smallest)
        large_names = tuple(names[k] for k in large)
        sides = self._sides(large_names)
        if not sides:
            source = f"column {self.by!r}" if self.by else "the categories"
            needed = 1 + whole_number("ahead", self.ahead) if self.design == "forward" else 2
            raise DataError(
                f"{source}: {len(large)} of {len(large) + len(too_small)} groups have {smallest} "
                f"items or more, and {needed} are needed; use another column or a lower smallest"
            )
        counts = self._class_counts(labels, codes, large)
        trainable = [s for s in sides if counts[list(s.train)].sum(axis=0).min() >= FEWEST_OF_CLASS]
        if not trainable:
            raise DataError(
                f"no training set of the groups has {FEWEST_OF_CLASS} items of every class; use "
                'another column, or design="leave-one-out", which trains on more groups'
            )
        untrained = tuple(side.name for side in sides if side not in trainable)
        return dataclasses.replace(
            self, survey=Survey(large_names, too_small, tuple(trainable), untrained)
        )

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
        assert protocol.survey is not None
        accepted = {*TRAIN_COORDINATES, GROUP_TRAIN.name}
        train_coordinates = checked_coordinates(train or {}, accepted, protocol._width(y))
        side = protocol._side(train_coordinates.get("group_train"))
        if side is None and "group_train" in train_coordinates:
            raise UserError(
                f"no training set at ({shown_coordinates(train_coordinates)}); use one of "
                "training_points()"
            )
        tests = range(len(protocol.survey.names)) if side is None else side.tests
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

    def _groups(self, categories: ArrayLike | None) -> tuple[Codes, list[str]]:
        """The group of every item, -1 if it has none, and the names of the groups, in order."""
        if categories is None:
            raise DataError("groups are missing: give the group of every item as categories")
        values, codes = np.unique(column(categories, name="groups"), return_inverse=True)
        names = [str(value) for value in values.tolist()]
        if self.category_names is not None:
            names = [self.category_names[code] for code in values.tolist()]
        names = [name if name == NO_NAME else _period(name, self.every) for name in names]
        ordered = sorted({name for name in names if name != NO_NAME}, key=_order(names))
        code_of = {name: k for k, name in enumerate(ordered)}
        groups = np.array([code_of.get(name, -1) for name in names])[codes]
        if self.chunks is None:
            return groups, ordered
        return _chunked(groups, ordered, whole_number("chunks", self.chunks, least=2))

    def _sides(self, groups: Sequence[str]) -> list[Side]:
        names, every = [_short(name) for name in groups], range(len(groups))
        if self.design == "forward":
            ahead = whole_number("ahead", self.ahead)
            return [
                Side(
                    f"up to {names[k]}",
                    tuple(range(k + 1)),
                    tuple(range(k + 1, k + 1 + ahead)),
                )
                for k in range(len(names) - ahead)
            ]
        if len(names) < 2:
            return []
        others = {k: tuple(other for other in every if other != k) for k in every}
        if self.design == "one-to-others":
            return [Side(names[k], (k,), others[k]) for k in every]
        if self.design == "leave-one-out":
            return [Side(f"all but {names[k]}", others[k], (k,)) for k in every]
        raise UserError(
            f"design={self.design!r} is not one of leave-one-out, one-to-others, forward"
        )

    def _class_counts(
        self, labels: NDArray[Any], groups: Codes, large: Sequence[int]
    ) -> NDArray[np.int64]:
        """Items of every class in the large groups, (n_groups, n_classes)."""
        classes = range(self.n_classes) if self.n_classes is not None else np.unique(labels)
        codes = encode_labels(labels, classes=classes)[1]
        return np.stack([np.bincount(codes[groups == k], minlength=len(classes)) for k in large])

    def _side(self, name: Any) -> Side | None:
        assert self.survey is not None
        return next((side for side in self.survey.sides if side.name == name), None)

    def _members(
        self,
        groups: Sequence[int],
        categories: ArrayLike | None,
        pool: ArrayLike | None,
    ) -> Indices:
        """Positions of the items of some groups, ascending."""
        assert self.survey is not None
        codes, names = self._groups(categories)
        chosen = [names.index(self.survey.names[k]) for k in groups]
        inside = np.isin(codes, chosen)
        if pool is not None:
            allowed = np.zeros(len(codes), dtype=bool)
            allowed[checked_pool(pool, len(codes))] = True
            inside &= allowed
        rows = np.flatnonzero(inside)
        if not rows.size:
            listed = ", ".join(self.survey.names[k] for k in groups)
            raise DataError(f"the pool has no items of the groups {listed}; pass a larger pool")
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
        assert self.survey is not None
        labels = column(y)
        for test in tests:
            members = self._members([test], categories, pool)
            name = self.survey.names[test]
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


def _chunked(groups: Codes, names: Sequence[str], n_chunks: int) -> tuple[Codes, list[str]]:
    """Consecutive groups merged into chunks of about equal size, named by what they span."""
    sizes = np.bincount(groups[groups >= 0], minlength=len(names))
    before = np.cumsum(sizes) - sizes
    chunk = np.unique(before * n_chunks // max(int(sizes.sum()), 1), return_inverse=True)[1]
    joined: list[str] = []
    for k in range(int(chunk.max(initial=-1)) + 1):
        first, last = np.flatnonzero(chunk == k)[[0, -1]]
        joined.append(names[first] if first == last else f"{names[first]} to {names[last]}")
    # The last entry is for items without a group.
    return np.append(chunk, -1)[groups], joined


def _short(name: str) -> str:
    """A name short enough for a folder: long ones are cut, and a hash keeps them unique."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}~{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _listed(names: Sequence[str]) -> str:
    if len(names) <= SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"


def _order(names: Sequence[str]) -> Any:
    """The sort key of names: numbers by value, everything else (ISO dates too) alphabetically."""
    try:
        for name in names:
            if name != NO_NAME and not math.isfinite(float(name)):
                return str
    except ValueError:
        return str
    return float


def _period(name: str, every: str) -> str:
    """The day, week, month, quarter or year of a date, named so that names sort in time."""
    if not every:
        return name
    try:
        day = datetime.date.fromisoformat(name[:10])
    except ValueError:
        raise DataError(
            f"{name!r} is not a date (YYYY-MM-DD), so it has no {every}; leave out every, or use "
            "another column"
        ) from None
    year, week, _ = day.isocalendar()
    return {
        "day": day.isoformat(),
        "week": f"{year:04}-W{week:02}",
        "month": f"{day:%Y-%m}",
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04}",
    }[every]
