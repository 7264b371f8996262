"""Sample Ordinal Distance: matching distribution functions of scores, without bins.

With F+ and F- the distribution functions of the held-out scores of the two classes and F that of
the sample's, the mixture weight minimises the area between the functions,

    a = argmin of the integral of |a F+(s) + (1 - a) F-(s) - F(s)| over s.

Between neighbouring scores all three are constant, so that the area is a sum of |F+ - F-| x gap
times |a - (F - F-) / (F+ - F-)|. Its minimum is at the weighted median of these quotients: a closed
form, clipped to [0, 1], because the area is convex in a.

Reference: A. Maletzke et al., "DyS: a framework for mixture models in quantification", AAAI 2019.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.scores import matched_columns
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractWithoutOptions, Diagnostics
from quantshift.quantifiers.base.one_against_rest import normalised_shares, scored_members
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.matching.matching import DIAGNOSTICS

EVEN = 1e-12
"""Two halves count as equal if they differ by at most this share of the total weight."""


class SORD(AbstractWithoutOptions):
    """Sample Ordinal Distance: the mixture with the smallest area between distribution functions.

    Falls back to the training prevalence if the classes have equal distribution functions
    (`fallback`). More than two classes: one against the rest, and `distance` is the mean.

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
    >>> from quantshift.quantifiers import SORD
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = SORD().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['distance', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.ONE_AGAINST_REST, smooth=True)
    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    scores_: tuple[Reals, ...]
    functions_: tuple[Reals, ...]

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        members = scored_members(codes, posteriors.shape[1])
        w = np.ones(len(codes)) if weights is None else weights
        scores, functions = [], []
        for column, is_member in zip(matched_columns(posteriors).T, members, strict=True):
            distinct, rank = np.unique(column, return_inverse=True)
            below = [
                np.cumsum(np.bincount(rank[chosen], w[chosen], len(distinct)))
                for chosen in (~is_member, is_member)
            ]
            scores.append(distinct)
            functions.append(np.stack([cumulated / cumulated[-1] for cumulated in below]))
        self.scores_, self.functions_ = tuple(scores), tuple(functions)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return np.ascontiguousarray(matched_columns(posteriors).T)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        matches = [
            _least_areas(row, index, scores, functions, weights)
            for row, scores, functions in zip(
                representation, self.scores_, self.functions_, strict=True
            )
        ]
        shares, areas = (np.stack(column, axis=1) for column in zip(*matches, strict=True))
        fallback = np.asarray(np.isnan(shares).any(axis=1))
        p_hat = normalised_shares(np.where(np.isnan(shares), 0.0, shares), self.prior_)
        p_hat = np.where(fallback[:, np.newaxis], self.prior_, p_hat)
        return p_hat, {"distance": areas.mean(axis=1), "fallback": fallback}


@compiled
def _least_areas(
    pool: Reals, index: Indices, scores: Reals, functions: Reals, weights: Weights | None
) -> tuple[Reals, Reals]:
    """For each sample the weight of the class, NaN if it is not determined, and the area.

    scores: the distinct held-out scores; functions: the distribution functions of the rest and of
    the class at them, (2, n_scores).
    """
    n_samples, size = index.shape
    n_known = len(scores)
    shares, areas = np.empty(n_samples), np.empty(n_samples)
    own, w = np.empty(size), np.ones(size)
    quotients = np.empty(n_known + size)
    masses, room = np.empty(n_known + size), np.empty(n_known + size)
    for i in range(n_samples):
        for j in range(size):
            own[j] = pool[index[i, j]]
        order = np.argsort(own)
        total = float(size)
        if weights is not None:
            total = 0.0
            for j in range(size):
                w[j] = weights[index[i, j]]
                total += w[j]
        n, base = 0, 0.0
        known, new = 0, 0
        rest = member = below = 0.0
        # Merge both sets of scores in ascending order; each gap to the next score is weighted.
        while known < n_known or new < size:
            here = np.inf
            if known < n_known:
                here = scores[known]
            if new < size and own[order[new]] < here:
                here = own[order[new]]
            if known < n_known and scores[known] == here:
                rest, member = functions[0, known], functions[1, known]
                known += 1
            while new < size and own[order[new]] == here:
                below += w[order[new]]
                new += 1
            following = np.inf
            if known < n_known:
                following = scores[known]
            if new < size and own[order[new]] < following:
                following = own[order[new]]
            if following == np.inf:
                break
            gap = following - here
            apart = member - rest
            if apart == 0.0:
                base += gap * abs(below / total - rest)
                continue
            quotients[n] = (below / total - rest) / apart
            masses[n] = abs(apart) * gap
            n += 1
        if n == 0:
            shares[i], areas[i] = np.nan, base
            continue
        share = min(max(_weighted_median(quotients[:n], masses[:n], room), 0.0), 1.0)
        area = base
        for k in range(n):
            area += masses[k] * abs(share - quotients[k])
        shares[i], areas[i] = share, area
    return shares, areas


@compiled
def _weighted_median(values: Reals, masses: Reals, room: Reals) -> float:
    """The value with at most half the mass below and above it; the midpoint if there are two.

    By selection: a pivot divides the remaining values, and the side with half the mass is kept.
    room: a buffer for as many values.
    """
    n = len(values)
    left = np.empty(n)
    for k in range(n):
        room[k], left[k] = values[k], masses[k]
    total = left.sum()
    half = total / 2
    lighter = 0.0
    while True:
        pivot = room[n // 2]
        below = equal = 0.0
        next_above = np.inf
        for k in range(n):
            if room[k] < pivot:
                below += left[k]
            elif room[k] == pivot:
                equal += left[k]
            elif room[k] < next_above:
                next_above = room[k]
        if lighter + below > half + EVEN * total:
            kept = 0
            for k in range(n):
                if room[k] < pivot:
                    room[kept], left[kept] = room[k], left[k]
                    kept += 1
            n = kept
        elif lighter + below + equal < half - EVEN * total and next_above < np.inf:
            kept = 0
            for k in range(n):
                if room[k] > pivot:
                    room[kept], left[kept] = room[k], left[k]
                    kept += 1
            lighter += below + equal
            n = kept
        else:
            break
    low = high = pivot
    if lighter + below >= half - EVEN * total:
        # Exactly half is below: the other end is the largest value below, if there is one.
        largest = -np.inf
        for k in range(len(values)):
            if values[k] < pivot and values[k] > largest:
                largest = values[k]
        low = largest if largest > -np.inf else pivot
    elif lighter + below + equal <= half + EVEN * total:
        smallest = np.inf
        for k in range(len(values)):
            if values[k] > pivot and values[k] < smallest:
                smallest = values[k]
        high = smallest if smallest < np.inf else pivot
    return float((low + high) / 2)
