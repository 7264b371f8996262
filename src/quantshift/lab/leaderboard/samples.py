"""The samples behind each number: true and estimated prevalences, limited to what a page can hold.

For every kind of shift on a data set, the same samples are kept for all methods, evenly spaced over
training sets and samples. With two classes the positive one is kept; with more, one class of each
sample, in rotation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

MOST_POINTS = 200
"""Largest number of samples behind one number."""

MOST_VALUES = 1_500_000
"""Values on the whole page, two characters each; with many methods a number has fewer samples."""

STEPS = 4094
"""Prevalences are rounded to multiples of 1 / STEPS, which is finer than a chart can show."""

LACKING = 4095
"""Code for a missing estimate."""

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True)
class SamplePoints:
    """Samples of one kind of shift on one data set, packed by `pack`; `estimated` is by method."""

    true: str
    classes: tuple[int, ...]
    estimated: Mapping[str, str]


def points_of(rows: pl.DataFrame, methods: Sequence[str], most: int) -> SamplePoints:
    """The points of rows from one part of an experiment and one data set."""
    samples = (
        rows.select("cell", "sample", "p_true").unique(["cell", "sample"]).sort("cell", "sample")
    )
    chosen = np.unique(np.linspace(0, len(samples) - 1, min(most, len(samples))).round())
    selected = samples[chosen.astype(np.int64).tolist()]
    n_classes = len(selected["p_true"][0])
    classes = (
        (np.arange(len(selected)) % n_classes)
        if n_classes > 2
        else np.ones(len(selected), np.int64)
    )
    selected = selected.with_columns(
        place=pl.int_range(pl.len()), at=pl.Series(classes.astype(np.int64))
    )
    estimates = rows.select("cell", "sample", "method", "p_hat").join(
        selected.select("cell", "sample", "place", "at"), on=["cell", "sample"]
    )
    estimates = estimates.with_columns(value=pl.col("p_hat").list.get(pl.col("at")))
    packed = {}
    for (method,), rows_of_method in estimates.group_by("method"):
        codes = np.full(len(selected), LACKING)
        codes[rows_of_method["place"].to_numpy()] = _codes(rows_of_method["value"].to_numpy())
        packed[str(method)] = pack(codes)
    true = selected.select(pl.col("p_true").list.get(pl.col("at")))["p_true"].to_numpy()
    return SamplePoints(
        pack(_codes(true)),
        tuple(classes.tolist()) if n_classes > 2 else (),
        {name: packed[name] for name in methods if name in packed},
    )


def points_per_number(n_numbers: int) -> int:
    """How many samples to keep for each number, so that the page stays small.

    >>> points_per_number(100), points_per_number(30_000)
    (200, 50)
    """
    return max(1, min(MOST_POINTS, MOST_VALUES // max(n_numbers, 1)))


def pack(codes: NDArray[np.int64]) -> str:
    """Whole numbers below 4096 as text, two characters each.

    >>> pack(np.array([0, 1, 64, 4095]))
    'AAABBA__'
    """
    letters = np.array(list(ALPHABET))
    return "".join(letters[np.stack([codes // 64, codes % 64], axis=1)].ravel())


def _codes(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.asarray((values * STEPS).round().astype(np.int64))
