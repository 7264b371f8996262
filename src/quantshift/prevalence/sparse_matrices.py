"""Sparse matrices: their indices are checked once, on input.

SciPy's constructors trust them, and its compiled loops then use memory that is not theirs.

SciPy is not imported to see that something is no sparse matrix: whoever has one has imported it.
"""

import sys
from typing import Any

import numpy as np

from quantshift.errors import DataError

_COMPRESSED = ("csr", "csc", "bsr")

MOST_COLUMNS = 100_000_000
"""The most columns of a sparse matrix: a model needs a number for each."""


def is_sparse(value: Any) -> bool:
    """Whether it is a sparse matrix or array of SciPy.

    >>> is_sparse(np.eye(2))
    False
    """
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(value))


def checked_sparse(matrix: Any, name: str) -> Any:
    """The matrix, dense or sparse; a sparse one is refused if its indices do not fit its shape."""
    if not is_sparse(matrix):
        return matrix
    if matrix.ndim == 2 and matrix.shape[1] > MOST_COLUMNS:
        raise DataError(
            f"{name}: a sparse matrix of {matrix.shape[1]:,} columns, more than {MOST_COLUMNS:,}; "
            "leave out empty columns, or hash the features"
        )
    try:
        if matrix.format in _COMPRESSED:
            matrix.check_format(full_check=True)
        elif matrix.format == "coo":
            _check_coordinates(matrix)
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise DataError(
            f"{name}: a damaged sparse matrix of shape {matrix.shape} ({error}); build it again"
        ) from error
    return matrix


def _check_coordinates(matrix: Any) -> None:
    for places, size in zip(matrix.coords, matrix.shape, strict=True):
        if len(places) != len(matrix.data):
            raise ValueError("there are not as many indices as values")
        if len(places) and not (np.min(places) >= 0 and np.max(places) < size):
            raise ValueError(f"indices must be from 0 to {size - 1}")
