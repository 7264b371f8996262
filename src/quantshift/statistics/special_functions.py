"""Incomplete gamma and beta functions, and the elementary functions that they are made of.

Both distributions are looked at on a scale on which their densities f are log-concave and smooth: a
gamma variable x as log x, a beta variable x as its log-odds. The smaller of the two tails is

    tail = f(v) * (integral of exp(-D(s)) over s > 0),

where D(s) says by how much the logarithm of the density has fallen at a distance s from v, away
from the middle. D is convex with D(0) = 0, so that the integral is smooth and never underflows:
tails keep their relative accuracy down to the smallest numbers, and logarithms of tails below them.
It is found by Gauss-Legendre quadrature up to where D is 40. Where a parameter is small, the tail
towards its end is long on this scale, and a power series with positive terms takes its place (DLMF
8.7.1 and 8.17.8).

Densities are written as Stirling's formula with its remainder (Binet's function, DLMF 5.11.1),
times exp(-deviance). The deviance is a sum of terms u - log(1 + u) or e^u - 1 - u, which are taken
from their series where they are small: nothing large is subtracted from anything large, however
large the parameters are (C. Loader, "Fast and accurate computation of binomial probabilities",
2000).

The functions are of single numbers and call `math`: for the few numbers that an answer needs, that
is faster than arrays are. `distributions` broadcasts them.

References: NIST Digital Library of Mathematical Functions (DLMF), chapters 5 and 8; M. Abramowitz
and I. Stegun, "Handbook of Mathematical Functions", chapters 6 and 26.
"""

from collections.abc import Callable
from functools import lru_cache
from math import exp, expm1, factorial, lgamma, log, log1p, pi, sqrt
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.types import Reals

_SMALL = 10.0
"""Smaller parameters have power series; for larger ones Stirling's is exact to rounding."""

_NEAR_ZERO = 0.1
"""Remainders of smaller numbers are taken from their series."""

_STIRLING = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
"""B_2k / (2k (2k - 1)), k = 7, 6, ..., 1."""

_EXPONENTIAL = tuple(1 / factorial(k) for k in range(11, 1, -1))
_ARTANH = tuple(1 / (2 * k + 3) for k in range(6, -1, -1))

_FAR = 40.0
"""Where D is larger than this, exp(-D) adds nothing to the integral."""

_N_NODES = 40
_NOTHING = 1e-17

Number = TypeVar("Number", float, Reals)


class Tail(NamedTuple):
    """The tail of a distribution that can be computed without a difference.

    log_density: at v, the logarithm of the variable (gamma) or its log-odds (beta); slope: its
    derivative there. ratio: the tail divided by the density. is_lower: which tail it is.
    """

    log_density: float
    slope: float
    ratio: float
    is_lower: bool

    def share(self, lower: bool) -> float:
        """The lower or the upper tail."""
        tail = min(exp(self.log_density) * self.ratio, 1.0)
        return tail if lower == self.is_lower else 1 - tail

    def log_and_ratio(self, lower: bool) -> tuple[float, float]:
        """The logarithm of the lower or the upper tail, and its ratio to the density."""
        if lower == self.is_lower:
            return self.log_density + log(self.ratio), self.ratio
        rest = max(self.share(lower), _NOTHING)
        return log(rest), rest * exp(-self.log_density)


