"""Kolmogorov's distribution, against SciPy and what can be counted."""

import math

import numpy as np
import pytest
from scipy import stats

from quantshift.statistics.kolmogorov import kolmogorov_above, kolmogorov_limit_above, two_samples


@pytest.mark.parametrize("n", [1, 2, 3, 10, 60, 140, 141, 1000, 20000])
@pytest.mark.parametrize("z", [0.3, 0.5, 0.82, 1, 1.36, 1.48, 1.49, 1.9, 2.1, 5, 12])
def test_the_tail_is_scipys(n, z):
    expected = float(stats.kstwo.sf(z / math.sqrt(n), n))
    found = kolmogorov_above(z / math.sqrt(n), n)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_one_number_is_uniform():
    # The distance of one uniform number u is max(u, 1 - u).
    assert kolmogorov_above(0.75, 1) == pytest.approx(0.5, rel=1e-14)
    assert (kolmogorov_above(0.5, 1), kolmogorov_above(1.0, 7)) == (1, 0)


@pytest.mark.parametrize("z", [0.1, 0.4, 0.99, 1, 1.01, 2, 5, 15])
def test_the_limit_is_scipys(z):
    assert kolmogorov_limit_above(z) == pytest.approx(float(stats.kstwobign.sf(z)), rel=1e-13)


def test_two_samples_are_compared_as_by_scipy():
    rng = np.random.default_rng(0)
    for _ in range(100):
        first, second = (
            rng.integers(0, rng.integers(2, 200), rng.integers(2, 200)).astype(float)
            for _ in range(2)
        )
        found, expected = two_samples(first, second), stats.ks_2samp(first, second, method="asymp")
        assert found.statistic == expected.statistic
        assert found.location == expected.statistic_location
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
