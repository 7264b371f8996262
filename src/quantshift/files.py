"""Files and folders that appear whole or not at all, and survive a kill or a power cut.

Content goes to a temporary name in the same folder, is flushed to disk and renamed. The temporary
name carries process and host, so that what a dead process left behind can be told from what a live
one is writing.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from quantshift.errors import UserError

STALE_SECONDS = 3600.0
"""A temporary file older than this belongs to nobody, whatever its name says."""

_TEMPORARY = re.compile(r"\.tmp-(?P<process>\d+)-[0-9a-f]{8}-(?P<host>.+)")
_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
# Network file systems without locks, or without locks on folders.
_LOCKLESS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EBADF}


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` under the name `path`; on any error the old file, if any, stays as it was.

    The new name is on disk after `flush(path.parent)`.
    """
    token = secrets.token_hex(4)
    temporary = path.with_name(f".tmp-{os.getpid()}-{token}-{socket.gethostname()}")
    with disk_errors(path.parent):
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def check_place(file: Path) -> None:
    """Refuse a name that no file can be written under, before the work for it is done."""
    if file.is_dir():
        raise UserError(f"{file} is a folder; name a file in it")
    if not file.parent.is_dir():
        raise UserError(f"{file}: no such folder; name a file in one that is there")


def flush(path: Path) -> None:
    """Make a file's content, or the names in a folder, last through a power cut."""
    with disk_errors(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sibling(path: Path, suffix: str) -> Path:
    """A free hidden name beside `path`, for what is to take its place or has lost it."""
    return path.parent / f".{path.name}.{secrets.token_hex(4)}.{suffix}"


def put_in_place(folder: Path, final: Path) -> None:
    """Give the finished folder its final name; an older one there goes once it has it."""
    old = sibling(final, "old")
    if final.exists():
        final.rename(old)
    try:
        folder.rename(final)
    except BaseException:
        if old.exists():
            old.rename(final)
        raise
    flush(final.parent)
    shutil.rmtree(old, ignore_errors=True)


def file_sha256(path: Path) -> str:
    """Hex digest of the file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_folder(folder: Path) -> None:
    """Make the folder and its parents, those that are missing, to last."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        with disk_errors(folder.parent):
            # Asked of the disk itself: another process may make it at this moment.
            folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise UserError(
            f"{folder} is a file where a folder is needed; choose another place", arguments=["out"]
        ) from None
    flush(folder.parent)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder against other processes that lock it too; a killed holder lets go.

    Where the file system has no locks the block runs without: the order of the writes keeps the
    store whole even then, at worst a part is found damaged and redone.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _LOCKLESS:
                raise
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn the errors of a full or read-only disk into ones that name the cure."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise UserError(
                f"no space left on the disk of {folder}; free some and run the same command again"
            ) from error
        if error.errno in _FORBIDDEN:
            raise UserError(
                f"no permission to write in {folder}; choose another place", arguments=["out"]
            ) from error
        raise


def is_temporary(path: Path) -> bool:
    """Whether this is the name of an unfinished file."""
    return _TEMPORARY.fullmatch(path.name) is not None


def remove_leftovers(folder: Path) -> int:
    """Remove the temporary files of dead processes of this host, and old ones; how many."""
    leftovers = [path for path in folder.iterdir() if _is_abandoned(path)]
    for path in leftovers:
        path.unlink(missing_ok=True)
    return len(leftovers)


def _is_abandoned(path: Path) -> bool:
    name = _TEMPORARY.fullmatch(path.name)
    if name is None:
        return False
    if name["host"] == socket.gethostname() and not psutil.pid_exists(int(name["process"])):
        return True
    try:
        return time.time() - path.stat().st_mtime > STALE_SECONDS
    except FileNotFoundError:
        return False  # Its writer has just given it its final name.
