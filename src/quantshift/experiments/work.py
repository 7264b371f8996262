"""What a worker does: one cell, from its description to rows in the store.

Jobs are small and picklable. Whoever performs one (this process, a local worker, a machine of a
cluster) opens the data itself, once, and writes the outcome itself, so that finished work never
travels and is never lost.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from threadpoolctl import threadpool_limits

from quantshift.data.sources import AbstractSource, open_source
from quantshift.experiments.cell import run_cell
from quantshift.experiments.experiment import Experiment, MethodSpec
from quantshift.experiments.planning import Task
from quantshift.experiments.population import open_population
from quantshift.results.schema import select
from quantshift.results.store import ResultStore


@dataclass(frozen=True)
class Job:
    """A cell to compute, with everything a worker needs to know."""

    experiment: Experiment
    task: Task
    source: AbstractSource
    store: Path

    @property
    def name(self) -> str:
        """Experiment, data set and cell, for people."""
        return self.task.cell.name


@dataclass(frozen=True)
class JobReport:
    """What came of a job: seconds of work, and one line per error, with the methods it hit."""

    name: str
    seconds: float
    failures: tuple[str, ...] = ()


def perform(job: Job) -> JobReport:
    """Compute the cell and store it; failures of methods are stored too, and do not raise.

    What raises is what stops a run: a store that cannot be written to, data that cannot be read.
    """
    begun = time.perf_counter()
    store = ResultStore.open(job.store)
    experiment, cell = job.experiment, job.task.cell
    # Another run on the same store may have been quicker.
    there = store.finished(*cell.place)
    signatures = experiment.signatures()
    methods = [m for m in job.task.methods if there.get(m.name) != signatures[m.name]]
    failures: dict[str, Exception] = {}
    if methods:
        # One thread per worker: sums of several threads would depend on their number.
        with threadpool_limits(limits=1):
            frame, failures = _compute(job, methods)
        done = {m.name: signatures[m.name] for m in methods if m.name not in failures}
        if done:
            schema = store.about(experiment.name).schema
            store.write_part(*cell.place, done, frame.select(select(frame.schema, schema)))
        for name, error in failures.items():
            store.write_failure(*cell.place, {name: signatures[name]}, error)
    return JobReport(
        name=job.name,
        seconds=time.perf_counter() - begun,
        failures=_error_lines(failures),
    )


def _error_lines(failures: Mapping[str, Exception]) -> tuple[str, ...]:
    methods: dict[str, list[str]] = {}
    for name, error in failures.items():
        line = f"{type(error).__name__}: {' '.join(str(error).split())}"
        methods.setdefault(line, []).append(name)
    return tuple(f"{', '.join(names)}: {line}" for line, names in methods.items())


def _compute(job: Job, methods: list[MethodSpec]) -> tuple[pl.DataFrame, dict[str, Exception]]:
    """Rows of the methods that went well, and the errors of those that did not."""
    dataset = open_source(job.source)
    population = open_population(job.experiment, job.source)

    def run(chosen: list[MethodSpec]) -> pl.DataFrame:
        return run_cell(job.experiment, job.task.cell, chosen, dataset, population)

    if len(methods) > 1:
        with suppress(Exception):  # a user's method may raise anything
            return run(methods), {}
    # One of them fails: find out which, so that the others are not lost.
    frames, failures = [], {}
    for method in methods:
        try:
            frames.append(run([method]))
        except Exception as error:
            failures[method.name] = error
    return (pl.concat(frames) if frames else pl.DataFrame()), failures