def expit(v: ArrayLike) -> Reals:
    """1 / (1 + exp(-v)), with full relative accuracy.

    >>> expit([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(np.exp(-np.logaddexp(0.0, -np.asarray(v, dtype=np.float64))))


def logit(share: ArrayLike) -> Reals:
    """Log-odds of shares between 0 and 1, both excluded.

    >>> float(logit(0.5))
    0.0
    """
    p = np.asarray(share, dtype=np.float64)
    return np.asarray(np.log(p / (1 - p)))


def x_log_y(x: ArrayLike, y: ArrayLike) -> Reals:
    """x log y, which is 0 where x is, whatever y.

    >>> x_log_y([0.0, 1.0], [0.0, 1.0]).tolist()
    [0.0, 0.0]
    """
    x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    with np.errstate(divide="ignore"):
        return np.asarray(x * np.log(np.where(x == 0, 1.0, y)))


def log_beta(a: float, b: float) -> float:
    """The logarithm of the beta function.

    >>> round(exp(log_beta(0.5, 0.5)), 12) == round(pi, 12)
    True
    """
    n = a + b
    return a * log(a / n) + b * log(b / n) - _log_of_stirling(a, b)


def stirling_remainder(a: float) -> float:
    """log Gamma(a) - (a - 1/2) log a + a - log(2 pi) / 2 (Binet's function)."""
    if a < _SMALL:
        return lgamma(a) - (a - 0.5) * log(a) + a - 0.5 * log(2 * pi)
    return _polynomial(_STIRLING, 1 / (a * a)) / a


def exp_remainder(v: float) -> float:
    """e^v - 1 - v, with full relative accuracy."""
    if abs(v) < _NEAR_ZERO:
        return v * v * _polynomial(_EXPONENTIAL, v)
    return expm1(v) - v


def log_remainder(u: float) -> float:
    """u - log(1 + u), with full relative accuracy.

    With s = u / (2 + u), log(1 + u) = 2 artanh(s) (DLMF 4.6.4 and 4.38.5), and u - 2 s = s u.
    """
    return _log_remainder_near_zero(u) if abs(u) < _NEAR_ZERO else u - log1p(u)


def _log_remainder_near_zero(u: Number) -> Number:
    s = u / (2 + u)
    square = s * s
    return s * (u - 2 * square * _polynomial(_ARTANH, square))


def gamma_tail(a: float, s: float) -> Tail:
    """A tail of the gamma distribution of shape a at x = a e^s."""
    apart = a * expm1(s)
    x = a * exp(s)
    log_density = 0.5 * log(a / (2 * pi)) - stirling_remainder(a) - a * exp_remainder(s)
    if a < _SMALL and x <= max(a, 1.0):
        return Tail(log_density, -apart, _series(a, x, 0.0), True)
    sign = 1.0 if s > 0 else -1.0
    return Tail(log_density, -apart, _gamma_integral(abs(apart), x, sign), s <= 0)


def beta_tail(a: float, b: float, x: float, y: float, log_x: float, log_y: float) -> Tail:
    """A tail of the beta distribution at x = 1 - y, given with their logarithms."""
    n = a + b
    apart = b * x - a * y
    log_density = _log_of_stirling(a, b) - _deviance(a, b, log_x, log_y, apart)
    lower = a < _SMALL and (x <= min(max(a / n, 0.2), 0.8) if b < _SMALL else n * x <= max(a, 1.0))
    if lower:
        return Tail(log_density, -apart, _series(a, n * x, x), True)
    if b < _SMALL and (a < _SMALL or n * y <= max(b, 1.0)):
        return Tail(log_density, -apart, _series(b, n * y, y), False)
    lower = apart <= 0
    near, far, other = (x, y, b) if lower else (y, x, a)
    return Tail(log_density, -apart, _beta_integral(abs(apart), n, other, near, far), lower)


def _log_beta_density(a: float, b: float, x: float, y: float) -> float:
    """log(x^a y^b / B(a, b)), the density of the log-odds, at x = 1 - y."""
    return _log_of_stirling(a, b) - _deviance(a, b, log(x), log(y), b * x - a * y)


def binomial_mass(k: float, n: float, p: float) -> float:
    """The probability of k in n trials; k: a whole number from 0 to n.

    >>> round(binomial_mass(1, 3, 0.5), 6)
    0.375
    """
    if not 0 < p < 1:
        return float(k == (n if p else 0))
    return exp(_log_beta_density(k + 1, n - k + 1, p, 1 - p)) / ((n + 1) * p * (1 - p))


def _log_of_stirling(a: float, b: float) -> float:
    """log(a^a b^b / (n^n B(a, b))), n = a + b."""
    n = a + b
    remainders = stirling_remainder(n) - stirling_remainder(a) - stirling_remainder(b)
    return 0.5 * log(a * (b / n) / (2 * pi)) + remainders


def _deviance(a: float, b: float, log_x: float, log_y: float, apart: float) -> float:
    """a log(a / (n x)) + b log(b / (n y)), where n x - a is `apart`."""
    n, u, v = a + b, apart / a, -apart / b
    of_a = log_remainder(u) if abs(u) < _NEAR_ZERO else u - log_x - log(n / a)
    of_b = log_remainder(v) if abs(v) < _NEAR_ZERO else v - log_y - log(n / b)
    return a * of_a + b * of_b


def _polynomial(coefficients: tuple[float, ...], u: Number) -> Number:
    """By powers of u, the highest first."""
    value = u * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        value = value * u + coefficient
    return value


def _series(a: float, first: float, slope: float) -> float:
    """(1 + f_0 + f_0 f_1 + f_0 f_1 f_2 + ...) / a with f_m = (first + slope m) / (a + 1 + m)."""
    total = term = 1.0
    m = 0
    while term > _NOTHING * total:
        term *= (first + slope * m) / (a + 1 + m)
        total += term
        m += 1
    return total / a


@lru_cache
def _nodes() -> tuple[Reals, Reals]:
    """Nodes and weights of Gauss and Legendre between 0 and 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_N_NODES)
    return (nodes + 1) / 2, weights / 2


def _end(
    slope: float,
    curvature: float,
    fallen: Callable[[float], float],
    steepness: Callable[[float], float],
) -> float:
    """Where D adds nothing any more; slope, curvature: of D at 0, steepness: its derivative."""
    end = 2 * _FAR / (slope + sqrt(slope * slope + 2 * _FAR * curvature))
    for _ in range(3):
        # D is convex: after a step of Newton's method, `end` is beyond the point looked for.
        end -= (fallen(end) - _FAR) / steepness(end)
    return end


def _gamma_integral(slope: float, x: float, sign: float) -> float:
    """D(s) = slope s + x (e^u - 1 - u) with u = sign s."""

    def fallen(s: float) -> float:
        return slope * s + x * exp_remainder(sign * s)

    def steepness(s: float) -> float:
        return slope + sign * x * expm1(sign * s)

    end, (nodes, weights) = _end(slope, x, fallen, steepness), _nodes()
    u = sign * end * nodes
    curved = u * u * _polynomial(_EXPONENTIAL, u) if end < _NEAR_ZERO else np.expm1(u) - u
    return end * float(np.exp(-slope * end * nodes - x * curved) @ weights)


def _beta_integral(slope: float, n: float, other: float, near: float, far: float) -> float:
    """D(s) = n log(1 + far (e^s - 1)) - other s: towards the end at which `near` is 0.

    It is slope s + n (log(1 + w (e^u - 1)) - w u), where w = far and u = s, or w = near and u = -s.
    The smaller w is taken, so that with remainders no more than a factor of 2 is lost.
    """

    def fallen(s: float) -> float:
        return n * log1p(far * expm1(s)) - other * s

    def steepness(s: float) -> float:
        grown = far * exp(s)
        return n * (grown / (near + grown)) - other

    end, (nodes, weights) = _end(slope, n * near * far, fallen, steepness), _nodes()
    w, sign = (far, 1.0) if far <= near else (near, -1.0)
    u = sign * end * nodes
    z = w * np.expm1(u)
    if end < _NEAR_ZERO:
        curved = w * u * u * _polynomial(_EXPONENTIAL, u) - _log_remainder_near_zero(z)
    else:
        curved = np.log1p(z) - w * u
    return end * float(np.exp(-slope * end * nodes - n * curved) @ weights)
