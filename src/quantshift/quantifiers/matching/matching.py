"""Distribution matching: the mixture of the training classes that looks most like the sample.

Under prior shift the distribution of the classifier's posteriors in the sample is a mixture of
their distributions in the training classes, and the mixture weight is the prevalence. DyS compares
histograms under a divergence; HDy is the median over several numbers of bins under the Hellinger
distance; SMM compares means only. With more than two classes the posteriors of each are compared,
and one prevalence mixes the training classes for all of them (`mixtures`).

References: V. Gonzalez-Castro et al., "Class distribution estimation based on the Hellinger
distance", Information Sciences 2013 (HDy); A. Maletzke et al., "DyS: a framework for mixture models
in quantification", AAAI 2019 (DyS); W. Hassan et al., "Accurately quantifying a billion instances
per second", DSAA 2020 (SMM).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.domains import Seed, Several
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.classify.scores import matched_columns
from quantshift.optimise.divergences import (
    Divergence,
    DivergenceName,
    hellinger,
    squared_euclidean,
    topsoe,
)
from quantshift.optimise.mixtures import match_all
from quantshift.optimise.unimodal import (
    HELLINGER,
    LEVEL,
    MOST_BINS,
    SQUARED_EUCLIDEAN,
    TOPSOE,
    minimise_unimodal,
    nearest_common_mixtures,
    nearest_weights,
    search_steps,
)
from quantshift.prevalence.simplex import of_positive
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import (
    AbstractAggregative,
    AbstractWithoutOptions,
    Diagnostics,
)
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.counting.adjusted import PACC, SINGULAR
from quantshift.quantifiers.matching.histogram_options import divergence_called

HDY_BINS = tuple(range(10, 111, 10))
COMPILED: Sequence[tuple[Divergence, int]] = (
    (hellinger, HELLINGER),
    (topsoe, TOPSOE),
    (squared_euclidean, SQUARED_EUCLIDEAN),
)
"""Divergences that `unimodal` implements, and their numbers there."""

GRID_POINTS = 11
"""Points of the grid of mixture weights if several divergences are matched at once."""

DIAGNOSTICS: Mapping[str, str] = MappingProxyType({"distance": "float", "fallback": "bool"})
"""The diagnostics of matching."""


class AbstractHistograms(AbstractAggregative):
    """A method that compares histograms of posteriors with those of the training classes.

    Parameters that it expects: `n_bins` and `divergence`.
    """

    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    n_bins: int
    divergence: str | Divergence
    histograms_: Reals

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self.histograms_ = class_histograms(
            self._represent(posteriors), codes, self.n_bins, weights
        )

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return bin_numbers(matched_rows(posteriors), self.n_bins)


class DyS(AbstractHistograms):
    """Distribution y-Similarity: matches the histogram of posteriors under any divergence.

    A posterior on the border of two bins belongs to the upper one (1 to the last bin). Falls back
    to the training prevalence if the classes have the same histogram, or one of them that of a
    mixture of others, or if all mixtures of two classes are equally close to the sample, as for a
    few items in bins without training items (`fallback`). With more than two classes the
    divergences of all their posteriors are added up ("hellinger": their squares).

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    n_bins : int
        Bins of the histograms.
    divergence : {"hellinger", "topsoe", "squared_euclidean"} or callable
        "topsoe" (default), "hellinger", "squared_euclidean", or a function of two arrays of
        histograms (..., n_bins) that returns (...) and is unimodal in the mixture weight.
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
    >>> from quantshift import DyS
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = DyS().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['distance', 'fallback']
    """

    recommended: ClassVar[str] = "as for SLD, with two classes"
    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.ONE_AGAINST_REST)

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        n_bins: Several = 10,
        divergence: DivergenceName | Divergence = "topsoe",
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.n_bins = n_bins
        self.divergence = divergence
        self.cv = cv
        self.random_state = random_state

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        divergence = divergence_called(self.divergence)
        samples = sample_histograms(representation, index, self.n_bins, weights)
        if len(self.classes_) == 2:
            shares, distances = match(samples, self.histograms_, divergence)
            p_hat = of_positive(shares[:, 0])
        else:
            p_hat, distances = match_many(
                samples, self.histograms_, self.divergence, divergence, self.prior_
            )
        return or_prior(p_hat, self.prior_, distances.mean(axis=1))


class HDy(AbstractWithoutOptions):
    """Hellinger Distance y-similarity: median of matches with 10, 20, ..., 110 bins.

    `distance` is the mean over the numbers of bins. Falls back as DyS does if the classes have the
    same histograms for any number of bins; numbers of bins for which all mixtures are equally close
    to a sample are left out of its median.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
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
    >>> from quantshift.quantifiers import HDy
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = HDy().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['distance', 'fallback']
    """

    tags: ClassVar[Tags] = replace(
        PRIOR_SHIFT,
        reads=Reading.ONE_AGAINST_REST,
        no_interval="its histograms have up to 110 bins with so few training items in each that "
        "replicates do not show its error; use DyS, which matches one histogram of 10 bins",
    )
    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    histograms_: dict[int, NDArray[np.float64]]
    is_undetermined_: bool = False

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        binnings = np.split(self._represent(posteriors), len(HDY_BINS))
        self.histograms_ = {
            n_bins: class_histograms(rows, codes, n_bins, weights)
            for n_bins, rows in zip(HDY_BINS, binnings, strict=True)
        }
        self.is_undetermined_ = any(map(is_undetermined, self.histograms_.values()))

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        columns = matched_rows(posteriors)
        return np.concatenate([bin_numbers(columns, n_bins) for n_bins in HDY_BINS])

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        binnings = np.split(representation, len(HDY_BINS))
        samples = [
            sample_histograms(rows, index, n_bins, weights)
            for n_bins, rows in zip(HDY_BINS, binnings, strict=True)
        ]
        by_bins = self.histograms_.values()
        if len(self.classes_) == 2:
            matches = [
                match(s, histograms, hellinger)
                for s, histograms in zip(samples, by_bins, strict=True)
            ]
            p_hat = of_positive(_middle([w for w, _ in matches])[:, 0])
        else:
            matches = [
                match_many(s, histograms, "hellinger", hellinger, self.prior_)
                for s, histograms in zip(samples, by_bins, strict=True)
            ]
            p_hat = median_of([p for p, _ in matches])
        if self.is_undetermined_:
            p_hat = np.full_like(p_hat, np.nan)
        distance = np.mean([d for _, d in matches], axis=0).mean(axis=1)
        return or_prior(p_hat, self.prior_, distance)


class SMM(PACC):
    """Sample Mean Matching: the mixture weight that reproduces the mean posterior.

    That is PACC, under the name that the literature on matching gives it.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
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
    >>> from quantshift.quantifiers import SMM
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = SMM().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'separation']
    """


def matched_rows(posteriors: Posteriors) -> NDArray[np.float64]:
    """The posterior of each class to match, one row each; only the second class if binary."""
    return np.ascontiguousarray(matched_columns(posteriors).T)


def or_prior(
    p_hat: Prevalences, prior: Prevalences, distance: NDArray[np.float64]
) -> tuple[Prevalences, Diagnostics]:
    """Prevalences and diagnostics; the prior replaces what is not determined (NaN)."""
    fallback = np.asarray(np.isnan(p_hat).any(axis=1))
    p_hat = np.where(fallback[:, np.newaxis], prior, p_hat)
    return p_hat, {"distance": distance, "fallback": fallback}


def bin_numbers(columns: NDArray[np.float64], n_bins: int) -> NDArray[Any]:
    """The equal-width bin of [0, 1] each posterior falls in, in the smallest fitting integers."""
    return np.minimum(columns * n_bins, n_bins - 1).astype(np.min_scalar_type(n_bins))


def class_histograms(
    bins: NDArray[Any], codes: Codes, n_bins: int, weights: Weights | None = None
) -> NDArray[np.float64]:
    """Histograms of the training classes.

    bins: a row per channel. Shape (n_classes, n_channels, n_bins).
    """
    members = [np.flatnonzero(codes == k) for k in range(int(codes.max()) + 1)]
    return np.array([[_shares(row, items, n_bins, weights) for row in bins] for items in members])


def _shares(
    bins: NDArray[Any], items: Indices, n_bins: int, weights: Weights | None
) -> NDArray[np.float64]:
    if weights is None:
        return np.asarray(np.bincount(bins[items], minlength=n_bins) / len(items))
    return np.asarray(np.bincount(bins[items], weights[items], n_bins) / weights[items].sum())


def sample_histograms(
    bins: NDArray[Any], index: Indices, n_bins: int, weights: Weights | None = None
) -> NDArray[np.float64]:
    """Histogram of each sample, shape (n_samples, n_matched, n_bins)."""
    w = None if weights is None else np.ascontiguousarray(weights)
    counts = _counts(np.ascontiguousarray(bins), np.ascontiguousarray(index), n_bins, w)
    total = index.shape[1] if w is None else w[index].sum(axis=1)[:, np.newaxis, np.newaxis]
    return np.asarray(counts / total)


@compiled
def _counts(
    bins: NDArray[Any], index: Indices, n_bins: int, weights: Weights | None
) -> NDArray[np.float64]:
    """Number of the items of each sample in each bin, or their weight."""
    n_samples, size = index.shape
    counts = np.zeros((n_samples, len(bins), n_bins))
    for i in range(n_samples):
        items = index[i]
        for c in range(len(bins)):
            row, own = bins[c], counts[i, c]
            for j in range(size):
                own[row[items[j]]] += 1.0 if weights is None else weights[items[j]]
    return counts


def match(
    samples: NDArray[np.float64], classes: NDArray[np.float64], divergence: Divergence
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mixture weights of two classes for each channel and divergences, (n_samples, n_channels).

    The weight is that of the second class. It is NaN if any weight would do: if the two class
    histograms are equal, or if they are equal in all bins in which the sample has items.
    """
    first_class, second_class = np.ascontiguousarray(classes[0]), np.ascontiguousarray(classes[1])

    numbers = [number for function, number in COMPILED if function is divergence]
    if numbers and samples.shape[-1] <= MOST_BINS:
        weights, distances = nearest_weights(
            np.ascontiguousarray(samples), second_class, first_class, search_steps(1.0), numbers[0]
        )
    else:

        def distance(weight: NDArray[np.float64]) -> NDArray[np.float64]:
            share = weight[..., np.newaxis]
            return divergence(share * second_class + (1 - share) * first_class, samples)

        weights, distances = minimise_unimodal(distance, samples.shape[:-1])
        at_ends = [distance(np.full(weights.shape, end)) for end in (0.0, 1.0)]
        weights[np.max(at_ends, axis=0) - distances <= LEVEL] = np.nan
    weights[:, (second_class == first_class).all(axis=1)] = np.nan
    return weights, distances


