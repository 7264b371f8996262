"""Medians of several estimates: of quantifiers on one classifier, or on several.

Quantifiers err in different directions, and so do classifiers. The median of their estimates, class
by class and scaled to sum to one, ignores those with the largest errors.

Reference: Z. Donyavi, A. Serapiao and G. Batista, "MC-SQ and MC-MQ: ensembles for multi-class
quantification", IEEE TKDE 36 (2024).
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from quantshift.base.domains import Seed, Such
from quantshift.base.types import Codes, Indices, Prevalences
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.errors import UserError
from quantshift.items.items import Items
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import (
    AbstractAggregative,
    AbstractClassifying,
    AbstractQuantifier,
    Diagnostics,
)
from quantshift.quantifiers.base.tags import FEATURES, Reading, Tags
from quantshift.quantifiers.counting.adjusted import PACC
from quantshift.quantifiers.likelihood.sld import SLD
from quantshift.quantifiers.matching.matching import DyS

Members = Sequence[
    Annotated[
        AbstractAggregative,
        Such("a quantifier such as PACC()", lambda value: isinstance(value, AbstractQuantifier)),
    ]
]

DIAGNOSTICS: Mapping[str, str] = MappingProxyType({"spread": "float"})
"""The diagnostics of ensembles: how much their members disagree."""


class Median(AbstractClassifying):
    """Median of quantifiers: several methods on the posteriors of one classifier (SC-MQ).

    `spread` is the mean over classes of the standard deviation of the members' estimates.

    Parameters
    ----------
    quantifiers : sequence of quantifiers, optional
        Methods that use only posteriors; default: PACC, SLD and DyS. Their own parameters
        `classifier`, `cv` and `random_state` are not used: all get the posteriors of `classifier`,
        and hard predictions are their argmax.
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import Median
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = Median().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['spread']
    """

    tags: ClassVar[Tags] = Tags(assumption="that of most of its members", reads=Reading.MEMBERS)
    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    members_: tuple[AbstractAggregative, ...]

    def __init__(
        self,
        quantifiers: Members | None = None,
        classifier: Classifier | None = None,
        *,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.quantifiers = quantifiers
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state

    def needs_held_out_posteriors(self) -> bool:
        """Whether a member does."""
        return any(quantifier.needs_held_out_posteriors() for quantifier in self._quantifiers())

    @property
    def takes_weights(self) -> bool:
        """Whether items may have weights, which is the case if all members take them."""
        return all(quantifier.takes_weights for quantifier in self._quantifiers())

    def refitter(self) -> Callable[[Indices], Self]:
        """Every member is refitted in its own way."""
        check_is_fitted(self, "classes_")
        items, codes = self.held_out_, self.held_out_codes_
        refitters = [member.refitter() for member in self.members_]

        def refit(rows: Indices) -> Any:
            replicate = copy(self)
            replicate._set_training(items.take(rows), codes[rows], self.classes_)
            replicate.members_ = tuple(refit_member(rows) for refit_member in refitters)
            return replicate

        return refit

    def member_estimates(
        self, representation: Any, index: Indices, weights: Weights | None = None
    ) -> NDArray[np.float64]:
        """The estimates of all members, (n_members, n_samples, n_classes)."""
        weights_if_any = () if weights is None else (weights,)
        return np.stack(
            [
                member._solve(rows, index, *weights_if_any)[0]
                for member, rows in zip(self.members_, representation, strict=True)
            ]
        )

    def combined(self, estimates: NDArray[np.float64]) -> Prevalences:
        """The median of the members' estimates, class by class, for each sample."""
        return median_prevalence(estimates)[0]

    def _quantifiers(self) -> Members:
        quantifiers = (
            (PACC(), SLD(), DyS()) if self.quantifiers is None else tuple(self.quantifiers)
        )
        for quantifier in quantifiers:
            if not isinstance(quantifier, AbstractAggregative):
                raise UserError(
                    f"{type(quantifier).__name__} needs more than posteriors: use methods that "
                    "work on posteriors alone, such as PACC or SLD, or an EoQ of it"
                )
        if not quantifiers:
            raise UserError("a median needs at least one quantifier, got none")
        return quantifiers

    def _learn(self, items: Items, codes: Codes) -> None:
        classes = np.arange(len(self.classes_))
        self.members_ = tuple(
            clone(quantifier).fit_items(items, codes, classes=classes)
            for quantifier in self._quantifiers()
        )

    def _represent_items(self, items: Items) -> Any:
        return tuple(member._represent_items(items) for member in self.members_)

    def _solve(
        self, representation: Any, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return median_prevalence(self.member_estimates(representation, index, weights))


class ClassifierMedian(AbstractQuantifier):
    """Median over classifiers and quantifiers: every method on every classifier (MC-SQ, MC-MQ).

    The classifiers are fitted cv + 1 times each. `spread` is as in Median.

    Parameters
    ----------
    quantifiers : sequence of quantifiers, optional
        As in Median; one makes MC-SQ, several MC-MQ.
    classifiers : sequence of classifiers, optional
        Default: logistic regression, a random forest and extremely randomised trees.
    classifier : scikit-learn classifier, optional
        One more, if given.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors, and their seed.
    random_state : int
        Folds of the out-of-fold posteriors, and their seed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import ClassifierMedian
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = ClassifierMedian().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['spread']
    """

    tags: ClassVar[Tags] = Tags(
        assumption="that of most of its members",
        sees=FEATURES,
        own_classifier=True,
        no_interval="every replicate would fit all classifiers again; a Median with one classifier "
        "has an interval",
    )
    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    medians_: tuple[Median, ...]

    def __init__(
        self,
        quantifiers: Members | None = None,
        classifiers: Sequence[Classifier] | None = None,
        *,
        classifier: Classifier | None = None,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.quantifiers = quantifiers
        self.classifiers = classifiers
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state

    @property
    def takes_weights(self) -> bool:
        """Whether items may have weights, which is the case if all members take them."""
        return Median(self.quantifiers).takes_weights

    def _learn(self, items: Items, codes: Codes) -> None:
        if self.classifiers is None:
            trees = {
                "n_estimators": 100,
                "min_samples_leaf": 5,
                "random_state": self.random_state % 2**32,
            }
            classifiers: list[BaseEstimator] = [
                LogisticRegression(max_iter=1000),
                RandomForestClassifier(**trees),
                ExtraTreesClassifier(**trees),
            ]
        else:
            classifiers = list(self.classifiers)
        if self.classifier is not None:
            classifiers.append(self.classifier)
        if not classifiers:
            raise UserError("a median over classifiers needs at least one, got none")
        self.medians_ = tuple(
            Median(self.quantifiers, classifier, cv=self.cv, random_state=self.random_state).fit(
                items.features, codes, items.weights
            )
            for classifier in classifiers
        )

    def _represent_items(self, items: Items) -> Any:
        return tuple(
            median._represent_items(median.items(items.features)) for median in self.medians_
        )

    def _solve(
        self, representation: Any, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        by_classifier = [
            median.member_estimates(rows, index, weights)
            for median, rows in zip(self.medians_, representation, strict=True)
        ]
        return median_prevalence(np.concatenate(by_classifier))


def median_prevalence(
    estimates: NDArray[np.float64],
) -> tuple[Prevalences, dict[str, NDArray[np.float64]]]:
    """The median of the members, class by class and scaled to sum to one, and their spread.

    estimates: (n_members, n_samples, n_classes). If the median is zero for every class (such as
    three members that each predict another class), the mean is taken.
    """
    middle = np.median(estimates, axis=0)
    all_zero = middle.sum(axis=1) == 0
    middle[all_zero] = estimates[:, all_zero].mean(axis=0)
    return np.asarray(middle / middle.sum(axis=1, keepdims=True)), {
        "spread": member_spread(estimates)
    }


def member_spread(estimates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over classes of the standard deviation of the members' estimates, (n_samples,)."""
    return np.asarray(estimates.std(axis=0).mean(axis=1))
