"""Running experiments: missing results are computed, existing ones are kept.

The runner opens the store, plans, passes the jobs to an executor and counts. It computes and prints
nothing itself, and may be killed at any time.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from quantshift import __version__
from quantshift.base.storage.files import file_sha256
from quantshift.errors import UserError
from quantshift.lab.data.sources import AbstractSource, open_source
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.experiments.executors import AbstractExecutor
from quantshift.lab.experiments.planning import Cell, LeftOut, Plan, cells_of, plan
from quantshift.lab.experiments.population import Population, open_population
from quantshift.lab.experiments.work import Job, JobReport
from quantshift.lab.results.description import LEFT_OUT, ORDERED
from quantshift.lab.results.store import ResultStore
from quantshift.lab.results.verification import repair, verify
from quantshift.lab.shifts.protocol import AbstractProtocol, Words

REDO_ALL = "all"
REDO_FAILED = "failed"


@dataclass(frozen=True)
class RunProgress:
    """Progress of a run: cells done, total cells, failures so far, seconds since its start.

    warm: cells done, and seconds since the start, when there was one cell per worker. Until then
    workers start and may compile, which says nothing about the time of later cells.
    """

    done: int
    total: int
    failures: tuple[str, ...]
    seconds: float
    n_workers: int
    warm: tuple[int, float] = (0, 0.0)

    @property
    def rate(self) -> float:
        """Cells per second, without the first cell of each worker as soon as there are more."""
        first, warm_seconds = self.warm if self.done >= 2 * self.n_workers else (0, 0.0)
        return (self.done - first) / max(self.seconds - warm_seconds, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the rate so far; None before two cells of each worker are done."""
        if self.done == self.total:
            return 0.0
        return (self.total - self.done) / self.rate if self.done >= 2 * self.n_workers else None


@dataclass(frozen=True)
class Run:
    """Experiments, each with the sources of its data sets, and the folder of their results.

    left_out: methods that are not run on some data sets, and why.
    """

    experiments: tuple[Experiment, ...]
    sources: Mapping[str, Sequence[AbstractSource]]
    out: Path
    left_out: LeftOut = field(default_factory=dict)

    def plan(self, store: ResultStore | None = None, *, retry_failed: bool = False) -> Plan:
        """What remains to be done, given the store; failures count as done by default."""

        def existing(cell: Cell) -> Mapping[str, str]:
            if store is None or cell.experiment not in store.experiments:
                return {}
            if cell.dataset not in store.datasets(cell.experiment):
                return {}
            failed = {} if retry_failed else store.failed(*cell.place)
            return {**failed, **store.finished(*cell.place)}

        return plan(
            [
                (e, [(s.name, _n_samples(e, s)) for s in self.sources[e.name]])
                for e in self.experiments
            ],
            existing,
            self._protocol,
            self.left_out,
        )

    def _protocol(self, experiment: Experiment, dataset: str) -> AbstractProtocol:
        """The protocol, with its training sets filled in if they depend on the data."""
        source = self.source(experiment.name, dataset)
        if experiment.shift.from_groups:
            return open_population(experiment, source).protocol
        is_split = _has_splits(experiment) and open_source(source).test is not None
        return experiment.shift.on_one_split() if is_split else experiment.shift

    def source(self, experiment: str, dataset: str) -> AbstractSource:
        """The source of the data set of that name."""
        return next(s for s in self.sources[experiment] if s.name == dataset)


@dataclass(frozen=True)
class RunSummary:
    """What a run did: cells computed, failures, seconds, and damaged files it redid.

    failed_before: results (a method on a cell) that failed in earlier runs and were not retried.
    """

    done: int
    failures: tuple[str, ...]
    seconds: float
    repaired: tuple[str, ...] = field(default=())
    failed_before: int = 0


