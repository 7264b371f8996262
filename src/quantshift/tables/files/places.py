"""The user's sources: pipes, whose content is stored, and files that match a pattern."""

import errno
import glob
import os
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from quantshift.errors import DataError, UserError, check_utf8
from quantshift.tables.columns.names import natural

STANDARD_INPUT = "-"
"""The source that stands for standard input."""

_BLOCK_BYTES = 1 << 20

MOST_SHOWN = 60
"""The most characters that messages show of a name that cannot be that of a file."""


class Spool:
    """A temporary file for data that can be read only once, or must be rewritten first.

    It is removed when the object is garbage-collected.
    """

    def __init__(self, parts: Iterable[bytes]) -> None:
        handle, name = tempfile.mkstemp(prefix="quantshift-")
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)


def is_piped(source: str | Path) -> bool:
    """Whether a source is standard input or a named pipe, such as a shell's `<(command)`."""
    try:
        return str(source) == STANDARD_INPUT or stat.S_ISFIFO(os.stat(source).st_mode)
    except (OSError, ValueError):
        return False


def spooled(source: str | Path) -> Spool:
    """The content of a pipe, stored in a temporary file."""
    if str(source) != STANDARD_INPUT:
        with Path(source).open("rb") as file:
            return _copied(file)
    if sys.stdin is None:
        raise UserError("standard input is closed; give a file, or pipe a table into it")
    if sys.stdin.isatty():
        raise UserError("standard input is a terminal; give a file, or pipe a table into it")
    return _copied(sys.stdin.buffer)


def _copied(file: BinaryIO) -> Spool:
    return Spool(iter(lambda: file.read(_BLOCK_BYTES), b""))


def check_name(path: str | Path) -> None:
    """Refuse a name that is too long for the file system, or not text."""
    check_utf8(path)
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise DataError(
                f"{str(path)[:MOST_SHOWN]}...: a name of {len(str(path)):,} characters is too long "
                "for a file; is it the content of one?"
            ) from None
    except ValueError:
        raise DataError(f"{str(path)[:MOST_SHOWN]!r}: no such file") from None


def matches(source: str | Path) -> list[Path] | None:
    """The files that match a pattern with * ? or [], in order; None if it is not a pattern."""
    pattern = str(source)
    if not pattern:
        raise UserError("the name of a file is empty; is a variable of the shell not set?")
    check_name(pattern)
    if os.path.lexists(pattern):
        return None
    if not glob.has_magic(pattern):
        return None
    paths = sorted(map(Path, glob.glob(pattern, recursive=True)), key=lambda p: natural(str(p)))
    if not paths:
        raise DataError(f"{pattern}: no file matches")
    return paths
