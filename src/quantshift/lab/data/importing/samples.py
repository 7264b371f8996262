"""Samples that come with the data: lists of rows or a file each, and their true prevalences."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quantshift.base.types import Codes, Indices, Prevalences
from quantshift.errors import DataError
from quantshift.lab.data.importing.arrays import MATRIX_ENDINGS, is_table, number_matrix
from quantshift.prevalence import simplex
from quantshift.tables.columns.cell_names import names_of
from quantshift.tables.columns.kinds import (
    typed,
)
from quantshift.tables.columns.names import in_order
from quantshift.tables.reading import read_frame

SAMPLE, ROW = "sample", "row"
"""The columns of a list of samples."""

SUM_TOLERANCE = 1e-3
"""True prevalences whose sum is this close to one count as rounded; others are refused."""


@dataclass(frozen=True, eq=False)
class SampleLists:
    """Samples as rows of the main file, from 0."""

    names: tuple[str, ...]
    rows: tuple[Indices, ...]


def read_lists(path: Path, n_rows: int) -> SampleLists:
    """Read a table with a row for every item of every sample: its sample, its row number."""
    table = read_frame(path).whole()
    names, rows = names_of(table.require(SAMPLE)), typed(table.require(ROW))
    if names.null_count() or rows.null_count() or not rows.dtype.is_integer():
        raise DataError(
            f"{path}: every row needs a {SAMPLE!r} and, as {ROW!r}, the number of a row of the "
            "data, counted from 0 without the header"
        )
    wrong = rows.filter((rows < 0) | (rows >= n_rows))
    if len(wrong):
        raise DataError(
            f"{path}: {ROW} {wrong[0]} is not among the {n_rows:,} rows of the data (0 is the "
            "first below the header)"
        )
    if not len(rows):
        raise DataError(f"{path}: the table has no rows; list the items of the samples")
    parts = pl.DataFrame({SAMPLE: names, ROW: rows.cast(pl.Int64)}).partition_by(
        SAMPLE, as_dict=True, maintain_order=True
    )
    rows_of = {str(key[0]): part[ROW].to_numpy() for key, part in parts.items()}
    ordered = in_order(rows_of)
    return SampleLists(ordered, tuple(rows_of[name] for name in ordered))


def sample_files(folder: Path) -> dict[str, Path]:
    """The files of a folder by the name of their sample, in numerical or alphabetical order."""
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not (is_table(path) or path.suffix in MATRIX_ENDINGS):
            continue
        name = path.name.split(".")[0]
        if name in files:
            raise DataError(
                f"{folder}: {files[name].name} and {path.name} are the same sample; remove one"
            )
        files[name] = path
    if not files:
        raise DataError(f"{folder}: no tables or arrays in it; give one file per sample")
    return {name: files[name] for name in in_order(files)}


def read_prevalences(path: Path, names: Sequence[str], classes: Sequence[Any]) -> Prevalences:
    """True prevalences of the samples, (n_samples, n_classes), in the order of both.

    A table: the first column names the sample, the others are named after the classes.
    """
    table = read_frame(path).whole().columns
    first, *columns = table.columns
    class_names = [str(name) for name in classes]
    if set(columns) != set(class_names):
        raise DataError(
            f"{path}: the columns after the first are {', '.join(columns[:10])}, but the classes "
            f"are {', '.join(class_names[:10])}; name one column after each class"
        )
    row_of_sample = {str(name): row for row, name in enumerate(names_of(table[first]))}
    if len(row_of_sample) != len(table):
        raise DataError(f"{path}: a sample occurs twice; give one row per sample")
    for required, available, where in (
        (names, row_of_sample, "this file"),
        (row_of_sample, set(names), "the samples"),
    ):
        missing = next((name for name in required if name not in available), None)
        if missing is not None:
            raise DataError(
                f"{path}: sample {missing!r} is not in {where}; give one row per sample"
            )
    values = number_matrix(table.select(class_names), path)[[row_of_sample[name] for name in names]]
    sums = values.sum(axis=1)
    bad = np.flatnonzero((np.abs(sums - 1) > SUM_TOLERANCE) | (values < 0).any(axis=1))
    if len(bad):
        name, shares = names[bad[0]], values[bad[0]].tolist()[:10]
        raise DataError(f"{path}: the prevalences of sample {name!r} do not sum to 1: {shares}")
    return np.asarray(values / sums[:, np.newaxis])


def counted_prevalences(
    samples: Sequence[Indices], names: Sequence[str], codes: Codes, n: int
) -> Prevalences:
    """The shares of the classes among the items of each sample; a code of -1 means no label."""
    for name, rows in zip(names, samples, strict=True):
        if (codes[rows] < 0).any():
            raise DataError(
                f"sample {name!r} has items without labels: give the true prevalences in a file"
            )
    return np.array([simplex.from_codes(codes[rows], n) for rows in samples])
