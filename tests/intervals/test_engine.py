"""Sizes that samples share when their estimates at known prevalences are simulated."""

import numpy as np

from quantshift.intervals.engine import SMALL, in_steps


def test_sizes_below_thirty_are_kept_and_larger_ones_rounded_down_to_a_series():
    assert SMALL == 30
    sizes = np.array([1, 17, 29, 30, 59, 60, 61, 119, 120, 1000])
    assert in_steps(sizes, 2.0).tolist() == [1, 17, 29, 30, 30, 60, 60, 60, 120, 960]
    halves = in_steps(np.array([44, 45, 67, 68, 101, 102]), 1.5)
    assert halves.tolist() == [30, 45, 45, 67, 67, 101]
