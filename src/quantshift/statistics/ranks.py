"""Ranks of numbers."""

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.types import Reals


def average_ranks(values: ArrayLike) -> Reals:
    """Ranks from 1; equal numbers have the mean of theirs.

    >>> average_ranks([3.0, 1.0, 3.0]).tolist()
    [2.5, 1.0, 2.5]
    """
    _, codes, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[codes.ravel()])
