"""Compiling the few loops that make us fast: numba, with types for the checker and a cache."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function compiled at its first call, without Python's lock, kept on disk for the next.

    Division by zero gives infinity, as in numpy. Where no folder can be written to, the function
    is compiled anew in every process.
    """
    try:
        fast = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # numba finds no place for its cache
        fast = numba.njit(nogil=True, error_model="numpy")(function)
    return cast(Callable[P, R], fast)
