"""The folder of a history: one file for each call, which never changes.

    DIR/history.json          format and version
    DIR/calls/TIME-HASH.json  what a call found; HASH is the beginning of the SHA-256 of the file
    DIR/calls.txt             a title, and a line for each call that was written, so that a lost one
                              is noticed; one that was removed by `history prune` has a second line
                              with a minus

A file is written aside, flushed and renamed, and its name contains a hash of its content. So any
number of processes may append at once, one that is killed leaves a whole file or none, and a call
that is made again with the same time and the same answer is the same file.
"""

import contextlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from quantshift.base.storage.files import (
    check_new_folder,
    check_writable,
    flush,
    is_temporary,
    make_folder,
    remove_leftovers,
    write_errors,
    write_first,
    write_whole,
)
from quantshift.base.storage.integrity import checksum
from quantshift.base.storage.plain_json import parse_json
from quantshift.errors import DataError, UserError
from quantshift.history.kept.dates import moment_of
from quantshift.history.kept.record import HistoryEntry

FORMAT, VERSION = "quantshift history", 1
DESCRIPTION, CALLS, NAMES = "history.json", "calls", "calls.txt"
SOUND, MISSING, DAMAGED = "sound", "missing", "damaged"
"""States of the description."""

TITLE = "calls of this history"
"""The first line of the list of names, which is there before the first call."""

REMOVED = "-"
"""Before the name of a call that was removed on purpose."""

STRAY = "does not have the name and place of a call"

_NAME = re.compile(r"\d{8}T\d{12}Z-(?P<digest>[0-9a-f]{16})\.json")
_DESCRIBED = json.dumps({"format": FORMAT, "version": VERSION}, indent=1).encode() + b"\n"


@dataclass(frozen=True)
class Problem:
    """A file of a history that is not as it was written, and does not count."""

    path: Path
    what: str
    cure: str = "restore it, or remove it to go on without"

    def __str__(self) -> str:
        return f"{self.path} {self.what}"


@dataclass(frozen=True)
class StoredCall:
    """A call and the file it is in."""

    path: Path
    call: HistoryEntry


def check_place(folder: Path) -> None:
    """Refuse a folder that holds other things, or to which nothing can be written."""
    if os.path.lexists(folder):
        check_kind(folder)
        check_writable(folder)
    else:
        check_new_folder(folder)


def check_kind(folder: Path) -> None:
    """Refuse a file, a folder that holds other things, and a history of another version."""
    if not folder.is_dir():
        raise UserError(f"{folder}: a file; name a folder for the history", arguments=["history"])
    if _state(folder) == SOUND or any(_call_files(folder)):
        return
    # By names alone: another process may be writing its first call at this moment.
    others = [path for path in folder.iterdir() if not _may_be_ours(path)]
    label_histories = [path for path in others if path.is_dir() and _state(path) == SOUND]
    if label_histories:
        raise UserError(
            f"{folder}: the folder has a history for each of several labels; name that of one, "
            f"such as {min(label_histories)}",
            arguments=["history"],
        )
    if others or _state(folder) == DAMAGED:
        raise UserError(
            f"{folder}: the folder holds other things; name a new one, or that of a history",
            arguments=["history"],
        )


def append(folder: Path, call: HistoryEntry) -> Path:
    """Write the call as a file of its own; after the return it is on disk."""
    content = call.to_bytes()
    calls = folder / CALLS
    with write_errors(folder):
        make_folder(calls)
        for part in (folder, calls):
            remove_leftovers(part)
        # Written first: whoever sees a call of a new history must also see its description and
        # the list of names.
        if _state(folder) != SOUND:
            write_first(folder / NAMES, f"{TITLE}\n".encode())
            write_whole(folder / DESCRIPTION, _DESCRIBED)
            flush(folder)
        path = calls / _name(call, content)
        write_whole(path, content)
        flush(calls)
        # Also those of processes that were killed before they could note theirs.
        noted = _noted(folder)
        _note(folder, [file.name for file in _call_files(folder) if file.name not in noted])
    return path


def read(folder: Path) -> tuple[list[StoredCall], list[Problem]]:
    """The sound calls in the order of their times, and what is wrong with the others."""
    check_kind(folder)
    calls, problems = [], []
    for path in _call_files(folder):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            if path.is_symlink():  # programs that archive files leave links to where they were
                problems.append(Problem(path, "is a link to a file that is not there"))
            continue  # otherwise pruned at this moment
        except OSError as error:
            problems.append(Problem(path, f"cannot be read ({error.strerror})"))
            continue
        try:
            calls.append(StoredCall(path, _checked(path, content)))
        except DataError as error:
            problems.append(Problem(path, str(error)))
    problems += [Problem(path, STRAY) for path in _stray_files(folder)]
    problems += _lost(folder, calls)
    state = _state(folder)
    if state == SOUND and not (folder / CALLS).is_dir():
        cure = f"restore it, or remove {DESCRIPTION} to begin a new history"
        problems.append(Problem(folder / CALLS, "is missing, with all calls", cure))
    if calls and state != SOUND:
        what, cure = f"is {state} (a call writes it again)", "check that no calls were lost with it"
        problems.append(Problem(folder / DESCRIPTION, what, cure))
    # Names begin with the times, and calls at the same time differ in their hashes.
    return sorted(calls, key=lambda stored: stored.path.name), problems


