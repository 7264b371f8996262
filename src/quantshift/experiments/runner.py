"""Running experiments: what is missing is computed, what is there is left alone.

The runner opens the store, plans, hands the jobs to an executor and counts. It computes nothing
itself, prints nothing, and may be killed at any instant.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quantshift import __version__
from quantshift.errors import UserError
from quantshift.experiments.dataset import AbstractSource, open_source
from quantshift.experiments.executors import AbstractExecutor
from quantshift.experiments.plan import Plan, plan
from quantshift.experiments.population import population_of
from quantshift.experiments.spec import Experiment
from quantshift.experiments.work import Job, JobReport
from quantshift.results.store import ResultStore
from quantshift.results.verify import repair, verify

REDO_ALL = "all"
REDO_FAILED = "failed"


@dataclass(frozen=True)
class Progress:
    """How far a run is: cells done and in all, failures so far, seconds since its start."""

    done: int
    total: int
    failures: tuple[str, ...]
    seconds: float
    n_workers: int

    @property
    def rate(self) -> float:
        """Cells per second."""
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the rate so far."""
        return (self.total - self.done) / self.rate if self.done else None


@dataclass(frozen=True)
class Run:
    """Experiments, each with the source of its items, and the folder of their results."""

    experiments: tuple[Experiment, ...]
    sources: Mapping[str, AbstractSource]
    out: Path

    def plan(self, store: ResultStore | None = None, *, retry_failed: bool = False) -> Plan:
        """What is to be done, given what the store holds; failures count as done by default."""

        def there(experiment: str, cell: str) -> Mapping[str, str]:
            if store is None or experiment not in store.experiments:
                return {}
            failed = {} if retry_failed else store.failed(experiment, cell)
            return {**failed, **store.finished(experiment, cell)}

        return plan(self.experiments, there)


@dataclass(frozen=True)
class RunSummary:
    """What a run did: cells computed, failures, seconds, and damaged files it redid.

    failed_before: results (a method on a cell) that failed in earlier runs and were left alone.
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
    progress: Callable[[Progress], None] | None = None,
) -> RunSummary:
    """Compute what is missing in the store at `run.out`.

    redo: "failed" retries what has failed, "all" begins the experiments afresh, the name of a
        method computes that method again.
    """
    run.plan()  # Refuses experiments that cannot be run together, before anything is written.
    if redo not in (None, REDO_ALL, REDO_FAILED):
        _check_method(run, redo)
    for experiment in run.experiments:
        _check_pools(experiment, run.sources[experiment.name])
    store = ResultStore.create(run.out, describe(run), redo=redo == REDO_ALL)
    repaired = tuple(str(problem) for problem in verify(store) if repair(store, problem))
    if redo not in (None, REDO_ALL, REDO_FAILED):
        _drop_method(run, store, redo)
    todo = run.plan(store, retry_failed=redo == REDO_FAILED)
    jobs = [
        Job(part.experiment, task, run.sources[part.experiment.name], run.out.absolute())
        for part in todo.experiments
        for task in part.tasks
    ]
    failed_before = 0 if redo == REDO_FAILED else _count_failed(todo, store)
    # Asked once: a cluster is called up for it.
    n_workers = executor.n_workers if jobs else 0
    begun = time.perf_counter()
    failures: tuple[str, ...] = ()
    done = 0
    try:
        for done, report in enumerate(_reports(executor, jobs), start=1):
            failures += tuple(f"{report.name}: {line}" for line in report.failures)
            if progress is not None:
                seconds = time.perf_counter() - begun
                progress(Progress(done, len(jobs), failures, seconds, n_workers))
    finally:
        seconds = time.perf_counter() - begun
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
            }
            store.log.append(record)
    store.clean()  # What workers that died left behind.
    return RunSummary(done, failures, seconds, repaired, failed_before)


def describe(run: Run) -> dict[str, object]:
    """What the store is of: the resolved experiments and the content of their data."""
    return {
        "experiments": {
            experiment.name: {
                **experiment.resolved(),
                "items": open_source(run.sources[experiment.name]).hash,
                "source": run.sources[experiment.name].title,
            }
            for experiment in run.experiments
        }
    }


def _reports(executor: AbstractExecutor, jobs: Sequence[Job]) -> Iterator[JobReport]:
    return executor.run(jobs) if jobs else iter(())


def _check_pools(experiment: Experiment, source: AbstractSource) -> None:
    """Refuse before the first cell what would fail in every cell."""
    population = population_of(experiment, open_source(source))
    columns = (population.labels, population.categories)
    population.protocol.training_sets(*columns, pool=population.train_pool)
    population.protocol.samples(*columns, pool=population.test_pool)


def _check_method(run: Run, method: str) -> None:
    known = sorted({m.name for e in run.experiments for m in e.methods})
    if method not in known:
        raise UserError(
            f"--redo {method}: neither 'failed' nor 'all' nor a method of these experiments "
            f"({', '.join(known)})"
        )


def _drop_method(run: Run, store: ResultStore, method: str) -> None:
    for experiment in run.experiments:
        if method in {m.name for m in experiment.methods}:
            for cell in store.cells(experiment.name):
                store.drop(experiment.name, cell, method)


def _count_failed(todo: Plan, store: ResultStore) -> int:
    count = 0
    for part in todo.experiments:
        wanted = part.experiment.signatures().items()
        for cell in part.cells:
            count += len(store.failed(part.experiment.name, cell.key).items() & wanted)
    return count
