"""Where the user's sources lie: in pipes, whose content is kept, and in files by a pattern."""

import glob
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from quantshift.corpora.spool import Spool
from quantshift.errors import DataError, UserError

STANDARD_INPUT = "-"
_BLOCK_BYTES = 1 << 20


def is_piped(source: str | Path) -> bool:
    """Whether a source is standard input or a named pipe, such as a shell makes of `<(command)`."""
    try:
        return str(source) == STANDARD_INPUT or stat.S_ISFIFO(os.stat(source).st_mode)
    except (OSError, ValueError):
        return False


def spooled(source: str | Path) -> Spool:
    """What comes in by a pipe."""
    if str(source) != STANDARD_INPUT:
        with Path(source).open("rb") as file:
            return _copied(file)
    if sys.stdin.isatty():
        raise UserError("standard input is the keyboard; give a file, or send a table by a pipe")
    return _copied(sys.stdin.buffer)


def _copied(file: BinaryIO) -> Spool:
    return Spool(iter(lambda: file.read(_BLOCK_BYTES), b""))


def matches(source: str | Path) -> list[Path] | None:
    """The files that match a pattern with * ? or [], in order; None if it is no pattern."""
    pattern = str(source)
    if not glob.has_magic(pattern) or os.path.lexists(pattern):
        return None
    found = sorted(map(Path, glob.glob(pattern, recursive=True)))
    if not found:
        raise DataError(f"{pattern}: no file matches")
    return found
