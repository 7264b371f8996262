"""The items an experiment draws from: labels in the form its protocol needs, and the two pools."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.lab.data.noise import check_noise_possible
from quantshift.lab.data.sets.dataset import Dataset
from quantshift.lab.data.sources import AbstractSource, open_source
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.shifts.given import GivenSamples
from quantshift.lab.shifts.parts.coordinates import NOISE
from quantshift.lab.shifts.parts.pools import split_pools
from quantshift.lab.shifts.protocol import AbstractProtocol
from quantshift.prevalence.binarisation import binarise
from quantshift.prevalence.labels import encode_labels

UNLABELLED = -1
"""The code of an item whose class is not known; given samples may contain such items."""

MOST_NAMES = 5
"""Largest number of classes that an error names."""


@dataclass(frozen=True, eq=False)
class Population:
    """Items of a data set that take part in an experiment.

    rows: their positions in the data set; everything else refers to positions in `rows`.
    protocol: the experiment's, in terms of codes instead of the user's names.
    classes: names of the classes; the positive one of two is last.
    labels: codes of the classes, or ordered levels where the protocol cuts them itself.
    categories: codes in the order of the sorted names.
    """

    rows: Indices
    protocol: AbstractProtocol
    classes: tuple[str, ...]
    labels: NDArray[Any]
    categories: Codes | None
    train_pool: Indices
    test_pool: Indices

    def check_pools(self) -> None:
        """Raise before the first cell if every cell would fail."""
        self.protocol.check_pools(
            self.labels, self.categories, train_pool=self.train_pool, test_pool=self.test_pool
        )


def open_population(
    experiment: Experiment, source: AbstractSource, *, split: int = 0
) -> Population:
    """The items of a source that take part; cached per process for equal draws.

    split: the number of the split into training and test pool, see `AbstractProtocol.split_of`.
    """
    draws = json.dumps(experiment.draws(), sort_keys=True)
    return _opened(_Drawing(draws, source, experiment.data.cut_point, split, experiment))


@dataclass(frozen=True)
class _Drawing:
    """An experiment as the key of a cache: equal when it draws from the same items."""

    draws: str
    source: AbstractSource
    cut_point: float | str | None
    split: int
    experiment: Experiment = field(compare=False)


@lru_cache(maxsize=8)
def _opened(drawing: _Drawing) -> Population:
    return population_of(drawing.experiment, open_source(drawing.source), split=drawing.split)


def population_of(experiment: Experiment, dataset: Dataset, *, split: int = 0) -> Population:
    """Binarise if requested, split into training and test pool, and limit the latter.

    Split k is that of the experiment with a seed larger by k. A data set that was split when it was
    made has only that split.
    """
    shift = experiment.shift
    if NOISE in shift.coordinates():
        check_noise_possible(dataset)
    rows, labels, own_names, names = _labels(experiment, dataset)
    if shift.is_for_two_classes() and len(names) != 2:
        more = ", ..." if len(names) > MOST_NAMES else ""
        raise DataError(
            f"experiment {experiment.name!r} is for two classes, and {dataset.title} has "
            f"{len(names)} ({', '.join(names[:MOST_NAMES])}{more}); use the suite multiclass or, "
            "if the classes are ordered, ordinal; or set data.cut_point to cut ordered classes in "
            "two"
        )
    categories = codes = None
    column = _categories(experiment, dataset)
    if column is not None:
        category_names, codes = encode_labels(column[rows], name="categories")
        categories = category_names.tolist()
    protocol = _bound(experiment, dataset, own_names, categories).surveyed(labels, codes)
    if dataset.test is not None:
        protocol = protocol.on_one_split()
    train_pool, test_pool = _pools(experiment, dataset, rows, (labels, codes), split)
    if isinstance(protocol, GivenSamples) and protocol.given is not None:
        test_pool = np.unique(np.concatenate(protocol.given.samples))
    return Population(
        rows=rows,
        protocol=protocol,
        classes=names,
        labels=labels,
        categories=codes,
        train_pool=train_pool,
        test_pool=test_pool,
    )


def _categories(experiment: Experiment, dataset: Dataset) -> NDArray[Any] | None:
    """The column that the experiment draws by: the data's categories, or a column of groups."""
    name = experiment.shift.group_column()
    if name:
        if name not in dataset.groups:
            wrong = unknown_name(f"group column of {dataset.title}:", name, dataset.groups)
            raise UserError(f"{wrong}; name it as a group when you import the data set")
        return dataset.groups[name]
    if dataset.categories is None and experiment.shift.needs_categories:
        if experiment.shift.from_groups:
            return _only_group_column(experiment, dataset)
        raise DataError(
            f"experiment {experiment.name!r} is a shift between two categories, and "
            f"{dataset.title} has none; name the column of categories when you import the data set"
        )
    return dataset.categories


