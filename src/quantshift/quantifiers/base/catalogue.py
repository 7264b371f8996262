"""The quantifiers and protocols of the package, read from its exports: no list is kept by hand."""

import inspect
from types import ModuleType
from typing import Any, TypeVar

import quantshift
import quantshift.quantifiers
import quantshift.shifts
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.shifts.protocol import AbstractProtocol

T = TypeVar("T")


def quantifiers() -> dict[str, type[AbstractQuantifier]]:
    """The exported quantifiers by name."""
    return _exported(quantshift.quantifiers, AbstractQuantifier)  # type: ignore[type-abstract]


def shifts() -> dict[str, type[AbstractProtocol]]:
    """The exported protocols by name."""
    return _exported(quantshift.shifts, AbstractProtocol)  # type: ignore[type-abstract]


def full_name(cls: type[Any]) -> str:
    """The full name: the first line of the class's docstring up to its colon."""
    first = (inspect.getdoc(cls) or "").splitlines()[0]
    return first.split(":")[0].rstrip(".")


def _exported(package: ModuleType, base: type[T]) -> dict[str, type[T]]:
    """Classes of a subpackage that quantshift exports too."""
    exports = {
        name: getattr(package, name)
        for name in sorted(set(dir(quantshift)) & set(package.__all__), key=str.casefold)
    }
    return {
        name: exported
        for name, exported in exports.items()
        if inspect.isclass(exported)
        and issubclass(exported, base)
        and not inspect.isabstract(exported)
    }
