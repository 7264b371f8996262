"""Quantifiers by name: those of the package, and users' own.

Those of the package are read from its exports: no list is kept by hand. Users name their own as
"package.module:Class" or "FILE.py:Class".
"""

import inspect
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import quantshift.quantifiers
from quantshift.base.imports import (
    class_of_file,
    exported_classes,
    imported_class,
    is_import_path,
)
from quantshift.errors import UserError, unknown_name
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.quantifiers.base.foreign import is_quantifier


def quantifiers() -> dict[str, type[AbstractQuantifier]]:
    """The exported quantifiers by name."""
    return exported_classes(quantshift.quantifiers, AbstractQuantifier)  # type: ignore[type-abstract]


def recommended() -> dict[str, str]:
    """When to use each of the quantifiers to begin with, by name."""
    own = {name: vars(cls).get("recommended", "") for name, cls in quantifiers().items()}
    return {name: when for name, when in own.items() if when}


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
        raise UserError(f'{wrong} (your own: "package.module:Class" or "FILE.py:Class")')
    file, _, class_name = name.rpartition(":")
    cls = imported_class(name) if folder is None else class_of_file(folder / file, class_name)
    if inspect.isabstract(cls) or not is_quantifier(cls):
        raise UserError(
            f"{name!r} is not a quantifier; derive it from "
            "quantshift.quantifiers.AbstractQuantifier, or give it fit(X, y) and predict(X)"
        )
    if issubclass(cls, AbstractQuantifier) and not hasattr(cls, "tags"):
        raise UserError(f"{name!r} does not say what it sees: give the class `tags = Tags(...)`")
    return cls


def family(cls: type[AbstractQuantifier]) -> str:
    """The family of a quantifier of the package: what its subpackage calls it."""
    name: str = import_module(cls.__module__.rpartition(".")[0]).FAMILY
    return name


def full_name(cls: type[Any]) -> str:
    """The full name: the first line of the class's docstring up to its colon."""
    first = (inspect.getdoc(cls) or "").splitlines()[0]
    return first.split(":")[0].rstrip(".")
