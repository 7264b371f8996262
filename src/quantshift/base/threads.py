"""Threads of the libraries below: one, so that busy machines lose no time and sums no bits.

OpenMP's threads wait for each other by spinning. Where a core is taken by somebody else, a
thread waits for the whole of its slice: gradient boosting then takes twenty times the processor
time. And sums over several threads depend on their number.
"""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def in_one_thread(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The function; while it runs, BLAS and OpenMP have one thread, and afterwards what they had.

    For everything that fits classifiers and that users call. The libraries are those that are
    loaded when the function is called: modules that import them late are no place for it.
    """

    @functools.wraps(function)
    def call(*args: Arguments.args, **options: Arguments.kwargs) -> Returned:
        with threadpool_limits(limits=1):
            return function(*args, **options)

    return call
