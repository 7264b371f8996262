"""Quantiles of the Pearson type III distribution, against SciPy and closed forms."""

import numpy as np
import pytest
from scipy import stats

from quantshift.statistics.pearson3 import pearson3_quantile

P = np.array([1e-6, 0.001, 0.025, 0.3, 0.5, 0.7, 0.95, 0.975, 0.999, 1 - 1e-6])


@pytest.mark.parametrize("skewness", [-3.0, -0.7, -0.02, 0.0051, 0.01, 0.3, 1.0, 2.5, 6.0])
def test_it_is_scipys(skewness):
    expected = stats.pearson3.ppf(P, skewness)
    np.testing.assert_allclose(pearson3_quantile(P, skewness), expected, atol=1e-11)


def test_a_skewness_of_two_is_exponential():
    np.testing.assert_allclose(pearson3_quantile(P, 2.0), -np.log1p(-P) - 1, rtol=1e-13, atol=1e-14)


def test_without_skewness_it_is_normal():
    np.testing.assert_array_equal(pearson3_quantile(P, 0.0), stats.norm.ppf(P))


def test_the_expansion_meets_the_gamma_distribution():
    # Both are exact here, so that a quantile does not jump where one takes the place of the other.
    for sign in (1, -1):
        below, above = (pearson3_quantile(P, sign * s) for s in (0.005 * (1 - 1e-12), 0.005))
        np.testing.assert_allclose(below, above, atol=3e-13)


def test_a_negative_skewness_is_the_mirror_image():
    expected = -pearson3_quantile(1 - P[2:-2], 0.8)
    np.testing.assert_allclose(pearson3_quantile(P[2:-2], -0.8), expected, rtol=1e-13)


def test_shapes_are_broadcast():
    assert pearson3_quantile(0.9, np.zeros((2, 3))).shape == (2, 3)
    assert pearson3_quantile(0.9, 1.0).shape == ()
