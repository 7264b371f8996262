"""Ranks, against SciPy."""

import numpy as np
from scipy import stats

from quantshift.statistics.ranks import average_ranks


def test_ranks_are_scipys():
    values = np.random.default_rng(0).integers(0, 30, 100)
    np.testing.assert_array_equal(average_ranks(values), stats.rankdata(values))
    assert average_ranks([]).shape == (0,)
