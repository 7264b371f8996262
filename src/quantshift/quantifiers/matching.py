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

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from quantshift.classify.scores import matched_columns
from quantshift.errors import UserError, unknown_name
from quantshift.prevalence import of_positive
from quantshift.quantifiers.adjusted import SINGULAR, adjust, adjust_binary
from quantshift.quantifiers.divergences import DIVERGENCES, Divergence, hellinger
from quantshift.quantifiers.estimator import (
    AbstractQuantifier,
    Diagnostics,
    class_means,
    sample_means,
)
from quantshift.quantifiers.mixtures import match_all
from quantshift.types import Codes, Indices, Posteriors, Prevalences

HDY_BINS = tuple(range(10, 111, 10))
SEARCH_TOLERANCE = 1e-6
"""Width of the interval in which the search for the mixture weight ends."""


class DyS(AbstractQuantifier):
    """Distribution y-Similarity: matches the histogram of posteriors under any divergence.

    divergence: a name in `divergences.DIVERGENCES`, or a function of two arrays of histograms
        (..., n_bins) that returns (...) and is unimodal in the mixture weight.
    A posterior on the border of two bins belongs to the upper one (1 to the last bin). Falls back
    to the training prevalence where the classes have the same histogram, or one of them that of a
    mixture of others (`fallback`). With more than two classes the divergences of all their
    posteriors are added up ("hellinger": their squares).
    """

    assumption: ClassVar[str] = "P(X|Y) is the same in the sample (prior shift)"

    histograms_: NDArray[np.float64]

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        n_bins: int = 10,
        divergence: str | Divergence = "topsoe",
        cv: int = 5,
        seed: int = 0,
    ) -> None:
        self.classifier = classifier
        self.n_bins = n_bins
        self.divergence = divergence
        self.cv = cv
        self.seed = seed

    def _fit_aggregation(self, posteriors: Posteriors, codes: Codes) -> None:
        if self.n_bins < 2:
            raise UserError(f"n_bins must be at least 2, got {self.n_bins}")
        if isinstance(self.divergence, str) and self.divergence not in DIVERGENCES:
            raise unknown_name("divergence", self.divergence, DIVERGENCES)
        self.histograms_ = class_histograms(self._represent(posteriors), codes, self.n_bins)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return bin_numbers(matched_rows(posteriors), self.n_bins)

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        divergence = (
            DIVERGENCES[self.divergence] if isinstance(self.divergence, str) else self.divergence
        )
        samples = sample_histograms(representation, index, self.n_bins)
        if len(self.classes_) == 2:
            weights, distances = match(samples, self.histograms_, divergence)
            p_hat = of_positive(weights[:, 0])
        else:
            p_hat, distances = match_many(
                samples, self.histograms_, self.divergence, divergence, self.prior_
            )
        return or_prior(p_hat, self.prior_, distances.mean(axis=1))


class HDy(AbstractQuantifier):
    """Hellinger Distance y-similarity: median of matches with 10, 20, ..., 110 bins.

    `distance` is the mean over the numbers of bins. Falls back as DyS does.
    """

    assumption: ClassVar[str] = "P(X|Y) is the same in the sample (prior shift)"

    no_interval: ClassVar[str] = (
        "its histograms of up to 110 bins hold so few training items each that replicates of them "
        "do not show its error; use DyS, which matches one histogram of 10 bins"
    )

    histograms_: dict[int, NDArray[np.float64]]

    def __init__(
        self, classifier: BaseEstimator | None = None, *, cv: int = 5, seed: int = 0
    ) -> None:
        self.classifier = classifier
        self.cv = cv
        self.seed = seed

    def _fit_aggregation(self, posteriors: Posteriors, codes: Codes) -> None:
        binnings = np.split(self._represent(posteriors), len(HDY_BINS))
        self.histograms_ = {
            n_bins: class_histograms(rows, codes, n_bins)
            for n_bins, rows in zip(HDY_BINS, binnings, strict=True)
        }

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        columns = matched_rows(posteriors)
        return np.concatenate([bin_numbers(columns, n_bins) for n_bins in HDY_BINS])

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        binnings = np.split(representation, len(HDY_BINS))
        samples = [
            sample_histograms(rows, index, n_bins)
            for n_bins, rows in zip(HDY_BINS, binnings, strict=True)
        ]
        known = self.histograms_.values()
        if len(self.classes_) == 2:
            matches = [match(s, own, hellinger) for s, own in zip(samples, known, strict=True)]
            p_hat = of_positive(np.median([w for w, _ in matches], axis=0)[:, 0])
        else:
            matches = [
                match_many(s, own, "hellinger", hellinger, self.prior_)
                for s, own in zip(samples, known, strict=True)
            ]
            p_hat = np.median([p for p, _ in matches], axis=0)
            p_hat /= p_hat.sum(axis=1, keepdims=True)
        distance = np.mean([d for _, d in matches], axis=0).mean(axis=1)
        return or_prior(p_hat, self.prior_, distance)


