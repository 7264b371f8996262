"""Quantifiers whose own functions are called: those of other libraries, or yours.

Any class with fit(X, y) and predict(X) will do.

They fit their own classifier and use features, not posteriors, so nothing is shared and every
sample is a separate call. Wrapped, they support what our own methods do: labels of any kind,
batches of samples, `evaluate`, intervals, experiments. Known to work: QuaPy (0.2.3), mlquantify
(0.5.1, which does not accept sparse features and therefore no texts), and classes written for a
single script.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression

from quantshift.base.types import Codes, Indices, Prevalences
from quantshift.errors import DataError, UserError
from quantshift.items.items import Items, take_rows
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import (
    AbstractClassifying,
    AbstractQuantifier,
    Diagnostics,
)
from quantshift.quantifiers.base.tags import FEATURES, Tags

CLASSIFIER_PARAMETERS = ("classifier", "learner", "estimator", "base_estimator")
"""Names of the classifier's parameter in quantification libraries."""

PREDICTIONS = ("predict", "quantify")
"""Names of the method that estimates a sample."""

ON_FEATURES = ("fit", "predict", "estimate", "items")
ON_POSTERIORS = ("fit_posteriors", "aggregate", "estimate_posteriors")
"""Functions of a quantifier that a subclass may replace by its own. Batches do without them."""

TOLERANCE = 1e-3
"""How far a result may be from the simplex."""


def wrap(quantifier: Any, *, classifier: BaseEstimator | None = None, **options: Any) -> Any:
    """Wrap a quantifier of another library, so that it supports everything our own methods do.

    Parameters
    ----------
    quantifier : quantifier
        A class with fit(X, y) and predict(X) or quantify(X), which is called with the options; or
        an instance of one.
    classifier : classifier, optional
        For its parameter of that (or a similar) name; default: that of the instance or, for a
        class, logistic regression.
    **options : object
        Of the class that is wrapped.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import wrap
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> class Mine:
    ...     def fit(self, X, y):
    ...         self.threshold = np.mean(X)
    ...         return self
    ...
    ...     def predict(self, X):
    ...         return np.mean(X > self.threshold)
    >>> wrap(Mine).fit(X, y).predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    """
    if not is_quantifier(quantifier if inspect.isclass(quantifier) else type(quantifier)):
        raise UserError(
            f"wrap takes a class with fit and predict, or an instance, got {quantifier!r}"
        )
    return ForeignQuantifier(quantifier, classifier, options=options or None)


