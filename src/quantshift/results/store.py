"""The store of results on disk: what was computed, kept so that nothing is computed twice.

    DIR/store.json                             what the results are of (`description.py`)
    DIR/<experiment>/<cell>/<part>.parquet     rows of the methods computed in one pass
    DIR/<experiment>/<cell>/<part>.json        the marker: the part exists when this does
    DIR/<experiment>/<cell>/failure.json       methods that failed, and why
    DIR/log/*.jsonl                            when and how long; no part of the results

Killed at any instant, a store holds what was finished before and nothing half-written. Any number
of processes may write to one store: who computes the same part writes the same bytes, and changes
to a cell are made under a lock on its folder.
"""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import polars as pl

from quantshift.errors import DataError, UserError, unknown_name
from quantshift.files import is_temporary, locked, make_folder, remove_leftovers
from quantshift.results import description as described
from quantshift.results.failures import Failure, load_failures, save_failures, without
from quantshift.results.log import RunLog
from quantshift.results.parts import (
    DamagedPartError,
    Part,
    is_data,
    is_marker,
    load_part,
    read_bytes,
    read_rows,
    remove_part,
    write_part,
)
from quantshift.results.schema import SCHEMA, conform


@dataclass(frozen=True)
class ResultStore:
    """The results in a folder, and what they are of."""

    path: Path
    description: Mapping[str, Any]

    @classmethod
    def create(
        cls, path: str | Path, description: Mapping[str, Any], *, redo: bool = False
    ) -> Self:
        """A store for this description: a new one, or the existing one with what is new added.

        `description` is plain JSON: `experiments` maps names to what determines their results,
        with `methods` (a list, each with `name` and `signature`) among it; other keys (corpus,
        say) hold for the whole store. A store made for something else is refused.

        redo: drop all results of the experiments named in `description` first.
        """
        folder = Path(path)
        wanted = described.complete(description)
        make_folder(folder)
        with locked(folder):
            if not (folder / described.STORE).exists():
                _refuse_occupied(folder)
                described.save(folder, wanted)
            old = cls.open(folder)
            if redo:
                new = described.replace(old.description, wanted, folder)
                old._drop_experiments(wanted["experiments"])
            else:
                new = described.merge(old.description, wanted, folder)
            if new != old.description:
                described.save(folder, new)
        store = cls(folder, new)
        store.clean()
        return store

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The store in the folder `path`; refused unless its format is one we read."""
        return cls(Path(path), described.load(Path(path)))

    @property
    def experiments(self) -> tuple[str, ...]:
        """Names of the experiments."""
        return tuple(self.description["experiments"])

    @property
    def log(self) -> RunLog:
        """The diary of the runs that wrote to this store."""
        return RunLog(self.path / described.LOG / "runs.jsonl")

    def methods(self, experiment: str) -> dict[str, str]:
        """Methods of an experiment, name -> signature."""
        if experiment not in self.experiments:
            raise unknown_name("experiment", experiment, self.experiments)
        return described.signatures(self.description["experiments"][experiment])

    def cells(self, experiment: str) -> tuple[str, ...]:
        """Keys of the cells that have, or once had, something in the store."""
        self.methods(experiment)
        folder = self.path / experiment
        if not folder.is_dir():
            return ()
        names = (path.name for path in folder.iterdir() if path.is_dir())
        return tuple(sorted(name for name in names if described.is_name(name)))

    def finished(self, experiment: str, cell: str) -> dict[str, str]:
        """Methods with results for the cell, name -> signature.

        A part counts when its marker and data are there in full size; nothing is hashed.
        """
        finished: dict[str, str] = {}
        for marker in self._markers(experiment, cell):
            part = _usable(marker)
            if part is not None:
                finished |= self._current(experiment, part)
        return finished

    def failed(self, experiment: str, cell: str) -> dict[str, str]:
        """Methods that failed on the cell and have no results since, name -> signature."""
        finished = self.finished(experiment, cell)
        return {
            method: signature
            for failure in self.failures(experiment, cell)
            for method, signature in failure.methods.items()
            if finished.get(method) != signature
        }

    def failures(self, experiment: str, cell: str) -> tuple[Failure, ...]:
        """The failure records of the cell."""
        return load_failures(self._folder(experiment, cell))

    def write_part(
        self, experiment: str, cell: str, methods: Mapping[str, str], frame: pl.DataFrame
    ) -> Part:
        """Store the rows of these methods (name -> signature) on the cell.

        After the return they are on disk. A failure record of the methods is removed.
        """
        self._check_methods(experiment, methods)
        rows = conform(frame)
        for column, expected in (
            ("experiment", {experiment}),
            ("cell", {cell}),
            ("method", set(methods)),
        ):
            found = set(rows[column].unique())
            if found != expected:
                raise DataError(
                    f"rows for cell {cell!r} of experiment {experiment!r} have {column} "
                    f"{sorted(found)}, expected {sorted(expected)}"
                )
        with self._changing(experiment, cell) as folder:
            part = write_part(folder, methods, rows)
            _forget_failures(folder, methods)
        return part

    def write_failure(
        self, experiment: str, cell: str, methods: Mapping[str, str], error: BaseException
    ) -> Failure:
        """Record that these methods have no results on the cell because of `error`."""
        self._check_methods(experiment, methods)
        failure = Failure.of(methods, error)
        with self._changing(experiment, cell) as folder:
            save_failures(folder, [*without(_readable_failures(folder), methods), failure])
        return failure

    def drop(self, experiment: str, cell: str, method: str | None = None) -> None:
        """Forget the results and failures of a method, or of all, on the cell.

        Methods that shared a part with it keep their rows: these are written anew before the old
        part goes. A damaged part goes whole.
        """
        self.methods(experiment)
        if not self._folder(experiment, cell).is_dir():
            return
        with self._changing(experiment, cell) as folder:
            for marker in self._markers(experiment, cell):
                part = _usable(marker)
                if method is not None and part is not None:
                    if method not in part.methods:
                        continue
                    _write_without(part, method)
                remove_part(marker)
            if method is None:
                save_failures(folder, [])
            else:
                _forget_failures(folder, [method])

    def parts(
        self, experiments: Collection[str] | None = None
    ) -> Iterator[tuple[Part, tuple[str, ...]]]:
        """Every part with the methods to take from it, in a fixed order.

        A method that is in two parts of a cell is taken from one of them; methods whose signature
        is not the store's from none. A damaged part is an error.
        """
        for experiment in self._chosen_experiments(experiments):
            for cell in self.cells(experiment):
                seen: set[str] = set()
                for marker in self._markers(experiment, cell):
                    part = load_part(marker)
                    taken = self._current(experiment, part).keys() - seen
                    seen |= taken
                    if taken:
                        yield part, tuple(sorted(taken))

    def read(
        self, experiments: Collection[str] | None = None, methods: Collection[str] | None = None
    ) -> pl.LazyFrame:
        """The rows of all finished parts, or of the named experiments and methods only.

        Every file is compared with its hash before; a damaged part is an error that names it. The
        frame is lazy: select the columns you need before you collect it.
        """
        self._check_known_methods(experiments, methods)
        files: list[tuple[Path, tuple[str, ...] | None]] = []
        for part, taken in self.parts(experiments):
            if methods is None or not set(methods).isdisjoint(taken):
                read_bytes(part)
                files.append((part.data, None if len(taken) == len(part.methods) else taken))
        frames = [pl.LazyFrame(schema=SCHEMA)]
        # One scan for every run of files that are taken whole: 600 scans would be slow.
        for only, group in groupby(files, key=lambda file: file[1]):
            # The names of cells look like Hive partitions and are none.
            paths = [path for path, _ in group]
            scan = pl.scan_parquet(paths, glob=False, hive_partitioning=False)
            frames.append(scan if only is None else scan.filter(pl.col("method").is_in(only)))
        rows = pl.concat(frames)
        return rows if methods is None else rows.filter(pl.col("method").is_in(list(methods)))

    def clean(self) -> int:
        """Remove what killed processes left behind: temporary files, data without a marker.

        Files that a live process is writing are left alone. Returns how many were removed.
        """
        removed = remove_leftovers(self.path)
        for experiment in self.experiments:
            for cell in self.cells(experiment):
                folder = self._folder(experiment, cell)
                removed += remove_leftovers(folder)
                if any(_orphans(folder)):
                    with locked(folder):
                        for orphan in _orphans(folder):
                            orphan.unlink(missing_ok=True)
                            removed += 1
        return removed

    def _chosen_experiments(self, experiments: Collection[str] | None) -> Sequence[str]:
        for name in experiments or ():
            self.methods(name)
        return [e for e in self.experiments if experiments is None or e in experiments]

    def _check_known_methods(
        self, experiments: Collection[str] | None, methods: Collection[str] | None
    ) -> None:
        known = {m for e in self._chosen_experiments(experiments) for m in self.methods(e)}
        for method in methods or ():
            if method not in known:
                raise unknown_name("method", method, known)

    def _check_methods(self, experiment: str, methods: Mapping[str, str]) -> None:
        known = self.methods(experiment)
        for method, signature in methods.items():
            if method not in known:
                raise unknown_name(f"method of experiment {experiment!r}", method, known)
            if known[method] != signature:
                raise UserError(
                    f"method {method!r} of experiment {experiment!r} has signature {signature}, "
                    f"the store is for {known[method]}; use another --out, or --redo all"
                )

    def _current(self, experiment: str, part: Part) -> dict[str, str]:
        known = self.methods(experiment)
        return {m: s for m, s in part.methods.items() if known.get(m) == s}

    def _folder(self, experiment: str, cell: str) -> Path:
        self.methods(experiment)
        described.check_name("cell", cell)
        return self.path / experiment / cell

    def _markers(self, experiment: str, cell: str) -> list[Path]:
        folder = self._folder(experiment, cell)
        if not folder.is_dir():
            return []
        return sorted(path for path in folder.iterdir() if is_marker(path))

    @contextlib.contextmanager
    def _changing(self, experiment: str, cell: str) -> Iterator[Path]:
        folder = self._folder(experiment, cell)
        make_folder(folder)
        with locked(folder):
            yield folder

    def _drop_experiments(self, experiments: Collection[str]) -> None:
        for experiment in self.experiments:
            if experiment in experiments:
                for cell in self.cells(experiment):
                    self.drop(experiment, cell)


def _refuse_occupied(folder: Path) -> None:
    if not all(is_temporary(path) for path in folder.iterdir()):
        raise UserError(f"{folder} is not empty and holds no results; choose another --out")


def _usable(marker: Path) -> Part | None:
    """The part, or None if it is damaged (which `verify` tells) or was dropped just now."""
    try:
        return load_part(marker)
    except FileNotFoundError:
        return None
    except DamagedPartError as error:
        if not error.problem.repairable:
            raise
        return None


def _write_without(part: Part, method: str) -> None:
    """Write the rows of the part's other methods, unless there are none or they are damaged."""
    kept = {name: signature for name, signature in part.methods.items() if name != method}
    with contextlib.suppress(DamagedPartError):
        if kept:
            write_part(part.folder, kept, read_rows(part).filter(pl.col("method") != method))


def _orphans(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if is_data(path) and not path.with_suffix(".json").exists():
            yield path


def _readable_failures(folder: Path) -> tuple[Failure, ...]:
    # A record about to be replaced need not be readable.
    with contextlib.suppress(DataError):
        return load_failures(folder)
    return ()


def _forget_failures(folder: Path, methods: Collection[str]) -> None:
    save_failures(folder, without(_readable_failures(folder), methods))
