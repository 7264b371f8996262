"""Assemble a data set from items, labels and given samples, and count the rows that are used.

Every row of the main file is used or left out for a reason that is counted: it has no label, its
class has too few rows, or it has too many or too few cells. A row without a label that is in a
given sample is used, because the true prevalences of the sample are known. Items of samples in
separate files come after those of the main file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.model_selection import train_test_split

from quantshift.base.types import Codes, Indices
from quantshift.errors import DataError, UserError
from quantshift.lab.data.importing import samples as sampling
from quantshift.lab.data.importing.classes import classes_of, codes_of
from quantshift.lab.data.importing.items import AbstractItems
from quantshift.lab.data.importing.options import ImportOptions
from quantshift.lab.data.sets.content import Content, RowCounts
from quantshift.lab.shifts.parts.given_items import PART, Given
from quantshift.tables.columns.cell_names import names_of
from quantshift.tables.columns.names import NO_NAME
from quantshift.tables.reading import Progress


@dataclass(frozen=True, eq=False)
class SideColumns:
    """The columns other than features: labels, categories and groups of the main file's rows."""

    labels: pl.Series
    categories: pl.Series | None
    groups: Mapping[str, pl.Series] = field(default_factory=dict)

    def check_rows(self, n_rows: int, main: Path) -> None:
        """Refuse columns that do not have one value per row of the main file."""
        columns = {"labels": self.labels, "categories": self.categories, **self.groups}
        for name, column in columns.items():
            if column is not None and len(column) != n_rows:
                raise DataError(
                    f"{main}: {n_rows:,} rows, but {len(column):,} {name}; give one row per item "
                    "in every file"
                )


@dataclass(frozen=True, eq=False)
class MainFile:
    """The main file: its items and their other columns.

    ragged: rows that could not be read. test: rows kept for testing, if the file is split already.
    """

    path: Path
    items: AbstractItems
    side_columns: SideColumns
    ragged: int = 0
    test: Indices | None = None


def assemble(
    main: MainFile, options: ImportOptions, progress: Progress = None
) -> tuple[Content, RowCounts]:
    """The content of the data set, and how its rows were used."""
    samples = _samples(options, len(main.items), main.ragged)
    labels = _without_rare(main.side_columns.labels, options.fewest)
    classes = classes_of(
        labels, f"labels in {main.path.name}", ordinal=options.ordinal, positive=options.positive
    )
    is_used = labels.is_not_null().to_numpy().copy()
    is_used[samples.rows()] = True
    used = np.flatnonzero(is_used)
    parts, sizes = main.items.joined(used, _reported(samples.files, progress))
    n_more = sum(sizes)
    all_labels = _extended(labels[used], n_more)
    positions = samples.positions(np.cumsum(is_used) - 1, len(used), sizes)
    categories = main.side_columns.categories
    content = Content(
        labels=all_labels,
        classes=tuple(classes),
        ordinal=options.ordinal,
        categories=None if categories is None else _names(categories, used, n_more),
        groups={
            name: _names(column, used, n_more) for name, column in main.side_columns.groups.items()
        },
        given=_given(samples.names, positions, all_labels, sorted(classes), options.prevalences),
        test=_test_items(main, used, codes_of(all_labels, classes), options),
        **parts,
    )
    n_unlabelled = int((~is_used & main.side_columns.labels.is_null().to_numpy()).sum())
    left_out = {
        "no label": n_unlabelled,
        f"class of fewer than {options.fewest} rows": len(main.items) - len(used) - n_unlabelled,
        "too many or too few cells": main.ragged,
    }
    reasons = {reason: n_rows for reason, n_rows in left_out.items() if n_rows}
    return content, RowCounts(len(main.items) + main.ragged, len(used), reasons, n_more)


@dataclass(frozen=True, eq=False)
class _Samples:
    """Given samples before the items are joined: rows of the main file, or files."""

    names: tuple[str, ...]
    lists: tuple[Indices, ...] = ()
    files: Mapping[str, Path] = field(default_factory=dict)

    def rows(self) -> Indices:
        return np.unique(np.concatenate([np.empty(0, np.int64), *self.lists]))

    def positions(
        self, main_positions: Indices, n_main: int, sizes: Sequence[int]
    ) -> tuple[Indices, ...]:
        """Positions in the data set of the items of each sample.

        main_positions: those of the rows of the main file, of which n_main are used. sizes: of the
        samples' own files.
        """
        if self.lists:
            return tuple(main_positions[rows] for rows in self.lists)
        ends = n_main + np.cumsum(sizes)
        return tuple(np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True))


