"""Worker processes that ignore Ctrl-C and do not outlive the process that started them.

A terminal sends the signal to all processes at once. A worker that is still starting would die of
it with a traceback, long before our code could prevent it.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, ParamSpec, TypeVar, final

STOP_SECONDS = 10.0
"""How long to wait for a worker that was asked to end."""

P = ParamSpec("P")
T = TypeVar("T")


@final
class WorkerPool(Executor):
    """Processes that perform calls; they are started when there is something to do."""

    def __init__(self, n_workers: int) -> None:
        self._pool = ProcessPoolExecutor(
            n_workers,
            # Spawned, not forked: threads of polars and numba do not survive a fork.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_watch_parent,
        )

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Let a worker make the call."""
        with _shielded_from_interrupts():
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the workers end."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def stop(self) -> None:
        """End the workers now, whatever they are doing."""
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(STOP_SECONDS)


def _watch_parent() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A worker whose parent was killed would wait forever for its next call.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _shielded_from_interrupts() -> Iterator[None]:
    """Processes started inside ignore Ctrl-C; this process receives it at the end.

    A process inherits blocked signals. Blocking also protects the start of a process, which would
    fail with a traceback if it were interrupted half-way.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def record(number: int, _frame: Any) -> None:
        received.append(number)

    # Started first, because starting it unblocks the signal.
    resource_tracker.ensure_running()
    before = signal.signal(signal.SIGINT, record)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, before)
        if received:
            signal.raise_signal(signal.SIGINT)
