"""The interface of protocols: draws, the coordinates that name them, and words for reports.

A protocol determines the training sets and test samples. It works with positions in the user's
arrays, never with features or quantifiers, and it declares the coordinates of its draws, their
names in reports, and what must not be averaged together. Engine, store, tables and page work from
these declarations, so that a new protocol is a single class in a single file.
"""

import abc
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Indices, Prevalences
from quantshift.errors import DataError
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.prevalence.labels import encode_labels
from quantshift.prevalence.simplex import from_codes
from quantshift.prevalence.weights import Weights

BOUND = {"bound": True}
"""Metadata of a field that `bind` fills in: neither an option nor part of a signature."""


@dataclass(frozen=True)
class Words:
    """How reports describe a protocol.

    title         of its tables and sections
    degree        definition of the degree of shift; may contain TeX between dollar signs
    digits        decimals of the degree
    facets        title of each facet
    tables_by     one table for each value of this coordinate
    columns_by    a group of columns for each value of this coordinate, or of "facet"
    shaded_facet  the facet whose columns are grey
    note          a sentence below the tables
    summary       a sentence on what changes, for the page
    """

    title: str
    degree: str
    digits: int = 2
    facets: Mapping[str, str] = dataclasses.field(default_factory=dict)
    tables_by: str | None = None
    columns_by: str | None = None
    shaded_facet: str | None = None
    note: str = ""
    summary: str = ""

    def as_json(self) -> dict[str, Any]:
        """The words as plain JSON values."""
        return {**dataclasses.asdict(self), "facets": dict(self.facets)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The words from the output of `as_json`."""
        return cls(**values)


@dataclass(frozen=True, eq=False)
class Draw:
    """One training set or test sample.

    Parameters
    ----------
    indices : array
        Positions in the user's arrays, shape (size,); the order has no meaning, and no index occurs
        twice unless the protocol draws with replacement.
    labels : array, optional
        The labels of those items in the same order; None if they are not known.
    coordinates : dict
        Nominal grid values, e.g. {"p_train": 0.5, "p_test": 0.3, "repeat": 4}.
    degree : float
        Degree of shift from the nominal coordinates, rounded so that equal degrees are equal
        numbers; nan for training sets and if the training side is unknown.
    facet : str
        Samples of different facets must not be averaged together.
    prevalence : array, optional
        True prevalences, if the labels of the items are not known.

    Examples
    --------
    >>> import numpy as np
    >>> draw = Draw(np.array([4, 7]), np.array(["ham", "spam"]), {"p_test": 0.5}, 0.0)
    >>> draw.true_prevalence(["ham", "spam"])
    array([0.5, 0.5])
    """

    indices: Indices
    labels: NDArray[Any] | None
    coordinates: Coordinates
    degree: float
    facet: str = ""
    prevalence: Prevalences | None = None

    def true_prevalence(
        self, classes: ArrayLike, sample_weight: Weights | None = None
    ) -> Prevalences:
        """The share of each class: the given one, otherwise computed from the labels.

        sample_weight: how much each item of the draw counts.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PriorShift
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> protocol = PriorShift(
        ...     train_size=50, test_size=20, train_prevalences=[0.5], train_repeats=1,
        ...     test_prevalences=[0.2, 0.8], test_repeats=2,
        ... )
        >>> [draw.true_prevalence(["ham", "spam"]).tolist() for draw in protocol.samples(y)][:2]
        [[0.8, 0.2], [0.8, 0.2]]
        """
        n_classes = len(np.asarray(classes))
        if self.prevalence is None:
            if self.labels is None:
                raise DataError("a draw has neither labels nor prevalences; give one of them")
            return from_codes(
                encode_labels(self.labels, classes=classes)[1], n_classes, sample_weight
            )
        if len(self.prevalence) != n_classes:
            raise DataError(
                f"a sample has prevalences of {len(self.prevalence)} classes, but there are "
                f"{n_classes}"
            )
        return self.prevalence


@dataclass(frozen=True, eq=False)
class TrainTest:
    """A training set and the test samples that belong to it.

    Parameters
    ----------
    train : Draw
        The training set.
    tests : tuple of Draw
        The samples.

    Examples
    --------
    >>> import numpy as np
    >>> train = Draw(np.array([0, 1]), np.array(["ham", "spam"]), {}, 0.0)
    >>> len(TrainTest(train, (train,)).tests)
    1
    """

    train: Draw
    tests: tuple[Draw, ...]


@dataclass(frozen=True, kw_only=True)
class AbstractProtocol(abc.ABC):
    """A protocol: the training sets, and the test samples that belong to each.

    Most protocols are shifts, defined by groups and numbers of items (`AbstractShift`). One that
    draws in another way derives from this class and implements the abstract methods; the other
    methods have defaults.

    Parameters
    ----------
    seed : int
        The user's seed; every draw derives its own from it and its coordinates.

    Examples
    --------
    >>> from quantshift import GroupShift
    >>> from quantshift.lab.shifts import AbstractProtocol
    >>> isinstance(GroupShift(), AbstractProtocol), GroupShift.changes
    (True, 'whatever changes between groups of the data: regions, hospitals, years')
    """

    name: ClassVar[str]
    """Short name, in the seeds and on the command line."""

    changes: ClassVar[str]
    """What changes and what stays, in one line."""

    needs_categories: ClassVar[bool] = False
    """Whether the shift is between categories of items."""

    needs_two_classes: ClassVar[bool] = False
    """Whether it only works with two classes."""

    from_groups: ClassVar[bool] = False
    """Whether training sets are groups of the data. These are known only from the data
    (`surveyed`), and training sets and samples share no items without any split."""

    cuts_levels: ClassVar[bool] = False
    """Whether labels are ordered levels that the protocol itself turns into two classes."""

    later_options: ClassVar[frozenset[str]] = frozenset()
    """Options that were added later: at their defaults they are not part of a signature, so that
    older results stay valid."""

    seed: int = 0

    @abc.abstractmethod
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The coordinates its draws have, in the order of keys and columns: training side first.

        The number of a training set, `train_repeat`, is not included: all protocols have it.
        """

    @abc.abstractmethod
    def words(self) -> Words:
        """How reports describe it."""

    @abc.abstractmethod
    def count_training_sets(self) -> int:
        """Number of training sets, without listing them."""

    @abc.abstractmethod
    def count_samples(self) -> int | None:
        """Number of test samples of each training set; None if it depends on the data."""

    @abc.abstractmethod
    def training_points(self) -> list[Coordinates]:
        """Coordinates that name each training set, without any data, in the order of the draws.

        Coordinates that depend on the pool (its natural prevalence) are left out.
        """

    @abc.abstractmethod
    def training_set(
        self,
        point: Coordinates,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
    ) -> Draw:
        """The one training set at the point, one of `training_points()`."""

    @abc.abstractmethod
    def samples(
        self,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
        train: Coordinates | None = None,
    ) -> Iterator[Draw]:
        """All test samples of the training set whose draw has the coordinates `train`.

        `pool` restricts what may be drawn; indices always refer to the full arrays.
        """

    def facet(self, coordinates: Coordinates) -> str:
        """The facet; samples of different facets must not be averaged. "" if all can be."""
        return ""

    def group_column(self) -> str:
        """The column of groups used as categories; empty: the categories of the data."""
        return ""

    def surveyed(self, y: ArrayLike, categories: ArrayLike | None) -> Self:
        """The protocol with what depends on the items filled in; most protocols need nothing."""
        return self

    def split_of(self, train: Coordinates) -> int:
        """Which split of the data the training set with these coordinates is drawn from."""
        return 0

    def on_one_split(self) -> Self:
        """The protocol for data that are split already."""
        return self

    def class_order(self, classes: Sequence[Any]) -> tuple[Any, ...]:
        """The classes in the order of their codes; with two classes, the positive one is last."""
        return tuple(_plain(classes))

    def is_for_two_classes(self) -> bool:
        """Whether it only works with two classes, given its options."""
        return self.needs_two_classes

    def drawn_prevalences(self, n_samples: int, n_classes: int, *, seed: int) -> Prevalences | None:
        """New prevalences by the rule of its test samples, (n_samples, n_classes), for validation.

        They depend on `seed` and differ from those of the test samples. None if there is no such
        rule.
        """
        return None

    def check_pools(
        self,
        y: ArrayLike,
        categories: ArrayLike | None,
        *,
        train_pool: ArrayLike | None,
        test_pool: ArrayLike | None,
    ) -> None:
        """Raise an error if a pool is too small for any draw, before the first draw."""
        return

    def bind(
        self,
        classes: Sequence[Any],
        categories: Sequence[Any] | None,
        given: Given | None = None,
    ) -> Self:
        """The same protocol in terms of codes: class k is k, a category is its rank.

        Data that the protocol does not support raise an error. `classes` and `categories` are the
        distinct ones, sorted; codes follow `class_order(classes)`. For a protocol that cuts levels,
        `classes` are the levels, which stay as they are. `given` are the samples that come with the
        data, if any.
        """
        if self.needs_two_classes and len(classes) != 2:
            raise DataError(
                f"{self.name} shift needs two classes, found {len(classes)}: "
                f"{_plain(classes)[:5]}; binarise the labels first"
            )
        if self.needs_categories and categories is None:
            raise DataError(
                f"{self.name} shift is between two categories, but the data have no categories"
            )
        names = None if categories is None else tuple(_plain(categories))
        return self._bound(tuple(_plain(classes)), names, given)

    def _bound(
        self, classes: tuple[Any, ...], categories: tuple[Any, ...] | None, given: Given | None
    ) -> Self:
        """What `bind` returns after its checks."""
        return self

    @classmethod
    def option_fields(cls) -> tuple[dataclasses.Field[Any], ...]:
        """The fields that a user sets: all except the seed and those that `bind` fills in."""
        return tuple(
            item
            for item in dataclasses.fields(cls)
            if item.name != "seed" and item.metadata != BOUND
        )

    def options(self) -> dict[str, Any]:
        """The values of these fields, which determine all draws together with name and seed."""
        return {
            item.name: getattr(self, item.name)
            for item in self.option_fields()
            if item.name not in self.later_options or getattr(self, item.name) != item.default
        }


def _plain(values: Sequence[Any]) -> list[Any]:
    return [value.item() if isinstance(value, np.generic) else value for value in values]
