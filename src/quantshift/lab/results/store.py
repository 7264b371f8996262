"""The store of results on disk, so that nothing is computed twice.

    DIR/store.json                                       their description (`description.py`)
    DIR/<experiment>/about.json                          a copy of the experiment's description
    DIR/<experiment>/<data set>/<cell>/<part>.parquet    rows of the methods computed in one pass
    DIR/<experiment>/<data set>/<cell>/<part>.json       the marker: the part exists when this does
    DIR/<experiment>/<data set>/<cell>/failure.json      methods that failed, and why
    DIR/log/*.jsonl                                      when and how long; not part of the results

After an interruption at any time, a store contains what was finished before and nothing
half-written. Any number of processes may write to one store: processes that compute the same part
write the same bytes, and changes to a cell are made under a lock on its folder.
"""

import contextlib
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import polars as pl

from quantshift.base.forks import TABLE_THREADS, uses_tables
from quantshift.base.storage.files import is_temporary, locked, make_folder, remove_leftovers
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.lab.results import description as described
from quantshift.lab.results import sharing
from quantshift.lab.results.about import About
from quantshift.lab.results.failures import (
    Failure,
    load_failures,
    save_failures,
    without,
)
from quantshift.lab.results.log import RunLog
from quantshift.lab.results.parts import (
    DamagedFileError,
    Part,
    is_data,
    is_marker,
    load_part,
    read_bytes,
    read_rows,
    remove_part,
    write_part,
)
from quantshift.lab.results.schema import TYPES, conform, narrow_columns, select, union


