"""Arrays in files: matrices of numbers, and columns of labels or categories."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, load_npz

from quantshift.base.forks import uses_tables
from quantshift.base.storage.integrity import load_array
from quantshift.errors import DataError
from quantshift.prevalence.labels import check_texts
from quantshift.prevalence.masks import NOT_REAL
from quantshift.prevalence.sparse_matrices import checked_sparse
from quantshift.tables.columns.kinds import typed
from quantshift.tables.formats import format_of, known_endings, sheet_of
from quantshift.tables.reading import Progress, read_frame

ARCHIVE = ".npz"
"""SciPy's sparse matrices, and NumPy's files of several arrays."""

MATRIX_ENDINGS = (ARCHIVE, ".npy")
"""Files that hold just a matrix; a table holds one too if all its columns are numbers."""

LONGEST_CELL = 40
"""The most characters of a cell that an error shows."""

_SPARSE_INDICES = ("indices", "indptr", "row", "col", "coords", "offsets")
"""Arrays of SciPy's files that hold positions."""


@dataclass(frozen=True)
class DataFile:
    """A file of arrays, a column of a table, or an array of a .npz file, by its name there."""

    path: Path
    column: str | None = None

    @classmethod
    def parse(cls, text: str, folder: Path = Path()) -> "DataFile":
        """From `path`, `table:column` or `file.npz:array`; paths are relative to `folder`.

        >>> DataFile.parse("items.csv:label").column, DataFile.parse("items.npz:y").column
        ('label', 'y')
        """
        file, colon, column = text.rpartition(":")
        if colon and (is_table(Path(file)) or Path(file).suffix == ARCHIVE):
            return cls(folder / file, column)
        return cls(folder / text)

    def absolute(self) -> "DataFile":
        """The same file from any working directory."""
        return replace(self, path=self.path.absolute())


def is_table(path: Path) -> bool:
    """Whether the name is that of a table."""
    path, _ = sheet_of(path)
    return format_of(path, whole=True) is not None


@uses_tables
def read_matrix(
    path: Path,
    *,
    name: str | None = None,
    without: Sequence[str | None] = (),
    progress: Progress = None,
) -> Any:
    """A matrix of numbers from .npz, .npy or a table whose columns are numbers.

    name: the name of the array in a .npz file with several. without: columns of the table, or
    arrays of the file, that are not part of the matrix.
    """
    if path.suffix not in MATRIX_ENDINGS:
        names = [name for name in without if name is not None]
        return number_matrix(matrix_table(path, without=names, progress=progress), path)
    try:
        if path.suffix == ARCHIVE and name is None and _is_sparse(path):
            _check_whole_indices(path)
            stored = checked_sparse(load_npz(path), str(path))
            matrix = csr_array(_real(stored, path)).astype(np.float64)
            matrix.sum_duplicates()
        else:
            stored = (
                read_archive(path, name, without=without)
                if path.suffix == ARCHIVE
                else np.array(load_array(path))
            )
            matrix = np.asarray(_real(stored, path), dtype=np.float64)
    except DataError:
        raise
    except Exception as error:  # every reader has its own exceptions for a broken file
        raise DataError(f"{path}: not a matrix of numbers ({error})") from error
    if matrix.ndim != 2:
        raise DataError(f"{path}: a matrix must have two axes, got shape {matrix.shape}")
    if matrix.shape[1] == 0:
        raise DataError(f"{path}: a matrix without columns; give at least one feature")
    return _finite(matrix, path)


def matrix_table(
    path: Path, *, without: Sequence[str] = (), progress: Progress = None
) -> pl.DataFrame:
    """The table of a matrix, with its column names."""
    if not is_table(path):
        raise DataError(
            f"{path}: a matrix must be .npz (SciPy sparse, or file.npz:array), .npy or a table: "
            f"{known_endings(whole=True)}"
        )
    return read_frame(path, without=without, progress=progress).whole().columns


def number_matrix(table: pl.DataFrame, path: Path) -> NDArray[np.float64]:
    """A table of numbers, without missing values, as a matrix."""
    plain = _plain_numbers(table)
    if plain is not None:
        return np.asarray(_finite(plain, path))
    columns = []
    for name in table.columns:
        column = typed(table[name])
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            raise DataError(f"{path}: not a matrix of numbers: {_first_non_number(column)}; fix it")
        columns.append(column.cast(pl.Float64).to_numpy())
    if not columns:
        raise DataError(f"{path}: not a matrix of numbers (no columns)")
    return np.asarray(_finite(np.column_stack(columns), path))


def plain_numbers(path: Path, names: Sequence[str]) -> NDArray[np.float64] | None:
    """The numbers of a CSV file with exactly these columns, parsed directly.

    None if anything about the file is unusual: the caller then reads it with all checks. Some
    challenges have 6,000 files, and this is several times faster.
    """
    with path.open("rb") as file:
        header = file.readline().rstrip(b"\r\n")
    if header != ",".join(names).encode():
        return None
    try:
        table = pl.read_csv(path, schema=dict.fromkeys(names, pl.Float64))
    except pl.exceptions.PolarsError:
        return None
    if any(table.null_count().row(0)):
        return None
    matrix = table.to_numpy(order="c")
    return matrix if np.isfinite(matrix).all() else None


