"""The first layer: from the items of a sample to a row of numbers for each class.

Each item is looked at through the log-odds of each class, at equal priors. Hat functions of the
log-odds form a soft histogram; any piecewise linear function of the log-odds is a weighted sum of
them, and a weighted sum of means is the mean of weighted sums. So the weights after the histogram
learn functions of items, although a sample is summarised only once.

A class is described by that histogram, by its difference to the histogram that the training classes
would give at the estimated prevalence, by two estimates of its share (likelihood and adjusted
counting), by how undecided the items are about it, and by how well it is recognised.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.calibration.calibration import AUTO, Calibrator, calibration_called
from quantshift.optimise.mixture_likelihood import maximise_mixtures
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.means import class_means, sample_means
from quantshift.quantifiers.counting.adjusted import adjust
from quantshift.quantifiers.neural.network import SMALLEST, SampleInputs

KNOTS = np.linspace(-9, 9, 10)
"""Log-odds at which the hat functions are one."""

TOLERANCE, MOST_PASSES = 1e-6, 1000
"""Of the maximum of the likelihood."""

AT_ONCE = 1 << 21
"""The most numbers of an array of items by samples."""


@dataclass(frozen=True, eq=False)
class ItemLayer:
    """What the first layer has learnt from training items.

    prior: their prevalence. rates: mean posterior of class i among the items of class j.
    histograms: mean hat functions of class i among the items of class j, (n_classes * n_knots,
    n_classes).
    """

    calibrator: Calibrator
    prior: Prevalences
    rates: Reals
    histograms: Reals

    @classmethod
    def learnt(cls, posteriors: Posteriors, codes: Codes, weights: Weights | None) -> "ItemLayer":
        """From held-out posteriors and the classes of the items."""
        calibrator = calibration_called(AUTO)(posteriors, codes, weights)
        nothing = np.empty((0, 0))
        unfitted = cls(calibrator, np.empty(0), nothing, nothing)
        return unfitted._with_means(posteriors, codes, weights)

    def refitter(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None
    ) -> Callable[[Weights], "ItemLayer"]:
        """The layer for other weights of the items it was learnt from."""
        recalibrate = self.calibrator.refitter(posteriors, codes, weights)

        def refit(drawn: Weights) -> ItemLayer:
            kept = replace(self, calibrator=recalibrate(drawn))
            return kept._with_means(posteriors, codes, drawn)

        return refit

    def represent(self, posteriors: Posteriors) -> NDArray[np.float64]:
        """What each item contributes: likelihoods of the classes, posteriors, hat functions."""
        ratios = self.calibrator(posteriors) / self.prior
        ratios = ratios / ratios.sum(axis=1, keepdims=True)
        return np.concatenate([ratios.T, posteriors.T, _hats(ratios).reshape(-1, len(posteriors))])

    def inputs(
        self,
        representation: NDArray[Any],
        index: Indices,
        weights: Weights | None = None,
        *,
        alpha: float = 1.0,
    ) -> SampleInputs:
        """What a network sees of the samples.

        The start is the maximum of the likelihood or, with an alpha above 1, of the posterior under
        a symmetric Dirichlet prior.
        """
        n_classes = len(self.prior)
        ratios, posteriors, hats = np.split(representation, [n_classes, 2 * n_classes])
        start, _, _ = maximise_mixtures(
            ratios,
            index,
            np.full(n_classes, 1 / n_classes),
            tol=TOLERANCE,
            max_iter=MOST_PASSES,
            weights=weights,
            added=None if alpha == 1 else np.full(len(index), alpha - 1),
        )
        counted, _ = adjust(sample_means(posteriors, index, weights), self.rates, self.prior)
        seen = sample_means(hats, index, weights)
        unexplained = seen - start @ self.histograms.T
        shape = (len(index), n_classes, len(KNOTS))
        recognised = np.broadcast_to(self.rates.diagonal(), start.shape)
        undecided = _undecided(ratios, start, index, weights)
        shares = (
            *(np.log(start + SMALLEST), np.log(counted + SMALLEST), start, counted),
            *(np.sqrt(undecided), recognised),
        )
        numbers = [np.stack(shares, axis=2), seen.reshape(shape), unexplained.reshape(shape)]
        return SampleInputs(start, np.concatenate(numbers, axis=2))

    def _with_means(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None
    ) -> "ItemLayer":
        n_classes = posteriors.shape[1]
        of_items = np.ones(len(codes)) if weights is None else weights
        totals = np.bincount(codes, of_items, minlength=n_classes)
        layer = replace(self, prior=totals / totals.sum())
        hats = layer.represent(posteriors)[2 * n_classes :]
        members = np.eye(n_classes)[codes] * of_items[:, np.newaxis]
        return replace(
            layer,
            rates=class_means(posteriors, codes, weights),
            histograms=hats @ members / totals,
        )


def _hats(ratios: Reals) -> Reals:
    """Hat functions of the log-odds of each class, (n_classes, n_knots, n_items)."""
    with np.errstate(divide="ignore"):
        log_odds = np.log(ratios.T) - np.log1p(-ratios.T)
    step = KNOTS[1] - KNOTS[0]
    place = np.clip((log_odds - KNOTS[0]) / step, 0, len(KNOTS) - 1)[:, np.newaxis]
    distance = np.abs(place - np.arange(len(KNOTS))[:, np.newaxis])
    return np.asarray(np.maximum(1 - distance, 0))


def _undecided(ratios: Reals, start: Prevalences, index: Indices, weights: Weights | None) -> Reals:
    """Mean variance of the membership of items in each class, at the estimated prevalence."""
    undecided = np.empty_like(start)
    size = max(1, AT_ONCE // (index.shape[1] * len(ratios)))
    for begin in range(0, len(index), size):
        block = slice(begin, begin + size)
        joint = ratios[:, index[block]] * start[block].T[:, :, np.newaxis]
        chances = joint / np.maximum(joint.sum(axis=0), np.finfo(float).tiny)
        variances = chances * (1 - chances)
        if weights is None:
            undecided[block] = variances.mean(axis=2).T
        else:
            w = weights[index[block]]
            undecided[block] = ((variances * w).sum(axis=2) / w.sum(axis=1)).T
    return undecided
