"""Learners: one model per setting of the classifier, with held-out posteriors as a by-product.

A setting is a point of the classifier's grid, e.g. {"C": 10, "class_weight": "balanced"}. All
settings are fitted on the same training items, so that logistic regression can solve them as one
batch; any other scikit-learn classifier is cloned and fitted setting by setting, with the same
layout of results.

Classes are codes 0 .. n_classes - 1, and posteriors have a column for each. Learning needs items of
every class: a training set that lacks one, as a whole or without one of its folds, is refused,
because nothing would justify a posterior of zero.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression

from quantshift.base.types import Codes, Indices, Posteriors
from quantshift.classify.classifier import cross_fit, item_rows, predict_posteriors
from quantshift.classify.logistic.models import (
    TOLERANCE,
    balanced_weights,
    fit_logistic,
    posteriors_of,
)
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.texts.view import View

Setting = Mapping[str, Any]


class AbstractModels(ABC):
    """Fitted models, one per setting.

    out_of_fold: posteriors of the training items by models that were not trained on them, shape
        (n_settings, n_items, n_classes).
    converged: whether all optimisations of a setting have converged, shape (n_settings,).
    """

    out_of_fold: Posteriors
    converged: NDArray[np.bool_]

    @abstractmethod
    def posteriors(self, view: View, rows: Indices) -> Posteriors:
        """Posteriors of any rows under every setting, (n_settings, n_rows, n_classes)."""

    @abstractmethod
    def committee(self, view: View, rows: Indices, setting: int) -> Posteriors:
        """Posteriors of rows outside training by the models that made the out-of-fold ones.

        setting: its position. Shape (n_members, n_rows, n_classes).
        """


class AbstractLearner(ABC):
    """Fits all settings on the same items."""

    @abstractmethod
    def learn(
        self,
        view: View,
        rows: Indices,
        codes: Codes,
        settings: Sequence[Setting],
        folds: Indices,
        n_classes: int = 2,
    ) -> AbstractModels:
        """Fit every setting on all rows, and on all but each fold.

        codes, folds: of the rows, (n_rows,); codes are below `n_classes`.
        """

    @abstractmethod
    def estimator(self, setting: Setting) -> BaseEstimator:
        """The unfitted classifier of a setting, for methods that fit it themselves."""


@dataclass(frozen=True)
class LogisticLearner(AbstractLearner):
    """The batched logistic regression; settings are `C` and `class_weight` (balanced or None).

    defaults: for parameters that a setting does not give; tol, max_iter: of `fit_logistic`.
    """

    defaults: Setting = field(default_factory=dict)
    tol: float | None = None
    max_iter: int = 1000

    def learn(
        self,
        view: View,
        rows: Indices,
        codes: Codes,
        settings: Sequence[Setting],
        folds: Indices,
        n_classes: int = 2,
    ) -> AbstractModels:
        """Solve all settings and folds as one batch."""
        _check_classes(codes, folds, n_classes)
        all_rows = np.ones(len(rows), dtype=bool)
        parts = [all_rows, *(folds != fold for fold in range(int(folds.max()) + 1))]
        problems = [
            (_logistic_setting({**self.defaults, **setting}), part)
            for setting in settings
            for part in parts
        ]
        fitted = fit_logistic(
            view.transform(rows),
            codes,
            [c for (c, _), _ in problems],
            np.stack(
                [_weights(codes, part, balanced, n_classes) for (_, balanced), part in problems]
            ),
            n_classes=n_classes,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        shape = (len(settings), len(parts))
        scores = fitted.training_scores.reshape(*shape, *fitted.training_scores.shape[1:])
        return _LogisticModels(
            out_of_fold=posteriors_of(scores[:, folds + 1, np.arange(len(rows))], n_classes),
            converged=np.asarray(fitted.converged.reshape(shape).all(axis=1)),
            coef=fitted.coef.reshape(-1, *shape, *fitted.coef.shape[2:]),
            intercept=fitted.intercept.reshape(*shape, *fitted.intercept.shape[1:]),
        )

    def estimator(self, setting: Setting) -> BaseEstimator:
        """Scikit-learn's logistic regression with the same objective, about as accurate."""
        chosen = {**self.defaults, **setting}
        _logistic_setting(chosen)
        # Its tolerance is for the gradient per item, ours for the squared gradient: at C = 1000 and
        # 2% positives, 1e-5 times the root of ours is as accurate (benchmarks/logistic.py).
        return LogisticRegression(
            **chosen,
            solver="newton-cg",
            tol=1e-5 * (self.tol or TOLERANCE) ** 0.5,
            max_iter=self.max_iter,
        )


@dataclass(frozen=True)
class _LogisticModels(AbstractModels):
    """coef: (n_features, n_settings, 1 + n_folds), the model of all items first; so is intercept.

    With more than two classes, both have one more axis.
    """

    out_of_fold: Posteriors
    converged: NDArray[np.bool_]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]

    def posteriors(self, view: View, rows: Indices) -> Posteriors:
        return _scored(view, rows, self.coef[:, :, 0], self.intercept[:, 0])

    def committee(self, view: View, rows: Indices, setting: int) -> Posteriors:
        return _scored(view, rows, self.coef[:, setting, 1:], self.intercept[setting, 1:])


def _scored(
    view: View, rows: Indices, coef: NDArray[np.float64], intercept: NDArray[np.float64]
) -> Posteriors:
    flat = np.ascontiguousarray(coef).reshape(len(coef), -1)
    scores = view.scores(rows, flat, intercept.ravel())
    if intercept.ndim == 1:
        return posteriors_of(np.ascontiguousarray(scores.T))
    by_model = scores.reshape(-1, *intercept.shape).transpose(1, 0, 2)
    return posteriors_of(np.ascontiguousarray(by_model), intercept.shape[1])


