"""Where jobs are performed: in this process, in local worker processes, or on a Dask cluster.

Every executor yields one report per job, in the order in which jobs end. If a worker dies, its job
is given to another. A job during which several workers have died is cut into two, each with some of
its methods, until the method that ends the process is alone: it is reported as failed, and the
others keep their results.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from quantshift import __version__
from quantshift.base.dask_cluster import (
    check_workers,
    dask_client,
    no_scheduler_left,
    problem_of_version,
    unlogged,
)
from quantshift.base.processes import WorkerPool
from quantshift.errors import UserError
from quantshift.lab.data.sources import AbstractSource, open_source
from quantshift.lab.experiments.work import Job, JobReport, perform
from quantshift.lab.results.store import ResultStore

MAX_DEATHS = 3
"""After this many dead workers a job is cut in two or, with one method, reported as failed."""

JobKey: TypeAlias = tuple[str, tuple[str, ...]]
"""The name of a job, and those of its methods."""


class WorkerDiedError(RuntimeError):
    """The process that computed a cell was killed, each time it was tried."""


class AbstractExecutor(ABC):
    """Performs jobs."""

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """How many jobs are performed at once."""

    @abstractmethod
    def run(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
        """Yields the report of each job as it ends."""


@dataclass(frozen=True)
class SerialExecutor(AbstractExecutor):
    """One job after the other, in this process."""

    @property
    def n_workers(self) -> int:
        """One."""
        return 1

    def run(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
        """Perform the jobs in their order."""
        return map(perform, jobs)


@dataclass(frozen=True)
class ProcessExecutor(AbstractExecutor):
    """Worker processes on this machine."""

    workers: int

    @property
    def n_workers(self) -> int:
        """The number of processes."""
        return self.workers

    def run(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
        """Keep the workers busy; start new ones when one has died."""
        queue = list(reversed(jobs))
        deaths: Counter[JobKey] = Counter()
        deadly: set[str] = set()
        gathered = Gathered()
        while queue:
            pool = WorkerPool(self.workers)
            running: dict[Future[JobReport], Job] = {}
            try:
                while queue or running:
                    while queue and self._has_room(queue[-1], running.values(), deaths):
                        # Removed from the queue after submission, because a broken pool raises.
                        running[pool.submit(perform, queue[-1])] = queue[-1]
                        queue.pop()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        yield from gathered.add(future.result())
                        del running[future]
            except BrokenProcessPool:
                for job in running.values():
                    deaths[_key(job)] += 1
                    names = {method.name for method in job.task.methods}
                    if deaths[_key(job)] < MAX_DEATHS and not names & deadly:
                        queue.append(job)
                    elif len(names) > 1:
                        parts = gathered.cut(job, deadly)
                        # One more death is enough: a part of a suspect is one too.
                        deaths.update({_key(part): MAX_DEATHS - 1 for part in parts})
                        queue += parts
                    else:
                        deadly |= names
                        yield from gathered.add(_give_up(job))
            finally:
                # Results are written completely or not at all, so workers may be stopped any time.
                pool.stop()

    def _has_room(self, job: Job, running: Collection[Job], deaths: Mapping[JobKey, int]) -> bool:
        # Jobs that were running when a worker died are retried one at a time, so that the job
        # that kills its workers can be distinguished from those that ran at the same time.
        if any(deaths[_key(suspect)] for suspect in (job, *running)):
            return not running
        return len(running) < self.workers + 1


@dataclass(frozen=True)
class DaskExecutor(AbstractExecutor):
    """The workers of a dask.distributed cluster that sees the same files."""

    address: str

    @property
    def n_workers(self) -> int:
        """Worker processes of the cluster."""
        with dask_client(self.address) as client:
            return len(client.nthreads())

    def run(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
        """Submit all jobs; Dask gives those of a dead worker to another."""
        from distributed import KilledWorker
        from distributed.client import as_completed
        from distributed.comm import CommClosedError

        with unlogged(), dask_client(self.address) as client:
            _check_threads(client, self.address)
            hashes = {job.source: open_source(job.source).hash for job in jobs}
            check_workers(
                client, self.address, problem_of_worker, jobs[0].store, hashes, __version__
            )
            futures = {
                # A key of its own for every job: runs into other stores share the scheduler.
                client.submit(perform, job, pure=False): job
                for job in jobs
            }
            unfinished, gathered = as_completed(futures), Gathered()
            for future in unfinished:
                try:
                    yield from gathered.add(future.result())
                except KilledWorker:
                    job = futures[future]
                    if len(job.task.methods) == 1:
                        yield from gathered.add(_give_up(job))
                        continue
                    for part in gathered.cut(job):
                        resubmitted = client.submit(perform, part, pure=False)
                        futures[resubmitted] = part
                        unfinished.add(resubmitted)
                except (CommClosedError, CancelledError):
                    raise no_scheduler_left(
                        self.address, "nothing is lost: start one and run the same command again"
                    ) from None
                future.release()


def executor(
    n_workers: int, cluster: str | None = None, *, apart: bool = False
) -> AbstractExecutor:
    """The executor for that many local workers, or for the cluster at an address.

    apart: a process of its own for a single worker, too, so that code that ends its process does
        not end this one.
    """
    if cluster is not None:
        return DaskExecutor(cluster)
    if n_workers < 1:
        raise UserError(f"n_workers must be at least 1, got {n_workers}", arguments=["n_workers"])
    return SerialExecutor() if n_workers == 1 and not apart else ProcessExecutor(n_workers)


class Gathered:
    """Reports of jobs that were cut into parts, joined when all parts are there."""

    def __init__(self) -> None:
        self._cuts: Counter[str] = Counter()
        self._reports: dict[str, list[JobReport]] = {}

    def cut(self, job: Job, deadly: Collection[str] = ()) -> list[Job]:
        """The job as two: methods that have ended processes elsewhere and others, or halves."""
        self._cuts[job.name] += 1
        methods = job.task.methods
        parts = [
            [m for m in methods if m.name not in deadly],
            [m for m in methods if m.name in deadly],
        ]
        if not all(parts):
            middle = len(methods) // 2
            parts = [list(methods[:middle]), list(methods[middle:])]
        return [replace(job, task=replace(job.task, methods=tuple(part))) for part in parts]

    def add(self, report: JobReport) -> Iterator[JobReport]:
        """Yields the report of the whole job if this was its last part."""
        reports = self._reports.setdefault(report.name, [])
        reports.append(report)
        if len(reports) > self._cuts[report.name]:
            yield report if len(reports) == 1 else _joined(reports)


def _joined(reports: Sequence[JobReport]) -> JobReport:
    times = [report.times for report in reports if report.times]
    methods = {name: seconds for each in times for name, seconds in each["methods"].items()}
    return JobReport(
        name=reports[0].name,
        seconds=sum(report.seconds for report in reports),
        failures=tuple(line for report in reports for line in report.failures),
        times={**times[0], "methods": methods} if times else {},
    )


def _key(job: Job) -> JobKey:
    return job.name, tuple(method.name for method in job.task.methods)


def _give_up(job: Job) -> JobReport:
    error = WorkerDiedError(
        "its worker process ended every time it was tried (out of memory, or os._exit?)"
    )
    store, signatures = ResultStore.open(job.store), job.experiment.signatures()
    methods = {method.name: signatures[method.name] for method in job.task.methods}
    store.write_failure(*job.task.cell.place, methods, error)
    return JobReport(job.name, 0.0, (f"{', '.join(methods)}: {error}",))


def _check_threads(client: Any, address: str) -> None:
    for worker, n_threads in client.nthreads().items():
        if n_threads > 1:
            # Threads of one process would reset each other's limits on the threads of BLAS.
            raise UserError(
                f"worker {worker} has {n_threads} threads: start it with "
                f"`dask worker {address} --nthreads 1 --nworkers {n_threads}`"
            )


def problem_of_worker(store: Path, hashes: Mapping[AbstractSource, str], version: str) -> str:
    """Why a worker of a cluster cannot take part, or an empty string; runs on the worker.

    hashes: content hashes of the data that the jobs need, as seen by the submitting process.
    """
    if problem := problem_of_version(version):
        return problem
    try:
        ResultStore.open(store)
    except UserError:
        return f"does not see {store}: put the results on a path that all workers share"
    try:
        for source, expected in hashes.items():
            if open_source(source).hash != expected:
                return f"sees other data at {source.title}: copy them again and restart the worker"
    except UserError as error:
        return f"cannot read the data ({error}): put them on a path that all workers share"
    return ""
