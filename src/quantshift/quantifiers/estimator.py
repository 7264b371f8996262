"""The scikit-learn face of every quantifier, on three stages with plain arrays at the borders.

    X --classifier--> posteriors --representation--> per-item features --solution--> prevalence

A method is one class that says how an item's posteriors are represented and how the samples of an
index matrix are solved. Everything else is here, once: labels of any kind, the classifier and its
out-of-fold posteriors, checks, batches, blocks, diagnostics.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from quantshift import prevalence
from quantshift.classify.classifier import (
    cross_fit,
    fit_classifier,
    n_rows,
    predict_posteriors,
)
from quantshift.classify.folds import stratified_folds
from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError
from quantshift.labels import encode_labels
from quantshift.quantifiers.samples import count_samples, index_blocks
from quantshift.types import Codes, Indices, Posteriors, Prevalences

Samples = ArrayLike | Sequence[ArrayLike]
Diagnostics = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Estimate:
    """A prevalence and how it came about.

    prevalence: shape (..., n_classes), each row on the simplex, in the order of `classes`.
    classes: the class labels, shape (n_classes,).
    diagnostics: per sample, arrays of shape (...); which ones depends on the method, e.g.
        `clipped` and `separation` (tpr - fpr) of ACC, `iterations` and `converged` of SLD,
        `distance` of DyS; `fallback` where a simpler estimate had to stand in.
    """

    prevalence: Prevalences
    classes: NDArray[Any]
    diagnostics: Diagnostics


class AbstractQuantifier(BaseEstimator, ABC):  # type: ignore[misc]
    """What all quantifiers share: fit on labelled items, estimate the prevalence of samples.

    Fitted state: `classes_` (sorted labels), `prior_` (training prevalence), `classifier_` (None if
    fitted from posteriors), `held_out_posteriors_` (no rows if the method learns from none) and
    `held_out_codes_`, from which the aggregation can be fitted again, and what the method itself
    learns.
    """

    assumption: ClassVar[str]
    """What must hold between training set and sample for the estimate to be right."""

    crisp: ClassVar[bool] = False
    """Works on hard predictions (argmax) rather than posteriors."""

    uses_classifier: ClassVar[bool] = True

    adjusts: ClassVar[bool] = True
    """Allows for what the training items of a class look like, rather than counting answers."""

    no_interval: ClassVar[str] = ""
    """Why the method's error cannot be told from replicates, and what to use instead, if so."""

    uses_features: ClassVar[bool] = False
    """Sees more of the items than posteriors: `items(X)` has further columns."""

    classes_: NDArray[Any]
    prior_: Prevalences
    classifier_: Any
    held_out_posteriors_: Posteriors
    held_out_codes_: Codes

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier and the aggregation on labelled items.

        X is whatever the classifier takes (dense, sparse, data frame, list of texts for a
        pipeline); y are labels of any kind. A `FrozenEstimator` is used as it is: X and y must
        then be items it has not been trained on.
        """
        classes, codes = _at_least_two_classes(*encode_labels(y))
        if n_rows(X) != len(codes):
            raise DataError(f"X has {n_rows(X)} items but y has {len(codes)} labels")
        posteriors = np.empty((0, len(classes)))
        self.classifier_ = None
        if self.uses_classifier:
            self.classifier_ = fit_classifier(self._classifier(), X, classes[codes])
            if self.needs_held_out_posteriors():
                posteriors = self._held_out_posteriors(X, codes, classes)
        return self._set_fitted(posteriors, codes, classes)

    def fit_posteriors(self, posteriors: ArrayLike, y: Any, *, classes: Any = None) -> Self:
        """Fit the aggregation alone, from posteriors of any model and the true labels.

        posteriors: shape (n_items, n_classes), of items the model was not trained on (held out
            or out of fold); columns in the order of `classes`.
        classes: the label of each column; default: the sorted labels that occur in y.
        """
        self.classifier_ = None
        return self._set_fitted(*checked_fit(posteriors, y, classes))

    def predict(self, X: Any, samples: Samples | None = None) -> Prevalences:
        """Prevalence of the sample X, shape (n_classes,), in the order of `classes_`.

        With `samples` (an index matrix or a list of index arrays into X) the prevalence of each
        of them, shape (n_samples, n_classes); X is classified once.
        """
        return self.estimate(X, samples).prevalence

    def estimate(self, X: Any, samples: Samples | None = None) -> Estimate:
        """Like `predict`, with the diagnostics."""
        return self._estimate(self.items(X), samples)

    def aggregate(self, posteriors: ArrayLike, samples: Samples | None = None) -> Prevalences:
        """Prevalences of samples given by their posteriors.

        posteriors: shape (..., n_items, n_classes): one sample, or a batch of samples with any
            leading axes; the result has shape (..., n_classes).
        samples: with it, posteriors is one pool (n_items, n_classes) and samples an index matrix
            (n_samples, size), padded with -1, or a list of index arrays.
        """
        return self.estimate_posteriors(posteriors, samples).prevalence

    def estimate_posteriors(
        self, posteriors: ArrayLike, samples: Samples | None = None
    ) -> Estimate:
        """Like `aggregate`, with the diagnostics."""
        check_is_fitted(self, "classes_")
        return self._estimate(check_posteriors(posteriors, len(self.classes_)), samples)

    def items(self, X: Any) -> NDArray[np.float64]:
        """What the aggregation sees of each item of X: its posteriors, (n_items, n_classes).

        A method that wants more than posteriors has further columns.
        """
        check_is_fitted(self, "classes_")
        if n_rows(X) == 0:
            raise DataError("the sample is empty: a prevalence needs at least one item")
        return self._posteriors(X)

    def estimate_items(
        self, items: NDArray[np.float64], samples: Samples | None = None
    ) -> Estimate:
        """Like `estimate`, for what `items(X)` returned: classify once, estimate many times."""
        return self._estimate(items, samples)

    def refit(self, rows: Indices) -> Self:
        """A copy with the aggregation fitted again on some of the held-out items.

        rows: positions among the items of the fit, in any number, repeated or not; every class
            must be among them. The classifier stays what it is. This is one replicate of a
            bootstrap over the training side.
        """
        return self.refitter()(rows)

    def refitter(self) -> Callable[[Indices], Self]:
        """`refit` for many calls: what does not depend on the rows is computed once."""
        check_is_fitted(self, "classes_")
        held_out = self.held_out_posteriors_

        def refit(rows: Indices) -> Any:
            return copy(self)._set_fitted(
                held_out[rows] if len(held_out) else held_out,
                self.held_out_codes_[rows],
                self.classes_,
            )

        return refit

    def needs_held_out_posteriors(self) -> bool:
        """Whether the aggregation learns from posteriors of items the classifier has not seen."""
        return "cv" in self.get_params(deep=False)

    @abstractmethod
    def _fit_aggregation(self, posteriors: Posteriors, codes: Codes) -> None:
        """Learn what is needed from held-out posteriors (no rows if none were asked for)."""

    @abstractmethod
    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        """What each item contributes, shape (n_features, n_items)."""

    @abstractmethod
    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        """Prevalences (n_samples, n_classes) of the samples in the index matrix."""

    def _classifier(self) -> Any:
        return self.get_params(deep=False)["classifier"]

    def _held_out_posteriors(self, X: Any, codes: Codes, classes: NDArray[Any]) -> Posteriors:
        return self._cross_fit(X, codes, classes)[0]

    def _cross_fit(
        self, X: Any, codes: Codes, classes: NDArray[Any]
    ) -> tuple[Posteriors, tuple[Any, ...]]:
        """Posteriors of the training items by models that have not seen them, and those models."""
        classifier, options = self._classifier(), self.get_params(deep=False)
        if isinstance(classifier, FrozenEstimator):
            return predict_posteriors(classifier, X, classes, crisp=self.crisp), (classifier,)
        folds = stratified_folds(codes, options["cv"], seed=options["seed"])
        return cross_fit(classifier, X, codes, classes, folds, crisp=self.crisp)

    def _set_fitted(self, posteriors: Posteriors, codes: Codes, classes: NDArray[Any]) -> Self:
        self._set_training(posteriors, codes, classes)
        self._fit_aggregation(posteriors, codes)
        return self

    def _set_training(self, posteriors: Posteriors, codes: Codes, classes: NDArray[Any]) -> None:
        self.prior_ = prevalence.from_codes(codes, len(classes))
        self.classes_ = classes
        self.held_out_posteriors_, self.held_out_codes_ = posteriors, codes

    def _posteriors(self, X: Any) -> Posteriors:
        if not self.uses_classifier:
            return np.tile(self.prior_, (n_rows(X), 1))
        if self.classifier_ is None:
            raise UserError(
                f"this {type(self).__name__} was fitted from posteriors and has no classifier: "
                "call aggregate(posteriors) instead of predict(X)"
            )
        return predict_posteriors(self.classifier_, X, self.classes_, crisp=self.crisp)

    def _estimate(self, posteriors: Posteriors, samples: Samples | None) -> Estimate:
        if samples is None:
            shape = posteriors.shape[:-2]
            n_samples = int(np.prod(shape))
            samples = np.arange(n_samples * posteriors.shape[-2]).reshape(n_samples, -1)
            posteriors = posteriors.reshape(-1, posteriors.shape[-1])
        elif posteriors.ndim == 2:
            shape = (count_samples(samples),)
        else:
            raise DataError(
                "samples index one pool of posteriors (n_items, n_classes), "
                f"got posteriors of shape {posteriors.shape}"
            )
        representation = self._represent(posteriors)
        p_hat = np.empty((int(np.prod(shape)), len(self.classes_)))
        diagnostics: dict[str, NDArray[Any]] = {}
        for members, index in index_blocks(samples, len(posteriors)):
            p_hat[members], found = self._solve(representation, index)
            for name, values in found.items():
                if name not in diagnostics:
                    diagnostics[name] = np.empty((len(p_hat), *values.shape[1:]), values.dtype)
                diagnostics[name][members] = values
        return Estimate(
            prevalence=p_hat.reshape(*shape, -1),
            classes=self.classes_,
            diagnostics={
                name: column.reshape((*shape, *column.shape[1:]))
                for name, column in diagnostics.items()
            },
        )


def sample_means(representation: NDArray[Any], index: Indices) -> NDArray[np.float64]:
    """Mean representation of each sample, shape (n_samples, n_features)."""
    # Feature by feature: a gather of one contiguous row, and a sum along contiguous memory.
    return np.stack([row[index].mean(axis=1) for row in representation], axis=1)


def class_means(posteriors: Posteriors, codes: Codes) -> NDArray[np.float64]:
    """Mean posterior of class i among the items of class j, shape (n_classes, n_classes) [i, j]."""
    return np.stack(
        [posteriors[codes == j].mean(axis=0) for j in range(posteriors.shape[1])], axis=1
    )


def checked_fit(
    posteriors: ArrayLike, y: Any, classes: Any
) -> tuple[Posteriors, Codes, NDArray[Any]]:
    """Posteriors, codes and classes of labelled items, refused if they do not fit each other."""
    known, codes = _at_least_two_classes(*encode_labels(y, classes=classes))
    checked = check_posteriors(posteriors, len(known))
    if checked.ndim != 2 or len(checked) != len(codes):
        raise DataError(
            f"posteriors of shape {checked.shape} do not fit {len(codes)} labels: "
            "give one row per labelled item"
        )
    return checked, codes, known


def _at_least_two_classes(classes: NDArray[Any], codes: Codes) -> tuple[NDArray[Any], Codes]:
    if len(classes) < 2:
        raise DataError(
            f"all training labels are {classes.tolist()[0]!r}: a quantifier needs items of at "
            "least two classes"
        )
    counts = np.bincount(codes, minlength=len(classes))
    if not counts.all():
        raise DataError(
            f"class {classes.tolist()[int(np.argmin(counts))]!r} has no training item: add some, "
            "or leave it out of the classes (and its column out of the posteriors)"
        )
    return classes, codes