def _plain_numbers(table: pl.DataFrame) -> NDArray[np.float64] | None:
    """The matrix if every cell is a number; fast, because some challenges have 6,000 files."""
    is_supported = [kind.is_numeric() or kind in (pl.Boolean, pl.String) for kind in table.dtypes]
    if not is_supported or not all(is_supported):
        return None
    try:
        floats = table.cast(pl.Float64)
    except pl.exceptions.PolarsError:
        return None
    if any(floats.null_count().row(0)):
        return None
    return floats.to_numpy(order="c")


def _first_non_number(column: pl.Series) -> str:
    """The position and content of the first cell of the column that is not a number."""
    if column.dtype == pl.String:
        as_floats = column.cast(pl.Float64, strict=False)
        row = int((as_floats.is_null() & column.is_not_null()).arg_max() or 0)
        cell = str(column[row])
        excerpt = cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}..."
        return f"row {row + 1} of column {column.name!r} holds {excerpt!r}"
    return f"column {column.name!r} holds {column.dtype}"


def read_column(file: DataFile, *, progress: Progress = None) -> pl.Series:
    """The values of a column, with the type inferred from its cells; missing values are null."""
    if file.path.suffix == ARCHIVE:
        return pl.Series(_vector(read_archive(file.path, file.column), file.path), nan_to_null=True)
    if file.column is not None:
        return typed(read_frame(file.path, progress=progress).whole().require(file.column))
    return pl.Series(read_vector(file.path), nan_to_null=True)


def read_vector(path: Path) -> NDArray[Any]:
    """An array of one axis from a .npy file, or from a .npz file with a single array."""
    if path.suffix == ARCHIVE:
        return _vector(read_archive(path), path)
    try:
        array = np.array(load_array(path))
    except Exception as error:  # an empty file is an EOFError, others are anything
        # NumPy takes any other file for pickled data, and advises to load it unsafely.
        reason = f" ({error})" if path.suffix in MATRIX_ENDINGS or not path.exists() else ""
        raise DataError(
            f"{path}: not a NumPy array{reason}; for a column of a table, write path:column"
        ) from error
    return _vector(array, path)


def read_archive(
    path: Path, name: str | None = None, *, without: Sequence[str | None] = ()
) -> NDArray[Any]:
    """An array of NumPy's .npz files; without a name, the only one apart from those in `without`.

    Arrays of Python objects, which are pickled, are refused.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            names = list(arrays.files)
            candidates = [other for other in names if other not in without]
            if name is None and len(candidates) == 1:
                name = candidates[0]
            if name in names:
                return np.asarray(arrays[name])
    except Exception as error:  # every reader has its own exceptions for a broken file
        if "pickle" in str(error):
            reason = f"the array {name!r} holds Python objects; save numbers or strings"
            raise DataError(f"{path}: {reason}") from error
        raise DataError(f"{path}: cannot be read ({error})") from error
    contents = ", ".join(names) or "no arrays"
    if name is None:
        example = next(iter(candidates), "NAME")
        raise DataError(
            f"{path}: which array? the file has {contents}; write {path.name}:{example} for one of "
            "them"
        )
    raise DataError(f"{path}: no array {name!r}; the file has {contents}")


def _is_sparse(path: Path) -> bool:
    """Whether SciPy wrote the file."""
    with np.load(path, allow_pickle=False) as arrays:
        return {"format", "shape", "data"} <= set(arrays.files)


def _check_whole_indices(path: Path) -> None:
    """Refuse positions that are not integers, which SciPy would round down."""
    with np.load(path, allow_pickle=False) as arrays:
        for name in _SPARSE_INDICES:
            if name in arrays.files and arrays[name].dtype.kind not in "iu":
                raise DataError(
                    f"{path}: a damaged sparse matrix ({name!r} must hold integers, not "
                    f"{arrays[name].dtype}); build it again"
                )


def _real(array: Any, path: Path) -> Any:
    """The array, unless conversion to real numbers would lose or change what it holds."""
    if array.dtype.kind in NOT_REAL:
        raise DataError(
            f"{path}: holds {NOT_REAL[array.dtype.kind]} ({array.dtype}), which are not a matrix "
            "of real numbers; convert them first"
        )
    return array


def _vector(array: NDArray[Any], path: Path) -> NDArray[Any]:
    if array.ndim != 1:
        raise DataError(f"{path}: a column must have one axis, got shape {array.shape}")
    check_texts(array, f"{path}: the values")
    return np.asarray(array)


def _finite(matrix: Any, path: Path) -> Any:
    values = matrix.data if issparse(matrix) else matrix
    not_finite = np.argwhere(~np.isfinite(values))
    if len(not_finite):
        first = int(not_finite[0, 0])
        row = int(np.searchsorted(matrix.indptr, first, "right")) - 1 if issparse(matrix) else first
        raise DataError(f"{path}: row {row} holds NaN or infinity; drop or fill it")
    return matrix
