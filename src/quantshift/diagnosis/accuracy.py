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

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.intervals.engine import check_bootstrap, training_replicate
from quantshift.intervals.limits import credible_limits
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractQuantifier, Samples
from quantshift.quantifiers.base.items import Items, drawn_weights, effective_size, uneven
from quantshift.quantifiers.base.samples import sample_rows
from quantshift.quantifiers.likelihood.sld import SLD

LEAP = "leap"
METHODS = (LEAP, "atc", "doc", "confidence")

N_REFITS = 100
"""Replicates of the training side; each serves n_bootstrap / N_REFITS replicates of the samples."""

SLOPE_NOISE = 1e-3
"""DoC: where the mean confidences of the classes differ by less than about the square root of this,
the slope is mostly noise and is pulled towards 1."""


@dataclass(frozen=True, eq=False)
class AccuracyEstimate:
    """The classifier's accuracy on samples without labels.

    accuracy, low, high: shape (...), one number per sample.
    training: its accuracy on the held-out training items.
    table: with "leap", the contingency table (..., n_classes, n_classes): the share of the items
        that are of each class (row) and get each prediction (column). None with other methods.
    f1: of each class, (..., n_classes), 0 for a class that neither occurs nor is predicted;
        macro_f1 is their mean, with its limits. None where the table is None.
    """

    accuracy: Reals
    low: Reals
    high: Reals
    level: float
    training: float
    classes: NDArray[Any]
    method: str
    table: Reals | None = None
    f1: Reals | None = None
    macro_f1: Reals | None = None
    macro_f1_low: Reals | None = None
    macro_f1_high: Reals | None = None


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


def estimate_accuracy(
    quantifier: Any,
    X: Any,
    samples: Samples | None = None,
    *,
    held_out: tuple[Any, Any] | None = None,
    method: str = LEAP,
    level: float = 0.95,
    n_bootstrap: int = 200,
    seed: int = 0,
    weights: ArrayLike | None = None,
) -> AccuracyEstimate:
    """The accuracy of a classifier on the sample X (or on each of `samples` of it), without labels.

    quantifier: a fitted quantifier that has learnt from out-of-fold posteriors (PACC, SLD, ...):
        the accuracy of its classifier is estimated, with its estimate of the prevalence. Or a
        fitted classifier, with `held_out`, (X, y) of labelled items it was not trained on; the
        prevalence is then SLD's.
    method: "leap" (prior shift), "atc", "doc" or "confidence" (the classifier stays calibrated).
    weights: how much each item of X counts.
    """
    if not isinstance(quantifier, AbstractQuantifier):
        if held_out is None:
            raise UserError(
                f"{type(quantifier).__name__} is not a quantifier: give held_out=(X, y), labelled "
                "items it was not trained on, or a fitted quantifier such as SLD"
            )
        quantifier = SLD(FrozenEstimator(quantifier)).fit(*held_out)
    elif held_out is not None:
        raise UserError("held_out is for a classifier: a quantifier has held out items itself")
    return item_accuracy(
        quantifier,
        quantifier.items(X, weights),
        samples,
        method=method,
        level=level,
        n_bootstrap=n_bootstrap,
        seed=seed,
    )


