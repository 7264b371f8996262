"""Quantiles, intervals and draws of a distribution over cells."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import beta

from quantshift.quantifiers.pretrained.distribution import ShareDistribution
from quantshift.quantifiers.pretrained.network import CELLS


def of_beta(a, b):
    borders = np.sin(np.arange(CELLS + 1) * (np.pi / 2 / CELLS)) ** 2
    return np.diff(beta(a, b).cdf(borders))


def test_quantiles_are_those_of_the_distribution():
    shares = ShareDistribution(np.array(["a", "b"]), np.stack([of_beta(8, 3), of_beta(3, 8)]))
    low, high = shares.interval(0.9)
    assert_allclose([low[1], high[1]], beta(3, 8).ppf([0.05, 0.95]), atol=2e-3)
    assert_allclose([low[0], high[0]], beta(8, 3).ppf([0.05, 0.95]), atol=2e-3)
    assert_allclose(shares.share, [1 - beta(3, 8).ppf(0.5), beta(3, 8).ppf(0.5)], atol=2e-3)


def test_draws_are_of_the_distribution():
    shares = ShareDistribution(np.array(["a", "b"]), np.stack([of_beta(8, 3), of_beta(3, 8)]))
    drawn = shares.draws(4000, np.random.default_rng(0))
    assert_allclose(drawn.sum(axis=1), 1)
    # The standard error of such a quantile is 0.004.
    assert_allclose(np.quantile(drawn[:, 1], [0.1, 0.9]), beta(3, 8).ppf([0.1, 0.9]), atol=0.016)


def test_shares_of_several_classes_sum_to_one():
    parts = np.stack([of_beta(8, 12), of_beta(6, 14), of_beta(6, 14)])
    shares = ShareDistribution(np.array(["a", "b", "c"]), parts)
    assert_allclose(shares.share.sum(), 1)
    assert_allclose(shares.draws(10, np.random.default_rng(0)).sum(axis=1), 1)