@dataclass(frozen=True)
class ResultStore:
    """The results in a folder, and their description.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = ResultStore.create(f"{folder}/runs", {"experiments": {}})
    ...     store.path.name
    'runs'
    """

    path: Path
    description: Mapping[str, Any]

    @classmethod
    def create(
        cls, path: str | Path, description: Mapping[str, Any], *, redo: bool = False
    ) -> Self:
        """A store for this description: a new one, or the existing one with new entries added.

        `description` is plain JSON: `experiments` maps names to what determines their results,
        including `methods` (a list, each with `name` and `signature`), `shift` with its `kind`,
        `datasets` (name -> `items`, `source`, `classes`), `coordinates`, `diagnostics` and `words`;
        other keys apply to the whole store. If the folder has a store with conflicting entries, an
        error is raised.

        redo: first drop all results of the experiments in `description`, on the data sets named
            there.
        """
        folder = Path(path)
        requested = described.complete(description)
        make_folder(folder)
        with locked(folder):
            if not (folder / described.STORE).exists():
                _refuse_occupied(folder)
                described.begin(folder, requested)
            old = cls.open(folder)
            if redo:
                new = described.checked(sharing.replace(old.description, requested, folder))
                old._drop_datasets(requested["experiments"])
            else:
                new = described.checked(sharing.merge(old.description, requested, folder))
            if new != old.description or old.lost_copies():
                described.save(folder, new)
        store = cls(folder, new)
        store.clean()
        return store

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The store in the folder `path`; an error if its format cannot be read."""
        TABLE_THREADS.use()
        return cls(Path(path), described.load(Path(path)))

    @classmethod
    def rebuild(cls, path: str | Path) -> Self:
        """The store in the folder `path`, rebuilding its `store.json` if it was damaged or lost.

        It is rebuilt from the copies in the folders of the experiments.
        """
        folder = Path(path)
        with contextlib.suppress(described.DamagedStoreError):
            return cls.open(folder)
        with locked(folder):
            described.save(folder, described.rebuild(folder))
        return cls.open(folder)

    @property
    def experiments(self) -> tuple[str, ...]:
        """Names of the experiments."""
        return tuple(self.description["experiments"])

    @property
    def log(self) -> RunLog:
        """The log of the runs that wrote to this store."""
        return RunLog(self.path / described.LOG / "runs.jsonl")

    @property
    def times(self) -> RunLog:
        """How long the methods took, a record per cell that was computed."""
        return RunLog(self.path / described.LOG / "times.jsonl")

    def left_out(self, experiment: str, dataset: str) -> dict[str, str]:
        """Methods that are not run on the data set, name -> why."""
        return dict(self._described(experiment)["datasets"][dataset].get(described.LEFT_OUT, {}))

    def is_ordered(self, experiment: str, dataset: str) -> bool:
        """Whether the data set has three or more ordered classes."""
        return bool(self._described(experiment)["datasets"][dataset].get(described.ORDERED))

    def about(self, experiment: str) -> About:
        """The experiment's shift, coordinates, words, data sets and diagnostics."""
        return About.of(experiment, self._described(experiment))

    def datasets(self, experiment: str) -> tuple[str, ...]:
        """Names of the data sets of an experiment."""
        return tuple(self._described(experiment)["datasets"])

    def methods(self, experiment: str) -> dict[str, str]:
        """Methods of an experiment, name -> signature."""
        return described.signatures(self._described(experiment))

    def quantifiers(self, experiment: str) -> dict[str, str]:
        """Methods of an experiment, name -> its quantifier, by name or import path."""
        methods = self._described(experiment)["methods"]
        return {method["name"]: method.get("quantifier", method["name"]) for method in methods}

    def cells(self, experiment: str, dataset: str) -> tuple[str, ...]:
        """Keys of the cells that have, or once had, results or failures in the store."""
        folder = self._dataset_folder(experiment, dataset)
        if not folder.is_dir():
            return ()
        names = (path.name for path in folder.iterdir() if path.is_dir())
        return tuple(sorted(name for name in names if described.is_name(name)))

    def lost_copies(self) -> list[Path]:
        """The `about.json` files of experiments that are missing or damaged."""
        paths = (self.path / e / described.ABOUT for e in self.experiments)
        return [path for path in paths if not described.is_sound_about(path)]

    def places(self, experiments: Iterable[str] | None = None) -> Iterator[tuple[str, str, str]]:
        """Experiment, data set and key of every cell in the store, in a fixed order."""
        for experiment in self.experiments if experiments is None else experiments:
            for dataset in self.datasets(experiment):
                for cell in self.cells(experiment, dataset):
                    yield experiment, dataset, cell

    def finished(self, experiment: str, dataset: str, cell: str) -> dict[str, str]:
        """Methods with results for the cell, name -> signature.

        A part counts if its marker exists and its data has the right size; nothing is hashed.
        """
        finished: dict[str, str] = {}
        for marker in self._markers(experiment, dataset, cell):
            part = _usable(marker)
            if part is not None:
                finished |= self._current(experiment, part)
        return finished

    def failed(self, experiment: str, dataset: str, cell: str) -> dict[str, str]:
        """Methods that failed on the cell and have no results since, name -> signature."""
        finished = self.finished(experiment, dataset, cell)
        return {
            method: signature
            for failure in self.failures(experiment, dataset, cell)
            for method, signature in failure.methods.items()
            if finished.get(method) != signature
        }

    def failures(self, experiment: str, dataset: str, cell: str) -> tuple[Failure, ...]:
        """The failure records of the cell."""
        return load_failures(self._folder(experiment, dataset, cell))

    @uses_tables
    def write_part(
        self,
        experiment: str,
        dataset: str,
        cell: str,
        methods: Mapping[str, str],
        frame: pl.DataFrame,
    ) -> Part:
        """Store the rows of these methods (name -> signature) on the cell.

        When this returns, they are on disk. A failure record of the methods is removed.
        """
        self._check_methods(experiment, methods)
        self._folder(experiment, dataset, cell)
        about = self.about(experiment)
        rows = conform(frame, about.schema)
        names = {"experiment": experiment, "shift": about.shift, "dataset": dataset, "cell": cell}
        _check_rows(rows, names, methods)
        _check_numbers(rows, about.datasets[dataset], names)
        with self._changing(experiment, dataset, cell) as folder:
            part = write_part(folder, methods, rows)
            _forget_failures(folder, methods)
        return part

    def write_failure(
        self,
        experiment: str,
        dataset: str,
        cell: str,
        methods: Mapping[str, str],
        error: BaseException,
    ) -> Failure:
        """Record that these methods have no results on the cell because of `error`."""
        self._check_methods(experiment, methods)
        failure = Failure.of(methods, error)
        with self._changing(experiment, dataset, cell) as folder:
            save_failures(folder, [*without(_readable_failures(folder), methods), failure])
        return failure

    def drop(self, experiment: str, dataset: str, cell: str, method: str | None = None) -> None:
        """Remove the results and failures of a method, or of all methods, on the cell.

        Methods that shared a part with it keep their rows, which are rewritten before the old part
        is removed. A damaged part is removed completely.
        """
        if not self._folder(experiment, dataset, cell).is_dir():
            return
        schema = self.about(experiment).schema
        with self._changing(experiment, dataset, cell) as folder:
            for marker in self._markers(experiment, dataset, cell):
                part = _usable(marker)
                if method is not None and part is not None:
                    if method not in part.methods:
                        continue
                    _write_without(part, method, schema)
                remove_part(marker)
            if method is None:
                save_failures(folder, [])
            else:
                _forget_failures(folder, [method])

    def parts(
        self,
        experiments: Collection[str] | None = None,
        datasets: Collection[str] | None = None,
    ) -> Iterator[tuple[Part, tuple[str, ...]]]:
        """Every part with the methods to take from it, in a fixed order.

        A method that is in two parts of a cell is taken from one of them; methods whose signature
        differs from the store's are skipped. A damaged part is an error.
        """
        for experiment, dataset, cell in self.places(self._chosen_experiments(experiments)):
            if datasets is not None and dataset not in datasets:
                continue
            seen: set[str] = set()
            for marker in self._markers(experiment, dataset, cell):
                part = load_part(marker)
                taken = self._current(experiment, part).keys() - seen
                seen |= taken
                if taken:
                    yield part, tuple(sorted(taken))

    @uses_tables
    def read(
        self,
        experiments: Collection[str] | None = None,
        methods: Collection[str] | None = None,
        datasets: Collection[str] | None = None,
    ) -> pl.LazyFrame:
        """The rows of all finished parts, or only of the named experiments, methods and data sets.

        The columns are those of all chosen experiments, null where one does not have them. (A
        coordinate that is a number in one and a vector in another is a vector in all.) The hash of
        every file is checked first; a damaged part is an error that names it. The frame is lazy:
        select the columns you need before you collect it.
        """
        chosen = self._chosen_experiments(experiments)
        self._check_known("method", methods, [m for e in chosen for m in self.methods(e)])
        self._check_known("data set", datasets, [d for e in chosen for d in self.datasets(e)])
        schemas = {experiment: self.about(experiment).schema for experiment in chosen}
        files: list[_File] = []
        for part, taken in self.parts(chosen, datasets):
            if methods is None or not set(methods).isdisjoint(taken):
                experiment = part.folder.parents[1].name
                written = pl.read_parquet_schema(io.BytesIO(read_bytes(part)))
                only = None if len(taken) == len(part.methods) else taken
                narrow = narrow_columns(written, schemas[experiment])
                files.append(_File(part.data, experiment, only, narrow))
        whole = union(schemas.values())
        frames = [pl.LazyFrame(schema=whole)]
        # Consecutive files that need no filter share one scan: 600 scans would be slow.
        for (experiment, only, narrow), group in groupby(files, key=_File.kind):
            schema = pl.Schema(schemas[experiment] | dict.fromkeys(narrow, TYPES["float"]))
            scan = pl.scan_parquet(
                [file.path for file in group],
                schema=schema,
                missing_columns="insert",
                glob=False,
                hive_partitioning=False,  # names of cells may look like partitions
            )
            taken_rows = scan if only is None else scan.filter(pl.col("method").is_in(only))
            frames.append(taken_rows.select(select(schema, whole)))
        rows = pl.concat(frames)
        return rows if methods is None else rows.filter(pl.col("method").is_in(list(methods)))

    def clean(self) -> int:
        """Remove what killed processes left behind: temporary files and data without a marker.

        Files that a running process is writing are left alone. Returns how many were removed.
        """
        removed = remove_leftovers(self.path)
        for experiment in self.experiments:
            if (self.path / experiment).is_dir():
                removed += remove_leftovers(self.path / experiment)
        for experiment, dataset, cell in self.places():
            folder = self._folder(experiment, dataset, cell)
            removed += remove_leftovers(folder)
            if any(_orphans(folder)):
                with locked(folder):
                    for orphan in _orphans(folder):
                        orphan.unlink(missing_ok=True)
                        removed += 1
        return removed

    def _described(self, experiment: str) -> Mapping[str, Any]:
        if experiment not in self.experiments:
            raise unknown_name("experiment", experiment, self.experiments)
        record: Mapping[str, Any] = self.description["experiments"][experiment]
        return record

    def _chosen_experiments(self, experiments: Collection[str] | None) -> Sequence[str]:
        for name in experiments or ():
            self._described(name)
        return [e for e in self.experiments if experiments is None or e in experiments]

    @staticmethod
    def _check_known(kind: str, names: Collection[str] | None, known: Collection[str]) -> None:
        for name in names or ():
            if name not in known:
                raise unknown_name(kind, name, set(known))

    def _check_methods(self, experiment: str, methods: Mapping[str, str]) -> None:
        signatures = self.methods(experiment)
        for method, signature in methods.items():
            if method not in signatures:
                raise unknown_name(f"method of experiment {experiment!r}", method, signatures)
            if signatures[method] != signature:
                raise UserError(
                    f"method {method!r} of experiment {experiment!r} has signature {signature}, "
                    f"the store is for {signatures[method]}; choose another folder, or redo all",
                    arguments=["out", "redo"],
                )

    def _current(self, experiment: str, part: Part) -> dict[str, str]:
        signatures = self.methods(experiment)
        return {m: s for m, s in part.methods.items() if signatures.get(m) == s}

    def _dataset_folder(self, experiment: str, dataset: str) -> Path:
        datasets = self.datasets(experiment)
        if dataset not in datasets:
            raise unknown_name(f"data set of experiment {experiment!r}", dataset, datasets)
        return self.path / experiment / dataset

    def _folder(self, experiment: str, dataset: str, cell: str) -> Path:
        folder = self._dataset_folder(experiment, dataset)
        described.check_name("cell", cell)
        return folder / cell

    def _markers(self, experiment: str, dataset: str, cell: str) -> list[Path]:
        folder = self._folder(experiment, dataset, cell)
        if not folder.is_dir():
            return []
        return sorted(path for path in folder.iterdir() if is_marker(path))

    @contextlib.contextmanager
    def _changing(self, experiment: str, dataset: str, cell: str) -> Iterator[Path]:
        folder = self._folder(experiment, dataset, cell)
        make_folder(folder)
        with locked(folder):
            yield folder

    def _drop_datasets(self, experiments: Mapping[str, Any]) -> None:
        for experiment, dataset, cell in self.places():
            if experiment in experiments and dataset in experiments[experiment]["datasets"]:
                self.drop(experiment, dataset, cell)


