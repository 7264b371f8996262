"""Checks that everything in the store is as it was written; finds and removes damaged files.

The next run computes a removed part again, with the same result. Files of another version of
quantshift are reported too, but left as they are.
"""

from collections.abc import ItemsView, Iterator
from pathlib import Path

import polars as pl

from quantshift.base.storage.files import flush, locked
from quantshift.errors import UserError
from quantshift.lab.results import description as described
from quantshift.lab.results.failures import FAILURE, load_failures
from quantshift.lab.results.parts import (
    DamagedFileError,
    Problem,
    is_marker,
    load_part,
    read_rows,
    remove_part,
)
from quantshift.lab.results.store import ResultStore


def verify(store: ResultStore, *, sizes_only: bool = False) -> list[Problem]:
    """The problems of the parts and other files of the store, in a fixed order.

    Every part is read, hashed and compared with its marker; with `sizes_only`, only markers are
    read and sizes compared, which finds missing and truncated files but not altered bytes.
    Unfinished files of a run in progress, or of one that was killed, are not a problem.
    """
    schemas = {experiment: store.about(experiment).schema for experiment in store.experiments}
    problems = [
        Problem("about", path, "is missing or has changed since it was written")
        for path in store.lost_copies()
    ]
    for experiment, dataset, cell in store.places():
        schema = None if sizes_only else schemas[experiment]
        for path in sorted((store.path / experiment / dataset / cell).iterdir()):
            problems += _problems(store.methods(experiment).items(), path, schema)
    return problems


def repair(store: ResultStore, problem: Problem) -> bool:
    """Remove the damaged part or record, so that the next run redoes it.

    Returns whether anything was removed: nothing is if the problem no longer exists. A lost copy of
    `store.json` is written again.
    """
    if not problem.repairable:
        raise UserError(str(problem))
    if problem.kind == "about":
        described.save_about(store.path, store.description, problem.path.parent.name)
        return True
    folder = problem.path.parent
    experiment = folder.parents[1].name
    marker = problem.path.with_suffix(".json")
    schema = store.about(experiment).schema
    with locked(folder):
        if problem not in _problems(store.methods(experiment).items(), marker, schema):
            return False
        if problem.kind == "failure":
            problem.path.unlink()
        else:
            remove_part(marker)
        flush(folder)
    return True


def _problems(
    methods: ItemsView[str, str], path: Path, schema: pl.Schema | None
) -> Iterator[Problem]:
    """Problems of a marker and its data, or of a failure record; schema: None to skip the data."""
    try:
        if path.name == FAILURE:
            load_failures(path.parent)
        elif is_marker(path):
            part = load_part(path)
            if schema is not None:
                read_rows(part, schema)
            if part.methods.items().isdisjoint(methods):
                yield Problem("stale", path, "holds methods that the store no longer has")
    except DamagedFileError as error:
        yield error.problem
    except FileNotFoundError:
        return  # Another process has just dropped the part.