class SMM(AbstractQuantifier):
    """Sample Mean Matching: the mixture weight that reproduces the mean posterior.

    Equal to PACC. Falls back to PCC where the training classes have the same mean posterior
    (`fallback`).
    """

    assumption: ClassVar[str] = "P(X|Y) is the same in the sample (prior shift)"

    means_: NDArray[np.float64]

    def __init__(
        self, classifier: BaseEstimator | None = None, *, cv: int = 5, seed: int = 0
    ) -> None:
        self.classifier = classifier
        self.cv = cv
        self.seed = seed

    def _fit_aggregation(self, posteriors: Posteriors, codes: Codes) -> None:
        if posteriors.shape[1] == 2:
            positive = np.ascontiguousarray(posteriors[:, 1])
            self.means_ = np.array([[positive[codes == k].mean() for k in (1, 0)]])
        else:
            self.means_ = class_means(posteriors, codes)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return matched_rows(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        means = sample_means(representation, index)
        if len(self.classes_) > 2:
            return adjust(means, self.means_, self.prior_)
        separation = self.means_[0, 0] - self.means_[0, 1]
        degenerate = bool(np.abs(separation) < SINGULAR)
        if degenerate:
            p_hat, clipped = of_positive(means[:, 0]), np.zeros(len(index), dtype=bool)
        else:
            p_hat, clipped = adjust_binary(means[:, 0], *self.means_[0])
        return p_hat, {
            "clipped": clipped,
            "separation": np.full(len(index), separation),
            "fallback": np.full(len(index), degenerate),
        }


def matched_rows(posteriors: Posteriors) -> NDArray[np.float64]:
    """The posterior of each class to match, a row each; of the second class alone if binary."""
    return np.ascontiguousarray(matched_columns(posteriors).T)


def or_prior(
    p_hat: Prevalences, prior: Prevalences, distance: NDArray[np.float64]
) -> tuple[Prevalences, Diagnostics]:
    """Prevalences and diagnostics; the prior stands in for what is unknown (NaN)."""
    fallback = np.asarray(np.isnan(p_hat).any(axis=1))
    p_hat = np.where(fallback[:, np.newaxis], prior, p_hat)
    return p_hat, {"distance": distance, "fallback": fallback}


def bin_numbers(columns: NDArray[np.float64], n_bins: int) -> NDArray[Any]:
    """The equal-width bin of [0, 1] each posterior falls in, in the smallest fitting integers."""
    return np.minimum(columns * n_bins, n_bins - 1).astype(np.min_scalar_type(n_bins))


def class_histograms(bins: NDArray[Any], codes: Codes, n_bins: int) -> NDArray[np.float64]:
    """Histograms of the training classes.

    Two classes: of the second and of the first, (1, 2, n_bins). More: of the posteriors of each
    class in each class, (n_classes, n_channels, n_bins).
    """
    if len(bins) == 1:
        return np.array([[_shares(bins[0][codes == k], n_bins) for k in (1, 0)]])
    members = [np.flatnonzero(codes == k) for k in range(len(bins))]
    return np.array([[_shares(row[own], n_bins) for row in bins] for own in members])


def _shares(bins: NDArray[Any], n_bins: int) -> NDArray[np.float64]:
    return np.asarray(np.bincount(bins, minlength=n_bins) / len(bins))


def sample_histograms(bins: NDArray[Any], index: Indices, n_bins: int) -> NDArray[np.float64]:
    """Histogram of each sample, shape (n_samples, n_matched, n_bins)."""
    n_samples, size = index.shape
    offsets = np.arange(0, n_samples * n_bins, n_bins)[:, np.newaxis]
    return np.stack(
        [
            np.bincount((row[index] + offsets).ravel(), minlength=n_samples * n_bins).reshape(
                n_samples, n_bins
            )
            / size
            for row in bins
        ],
        axis=1,
    )


def match(
    samples: NDArray[np.float64], classes: NDArray[np.float64], divergence: Divergence
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mixture weights and divergences, both (n_samples, n_matched).

    The weight is NaN where the two class histograms are equal, since any weight would do.
    """
    own, rest = classes[:, 0], classes[:, 1]

    def distance(weight: NDArray[np.float64]) -> NDArray[np.float64]:
        share = weight[..., np.newaxis]
        return divergence(share * own + (1 - share) * rest, samples)

    weights, distances = minimise_unimodal(distance, samples.shape[:-1])
    weights[:, (own == rest).all(axis=1)] = np.nan
    return weights, distances


def match_many(
    samples: NDArray[np.float64],
    classes: NDArray[np.float64],
    objective: str | Divergence,
    divergence: Divergence,
    start: Prevalences,
) -> tuple[Prevalences, NDArray[np.float64]]:
    """Prevalences (n_samples, n_classes), and divergences (n_samples, n_channels) of the mixtures.

    The prevalences are NaN where a class has the histograms of a mixture of others, since several
    would do.
    """
    flat = classes.reshape(len(classes), -1)
    p_hat = match_all(samples, classes, objective, start)
    distances = divergence(np.tensordot(p_hat, classes, axes=1), samples)
    if np.linalg.svd(flat, compute_uv=False)[-1] < SINGULAR:
        p_hat = np.full_like(p_hat, np.nan)
    return p_hat, distances


def minimise_unimodal(
    objective: Callable[[NDArray[np.float64]], NDArray[np.float64]], shape: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Golden-section search in [0, 1] for many unimodal functions at once: (arguments, minima)."""
    golden = (np.sqrt(5.0) - 1) / 2
    low, high = np.zeros(shape), np.ones(shape)
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = objective(left), objective(right)
    for _ in range(int(np.ceil(np.log(SEARCH_TOLERANCE) / np.log(golden)))):
        go_left = at_left < at_right
        low, high = np.where(go_left, low, left), np.where(go_left, right, high)
        fresh = np.where(go_left, high - golden * (high - low), low + golden * (high - low))
        at_fresh = objective(fresh)
        left, right = np.where(go_left, fresh, right), np.where(go_left, left, fresh)
        at_left, at_right = (
            np.where(go_left, at_fresh, at_right),
            np.where(go_left, at_left, at_fresh),
        )
    candidates = np.stack([(low + high) / 2, np.zeros(shape), np.ones(shape)])
    values = np.stack([objective(candidate) for candidate in candidates])
    best = values.argmin(axis=0)[np.newaxis]
    return (
        np.take_along_axis(candidates, best, axis=0)[0],
        np.take_along_axis(values, best, axis=0)[0],
    )
