"""The items an experiment draws from: labels as its protocol wants them, and the two pools."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.corpora.binarise import binarise
from quantshift.errors import DataError
from quantshift.experiments.dataset import Dataset
from quantshift.experiments.spec import Experiment
from quantshift.labels import encode_labels
from quantshift.seeding import generator
from quantshift.shifts.concept import ConceptShift
from quantshift.shifts.sampling import AbstractShift, split_pools
from quantshift.types import Codes, Indices


@dataclass(frozen=True, eq=False)
class Population:
    """Items of a data set that take part in an experiment.

    rows: their positions in the data set; everything else refers to positions in `rows`.
    protocol: the experiment's, speaking of codes instead of the user's names.
    labels: 0 and 1 (the positive class), or ordinal levels for concept shift.
    categories: codes by rank, so that no cell sorts names again.
    """

    rows: Indices
    protocol: AbstractShift
    labels: NDArray[Any]
    categories: Codes | None
    train_pool: Indices
    test_pool: Indices


def population_of(experiment: Experiment, dataset: Dataset) -> Population:
    """Binarise if asked for, split once into a training and a test pool, cut the test pool."""
    protocol = experiment.protocol()
    rows, labels = _labels(experiment, dataset)
    names = categories = None
    if dataset.categories is not None:
        names, categories = encode_labels(dataset.categories[rows], name="categories")
    train_pool, test_pool = split_pools(
        *([labels] if categories is None else [categories, labels]),
        train_share=experiment.data.train_share,
        seed=experiment.seed,
    )
    return Population(
        rows=rows,
        protocol=_in_codes(protocol, names),
        labels=labels,
        categories=categories,
        train_pool=train_pool,
        test_pool=_cut(test_pool, categories, experiment),
    )


def _labels(experiment: Experiment, dataset: Dataset) -> tuple[Indices, NDArray[Any]]:
    protocol, cut = experiment.protocol(), experiment.data.cut_point
    everything = np.arange(len(dataset.labels))
    if isinstance(protocol, ConceptShift):
        return everything, dataset.labels
    if cut is not None:
        labels, kept = binarise(dataset.labels, cut)
        return kept, labels
    classes, codes = encode_labels(dataset.labels)
    if len(classes) != 2:
        raise DataError(
            f"experiment {experiment.name!r} needs two classes, the labels have {len(classes)} "
            f"({', '.join(map(str, classes[:5].tolist()))}); set data.cut_point to binarise "
            "ordered labels, or keep two classes"
        )
    positive = getattr(protocol, "positive", None)
    if positive is not None:
        _, position = encode_labels([positive], classes=classes, name="shift.positive")
        codes = (codes == position[0]).astype(np.int64)
    return everything, codes


def _in_codes(protocol: AbstractShift, categories: NDArray[Any] | None) -> AbstractShift:
    """The protocol with categories by rank; the positive class is the code 1 already."""
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(protocol):
        value = getattr(protocol, field.name)
        if field.name == "positive":
            changes["positive"] = None
        elif field.name in ("category_a", "category_b") and value is not None:
            if categories is None:
                raise DataError(f"shift.{field.name} is {value!r}, but the data have no categories")
            _, code = encode_labels([value], classes=categories, name=f"shift.{field.name}")
            changes[field.name] = int(code[0])
    return dataclasses.replace(protocol, **changes)


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
