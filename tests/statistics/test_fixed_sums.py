"""Sums in the order that is written down, whatever surrounds them."""

import math
from fractions import Fraction

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from quantshift.statistics.fixed_sums import LANES, VECTORS, multiply_add, sum_of, sum_of_products

WIDTH = LANES * VECTORS


@numba.njit
def products(one, other, n):
    return sum_of_products(one, other, n)


@numba.njit
def total(values, n):
    return sum_of(values, n)


@numba.njit
def fused(a, b, c):
    return multiply_add(a, b, c)


def exactly_fused(a, b, c):
    return float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))


def in_pairs(values):
    while len(values) > 1:
        values = [a + b for a, b in zip(values[::2], values[1::2], strict=True)]
    return values[0]


def as_written(one, other, n):
    """The same sum in exact steps: running sums, pairs of vectors, pairs of lanes, the rest."""
    running, whole = np.zeros(WIDTH), n // WIDTH * WIDTH
    for j in range(whole):
        running[j % WIDTH] = exactly_fused(one[j], other[j], running[j % WIDTH])
    sums = in_pairs(list(in_pairs(list(running.reshape(VECTORS, LANES)))))
    for j in range(whole, n):
        sums = exactly_fused(one[j], other[j], sums)
    return sums


@pytest.mark.parametrize("n", [0, 1, 7, WIDTH - 1, WIDTH, WIDTH + 1, 5 * WIDTH + 3])
def test_sums_have_the_bits_of_the_order_that_is_written_down(n):
    rng = np.random.default_rng(n)
    one, other = rng.normal(size=(2, n + 2)) * np.exp(rng.normal(0.0, 5.0, (2, n + 2)))
    assert products(one, other, n) == as_written(one, other, n)
    assert total(one, n) == as_written(one, np.ones_like(one), n)
    assert products(one, other, n) == pytest.approx(math.fsum(one[:n] * other[:n]), rel=1e-9)


def test_a_product_and_a_sum_are_rounded_once():
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    assert fused(a, b, -1.0) == -(2.0**-60) != a * b - 1.0


def test_infinity_and_nan_pass_through():
    assert products(np.array([np.inf, 1.0]), np.ones(2), 2) == np.inf
    assert math.isnan(products(np.array([np.nan] * WIDTH), np.ones(WIDTH), WIDTH))


@pytest.mark.parametrize("array", [np.ones((9, 2))[:, 0], np.arange(9)])
def test_other_arrays_are_refused_at_compilation(array):
    with pytest.raises(TypingError):
        total(array, 9)
