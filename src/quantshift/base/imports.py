"""What users name as "package.module:name" or "FILE.py:Class", and packages that may be missing.

Naming a module runs it. Whatever it raises becomes one line. This is the only place that imports
what users name.
"""

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from quantshift.base.extras import missing_package
from quantshift.errors import UserError, unknown_name

T = TypeVar("T")


def exported_classes(package: ModuleType, base: type[T]) -> dict[str, type[T]]:
    """The classes that a subpackage exports and that can be made, derived from the base."""
    exports = {name: getattr(package, name) for name in sorted(package.__all__, key=str.casefold)}
    return {
        name: cls
        for name, cls in exports.items()
        if inspect.isclass(cls) and issubclass(cls, base) and not inspect.isabstract(cls)
    }


def is_import_path(text: str) -> bool:
    """Whether the text is of the form "package.module:name" or "FILE.py:name".

    >>> is_import_path("my_lab.methods:Mine"), is_import_path("Mine"), is_import_path("a b:Mine")
    (True, False, False)
    >>> is_import_path("my lab/methods.py:Mine")
    True
    """
    if file_and_name(text) is not None:
        return True
    module, colon, name = text.partition(":")
    return bool(colon) and all(map(str.isidentifier, [*module.split("."), *name.split(".")]))


def file_and_name(text: str) -> tuple[Path, str] | None:
    """The file and the class of "FILE.py:Class"; None for any other text.

    >>> file, name = file_and_name("methods/mine.py:Mine")
    >>> file.as_posix(), name, file_and_name("methods.mine:Mine")
    ('methods/mine.py', 'Mine', None)
    """
    file, _, name = text.rpartition(":")
    return (Path(file), name) if file.endswith(".py") and name.isidentifier() else None


def imported(path: str) -> Any:
    """The object at "package.module:name", whose name may have dots, or at "FILE.py:name"."""
    if not is_import_path(path):
        raise UserError(f"{path!r} is not of the form package.module:name or FILE.py:name")
    location = file_and_name(path)
    if location is not None:
        file, name = location
        defined = vars(_run(file.absolute()))
        if name not in defined:
            raise unknown_name(f"name in {str(file)!r}:", name, _public_of(defined))
        return defined[name]
    module_name, _, name = path.partition(":")
    try:
        value: Any = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a user's module may raise anything while it is imported
        raise UserError(f"cannot import {module_name!r}: {error_line(error)}") from error
    for part in name.split("."):
        if not hasattr(value, part):
            raise unknown_name(f"name in {module_name!r}:", name, _public_of(dir(value)))
        value = getattr(value, part)
    return value


def imported_class(path: str) -> type[Any]:
    """The class at "package.module:Class" or "FILE.py:Class"."""
    location = file_and_name(path)
    if location is not None:
        return class_of_file(location[0].absolute(), location[1])
    value = imported(path)
    if not inspect.isclass(value):
        raise UserError(f"{path!r} is not a class; name one")
    return value


def class_of_file(file: Path, name: str) -> type[Any]:
    """The class of that name in a Python file, which is executed once per process."""
    classes = {key: value for key, value in vars(_run(file)).items() if inspect.isclass(value)}
    if name not in classes:
        defined_there = [
            key for key, value in classes.items() if value.__module__ == _module_name(file)
        ]
        raise unknown_name(f"class in {str(file)!r}:", name, defined_there or classes)
    return classes[name]


def made(path: str, factory: Any) -> Any:
    """What the class or function at the path returns if it is called without arguments."""
    try:
        return factory()
    except Exception as error:  # whatever the user's code raises
        raise UserError(
            f"{path!r} cannot be made without arguments: {error_line(error)}"
        ) from error


@contextmanager
def extra_needed(work: str) -> Iterator[None]:
    """Around imports: a missing package becomes an error that says how to install it.

    work: what needs the package, as the (plural) subject of the sentence.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_package(error, f"{work} need") or error from None


def error_line(error: BaseException) -> str:
    """The type and message of an error of the user's code."""
    called = " (it calls sys.exit)" if isinstance(error, SystemExit) else ""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":") + called


def _public_of(names: Iterable[str]) -> list[str]:
    return [name for name in names if not name.startswith("_")]


@cache
def _run(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_module_name(file), file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise UserError(f"there is no Python file {str(file)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look for it there
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's file may raise anything, and may end with sys.exit
        del sys.modules[module.__name__]
        raise UserError(f"cannot run {str(file)!r}: {error_line(error)}") from error
    return module


def _module_name(file: Path) -> str:
    # Two files of one name in two folders are two modules.
    return f"quantshift_added_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
