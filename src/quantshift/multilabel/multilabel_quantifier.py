"""What all quantifiers of several labels share.

    X  ->  posteriors of the labels  ->  the share of each label

A method learns from held-out posteriors of the labels and from the labels themselves, and solves
samples that are given by the positions of their items. Labels in any form, weights, classifiers,
checks and batches are handled here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from quantshift.base.domains import Seed, Several, check_options
from quantshift.base.types import Indices, Posteriors, Reals
from quantshift.classify.classifier import item_rows, n_rows
from quantshift.errors import DataError, UserError
from quantshift.items.items import take_rows
from quantshift.items.samples import consecutive_blocks, count_samples, index_blocks
from quantshift.multilabel.label_models import (
    AbstractLabelModels,
    LabelFolds,
    check_label_posteriors,
    check_not_empty,
    fit_label_models,
)
from quantshift.multilabel.label_tables import LabelTable, check_learnable, label_table
from quantshift.prevalence.weights import Weights, checked_weights

Samples = ArrayLike | Sequence[ArrayLike]


class AbstractMultilabel(BaseEstimator, ABC):  # type: ignore[misc]
    """A quantifier of several labels.

    Fitted state: `labels_` (their names), `prior_` (the share of each in training).
    """

    labels_: NDArray[Any]
    prior_: Reals

    def fit(self, X: Any, Y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on labelled items.

        X: whatever the classifier takes; without a classifier, a matrix of numbers.
        Y: the labels of each item: an indicator matrix (dense, sparse, data frame) or a sequence of
            sets of labels.
        sample_weight: how many items each item stands for.
        """
        check_options(self)
        X = item_rows(X)
        table = label_table(Y)
        if n_rows(X) != len(table):
            raise DataError(f"X has {n_rows(X)} items but Y has {len(table)}: give one row each")
        item_weights = checked_weights(sample_weight, len(table))
        if item_weights is not None and not item_weights.all():
            rows = np.flatnonzero(item_weights)
            X, table, item_weights = take_rows(X, rows), table.take(rows), item_weights[rows]
        check_learnable(table, item_weights)
        self._set_labels(table, item_weights)
        self._fit(X, table, item_weights)
        return self

    def predict(
        self, X: Any, samples: Samples | None = None, *, sample_weight: ArrayLike | None = None
    ) -> Reals:
        """The share of each label among the items of X, (n_labels,), in the order of `labels_`.

        With `samples` (an index matrix or a list of index arrays into X) those of each sample,
        (n_samples, n_labels). weights: how many items each item of X stands for.
        """
        self._check_fitted()
        X = item_rows(X)
        check_not_empty(X)
        return self._predict(X, samples, sample_weight)

    @abstractmethod
    def _fit(self, X: Any, table: LabelTable, weights: Weights | None) -> None:
        """Fit on checked items, whose weights are positive."""

    @abstractmethod
    def _predict(self, X: Any, samples: Samples | None, weights: ArrayLike | None) -> Reals:
        """The shares among checked items."""

    def _set_labels(self, table: LabelTable, weights: Weights | None) -> None:
        self.labels_ = table.names
        self.prior_ = table.shares(weights)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "labels_")


