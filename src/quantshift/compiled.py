"""Compilation of the few performance-critical loops: numba, with types for mypy and a cache."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core import event

P = ParamSpec("P")
R = TypeVar("R")

ANNOUNCEMENT = "compiling once, about 30 s (kept for the next time)"
"""The message that users see while they wait for the compiler."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function compiled at its first call, without the GIL, and cached on disk.

    Division by zero gives infinity, as in numpy. Where no folder is writable, the function is
    compiled again in every process.
    """
    return _compiled(function)


def compiled_sums(function: Callable[P, R]) -> Callable[P, R]:
    """Like `compiled`, but numbers are added up several at a time, in the order that is fastest.

    The last digits of a sum then depend on the kind of processor.
    """
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"})


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    options = {"nogil": True, "error_model": "numpy", **options}
    try:
        compiled_function = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder for its cache
        compiled_function = numba.njit(**options)(function)
    return cast(Callable[P, R], compiled_function)


@contextmanager
def announced(say: Callable[[str], None]) -> Iterator[None]:
    """In this context, a message announces the first function that is not in the cache."""
    listener = _Announcer(say)
    events: Any = event  # the module has no type hints
    events.register(_COMPILATION, listener)
    try:
        yield
    finally:
        events.unregister(_COMPILATION, listener)


_COMPILATION = "numba:compile"
"""numba's event; it is raised only when a function is not in the cache."""


class _Announcer(event.Listener):
    def __init__(self, say: Callable[[str], None]) -> None:
        self.say, self.has_said = say, False

    def on_start(self, event: Any) -> None:
        if not self.has_said:
            self.has_said = True
            self.say(ANNOUNCEMENT)

    def on_end(self, event: Any) -> None:
        """The end of a compilation is not announced."""
