"""Tests of tables of counts: rows and columns that have nothing to do with each other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

_ALIKE = 1 + 1e-7
"""Tables are as probable as another if they are so to rounding, as in R's fisher.test."""


class ChiSquare(NamedTuple):
    """Pearson's statistic, and its degrees of freedom."""

    statistic: float
    freedom: int

    @property
    def p_value(self) -> float:
        """That of rows and columns being independent."""
        return float(chdtrc(self.freedom, self.statistic)) if self.freedom else 1.0


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
    They follow from that of the most probable one by ratios below 1.

    >>> round(fisher_p_value([[8, 2], [1, 5]]), 6)
    0.034965
    """
    (a, b), (c, d) = np.asarray(table, dtype=np.int64).tolist()
    first, second, drawn = a + b, c + d, a + c
    low, high = max(0, drawn - second), min(first, drawn)
    mode = (first + 1) * (drawn + 1) // (first + second + 2)
    up, down = np.arange(mode, high, dtype=np.float64), np.arange(mode, low, -1, dtype=np.float64)
    above = (first - up) * (drawn - up) / ((up + 1) * (second - drawn + up + 1))
    below = down * (second - drawn + down) / ((first - down + 1) * (drawn - down + 1))
    relative = np.concatenate([np.cumprod(below)[::-1], [1.0], np.cumprod(above)])
    at_most = relative <= relative[a - low] * _ALIKE
    return float(min(relative[at_most].sum() / relative.sum(), 1.0))
