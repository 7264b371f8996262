"""A matrix too large for memory: written to a .npy file part by part, then moved to its place."""

import os
import shutil
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from quantshift.base.storage.files import remove_leftovers, temporary_path

HEADER_BYTES = 128
"""Size of the header of a .npy file with any matrix; it is padded to a multiple of 64."""


class MatrixFile:
    """A matrix of numbers in a .npy file that is deleted unless it is moved.

    folder: where it is written; files of killed processes are removed there first. On the disk of
    its final place, moving it needs no copy.
    parts: matrices with `n_columns` columns, written one below the other.
    """

    def __init__(self, folder: Path, parts: Iterable[NDArray[np.float64]], n_columns: int) -> None:
        remove_leftovers(folder)
        self.path = temporary_path(folder)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
        n_rows = 0
        with self.path.open("xb") as file:
            file.write(bytes(HEADER_BYTES))
            for part in parts:
                file.write(np.ascontiguousarray(part, dtype="<f8").data)
                n_rows += len(part)
            file.seek(0)
            header = {"descr": "<f8", "fortran_order": False, "shape": (n_rows, n_columns)}
            npy.write_array_header_1_0(file, header)
            assert file.tell() == HEADER_BYTES

    def mapped(self) -> NDArray[Any]:
        """The matrix, mapped into memory."""
        return np.asarray(np.load(self.path, mmap_mode="r", allow_pickle=False))

    def move_to(self, path: Path) -> None:
        """Move the file; arrays that are mapped from it stay valid."""
        try:
            os.replace(self.path, path)
        except OSError:  # another disk, or a system that does not move open files
            shutil.copyfile(self.path, path)
