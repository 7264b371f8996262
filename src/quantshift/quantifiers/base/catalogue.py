"""Quantifiers and protocols by name: those of the package, and users' own.

Those of the package are read from its exports: no list is kept by hand. Users name their own as
"package.module:Class".
"""

import dataclasses
import inspect
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import quantshift
import quantshift.quantifiers
import quantshift.shifts
from quantshift.base.imports import class_of_file, imported_class, is_import_path
from quantshift.errors import UserError, unknown_name
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.quantifiers.base.foreign import is_quantifier
from quantshift.shifts.protocol import AbstractProtocol

T = TypeVar("T")


def quantifiers() -> dict[str, type[AbstractQuantifier]]:
    """The exported quantifiers by name."""
    return _exported(quantshift.quantifiers, AbstractQuantifier)  # type: ignore[type-abstract]


def shifts() -> dict[str, type[AbstractProtocol]]:
    """The exported protocols by name."""
    return _exported(quantshift.shifts, AbstractProtocol)  # type: ignore[type-abstract]


def quantifier_class(
    name: str, folder: Path | None = None, *, other_names: Iterable[str] = ()
) -> type[Any]:
    """A quantifier of the catalogue, from an import path or, with `folder`, from a file there.

    other_names: what else is allowed there, for the hint of the error.
    """
    by_name = quantifiers()
    if folder is None and name in by_name:
        return by_name[name]
    if folder is None and not is_import_path(name):
        wrong = unknown_name("method", name, [*by_name, *other_names])
        raise UserError(f'{wrong} (your own: "package.module:Class")')
    file, _, class_name = name.rpartition(":")
    cls = imported_class(name) if folder is None else class_of_file(folder / file, class_name)
    if inspect.isabstract(cls) or not is_quantifier(cls):
        raise UserError(
            f"{name!r} is not a quantifier; derive it from quantshift.AbstractQuantifier, or "
            "give it fit(X, y) and predict(X)"
        )
    if issubclass(cls, AbstractQuantifier) and not hasattr(cls, "tags"):
        raise UserError(f"{name!r} does not say what it sees: give the class `tags = Tags(...)`")
    return cls


def protocol_class(kind: str) -> type[AbstractProtocol]:
    """The protocol of that name in the catalogue, or the one at the import path."""
    by_name = {cls.name: cls for cls in shifts().values()}
    if kind in by_name:
        return by_name[kind]
    if not is_import_path(kind):
        wrong = unknown_name("kind of shift", kind, by_name)
        raise UserError(f'{wrong} (your own: "package.module:Class")')
    cls = imported_class(kind)
    if inspect.isabstract(cls) or not issubclass(cls, AbstractProtocol):
        raise UserError(f"{kind!r} is not a protocol; derive it from quantshift.AbstractShift")
    if not dataclasses.is_dataclass(cls):
        raise UserError(
            f"{kind!r} is not a dataclass: its fields are the keys of the [shift] table; decorate "
            "it with @dataclass(frozen=True, kw_only=True)"
        )
    return cls


def family(cls: type[AbstractQuantifier]) -> str:
    """The family of a quantifier of the package: what its subpackage calls it."""
    name: str = import_module(cls.__module__.rpartition(".")[0]).FAMILY
    return name


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
