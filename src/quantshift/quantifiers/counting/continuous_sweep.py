"""Continuous Sweep: the mean of adjusted counts over an interval of thresholds, with smooth rates.

On the log-odds scale the held-out scores of each class are assumed to be normal, so that tpr(t)
and fpr(t) are smooth. The estimate is the mean over t of the adjusted counts

    p(t) = (share of the sample at or above t - fpr(t)) / (tpr(t) - fpr(t))

over the interval where tpr - fpr >= p_delta. The share is a sum over items, and so is its integral:
with g(x) the integral of 1 / (tpr - fpr) from the lower end of the interval to x, divided by its
length, the estimate is the mean of g over the sample minus a constant. Under the model it is
unbiased, apart from clipping, and its variance is known: that of g in a sample of prevalence p,

    p var+(g) / n + (1 - p) var-(g) / n,

plus the uncertainty about the four parameters estimated from the held-out items, by the delta
method. The p_delta with the smallest total variance is chosen, at a first estimate of p: the
adjusted count at the threshold with the largest tpr - fpr. It is chosen for a sample with as many
items as were held out, not for the sample's own n, so that repeating all items changes nothing.

Reference: K. Kloos, J. Karch, Q. Meertens, S. Scholtus and M. de Rooij, "Continuous Sweep for
binary quantification learning", 2023 (arXiv 2308.08387).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from quantshift.base.compiled import compiled
from quantshift.base.domains import Seed, Share
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.classify.scores import class_scores, farthest_score
from quantshift.prevalence.weights import Weights, total_of
from quantshift.quantifiers.base.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.base.one_against_rest import (
    normalised_shares,
    scored_members,
    scored_predictions,
)
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.counting.adjusted import SINGULAR

PARTS = np.linspace(0.05, 0.97, 24)
"""The p_delta to choose from, as shares of the largest tpr - fpr."""

NODES = 257
"""Thresholds at which the integrals over an interval are computed; cubic in between."""

NARROWEST = 1e-3
"""Smallest spread of a class, relative to the distance between the means or the larger spread."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """What is known about one class against the rest; arrays are by p_delta.

    best, tpr, fpr: the threshold with the largest tpr - fpr, and the rates there. size: number of
    held-out items. p_delta; low, high: the ends of the interval; g, slope: (n, NODES), the function
    g of the module's docstring and its derivative; offset: the constant. variance: of g among the
    rest and in the class, (n, 2); training: variance due to the parameters of the rest, per
    (1 - p)^2, and of the class, per p^2.
    """

    best: float
    tpr: float
    fpr: float
    size: float
    p_delta: Reals
    low: Reals
    high: Reals
    g: Reals
    slope: Reals
    offset: Reals
    variance: Reals
    training: Reals


class ContinuousSweep(AbstractAggregative):
    """Continuous Sweep: the mean of adjusted counts over thresholds, with normal scores.

    The diagnostics include `p_delta` and `standard_error` (by the analytic variance) of each
    sample; with more than two classes (one against the rest), the smallest and the largest. Falls
    back to CC if no threshold has such a tpr - fpr (`fallback`).

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    p_delta : float, optional
        The smallest tpr - fpr of the thresholds; None chooses it by the analytic variance.
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
    >>> from quantshift.quantifiers import ContinuousSweep
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = ContinuousSweep().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback', 'p_delta', 'standard_error']
    """

    tags: ClassVar[Tags] = replace(
        PRIOR_SHIFT,
        assumption=f"{PRIOR_SHIFT.assumption}, log-odds are normal in each class",
        plain_assumption=f"{PRIOR_SHIFT.plain_assumption}, the scores of each class follow a bell "
        "curve",
        reads=Reading.ONE_AGAINST_REST,
        smooth=True,
    )
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"clipped": "bool", "p_delta": "float", "standard_error": "float", "fallback": "bool"}
    )

    farthest_: float
    sweeps_: tuple[Sweep | None, ...]

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        p_delta: Share | None = None,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.p_delta = p_delta
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self.farthest_ = farthest_score(total_of(weights, len(codes)))
        scores = class_scores(posteriors, self.farthest_).T
        w = np.ones(len(codes)) if weights is None else weights
        self.sweeps_ = tuple(
            _sweep(row, is_member, w, self.p_delta)
            for row, is_member in zip(
                scores, scored_members(codes, posteriors.shape[1]), strict=True
            )
        )

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        scores = class_scores(posteriors, self.farthest_).T
        counted = scored_predictions(posteriors)
        has_no_sweep = np.array([sweep is None for sweep in self.sweeps_])[:, np.newaxis]
        return np.ascontiguousarray(np.where(has_no_sweep, counted, scores))

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        shares = np.empty((len(index), len(representation)))
        p_delta, error = np.ones(len(index)), np.zeros(len(index))
        for k, (row, sweep) in enumerate(zip(representation, self.sweeps_, strict=True)):
            if sweep is None:
                w = np.ones(len(row)) if weights is None else weights
                shares[:, k] = (row * w)[index].sum(axis=1) / w[index].sum(axis=1)
                p_delta[:] = 0.0
                continue
            shares[:, k], chosen, variance = _means(
                row,
                index,
                weights,
                (sweep.best, sweep.tpr, sweep.fpr, sweep.size),
                sweep.low,
                sweep.high,
                sweep.g,
                sweep.slope,
                sweep.offset,
                sweep.variance,
                sweep.training,
            )
            p_delta = np.minimum(p_delta, sweep.p_delta[chosen])
            error = np.maximum(error, np.sqrt(variance))
        inside = np.clip(shares, 0.0, 1.0)
        return normalised_shares(inside, self.prior_), {
            "clipped": np.asarray((inside != shares).any(axis=1)),
            "p_delta": p_delta,
            "standard_error": error,
            "fallback": np.full(len(index), any(sweep is None for sweep in self.sweeps_)),
        }


def _sweep(
    scores: Reals, is_member: NDArray[np.bool_], weights: Weights, p_delta: float | None
) -> Sweep | None:
    """The sweep of a class; None if no threshold separates it from the rest well enough."""
    means, spreads, sizes = np.empty(2), np.empty(2), np.empty(2)
    for side, chosen in enumerate((~is_member, is_member)):
        x, w = scores[chosen], weights[chosen]
        sizes[side] = w.sum()
        means[side] = w @ x / sizes[side]
        spreads[side] = np.sqrt(w @ (x - means[side]) ** 2 / sizes[side])
    smallest = NARROWEST * max(abs(means[1] - means[0]), spreads.max())
    return normal_sweep(means, np.maximum(spreads, max(smallest, SINGULAR)), sizes, p_delta)


@dataclass(frozen=True, eq=False)
class _NormalScores:
    """Normal scores of the rest and of the class, (2,) each."""

    means: Reals
    spreads: Reals

    def rates(self, t: Reals) -> Reals:
        """The shares of both that have a score above a threshold."""
        sides = zip(self.means, self.spreads, strict=True)
        return np.stack([ndtr((mean - t) / spread) for mean, spread in sides])

    def densities(self, t: Reals) -> Reals:
        """The densities of both at a score."""
        z = [(t - mean) / spread for mean, spread in zip(self.means, self.spreads, strict=True)]
        scale = np.sqrt(2 * np.pi) * self.spreads
        return np.stack([np.exp(-(z[side] ** 2) / 2) / scale[side] for side in (0, 1)])

    def separation(self, t: Reals) -> Reals:
        """The share of the class above a threshold, minus that of the rest."""
        fpr, tpr = self.rates(t)
        return np.asarray(tpr - fpr)


def normal_sweep(
    means: Reals, spreads: Reals, sizes: Reals, p_delta: float | None = None
) -> Sweep | None:
    """The sweep for normal scores: mean, spread and number, each for the rest and the class."""
    scores = _NormalScores(means, spreads)
    crossings = _crossings(means, spreads)
    best = float(crossings[scores.separation(crossings).argmax()])
    fpr, tpr = scores.rates(np.array(best))
    largest = float(tpr - fpr)
    p_deltas = PARTS * largest if p_delta is None else np.array([p_delta])
    if largest <= max(SINGULAR, p_deltas.min()):
        return None
    beyond = 40 * spreads.sum() + abs(means[1] - means[0])
    low, high = (
        _where(scores.separation, p_deltas, best, best + side * beyond) for side in (-1, 1)
    )
    nodes = np.linspace(low, high, NODES, axis=1)
    fpr_there, tpr_there = scores.rates(nodes)
    rest, member = scores.densities(nodes)
    apart, length, step = tpr_there - fpr_there, high - low, (high - low) / (NODES - 1)
    slope = 1 / apart
    # The trapezoidal rule, corrected by the derivatives at the ends of each cell.
    curved = -(rest - member) / apart**2
    cells = step[:, np.newaxis] / 2 * (slope[:, 1:] + slope[:, :-1])
    cells -= step[:, np.newaxis] ** 2 / 12 * (curved[:, 1:] - curved[:, :-1])
    g = np.concatenate([np.zeros((len(p_deltas), 1)), np.cumsum(cells, axis=1)], axis=1)
    simpson = np.resize([2.0, 4.0], NODES) / 3
    simpson[[0, -1]] = 1 / 3

    def mean_over(values: Reals) -> Reals:
        """Mean over the interval."""
        return np.asarray(values @ simpson / (NODES - 1))

    variance, training = np.empty((len(p_deltas), 2)), np.empty((len(p_deltas), 2))
    for side, (rate, density) in enumerate(((fpr_there, rest), (tpr_there, member))):
        first = mean_over(rate / apart)
        second = 2 * mean_over(g * rate / apart) / length
        variance[:, side] = np.maximum(second - first**2, 0.0)
        squared = spreads[side] ** 2
        by_mean = mean_over(density / apart)
        by_variance = mean_over(density * (nodes - means[side]) / (2 * squared) / apart)
        training[:, side] = (squared * by_mean**2 + 2 * squared**2 * by_variance**2) / sizes[side]
    per_length = 1 / length[:, np.newaxis]
    return Sweep(
        best,
        float(tpr),
        float(fpr),
        float(sizes.sum()),
        p_deltas,
        low,
        high,
        g * per_length,
        slope * per_length,
        mean_over(fpr_there / apart),
        variance,
        training,
    )


def _crossings(means: Reals, spreads: Reals) -> Reals:
    """Where the two densities are equal, which is where tpr - fpr has its extrema."""
    inverse = 1 / spreads**2
    square = (inverse[0] - inverse[1]) / 2
    linear = means[1] * inverse[1] - means[0] * inverse[0]
    constant = (means[0] ** 2 * inverse[0] - means[1] ** 2 * inverse[1]) / 2
    constant += np.log(spreads[0] / spreads[1])
    if abs(square) <= 1e-9 * inverse.max():
        return np.array([-constant / linear if linear else means.mean()])
    root = np.sqrt(max(linear**2 - 4 * square * constant, 0.0))
    large = -(linear + np.copysign(root, linear)) / 2
    return np.array([large / square, constant / large if large else 0.0])


def _where(separation: Any, target: Reals, inside: float, outside: float) -> Reals:
    """The point between two thresholds where tpr - fpr falls to the target, by bisection."""
    near, far = np.full(len(target), inside), np.full(len(target), outside)
    for _ in range(70):
        middle = (near + far) / 2
        enough = separation(middle) >= target
        near, far = np.where(enough, middle, near), np.where(enough, far, middle)
    return near


@compiled
def _means(
    scores: Reals,
    index: Indices,
    weights: Weights | None,
    first: tuple[float, float, float, float],
    low: Reals,
    high: Reals,
    g: Reals,
    slope: Reals,
    offset: Reals,
    variance: Reals,
    training: Reals,
) -> tuple[Reals, Indices, Reals]:
    """Unclipped estimates of each sample, the position of their p_delta, and their variances."""
    n_samples, size = index.shape
    shares, chosen = np.empty(n_samples), np.empty(n_samples, dtype=np.int64)
    errors = np.empty(n_samples)
    best, tpr, fpr, held_out = first
    last = g.shape[1] - 1
    for i in range(n_samples):
        above = total = 0.0
        for j in range(size):
            w = 1.0 if weights is None else weights[index[i, j]]
            total += w
            if scores[index[i, j]] >= best:
                above += w
        p = min(max((above / total - fpr) / (tpr - fpr), 0.0), 1.0)
        least, k = np.inf, 0
        for m in range(len(low)):
            own = p * variance[m, 1] + (1 - p) * variance[m, 0]
            of_training = p * p * training[m, 1] + (1 - p) * (1 - p) * training[m, 0]
            if own / held_out + of_training < least:
                least, k, errors[i] = own / held_out + of_training, m, own / total + of_training
        step = (high[k] - low[k]) / last
        summed = 0.0
        for j in range(size):
            w = 1.0 if weights is None else weights[index[i, j]]
            x = scores[index[i, j]]
            if x <= low[k]:
                continue
            if x >= high[k]:
                summed += w * g[k, last]
                continue
            cell = min(int((x - low[k]) / step), last - 1)
            s = (x - low[k]) / step - cell
            rest = 1.0 - s
            summed += w * (
                (1 + 2 * s) * rest * rest * g[k, cell]
                + s * s * (3 - 2 * s) * g[k, cell + 1]
                + step * s * rest * (rest * slope[k, cell] - s * slope[k, cell + 1])
            )
        shares[i], chosen[i] = summed / total - offset[k], k
    return shares, chosen, errors
