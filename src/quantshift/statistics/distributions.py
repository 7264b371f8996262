"""Tails and quantiles of the distributions that rates and tests of counts need, by numpy alone.

SciPy has all of them, and is larger than everything else that `judge` needs together. The tails are
those of `special_functions`: relative errors are about 1e-13, also of tails of 1e-300, and at most
2e-11 where one parameter of a beta variable is near 1e-3. A quantile solves log(tail) = log(p) for
the logarithm of the variable (gamma) or for its log-odds (beta) by Halley's method, for the smaller
tail. Logarithms of tails are concave on these scales, so the search converges from anywhere, and in
two or three steps from the usual approximations (Abramowitz and Stegun 26.4.17 and 26.5.22). The
others follow from these:

    chi-square   half of it is a gamma variable of shape freedom / 2 (26.4.19)
    Student's t  freedom / (freedom + t^2) is a beta variable (26.7.1)
    F            so is freedom_2 / (freedom_2 + freedom_1 F) (26.6.2)
    binomial     P(X <= k) = I_(1-p)(n - k, k + 1) (26.5.24)
    Pearson III  a gamma variable of shape 4 / skewness^2, standardised

All functions broadcast their arguments and return arrays. Parameters must be positive; a p that is
not between 0 and 1 has no quantile (NaN).
"""

import math
from collections.abc import Callable
from functools import wraps
from math import exp, expm1, inf, lgamma, log, log1p, nan, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.types import Reals
from quantshift.statistics.special_functions import (
    Tail,
    beta_tail,
    binomial_mass,
    gamma_tail,
    log_beta,
)

_NEARLY = 3e-6
"""Halley's method cubes an error of this size."""

_MOST_STEPS = 100

_ALMOST_NORMAL = 1e-8
"""A skewness whose square is nothing."""

_LARGEST_LOGARITHM = 700.0
"""That of the largest numbers, nearly."""


def _broadcasting(function: Callable[..., float]) -> Callable[..., Reals]:
    """A function of numbers, for arrays whose shapes broadcast; NaN if a number is NaN."""

    @wraps(function)
    def broadcast(*arguments: ArrayLike) -> Reals:
        arrays = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in arguments))
        rows = zip(*(each.ravel().tolist() for each in arrays), strict=True)
        values = [nan if any(each != each for each in row) else function(*row) for row in rows]
        return np.array(values, dtype=np.float64).reshape(arrays[0].shape)

    return broadcast


@_broadcasting
def normal_below(z: float) -> float:
    """P(Z < z) of the standard normal distribution.

    >>> normal_below([-np.inf, 0.0]).tolist()
    [0.0, 0.5]
    """
    return 0.5 * math.erfc(-z / sqrt(2))


@_broadcasting
def normal_above(z: float) -> float:
    """P(Z > z) of the standard normal distribution.

    >>> float(normal_above(0.0))
    0.5
    """
    return 0.5 * math.erfc(z / sqrt(2))


@_broadcasting
def normal_quantile(p: float) -> float:
    """The z with P(Z < z) = p.

    >>> round(float(normal_quantile(0.975)), 6)
    1.959964
    """
    return _normal_quantile(p)


@_broadcasting
def chi_square_above(statistic: float, freedom: float) -> float:
    """P(X > statistic), by the degrees of freedom.

    >>> round(float(chi_square_above(3.841459, 1)), 6)
    0.05
    """
    if not 0 < statistic < 1e300:
        return float(statistic <= 0)
    apart = (statistic - freedom) / freedom
    s = log1p(apart) if abs(apart) < 0.5 else log(statistic / freedom)
    return gamma_tail(freedom / 2, s).share(lower=False)


@_broadcasting
def pearson3_quantile(p: float, skewness: float) -> float:
    """Quantiles of the Pearson type III distribution of mean 0 and variance 1, by its skewness.

    >>> pearson3_quantile(0.975, [0.0, 2.0]).round(6).tolist()
    [1.959964, 2.688879]
    """
    if skewness < 0:
        # Not 1 - p, which would round a small p away.
        return -_right_skewed(1 - p, p, -skewness)
    return _right_skewed(p, 1 - p, skewness)


@_broadcasting
def beta_quantile(p: float, a: float, b: float) -> float:
    """Quantiles of beta distributions.

    >>> beta_quantile([0.0, 0.25, 1.0], 1, 1).round(12).tolist()
    [0.0, 0.25, 1.0]
    """
    if not 0 < p < 1:
        return p if p in (0, 1) else nan
    return exp(_log_expit(_beta_log_odds(p, 1 - p, a, b)))


@_broadcasting
def student_above(t: float, freedom: float) -> float:
    """P(T > t) of Student's t.

    >>> round(float(student_above(1.0, 1)), 6)
    0.25
    """
    if t < 0:
        return 1 - _student_above(-t, freedom)
    return _student_above(t, freedom)


@_broadcasting
def student_quantile(p: float, freedom: float) -> float:
    """Quantiles of Student's t; of infinite degrees of freedom, those of the normal distribution.

    >>> round(float(student_quantile(0.75, 1)), 12)
    1.0
    """
    if not 0 < p < 1 or p == 0.5 or freedom == inf:
        return _normal_quantile(p)
    outer, inner = 2 * min(p, 1 - p), 2 * abs(p - 0.5)
    log_t = (log(freedom) - _beta_log_odds(outer, inner, freedom / 2, 0.5)) / 2
    t = exp(log_t) if log_t < _LARGEST_LOGARITHM else inf
    return -t if p < 0.5 else t


