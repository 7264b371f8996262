"""Unknown keyword arguments of the functions that users call most: an error with a suggestion."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from quantshift.errors import UserError, unknown_name

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


class UnknownArgumentError(UserError, TypeError):
    """A function was called with a keyword argument that it does not have."""


def suggests_arguments(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The function; unknown keyword arguments are an error that names the nearest known one."""
    known = tuple(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: Arguments.args, **options: Arguments.kwargs) -> Returned:
        for name in options:
            if name not in known:
                error = unknown_name(f"argument of {function.__name__}():", name, known)
                raise UnknownArgumentError(error)
        return function(*args, **options)

    return call


def as_names(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name or several.

    >>> as_names("a"), as_names(["a", "b"]), as_names(None)
    (('a',), ('a', 'b'), ())
    """
    return (names,) if isinstance(names, str) else tuple(names or ())
