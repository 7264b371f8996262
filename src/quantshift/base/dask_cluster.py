"""The scheduler and the workers of a Dask cluster: reached, checked, and reported in one line."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from quantshift import __version__
from quantshift.errors import UserError

DASK_LOGGERS = ("distributed", "distributed.client", "tornado.application")
"""Loggers whose level Dask sets itself."""

CONNECT_SECONDS = 10
"""Seconds to wait for a scheduler to answer."""


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


def check_workers(client: Any, address: str, problem: Callable[..., str], *arguments: Any) -> None:
    """Raise an error if the cluster has no workers, or one that cannot take part.

    problem: runs on every worker, with the arguments; returns why the worker cannot take part, or
    an empty string.
    """
    problems = client.run(problem, *arguments, on_error="return")
    if not problems:
        raise UserError(
            f"the cluster has no workers: start some with `dask worker {address} --nthreads 1`"
        )
    for worker, reason in problems.items():
        if isinstance(reason, Exception):
            raise UserError(
                f"worker {worker} cannot run quantshift ({type(reason).__name__}: {reason}): "
                f"install quantshift {__version__} there"
            )
        if reason:
            raise UserError(f"worker {worker} {reason}")


def problem_of_version(version: str) -> str:
    """Why a worker whose quantshift is not of this version cannot take part; runs on the worker."""
    if version != __version__:
        return f"has quantshift {__version__}, this is {version}: install the same version"
    return ""


def no_scheduler_left(address: str, consequence: str) -> UserError:
    """The error if a scheduler disappears during the work. consequence: what to know and do."""
    return UserError(f"the Dask scheduler at {address} stopped responding; {consequence}")