def remove(stored: StoredCall) -> None:
    """Remove the file of a call."""
    path = stored.path
    with write_errors(path.parent), contextlib.suppress(FileNotFoundError):
        _note(path.parent.parent, [REMOVED + path.name])
        path.unlink()


def _note(folder: Path, names: list[str]) -> None:
    """Add lines to the list of names. Lines of several processes at once do not mix."""
    with (folder / NAMES).open("ab") as file:
        file.write("".join(f"{name}\n" for name in names).encode())
        file.flush()
        os.fsync(file.fileno())


def _lines(folder: Path) -> list[str]:
    try:
        return (folder / NAMES).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _noted(folder: Path) -> set[str]:
    """The names of the calls that were written and not removed by us."""
    lines = _lines(folder)
    # The last line of a name counts: a call can be made again after it was removed.
    last = {line.removeprefix(REMOVED): line for line in lines}
    return {name for name, line in last.items() if _NAME.fullmatch(line)}


def _lost(folder: Path, calls: list[StoredCall]) -> list[Problem]:
    """Calls that were written, are not there, and were not removed by us."""
    if not (folder / CALLS).is_dir():
        return []
    noted = _noted(folder)
    if calls and not noted and _lines(folder)[:1] != [TITLE]:
        what, cure = "is missing (a call writes it again)", "check that no calls were lost with it"
        return [Problem(folder / NAMES, what, cure)]
    cure = f"restore it, or remove its line from {NAMES} to go on without"
    paths = [folder / CALLS / name for name in sorted(noted)]
    missing = [path for path in paths if not os.path.lexists(path)]
    if missing:  # Some may have been pruned since: their lines are written before they go.
        noted = _noted(folder)
        missing = [path for path in missing if path.name in noted]
    # Under another name or in another place it is named already.
    n_moved = len(_stray_files(folder))
    n_moved += sum(path.name not in noted for path in _call_files(folder))
    what = "is missing: it was written, and not removed by us"
    return [Problem(path, what, cure) for path in missing[n_moved:]]


def _checked(path: Path, content: bytes) -> HistoryEntry:
    name = _NAME.fullmatch(path.name)
    assert name is not None
    if _digest(content) != name["digest"]:
        raise DataError("is damaged: its content is not what its name says")
    call = HistoryEntry.from_bytes(content)
    if _name(call, content) != path.name:
        raise DataError("is damaged: its time is not what its name says")
    return call


def _name(call: HistoryEntry, content: bytes) -> str:
    return f"{moment_of(call.time):%Y%m%dT%H%M%S%fZ}-{_digest(content)}.json"


def _digest(content: bytes) -> str:
    return checksum(content)[:16]


def _call_files(folder: Path) -> list[Path]:
    calls = folder / CALLS
    if not calls.is_dir():
        return []
    return sorted(path for path in calls.iterdir() if _NAME.fullmatch(path.name))


def _stray_files(folder: Path) -> list[Path]:
    """Files that may be calls under another name or in another place.

    The folder of the calls is ours alone; beside it people may keep pages and exports.
    """
    calls = folder / CALLS
    inside = calls.iterdir() if calls.is_dir() else ()
    paths = [
        path
        for path in inside
        if not _NAME.fullmatch(path.name)
        and not is_temporary(path)
        and (not path.name.startswith(".") or _NAME.search(path.name))
    ]
    paths += [path for path in folder.iterdir() if _NAME.search(path.name)]
    return sorted(paths)


def _may_be_ours(path: Path) -> bool:
    if path.name == CALLS and path.is_dir():
        return all(is_temporary(p) or _NAME.fullmatch(p.name) for p in path.iterdir())
    return path.name in (DESCRIPTION, NAMES) or is_temporary(path)


def _state(folder: Path) -> str:
    """Whether the description is as it was written; one of a later version is an error."""
    try:
        content = (folder / DESCRIPTION).read_bytes()
    except FileNotFoundError:
        return MISSING
    except OSError:
        return DAMAGED
    if content == _DESCRIBED:
        return SOUND
    try:
        description = parse_json(content)
    except ValueError:
        return DAMAGED
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        return DAMAGED
    version = description.get("version")
    if version == VERSION:
        return DAMAGED
    raise DataError(f"{folder} has history format {version}, this is {VERSION}; upgrade quantshift")
