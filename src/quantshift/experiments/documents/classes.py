"""Quantifiers, protocols and classifiers by name: built in, or given as "package.module:Class"."""

import dataclasses
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from quantshift.errors import UserError, unknown_name
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.quantifiers.base.foreign import is_quantifier
from quantshift.shifts.protocol import AbstractProtocol

LOGISTIC = "logistic"
"""The batched logistic regression of quantshift, all settings and folds solved together."""

LOGISTIC_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "C": "a positive number",
        "class_weight": '"balanced" or "none"',
        "max_iter": "a whole number of at least 1",
        "tol": "a positive number",
    }
)
"""Its options, and which values they take."""

_GIVEN = ("classifier", "cv", "seed")
"""Options of a quantifier that the experiment sets, the same for all methods."""


def is_import_path(name: str) -> bool:
    """Whether the name is of the form "package.module:Class"."""
    module, colon, attribute = name.partition(":")
    return bool(colon) and all(map(str.isidentifier, [*module.split("."), attribute]))


def import_class(path: str) -> type[Any]:
    """The class at "package.module:Class"."""
    module_name, _, name = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a user's module may raise anything while it is imported
        raise UserError(f"cannot import {module_name!r}: {_one_line(error)}") from error
    cls = getattr(module, name, None)
    if not inspect.isclass(cls):
        classes = [key for key, value in vars(module).items() if inspect.isclass(value)]
        raise unknown_name(f"class in {module_name!r}:", name, classes)
    return cls


def file_class(file: Path, name: str) -> type[Any]:
    """The class of that name in a Python file, which is executed once per process."""
    classes = {key: value for key, value in vars(_run(file)).items() if inspect.isclass(value)}
    if name not in classes:
        defined_there = [
            key for key, value in classes.items() if value.__module__ == _module_name(file)
        ]
        raise unknown_name(f"class in {str(file)!r}:", name, defined_there or classes)
    return classes[name]


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
        raise UserError(f"cannot run {str(file)!r}: {_one_line(error)}") from error
    return module


def _one_line(error: BaseException) -> str:
    called = " (it calls sys.exit)" if isinstance(error, SystemExit) else ""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":") + called


def _module_name(file: Path) -> str:
    # Two files of one name in two folders are two modules.
    return f"quantshift_added_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"


def quantifier_class(name: str, folder: Path | None = None) -> type[Any]:
    """A quantifier of the catalogue, from an import path or, with `folder`, from a file there."""
    known = catalogue.quantifiers()
    if folder is None and name in known:
        return known[name]
    if folder is None and not is_import_path(name):
        wrong = unknown_name("quantifier", name, known)
        raise UserError(f'{wrong} (your own: "package.module:Class")')
    file, _, class_name = name.rpartition(":")
    cls = import_class(name) if folder is None else file_class(folder / file, class_name)
    if inspect.isabstract(cls) or not is_quantifier(cls):
        raise UserError(
            f"{name!r} is not a quantifier; derive it from quantshift.AbstractQuantifier, or "
            "give it fit(X, y) and predict(X)"
        )
    return cls


def protocol_class(kind: str) -> type[AbstractProtocol]:
    """The protocol of that name in the catalogue, or the one at the import path."""
    known = {cls.name: cls for cls in catalogue.shifts().values()}
    if kind in known:
        return known[kind]
    if not is_import_path(kind):
        wrong = unknown_name("kind of shift", kind, known)
        raise UserError(f'{wrong} (your own: "package.module:Class")')
    imported = import_class(kind)
    if inspect.isabstract(imported) or not issubclass(imported, AbstractProtocol):
        raise UserError(f"{kind!r} is not a protocol; derive it from quantshift.AbstractShift")
    if not dataclasses.is_dataclass(imported):
        raise UserError(
            f"{kind!r} is not a dataclass: its fields are the keys of the [shift] table; decorate "
            "it with @dataclass(frozen=True, kw_only=True)"
        )
    return imported


def check_options(quantifier: type[Any], options: Mapping[str, Any]) -> None:
    """Raise if the quantifier does not have one of the options."""
    for name in options:
        if name in _GIVEN:
            raise UserError(f"the option {name!r} comes from the experiment; remove it")
        known = [known for known in parameters(quantifier) if known not in _GIVEN]
        if name not in known:
            raise _unknown_option(quantifier.__name__, name, known)
    _check_required(quantifier, options)


def default_options(quantifier: type[Any]) -> dict[str, Any]:
    """Default options of a quantshift quantifier; empty for those of other libraries."""
    if not issubclass(quantifier, AbstractQuantifier):
        return {}
    return {
        name: parameter.default
        for name, parameter in parameters(quantifier).items()
        if name not in _GIVEN and parameter.default is not parameter.empty
    }


def check_classifier(name: str, options: Collection[str]) -> None:
    """Raise if the classifier does not exist, or needs options that are not given."""
    if name != LOGISTIC:
        _check_required(_classifier_class(name), options)


def check_classifier_option(classifier: str, name: str, value: Any) -> None:
    """Raise if the classifier does not have the option, or does not accept the value."""
    if classifier != LOGISTIC:
        known = parameters(_classifier_class(classifier))
        takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
        if name not in known and not takes_any:
            raise _unknown_option(classifier, name, list(known))
        return
    if name not in LOGISTIC_OPTIONS:
        raise _unknown_option(classifier, name, list(LOGISTIC_OPTIONS))
    if name == "class_weight":
        is_valid = value in ("balanced", None)
    else:
        number = isinstance(value, int if name == "max_iter" else int | float)
        is_valid = number and not isinstance(value, bool) and value > 0
    if not is_valid:
        raise UserError(f"must be {LOGISTIC_OPTIONS[name]}, got {value!r}")


def _classifier_class(name: str) -> type[Any]:
    if not is_import_path(name):
        wrong = unknown_name("classifier", name, [LOGISTIC])
        raise UserError(f'{wrong} (others: "package.module:Class", e.g. of scikit-learn)')
    cls = import_class(name)
    if not all(callable(getattr(cls, method, None)) for method in ("fit", "predict")):
        raise UserError(f"{name!r} is not a classifier; it needs fit and predict")
    return cls


def _check_required(cls: type[Any], options: Collection[str]) -> None:
    for name, parameter in parameters(cls).items():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and name not in options:
            raise UserError(f"{cls.__name__} needs the option {name!r}; add it")


def parameters(cls: type[Any]) -> dict[str, inspect.Parameter]:
    """The parameters of the class's constructor."""
    return dict(inspect.signature(cls).parameters)


def _unknown_option(owner: str, name: str, known: list[str]) -> UserError:
    if not known:
        return UserError(f"{owner} has no options; remove {name!r}")
    return unknown_name(f"option of {owner}:", name, known)