@dataclass(frozen=True)
class _File:
    """A Parquet file to read.

    methods  those to take from it; None: all of them
    narrow   columns of numbers where the store has vectors by now
    """

    path: Path
    experiment: str
    methods: tuple[str, ...] | None
    narrow: tuple[str, ...]

    def kind(self) -> tuple[str, tuple[str, ...] | None, tuple[str, ...]]:
        """Files of one kind are scanned together."""
        return self.experiment, self.methods, self.narrow


def _refuse_occupied(folder: Path) -> None:
    if described.about_files(folder):
        described.load(folder)  # raises an error: the store has lost its description
    if not all(is_temporary(path) for path in folder.iterdir()):
        raise UserError(
            f"{folder} is not empty and holds no results; choose another folder", arguments=["out"]
        )


def _check_rows(rows: pl.DataFrame, names: Mapping[str, str], methods: Collection[str]) -> None:
    expected = {**{column: {value} for column, value in names.items()}, "method": set(methods)}
    for column, values in expected.items():
        present = set(rows[column].unique())
        if present != values:
            raise DataError(
                f"{_whose(names)} have {column} {sorted(present)}, expected {sorted(values)}"
            )
    # A cell is one training set, and methods are paired by the numbers of the samples.
    for column in ("stratum", "train_repeat"):
        if rows[column].n_unique() > 1:
            raise DataError(f"{_whose(names)} have {column} {rows[column].unique().to_list()}")
    if rows.select("method", "sample").is_duplicated().any():
        raise DataError(f"{_whose(names)} have a sample twice; number the samples of a cell from 0")


