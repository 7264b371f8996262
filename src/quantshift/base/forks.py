"""Forks: polars reads tables in threads, which do not survive a fork."""

import functools
import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar, final

from quantshift.errors import UserError

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

FORKED = (
    "this process was forked from one that has read tables, and would wait forever for threads "
    "that only the other has; start processes by multiprocessing.set_start_method('spawn') or "
    "joblib's loky (methods on arrays, such as fit and predict, work after a fork too)"
)


@final
class TableThreads:
    """Whether polars can work in this process."""

    def __init__(self) -> None:
        self._are_started = self._are_lost = False

    def use(self) -> None:
        """Call it before polars reads a table; refuses a process that would wait forever."""
        if self._are_lost:
            raise UserError(FORKED)
        if not self._are_started:
            self._are_started = True
            os.register_at_fork(after_in_child=self._lose)

    def _lose(self) -> None:
        self._are_lost = True


TABLE_THREADS = TableThreads()
"""The threads of this process."""


def uses_tables(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The function; it refuses a process in which polars would wait forever.

    For everything that users call and that works on tables, also if it reads none itself: polars
    compares two names in its threads, too.
    """

    @functools.wraps(function)
    def call(*args: Arguments.args, **options: Arguments.kwargs) -> Returned:
        TABLE_THREADS.use()
        return function(*args, **options)

    return call
