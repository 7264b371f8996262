"""Converts results of an older version to this one, and keeps the old ones.

    DIR              the results
    .DIR.migrating   the new results while they are written; after an interruption, started over
    DIR.v1           the old results, once the new ones have taken their place

The change takes two renames. If the process is killed between them, `DIR` is missing, and the same
command completes the change.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quantshift.errors import UserError
from quantshift.files import disk_errors, flush, is_temporary, locked, make_folder
from quantshift.results import description as described
from quantshift.results import version_1
from quantshift.results.failures import (
    FAILURE,
    UnreadableFailuresError,
    load_failures,
    save_failures,
)
from quantshift.results.parts import (
    DamagedPartError,
    Problem,
    is_data,
    is_marker,
    load_part,
    write_part,
)
from quantshift.results.store import ResultStore
from quantshift.results.verification import verify


@dataclass
class Migration:
    """The outcome of a migration: parts and rows of the new results, where the old ones are kept.

    left_out  damaged files, which have no counterpart in the new results
    foreign   files that do not belong to the results; they stay with the old results only
    """

    kept: Path
    parts: int = 0
    rows: int = 0
    left_out: list[Problem] = field(default_factory=list)
    foreign: list[Path] = field(default_factory=list)


def migrate(path: str | Path) -> Migration | None:
    """Bring the results in a folder up to date; None if they already are.

    The old results are kept next to the folder, as `DIR.v1`. After an interruption at any time, the
    same call completes the work or starts over.
    """
    folder = Path(os.path.realpath(path))
    aside = folder.with_name(f".{folder.name}.migrating")
    done = Migration(folder.with_name(f"{folder.name}.v{version_1.VERSION}"))
    current = folder if folder.is_dir() else done.kept
    if not current.is_dir():
        described.load_any(folder)  # raises
    # The lock moves with the old results when they are renamed; waiting processes find new ones.
    with locked(current), disk_errors(folder.parent):
        if aside.is_dir() and done.kept.is_dir() and not folder.exists():
            _put_in_place(aside, folder)
            _count(ResultStore.open(folder), done)
            return done
        description = described.load_any(folder)
        old = description["version"] == version_1.VERSION
        if not old and not _older_files(ResultStore.open(folder)):
            return None
        if done.kept.exists():
            raise UserError(
                f"{done.kept}, where the old results would be kept, exists already; move it and "
                "run the same command again"
            )
        if aside.exists():
            shutil.rmtree(aside)
        if old:
            _build(folder, description, aside, done)
        else:
            _renew(ResultStore.open(folder), aside, done)
        folder.rename(done.kept)
        _put_in_place(aside, folder)
        _count(ResultStore.open(folder), done)
    return done


def _build(folder: Path, old: Mapping[str, Any], aside: Path, done: Migration) -> None:
    """Write the new store to another folder; the old one is only read."""
    make_folder(aside)
    experiments = {}
    for name, description in old["experiments"].items():
        experiment = version_1.Experiment.of(name, description)
        columns: set[str] = set()
        for cell, stratum in experiment.strata(_cells(folder / name)).items():
            place = aside / name / experiment.dataset / cell
            make_folder(place)
            for path in sorted((folder / name / cell).iterdir()):
                columns |= _convert(experiment, path, stratum, place, done)
        experiments[name] = experiment.described(columns)
    if (folder / described.LOG).is_dir():
        shutil.copytree(folder / described.LOG, aside / described.LOG)
    new = described.complete({**old, "experiments": experiments})
    described.save(aside, {**new, "quantshift": old.get("quantshift", new["quantshift"])})
    done.foreign = [p for p in sorted(folder.rglob("*")) if p.is_file() and not _is_own(folder, p)]


def _renew(store: ResultStore, aside: Path, done: Migration) -> None:
    """Copy a store of this version and bring the older files in it up to date."""
    shutil.copytree(store.path, aside)
    experiments = dict(store.description["experiments"])
    for path in _older_files(store):
        name, dataset, cell, _ = path.relative_to(store.path).parts
        experiment = version_1.Experiment(name, experiments[name], dataset)
        stratum = experiment.strata(store.cells(name, dataset))[cell]
        place = aside / name / dataset / cell
        columns = _convert(experiment, place / path.name, stratum, place, done)
        experiments[name] = _declaring(experiments[name], experiment.described(columns))
    described.save(aside, {**store.description, "experiments": experiments})


def _convert(
    experiment: version_1.Experiment, path: Path, stratum: int, place: Path, done: Migration
) -> set[str]:
    """Convert a file of version 1 to another folder, and return the columns that have values."""
    try:
        if is_marker(path):
            part = load_part(path, version=version_1.VERSION)
            rows = experiment.rows(part, stratum)
            write_part(place, part.methods, rows)
            return {name for name in rows.columns if rows[name].null_count() < len(rows)}
        if path.name == FAILURE:
            save_failures(place, load_failures(path.parent, version=version_1.VERSION))
    except (DamagedPartError, UnreadableFailuresError) as error:
        done.left_out.append(error.problem)
    return set()


def _declaring(current: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    known = {coordinate["name"] for coordinate in current.get("coordinates", ())}
    added = [c for c in more["coordinates"] if c["name"] not in known]
    return {
        **current,
        "coordinates": [*current.get("coordinates", ()), *added],
        "diagnostics": {**more["diagnostics"], **current.get("diagnostics", {})},
    }


def _count(store: ResultStore, done: Migration) -> None:
    parts = [part for part, _ in store.parts()]
    done.parts, done.rows = len(parts), sum(part.rows for part in parts)


def _put_in_place(aside: Path, folder: Path) -> None:
    aside.rename(folder)
    flush(folder.parent)


def _older_files(store: ResultStore) -> list[Path]:
    return [problem.path for problem in verify(store, sizes_only=True) if problem.kind == "older"]


def _cells(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    names = (path.name for path in folder.iterdir() if path.is_dir())
    return sorted(name for name in names if described.is_name(name))


def _is_own(folder: Path, path: Path) -> bool:
    """Whether a file belongs to the store of version 1 in the folder."""
    if is_temporary(path):
        return True
    match path.relative_to(folder).parts:
        case (described.STORE,) | (described.LOG, _):
            return True
        case (_, _, name):
            return name == FAILURE or is_marker(path) or is_data(path)
        case _:
            return False
