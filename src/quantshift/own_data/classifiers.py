"""Classifiers by name, or any of scikit-learn's that the user names as `package.module:name`."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from quantshift.classify.batched import BatchedLogistic
from quantshift.data.columns import TEXT
from quantshift.data.preparation import TablePreparation
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.weights import Weights

AUTO, LOGISTIC, BOOSTING = "auto", "logistic", "boosting"

MOST_BOOSTED = 3
"""Classes for which boosting is tried without being asked for."""

Gaps: TypeAlias = tuple[tuple[int, int], ...]
"""Pairs of columns of a matrix: a number, and the indicator of its gaps."""

MOST_CELLS = 100_000_000
"""Larger matrices are not made dense."""


class OnDense(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that takes dense matrices only, and perhaps gaps as they are.

    gaps: pairs of columns, a number and the indicator of its gaps; where this is 1 the classifier
        sees NaN instead of the value that the gap was filled with.
    """

    def __init__(self, classifier: Any, gaps: Gaps = ()) -> None:
        self.classifier = classifier
        self.gaps = gaps

    def fit(self, X: Any, y: Any, sample_weight: Weights | None = None) -> "OnDense":
        """Fit the classifier."""
        self.classifier_ = clone(self.classifier).fit(self._dense(X), y, sample_weight)
        self.classes_ = self.classifier_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        """Posteriors of the classifier."""
        return self.classifier_.predict_proba(self._dense(X))

    def predict(self, X: Any) -> Any:
        """The likeliest classes."""
        return self.classifier_.predict(self._dense(X))

    def _dense(self, X: Any) -> Any:
        if X.shape[0] * X.shape[1] > MOST_CELLS:
            raise DataError(
                f"{type(self.classifier).__name__} takes no sparse matrix, and this one of "
                f"{X.shape[0]:,} rows and {X.shape[1]:,} columns is too large otherwise; use "
                "logistic or forest"
            )
        dense = X.toarray() if issparse(X) else np.array(X, dtype=np.float64)
        for number, indicator in self.gaps:
            dense[dense[:, indicator] > 0, number] = np.nan
        return dense


class Maker(Protocol):
    """Makes a classifier that has not been fitted.

    is_text: whether all it will see is words; gaps: as `OnDense` has them.
    """

    def __call__(self, seed: int, *, is_text: bool = False, gaps: Gaps = ()) -> BaseEstimator:
        """The classifier."""


def _logistic(seed: int, *, is_text: bool = False, gaps: Gaps = ()) -> BaseEstimator:
    # Words are many and rare: a weaker penalty than for a few standardised numbers.
    return BatchedLogistic(C=10.0 if is_text else 1.0)


def _naive_bayes(seed: int, *, is_text: bool = False, gaps: Gaps = ()) -> BaseEstimator:
    from sklearn.naive_bayes import GaussianNB, MultinomialNB

    return MultinomialNB() if is_text else OnDense(GaussianNB())


def _forest(seed: int, *, is_text: bool = False, gaps: Gaps = ()) -> BaseEstimator:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, min_samples_leaf=2, random_state=seed)


def _boosting(seed: int, *, is_text: bool = False, gaps: Gaps = ()) -> BaseEstimator:
    if is_text:
        raise UserError("boosting takes numbers, not words; for texts use logistic or naive-bayes")
    from sklearn.ensemble import HistGradientBoostingClassifier

    # Small steps and small trees: posteriors, not decisions, are what counts.
    boosting = HistGradientBoostingClassifier(
        learning_rate=0.06, max_leaf_nodes=12, early_stopping=False, random_state=seed
    )
    return OnDense(boosting, gaps)


CLASSIFIERS: Mapping[str, Maker] = MappingProxyType(
    {
        LOGISTIC: _logistic,
        "naive-bayes": _naive_bayes,
        "forest": _forest,
        BOOSTING: _boosting,
    }
)
"""Classifiers by name."""


def check_classifier(name: str) -> None:
    """Refuse a name that stands for no classifier."""
    if ":" in name:
        named_object(name)
    elif name not in (AUTO, *CLASSIFIERS):
        raise unknown_name("classifier", name, [AUTO, *CLASSIFIERS])


def make_rivals(
    name: str, preparation: TablePreparation, n_classes: int, seed: int
) -> dict[str, BaseEstimator]:
    """The classifiers of which the best is taken: that of the name or, for `auto`, several.

    Boosting is tried for columns without texts and for few classes, since it makes trees for each.
    """
    names = [name]
    if name == AUTO:
        has_text = any(column.kind == TEXT for column in preparation.columns)
        plain = not has_text and n_classes <= MOST_BOOSTED
        names = [LOGISTIC, BOOSTING] if plain else [LOGISTIC]
    return {name: make_classifier(name, preparation, seed) for name in names}


def make_classifier(name: str, preparation: TablePreparation, seed: int) -> BaseEstimator:
    """The classifier of that name, or the one at `package.module:name`; logistic for `auto`."""
    if ":" in name:
        return named_object(name)
    check_classifier(name)
    name = LOGISTIC if name == AUTO else name
    return CLASSIFIERS[name](seed, is_text=preparation.is_text, gaps=preparation.gap_pairs)


def named_object(place: str) -> BaseEstimator:
    """The classifier or pipeline at `package.module:name`, or what a class or function makes."""
    module, _, name = place.partition(":")
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(
            f"classifier {place!r} cannot be imported ({_line(error)}); write package.module:name"
        ) from error
    if isinstance(found, type) or (callable(found) and not hasattr(found, "fit")):
        try:
            found = found()
        except Exception as error:  # whatever the user's code raises
            raise UserError(
                f"classifier {place!r} cannot be made without arguments ({_line(error)})"
            ) from error
    if not hasattr(found, "fit") or not hasattr(found, "get_params"):
        raise UserError(
            f"classifier {place!r} is not a scikit-learn classifier: it has no fit and get_params"
        )
    if not hasattr(found, "predict_proba") and not hasattr(found, "predict"):
        raise UserError(f"classifier {place!r} predicts nothing; name a classifier")
    return clone(found)


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
