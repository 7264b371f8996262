"""Rows of posteriors that sum to one: the compiled check and division of `check_posteriors`."""

import numpy as np

from quantshift.base.compiled import compiled
from quantshift.base.types import Posteriors, Reals
from quantshift.classify.rounding import ROUNDING, SUM_TOLERANCE
from quantshift.statistics.numpy_sums import LONGEST_PART, numpy_sum

FEW_CLASSES, MANY_CLASSES = 7, LONGEST_PART
"""numpy sums rows of up to FEW_CLASSES numbers from left to right, and longer ones in eight running
sums; those of more than MANY_CLASSES are split first."""

_INVALID, _UNCHANGED, _SCALED = 0, 1, 2


def normalised(p: Posteriors) -> Posteriors | None:
    """The rows scaled to a sum of one: p itself if they have it; None if they are invalid."""
    n_items, n_classes = p.shape
    sums, scaled = np.empty(n_items), np.empty(p.shape)
    numbers = p.ravel()
    if n_classes <= FEW_CLASSES:
        _set_short_sums(numbers, n_classes, sums)
    else:
        _set_long_sums(numbers, n_classes, sums)
    outcome = _scale(numbers, n_classes, sums, scaled.ravel())
    if outcome == _SCALED:
        return scaled
    return p if outcome == _UNCHANGED else None


@compiled
def _scale(numbers: Reals, n_classes: int, sums: Reals, scaled: Reals) -> int:
    """Set `scaled` if the rows are valid and their sums are not one up to rounding; which it is."""
    fine, exact = True, True
    rounding = (n_classes - 2) * ROUNDING
    for i in range(len(sums)):
        away = abs(sums[i] - 1.0)
        fine &= away <= SUM_TOLERANCE
        exact &= away <= rounding
        sums[i] = 1.0 if away <= rounding else sums[i]
    for j in range(len(numbers)):
        fine &= numbers[j] >= 0.0
    if not fine:
        return _INVALID
    if exact:
        return _UNCHANGED
    for i in range(len(sums)):
        for k in range(n_classes):
            scaled[i * n_classes + k] = sums[i]
    for j in range(len(numbers)):  # a flat loop is vectorised
        scaled[j] = numbers[j] / scaled[j]
    return _SCALED


@compiled
def _set_short_sums(numbers: Reals, n_classes: int, sums: Reals) -> None:
    if n_classes > FEW_CLASSES:
        return  # tells the compiler, which then unrolls the inner loop
    for i in range(len(sums)):
        first = i * n_classes
        total = numbers[first] + numbers[first + 1]
        for k in range(2, n_classes):
            total += numbers[first + k]
        sums[i] = total


@compiled
def _set_long_sums(numbers: Reals, n_classes: int, sums: Reals) -> None:
    for i in range(len(sums)):
        sums[i] = numpy_sum(numbers[i * n_classes : (i + 1) * n_classes])
