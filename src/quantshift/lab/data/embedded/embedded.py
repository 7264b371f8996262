"""Data sets that come with the package: they are used by name and need no download.

Four come from scikit-learn; the others are generated, the same on every machine. All are tables, so
that scaling and encoding are fitted on every training set.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from quantshift.base.seeding import generator
from quantshift.errors import unknown_name
from quantshift.lab.data.embedded.customers import CLASSES
from quantshift.lab.data.embedded.mixed_columns import mixed_table
from quantshift.lab.data.sets.content import Content

FRIED_ITEMS, FRIED_BINS, FRIED_RANGE = 40_768, 10, (-0.523, 30.054)
WAVEFORM_ITEMS = 5_000


@dataclass(frozen=True)
class EmbeddedSet:
    """An embedded data set: its entry in a list, and the function that creates its content.

    items, classes, categories  the number of each
    about                       a description of one line
    label, category             the names of its label and category columns
    caution                     what readers of comparisons on it must know; empty: nothing
    """

    name: str
    items: int
    classes: int
    about: str
    make: Callable[[], Content]
    label: str = "class"
    category: str | None = None
    categories: int = 0
    caution: str = ""


def embedded_set(name: str) -> EmbeddedSet:
    """The embedded data set of this name."""
    if name not in EMBEDDED:
        raise unknown_name("embedded data set", name, EMBEDDED)
    return EMBEDDED[name]


def _of_scikit_learn(loader: str) -> Content:
    from sklearn import datasets

    bunch = getattr(datasets, loader)()
    labels = bunch.target if loader == "load_digits" else bunch.target_names[bunch.target]
    names = [str(name).replace(" (cm)", "") for name in bunch.feature_names]
    return Content(
        labels=pl.Series("label", labels.tolist()),
        classes=tuple(np.unique(labels).tolist()),
        columns=_numbers(names, bunch.data),
    )


def _fried() -> Content:
    """Friedman's first function of five of ten uniform numbers, with noise, in ten equal bins.

    J. H. Friedman, "Multivariate adaptive regression splines", Annals of Statistics 19 (1991).
    """
    rng = generator(0, data="fried")
    x = rng.random((FRIED_ITEMS, 10))
    noise = rng.standard_normal(FRIED_ITEMS)
    waves = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    target = waves + 10 * x[:, 3] + 5 * x[:, 4] + noise
    low, high = FRIED_RANGE
    bins = np.floor((target - low) * (FRIED_BINS / (high - low))).astype(np.int64)
    return Content(
        labels=pl.Series("label", np.clip(bins, 0, FRIED_BINS - 1)),
        classes=tuple(range(FRIED_BINS)),
        ordinal=True,
        columns=_numbers([f"x{k + 1}" for k in range(10)], x),
    )


def _waveform() -> Content:
    """Mixtures of two of three triangular waves at 21 points, with noise; one pair per class.

    L. Breiman and others, *Classification and Regression Trees* (1984), section 2.6.1.
    """
    rng = generator(0, data="waveform")
    points = np.arange(1, 22)
    waves = np.array([np.maximum(6 - np.abs(points - peak), 0.0) for peak in (11, 15, 7)])
    labels = rng.integers(3, size=WAVEFORM_ITEMS)
    first, second = np.array([(0, 1), (0, 2), (1, 2)])[labels].T
    weight = rng.random((WAVEFORM_ITEMS, 1))
    clean = weight * waves[first] + (1 - weight) * waves[second]
    x = np.round(clean + rng.standard_normal(clean.shape), 4)
    return Content(
        labels=pl.Series("label", labels),
        classes=(0, 1, 2),
        columns=_numbers([f"x{point}" for point in points], x),
    )


def _mixed_table() -> Content:
    table = mixed_table()
    sites, dates = (pl.Series(values.tolist()) for values in (table.sites, table.dates))
    return Content(
        labels=pl.Series("label", table.labels.tolist()),
        classes=CLASSES,
        categories=sites,
        groups={"site": sites, "date": dates},
        columns=table.columns,
    )


def _numbers(names: list[str], matrix: Any) -> pl.DataFrame:
    return pl.DataFrame(dict(zip(names, np.asarray(matrix, dtype=np.float64).T, strict=True)))


EMBEDDED: Mapping[str, EmbeddedSet] = MappingProxyType(
    {
        data_set.name: data_set
        for data_set in (
            EmbeddedSet(
                "breast-cancer",
                569,
                2,
                "Wisconsin breast cancer (scikit-learn): 30 numbers",
                partial(_of_scikit_learn, "load_breast_cancer"),
            ),
            EmbeddedSet(
                "digits",
                1797,
                10,
                "handwritten digits of 8 x 8 pixels (scikit-learn): 64 numbers",
                partial(_of_scikit_learn, "load_digits"),
                label="digit",
            ),
            EmbeddedSet(
                "fried",
                FRIED_ITEMS,
                FRIED_BINS,
                "Friedman's first function with noise in 10 bins: 10 numbers, ordered classes",
                _fried,
                label="bin",
            ),
            EmbeddedSet(
                "iris",
                150,
                3,
                "Fisher's iris (scikit-learn): 4 numbers",
                partial(_of_scikit_learn, "load_iris"),
                label="species",
            ),
            EmbeddedSet(
                "mixed-table",
                12_000,
                2,
                "synthetic customers, known P(y | x): mixed columns, missing values, groups site "
                "and date",
                _mixed_table,
                label="left",
                category="site",
                categories=6,
                caution="mixed-table is synthetic. Its sites and dates differ in their columns "
                "only: P(y | x) is fixed, so that PCC wins between them by construction",
            ),
            EmbeddedSet(
                "waveform",
                WAVEFORM_ITEMS,
                3,
                "Breiman's noisy mixtures of waves: 21 numbers",
                _waveform,
            ),
            EmbeddedSet(
                "wine",
                178,
                3,
                "wine cultivars (scikit-learn): 13 numbers",
                partial(_of_scikit_learn, "load_wine"),
                label="cultivar",
            ),
        )
    }
)
"""The embedded data sets by name."""
