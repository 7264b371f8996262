"""Classifiers that users name as "package.module:name" or "FILE.py:name"."""

from collections.abc import Iterable
from typing import Any

from sklearn.base import BaseEstimator, clone

from quantshift.base.imports import imported, imported_class, made
from quantshift.errors import UserError, unknown_name


def unknown_classifier(name: str, names: Iterable[str]) -> UserError:
    """The error for a name that is neither known nor an import path."""
    wrong = unknown_name("classifier", name, names)
    return UserError(f'{wrong} (your own: "package.module:name" or "FILE.py:name")')


def classifier_class(path: str) -> type[Any]:
    """The class of classifiers at "package.module:Class", to be called with options."""
    cls = imported_class(path)
    _check(path, cls)
    return cls


def named_classifier(path: str) -> BaseEstimator:
    """The classifier or pipeline at "package.module:name"; a class or function there is called."""
    classifier = imported(path)
    if isinstance(classifier, type) or (callable(classifier) and not hasattr(classifier, "fit")):
        classifier = made(path, classifier)
    _check(path, classifier)
    if not hasattr(classifier, "get_params"):
        raise UserError(f"{path!r} is not a scikit-learn classifier: it has no get_params")
    return clone(classifier)


def _check(path: str, classifier: Any) -> None:
    predicts = any(
        callable(getattr(classifier, name, None)) for name in ("predict_proba", "predict")
    )
    if not callable(getattr(classifier, "fit", None)) or not predicts:
        raise UserError(f"{path!r} is not a classifier; it needs fit and predict")
