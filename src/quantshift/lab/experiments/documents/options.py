"""The options of quantifiers and classifiers that an experiment file names."""

import inspect
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from quantshift.base.imports import is_import_path
from quantshift.classify.named import classifier_class, unknown_classifier
from quantshift.errors import UserError, unknown_name
from quantshift.quantifiers.base.estimator import AbstractQuantifier

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

_SET_BY_EXPERIMENT = ("classifier", "cv", "random_state")
"""Options of a quantifier that the experiment sets, the same for all methods."""

_SET_FOR_FOREIGN = ("classifier", "cv")
"""Those of a method of another library, which keeps a seed of its own."""


def check_options(quantifier: type[Any], options: Mapping[str, Any]) -> None:
    """Raise if the quantifier does not have one of the options."""
    is_ours = issubclass(quantifier, AbstractQuantifier)
    set_by_experiment = _SET_BY_EXPERIMENT if is_ours else _SET_FOR_FOREIGN
    for name in options:
        if name in set_by_experiment:
            raise UserError(f"the option {name!r} comes from the experiment; remove it")
        allowed = [n for n in parameters(quantifier) if n not in set_by_experiment]
        if name not in allowed:
            raise _unknown_option(quantifier.__name__, name, allowed)
    _check_required(quantifier, options)


def default_options(quantifier: type[Any]) -> dict[str, Any]:
    """Default options of a quantshift quantifier; empty for those of other libraries."""
    if not issubclass(quantifier, AbstractQuantifier):
        return {}
    return {
        name: parameter.default
        for name, parameter in parameters(quantifier).items()
        if name not in _SET_BY_EXPERIMENT and parameter.default is not parameter.empty
    }


def check_classifier(name: str, options: Collection[str]) -> None:
    """Raise if the classifier does not exist, or needs options that are not given."""
    if name != LOGISTIC:
        _check_required(_classifier_class(name), options)


def check_classifier_option(classifier: str, name: str, value: Any) -> None:
    """Raise if the classifier does not have the option, or does not accept the value."""
    if classifier != LOGISTIC:
        allowed = parameters(_classifier_class(classifier))
        takes_any = any(p.kind is p.VAR_KEYWORD for p in allowed.values())
        if name not in allowed and not takes_any:
            raise _unknown_option(classifier, name, list(allowed))
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
        raise unknown_classifier(name, [LOGISTIC])
    return classifier_class(name)


def _check_required(cls: type[Any], options: Collection[str]) -> None:
    for name, parameter in parameters(cls).items():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and name not in options:
            raise UserError(f"{cls.__name__} needs the option {name!r}; add it")


def parameters(cls: type[Any]) -> dict[str, inspect.Parameter]:
    """The parameters of the class's constructor."""
    return dict(inspect.signature(cls).parameters)


def _unknown_option(owner: str, name: str, allowed: list[str]) -> UserError:
    if not allowed:
        return UserError(f"{owner} has no options; remove {name!r}")
    return unknown_name(f"option of {owner}:", name, allowed)
