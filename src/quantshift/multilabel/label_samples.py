"""Samples of items in which the shares of labels are known: protocols for several labels.

samples_of_each_label    the share of one label at a time, from 0 to 1
natural_samples          items drawn at random
"""

import numpy as np

from quantshift.base.seeding import generator
from quantshift.base.types import Indices
from quantshift.errors import DataError
from quantshift.multilabel.label_tables import LabelTable
from quantshift.prevalence.weights import Weights


def samples_of_each_label(
    table: LabelTable,
    size: int,
    points: int = 11,
    repeats: int = 1,
    *,
    random_state: int = 0,
    sample_weight: Weights | None = None,
) -> Indices:
    """Samples in which the share of one label is set, for each label and share in turn.

    Items with the label and items without it are drawn at random; all other labels follow. Items
    are repeated where there are too few, and always if they have weights. A label that no item has,
    or that all have, is left out.

    points: shares of a label, evenly spaced from 0 to 1; repeats: samples of each.
    Returns the positions of the items, (n_samples, size).
    """
    drawn = []
    for j, has_label in enumerate(table.has.T):
        sides = np.flatnonzero(has_label), np.flatnonzero(~has_label)
        if min(map(len, sides)) == 0:
            continue
        for point in range(points):
            n_with = round(size * point / (points - 1))
            for repeat in range(repeats):
                rng = generator(
                    random_state, draw="share of a label", label=j, point=point, repeat=repeat
                )
                drawn.append(
                    np.concatenate(
                        [
                            _drawn(rng, side, number, sample_weight)
                            for side, number in zip(sides, (n_with, size - n_with), strict=True)
                        ]
                    )
                )
    if not drawn:
        raise DataError("every label is on all items or on none: no share can be set")
    return np.array(drawn)


def natural_samples(
    n_items: int,
    size: int,
    repeats: int,
    *,
    random_state: int = 0,
    sample_weight: Weights | None = None,
) -> Indices:
    """Samples of items drawn at random, (repeats, size)."""
    rows = np.arange(n_items)
    return np.array(
        [
            _drawn(
                generator(random_state, draw="natural", repeat=repeat), rows, size, sample_weight
            )
            for repeat in range(repeats)
        ]
    )


def _drawn(rng: np.random.Generator, rows: Indices, size: int, weights: Weights | None) -> Indices:
    probabilities = None if weights is None else weights[rows] / weights[rows].sum()
    return rng.choice(rows, size, replace=size > len(rows) or weights is not None, p=probabilities)
