"""Samples that come with the data: index lists whose true prevalences are known.

Some data sets (those of the LeQua challenges, a company's weekly batches with a known outcome) have
training items and ready-made samples. Nothing is drawn then except, if requested, smaller training
sets; what changes between training and test is what changed in the data.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Indices, Prevalences
from quantshift.errors import DataError, PoolTooSmallError, UserError
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates
from quantshift.lab.shifts.parts.coordinates import (
    TRAIN_COORDINATES,
    checked_coordinates,
    prevalence_degree,
    prevalence_value,
    prevalence_words,
    prevalences_declared,
    shown_coordinates,
)
from quantshift.lab.shifts.parts.draws import positions
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.lab.shifts.parts.grids import repeated, whole_number
from quantshift.lab.shifts.parts.pools import checked_pool
from quantshift.lab.shifts.parts.strata import positive_code, positive_last
from quantshift.lab.shifts.protocol import BOUND, AbstractProtocol, Draw, Words
from quantshift.prevalence import simplex
from quantshift.prevalence.labels import column, encode_labels

SAMPLE = Coordinate("given", "test", "string", "sample")


@final
@dataclass(frozen=True, kw_only=True)
class GivenSamples(AbstractProtocol):
    """Given samples (index lists that come with the data, with their true prevalences).

    The training set is all training items of the data, or `train_size` of them drawn at random
    (all, if there are fewer), `train_repeats` times. A sample is identified by its name, the
    coordinate "given"; the labels of its items need not be known. Degree as in prior shift.
    `positive` is the class that p_train and p_test refer to if there are two (default: the last).
    `given` is filled in by `bind` in an experiment, or by the user. `part` selects the samples of a
    part, e.g. "dev" or "test" (default: all).

    Parameters
    ----------
    seed : int
        Seed of all draws.
    train_size : int, optional
        Items of a training set.
    train_repeats : int
        Draws at each point of the training grid.
    positive : class label, optional
        The class that prevalences refer to if there are two; by default the last.
    part : str, optional
        The part whose samples are drawn, such as "dev" or "test"; by default all.
    given : Given, optional
        The samples; filled in by an experiment.
    n_classes : int, optional
        Filled in by an experiment.

    Examples
    --------
    >>> GivenSamples(part="test").changes
    "whatever changed between the data's training items and their samples"
    """

    name: ClassVar[str] = "given"
    changes: ClassVar[str] = "whatever changed between the data's training items and their samples"
    later_options: ClassVar[frozenset[str]] = frozenset({"part"})

    train_size: int | None = None
    train_repeats: int = 1
    positive: Any = None
    part: str | None = None
    given: Given | None = dataclasses.field(default=None, repr=False, metadata=BOUND)
    n_classes: int | None = dataclasses.field(default=None, metadata=BOUND)

    def coordinates(self) -> tuple[Coordinate, ...]:
        """The prevalences, and the name of the sample."""
        return (*prevalences_declared(self._width()), SAMPLE)

    def words(self) -> Words:
        """The degree as in prior shift."""
        return Words("Given samples", prevalence_words(self._width()), digits=1)

    def count_training_sets(self) -> int:
        """Number of training sets: one, or `train_repeats` if they are drawn."""
        repeats = whole_number("train_repeats", self.train_repeats)
        if self.train_size is None:
            if repeats > 1:
                raise UserError(
                    f"train_repeats={repeats} would repeat one training set; set train_size"
                )
        else:
            whole_number("train_size", self.train_size)
        return repeats

    def count_samples(self) -> int | None:
        """Number of given samples; None if there are no data yet."""
        return None if self.given is None else len(self._chosen(self.given).samples)

    def training_points(self) -> list[Coordinates]:
        """Numbers of the training sets."""
        return repeated([{}], "train_repeat", self.count_training_sets())

    def training_set(
        self,
        point: Coordinates,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
    ) -> Draw:
        """All training items, or those drawn with the repeat number of the point."""
        requested = checked_coordinates(point, TRAIN_COORDINATES, self._width())
        repeat: Any = requested.get("train_repeat")
        if repeat not in range(self.count_training_sets()):
            raise UserError(
                f"no training set at ({shown_coordinates(point)}); use one of training_points()"
            )
        train, labels, shares = self._training_items(y, pool)
        coordinates = {"p_train": prevalence_value(shares), "train_repeat": repeat}
        chosen = np.arange(train.size)
        if self.train_size is not None and self.train_size < train.size:
            draw = positions([self.train_size], [train.size], replace=False)
            rng = generator(self.seed, shift=self.name, side="train", train_repeat=repeat)
            chosen = draw(rng)
        return Draw(train[chosen], labels[chosen], coordinates, float("nan"))

    def samples(
        self,
        y: ArrayLike,
        categories: ArrayLike | None = None,
        *,
        pool: ArrayLike | None = None,
        train: Coordinates | None = None,
    ) -> Iterator[Draw]:
        """The given samples, in their order; `train` gives the degree of shift."""
        given = self._data(len(np.asarray(y)), pool)
        train_coordinates = checked_coordinates(train or {}, TRAIN_COORDINATES, given.n_classes)
        positive_column = self._positive_column(y)
        return self._draws(given, train_coordinates, positive_column)

    def check_pools(
        self,
        y: ArrayLike,
        categories: ArrayLike | None,
        *,
        train_pool: ArrayLike | None,
        test_pool: ArrayLike | None,
    ) -> None:
        """Raise an error for samples with items outside the pool, or too few training items."""
        self.count_training_sets()
        self._training_items(y, train_pool)
        self._data(len(np.asarray(y)), test_pool)

    def class_order(self, classes: Sequence[Any]) -> tuple[Any, ...]:
        """The classes in the order of their codes; with two classes, the positive one is last."""
        return positive_last(classes, self.positive)

    def _bound(
        self, classes: tuple[Any, ...], categories: tuple[Any, ...] | None, given: Given | None
    ) -> Self:
        samples = self.given if given is None else given
        if samples is None:
            raise DataError("the data have no given samples; use another protocol, e.g. prior")
        samples = self._chosen(samples)
        samples.check()
        if samples.n_classes != len(classes):
            raise DataError(
                f"the given samples have prevalences of {samples.n_classes} classes, the labels "
                f"have {len(classes)}: {list(classes[:5])}"
            )
        columns = [sorted(classes).index(label) for label in self.class_order(classes)]
        ordered = dataclasses.replace(samples, prevalences=samples.prevalences[:, columns])
        return dataclasses.replace(
            self, positive=None, part=None, given=ordered, n_classes=len(classes)
        )

    def _chosen(self, given: Given) -> Given:
        return given if self.part is None else given.of_part(self.part)

    def _width(self) -> int:
        return 2 if self.given is None else self.given.n_classes

    def _data(self, n_items: int, pool: ArrayLike | None = None) -> Given:
        if self.given is None:
            raise UserError("GivenSamples has no samples yet; pass given=Given(...)")
        given = self._chosen(self.given)
        given.check(n_items)
        if pool is not None:
            inside = np.zeros(n_items, dtype=np.bool_)
            inside[checked_pool(pool, n_items)] = True
            for name, sample in zip(given.names, given.samples, strict=True):
                if not inside[sample].all():
                    raise DataError(
                        f"sample {name!r} has items outside the pool; given samples are used "
                        "whole, so pass a pool that contains all their items"
                    )
        return given

    def _training_items(
        self, y: ArrayLike, pool: ArrayLike | None
    ) -> tuple[Indices, NDArray[Any], Prevalences]:
        """Positions and labels of the training items in the pool, and the share of each class."""
        everything = _objects(y)
        given = self._data(len(everything))
        train = np.sort(given.train)
        if pool is not None:
            train = np.intersect1d(train, checked_pool(pool, len(everything)))
        if not train.size:
            raise PoolTooSmallError("given samples: there are no training items")
        if self.train_repeats > 1 and train.size <= (self.train_size or 0):
            raise PoolTooSmallError(
                f"given samples: there are {train.size} training items, so train_repeats="
                f"{self.train_repeats} would repeat one training set; ask for a train_size below "
                f"{train.size}"
            )
        labels = column(everything[train])
        order = self._classes(labels)
        codes = encode_labels(labels, classes=order)[1]
        return train, labels, simplex.from_codes(codes, len(order))

    def _classes(self, labels: NDArray[Any]) -> tuple[Any, ...]:
        """The classes, with the positive one of two last; once bound, they are codes."""
        if self.n_classes is not None:
            return tuple(range(self.n_classes))
        classes = np.unique(labels).tolist()
        if len(classes) != self._width():
            raise DataError(
                f"the given samples have prevalences of {self._width()} classes, the training "
                f"items have {len(classes)}: {classes[:5]}"
            )
        return self.class_order(classes)

    def _positive_column(self, y: ArrayLike) -> int:
        """Which of the two columns of true prevalences belongs to the positive class."""
        if self.positive is None or self.given is None:
            return -1
        classes = np.unique(column(_objects(y)[self.given.train])).tolist()
        return positive_code(classes, self.positive)

    def _draws(self, given: Given, train: Coordinates, positive_column: int) -> Iterator[Draw]:
        for name, sample, truth in zip(given.names, given.samples, given.prevalences, strict=True):
            p_test = truth if len(truth) > 2 else simplex.of_positive(truth[positive_column])
            point = {**train, "p_test": prevalence_value(p_test), "given": name}
            yield Draw(
                indices=np.asarray(sample, dtype=np.int64),
                labels=None,
                coordinates=point,
                degree=prevalence_degree(point),
                prevalence=truth,
            )


def _objects(y: ArrayLike) -> NDArray[Any]:
    # Lists become object arrays, because items of samples may have None as their label.
    return np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
