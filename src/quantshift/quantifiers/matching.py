"""Distribution matching: the mixture of the training classes that looks most like the sample.

Under prior shift the distribution of the classifier's posteriors in the sample is a mixture of
their distributions in the training classes, and the mixture weight is the prevalence. DyS compares
histograms under a divergence; HDy is the median over several numbers of bins under the Hellinger
distance; SMM compares means only. With more than two classes each class is matched against the
rest and the weights are normalised.

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

from quantshift.errors import UserError, unknown_name
from quantshift.prevalence import of_positive
from quantshift.quantifiers.adjusted import SINGULAR, adjust_binary
from quantshift.quantifiers.divergences import DIVERGENCES, Divergence, hellinger
from quantshift.quantifiers.estimator import AbstractQuantifier, Diagnostics, sample_means
from quantshift.types import Codes, Indices, Posteriors, Prevalences

HDY_BINS = tuple(range(10, 111, 10))
SEARCH_TOLERANCE = 1e-6
"""Width of the interval in which the search for the mixture weight ends."""


class DyS(AbstractQuantifier):
    """Distribution y-Similarity: matches the histogram of posteriors under any divergence.

    divergence: a name in `divergences.DIVERGENCES`, or a function of two arrays of histograms
        (..., n_bins) that returns (...) and is unimodal in the mixture weight.
    A posterior on the border of two bins belongs to the upper one (1 to the last bin). Falls back
    to the training prevalence where the classes have the same histogram (`fallback`).
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
        return bin_numbers(one_vs_rest(posteriors), self.n_bins)

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        divergence = (
            DIVERGENCES[self.divergence] if isinstance(self.divergence, str) else self.divergence
        )
        samples = sample_histograms(representation, index, self.n_bins)
        weights, distances = match(samples, self.histograms_, divergence)
        p_hat, fallback = combine_one_vs_rest(weights, self.prior_)
        return p_hat, {"distance": distances.mean(axis=1), "fallback": fallback}


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
        columns = one_vs_rest(posteriors)
        return np.concatenate([bin_numbers(columns, n_bins) for n_bins in HDY_BINS])

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        binnings = np.split(representation, len(HDY_BINS))
        matches = [
            match(sample_histograms(rows, index, n_bins), self.histograms_[n_bins], hellinger)
            for n_bins, rows in zip(HDY_BINS, binnings, strict=True)
        ]
        weights = np.median([w for w, _ in matches], axis=0)
        p_hat, fallback = combine_one_vs_rest(weights, self.prior_)
        distance = np.mean([d for _, d in matches], axis=0).mean(axis=1)
        return p_hat, {"distance": distance, "fallback": fallback}


class SMM(AbstractQuantifier):
    """Sample Mean Matching: the mixture weight that reproduces the mean posterior.

    Equal to PACC in the binary case. Falls back to PCC where the training classes have the same
    mean posterior (`fallback`).
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
        columns = one_vs_rest(posteriors)
        members = one_vs_rest(np.eye(posteriors.shape[1])[codes]) == 1
        self.means_ = np.array(
            [(x[own].mean(), x[~own].mean()) for x, own in zip(columns, members, strict=True)]
        )

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return one_vs_rest(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        means = sample_means(representation, index)
        separations = self.means_[:, 0] - self.means_[:, 1]
        weights, clipped = means.copy(), np.zeros(means.shape, dtype=bool)
        for k in np.flatnonzero(np.abs(separations) >= SINGULAR):
            pair, clipped[:, k] = adjust_binary(means[:, k], *self.means_[k])
            weights[:, k] = pair[:, 1]
        p_hat, empty = combine_one_vs_rest(weights, self.prior_)
        degenerate = bool(np.any(np.abs(separations) < SINGULAR))
        return p_hat, {
            "clipped": np.asarray(clipped.any(axis=1)),
            "separation": np.full(len(index), separations[np.argmin(np.abs(separations))]),
            "fallback": empty | degenerate,
        }


def one_vs_rest(posteriors: Posteriors) -> NDArray[np.float64]:
    """The posterior of each class to match, a row each; of the second class alone if binary."""
    columns = posteriors[:, 1:] if posteriors.shape[1] == 2 else posteriors
    return np.ascontiguousarray(columns.T)


def combine_one_vs_rest(
    weights: NDArray[np.float64], prior: Prevalences
) -> tuple[Prevalences, NDArray[np.bool_]]:
    """Prevalences from one weight per class (one in all if binary), NaN meaning unknown.

    Where a weight is unknown or all are zero, the prior stands in, and the second array says so.
    """
    if weights.shape[1] == 1:
        p_hat = of_positive(weights[:, 0])
    else:
        total = weights.sum(axis=1, keepdims=True)
        p_hat = np.divide(weights, total, out=np.full_like(weights, np.nan), where=total > 0)
    fallback = np.asarray(np.isnan(p_hat).any(axis=1))
    return np.where(fallback[:, np.newaxis], prior, p_hat), fallback


def bin_numbers(columns: NDArray[np.float64], n_bins: int) -> NDArray[Any]:
    """The equal-width bin of [0, 1] each posterior falls in, in the smallest fitting integers."""
    return np.minimum(columns * n_bins, n_bins - 1).astype(np.min_scalar_type(n_bins))


def class_histograms(bins: NDArray[Any], codes: Codes, n_bins: int) -> NDArray[np.float64]:
    """Histograms of each matched class and of its rest, shape (n_matched, 2, n_bins)."""
    n_matched = len(bins)
    own_codes = [1] if n_matched == 1 else range(n_matched)
    return np.array(
        [
            [_shares(row[codes == k], n_bins), _shares(row[codes != k], n_bins)]
            for row, k in zip(bins, own_codes, strict=True)
        ]
    )


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