class ForeignQuantifier(AbstractQuantifier):
    """A quantifier of another library: a class with its options, or an instance.

    It is fitted on codes 0, 1, ... in the order of `classes_`, and may return a vector, a
    dictionary by code or, with two classes, the share of the second. Weights must be whole numbers:
    items are repeated that many times.
    """

    # It may adjust, but not necessarily from items that its classifier had not seen.
    tags: ClassVar[Tags] = Tags(
        assumption="that of the wrapped method", sees=FEATURES, own_classifier=True, adjusts=False
    )

    quantifier_: Any

    def __init__(
        self,
        quantifier: Any,
        classifier: BaseEstimator | None = None,
        *,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.quantifier = quantifier
        self.classifier = classifier
        self.options = options

    def _learn(self, items: Items, codes: Codes) -> None:
        rows = _repeated(np.arange(len(codes)), items.weights)
        quantifier = self._made()
        quantifier.fit(take_rows(self._represent_items(items), rows), codes[rows])
        self.quantifier_ = quantifier

    def _represent_items(self, items: Items) -> Any:
        if items.features is None:
            raise UserError(f"{self._name} needs features: give those of the items")
        return plain_matrix(items.features)

    def _solve(
        self, representation: Any, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        predict = _prediction(self.quantifier_)
        samples = (take_rows(representation, _repeated(rows, weights)) for rows in index)
        answers = [_shares(predict(X), self._name, len(self.classes_)) for X in samples]
        return np.stack(answers), {}

    @property
    def _name(self) -> str:
        cls = self.quantifier if inspect.isclass(self.quantifier) else type(self.quantifier)
        return str(cls.__name__)

    def _made(self) -> Any:
        """A new quantifier, with the classifier set as its parameter."""
        options = dict(self.options or {})
        if not inspect.isclass(self.quantifier):
            if options:
                raise UserError(
                    f"options need a class: set them in the {self._name} instance itself"
                )
            made = deepcopy(self.quantifier)
            slot = next((name for name in CLASSIFIER_PARAMETERS if name in vars(made)), None)
            if slot is not None and self.classifier is not None:
                setattr(made, slot, clone(self.classifier))
            return made
        parameters = inspect.signature(self.quantifier).parameters
        slot = next((name for name in CLASSIFIER_PARAMETERS if name in parameters), None)
        if slot is not None and slot not in options:
            classifier = self.classifier
            options[slot] = (
                LogisticRegression(max_iter=1000) if classifier is None else clone(classifier)
            )
        return self.quantifier(**options)


class OwnAggregation(AbstractClassifying):
    """A subclass of a quantshift quantifier with an `aggregate` of its own, which is called.

    It is fitted from posteriors, and estimates one sample at a time.
    """

    tags: ClassVar[Tags] = Tags(assumption="that of the quantifier")

    quantifier_: Any

    def __init__(self, quantifier: AbstractClassifying) -> None:
        self.quantifier = quantifier

    def _learn(self, items: Items, codes: Codes) -> None:
        posteriors = self._represent_items(items)
        classes = range(len(self.classes_))
        self.quantifier_ = clone(self.quantifier).fit_posteriors(
            posteriors, codes, classes=classes, sample_weight=items.weights
        )

    def _represent_items(self, items: Items) -> Any:
        if items.posteriors is None:
            raise UserError(f"{type(self.quantifier).__name__} needs posteriors of the items")
        return items.posteriors

    def _solve(
        self, representation: Any, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        name, n_classes = type(self.quantifier).__name__, len(self.classes_)
        samples = (representation[_repeated(rows, weights)] for rows in index)
        answers = [_shares(self.quantifier_.aggregate(p), name, n_classes) for p in samples]
        return np.stack(answers), {}


def replaces(cls: type[Any], names: Collection[str]) -> bool:
    """Whether a class outside quantshift replaces one of these functions of its base.

    >>> from quantshift import CC
    >>> Mine = type("Mine", (CC,), {"predict": None, "__module__": "mine"})
    >>> replaces(Mine, ["predict"]), replaces(Mine, ["aggregate"]), replaces(CC, ["predict"])
    (True, False, False)
    """
    package = AbstractQuantifier.__module__.partition(".")[0]
    owners = (next((c for c in cls.__mro__ if name in vars(c)), None) for name in names)
    return any(c is not None and c.__module__.partition(".")[0] != package for c in owners)


def is_quantifier(cls: type[Any]) -> bool:
    """Whether the class has fit and predict (or quantify).

    Parameters
    ----------
    cls : class
        Any class.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> from quantshift.quantifiers import is_quantifier
    >>> is_quantifier(LogisticRegression), is_quantifier(StandardScaler)
    (True, False)
    """
    return callable(getattr(cls, "fit", None)) and any(
        callable(getattr(cls, name, None)) for name in PREDICTIONS
    )


def plain_matrix(X: Any) -> Any:
    """Sparse features as a csr_matrix: many libraries do not support SciPy's sparse arrays yet."""
    return csr_matrix(X) if issparse(X) else X


def _prediction(quantifier: Any) -> Callable[[Any], Any]:
    name = next(name for name in PREDICTIONS if hasattr(quantifier, name))
    return getattr(quantifier, name)  # type: ignore[no-any-return]


def _repeated(rows: Indices, weights: Weights | None) -> Indices:
    """The rows, each repeated as often as its weight says."""
    if weights is None:
        return rows
    counts = weights[rows].round().astype(np.int64)
    if (counts != weights[rows]).any():
        raise UserError(
            "a method of another library needs weights that are whole numbers (items are repeated "
            "that many times): round them, or resample the items by their weights"
        )
    return np.repeat(rows, counts)


def _shares(answer: Any, name: str, n_classes: int) -> Prevalences:
    """The result as a prevalence, from a vector, a dictionary by code, or the share of class 1."""
    shares: NDArray[np.float64]
    if isinstance(answer, Mapping):
        by_code = {float(code): float(share) for code, share in answer.items()}
        shares = np.array([by_code.get(float(code), 0.0) for code in range(n_classes)])
    else:
        shares = np.asarray(answer, dtype=np.float64).ravel()
    if len(shares) == 1 and n_classes == 2:
        shares = np.array([1 - shares[0], shares[0]])
    fits = shares.shape == (n_classes,) and np.isfinite(shares).all()
    if not fits or shares.min() < -TOLERANCE or abs(shares.sum() - 1) > TOLERANCE:
        which = "0 and 1" if n_classes == 2 else f"0 to {n_classes - 1}"
        raise DataError(
            f"{name} returned {answer!r}: expected the prevalences of the classes {which}, "
            "which sum to 1"
        )
    if n_classes == 2:
        positive = float(np.clip(shares[1], 0.0, 1.0))
        return np.array([1 - positive, positive])
    return np.asarray(np.maximum(shares, 0.0) / np.maximum(shares, 0.0).sum())