def item_accuracy(
    quantifier: AbstractQuantifier,
    items: Items,
    samples: Samples | None = None,
    *,
    method: str = LEAP,
    level: float = 0.95,
    n_bootstrap: int = 200,
    seed: int = 0,
) -> AccuracyEstimate:
    """Like `estimate_accuracy`, for what `quantifier.items(X)` returned, or for posteriors alone.

    items: with posteriors; `Items(posteriors)` is enough for a method that uses nothing else.
    """
    held_out = _held_out_posteriors(quantifier, method, level, n_bootstrap)
    if items.posteriors is None:
        raise DataError("the accuracy of a classifier needs the posteriors of the items")
    rows = [np.arange(len(items))] if samples is None else sample_rows(samples, len(items))
    weights = uneven(items.weights)
    if weights is not None:
        # Items of weight zero are dropped, or a replicate could consist of them alone.
        rows = [row[weights[row] > 0] for row in rows]
    if any(len(row) == 0 for row in rows):
        raise DataError("a sample is empty: an accuracy needs at least one item")
    predictions = _Predictions(items, rows)
    codes, n_classes = quantifier.held_out_codes_, len(quantifier.classes_)
    errors = HeldOutErrors(held_out, codes, n_classes, quantifier.held_out_.weights)
    p_hat = quantifier.estimate_items(items, list(rows)).prevalence if method == LEAP else None
    point = predictions.accuracies(errors, p_hat, rows, method)
    replicates = list(_replicates(quantifier, predictions, errors, rows, method, n_bootstrap, seed))

    def limits(estimate: Reals, replicated: Sequence[Reals]) -> tuple[Reals, Reals]:
        low, high = credible_limits(estimate, np.stack(replicated, axis=1), level)
        return low[selected], high[selected]

    selected: Any = 0 if samples is None else slice(None)
    low, high = limits(point.accuracy, [accuracy for accuracy, _ in replicates])
    estimate = AccuracyEstimate(
        accuracy=point.accuracy[selected],
        low=low,
        high=high,
        level=level,
        training=errors.accuracy,
        classes=quantifier.classes_,
        method=method,
    )
    if point.table is None:
        return estimate
    f1 = f1_scores(point.table)
    macro_f1 = f1.mean(axis=-1)
    macro_f1_low, macro_f1_high = limits(macro_f1, [replicated for _, replicated in replicates])
    return replace(
        estimate,
        table=point.table[selected],
        f1=f1[selected],
        macro_f1=macro_f1[selected],
        macro_f1_low=macro_f1_low,
        macro_f1_high=macro_f1_high,
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


def _replicates(
    quantifier: AbstractQuantifier,
    predictions: "_Predictions",
    errors: HeldOutErrors,
    rows: Sequence[Indices],
    method: str,
    n_bootstrap: int,
    seed: int,
) -> Iterator[tuple[Reals, Reals]]:
    """Accuracies and F1 of samples that are drawn again, by refitted quantifiers."""
    refit, n_refits = quantifier.refitter(), min(N_REFITS, n_bootstrap)
    for number in range(n_refits):
        trained = training_replicate(quantifier, number, seed=seed)
        drawn_errors = errors.drawn(trained)
        refitted = refit(trained) if method == LEAP else None
        for repeat in range(len(range(number, n_bootstrap, n_refits))):
            # All samples use the same random numbers, so that none depends on the others.
            drawn = []
            for row in rows:
                rng = generator(seed, purpose="accuracy", sample=0, number=number, repeat=repeat)
                drawn.append(row[rng.integers(len(row), size=len(row))])
            p_hat = None
            if refitted is not None:
                p_hat = refitted.estimate_items(predictions.items, drawn).prevalence
            estimates = predictions.accuracies(drawn_errors, p_hat, drawn, method)
            yield predictions.drawn_accuracies(estimates, seed, number, repeat)


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


@dataclass(frozen=True, eq=False)
class _Estimates:
    """Accuracy of each sample, (n_samples,), and with LEAP its table."""

    accuracy: Reals
    table: Reals | None


class _Predictions:
    """The classifier's predictions for the items of samples."""

    def __init__(self, items: Items, rows: Sequence[Indices]) -> None:
        assert items.posteriors is not None
        self.items = items
        self.weights = uneven(items.weights)
        self.predicted_codes = items.posteriors.argmax(axis=1)
        self.top_posterior = items.posteriors.max(axis=1)
        self.n_classes = items.posteriors.shape[1]
        self.sizes = np.array(
            [
                len(row) if self.weights is None else effective_size(self.weights[row])
                for row in rows
            ]
        )

    def accuracies(
        self,
        errors: HeldOutErrors,
        p_hat: Prevalences | None,
        rows: Sequence[Indices],
        method: str,
    ) -> _Estimates:
        """Accuracies of the samples; p_hat: their prevalences, for LEAP."""
        if method == LEAP:
            assert p_hat is not None
            shares = np.stack(
                [self._mean(np.eye(self.n_classes)[self.predicted_codes[r]], r) for r in rows]
            )
            table = contingency_table(p_hat, errors.rates, shares)
            return _Estimates(np.asarray(np.trace(table, axis1=-2, axis2=-1)), table)
        if method == "atc":
            # An item exactly at the threshold counts as wrong, as in training.
            estimates = [
                self._mean(self.top_posterior[row] > errors.threshold, row) for row in rows
            ]
        else:
            slope = errors.slope if method == "doc" else 1.0
            estimates = [
                errors.accuracy
                + slope * (self._mean(self.top_posterior[row], row) - errors.confidence)
                for row in rows
            ]
        return _Estimates(np.clip(np.array(estimates, dtype=np.float64), 0.0, 1.0), None)

    def drawn_accuracies(
        self, estimates: _Estimates, seed: int, number: int, repeat: int
    ) -> tuple[Reals, Reals]:
        """Accuracy and macro F1 of samples of the same sizes, drawn from the estimates.

        number, repeat: of the replicate.
        """

        def random() -> np.random.Generator:
            return generator(seed, purpose="accuracy of the items", number=number, repeat=repeat)

        sizes = np.maximum(np.round(self.sizes), 1).astype(np.int64)
        if estimates.table is None:
            right = [
                random().binomial(*each) for each in zip(sizes, estimates.accuracy, strict=True)
            ]
            return np.array(right) / sizes, estimates.accuracy
        tables = np.empty_like(estimates.table)
        for i, table in enumerate(estimates.table):
            rng = random()
            # Predictions are known, so only the classes within a column are drawn.
            answered = table.sum(axis=0)
            n_answered = np.round(answered * sizes[i]).astype(np.int64)
            for j in np.flatnonzero(answered):
                shares = table[:, j] / answered[j]
                drawn = rng.multinomial(n_answered[j], shares) / max(n_answered[j], 1)
                tables[i, :, j] = answered[j] * (drawn if n_answered[j] else shares)
            tables[i][:, answered == 0] = 0.0
        return np.trace(tables, axis1=1, axis2=2), f1_scores(tables).mean(axis=1)

    def _mean(self, values: NDArray[Any], row: Indices) -> Any:
        if self.weights is None:
            return values.mean(axis=0)
        return (self.weights[row] @ values) / self.weights[row].sum()
