"""Sums in the order in which numpy adds, so that compiled loops give the same bits.

numpy adds fewer than eight numbers one after the other, up to 128 in eight running sums, and halves
anything longer, down to parts of at most 128.
"""

from functools import lru_cache

import numpy as np

from quantshift.base.compiled import compiled_inline
from quantshift.base.types import Indices, Reals

LONGEST_PART = 128
"""The most numbers that numpy adds in one go."""


@compiled_inline
def numpy_sum(a: Reals) -> float:
    """The sum of at most 128 numbers."""
    n = len(a)
    if n < 8:
        few = 0.0
        for i in range(n):
            few += a[i]
        return few
    s0, s1, s2, s3, s4, s5, s6, s7 = a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
    whole = n // 8 * 8
    for i in range(8, whole, 8):
        s0 += a[i]
        s1 += a[i + 1]
        s2 += a[i + 2]
        s3 += a[i + 3]
        s4 += a[i + 4]
        s5 += a[i + 5]
        s6 += a[i + 6]
        s7 += a[i + 7]
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for i in range(whole, n):
        total += a[i]
    return float(total)


@lru_cache(maxsize=64)
def pairwise_plan(size: int) -> Indices:
    """The order in which numpy adds `size` numbers: halves, down to parts of at most 128.

    For each part, which gets eight running sums: its end, and how many sums of earlier parts are
    added to its own.
    """
    parts: list[list[int]] = []

    def split(start: int, length: int) -> None:
        if length <= LONGEST_PART:
            parts.append([start + length, 0])
            return
        half = length // 2
        half -= half % 8
        split(start, half)
        split(start + half, length - half)
        parts[-1][1] += 1

    split(0, size)
    return np.array(parts, dtype=np.int64)
