"""What a worker does: one cell, from its description to rows in the store.

Jobs are small and picklable. The process that performs one (this process, a local worker, a machine
of a cluster) opens the data once and writes the outcome itself, so that results are neither sent
nor lost.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quantshift.base.threads import in_one_thread
from quantshift.lab.data.sources import AbstractSource, open_source
from quantshift.lab.experiments.cell import CellOutcome, compute_cell
from quantshift.lab.experiments.documents.experiment import Experiment, MethodSpec
from quantshift.lab.experiments.planning import Task
from quantshift.lab.experiments.population import open_population
from quantshift.lab.results.schema import select
from quantshift.lab.results.store import ResultStore


@dataclass(frozen=True)
class Job:
    """A cell to compute, with everything a worker needs to know."""

    experiment: Experiment
    task: Task
    source: AbstractSource
    store: Path

    @property
    def name(self) -> str:
        """Experiment, data set and cell, for messages."""
        return self.task.cell.name


@dataclass(frozen=True)
class JobReport:
    """The result of a job: seconds of work, and one line per error, with the methods concerned.

    times: for the log, how long each method took; empty if nothing was computed.
    """

    name: str
    seconds: float
    failures: tuple[str, ...] = ()
    times: Mapping[str, Any] = field(default_factory=dict)


def perform(job: Job) -> JobReport:
    """Compute the cell and store it; failures of methods are stored too, and are not raised.

    Only errors that stop a run are raised: a store that cannot be written, or unreadable data.
    """
    started = time.perf_counter()
    store = ResultStore.open(job.store)
    experiment, cell = job.experiment, job.task.cell
    # Another run on the same store may have finished some methods already.
    finished = store.finished(*cell.place)
    signatures = experiment.signatures()
    methods = [m for m in job.task.methods if finished.get(m.name) != signatures[m.name]]
    if not methods:
        return JobReport(job.name, time.perf_counter() - started)
    outcome = _compute(job, methods)
    done = {m.name: signatures[m.name] for m in methods if m.name not in outcome.failures}
    if outcome.frame is not None:
        rows = outcome.frame
        schema = store.about(experiment.name).schema
        store.write_part(*cell.place, done, rows.select(select(rows.schema, schema)))
    for name, error in outcome.failures.items():
        store.write_failure(*cell.place, {name: signatures[name]}, error)
    return JobReport(
        name=job.name,
        seconds=time.perf_counter() - started,
        failures=_error_lines(outcome.failures),
        times=_times(job, outcome),
    )


def _error_lines(failures: Mapping[str, BaseException]) -> tuple[str, ...]:
    methods: dict[str, list[str]] = {}
    for name, error in failures.items():
        line = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        methods.setdefault(line, []).append(name)
    return tuple(f"{', '.join(names)}: {line}" for line, names in methods.items())


@in_one_thread
def _compute(job: Job, methods: list[MethodSpec]) -> CellOutcome:
    dataset = open_source(job.source)
    cell = job.task.cell
    split = job.experiment.shift.split_of(cell.coordinates)
    population = open_population(job.experiment, job.source, split=split)
    return compute_cell(job.experiment, cell, methods, dataset, population)


def _times(job: Job, outcome: CellOutcome) -> dict[str, Any]:
    """A record of the log: seconds of the cell's shared work, and of each method."""
    if outcome.frame is None:
        return {}
    experiment, dataset, cell = job.task.cell.place
    watch = outcome.watch
    return {
        "experiment": experiment,
        "dataset": dataset,
        "cell": cell,
        "samples": outcome.frame["sample"].n_unique(),
        "shared": round(watch.shared, 6),
        "methods": {
            name: [round(watch.fit.get(name, 0.0), 6), round(seconds, 6)]
            for name, seconds in watch.estimate.items()
        },
    }