@dataclass(frozen=True)
class SklearnLearner(AbstractLearner):
    """Any scikit-learn classifier; a setting is a set of its parameters."""

    classifier: BaseEstimator

    def learn(
        self,
        view: View,
        rows: Indices,
        codes: Codes,
        settings: Sequence[Setting],
        folds: Indices,
        n_classes: int = 2,
    ) -> AbstractModels:
        """Clone and fit the classifier for every setting and fold."""
        _check_classes(codes, folds, n_classes)
        X, classes = item_rows(view.transform(rows)), np.arange(n_classes)
        models = [self.estimator(setting) for setting in settings]
        held_out = [cross_fit(model, X, codes, classes, folds) for model in models]
        return _SklearnModels(
            out_of_fold=np.stack([posteriors for posteriors, _ in held_out]),
            converged=np.ones(len(settings), dtype=bool),
            models=tuple(model.fit(X, codes) for model in models),
            members=tuple(members for _, members in held_out),
        )

    def estimator(self, setting: Setting) -> BaseEstimator:
        """A clone with the setting's parameters."""
        return clone(self.classifier).set_params(**setting)


@dataclass(frozen=True)
class _SklearnModels(AbstractModels):
    out_of_fold: Posteriors
    converged: NDArray[np.bool_]
    models: tuple[Any, ...]
    members: tuple[tuple[Any, ...], ...]

    def posteriors(self, view: View, rows: Indices) -> Posteriors:
        return _predicted(self.models, view, rows, self.out_of_fold.shape[-1])

    def committee(self, view: View, rows: Indices, setting: int) -> Posteriors:
        return _predicted(self.members[setting], view, rows, self.out_of_fold.shape[-1])


def _predicted(models: Sequence[Any], view: View, rows: Indices, n_classes: int) -> Posteriors:
    X, classes = item_rows(view.transform(rows)), np.arange(n_classes)
    return np.stack([predict_posteriors(model, X, classes) for model in models])


@dataclass(frozen=True)
class GivenPosteriors(AbstractLearner):
    """No learning: posteriors of all rows are given, from a model that was not trained on them.

    A class without training items is allowed, because it has a column.
    """

    given: Posteriors

    def learn(
        self,
        view: View,
        rows: Indices,
        codes: Codes,
        settings: Sequence[Setting],
        folds: Indices,
        n_classes: int = 2,
    ) -> AbstractModels:
        """The given posteriors of the rows are used as out-of-fold ones."""
        if self.given.shape[-1] != n_classes:
            raise DataError(
                f"the given posteriors have {self.given.shape[-1]} columns but there are "
                f"{n_classes} classes: give one column per class, in the order of the classes"
            )
        return _GivenModels(
            out_of_fold=np.tile(self.given[rows], (len(settings), 1, 1)),
            converged=np.ones(len(settings), dtype=bool),
            given=self.given,
        )

    def estimator(self, setting: Setting) -> BaseEstimator:
        """Not available: there is no classifier."""
        raise UserError(
            "posteriors are given instead of features: use only quantifiers that aggregate "
            "posteriors (derived from quantshift.quantifiers.AbstractQuantifier)"
        )


@dataclass(frozen=True)
class _GivenModels(AbstractModels):
    out_of_fold: Posteriors
    converged: NDArray[np.bool_]
    given: Posteriors

    def posteriors(self, view: View, rows: Indices) -> Posteriors:
        return np.tile(self.given[rows], (len(self.converged), 1, 1))

    def committee(self, view: View, rows: Indices, setting: int) -> Posteriors:
        return self.given[rows][np.newaxis]


def _logistic_setting(setting: Setting) -> tuple[float, bool]:
    defaults = {"C": 1.0, "class_weight": None}
    for name in setting:
        if name not in defaults:
            raise unknown_name("parameter of the logistic regression", name, defaults)
    chosen = {**defaults, **setting}
    if chosen["class_weight"] not in (None, "balanced"):
        raise UserError(
            f"class_weight of the logistic regression must be 'balanced' or none, "
            f"got {chosen['class_weight']!r}"
        )
    return float(chosen["C"]), chosen["class_weight"] == "balanced"


def _weights(
    codes: Codes, members: NDArray[np.bool_], balanced: bool, n_classes: int
) -> NDArray[np.float64]:
    if balanced:
        return balanced_weights(codes, members, n_classes)
    return members.astype(np.float64)


def _check_classes(codes: Codes, folds: Indices, n_classes: int) -> None:
    """Refuse a training set that lacks a class, as a whole or without one of its folds."""
    if codes.size and not 0 <= codes.min() <= codes.max() < n_classes:
        raise DataError(
            f"codes from {codes.min()} to {codes.max()} but {n_classes} classes: "
            f"they must be from 0 to {n_classes - 1}"
        )
    counts = np.zeros((int(folds.max(initial=-1)) + 1, n_classes), dtype=np.int64)
    np.add.at(counts, (folds, codes), 1)
    totals = counts.sum(axis=0)
    if (totals == 0).any():
        raise DataError(
            f"no training item is of class {int(totals.argmin())} (of {n_classes}, counted from "
            "0): draw training sets that contain every class"
        )
    in_one_fold = (counts == totals).any(axis=0)
    if in_one_fold.any():
        raise DataError(
            f"all training items of class {int(in_one_fold.argmax())} (of {n_classes}, counted "
            "from 0) are in one fold, and held out together: spread every class over the folds"
        )
