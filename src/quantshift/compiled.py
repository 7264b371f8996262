"""Compiling the few loops that make us fast: numba, with types for the checker and a cache."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core import event

P = ParamSpec("P")
R = TypeVar("R")

ANNOUNCEMENT = "compiling once, about 30 s (kept for the next time)"
"""What users are told while they wait for it."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function compiled at its first call, without Python's lock, kept on disk for the next.

    Division by zero gives infinity, as in numpy. Where no folder can be written to, the function
    is compiled again in every process.
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
        fast = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no place for its cache
        fast = numba.njit(**options)(function)
    return cast(Callable[P, R], fast)


@contextmanager
def announced(say: Callable[[str], None]) -> Iterator[None]:
    """Within it, the first function that has to be compiled, and is not on disk, is announced."""
    listener = _Announcer(say)
    events: Any = event  # which has no types
    events.register(_COMPILATION, listener)
    try:
        yield
    finally:
        events.unregister(_COMPILATION, listener)


_COMPILATION = "numba:compile"
"""numba's event: it takes place only where nothing was found on disk."""


class _Announcer(event.Listener):
    def __init__(self, say: Callable[[str], None]) -> None:
        self.say, self.has_said = say, False

    def on_start(self, event: Any) -> None:
        if not self.has_said:
            self.has_said = True
            self.say(ANNOUNCEMENT)

    def on_end(self, event: Any) -> None:
        """Nothing is said of the end."""
