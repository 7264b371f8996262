"""Arrays in files: matrices of numbers, and columns of labels or categories."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, load_npz

from quantshift.data.columns import typed
from quantshift.data.reading import FRAME_FORMATS, Progress, read_frame
from quantshift.errors import DataError

MATRIX_ENDINGS = (".npz", ".npy")
"""Files that hold a matrix and nothing else; tables hold one too, where all columns are numbers."""

LONGEST_CELL = 40
"""Letters of a cell that an error shows."""


@dataclass(frozen=True)
class DataFile:
    """A file of arrays, or a column of a table."""

    path: Path
    column: str | None = None

    @classmethod
    def parse(cls, text: str, folder: Path = Path()) -> "DataFile":
        """From `path` or `table:column`; relative paths begin at `folder`.

        >>> DataFile.parse("items.csv:label").column
        'label'
        """
        file, colon, column = text.rpartition(":")
        if colon and is_table(Path(file)):
            return cls(folder / file, column)
        return cls(folder / text)

    def absolute(self) -> "DataFile":
        """The same file from any working directory."""
        return replace(self, path=self.path.absolute())


def is_table(path: Path) -> bool:
    """Whether the name is that of a table."""
    ending = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    return ending.lower() in FRAME_FORMATS


def read_matrix(
    path: Path, *, without: Sequence[str | None] = (), progress: Progress = None
) -> Any:
    """A matrix of numbers from .npz (SciPy sparse), .npy or a table whose columns are numbers.

    without: columns of the table that are not part of it.
    """
    if path.suffix not in MATRIX_ENDINGS:
        names = [name for name in without if name is not None]
        return numbers(matrix_table(path, without=names, progress=progress), path)
    try:
        if path.suffix == ".npz":
            matrix = csr_array(load_npz(path)).astype(np.float64)
            matrix.sum_duplicates()
            return _finite(matrix, path)
        matrix = np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
    except DataError:
        raise
    except Exception as error:  # every reader has its own exceptions for a broken file
        raise DataError(f"{path}: not a matrix of numbers ({error})") from error
    if matrix.ndim != 2:
        raise DataError(f"{path}: a matrix has two axes, this array has shape {matrix.shape}")
    return _finite(matrix, path)


def matrix_table(
    path: Path, *, without: Sequence[str] = (), progress: Progress = None
) -> pl.DataFrame:
    """The table of a matrix with the names of its columns."""
    if not is_table(path):
        raise DataError(
            f"{path}: a matrix is read from .npz (SciPy sparse), .npy, .parquet, .csv or .tsv"
        )
    return read_frame(path, without=without, progress=progress).whole().columns


def numbers(table: pl.DataFrame, path: Path) -> NDArray[np.float64]:
    """A table of numbers without gaps as a matrix."""
    plain = _plain_numbers(table)
    if plain is not None:
        return np.asarray(_finite(plain, path))
    columns = []
    for name in table.columns:
        column = typed(table[name])
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            raise DataError(f"{path}: not a matrix of numbers: {_no_number(column)}; fix it")
        columns.append(column.cast(pl.Float64).to_numpy())
    if not columns:
        raise DataError(f"{path}: not a matrix of numbers (no columns)")
    return np.asarray(_finite(np.column_stack(columns), path))


def _plain_numbers(table: pl.DataFrame) -> NDArray[np.float64] | None:
    """The matrix in one step, where every cell is a number; some challenges have 6,000 files."""
    known = [kind.is_numeric() or kind in (pl.Boolean, pl.String) for kind in table.dtypes]
    if not known or not all(known):
        return None
    try:
        floats = table.cast(pl.Float64)
    except pl.exceptions.PolarsError:
        return None
    if any(floats.null_count().row(0)):
        return None
    return floats.to_numpy(order="c")


def _no_number(column: pl.Series) -> str:
    """Where in the column the first cell is that is not a number, and what is in it."""
    if column.dtype == pl.String:
        read = column.cast(pl.Float64, strict=False)
        row = int((read.is_null() & column.is_not_null()).arg_max() or 0)
        cell = str(column[row])
        shown = cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}..."
        return f"row {row + 1} of column {column.name!r} holds {shown!r}"
    return f"column {column.name!r} holds {column.dtype}"


def read_column(file: DataFile, *, progress: Progress = None) -> pl.Series:
    """The values of a column, with the types that its cells tell; a gap is null."""
    if file.column is not None:
        return typed(read_frame(file.path, progress=progress).whole().require(file.column))
    return pl.Series(read_vector(file.path), nan_to_null=True)


def read_vector(path: Path) -> NDArray[Any]:
    """An array of one axis from a .npy file."""
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: not a NumPy array ({error}); for a table write path:column"
        ) from error
    if array.ndim != 1:
        raise DataError(f"{path}: a column has one axis, this array has shape {array.shape}")
    return np.asarray(array)


def _finite(matrix: Any, path: Path) -> Any:
    values = matrix.data if issparse(matrix) else matrix
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        first = int(wrong[0, 0])
        row = int(np.searchsorted(matrix.indptr, first, "right")) - 1 if issparse(matrix) else first
        raise DataError(f"{path}: row {row} holds NaN or infinity; drop or fill it")
    return matrix
