"""Compilation of the few performance-critical loops: numba, with types for mypy and a cache."""

import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core import event
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from quantshift.base.storage.files import file_sha256

P = ParamSpec("P")
R = TypeVar("R")

ANNOUNCEMENT = "compiling once, about 10 s (kept for the next time)"
"""The message that users see while they wait for the compiler."""

NOT_KEPT = "compiling, about 10 s (every time: set NUMBA_CACHE_DIR to a folder that can be written)"
"""The message where no folder can be written."""

UNREADABLE = (AttributeError, EOFError, ImportError, IndexError, pickle.UnpicklingError)
"""What pickle raises for a file that it cannot read."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function compiled at its first call, without the GIL, and cached on disk.

    Division by zero gives infinity, as in numpy. Where no folder is writable, the function is
    compiled again in every process.
    """
    return _compiled(function)


def compiled_inline(function: Callable[P, R]) -> Callable[P, R]:
    """Like `compiled`, but always a part of the compiled functions that call it."""
    return _compiled(function, forceinline=True)


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    options = {"nogil": True, "error_model": "numpy", **options}
    try:
        compiled_function = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder for its cache
        compiled_function = numba.njit(**options)(function)
    else:
        _notice_every_edit(compiled_function)
    return cast(Callable[P, R], compiled_function)


def _notice_every_edit(function: Any) -> None:
    """Machine code in the cache is old as soon as anything that it was made from has changed.

    numba looks at the file of the function alone. But the machine code contains that of the
    compiled functions it calls, which may stand in other files, and the values of constants, which
    may have been imported; and this file decides how it is compiled.
    """
    names: Mapping[str, Any] = function.py_func.__globals__
    used = function.py_func.__code__.co_names
    constants = [(n, names[n]) for n in used if isinstance(names.get(n), int | float | str | tuple)]
    files = {__file__} | _source_files(names, {function.py_func.__module__})
    sources = sorted(_digest(Path(file)) for file in files)
    index = function._cache._cache_file
    index._source_stamp = (index._source_stamp, repr((sources, constants)))
    index._load_index = _empty_if_unreadable(index._load_index)


def _empty_if_unreadable(load: Callable[[], dict[Any, str]]) -> Callable[[], dict[Any, str]]:
    """numba reads the types in an index before it looks how old the index is.

    They cannot be read if a class among them has been renamed or moved since.
    """

    def index() -> dict[Any, str]:
        try:
            return load()
        except UNREADABLE:
            return {}

    return index


def _source_files(names: Mapping[str, Any], modules: set[str]) -> set[str]:
    """Files, other than those of `modules`, of the compiled functions that `names` lead to."""
    files = set()
    for value in list(names.values()):
        if isinstance(value, ModuleType) and value.__name__.startswith(_PACKAGE):
            module, inner = value.__name__, vars(value)
            if not any(isinstance(inside, Dispatcher) for inside in inner.values()):
                continue
        elif isinstance(value, Dispatcher):
            module, inner = value.py_func.__module__, value.py_func.__globals__
        else:
            continue
        if module not in modules:
            modules.add(module)
            files |= {inner["__file__"]} | _source_files(inner, modules)
    return files


_PACKAGE = __name__.partition(".")[0]


_digest = cache(file_sha256)


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
            kept = not isinstance(event.data["dispatcher"]._cache, NullCache)
            self.say(ANNOUNCEMENT if kept else NOT_KEPT)

    def on_end(self, event: Any) -> None:
        """The end of a compilation is not announced."""