def _check_numbers(rows: pl.DataFrame, classes: Sequence[str], names: Mapping[str, str]) -> None:
    lengths = set(rows["p_true"].list.len())
    if lengths != {len(classes)}:
        raise DataError(
            f"{_whose(names)} have prevalences of {sorted(lengths)} classes, the data set has "
            f"{len(classes)} ({', '.join(classes)})"
        )


def _whose(names: Mapping[str, str]) -> str:
    return f"rows for cell {names['cell']!r} of experiment {names['experiment']!r}"


def _usable(marker: Path) -> Part | None:
    """The part; None if it is damaged (which `verify` reports) or was just dropped."""
    try:
        return load_part(marker)
    except FileNotFoundError:
        return None
    except DamagedFileError as error:
        if not error.problem.repairable:
            raise
        return None


def _write_without(part: Part, method: str, schema: pl.Schema) -> None:
    """Write the rows of the part's other methods, unless there are none or they are damaged."""
    remaining = {name: signature for name, signature in part.methods.items() if name != method}
    with contextlib.suppress(DamagedFileError):
        if remaining:
            write_part(
                part.folder, remaining, read_rows(part, schema).filter(pl.col("method") != method)
            )


def _orphans(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if is_data(path) and not path.with_suffix(".json").exists():
            yield path


def _readable_failures(folder: Path) -> tuple[Failure, ...]:
    # A record that will be replaced need not be readable, unless another version wrote it.
    try:
        return load_failures(folder)
    except DamagedFileError as error:
        if not error.problem.repairable:
            raise
        return ()


def _forget_failures(folder: Path, methods: Collection[str]) -> None:
    save_failures(folder, without(_readable_failures(folder), methods))