def run_experiments(
    run: Run,
    executor: AbstractExecutor,
    *,
    redo: str | None = None,
    progress: Callable[[RunProgress], None] | None = None,
    command: str = "",
) -> RunSummary:
    """Compute what is missing in the store at `run.out`.

    Parameters
    ----------
    run : Run
        The experiments, their data and the folder of the results.
    executor : AbstractExecutor
        Where the work is done, such as `SerialExecutor()`.
    redo : str, optional
        "failed" retries what has failed, "all" starts the experiments again, the name of a method
        computes that method again.
    progress : callable, optional
        Called with a `RunProgress` after every cell.
    command : str
        What the user typed, for the log of the store.
    """
    method = redo if redo not in (REDO_ALL, REDO_FAILED) else None
    _check(run, method)
    store = ResultStore.create(run.out, describe(run), redo=redo == REDO_ALL)
    repaired = tuple(str(problem) for problem in verify(store) if repair(store, problem))
    if method is not None:
        _drop_method(run, store, method)
    remaining = run.plan(store, retry_failed=redo == REDO_FAILED)
    jobs = _jobs(run, remaining)
    failed_before = 0 if redo == REDO_FAILED else _count_failed(remaining, store)
    # Asked once, because it may contact a cluster.
    n_workers = executor.n_workers if jobs else 0
    files = _method_files(run)
    started = time.perf_counter()
    failures: tuple[str, ...] = ()
    done, warm = 0, (0, 0.0)
    try:
        for done, report in enumerate(_reports(executor, jobs), start=1):
            failures += tuple(f"{report.name}: {line}" for line in report.failures)
            if report.times:
                store.times.append(report.times)
            if progress is not None:
                seconds = time.perf_counter() - started
                warm = (done, seconds) if done <= n_workers else warm
                progress(RunProgress(done, len(jobs), failures, seconds, n_workers, warm))
    finally:
        seconds = time.perf_counter() - started
        if jobs:
            record = {
                "experiments": [experiment.name for experiment in run.experiments],
                "cells": done,
                "cells_planned": len(jobs),
                "failures": len(failures),
                "seconds": round(seconds, 3),
                "workers": n_workers,
                "executor": type(executor).__name__,
                "quantshift": __version__,
                **({"command": command} if command else {}),
                **({"files": files} if files else {}),
            }
            store.log.append(record)
        store.clean()  # Removes temporary files of workers that died or were stopped.
    return RunSummary(done, failures, seconds, repaired, failed_before)


def _check(run: Run, method: str | None) -> None:
    """Raise an error for what cannot be run, before anything is written.

    method: the one to compute again, if any.
    """
    for source in dict.fromkeys(s for sources in run.sources.values() for s in sources):
        source.verify()
    run.plan()  # Raises if experiments cannot be run together.
    if method is not None:
        _check_method(run, method)
    for experiment in run.experiments:
        for source in run.sources[experiment.name]:
            _check_pools(experiment, source)


def describe(run: Run) -> dict[str, object]:
    """The description of the store: the resolved experiments and the content of their data."""
    return {
        "experiments": {
            experiment.name: _described(
                experiment, run.sources[experiment.name], run.left_out.get(experiment.name, {})
            )
            for experiment in run.experiments
        }
    }


def _described(
    experiment: Experiment,
    sources: Sequence[AbstractSource],
    left_out: Mapping[str, Mapping[str, str]],
) -> dict[str, object]:
    populations = [open_population(experiment, source) for source in sources]
    # With more than two classes in any data set, prevalences are vectors.
    widest = max(populations, key=lambda population: len(population.classes)).protocol
    return {
        **experiment.resolved(),
        "coordinates": [coordinate.as_json() for coordinate in widest.coordinates()],
        "diagnostics": experiment.diagnostics,
        "words": _words(widest, [population.protocol for population in populations]).as_json(),
        "datasets": {
            source.name: {
                "items": open_source(source).hash,
                "source": source.title,
                "classes": list(population.classes),
                **_described_cells(experiment, source.name, population.protocol),
                **({ORDERED: True} if _is_ordered(source, population) else {}),
                **({LEFT_OUT: dict(reasons)} if (reasons := left_out.get(source.name)) else {}),
            }
            for source, population in zip(sources, populations, strict=True)
        },
    }


