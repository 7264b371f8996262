"""Classifiers by name, or any scikit-learn classifier given as `package.module:name`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from quantshift.classify.logistic.estimator import BatchedLogistic
from quantshift.classify.named import named_classifier, unknown_classifier
from quantshift.errors import DataError, UserError
from quantshift.prevalence.weights import Weights
from quantshift.quantifying.options import AUTO
from quantshift.tables.columns.kinds import TEXT
from quantshift.tables.preparation import TablePreparation

LOGISTIC, BOOSTING = "logistic", "boosting"

MOST_BOOSTED = 3
"""The most classes for which `auto` tries boosting."""

Gaps: TypeAlias = tuple[tuple[int, int], ...]
"""Pairs of matrix columns: a number, and the indicator of its missing values."""

MOST_CELLS = 100_000_000
"""Larger matrices are not made dense."""


class OnDense(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Wraps a classifier that takes dense matrices only, and perhaps missing values as NaN.

    gaps: pairs of columns, a number and the indicator of its missing values. Where the indicator is
        1, the classifier sees NaN instead of the imputed value.
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
        """The most probable classes."""
        return self.classifier_.predict(self._dense(X))

    def _dense(self, X: Any) -> Any:
        if X.shape[0] * X.shape[1] > MOST_CELLS:
            raise DataError(
                f"{type(self.classifier).__name__} needs a dense matrix, and {X.shape[0]:,} rows "
                f"with {X.shape[1]:,} columns are too large for one; use logistic or forest"
            )
        dense = X.toarray() if issparse(X) else np.array(X, dtype=np.float64)
        for number, indicator in self.gaps:
            dense[dense[:, indicator] > 0, number] = np.nan
        return dense


class Maker(Protocol):
    """Makes a classifier that has not been fitted.

    is_text: whether all features are words; gaps: see `OnDense`.
    """

    def __call__(self, seed: int, *, is_text: bool = False, gaps: Gaps = ()) -> BaseEstimator:
        """The classifier."""


def _logistic(seed: int, *, is_text: bool = False, gaps: Gaps = ()) -> BaseEstimator:
    # Words are many and rare, and need a weaker penalty than a few standardised numbers.
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

    # Small steps and small trees give better posteriors, which matter more here than decisions.
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
    """Raise an error if the name is not that of a classifier."""
    if ":" in name:
        named_classifier(name)
    elif name not in (AUTO, *CLASSIFIERS):
        raise unknown_classifier(name, [AUTO, *CLASSIFIERS])


def make_rivals(
    name: str, preparation: TablePreparation, n_classes: int, seed: int
) -> dict[str, BaseEstimator]:
    """The classifiers from which the best is chosen: the one named or, for `auto`, several.

    Boosting is tried for columns without texts and for few classes, because it grows trees for each
    class.
    """
    names = [name]
    if name == AUTO:
        has_text = any(column.kind == TEXT for column in preparation.columns)
        suits_boosting = not has_text and n_classes <= MOST_BOOSTED
        names = [LOGISTIC, BOOSTING] if suits_boosting else [LOGISTIC]
    return {name: make_classifier(name, preparation, seed) for name in names}


def make_classifier(name: str, preparation: TablePreparation, seed: int) -> BaseEstimator:
    """The classifier of that name, or the one at `package.module:name`; logistic for `auto`."""
    if ":" in name:
        return named_classifier(name)
    check_classifier(name)
    name = LOGISTIC if name == AUTO else name
    return CLASSIFIERS[name](seed, is_text=preparation.is_text, gaps=preparation.gap_pairs)
