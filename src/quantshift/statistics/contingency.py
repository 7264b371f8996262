"""Tests of tables of counts: rows and columns that have nothing to do with each other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from quantshift.statistics.distributions import chi_square_above
from quantshift.statistics.special_functions import binomial_mass

_ALIKE = 1 + 1e-7
"""Tables are as probable as another if they are so to rounding, as in R's fisher.test."""


class ChiSquare(NamedTuple):
    """Pearson's statistic, and its degrees of freedom."""

    statistic: float
    freedom: int

    @property
    def p_value(self) -> float:
        """That of rows and columns being independent."""
        return float(chi_square_above(self.statistic, self.freedom)) if self.freedom else 1.0


def chi_square(table: ArrayLike) -> ChiSquare:
    """Pearson's test, without a correction; every row and every column must have a count.

    >>> found = chi_square([[10, 20], [20, 10]])
    >>> round(found.statistic, 6), found.freedom, round(found.p_value, 6)
    (6.666667, 1, 0.009823)
    """
    counts = np.asarray(table, dtype=np.float64)
    rows, columns = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    expected = rows * columns / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return ChiSquare(statistic, (counts.shape[0] - 1) * (counts.shape[1] - 1))


def fisher_p_value(table: ArrayLike) -> float:
    """Fisher's exact test of a table of two rows and two columns, two-sided.

    The sum of the probabilities of all tables with the same margins that are at most as probable.
    That of one table is a product of three binomial probabilities (C. Loader, 2000), those of the
    next ones follow by ratios below 1.

    >>> round(fisher_p_value([[8, 2], [1, 5]]), 6)
    0.034965
    """
    (a, b), (c, d) = np.asarray(table, dtype=np.int64).tolist()
    first, second, drawn = a + b, c + d, a + c
    n = first + second
    low, high = max(0, drawn - second), min(first, drawn)
    if low == high:
        return 1.0
    share = drawn / n
    at_all = binomial_mass(drawn, n, share)

    def probability(k: int) -> float:
        of_both = binomial_mass(k, first, share) * binomial_mass(drawn - k, second, share)
        return of_both / at_all

    def beyond(k: int, step: int) -> float:
        """From k on, away from the mode."""
        m = np.arange(k, high if step > 0 else low, step, dtype=np.float64)
        up = (first - m) * (drawn - m), (m + 1) * (second - drawn + m + 1)
        down = m * (second - drawn + m), (first - m + 1) * (drawn - m + 1)
        above, below = up if step > 0 else down
        return probability(k) * (1 + float(np.cumprod(above / below).sum()))

    mode = (first + 1) * (drawn + 1) // (n + 2)
    step = 1 if a >= mode else -1
    limit = probability(a) * _ALIKE
    # On the other side of the mode, the nearest table that is as improbable.
    end = low if step > 0 else high
    if probability(end) > limit:
        return min(beyond(a, step), 1.0)
    near, far = mode, end
    while abs(far - near) > 1:
        middle = (near + far) // 2
        near, far = (near, middle) if probability(middle) <= limit else (middle, far)
    if probability(near) <= limit:
        return 1.0
    return min(beyond(a, step) + beyond(far, -step), 1.0)
