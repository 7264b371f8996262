"""Matching features instead of posteriors: no classifier at all.

Under prior shift every feature of the sample is distributed as a mixture of its distributions in
the training classes, and the mixture weight is the prevalence. The features' histograms are
compared one by one, so the classes must differ in single features.

Reference: V. Gonzalez-Castro et al., "Class distribution estimation based on the Hellinger
distance", Information Sciences 2013.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Indices, Prevalences
from quantshift.errors import DataError
from quantshift.items.items import Items, dense_features
from quantshift.optimise.divergences import hellinger
from quantshift.prevalence.simplex import of_positive
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractQuantifier, Diagnostics
from quantshift.quantifiers.base.tags import FEATURES, PRIOR_SHIFT, Tags
from quantshift.quantifiers.matching.matching import (
    DIAGNOSTICS,
    HDY_BINS,
    bin_numbers,
    class_histograms,
    is_undetermined,
    match_many,
    match_together,
    median_of,
    or_prior,
    sample_histograms,
)

MOST_BINS = 1 << 21
"""The most histogram bins, over all features and samples, that are matched at once."""


class HDx(AbstractQuantifier):
    """Hellinger Distance x-similarity: median of matches of features with 10, 20, ..., 110 bins.

    A feature's bins divide its range in training evenly; values outside are in the outermost bins.
    The mean distance of all features is minimised (more than two classes: the sum of squares, which
    is convex). `distance` is the mean over features and numbers of bins. Falls back as HDy does.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import HDx
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = HDx().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['distance', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, sees=FEATURES)
    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    low_: NDArray[np.float64]
    width_: NDArray[np.float64]
    histograms_: dict[int, NDArray[np.float64]]
    is_undetermined_: bool = False

    def _learn(self, items: Items, codes: Codes) -> None:
        self.low_, self.width_ = feature_ranges(items, "HDx")
        self.histograms_ = {
            n_bins: class_histograms(rows, codes, n_bins, items.weights)
            for n_bins, rows in self._binnings(self._represent_items(items)).items()
        }
        self.is_undetermined_ = any(map(is_undetermined, self.histograms_.values()))

    def _represent_items(self, items: Items) -> NDArray[Any]:
        positions = feature_places(items, "HDx", self.low_, self.width_)
        return np.concatenate([bin_numbers(positions, n_bins) for n_bins in HDY_BINS])

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        at_once = max(1, MOST_BINS // (len(self.low_) * HDY_BINS[-1]))
        parts = [index[start : start + at_once] for start in range(0, len(index), at_once)]
        solved = [self._matched(representation, part, weights) for part in parts]
        p_hat, distance = (np.concatenate(column) for column in zip(*solved, strict=True))
        if self.is_undetermined_:
            p_hat = np.full_like(p_hat, np.nan)
        return or_prior(p_hat, self.prior_, distance)

    def _matched(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None
    ) -> tuple[Prevalences, NDArray[np.float64]]:
        """Prevalences, NaN where they are not determined, and distances."""
        matches = []
        for n_bins, rows in self._binnings(representation).items():
            samples = sample_histograms(rows, index, n_bins, weights)
            classes = self.histograms_[n_bins]
            if len(self.classes_) == 2:
                share, distance = match_together(samples, classes, hellinger)
                matches.append((of_positive(share), distance))
            else:
                p_hat, distances = match_many(samples, classes, "hellinger", hellinger, self.prior_)
                matches.append((p_hat, distances.mean(axis=1)))
        return median_of([p for p, _ in matches]), np.mean([d for _, d in matches], axis=0)

    def _binnings(self, representation: NDArray[Any]) -> dict[int, NDArray[Any]]:
        """The features' bins, by the number of bins."""
        return dict(zip(HDY_BINS, np.split(representation, len(HDY_BINS)), strict=True))


def feature_ranges(items: Items, method: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest value of each feature, and the width of its range (1 if it is constant).

    method: its name, for error messages.
    """
    X = _feature_numbers(items, method)
    spread = np.ptp(X, axis=0)
    return X.min(axis=0), np.where(spread > 0, spread, 1.0)


def feature_places(
    items: Items, method: str, low: NDArray[np.float64], width: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Where values are in the ranges of training, from 0 to 1, (n_features, n_items)."""
    X = _feature_numbers(items, method)
    if X.shape[1] != len(low):
        raise DataError(f"{X.shape[1]} features, but {len(low)} in training")
    return np.ascontiguousarray(np.clip((X - low) / width, 0.0, 1.0).T)


def _feature_numbers(items: Items, method: str) -> NDArray[np.float64]:
    return dense_features(items, method, "compares a histogram of every feature")
