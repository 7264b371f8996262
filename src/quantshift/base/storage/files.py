"""Atomic writes: files and folders appear complete or not at all, even after a crash.

Content goes to a temporary name in the same folder, is flushed to disk and renamed. The temporary
name carries process and machine, so that the leftovers of a dead process can be distinguished from
what a live one is writing.
"""

import contextlib
import errno
import fcntl
import glob
import hashlib
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from quantshift.errors import UserError

STALE_SECONDS = 3600.0
"""A temporary file older than this is a leftover, whatever its name says."""

Recognises: TypeAlias = Callable[[Path], bool]
"""Whether an existing file was made by quantshift, so that a newer one may replace it."""

PAGE_MARK = b'<meta name="generator" content="quantshift'
"""Part of the head of every page."""

PAGE_ENDINGS = ("html", "htm")

_KNOWN_ENDINGS = frozenset(
    {
        *PAGE_ENDINGS,
        *("csv", "json", "parquet", "pq"),
        *("arrow", "feather", "npy", "npz", "db", "sqlite"),
        *("jsonl", "ndjson", "tsv", "xml", "toml", "yaml", "yml", "md", "ipynb"),
        *("ods", "xls", "xlsm", "xlsx", "docx", "pdf", "png", "svg"),
        *("bz2", "gz", "xz", "zip", "zst"),
    }
)
"""Endings that name a format; any other says nothing."""

