"""Classifiers that users name as "package.module:name"."""

from collections.abc import Iterable
from typing import Any

from sklearn.base import BaseEstimator, clone

from quantshift.base.imports import imported, imported_class, made
from quantshift.errors import UserError, unknown_name


def unknown_classifier(name: str, known: Iterable[str]) -> UserError:
    """The error for a name that is neither known nor an import path."""
    wrong = unknown_name("classifier", name, known)
    return UserError(f'{wrong} (your own: "package.module:name", e.g. of scikit-learn)')


def classifier_class(path: str) -> type[Any]:
    """The class of classifiers at "package.module:Class", to be called with options."""
    cls = imported_class(path)
    _check(path, cls)
    return cls


def named_classifier(path: str) -> BaseEstimator:
    """The classifier or pipeline at "package.module:name"; a class or function there is called."""
    found = imported(path)
    if isinstance(found, type) or (callable(found) and not hasattr(found, "fit")):
        found = made(path, found)
    _check(path, found)
    if not hasattr(found, "get_params"):
        raise UserError(f"{path!r} is not a scikit-learn classifier: it has no get_params")
    return clone(found)


def _check(path: str, found: Any) -> None:
    predicts = any(callable(getattr(found, name, None)) for name in ("predict_proba", "predict"))
    if not callable(getattr(found, "fit", None)) or not predicts:
        raise UserError(f"{path!r} is not a classifier; it needs fit and predict")
