"""Rows of posteriors that sum to one: the compiled check and division of `check_posteriors`."""

import numpy as np

from quantshift.base.compiled import compiled
from quantshift.base.types import Posteriors
from quantshift.classify.rounding import ROUNDING, SUM_TOLERANCE
from quantshift.statistics.numpy_sums import LONGEST_PART, numpy_sum

FEW_CLASSES, MANY_CLASSES = 7, LONGEST_PART
"""numpy sums rows of up to FEW_CLASSES numbers from left to right, and longer ones in eight running
sums; those of more than MANY_CLASSES are split first."""


@compiled
def normalised(p: Posteriors) -> Posteriors:
    """The rows scaled to a sum of one: p itself if they have it; no rows if they are invalid."""
    n_items, n_classes = p.shape
    sums = np.empty(n_items)
    if n_classes <= FEW_CLASSES:
        _set_short_sums(p, sums)
    else:
        for i in range(n_items):
            sums[i] = numpy_sum(p[i])
    fine = exact = True
    rounding = (n_classes - 2) * ROUNDING
    for i in range(n_items):
        away = abs(sums[i] - 1.0)
        fine &= away <= SUM_TOLERANCE
        exact &= away <= rounding
        sums[i] = 1.0 if away <= rounding else sums[i]
    numbers = p.ravel()  # flat loops are vectorised
    for j in range(numbers.size):
        fine &= numbers[j] >= 0.0
    if not fine:
        return p[:0]
    if exact:
        return p
    scaled = np.empty((n_items, n_classes))
    if n_classes == 2:
        for i in range(n_items):
            scaled[i, 0], scaled[i, 1] = sums[i], sums[i]
    else:
        for i in range(n_items):
            for k in range(n_classes):
                scaled[i, k] = sums[i]
    divisors = scaled.ravel()
    for j in range(numbers.size):
        divisors[j] = numbers[j] / divisors[j]
    return scaled


@compiled
def _set_short_sums(p: Posteriors, sums: Posteriors) -> None:
    n_items, n_classes = p.shape
    if n_classes > FEW_CLASSES:
        return  # tells the compiler, which then unrolls the loop below
    for i in range(n_items):
        total = p[i, 0] + p[i, 1]
        for k in range(2, n_classes):
            total += p[i, k]
        sums[i] = total
