"""The accuracy of a classifier on a sample without labels, estimated from its held-out errors.

*LEAP.* Under prior shift the classifier predicts j for items of class i as often as on the held-out
items, M_ij, so that a sample of prevalence p has the contingency table diag(p) M. With the p of any
quantifier the table's columns need not sum to the shares q of the classifier's predictions, which
are known exactly. Among all tables T >= 0 whose columns do, the nearest to diag(p) M in least
squares is taken: column by column a projection onto a simplex of size q_j. Accuracy is its trace,
and F1 follows from it too.

*ATC.* A threshold t for the largest posterior is chosen so that as many held-out items lie below it
as the classifier gets wrong; the estimate is the share of the sample above it. *DoC.* Held-out
accuracy plus a slope times the change of the mean largest posterior. The slope is that of accuracy
on mean confidence over all prevalences, which has a closed form because both are linear in the
prevalence; it is pulled towards 1 where the classes hardly differ in confidence. *Confidence.* The
same with a slope of 1, which is right for a calibrated classifier under covariate shift. These
methods rely on the classifier's confidence and give only an accuracy.

The interval is a bootstrap: training items are resampled class by class, and the quantifier and M
are fitted again; the items of the sample are resampled; and the number of correct predictions is
drawn from the replicate's table, because the accuracy on the actual items of a sample varies around
that of its population. The interval is about these items and valid as long as the assumption holds.

References: L. Volpi, A. Moreo and F. Sebastiani, "LEAP: linear equations for classifier accuracy
prediction under prior probability shift", Machine Learning 2025; S. Garg et al., "Leveraging
unlabeled data to predict out-of-distribution performance", ICLR 2022 (ATC); D. Guillory et al.,
"Predicting with confidence on unseen distributions", ICCV 2021 (DoC).
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.intervals.engine import check_bootstrap, training_replicate
from quantshift.intervals.limits import credible_limits
from quantshift.items.items import Items, drawn_weights, effective_size, uneven
from quantshift.items.samples import Samples, sample_rows
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractQuantifier

LEAP, ATC, DOC, CONFIDENCE = "LEAP", "ATC", "DoC", "confidence"
METHODS = (LEAP, ATC, DOC, CONFIDENCE)

REPEATS = 2
"""Replicates of the samples for each replicate of the training items."""

SLOPE_NOISE = 1e-3
"""DoC: where the mean confidences of the classes differ by less than about the square root of this,
the slope is mostly noise and is pulled towards 1."""


@dataclass(frozen=True, eq=False)
class F1Estimates:
    """F1 of each class, 0 for one that neither occurs nor is predicted, (n_samples, n_classes).

    tables: the share of the items that are of each class (row) and get each prediction (column),
        (n_samples, n_classes, n_classes).
    macro: the mean over classes, (n_samples,). training: F1 of each class on held-out items.
    """

    tables: Reals
    by_class: Reals
    by_class_low: Reals
    by_class_high: Reals
    macro: Reals
    macro_low: Reals
    macro_high: Reals
    training: Reals


@dataclass(frozen=True, eq=False)
class AccuracyEstimates:
    """The classifier's accuracy on samples without labels.

    accuracy, low, high: (n_samples,). training: its accuracy on the held-out training items.
    prevalence: the quantifier's shares of the classes, (n_samples, n_classes).
    f1: with LEAP; None with the other methods.
    """

    accuracy: Reals
    low: Reals
    high: Reals
    training: float
    prevalence: Prevalences
    f1: F1Estimates | None


class HeldOutErrors:
    """The classifier's error rates, confidence and accuracy on held-out items.

    weights: of the items. `drawn` gives the same for a bootstrap replicate of them.
    """

    def __init__(
        self, posteriors: Posteriors, codes: Codes, n_classes: int, weights: Weights | None
    ) -> None:
        self.codes, self.n_classes, self.weights = codes, n_classes, weights
        self.cells = codes * n_classes + posteriors.argmax(axis=1)
        self.top_posterior = posteriors.max(axis=1)
        self.order = np.argsort(self.top_posterior, kind="stable")
        self._count(np.ones(len(codes)) if weights is None else weights)

    def drawn(self, rows: Indices) -> Self:
        """The errors on items that were drawn with replacement."""
        replicate = copy(self)
        replicate._count(drawn_weights(rows, self.weights, len(self.codes)))
        return replicate

    def _count(self, item_weights: Reals) -> None:
        n_classes = self.n_classes
        counts = np.bincount(self.cells, item_weights, minlength=n_classes**2).reshape(
            n_classes, -1
        )
        sizes = counts.sum(axis=1)
        self.rates = counts / sizes[:, np.newaxis]
        self.table = counts / sizes.sum()
        self.accuracy = float(np.trace(counts) / sizes.sum())
        below = np.cumsum(item_weights[self.order]) / item_weights.sum()
        # The smallest confidence below which lies at least the classifier's share of errors.
        wrong = int(np.searchsorted(below, 1 - self.accuracy - 1e-12))
        last = self.order[min(wrong, len(self.order) - 1)]
        self.threshold = float(self.top_posterior[last]) if self.accuracy < 1 else -np.inf
        self.confidence = float((item_weights * self.top_posterior).sum() / item_weights.sum())
        by_class = (
            np.bincount(self.codes, item_weights * self.top_posterior, minlength=n_classes) / sizes
        )
        right, deviation = np.diagonal(self.rates), by_class - by_class.mean()
        covariance = float((right - right.mean()) @ deviation)
        self.slope = (covariance + SLOPE_NOISE) / (float(deviation @ deviation) + SLOPE_NOISE)


def accuracies(
    quantifier: AbstractQuantifier,
    items: Items,
    samples: Samples,
    *,
    method: str = LEAP,
    level: float = 0.95,
    n_bootstrap: int = 100,
    seed: int = 0,
) -> AccuracyEstimates:
    """The accuracy of a quantifier's classifier on samples of items without labels.

    quantifier: fitted on out-of-fold posteriors (PACC, SLD, ...); LEAP uses its prevalences.
    items: what `quantifier.items(X)` returned, with posteriors; `Items(posteriors)` is enough for a
        method that uses nothing else.
    n_bootstrap: replicates of the training items; each serves `REPEATS` of the samples.
    """
    held_out = _held_out_posteriors(quantifier, method, level, n_bootstrap)
    if items.posteriors is None:
        raise DataError("the accuracy of a classifier needs the posteriors of the items")
    rows = sample_rows(samples, len(items))
    weights = uneven(items.weights)
    if weights is not None:
        # Items of weight zero are dropped, or a replicate could consist of them alone.
        rows = [row[weights[row] > 0] for row in rows]
    if any(len(row) == 0 for row in rows):
        raise DataError("a sample is empty: an accuracy needs at least one item")
    codes, n_classes = quantifier.held_out_codes_, len(quantifier.classes_)
    errors = HeldOutErrors(held_out, codes, n_classes, quantifier.held_out_.weights)
    p_hat = quantifier.estimate_items(items, list(rows)).prevalence
    predictions = _Predictions(items, items.posteriors, rows, seed)
    f1 = None
    if method == LEAP:
        tables = predictions.tables(errors, p_hat, rows)
        drawn_tables = predictions.drawn_tables(quantifier, errors, n_bootstrap)
        accuracy, drawn = _diagonal_sum(tables), _diagonal_sum(drawn_tables)
        f1 = _f1_estimates(tables, drawn_tables, errors.table, level)
    else:
        accuracy = predictions.accuracies(errors, rows, method)
        drawn = predictions.drawn_accuracies(quantifier, errors, n_bootstrap, method)
    low, high = credible_limits(accuracy, drawn, level)
    return AccuracyEstimates(accuracy, low, high, errors.accuracy, p_hat, f1)


def _f1_estimates(tables: Reals, drawn: Reals, training: Reals, level: float) -> F1Estimates:
    """F1 by the tables of the samples. drawn: tables of samples drawn again."""
    by_class, drawn_by_class = f1_scores(tables), f1_scores(drawn)
    macro = by_class.mean(axis=-1)
    return F1Estimates(
        tables,
        by_class,
        *credible_limits(by_class, drawn_by_class, level),
        macro,
        *credible_limits(macro, drawn_by_class.mean(axis=-1), level),
        f1_scores(training),
    )


def _held_out_posteriors(
    quantifier: AbstractQuantifier, method: str, level: float, n_bootstrap: int
) -> Posteriors:
    """What the errors of the classifier are learnt from; raises if the question has no answer."""
    check_is_fitted(quantifier, "classes_")
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    check_bootstrap(level, n_bootstrap)
    held_out = quantifier.held_out_.posteriors
    if held_out is None or not len(held_out):
        raise UserError(
            f"{type(quantifier).__name__} has no posteriors of held-out items to learn the "
            "classifier's errors from: take a quantifier that adjusts by them, such as PACC or SLD"
        )
    return held_out


def contingency_table(prevalence: Prevalences, rates: Reals, predicted: Prevalences) -> Reals:
    """The tables T >= 0 nearest to diag(prevalence) rates whose columns sum to `predicted`.

    prevalence, predicted: (..., n_classes); rates: (n_classes, n_classes), the share of class i
    (row) that is predicted as j (column). Returns (..., n_classes, n_classes).

    >>> contingency_table(np.array([0.5, 0.5]), np.eye(2), np.array([0.4, 0.6])).round(2)
    array([[0.4 , 0.05],
           [0.  , 0.55]])
    """
    expected = prevalence[..., :, np.newaxis] * rates
    n_classes = expected.shape[-1]
    # The projection of a column onto {t >= 0, sum t = q} subtracts the same amount from every
    # share that stays positive: the largest shares, as many of them as remain positive.
    ordered = -np.sort(-expected, axis=-2)
    number = np.arange(1, n_classes + 1)[:, np.newaxis]
    excess = (np.cumsum(ordered, axis=-2) - predicted[..., np.newaxis, :]) / number
    n_positive = np.maximum((ordered > excess).sum(axis=-2, keepdims=True), 1)
    taken = np.take_along_axis(excess, n_positive - 1, axis=-2)
    return np.asarray(np.maximum(expected - taken, 0.0))


def f1_scores(table: Reals) -> Reals:
    """F1 of each class of a contingency table, (..., n_classes); 0 for a class that is absent."""
    right = np.diagonal(table, axis1=-2, axis2=-1)
    total = table.sum(axis=-1) + table.sum(axis=-2)
    return np.asarray(np.divide(2 * right, total, out=np.zeros_like(total), where=total > 0))


def _diagonal_sum(tables: Reals) -> Reals:
    """The accuracy in each contingency table, (..., n_classes, n_classes)."""
    return np.asarray(np.trace(tables, axis1=-2, axis2=-1))


class _Predictions:
    """The classifier's predictions for the items of samples.

    rows: the items of each sample. seed: of the samples that are drawn again.
    """

    def __init__(
        self, items: Items, posteriors: Posteriors, rows: Sequence[Indices], seed: int
    ) -> None:
        self.items, self.rows, self.seed = items, rows, seed
        self.weights = uneven(items.weights)
        self.predicted_codes = posteriors.argmax(axis=1)
        self.top_posterior = posteriors.max(axis=1)
        self.n_classes = posteriors.shape[1]
        sizes = [
            len(row) if self.weights is None else effective_size(self.weights[row]) for row in rows
        ]
        self.sizes = np.maximum(np.round(sizes), 1).astype(np.int64)

    def tables(self, errors: HeldOutErrors, p_hat: Prevalences, rows: Sequence[Indices]) -> Reals:
        """LEAP: the contingency table of each sample. p_hat: their prevalences."""
        shares = np.stack(
            [self._mean(np.eye(self.n_classes)[self.predicted_codes[row]], row) for row in rows]
        )
        return contingency_table(p_hat, errors.rates, shares)

    def accuracies(self, errors: HeldOutErrors, rows: Sequence[Indices], method: str) -> Reals:
        """The accuracy of each sample by the confidence of the classifier."""
        if method == ATC:
            # An item exactly at the threshold counts as wrong, as in training.
            estimates = [
                self._mean(self.top_posterior[row] > errors.threshold, row) for row in rows
            ]
        else:
            slope = errors.slope if method == DOC else 1.0
            estimates = [
                errors.accuracy
                + slope * (self._mean(self.top_posterior[row], row) - errors.confidence)
                for row in rows
            ]
        return np.clip(np.array(estimates, dtype=np.float64), 0.0, 1.0)

    def drawn_tables(
        self, quantifier: AbstractQuantifier, errors: HeldOutErrors, n_bootstrap: int
    ) -> Reals:
        """Tables of the items of replicates, (n_samples, n_replicates, n_classes, n_classes)."""
        refit, tables = quantifier.refitter(), []
        for number in range(n_bootstrap):
            trained = training_replicate(quantifier, number, seed=self.seed)
            refitted, drawn_errors = refit(trained), errors.drawn(trained)
            for repeat in range(REPEATS):
                rows = self._drawn_rows(number, repeat)
                p_hat = refitted.estimate_items(self.items, rows).prevalence
                estimated = self.tables(drawn_errors, p_hat, rows)
                tables.append(self._tables_of_items(estimated, number, repeat))
        return np.stack(tables, axis=1)

    def drawn_accuracies(
        self, quantifier: AbstractQuantifier, errors: HeldOutErrors, n_bootstrap: int, method: str
    ) -> Reals:
        """Accuracies on the items of replicates, (n_samples, n_replicates)."""
        accuracies = []
        for number in range(n_bootstrap):
            drawn_errors = errors.drawn(training_replicate(quantifier, number, seed=self.seed))
            for repeat in range(REPEATS):
                rows = self._drawn_rows(number, repeat)
                estimated = self.accuracies(drawn_errors, rows, method)
                right = [
                    self._item_generator(number, repeat).binomial(size, accuracy)
                    for size, accuracy in zip(self.sizes, estimated, strict=True)
                ]
                accuracies.append(np.array(right) / self.sizes)
        return np.stack(accuracies, axis=1)

    def _drawn_rows(self, number: int, repeat: int) -> list[Indices]:
        """The samples drawn again.

        All use the same random numbers, so that none depends on the others.
        """
        drawn = []
        for row in self.rows:
            rng = generator(self.seed, purpose="accuracy", sample=0, number=number, repeat=repeat)
            drawn.append(row[rng.integers(len(row), size=len(row))])
        return drawn

    def _item_generator(self, number: int, repeat: int) -> np.random.Generator:
        return generator(self.seed, purpose="accuracy of the items", number=number, repeat=repeat)

    def _tables_of_items(self, estimated: Reals, number: int, repeat: int) -> Reals:
        """Tables of samples of the same sizes, drawn from the estimates.

        Predictions are known, so only the classes within a column are drawn.
        """
        tables = np.zeros_like(estimated)
        for i, table in enumerate(estimated):
            rng = self._item_generator(number, repeat)
            predicted = table.sum(axis=0)
            n_predicted = np.round(predicted * self.sizes[i]).astype(np.int64)
            for j in np.flatnonzero(predicted):
                shares = table[:, j] / predicted[j]
                drawn = rng.multinomial(n_predicted[j], shares) / max(n_predicted[j], 1)
                tables[i, :, j] = predicted[j] * (drawn if n_predicted[j] else shares)
        return tables

    def _mean(self, values: NDArray[Any], row: Indices) -> Any:
        if self.weights is None:
            return values.mean(axis=0)
        return (self.weights[row] @ values) / self.weights[row].sum()
