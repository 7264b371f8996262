"""Compiled arithmetic of the batched logistic regression, with sums in a fixed order.

Nothing here re-associates floating-point sums: the numbers of a column do not depend on the other
columns of the table, on its width or on the width of the processor's vectors.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01  # 32 leading bits: k times it is exact
_LN2_LOW = 1.90821492927058770002e-10
_ROUNDER = 1.5 * 2.0**52
_TAYLOR = tuple(1.0 / math.factorial(j) for j in range(13))


@compiled
def dot(a: Reals, b: Reals) -> float:
    """`a @ b`."""
    # Eight partial sums in a fixed order: as fast as a re-associated loop, but deterministic.
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = len(a) // 8 * 8
    for i in range(0, whole, 8):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        s4 += a[i + 4] * b[i + 4]
        s5 += a[i + 5] * b[i + 5]
        s6 += a[i + 6] * b[i + 6]
        s7 += a[i + 7] * b[i + 7]
    for i in range(whole, len(a)):
        s0 += a[i] * b[i]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@compiled
def sum_up(a: Reals) -> float:
    """`a.sum()`."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    whole = len(a) // 4 * 4
    for i in range(0, whole, 4):
        s0 += a[i]
        s1 += a[i + 1]
        s2 += a[i + 2]
        s3 += a[i + 3]
    for i in range(whole, len(a)):
        s0 += a[i]
    return (s0 + s1) + (s2 + s3)


@compiled
def small_exponentials(scores: Reals, intercept: float, out: Reals) -> None:
    """`out = exp(-|scores + intercept|)`, accurate to rounding down to exp(-700)."""
    # 2^k e^r with |r| <= log(2)/2 and a Taylor polynomial. Unlike calls of a C library in a loop,
    # it uses vector instructions, and gives the same bits on every machine.
    power = np.empty(len(scores))
    bits = power.view(np.int64)
    for i in range(len(scores)):
        x = -abs(scores[i] + intercept)
        x = -700.0 if x < -700.0 else x
        # Adding 1.5 * 2^52 rounds to an integer, which is in the low bits of the sum.
        power[i] = x * _LOG2_E + _ROUNDER
        k = power[i] - _ROUNDER
        r = (x - k * _LN2_HIGH) - k * _LN2_LOW
        series = _TAYLOR[12]
        for j in range(11, -1, -1):
            series = series * r + _TAYLOR[j]
        out[i] = series
    for i in range(len(scores)):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(len(scores)):
        out[i] *= power[i]


@compiled
def pack(vectors: Reals, chosen: NDArray[np.int64], out: Reals) -> None:
    """The chosen vectors as columns; the remaining columns are zero."""
    n_chosen = len(chosen)
    for i in range(out.shape[0]):
        for position in range(n_chosen):
            out[i, position] = vectors[chosen[position], i]
        for position in range(n_chosen, out.shape[1]):
            out[i, position] = 0.0


@compiled
def unpack(table: Reals, chosen: NDArray[np.int64], further: int, out: Reals) -> None:
    """Undo `pack`, each column to the vector that many `further` on."""
    for i in range(table.shape[0]):
        for position in range(len(chosen)):
            out[chosen[position] + further, i] = table[i, position]
