"""What items are made of, in the user's files: columns, texts, a matrix or posteriors.

Given samples may have files of their own, of the same form as the main one; their items are joined
to those of the main file.
"""

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from quantshift.classify.posteriors import check_posteriors
from quantshift.corpora.spool import Spool
from quantshift.data.arrays import is_table, matrix_table, numbers, read_matrix
from quantshift.data.columns import Column, check_kinds, prepared
from quantshift.data.reading import Frame, Progress, read_frame
from quantshift.errors import DataError
from quantshift.files import disk_errors
from quantshift.types import Indices


class AbstractItems(ABC):
    """The items of a main file."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def joined(self, rows: Indices, files: Iterable[Path]) -> tuple[dict[str, Any], list[int]]:
        """The items at `rows`, then those of the files: a part of a `Content`; sizes of the files.

        Files are read one after another, as they are asked for.
        """


@dataclass(frozen=True, eq=False)
class TableItems(AbstractItems):
    """Rows of a table; the features are those of the main file."""

    frame: Frame
    features: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.frame.columns)

    def joined(self, rows: Indices, files: Iterable[Path]) -> tuple[dict[str, Any], list[int]]:
        """Columns of numbers, truth values and words."""
        wanted = [feature.name for feature in self.features]
        parts = [prepared(self.frame.columns.select(wanted)[rows], self.features)]
        for frame in _tables(files, wanted):
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
        """The texts as they stand."""
        main = self._texts(self.frame)[rows]
        more = [self._texts(frame) for frame in _tables(files, [self.column])]
        return {"texts": pl.concat([main, *more])}, [len(part) for part in more]

    def _texts(self, frame: Frame) -> pl.Series:
        return frame.require(self.column).cast(pl.String).fill_null("").rename("text")


@dataclass(frozen=True, eq=False)
class MatrixItems(AbstractItems):
    """Rows of a matrix. without: columns of its table that are no features.

    names: of the columns, if it was a table whose samples are tables with the same columns. Such
    samples may be many gigabytes: they are joined in a temporary file that is mapped into memory.
    """

    matrix: Any
    without: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

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
                    f"{self.matrix.shape[1]}; samples have the columns of the features"
                )
            parts.append(part)
        return {"matrix": _stacked(parts)}, [part.shape[0] for part in parts[1:]]

    def _joined_tables(
        self, rows: Indices, files: Iterable[Path]
    ) -> tuple[dict[str, Any], list[int]]:
        sizes: list[int] = []

        def parts() -> Iterator[bytes]:
            yield self.matrix[rows].tobytes()
            for file in files:
                part = self._table(file)
                sizes.append(len(part))
                yield part.tobytes()

        with disk_errors(Path(tempfile.gettempdir())):
            spool = Spool(parts())
        shape = (len(rows) + sum(sizes), len(self.names))
        return {"matrix": np.memmap(spool.path, np.float64, "r", shape=shape)}, sizes

    def _table(self, file: Path) -> NDArray[np.float64]:
        """The numbers of a sample, whose table has the columns of the main file in any order."""
        (frame,) = _tables([file], self.names)
        table = frame.columns.drop(self.without, strict=False)
        if len(table.columns) > len(self.names):
            more = next(name for name in table.columns if name not in self.names)
            raise DataError(f"{file}: column {more!r} is not in the training data; remove it")
        return numbers(table.select(self.names), file)


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
        more = [read_posteriors(file, self.classes, without=self.without) for file in files]
        parts = [self.posteriors[rows], *more]
        return {"posteriors": np.concatenate(parts)}, [len(part) for part in more]


def read_posteriors(
    path: Path,
    classes: Sequence[Any],
    *,
    without: Sequence[str] = (),
    progress: Progress = None,
) -> NDArray[np.float64]:
    """Posteriors from a file, a column for each of the sorted classes.

    The columns of a table may be named after the classes; other columns, and those of arrays, are
    in their order.
    """
    if is_table(path):
        table = matrix_table(path, without=without, progress=progress)
        names = [str(name) for name in classes]
        named = set(names) <= set(table.columns)
        matrix = numbers(table.select(names) if named else table, path)
    else:
        matrix = read_matrix(path)
        matrix = matrix.toarray() if issparse(matrix) else matrix
    if matrix.shape[1] != len(classes):
        raise DataError(
            f"{path}: {matrix.shape[1]} columns of posteriors for {len(classes)} classes "
            f"({', '.join(map(str, classes[:10]))}); give one column per class, named after the "
            "class or in this order"
        )
    return check_posteriors(matrix, len(classes))


def _tables(files: Iterable[Path], wanted: Sequence[str]) -> Iterator[Frame]:
    for file in files:
        frame = read_frame(file)
        if frame.ragged:
            raise DataError(
                f"{file}: {frame.ragged} rows have too many or too few cells; fix them, because a "
                "sample must be complete"
            )
        there = set(frame.columns.columns)
        for name in wanted:
            if name not in there:
                frame.require(name)
        yield frame


def _stacked(parts: Sequence[Any]) -> Any:
    if not any(issparse(part) for part in parts):
        return np.ascontiguousarray(np.concatenate(parts))
    matrix = csr_array(vstack([csr_array(part) for part in parts], format="csr"))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
