"""Compiled sums have the bits of numpy's."""

import numpy as np
import pytest

from quantshift.statistics.numpy_sums import LONGEST_PART, numpy_sum, pairwise_plan


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 15, 16, 17, 100, 127, LONGEST_PART])
def test_a_sum_has_the_bits_of_numpys(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        numbers = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n)
        assert numpy_sum(numbers) == numbers.sum()


@pytest.mark.parametrize("n", [1, 128, 129, 256, 1000, 4099])
def test_parts_of_a_plan_are_added_like_numpys(n):
    numbers = np.random.default_rng(n).normal(size=n) * 1e3
    open_sums, start = [], 0
    for stop, n_earlier in pairwise_plan(n):
        total = numpy_sum(numbers[start:stop])
        for _ in range(n_earlier):
            total = open_sums.pop() + total
        open_sums.append(total)
        start = stop
    assert open_sums == [numbers.sum()]
