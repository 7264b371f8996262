"""Options that are declared once, as fields of a dataclass, for Python and for the command line.

The library is called with such dataclasses. The functions that users call take the same names as
keyword arguments (`taken` fills the dataclass from them), and a command takes them as options that
are made from the fields (`quantshift.cli.declared`). An unknown keyword is an error that names the
nearest one.
"""

import csv
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar

from quantshift.base.domains import check_value
from quantshift.errors import UserError, unknown_name

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

TABLES, COLUMNS, LABELS, ESTIMATE = "Tables", "Columns", "Labels", "Estimate"
OUTPUT, SCRIPTS, HISTORY, OPTIONS = "Output", "In scripts", "History", "Options"
"""Titles of the panels of options in the help of a command."""

Declared = TypeVar("Declared", bound="DataclassInstance")
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

Reads: TypeAlias = Literal["value", "name", "names", "file", "files", "repeated"]

_KEY = "option"


@dataclass(frozen=True)
class OptionText:
    """How an option looks on the command line.

    reads: what follows it: a value of the field's type, a name, names separated by commas, a file,
        or files or other values, for each of which the option is repeated.
    parse: makes the value of the field from what is written (for a repeated option, from all values
        together), if that takes more than its type.
    metavar: a word for its value. panel: the part of the help that it is in.
    name: its name without dashes, if it is not that of the field. short: a name of one letter.
    shows_default: whether the help names the default value. least, most: the limits of a number.
    """

    help: str
    reads: Reads = "value"
    parse: Callable[[Any], Any] | None = None
    metavar: str | None = None
    panel: str = ESTIMATE
    name: str | None = None
    shows_default: bool = True
    least: float | None = None
    most: float | None = None
    short: str | None = None


def option(
    default: Any,
    help: str | OptionText,  # noqa: A002 - as every library calls it
    **text: Any,
) -> Any:
    """A field with its default value, its help and the other fields of `OptionText`.

    help: the help, or an `OptionText` for an option that several dataclasses have.
    """
    option_text = help if isinstance(help, OptionText) else OptionText(help, **text)
    return field(default=default, metadata={_KEY: option_text})


def option_texts(declared: "type[DataclassInstance]") -> dict[str, OptionText]:
    """The texts of a dataclass's options by the names of the fields; other fields are left out."""
    return {own.name: own.metadata[_KEY] for own in fields(declared) if _KEY in own.metadata}


def as_keywords(*filled: "DataclassInstance") -> dict[str, Any]:
    """The options of dataclasses as keyword arguments of the function that users call."""
    return {name: getattr(one, name) for one in filled for name in option_texts(type(one))}


def taken(declared: type[Declared], arguments: Mapping[str, Any]) -> Declared:
    """The dataclass with those of its fields that are among the arguments of a function."""
    chosen = [own for own in fields(declared) if own.name in arguments]
    for own in chosen:
        # What is parsed may be given in other forms too.
        if _KEY in own.metadata and own.metadata[_KEY].parse is None:
            check_value(own.name, arguments[own.name], own.type)
    return declared(**{own.name: arguments[own.name] for own in chosen})


class UnknownArgumentError(UserError, TypeError):
    """A function was called with a keyword argument that it does not have."""


def suggests_arguments(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The function; unknown keyword arguments are an error that names the nearest known one."""
    parameters = tuple(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: Arguments.args, **options: Arguments.kwargs) -> Returned:
        for name in options:
            if name not in parameters:
                error = unknown_name(f"argument of {function.__name__}():", name, parameters)
                raise UnknownArgumentError(error)
        return function(*args, **options)

    return call


def as_names(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name or several, in any sequence.

    >>> as_names("a"), as_names(["a", "b"]), as_names(None)
    (('a',), ('a', 'b'), ())
    """
    if isinstance(names, str):
        return (names,)
    several: tuple[Any, ...]
    try:
        several = () if names is None else tuple(names)
    except TypeError:
        several = (names,)  # refused below: only a text is a name
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
