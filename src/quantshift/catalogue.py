"""What the package offers, read off its exports: nobody keeps a list by hand."""

import inspect
from typing import Any, TypeVar

import quantshift
from quantshift.quantifiers.estimator import AbstractQuantifier
from quantshift.shifts.protocol import AbstractProtocol

T = TypeVar("T")


def quantifiers() -> dict[str, type[AbstractQuantifier]]:
    """The exported quantifiers by name."""
    return _exported(AbstractQuantifier)  # type: ignore[type-abstract]


def shifts() -> dict[str, type[AbstractProtocol]]:
    """The exported protocols by name."""
    return _exported(AbstractProtocol)  # type: ignore[type-abstract]


def full_name(cls: type[Any]) -> str:
    """The first line of the class's docstring up to its colon: the name in full."""
    first = (inspect.getdoc(cls) or "").splitlines()[0]
    return first.split(":")[0].rstrip(".")


def _exported(base: type[T]) -> dict[str, type[T]]:
    # Quantifiers and protocols are imported with the package; names that are not yet are neither.
    exports = {
        name: vars(quantshift)[name]
        for name in sorted(quantshift.__all__, key=str.casefold)
        if name in vars(quantshift)
    }
    return {
        name: thing
        for name, thing in exports.items()
        if inspect.isclass(thing) and issubclass(thing, base) and not inspect.isabstract(thing)
    }
