"""What the networks are given of items: likelihoods of the classes, features, and parts to learn.

Calibrations are better on the items that they have learnt from than on others. So the scores of the
items that networks learn from are those of calibrations of other parts of the items.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.calibration.calibration import AUTO, Calibrator, calibration_called
from quantshift.classify.classifier import n_rows
from quantshift.errors import DataError
from quantshift.prevalence import simplex
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.items import Items, dense_features, uneven
from quantshift.quantifiers.neural.bags import LearningItems

PARTS = 5
"""Parts of the training items, with a network for each that is judged there."""

SMALLEST_RATIO = 1e-12
"""Likelihoods of an item, relative to the sum over the classes, are at least this."""


@dataclass(frozen=True, eq=False)
class ScaledFeatures:
    """Features in units of their spread in training; without columns if they are not used."""

    training: Reals
    centre: Reals
    scale: Reals

    def __call__(self, features: Any) -> Reals:
        """The features of other items, (n_items, n_features)."""
        if not len(self.centre):
            return np.empty((n_rows(features), 0))
        X = dense_features(Items(features=features), "SetNetwork")
        if X.shape[1] != len(self.centre):
            raise DataError(f"{X.shape[1]} features, but {len(self.centre)} in training")
        return np.asarray((X - self.centre) / self.scale)

    @classmethod
    def learnt(cls, features: Any, weights: Weights | None) -> "ScaledFeatures":
        """The scale of training items."""
        X = dense_features(Items(features=features), "SetNetwork")
        centre = np.average(X, axis=0, weights=weights)
        spread = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=weights))
        scale = np.where(spread > 0, spread, 1.0)
        return cls((X - centre) / scale, centre, scale)

    @classmethod
    def unused(cls, features: Any) -> "ScaledFeatures":
        """No features."""
        return cls(np.empty((n_rows(features), 0)), np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """Posteriors -> scores: logarithms of likelihoods of the classes. prior: of training."""

    calibrator: Calibrator
    prior: Prevalences

    @classmethod
    def learnt(cls, posteriors: Posteriors, codes: Codes, weights: Weights | None) -> "Likelihoods":
        """From held-out posteriors and the classes of the items."""
        calibrator = calibration_called(AUTO)(posteriors, codes, weights)
        return cls(calibrator, simplex.from_codes(codes, posteriors.shape[1], weights))

    def refitter(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None
    ) -> Callable[[Weights], "Likelihoods"]:
        """The same for other weights of the items it was learnt from."""
        recalibrate = self.calibrator.refitter(posteriors, codes, weights)
        n_classes = len(self.prior)
        return lambda drawn: Likelihoods(
            recalibrate(drawn), simplex.from_codes(codes, n_classes, drawn)
        )

    def scores(self, posteriors: Posteriors) -> Reals:
        """Of items, (n_items, n_classes)."""
        ratios = self.calibrator(posteriors) / self.prior
        ratios = ratios / ratios.sum(axis=1, keepdims=True)
        return np.asarray(np.log(np.maximum(ratios, SMALLEST_RATIO)))


def learning_items(
    posteriors: Posteriors,
    features: Reals,
    codes: Codes,
    weights: Weights | None,
    rng: np.random.Generator,
) -> LearningItems:
    """The distinct items, each with its count, in random order and in parts.

    So repeated items are the same as weights, and copies of an item are in one part. Every part has
    all classes. A single part, if a class has only copies of one item.
    """
    rows = np.column_stack([codes, posteriors, features])
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    of_items = np.ones(len(codes)) if weights is None else weights
    counts = np.asarray(np.bincount(which.ravel(), of_items), dtype=np.float64)
    shuffled = rng.permutation(len(first))
    by_class = shuffled[np.argsort(codes[first][shuffled], kind="stable")]
    chosen, counts = first[by_class], counts[by_class]
    n_parts = max(1, min(PARTS, int(np.bincount(codes[chosen]).min())))
    parts = np.arange(len(chosen)) % n_parts
    scores = _cross_fitted(posteriors[chosen], codes[chosen], counts, parts)
    return LearningItems(scores, features[chosen], codes[chosen], counts, parts)


def _cross_fitted(posteriors: Posteriors, codes: Codes, counts: Reals, parts: Indices) -> Reals:
    """Scores of the items of each part, by what is learnt from the other parts."""
    scores = np.empty_like(posteriors)
    for part in range(int(parts.max()) + 1):
        own = parts == part
        others = np.ones_like(own) if own.all() else ~own
        learnt = Likelihoods.learnt(posteriors[others], codes[others], uneven(counts[others]))
        scores[own] = learnt.scores(posteriors[own])
    return scores
