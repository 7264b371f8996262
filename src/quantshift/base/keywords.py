"""Arguments of the functions that users call: unknown ones are an error; names, one or several."""

import csv
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
    if isinstance(names, str):
        return (names,)
    several = tuple(names or ())
    wrong = next((name for name in several if not isinstance(name, str)), None)
    if wrong is not None:
        raise UserError(f"{wrong!r} is not a text; write names and values as texts")
    return several


def split_names(written: str | None) -> tuple[str, ...]:
    """Names separated by commas; a name that contains a comma is written in double quotes.

    >>> split_names('a, b,"c,d"')
    ('a', 'b', 'c,d')
    """
    cells = next(csv.reader([written or ""], skipinitialspace=True), [])
    return tuple(name.strip() for name in cells if name.strip())