def _is_ordered(source: AbstractSource, population: Population) -> bool:
    """Whether there are three or more classes, and they are ordered."""
    return open_source(source).ordinal and len(population.classes) > 2


def _words(widest: AbstractProtocol, protocols: Sequence[AbstractProtocol]) -> Words:
    """The words of the widest protocol, with the notes of all data sets."""
    notes = dict.fromkeys(protocol.words().note for protocol in protocols)
    return replace(widest.words(), note=" ".join(filter(None, notes)))


def _described_cells(
    experiment: Experiment, dataset: str, protocol: AbstractProtocol
) -> dict[str, list[str]]:
    """The keys of the cells, if they depend on the data."""
    depends = protocol.from_groups or (
        protocol.count_training_sets() != experiment.shift.count_training_sets()
    )
    if not depends:
        return {}
    return {"cells": [cell.key for cell in cells_of(experiment.name, dataset, protocol)]}


def _has_splits(experiment: Experiment) -> bool:
    """Whether training sets come from several splits of the data."""
    shift = experiment.shift
    return shift.on_one_split().count_training_sets() != shift.count_training_sets()


def _n_samples(experiment: Experiment, source: AbstractSource) -> int:
    """Number of test samples of a training set; given samples are counted in the data."""
    if experiment.n_test_samples is not None:
        return experiment.n_test_samples
    if experiment.shift.from_groups:
        return open_population(experiment, source).protocol.count_samples() or 0
    if open_source(source).given is None:
        raise UserError(
            f"experiment {experiment.name!r} takes the samples that come with the data, and data "
            f"set {source.name!r} has none; use another kind of shift, e.g. prior"
        )
    return open_population(experiment, source).protocol.count_samples() or 0


def _reports(executor: AbstractExecutor, jobs: Sequence[Job]) -> Iterator[JobReport]:
    return executor.run(jobs) if jobs else iter(())


def _check_pools(experiment: Experiment, source: AbstractSource) -> None:
    """Raise before the first cell if every cell would fail."""
    population = open_population(experiment, source)
    try:
        population.check_pools()
    except UserError as error:
        raise type(error)(f"data set {source.name!r}: {error}") from None


def _method_files(run: Run) -> dict[str, dict[str, str]]:
    """Name and SHA-256 of the file of every method that is not of quantshift."""
    methods = {method.name: method.file for e in run.experiments for method in e.methods}
    return {
        name: {"file": file.name, "sha256": file_sha256(file)}
        for name, file in methods.items()
        if file is not None
    }


def _check_method(run: Run, method: str) -> None:
    names = sorted({m.name for e in run.experiments for m in e.methods})
    if method not in names:
        raise UserError(
            f"redo={method!r} is neither 'failed' nor 'all' nor a method of these experiments "
            f"({', '.join(names)})"
        )


def _drop_method(run: Run, store: ResultStore, method: str) -> None:
    for experiment in run.experiments:
        if method not in {m.name for m in experiment.methods}:
            continue
        for source in run.sources[experiment.name]:
            for cell in store.cells(experiment.name, source.name):
                store.drop(experiment.name, source.name, cell, method)


def _jobs(run: Run, plan: Plan) -> list[Job]:
    """The cells that a plan computes."""
    return [
        Job(
            part.experiment,
            task,
            run.source(part.experiment.name, part.dataset),
            run.out.absolute(),
        )
        for part in plan.experiments
        for task in part.tasks
    ]


def _count_failed(remaining: Plan, store: ResultStore) -> int:
    count = 0
    for part in remaining.experiments:
        signatures = part.experiment.signatures().items()
        for cell in part.cells:
            count += len(store.failed(*cell.place).items() & signatures)
    return count
