"""Compressed files, refused before they are unpacked if they would fill the memory.

The sizes that an archive states are compared first; and no more is unpacked than it states, since
it may state less than there is.
"""

import gzip
import zipfile
import zlib
from pathlib import Path

from quantshift.errors import DataError

MOST_TIMES = 200
"""How many times larger than packed a file may be unpacked: tables and texts are 3 to 50 times."""

ALWAYS_UNPACKED = 64 << 20
"""Bytes that are unpacked whatever the size of the packed file."""

_TRAILER = 4
"""Bytes at the end of a gzip file that hold its size, modulo 2^32."""

_BLOCK = 1 << 20


def member_bytes(archive: zipfile.ZipFile, name: str) -> bytes:
    """The content of a file in an archive."""
    info = archive.getinfo(name)
    _check(name, info.compress_size, info.file_size)
    with archive.open(info) as member:
        # Without a number of bytes, all would be unpacked that is there.
        content = member.read(info.file_size)
    if len(content) < info.file_size:
        raise zipfile.BadZipFile(f"{name} is cut off")
    return content


def check_members(archive: zipfile.ZipFile) -> None:
    """Refuse an archive that another library would unpack into far more than its size."""
    for info in archive.infolist():
        _check(info.filename, info.compress_size, info.file_size)


def check_gzip(name: str, path: Path) -> None:
    """Refuse a gzip file that is far larger unpacked; one of several parts is not looked into."""
    packed = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(packed - _TRAILER, 0))
        stated = int.from_bytes(file.read(), "little")
    # The end of a file that is cut off is no size: whoever reads it says that.
    if stated > _most(packed) and _unpacks_into(path, stated):
        _check(name, packed, stated)


def _unpacks_into(path: Path, size: int) -> bool:
    """Whether a gzip file has so many bytes, counted without keeping them."""
    try:
        with gzip.open(path) as file:
            while size > 0 and (block := file.read(_BLOCK)):
                size -= len(block)
    except (OSError, EOFError, zlib.error):
        return False
    return size <= 0


def _most(packed: int) -> int:
    return max(ALWAYS_UNPACKED, MOST_TIMES * packed)


def _check(name: str, packed: int, unpacked: int) -> None:
    if unpacked > _most(packed):
        raise DataError(
            f"{name}: {packed >> 10:,} KB would be unpacked into {unpacked >> 20:,} MB, more than "
            f"{MOST_TIMES} times as much; if that is right, unpack it first"
        )
