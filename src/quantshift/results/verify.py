"""Is everything in the store what was written there? Damage is found, named and removed.

A removed part is as good as never computed: the next run computes it again, with the same result.
"""

from collections.abc import Iterator
from pathlib import Path

from quantshift.errors import DataError, UserError
from quantshift.files import flush, is_temporary, locked
from quantshift.results import description as described
from quantshift.results.failures import FAILURE, load_failures, unreadable
from quantshift.results.parts import (
    DamagedPartError,
    Problem,
    is_data,
    is_marker,
    load_part,
    read_rows,
    remove_part,
)
from quantshift.results.store import ResultStore


def verify(store: ResultStore, *, sizes_only: bool = False) -> list[Problem]:
    """What is wrong with the parts and failure records of the store, in a fixed order.

    Every part is read, hashed and compared with its marker; with `sizes_only` markers are read
    and sizes compared, which finds what is missing or truncated but no altered byte. Unfinished
    files of a run that is going on, or was killed, are no problem.
    """
    return [
        problem
        for experiment in store.experiments
        for cell in store.cells(experiment)
        for path in sorted((store.path / experiment / cell).iterdir())
        for problem in _problems(store, experiment, path, sizes_only=sizes_only)
    ]


def repair(store: ResultStore, problem: Problem) -> bool:
    """Remove the damaged part or record, so that the next run redoes it.

    Nothing is removed if the problem has gone meanwhile; returns whether something was.
    """
    if not problem.repairable:
        raise UserError(str(problem))
    folder = problem.path.parent
    marker = problem.path.with_suffix(".json")
    with locked(folder):
        if problem not in _problems(store, folder.parent.name, marker, sizes_only=False):
            return False
        if problem.kind == "failure":
            problem.path.unlink()
        else:
            remove_part(marker)
        flush(folder)
    return True


def foreign_files(store: ResultStore) -> list[Path]:
    """Files in the store's folder that are none of its own; they are left alone."""
    return sorted(
        path for path in store.path.rglob("*") if path.is_file() and not _is_own(store, path)
    )


def _problems(
    store: ResultStore, experiment: str, path: Path, *, sizes_only: bool
) -> Iterator[Problem]:
    if path.name == FAILURE:
        try:
            load_failures(path.parent)
        except DataError:
            yield unreadable(path)
    elif is_marker(path):
        try:
            part = load_part(path)
            if not sizes_only:
                read_rows(part)
        except DamagedPartError as error:
            yield error.problem
        except FileNotFoundError:
            return  # Another process dropped the part just now.
        else:
            known = store.methods(experiment)
            if all(known.get(m) != signature for m, signature in part.methods.items()):
                yield Problem("stale", path, "is of methods the store no longer has")


def _is_own(store: ResultStore, path: Path) -> bool:
    place = path.relative_to(store.path).parts
    if is_temporary(path):
        return True
    match place:
        case (described.STORE,) | (described.LOG, _):
            return True
        case (experiment, cell, name) if experiment in store.experiments:
            return described.is_name(cell) and (name == FAILURE or is_marker(path) or is_data(path))
        case _:
            return False
