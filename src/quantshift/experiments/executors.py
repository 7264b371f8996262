"""Where jobs are performed: in this process, in local worker processes, or on a Dask cluster.

Every executor yields one report per job, in the order in which jobs end. If a worker dies, its job
is given to another; a job during which several workers have died is reported as failed.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quantshift import __version__
from quantshift.data.sources import AbstractSource, open_source
from quantshift.errors import UserError
from quantshift.experiments.work import Job, JobReport, perform
from quantshift.processes import WorkerPool
from quantshift.results.store import ResultStore

MAX_DEATHS = 3
"""After this many dead workers a job is reported as failed."""

DASK_LOGGERS = ("distributed", "distributed.client", "tornado.application")
"""Loggers whose level Dask sets itself."""

CONNECT_SECONDS = 10
"""Seconds to wait for a scheduler to answer."""


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
        deaths = {job.name: 0 for job in jobs}
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
                        yield future.result()
                        del running[future]
            except BrokenProcessPool:
                for job in running.values():
                    deaths[job.name] += 1
                    if deaths[job.name] < MAX_DEATHS:
                        queue.append(job)
                    else:
                        yield _give_up(job)
            finally:
                # Results are written completely or not at all, so workers may be stopped any time.
                pool.stop()

    def _has_room(self, job: Job, running: Collection[Job], deaths: Mapping[str, int]) -> bool:
        # Jobs that were running when a worker died are retried one at a time, so that the job
        # that kills its workers can be distinguished from those that ran at the same time.
        if any(deaths[suspect.name] for suspect in (job, *running)):
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
            _check_workers(client, self.address, jobs)
            futures = {
                # A key of its own for every job: runs into other stores share the scheduler.
                client.submit(perform, job, pure=False): job
                for job in jobs
            }
            for future in as_completed(futures):
                try:
                    yield future.result()
                except KilledWorker:
                    yield _give_up(futures[future])
                except (CommClosedError, CancelledError):
                    raise UserError(
                        f"the Dask scheduler at {self.address} stopped responding; nothing is "
                        "lost: start one and run the same command again"
                    ) from None
                future.release()


def executor(n_workers: int, cluster: str | None = None) -> AbstractExecutor:
    """The executor for that many local workers, or for the cluster at an address."""
    if cluster is not None:
        return DaskExecutor(cluster)
    if n_workers < 1:
        raise UserError(f"n_workers must be at least 1, got {n_workers}", arguments=["n_workers"])
    return SerialExecutor() if n_workers == 1 else ProcessExecutor(n_workers)


def _give_up(job: Job) -> JobReport:
    error = WorkerDiedError(
        f"the worker died {MAX_DEATHS} times while computing this cell (out of memory?)"
    )
    store, signatures = ResultStore.open(job.store), job.experiment.signatures()
    methods = {method.name: signatures[method.name] for method in job.task.methods}
    store.write_failure(*job.task.cell.place, methods, error)
    return JobReport(job.name, 0.0, (f"{', '.join(methods)}: {error}",))


@contextmanager
def unlogged() -> Iterator[None]:
    """Errors of a cluster are reported by our messages, not by tracebacks in Dask's log."""
    loggers = [logging.getLogger(name) for name in DASK_LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def dask_client(address: str) -> Any:
    """A client of the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise UserError(
            "a cluster needs dask.distributed: install it with pip install 'quantshift[dask]'"
        ) from None
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise UserError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}): start one with "
            "`dask scheduler` and give the address it prints"
        ) from None


def _check_workers(client: Any, address: str, jobs: Sequence[Job]) -> None:
    for worker, n_threads in client.nthreads().items():
        if n_threads > 1:
            # Threads of one process would reset each other's limits on the threads of BLAS.
            raise UserError(
                f"worker {worker} has {n_threads} threads: start it with "
                f"`dask worker {address} --nthreads 1 --nworkers {n_threads}`"
            )
    hashes = {job.source: open_source(job.source).hash for job in jobs}
    problems = client.run(problem_of_worker, jobs[0].store, hashes, __version__, on_error="return")
    if not problems:
        raise UserError(
            f"the cluster has no workers: start some with `dask worker {address} --nthreads 1`"
        )
    for worker, problem in problems.items():
        if isinstance(problem, Exception):
            raise UserError(
                f"worker {worker} cannot run quantshift ({type(problem).__name__}: {problem}): "
                f"install quantshift {__version__} there"
            )
        if problem:
            raise UserError(f"worker {worker} {problem}")


def problem_of_worker(store: Path, hashes: Mapping[AbstractSource, str], version: str) -> str:
    """Why a worker of a cluster cannot take part, or an empty string; runs on the worker.

    hashes: content hashes of the data that the jobs need, as seen by the submitting process.
    """
    if version != __version__:
        return f"has quantshift {__version__}, this is {version}: install the same version"
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