def match_together(
    samples: NDArray[np.float64], classes: NDArray[np.float64], divergence: Divergence
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A common mixture weight of two classes for all channels: weights and mean divergences.

    samples: (n_samples, n_channels, n_bins); classes: (2, n_channels, n_bins). The weight is that
    of the second class, and NaN if any weight would do, as in `match`.
    """
    first_class, second_class = np.ascontiguousarray(classes[0]), np.ascontiguousarray(classes[1])
    # A mean of unimodal distances need not be unimodal, so start from the best point of a grid.
    grid = np.linspace(0.0, 1.0, GRID_POINTS)
    n_steps = search_steps(2 / (GRID_POINTS - 1))

    numbers = [number for function, number in COMPILED if function is divergence]
    if numbers and max(samples.shape[1:]) <= MOST_BINS:
        weights, distances = nearest_common_mixtures(
            np.ascontiguousarray(samples), second_class, first_class, grid, n_steps, numbers[0]
        )
    else:

        def distance(weight: NDArray[np.float64]) -> NDArray[np.float64]:
            share = weight[..., np.newaxis, np.newaxis]
            return np.asarray(
                divergence(share * second_class + (1 - share) * first_class, samples).mean(axis=-1)
            )

        values = np.stack([distance(np.full(len(samples), point)) for point in grid])
        best = values.argmin(axis=0)
        ends = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, GRID_POINTS - 1)]
        weights, distances = minimise_unimodal(distance, best.shape, *ends, n_steps=n_steps)
        weights[values.max(axis=0) - distances <= LEVEL] = np.nan
    if is_undetermined(classes):
        weights = np.full_like(weights, np.nan)
    return weights, distances


def is_undetermined(classes: NDArray[np.float64]) -> bool:
    """Whether two classes have the same histograms, or one of more that of a mixture of others.

    Then no sample has a unique prevalence. classes: (n_classes, n_channels, n_bins).
    """
    if len(classes) == 2:
        return bool((classes[0] == classes[1]).all())
    flat = classes.reshape(len(classes), -1)
    return bool(np.linalg.svd(flat, compute_uv=False)[-1] < SINGULAR)


def median_of(matches: Sequence[Prevalences]) -> Prevalences:
    """The median of several prevalences of each sample, class by class and scaled to sum to one.

    Prevalences that are not determined (NaN) are left out; the median is NaN if none is determined.
    """
    middle = _middle(matches)
    return np.asarray(middle / middle.sum(axis=1, keepdims=True))


def _middle(matches: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The median of the matches of each sample (row) that are not NaN."""
    middle = np.median(matches, axis=0)
    for row in np.flatnonzero(np.isnan(middle).any(axis=1)):
        determined = [match[row] for match in matches if not np.isnan(match[row]).any()]
        if determined:
            middle[row] = np.median(determined, axis=0)
    return np.asarray(middle)


def match_many(
    samples: NDArray[np.float64],
    classes: NDArray[np.float64],
    objective: str | Divergence,
    divergence: Divergence,
    start: Prevalences,
) -> tuple[Prevalences, NDArray[np.float64]]:
    """Prevalences (n_samples, n_classes), and divergences (n_samples, n_channels) of the mixtures.

    The prevalences are NaN if a class has the histograms of a mixture of others, because they are
    not unique.
    """
    p_hat = match_all(samples, classes, objective, start)
    distances = divergence(np.tensordot(p_hat, classes, axes=1), samples)
    if is_undetermined(classes):
        p_hat = np.full_like(p_hat, np.nan)
    return p_hat, distances
