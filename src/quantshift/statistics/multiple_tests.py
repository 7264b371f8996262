"""Many tests or intervals at once: p-values and levels adjusted for their number."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def holm(p_values: Sequence[float] | NDArray[np.float64]) -> list[float]:
    """Step-down adjustment (S. Holm, Scandinavian Journal of Statistics 6, 1979).

    >>> holm([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return [float(value) for value in adjusted]


def level_for_all(level: float, n_intervals: int) -> float:
    """The level of each interval at which all of them hold at once (Bonferroni).

    >>> round(level_for_all(0.95, 5), 6)
    0.99
    """
    return 1 - (1 - level) / n_intervals