class AbstractLabelAggregative(AbstractMultilabel):
    """A quantifier of several labels that uses nothing but the posteriors of the labels.

    classifier: of each label, cloned; None: logistic regression with a penalty chosen for each
        label. cv: folds of the held-out posteriors; random_state: of all draws.
    """

    classifier: BaseEstimator | None
    cv: Several
    random_state: Seed
    models_: AbstractLabelModels | None
    held_out_posteriors_: Posteriors
    held_out_labels_: LabelTable
    held_out_weights_: Weights | None

    def fit_posteriors(
        self, posteriors: ArrayLike, Y: Any, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit from posteriors of any classifiers instead of items.

        posteriors: of each label, (n_items, n_labels), of items that the classifiers were not
            trained on; they need not sum to one.
        """
        check_options(self)
        table = label_table(Y)
        checked = check_label_posteriors(posteriors, len(table.names))
        if len(checked) != len(table):
            raise DataError(
                f"{len(checked)} posteriors do not fit the labels of {len(table)} items"
            )
        item_weights = checked_weights(sample_weight, len(table))
        if item_weights is not None and not item_weights.all():
            rows = np.flatnonzero(item_weights)
            checked, table, item_weights = checked[rows], table.take(rows), item_weights[rows]
        check_learnable(table, item_weights)
        self._set_labels(table, item_weights)
        self.models_ = None
        return self._set_fitted(np.array(checked), table, item_weights)

    def posteriors(self, X: Any) -> Posteriors:
        """The posterior of each label for the items of X, (n_items, n_labels)."""
        self._check_fitted()
        X = item_rows(X)
        check_not_empty(X)
        if self.models_ is None:
            raise UserError(
                f"this {type(self).__name__} was fitted from posteriors and has no classifiers: "
                "call aggregate(posteriors) instead of predict(X)"
            )
        return self.models_.posteriors(X)

    def aggregate(
        self, posteriors: ArrayLike, samples: Samples | None = None, *, sample_weight: Any = None
    ) -> Reals:
        """The shares of labels in samples given by the posteriors of their items."""
        self._check_fitted()
        return self._solved(self._solve, posteriors, samples, sample_weight, (len(self.labels_),))

    def _solved(
        self,
        solve: Callable[[Posteriors, Indices, Reals], Reals],
        posteriors: ArrayLike,
        samples: Samples | None,
        weights: Any,
        shape: tuple[int, ...],
    ) -> Reals:
        """What `solve` returns for each sample, each of this shape, in the order of the samples."""
        pool = check_label_posteriors(posteriors, len(self.labels_))
        item_weights = checked_weights(weights, len(pool))
        counts = np.ones(len(pool)) if item_weights is None else item_weights
        if samples is None:
            blocks, n_samples = consecutive_blocks(1, len(pool)), 1
        else:
            blocks, n_samples = index_blocks(samples, len(pool)), count_samples(samples)
        solved = np.empty((n_samples, *shape))
        for members, index in blocks:
            if not (counts[index].sum(axis=1) > 0).all():
                raise DataError("all items of a sample have the weight zero: nothing to estimate")
            solved[members] = solve(pool, index, counts)
        return solved[0] if samples is None else solved

    def _fit(self, X: Any, table: LabelTable, weights: Weights | None) -> None:
        folds = LabelFolds(self.cv, self.random_state)
        self.models_, held_out = fit_label_models(self.classifier, X, table.has, folds, weights)
        self._set_fitted(held_out, table, weights)

    def _predict(self, X: Any, samples: Samples | None, weights: ArrayLike | None) -> Reals:
        return self.aggregate(self.posteriors(X), samples, sample_weight=weights)

    def _set_fitted(
        self, posteriors: Posteriors, table: LabelTable, weights: Weights | None
    ) -> Self:
        self.held_out_posteriors_, self.held_out_labels_ = posteriors, table
        self.held_out_weights_ = weights
        self._learn(posteriors, table, weights)
        return self

    def refit(self, rows: Indices) -> Self:
        """A copy fitted again on some of its training items, with the same classifiers.

        rows: positions among the training items, perhaps repeated.
        """
        self._check_fitted()
        weights = None if self.held_out_weights_ is None else self.held_out_weights_[rows]
        return copy(self)._set_fitted(
            self.held_out_posteriors_[rows], self.held_out_labels_.take(rows), weights
        )

    def parts(self) -> Iterator[tuple[Indices, Self]]:
        """All labels, in parts that are estimated together, each with a quantifier of it alone.

        There is one part, unless a method estimates groups of labels one after another.
        """
        self._check_fitted()
        yield np.arange(len(self.labels_)), self

    @abstractmethod
    def _learn(self, posteriors: Posteriors, table: LabelTable, weights: Weights | None) -> None:
        """Learn what is needed from held-out posteriors and the labels."""

    @abstractmethod
    def _solve(self, posteriors: Posteriors, index: Indices, weights: Reals) -> Reals:
        """Shares of labels, (n_samples, n_labels), of the samples of an index matrix."""