def _only_group_column(experiment: Experiment, dataset: Dataset) -> NDArray[Any]:
    if len(dataset.groups) == 1:
        return next(iter(dataset.groups.values()))
    if dataset.groups:
        names = list(dataset.groups)
        raise UserError(
            f"experiment {experiment.name!r} needs one of the group columns of {dataset.title} "
            f"({', '.join(names)}): set shift.by={names[0]}",
            arguments=["overrides"],
        )
    raise DataError(
        f"experiment {experiment.name!r} needs groups, and {dataset.title} has none; name a column "
        "of groups when you import the data set"
    )


def _bound(
    experiment: Experiment,
    dataset: Dataset,
    classes: Sequence[Any],
    categories: Sequence[Any] | None,
) -> AbstractProtocol:
    try:
        return experiment.shift.bind(classes, categories, given=dataset.given)
    except UserError as error:
        advice = "; or set data.cut_point to binarise ordered labels" if len(classes) > 2 else ""
        raise UserError(
            f"experiment {experiment.name!r} on {dataset.title}: {error}{advice}"
        ) from None


def _labels(
    experiment: Experiment, dataset: Dataset
) -> tuple[Indices, NDArray[Any], Sequence[Any], tuple[str, ...]]:
    """Items that take part, and what their labels mean.

    Returns the positions of the items, their codes (or levels), the protocol's names of the classes
    (or levels), and the names of the classes for readers.
    """
    cut = dataset.cut_point if experiment.data.cut_point is None else experiment.data.cut_point
    everything = np.arange(len(dataset.labels))
    if experiment.shift.cuts_levels:
        levels = np.unique(dataset.labels).tolist()
        return everything, dataset.labels, levels, ("below the cut", "above the cut")
    if isinstance(cut, float) and dataset.ordinal:
        codes, rows = binarise(dataset.labels, cut)
        return rows, codes, (0, 1), (f"below {cut:g}", f"above {cut:g}")
    classes = dataset.classes.tolist()
    ordered = experiment.shift.class_order(classes)
    codes = np.full(len(dataset), UNLABELLED)
    codes[dataset.labelled] = encode_labels(
        dataset.labels[dataset.labelled].tolist(), classes=ordered
    )[1]
    if dataset.given is None:
        return dataset.labelled, codes[dataset.labelled], classes, tuple(map(str, ordered))
    return everything, codes, classes, tuple(map(str, ordered))


def _pools(
    experiment: Experiment,
    dataset: Dataset,
    rows: Indices,
    columns: tuple[NDArray[Any], Codes | None],
    split: int,
) -> tuple[Indices, Indices]:
    labels, categories = columns
    given = dataset.given
    if given is not None:
        return given.train, np.unique(np.concatenate(given.samples))
    if experiment.shift.from_groups:
        everything = np.arange(len(labels))
        return everything, everything
    if dataset.test is not None:
        is_test = np.zeros(len(dataset), dtype=np.bool_)
        is_test[dataset.test] = True
        test_pool = np.flatnonzero(is_test[rows])
        return np.flatnonzero(~is_test[rows]), _cut(test_pool, categories, experiment)
    train_pool, test_pool = split_pools(
        *([labels] if categories is None else [categories, labels]),
        train_share=experiment.data.train_share,
        seed=experiment.seed + split,
    )
    return train_pool, _cut(test_pool, categories, experiment)


def _cut(pool: Indices, categories: NDArray[Any] | None, experiment: Experiment) -> Indices:
    limit = experiment.data.max_test_documents
    if not limit or len(pool) <= limit:
        return pool
    groups = [pool]
    if categories is not None:
        groups = [pool[categories[pool] == name] for name in np.unique(categories)]
    share = limit // len(groups)
    chosen = [
        generator(experiment.seed, purpose="test pool", group=number).permutation(group)[:share]
        for number, group in enumerate(groups)
    ]
    return np.sort(np.concatenate(chosen))