def _samples(options: ImportOptions, n_rows: int, ragged: int) -> _Samples:
    if options.samples is None:
        return _Samples(())
    if isinstance(options.samples, Mapping):
        files = {
            f"{part}{PART}{name}": path
            for part, folder in options.samples.items()
            for name, path in sampling.sample_files(folder).items()
        }
        return _Samples(tuple(files), files=files)
    if options.samples.is_dir():
        if options.prevalences is None:
            raise UserError(
                f"{options.samples}: items of samples in a folder have no labels; give the file of "
                "their true prevalences too"
            )
        files = sampling.sample_files(options.samples)
        return _Samples(tuple(files), files=files)
    if ragged:
        raise DataError(
            f"{ragged} rows of the data have too many or too few cells, so the row numbers of the "
            "samples are ambiguous; fix these rows"
        )
    lists = sampling.read_lists(options.samples, n_rows)
    return _Samples(lists.names, lists=lists.rows)


def _given(
    names: tuple[str, ...],
    positions: tuple[Indices, ...],
    labels: pl.Series,
    classes: list[Any],
    truth: Path | Mapping[str, Path] | None,
) -> Given | None:
    if not names:
        return None
    codes = codes_of(labels, classes)
    if isinstance(truth, Mapping):
        rows = []
        for part, path in truth.items():
            sample_names = [
                name.partition(PART)[2] for name in names if name.startswith(f"{part}{PART}")
            ]
            rows.append(sampling.read_prevalences(path, sample_names, classes))
        prevalences = np.concatenate(rows)
    elif truth is not None:
        prevalences = sampling.read_prevalences(truth, names, classes)
    else:
        prevalences = sampling.counted_prevalences(positions, names, codes, len(classes))
    empty = next((name for name, rows in zip(names, positions, strict=True) if not len(rows)), None)
    if empty is not None:
        raise DataError(f"sample {empty!r} has no items; leave it out")
    is_train = codes >= 0
    is_train[np.concatenate(positions)] = False
    missing = [classes[k] for k in range(len(classes)) if not (codes[is_train] == k).any()]
    if missing:
        raise DataError(
            f"no item of class {missing[0]!r} is left to train on: all that have its label are in "
            "the samples"
        )
    return Given(np.flatnonzero(is_train), positions, prevalences, names)


def _test_items(
    main: MainFile, used: Indices, codes: Codes, options: ImportOptions
) -> Indices | None:
    """Positions of the items kept for testing: those of the file, or a share of every class."""
    if main.test is not None:
        return np.flatnonzero(np.isin(used, main.test))
    return _split(codes, options) if options.test_share else None


def _split(codes: Codes, options: ImportOptions) -> Indices:
    """Positions of the test items, the same share of every class.

    The split is scikit-learn's, so that results are comparable with published ones: studies split
    tables with its `train_test_split`, stratified, with seed 0.
    """
    train_share = 1 - options.test_share
    if options.max_train and int(len(codes) * train_share) > options.max_train:
        train_share = options.max_train / len(codes)
    try:
        _, test = train_test_split(
            np.arange(len(codes)),
            train_size=train_share,
            stratify=codes,
            random_state=options.split_seed,
        )
    except ValueError:  # for a class with one item, or fewer items than classes
        raise DataError(
            "the split leaves no item of some class to train on or to test; leave out rare classes",
            arguments=["fewest"],
        ) from None
    return np.sort(test)


def _reported(files: Mapping[str, Path], progress: Progress) -> Iterator[Path]:
    for number, path in enumerate(files.values()):
        if progress is not None:
            progress("reading samples", number, len(files))
        yield path


def _without_rare(labels: pl.Series, fewest: int) -> pl.Series:
    """The labels, with null in place of classes with fewer rows."""
    if not fewest:
        return labels
    counts = labels.drop_nulls().value_counts(name="rows").filter(pl.col("rows") >= fewest)
    if not len(counts):
        raise DataError(f"no class has {fewest:,} rows; lower the limit", arguments=["fewest"])
    return labels.set(~labels.is_in(counts[labels.name].to_list()), None)


def _extended(column: pl.Series, n_more: int) -> pl.Series:
    return column.extend_constant(None, n_more) if n_more else column


def _names(column: pl.Series, rows: Indices, n_more: int) -> pl.Series:
    return _extended(names_of(column)[rows], n_more).fill_null(NO_NAME)
