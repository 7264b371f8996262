"""Matching histograms in general: DMy of posteriors, DMx of features.

A channel is a histogram of the posterior of each class (DMy; only of the second if there are two),
or of each feature (DMx). One prevalence p mixes the histograms of the training classes in all
channels, and the mean over channels of a divergence between mixture and sample is minimised. With
`cdf` the histograms are cumulated first, so that being one bin off costs less than being many off.

The Hellinger distance is the root of a convex function, and a mean of roots need not be convex.
With two classes the best point of a grid is refined. With more, the root of each channel is
replaced by its tangent, which lies above it: a convex step that lowers the mean, starting from the
training prevalence.

References: A. Firat, "Unified framework for quantification", 2016; A. Moreo et al., "QuaPy: a
Python-based framework for quantification", CIKM 2021 (DMy, DMx).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.domains import Seed, Several
from quantshift.base.types import Codes, Indices, Prevalences, Reals
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.items.items import Items
from quantshift.optimise.divergences import Divergence, DivergenceName
from quantshift.optimise.histogram_newton import MEAN_ROOT, nearest_histograms
from quantshift.prevalence.simplex import of_positive
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import (
    AbstractQuantifier,
    Diagnostics,
)
from quantshift.quantifiers.base.tags import FEATURES, PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.matching.hdx import MOST_BINS, feature_places, feature_ranges
from quantshift.quantifiers.matching.histogram_options import divergence_called
from quantshift.quantifiers.matching.matching import (
    DIAGNOSTICS,
    AbstractHistograms,
    bin_numbers,
    class_histograms,
    is_undetermined,
    match,
    match_many,
    match_together,
    or_prior,
    sample_histograms,
)


class DMy(AbstractHistograms):
    """Distribution Matching y: the mixture whose histograms of posteriors are closest on average.

    Two classes: DyS with other defaults. Falls back as DyS does.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    n_bins : int
        Bins of each histogram.
    divergence : {"hellinger", "topsoe", "squared_euclidean"} or callable
        "hellinger" (default), "topsoe", "squared_euclidean" or a function, as for DyS.
    cdf : bool
        Compare distribution functions instead of histograms.
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
    >>> from quantshift.quantifiers import DMy
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = DMy().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['distance', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.ONE_AGAINST_REST, smooth=True)

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        n_bins: Several = 8,
        divergence: DivergenceName | Divergence = "hellinger",
        cdf: bool = False,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.n_bins = n_bins
        self.divergence = divergence
        self.cdf = cdf
        self.cv = cv
        self.random_state = random_state

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return _solved(
            representation, index, weights, self.histograms_, self.divergence, self.prior_, self.cdf
        )


class DMx(AbstractQuantifier):
    """Distribution Matching x: the mixture whose histograms of features are closest on average.

    Needs no classifier. Falls back as DyS does.

    Parameters
    ----------
    n_bins : int
        Bins between a feature's smallest and largest training value; values outside are in the
        outermost bins.
    divergence : {"hellinger", "topsoe", "squared_euclidean"} or callable
        As for DMy.
    cdf : bool
        As for DMy.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import DMx
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = DMx().fit(X, y)
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

    low_: Reals
    width_: Reals
    histograms_: Reals

    def __init__(
        self,
        *,
        n_bins: Several = 8,
        divergence: DivergenceName | Divergence = "hellinger",
        cdf: bool = False,
    ) -> None:
        self.n_bins = n_bins
        self.divergence = divergence
        self.cdf = cdf

    def _learn(self, items: Items, codes: Codes) -> None:
        self.low_, self.width_ = feature_ranges(items, "DMx")
        self.histograms_ = class_histograms(
            self._represent_items(items), codes, self.n_bins, items.weights
        )

    def _represent_items(self, items: Items) -> NDArray[Any]:
        return bin_numbers(feature_places(items, "DMx", self.low_, self.width_), self.n_bins)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        return _solved(
            representation, index, weights, self.histograms_, self.divergence, self.prior_, self.cdf
        )


def _solved(
    bins: NDArray[Any],
    index: Indices,
    weights: Weights | None,
    classes: Reals,
    divergence: str | Divergence,
    prior: Prevalences,
    cdf: bool,
) -> tuple[Prevalences, Diagnostics]:
    """Prevalences and diagnostics of the samples, computed in batches."""
    n_bins = classes.shape[-1]
    at_once = max(1, MOST_BINS // classes.size)
    matches = [
        nearest_mixtures(
            sample_histograms(bins, index[start : start + at_once], n_bins, weights),
            classes,
            divergence,
            prior,
            cdf=cdf,
        )
        for start in range(0, len(index), at_once)
    ]
    p_hat, distance = (np.concatenate(column) for column in zip(*matches, strict=True))
    return or_prior(p_hat, prior, distance)


def nearest_mixtures(
    samples: Reals,
    classes: Reals,
    divergence: str | Divergence,
    prior: Prevalences,
    *,
    cdf: bool = False,
) -> tuple[Prevalences, Reals]:
    """Prevalences, NaN where they are not unique, and mean divergences over the channels.

    samples: histograms, (n_samples, n_channels, n_bins); classes: (n_classes, n_channels, n_bins).
    """
    if cdf:
        samples, classes = samples.cumsum(axis=-1), classes.cumsum(axis=-1)
    measure = divergence_called(divergence)
    is_root = divergence == "hellinger"
    if is_root and cdf:
        measure = _root_distance
    if len(classes) == 2:
        if samples.shape[1] == 1 and not cdf:
            shares, distances = match(samples, classes, measure)
            return of_positive(shares[:, 0]), distances[:, 0]
        share, distance = match_together(samples, classes, measure)
        return of_positive(share), distance
    if not is_root:
        p_hat, distances = match_many(samples, classes, divergence, measure, prior)
        return p_hat, np.asarray(distances.mean(axis=1))
    n_classes, n_channels = classes.shape[:2]
    p_hat = nearest_histograms(
        np.ascontiguousarray(samples.reshape(len(samples), -1)),
        np.ascontiguousarray(classes.reshape(n_classes, -1)),
        np.zeros(n_classes),
        prior,
        n_channels,
        MEAN_ROOT,
    )
    distances = measure(np.tensordot(p_hat, classes, axes=1), samples)
    if is_undetermined(classes):
        p_hat = np.full_like(p_hat, np.nan)
    return p_hat, np.asarray(distances.mean(axis=1))


def _root_distance(p: Reals, q: Reals) -> Reals:
    """The Hellinger distance of measures whose sums need not be equal."""
    return np.asarray(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1) / 2))
