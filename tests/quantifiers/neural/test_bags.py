"""Bags: of the asked prevalence, of the right items, and items of training in parts."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from quantshift.quantifiers.neural.bags import BagSource
from quantshift.quantifiers.neural.inputs import learning_items


def test_bags_have_the_prevalence_they_say_and_items_by_their_counts():
    codes = np.array([0, 0, 1, 1, 1])
    source = BagSource(np.arange(10, 15), codes, np.array([1.0, 3, 1, 1, 2]), 2)
    bags = source.draw(400, 50, 1.0, np.random.default_rng(0))
    assert_allclose((codes[bags.index - 10] == 1).mean(axis=1), bags.p_true[:, 1])
    drawn = np.bincount(bags.index.ravel() - 10)
    assert_allclose(drawn[1] / drawn[0], 3, rtol=0.1)
    assert_allclose(drawn[4] / drawn[2:].sum(), 0.5, rtol=0.1)
    # The mean and the variance of a uniform share.
    assert_allclose(bags.p_true[:, 1].mean(), 0.5, atol=0.05)
    assert_allclose(bags.p_true[:, 1].var(), 1 / 12, atol=0.015)
    even = source.draw(400, 50, 50.0, np.random.default_rng(0))
    assert even.p_true[:, 1].std() < 0.12


def test_repeated_items_are_counts_and_every_part_has_every_class():
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3
    scores = np.exp(np.eye(3)[codes] + rng.normal(size=(60, 3)))
    posteriors = scores / scores.sum(axis=1, keepdims=True)
    features = rng.normal(size=(60, 2))
    weights = 1.0 + np.arange(60) % 2
    times = np.repeat(np.arange(60), weights.astype(int))
    by_weight = learning_items(posteriors, features, codes, weights, np.random.default_rng(1))
    repeated = learning_items(
        posteriors[times], features[times], codes[times], None, np.random.default_rng(1)
    )
    for name in ("scores", "features", "codes", "counts", "parts"):
        assert_array_equal(getattr(by_weight, name), getattr(repeated, name))
    assert by_weight.counts.sum() == weights.sum()
    for part in range(5):
        assert set(by_weight.codes[by_weight.parts == part]) == {0, 1, 2}
