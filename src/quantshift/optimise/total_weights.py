"""The total weight of the items of a sample, and how exactly sums over them are known."""

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals

ROUNDING = 1e-14
"""A sum whose terms cancel to this fraction of their size is treated as zero."""


@compiled
def total_weight(weights: Reals | None, n_items: int) -> float:
    """The sum of the weights; without any, the number of items."""
    return float(n_items) if weights is None else weights.sum()
