"""Weights of the items of a sample in compiled loops, and how exactly sums over them are known."""

import numpy as np

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals

ROUNDING = 1e-14
"""A sum whose terms cancel to this fraction of their size is treated as zero."""


def array_of_weights(weights: Reals | None) -> Reals:
    """The weights as compiled loops take them: without any, an array of none.

    With `None` numba would compile every loop once more.
    """
    if weights is None:
        return np.empty(0)
    return np.require(weights, np.float64, ["C", "W"])


@compiled
def total_weight(weights: Reals, n_items: int) -> float:
    """The sum of the weights; without any, the number of items."""
    if len(weights) == 0:
        return float(n_items)
    total = 0.0
    for weight in weights:
        total += weight
    return total
