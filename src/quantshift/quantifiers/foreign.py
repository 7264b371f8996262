"""Quantifiers of other libraries, or anybody's: whatever has fit(X, y) and predict(X).

They fit their own classifier and see features, not posteriors, so nothing is shared and every
sample is a call of its own; but they take part in the same experiments on the same samples. Known
to work: QuaPy (0.2.3), mlquantify (0.5.1, which refuses sparse features and so texts), and classes
written for a single script.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator

from quantshift.errors import DataError
from quantshift.types import Codes

CLASSIFIER_PARAMETERS = ("classifier", "learner", "estimator", "base_estimator")
"""What the libraries of the field call the classifier."""

PREDICTIONS = ("predict", "quantify")
"""What they call the estimate of a sample."""


def is_quantifier(cls: type[Any]) -> bool:
    """Whether the class has fit and predict (or quantify)."""
    return callable(getattr(cls, "fit", None)) and any(
        callable(getattr(cls, name, None)) for name in PREDICTIONS
    )


def fit_foreign(
    cls: type[Any], options: Mapping[str, Any], classifier: BaseEstimator, X: Any, codes: Codes
) -> Callable[[Any], float]:
    """Fit the quantifier on 0/1 codes; returns the function from a sample to the share of 1."""
    known = inspect.signature(cls).parameters
    given = dict(options)
    slot = next((name for name in CLASSIFIER_PARAMETERS if name in known), None)
    if slot is not None and slot not in given:
        given[slot] = classifier
    quantifier = cls(**given)
    quantifier.fit(plain_matrix(X), codes)
    predict = getattr(quantifier, next(n for n in PREDICTIONS if hasattr(quantifier, n)))

    def positive(sample: Any) -> float:
        return _positive_share(predict(plain_matrix(sample)), cls.__name__)

    return positive


def plain_matrix(X: Any) -> Any:
    """Sparse features as a csr_matrix: many libraries do not know SciPy's sparse arrays yet."""
    return csr_matrix(X) if issparse(X) else X


def _positive_share(answer: Any, name: str) -> float:
    if isinstance(answer, Mapping):
        by_label = {float(label): float(share) for label, share in answer.items()}
        answer = [by_label.get(0.0, 0.0), by_label.get(1.0, 0.0)]
    shares = np.asarray(answer, dtype=np.float64).ravel()
    if shares.shape != (2,) or not np.isfinite(shares).all() or abs(shares.sum() - 1) > 1e-3:
        raise DataError(
            f"{name} answered {answer!r}: expected the prevalences of the classes 0 and 1, "
            "which sum to 1"
        )
    return float(shares[1])
