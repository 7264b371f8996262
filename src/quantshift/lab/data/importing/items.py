"""Items in the user's files: rows of columns, texts, a matrix or posteriors.

Given samples may have their own files, of the same form as the main one; their items are appended
to those of the main file.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from quantshift.base.storage.files import disk_errors
from quantshift.base.types import Indices
from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError
from quantshift.lab.data.importing.arrays import (
    is_table,
    matrix_table,
    number_matrix,
    plain_numbers,
    read_matrix,
)
from quantshift.lab.data.sets.matrix_file import MatrixFile
from quantshift.tables.columns.kinds import Column, check_kinds, prepared
from quantshift.tables.reading import Frame, Progress, read_frame


class AbstractItems(ABC):
    """The items of a main file."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def joined(self, rows: Indices, files: Iterable[Path]) -> tuple[dict[str, Any], list[int]]:
        """The items at `rows`, then those of the files, as fields of a `Content`; the files' sizes.

        Files are read one after another, as the iterable yields them.
        """


@dataclass(frozen=True, eq=False)
class FeatureItems(AbstractItems):
    """Rows of a table; the features are those of the main file."""

    frame: Frame
    features: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.frame.columns)

    def joined(self, rows: Indices, files: Iterable[Path]) -> tuple[dict[str, Any], list[int]]:
        """Columns of numbers, booleans and strings."""
        names = [feature.name for feature in self.features]
        parts = [prepared(self.frame.columns.select(names)[rows], self.features)]
        for frame in _tables(files, names):
            check_kinds(frame.columns, self.features, frame.name)
            parts.append(prepared(frame.columns, self.features))
        return {"columns": pl.concat(parts)}, [len(part) for part in parts[1:]]


@dataclass(frozen=True, eq=False)
class TextItems(AbstractItems):
    """Texts in a column of a table; a missing one is empty."""

    frame: Frame
    column: str

    def __len__(self) -> int:
        return len(self.frame.columns)

    def joined(self, rows: Indices, files: Iterable[Path]) -> tuple[dict[str, Any], list[int]]:
        """The texts, unchanged."""
        main = self._texts(self.frame)[rows]
        sample_parts = [self._texts(frame) for frame in _tables(files, [self.column])]
        return {"texts": pl.concat([main, *sample_parts])}, [len(part) for part in sample_parts]

    def _texts(self, frame: Frame) -> pl.Series:
        return frame.require(self.column).cast(pl.String).fill_null("").rename("text")


@dataclass(frozen=True, eq=False)
class MatrixItems(AbstractItems):
    """Rows of a matrix. without: columns of its table that are not features.

    names: the names of the columns, if the samples are tables with the same columns. Such samples
    may be many gigabytes: they are joined in a file in `folder`, mapped into memory, which becomes
    the file of the data set.
    """

    matrix: Any
    without: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    folder: Path = Path()

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def joined(self, rows: Indices, files: Iterable[Path]) -> tuple[dict[str, Any], list[int]]:
        """Dense, or CSR with sorted columns if any part is sparse."""
        if self.names:
            return self._joined_tables(rows, files)
        parts = [self.matrix[rows]]
        for file in files:
            part = read_matrix(file, without=self.without)
            if part.shape[1] != self.matrix.shape[1]:
                raise DataError(
                    f"{file}: {part.shape[1]} columns, but the features have "
                    f"{self.matrix.shape[1]}; give samples the same columns as the features"
                )
            parts.append(part)
        return {"matrix": _stacked(parts)}, [part.shape[0] for part in parts[1:]]

    def _joined_tables(
        self, rows: Indices, files: Iterable[Path]
    ) -> tuple[dict[str, Any], list[int]]:
        sizes: list[int] = []

        def parts() -> Iterator[NDArray[np.float64]]:
            yield self.matrix[rows]
            for file in files:
                part = self._table(file)
                sizes.append(len(part))
                yield part

        with disk_errors(self.folder):
            file = MatrixFile(self.folder, parts(), len(self.names))
        return {"matrix": file.mapped(), "matrix_file": file}, sizes

    def _table(self, file: Path) -> NDArray[np.float64]:
        """The numbers of a sample, whose table has the columns of the main file in any order."""
        plain = plain_numbers(file, self.names)
        if plain is not None:
            return plain
        (frame,) = _tables([file], self.names)
        table = frame.columns.drop(self.without, strict=False)
        if len(table.columns) > len(self.names):
            extra = next(name for name in table.columns if name not in self.names)
            raise DataError(f"{file}: column {extra!r} is not in the training data; remove it")
        return number_matrix(table.select(self.names), file)


@dataclass(frozen=True, eq=False)
class PosteriorItems(AbstractItems):
    """Posteriors of the user's model, a column for each of the sorted classes."""

    posteriors: NDArray[np.float64]
    classes: tuple[Any, ...]
    without: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.posteriors)

    def joined(self, rows: Indices, files: Iterable[Path]) -> tuple[dict[str, Any], list[int]]:
        """Rows that sum to one."""
        sample_parts = [read_posteriors(file, self.classes, without=self.without) for file in files]
        parts = [self.posteriors[rows], *sample_parts]
        return {"posteriors": np.concatenate(parts)}, [len(part) for part in sample_parts]


def read_posteriors(
    path: Path,
    classes: Sequence[Any],
    *,
    name: str | None = None,
    without: Sequence[str] = (),
    progress: Progress = None,
) -> NDArray[np.float64]:
    """Posteriors from a file, a column for each of the sorted classes. name: see `read_matrix`.

    The columns of a table may be named after the classes; otherwise, and in arrays, they are in the
    order of the classes.
    """
    if is_table(path):
        table = matrix_table(path, without=without, progress=progress)
        names = [str(label) for label in classes]
        is_named = set(names) <= set(table.columns)
        matrix = number_matrix(table.select(names) if is_named else table, path)
    else:
        matrix = read_matrix(path, name=name, without=without)
        matrix = matrix.toarray() if issparse(matrix) else matrix
    if matrix.shape[1] != len(classes):
        raise DataError(
            f"{path}: {matrix.shape[1]} columns of posteriors for {len(classes)} classes "
            f"({', '.join(map(str, classes[:10]))}); give one column per class, named after the "
            "class or in this order"
        )
    return check_posteriors(matrix, len(classes))


def _tables(files: Iterable[Path], required: Sequence[str]) -> Iterator[Frame]:
    for file in files:
        frame = read_frame(file)
        if frame.ragged:
            raise DataError(
                f"{file}: {frame.ragged} rows have too many or too few cells; fix them, because a "
                "sample must be complete"
            )
        existing = set(frame.columns.columns)
        for name in required:
            if name not in existing:
                frame.require(name)
        yield frame


def _stacked(parts: Sequence[Any]) -> Any:
    if not any(issparse(part) for part in parts):
        return np.ascontiguousarray(np.concatenate(parts))
    matrix = csr_array(vstack([csr_array(part) for part in parts], format="csr"))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