@_broadcasting
def f_above(ratio: float, freedom_1: float, freedom_2: float) -> float:
    """P(F > ratio) of the F distribution.

    >>> round(float(f_above(1.0, 3, 3)), 6)
    0.5
    """
    if ratio <= 0 or ratio == inf:
        return float(ratio <= 0)
    scaled = freedom_1 / freedom_2 * ratio
    return _beta_share(1 / (1 + scaled), scaled / (1 + scaled), freedom_2 / 2, freedom_1 / 2)


@_broadcasting
def binomial_below(k: float, n: float, p: float) -> float:
    """P(X <= k) of n trials with probability p.

    >>> round(float(binomial_below(1, 3, 0.5)), 6)
    0.5
    """
    whole = math.floor(k)
    return _beta_share(1 - p, p, n - whole, whole + 1) if 0 <= whole < n else float(whole >= n)


@_broadcasting
def binomial_above(k: float, n: float, p: float) -> float:
    """P(X > k) of n trials with probability p.

    >>> round(float(binomial_above(2, 3, 0.5)), 6)
    0.125
    """
    whole = math.floor(k)
    return _beta_share(p, 1 - p, whole + 1, n - whole) if 0 <= whole < n else float(whole < 0)


@_broadcasting
def binomial_probability(k: float, n: float, p: float) -> float:
    """P(X = k) of n trials with probability p; k: a whole number from 0 to n.

    >>> round(float(binomial_probability(1, 3, 0.5)), 6)
    0.375
    """
    return binomial_mass(k, n, p)


def _normal_quantile(p: float) -> float:
    """By algorithm AS 241, in Python's `statistics`, and a step of Newton's for its last bits."""
    if not 0 < p < 1:
        return {0.0: -inf, 1.0: inf}.get(p, nan)
    if p > 0.5:
        return -_normal_quantile(1 - p)
    z = NormalDist().inv_cdf(p)
    return z - (0.5 * math.erfc(-z / sqrt(2)) / p - 1) * p * sqrt(2 * math.pi) * exp(z * z / 2)


def _right_skewed(below: float, above: float, skewness: float) -> float:
    z = _normal_quantile(below) if below < above else -_normal_quantile(above)
    if skewness < _ALMOST_NORMAL or not 0 < above < 1:
        return -2 / skewness if skewness and below == 0 else z + skewness * (z * z - 1) / 6
    a = 4 / skewness**2
    root = 1 - 1 / (9 * a) + z / (3 * sqrt(a))
    start = 3 * log(root) if root > 0.1 else -inf
    if a < 1:
        # The law x^a / Gamma(a + 1) of small x, never below the lower tail.
        start = max(start, (log1p(-above) + lgamma(a + 1)) / a - log(a))
    start = max(start, -_LARGEST_LOGARITHM)
    return sqrt(a) * expm1(_solved(lambda s: gamma_tail(a, s), below, above, start))


def _student_above(t: float, freedom: float) -> float:
    """Of t that is not negative."""
    if t in (0, inf) or freedom == inf:
        return 0.5 * math.erfc(t / sqrt(2))
    if t * t == inf:
        log_x = log(freedom) - 2 * log(t)
        return beta_tail(freedom / 2, 0.5, exp(log_x), 1.0, log_x, 0.0).share(lower=True) / 2
    total = freedom + t * t
    return _beta_share(freedom / total, t * t / total, freedom / 2, 0.5) / 2


def _log_expit(v: float) -> float:
    return -log1p(exp(-v)) if v > 0 else v - log1p(exp(v))


def _beta_share(x: float, y: float, a: float, b: float) -> float:
    """The lower tail at x = 1 - y."""
    if x <= 0 or y <= 0:
        return float(y <= 0)
    return beta_tail(a, b, x, y, log(x), log(y)).share(lower=True)


def _beta_log_odds(below: float, above: float, a: float, b: float) -> float:
    """The log-odds at which the tails are `below` and `above`."""
    if below > above:
        return -_beta_log_odds(above, below, b, a)

    def tail(v: float) -> Tail:
        log_x, log_y = _log_expit(v), _log_expit(-v)
        return beta_tail(a, b, exp(log_x), exp(log_y), log_x, log_y)

    z = _normal_quantile(below)
    start = log(a / b) + z * sqrt(1 / a + 1 / b)
    if min(a, b) > 1:
        inverse_a, inverse_b = 1 / (2 * a - 1), 1 / (2 * b - 1)
        h, c = 2 / (inverse_a + inverse_b), (z * z - 3) / 6
        if h + c > 0:
            w = z * sqrt(h + c) / h + (inverse_b - inverse_a) * (c + 5 / 6 - 2 / (3 * h))
            start = log(a / b) + 2 * w
    # The law x^a / (a B(a, b)) of small x, never below the tail.
    start = max(start, (log(below) + log(a) + log_beta(a, b)) / a)
    return _solved(tail, below, above, start)


def _solved(tail: Callable[[float], Tail], below: float, above: float, start: float) -> float:
    """Where the tails are `below` and `above`."""
    lower = below <= above
    v, sign, log_target = start, 1.0 if lower else -1.0, log(min(below, above))
    for _ in range(_MOST_STEPS):
        here = tail(v)
        log_tail, ratio = here.log_and_ratio(lower)
        off = log_target - log_tail
        newton = off * ratio
        # The second derivative of log(tail), divided by the first one.
        bend = sign * here.slope - 1 / ratio
        v = min(v + sign * newton / max(1 + newton * bend / 2, 0.5), _LARGEST_LOGARITHM)
        if abs(off) < _NEARLY:
            break
    return v
