"""Is everything in the store what was written there? Damage is found, named and removed.

A removed part is as good as never computed: the next run computes it again, with the same result.
What another version of quantshift wrote is found and named too, and left as it is.
"""

from collections.abc import ItemsView, Iterator
from pathlib import Path

import polars as pl

from quantshift.errors import UserError
from quantshift.files import flush, is_temporary, locked
from quantshift.results import description as described
from quantshift.results.failures import FAILURE, UnreadableFailuresError, load_failures
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
    """What is wrong with the parts and other files of the store, in a fixed order.

    Every part is read, hashed and compared with its marker; with `sizes_only` markers are read
    and sizes compared, which finds what is missing or truncated but no altered byte. Unfinished
    files of a run that is going on, or was killed, are no problem.
    """
    schemas = {experiment: store.about(experiment).schema for experiment in store.experiments}
    problems = [
        Problem("about", path, "is not the copy of store.json that was written")
        for path in store.lost_copies()
    ]
    for experiment, dataset, cell in store.places():
        schema = None if sizes_only else schemas[experiment]
        for path in sorted((store.path / experiment / dataset / cell).iterdir()):
            problems += _problems(store.methods(experiment).items(), path, schema)
    return problems


def repair(store: ResultStore, problem: Problem) -> bool:
    """Remove the damaged part or record, so that the next run redoes it.

    Nothing is removed if the problem has gone meanwhile; returns whether something was. A lost
    copy of `store.json` is written again.
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


def foreign_files(store: ResultStore) -> list[Path]:
    """Files in the store's folder that are none of its own; they are left alone."""
    return sorted(
        path for path in store.path.rglob("*") if path.is_file() and not _is_own(store, path)
    )


def _problems(
    methods: ItemsView[str, str], path: Path, schema: pl.Schema | None
) -> Iterator[Problem]:
    """Problems of a marker and its data, or of a failure record; without a schema, by size."""
    try:
        if path.name == FAILURE:
            load_failures(path.parent)
        elif is_marker(path):
            part = load_part(path)
            if schema is not None:
                read_rows(part, schema)
            if part.methods.items().isdisjoint(methods):
                yield Problem("stale", path, "is of methods the store no longer has")
    except (DamagedPartError, UnreadableFailuresError) as error:
        yield error.problem
    except FileNotFoundError:
        return  # Another process dropped the part just now.


def _is_own(store: ResultStore, path: Path) -> bool:
    if is_temporary(path):
        return True
    match path.relative_to(store.path).parts:
        case (described.STORE,) | (described.LOG, _):
            return True
        case (experiment, described.ABOUT):
            return experiment in store.experiments
        case (experiment, dataset, cell, name) if experiment in store.experiments:
            known = dataset in store.datasets(experiment) and described.is_name(cell)
            return known and (name == FAILURE or is_marker(path) or is_data(path))
        case _:
            return False