_HEAD_BYTES = 4096
_LONGEST_NAME = 200
_TEMPORARY = re.compile(r"\.tmp-(?P<process>\d+)-[0-9a-f]{8}-(?P<host>.+)")
_ASIDE = re.compile(r"\..+\.[0-9a-f]{8}\.(partial|old)")
_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
# Network file systems without locks, or without locks on folders.
_LOCKLESS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EBADF}


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` under the name `path`; on any error the old file, if any, stays as it was.

    The new name is on disk after `flush(path.parent)`.
    """
    temporary = temporary_path(path.parent)
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


def write_first(path: Path, content: bytes) -> None:
    """Put `content` under the name `path`, unless there is a file of this name already."""
    temporary = temporary_path(path.parent)
    with disk_errors(path.parent):
        try:
            temporary.write_bytes(content)
            try:
                os.link(temporary, path)
            except FileExistsError:
                pass
            except OSError:  # A file system without links.
                with contextlib.suppress(FileExistsError), path.open("xb") as file:
                    file.write(content)
        finally:
            temporary.unlink(missing_ok=True)


def check_output(
    file: str | Path,
    *,
    inputs: Iterable[object] = (),
    overwrite: bool = False,
    ours: Recognises | None = None,
    endings: Sequence[str] = (),
) -> Path:
    """Refuse an output that cannot be written, or that would replace a file of the user.

    Call it before the work; `write_output` checks again. Returns the file itself if `file` is a
    link.

    inputs: what the same command reads: paths, patterns, folders, or lists of them (anything else,
        such as a data frame, has no file). An input is never replaced.
    overwrite: whether any other file may be replaced.
    ours: recognises files that may be replaced without asking; it may raise an error that says more
        than "exists".
    endings: those of the format that is written, the usual one first; a name with the ending of
        another format is refused.
    """
    check_not_dash(file)
    path = Path(os.path.realpath(file))
    with write_errors(path.parent):
        # For names that are too long: since Python 3.14 `is_dir` raises no error.
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
        if path.is_dir():
            raise UserError(f"{file} is a folder; name a file in it")
        if not path.parent.is_dir():
            raise UserError(f"{file}: no such folder; name a file in an existing folder")
        check_replaceable(file, inputs=inputs, overwrite=overwrite, ours=ours)
    if endings:
        _check_ending(file, endings)
    check_writable(path.parent)
    return path


def _check_ending(file: str | Path, endings: Sequence[str]) -> None:
    ending = Path(file).suffix.lower().removeprefix(".")
    if ending in _KNOWN_ENDINGS and ending not in endings:
        raise UserError(
            f"{file}: the name says {ending}, and {endings[0]} would be written; name it "
            f"{Path(file).with_suffix('.' + endings[0])}"
        )


def check_not_dash(path: str | Path) -> None:
    """Refuse -, by which people mean standard output, as the name of a file or folder."""
    if str(path) == "-":
        raise UserError(
            "- stands for standard output, but files and folders cannot be written there; name one",
            arguments=["out"],
        )


def check_replaceable(
    file: str | Path,
    *,
    inputs: Iterable[object] = (),
    overwrite: bool = False,
    ours: Recognises | None = None,
) -> None:
    """The part of `check_output` about a file that already exists."""
    path = Path(os.path.realpath(file))
    if not path.exists():
        return
    if not path.is_file():
        raise UserError(f"{file} is not a regular file; name another")
    for input_path in _paths(inputs):
        if _is_part(path, input_path) and not (input_path.is_dir() and _is_ours(path, ours)):
            raise UserError(
                f"{file} is read by the same command; name another file", arguments=["out"]
            )
    if not overwrite and (ours is None or not ours(path)):
        raise UserError(
            f"{file} exists and was not made by quantshift; name another file, or overwrite it",
            arguments=["overwrite"],
        )


def write_output(
    file: str | Path,
    content: bytes,
    *,
    inputs: Iterable[object] = (),
    overwrite: bool = False,
    ours: Recognises | None = None,
    endings: Sequence[str] = (),
) -> None:
    """Write an output that `check_output` has allowed, and still allows."""
    path = check_output(file, inputs=inputs, overwrite=overwrite, ours=ours, endings=endings)
    with write_errors(path):
        write_whole(path, content)
        flush(path.parent)


def is_page(path: Path) -> bool:
    """Whether this is a page that quantshift made."""
    return PAGE_MARK in head(path)


def head(path: Path) -> bytes:
    """The first bytes of a file, enough to recognise it by."""
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


def check_writable(folder: Path) -> None:
    """Refuse a folder in which no file can be created, by trying to create one.

    What killed processes of this machine left there is removed: nothing else ever would.
    """
    probe = temporary_path(folder)
    with write_errors(folder):
        try:
            with probe.open("xb") as file:
                file.write(b"\0" * _HEAD_BYTES)
                file.flush()
                os.fsync(file.fileno())
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _writer_is_gone(path):
                path.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Flush a file's content, or the names in a folder, to disk (against power cuts)."""
    with disk_errors(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def folder_aside(final: Path) -> Iterator[Path]:
    """A new folder beside `final`, to be filled and put in place.

    If it was not put in place it is removed at the end; after an error so are the parents that were
    created for it.
    """
    final = Path(os.path.realpath(final))
    aside = final.parent / f".{final.name}.{secrets.token_hex(4)}.partial"
    missing = [parent for parent in final.parents if not parent.exists()]
    try:
        with write_errors(final.parent):
            make_folder(final.parent)
            aside.mkdir()
        yield aside
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        for parent in missing:
            with contextlib.suppress(OSError):
                parent.rmdir()
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def put_in_place(folder: Path, final: Path, *, own: Callable[[Path], bool]) -> None:
    """Give the finished folder its final name; other files of an older folder are kept.

    own: whether a file, by its path within the older folder, belongs to that folder and is removed
        with it. At every moment each other file is complete in the older folder or in the new one.
    """
    final = Path(os.path.realpath(final))
    with write_errors(final):
        if not final.exists():
            _swap(folder, final, None)
            return
        others = [name for name in _inside(final) if not own(name)]
        for name in others:
            if os.path.lexists(folder / name):
                raise UserError(
                    f"{final / name} was not made by quantshift; move it, or choose another place",
                    arguments=["out"],
                )
            _link(final / name, folder / name)
        shutil.copymode(final, folder)
        old = final.parent / f".{final.name}.{secrets.token_hex(4)}.old"
        _swap(folder, final, old)
    _remove_old(old, final, {name for name in _inside(old) if own(name)} | set(others))


def is_leftover(path: Path) -> bool:
    """Whether a killed process left this file, or the folder it is in, unfinished."""
    return any(is_temporary(Path(part)) or _ASIDE.fullmatch(part) for part in path.parts)


def check_new_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made, before the work for it is done."""
    check_not_dash(folder)
    if len(os.fsencode(folder.name)) > _LONGEST_NAME:
        raise UserError(f"{folder}: the name is too long; choose a shorter one", arguments=["out"])
    parent = Path(os.path.realpath(folder)).parent
    while not os.path.lexists(parent):
        parent = parent.parent
    if not parent.is_dir():
        raise UserError(
            f"{parent} is a file where a folder is needed; choose another place", arguments=["out"]
        )
    check_writable(parent)


def file_sha256(path: Path) -> str:
    """Hex digest of the file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_folder(folder: Path) -> None:
    """Create the folder and its missing parents, and flush their names to disk."""
    check_not_dash(folder)
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        with disk_errors(folder.parent):
            # The disk decides: another process may create the folder at the same moment.
            folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise UserError(
            f"{folder} is a file where a folder is needed; choose another place", arguments=["out"]
        ) from None
    flush(folder.parent)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder against other processes that lock it too; a killed process releases it.

    Where the file system has no locks the block runs without one: the order of the writes keeps the
    store consistent even then, and at worst a part is found damaged and computed again.
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
    """Turn the errors of a full or read-only disk into ones that say what to do."""
    try:
        yield
    except OSError as error:
        # numpy sets no errno for a short write: "4096 requested and 0 written".
        if error.errno in _FULL or (error.errno is None and "written" in str(error)):
            raise UserError(
                f"no space left on the disk of {folder}; free some and run the same command again"
            ) from error
        if error.errno in _FORBIDDEN:
            raise UserError(
                f"no permission to write in {folder}; choose another place", arguments=["out"]
            ) from error
        raise


@contextlib.contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn every disk error while an output is written into one that says what to do."""
    try:
        with disk_errors(path):
            yield
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UserError(
                "the name of the output is too long; choose a shorter one",
                arguments=["out"],
            ) from error
        reason = error.strerror or str(error)
        raise UserError(
            f"{path} cannot be written ({reason}); choose another place", arguments=["out"]
        ) from error


def is_temporary(path: Path) -> bool:
    """Whether this is the name of an unfinished file."""
    return _TEMPORARY.fullmatch(path.name) is not None


def remove_leftovers(folder: Path) -> int:
    """Remove old temporary files and those of this machine's dead processes; returns how many.

    For folders of our own, in which no file is written for as long as `STALE_SECONDS`.
    """
    leftovers = [path for path in folder.iterdir() if _is_abandoned(path)]
    for path in leftovers:
        path.unlink(missing_ok=True)
    return len(leftovers)


def _is_abandoned(path: Path) -> bool:
    if not is_temporary(path):
        return False
    try:
        return _writer_is_gone(path) or time.time() - path.stat().st_mtime > STALE_SECONDS
    except FileNotFoundError:
        return False  # Its writer has just given it its final name.


def _writer_is_gone(path: Path) -> bool:
    """Whether this is an unfinished file of a process of this machine that has ended.

    Never for a file of another machine, whose processes nobody here knows.
    """
    name = _TEMPORARY.fullmatch(path.name)
    if name is None or name["host"] != this_host():
        return False
    import psutil  # here, because most processes find no such file

    try:
        started = psutil.Process(int(name["process"])).create_time()
        # Another process has got the number; clocks of file servers may be off by minutes.
        return bool(started - path.stat().st_mtime > STALE_SECONDS)
    except psutil.NoSuchProcess:
        return True
    except (psutil.Error, OSError):
        return False


def this_host() -> str:
    """The name of this machine, and of the container in which processes have their numbers."""
    try:
        numbers = str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:  # Not Linux.
        numbers = "0"
    return f"{socket.gethostname()}-{numbers}"


def temporary_path(folder: Path) -> Path:
    """A free name in the folder for a file that is not complete; see `remove_leftovers`."""
    return folder / f".tmp-{os.getpid()}-{secrets.token_hex(4)}-{this_host()}"


def _swap(folder: Path, final: Path, old: Path | None) -> None:
    """Rename `final`, if it exists, to `old`, and the folder to `final`; both or neither."""
    if old is not None:
        final.rename(old)
    try:
        folder.rename(final)
        flush(final.parent)
    except BaseException:
        if not folder.exists():
            final.rename(folder)
        if old is not None:
            old.rename(final)
        raise


def _inside(folder: Path) -> list[Path]:
    """The files, links and empty folders in a folder, by their path within it."""
    paths = []
    for root, folders, names in os.walk(folder):
        parent = Path(root)
        names += [name for name in folders if (parent / name).is_symlink()]
        if not names and not folders and parent != folder:
            paths.append(parent.relative_to(folder))
        paths += [(parent / name).relative_to(folder) for name in names]
    return paths


def _link(path: Path, other: Path) -> None:
    """The same file, link or empty folder under another name."""
    if path.is_dir() and not path.is_symlink():
        other.mkdir(parents=True)
        return
    other.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, other, follow_symlinks=False)
    except OSError:  # A file system without links.
        shutil.copy2(path, other, follow_symlinks=False)


def _remove_old(old: Path, final: Path, handled: set[Path]) -> None:
    """Remove the old folder; files that were added to it meanwhile move to the new one."""
    with contextlib.suppress(OSError):
        for name in _inside(old):
            if name in handled and not (old / name).is_dir():
                (old / name).unlink()
            elif name not in handled and not os.path.lexists(final / name):
                (final / name).parent.mkdir(parents=True, exist_ok=True)
                (old / name).rename(final / name)
        for root, _, _ in os.walk(old, topdown=False):
            os.rmdir(root)


def _paths(inputs: Iterable[object]) -> Iterator[Path]:
    """The files and folders among the inputs."""
    for input_path in inputs:
        if isinstance(input_path, list | tuple):
            yield from _paths(input_path)
        elif isinstance(input_path, str | os.PathLike):
            yield from map(
                Path, [input_path] if os.path.exists(input_path) else glob.glob(str(input_path))
            )


def _is_part(path: Path, input_path: Path) -> bool:
    """Whether an existing file is this input, under whatever name, or inside this input folder."""
    if os.path.samefile(path, input_path):
        return True
    return input_path.is_dir() and path.is_relative_to(os.path.realpath(input_path))


def _is_ours(path: Path, ours: Recognises | None) -> bool:
    with contextlib.suppress(UserError):
        return ours is not None and ours(path)
    return False
