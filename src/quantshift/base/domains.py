"""What an option may be: declared once, as the type of the parameter, and checked when it is used.

    def __init__(self, *, tol: NotNegative = 1e-6, kernel: Kernel = "rbf") -> None:

A type checker reads the types, an editor shows them, and `check_options(estimator)` holds the
values to them at `fit`. What a type does not say is added to it: `Annotated[int, Within(least=2)]`.
Types that are not understood (those of a user's own class, say) are not checked.
"""

import difflib
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from quantshift.errors import LARGEST_SEED, UserError

LONGEST_SHOWN = 60
"""Values with a longer text are shortened in messages."""


@dataclass(frozen=True)
class Within:
    """The limits of a number: `least` and `most` belong to it, `above` and `below` do not.

    >>> Within(least=0, below=1).words(), Within(above=0).words(), 1.0 in Within(least=0, below=1)
    ('of at least 0 and below 1', 'above 0', False)
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

    def __contains__(self, number: float) -> bool:
        return (
            (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.below is None or number < self.below)
        )

    def words(self) -> str:
        """The limits, as they follow "a number"."""
        if self.least is not None and self.most is not None:
            return f"from {self.least:,} to {self.most:,}"
        if self.above is not None and self.below is not None:
            return f"between {self.above:,} and {self.below:,}"
        limits = {
            "of at least": self.least,
            "above": self.above,
            "of at most": self.most,
            "below": self.below,
        }
        return " and ".join(f"{how} {n:,}" for how, n in limits.items() if n is not None)


@dataclass(frozen=True)
class Such:
    """A condition that no type says. what: the words for a value that meets it."""

    what: str
    holds: Callable[[Any], bool]


Positive: TypeAlias = Annotated[float, Within(above=0)]
NotNegative: TypeAlias = Annotated[float, Within(least=0)]
Share: TypeAlias = Annotated[float, Within(above=0, below=1)]
Count: TypeAlias = Annotated[int, Within(least=1)]
Several: TypeAlias = Annotated[int, Within(least=2)]
Seed: TypeAlias = Annotated[int, Within(least=0)]
SharedSeed: TypeAlias = Annotated[int, Within(least=0, most=LARGEST_SEED)]
"""A seed that other libraries take, too."""


def check_options(estimator: Any) -> None:
    """Refuse an estimator one of whose options is not what its constructor declares."""
    owner: Any = type(estimator)
    for name, declared in _declared(owner).items():
        check_value(name, getattr(estimator, name, None), declared, of=owner.__name__)


def check_value(name: str, value: object, declared: Any, *, of: str = "") -> None:
    """Refuse a value that is not what is declared, in one line.

    of: whose option it is, for the message.

    >>> check_value("kernel", "rfb", Literal["rbf", "energy"], of="MMDy")
    Traceback (most recent call last):
        ...
    quantshift.errors.UserError: kernel of MMDy must be 'rbf' or 'energy', got 'rfb'; did you mean \
'rbf'?
    """
    alternatives = tuple(_alternatives(declared))
    if any(_fits(value, one) for one in alternatives):
        return
    whose = f"{name} of {of}" if of else repr(name)
    wanted = _listed([words for one in alternatives for words in _words(one)])
    raise UserError(
        f"{whose} must be {wanted}, got {_shown(value)}{_suggestion(value, alternatives)}",
        arguments=[name],
    )


@cache
def _declared(owner: Any) -> Mapping[str, Any]:
    """The types of the options of an estimator, as far as they can be read."""
    parameters = inspect.signature(owner).parameters
    try:
        hints = get_type_hints(owner.__init__, include_extras=True)
    except NameError:  # a user's class names types that exist only for type checkers
        return {}
    return {name: hints[name] for name in parameters if name in hints}


def _alternatives(declared: Any) -> Iterator[Any]:
    """What a union is made of; anything else is itself."""
    if get_origin(declared) in (Union, UnionType):
        for one in get_args(declared):
            yield from _alternatives(one)
    else:
        yield NoneType if declared is None else declared


def _fits(value: Any, declared: Any) -> bool:
    origin = get_origin(declared)
    if origin is Annotated:
        plain, *marks = get_args(declared)
        return any(_fits(value, one) for one in _alternatives(plain)) and all(
            _meets(value, mark) for mark in marks
        )
    if origin is Literal:
        return any(isinstance(value, type(one)) and value == one for one in get_args(declared))
    if origin is Sequence:
        (of_each,) = get_args(declared)
        return isinstance(value, list | tuple | np.ndarray) and all(
            any(_fits(each, one) for one in _alternatives(of_each)) for each in value
        )
    if origin is Callable or (inspect.isclass(origin) and origin.__name__ == "Callable"):
        return callable(value)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray)
    if declared in _SIMPLE:
        return _SIMPLE[declared][1](value)
    return True


def _meets(value: Any, mark: Any) -> bool:
    if isinstance(mark, Within):
        return float(value) in mark
    return mark.holds(value) if isinstance(mark, Such) else True


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


_SIMPLE: Mapping[Any, tuple[str, Callable[[Any], bool]]] = {
    NoneType: ("None", lambda value: value is None),
    bool: ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    int: ("a whole number", _is_whole),
    float: ("a number", _is_number),
    str: ("a text", lambda value: isinstance(value, str)),
}


def _words(declared: Any) -> tuple[str, ...]:
    """What may be given, as parts of a list."""
    origin = get_origin(declared)
    if origin is Annotated:
        plain, *marks = get_args(declared)
        conditions = [mark.what for mark in marks if isinstance(mark, Such)]
        if conditions:
            return tuple(conditions)
        limits = [mark.words() for mark in marks if isinstance(mark, Within)]
        return (" ".join([*_words(plain), *limits]),)
    if origin is Literal:
        return tuple(map(repr, get_args(declared)))
    if origin is Sequence:
        return (f"a sequence, each {_listed(_words(get_args(declared)[0]))}",)
    if origin is np.ndarray:
        return ("an array",)
    if declared in _SIMPLE:
        return (_SIMPLE[declared][0],)
    return ("a function",)


def _listed(words: Sequence[str]) -> str:
    ordered = sorted(words, key=lambda one: one == "None")
    return " or ".join([", ".join(ordered[:-1]), ordered[-1]] if ordered[1:] else ordered)


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    if inspect.isclass(value):
        return f"the class {value.__name__}: write {value.__name__}()"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def _suggestion(value: Any, alternatives: Sequence[Any]) -> str:
    """The nearest of the names that may be given, if a name was given."""
    if not isinstance(value, str):
        return ""
    names = [
        name
        for one in alternatives
        if get_origin(one) is Literal
        for name in get_args(one)
        if isinstance(name, str)
    ]
    near = difflib.get_close_matches(value.lower(), names, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
