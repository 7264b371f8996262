"""The compiled search is the one over numpy arrays, to the last bit."""

import numpy as np
import pytest

from quantshift.base.seeding import generator
from quantshift.optimise.divergences import hellinger
from quantshift.optimise.unimodal import (
    MOST_BINS,
    minimise_unimodal,
    nearest_weights,
    search_steps,
)
from quantshift.quantifiers.matching.matching import (
    COMPILED,
    match,
    match_together,
)


@pytest.mark.parametrize("n_bins", [2, 7, 8, 9, 10, 20, 63, 64, 110, 127, MOST_BINS])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("divergence", "number"), COMPILED)
def test_same_bits_as_numpy(n_bins, sparse, divergence, number):
    rng = generator(0, purpose="unimodal", n_bins=n_bins, sparse=sparse)
    classes = rng.dirichlet(np.full(n_bins, 0.3), size=(2, 2))
    if sparse:
        classes[classes < 0.5 / n_bins] = 0
        classes /= classes.sum(axis=-1, keepdims=True)
    own, rest = classes[:, 0].copy(), classes[:, 1].copy()
    shares = rng.random((150, 1, 1))
    samples = rng.multinomial(60, shares * own + (1 - shares) * rest) / 60

    def distance(weight):
        share = weight[..., np.newaxis]
        return divergence(share * own + (1 - share) * rest, samples)

    expected = minimise_unimodal(distance, samples.shape[:-1])
    expected[0][:, (own == rest).all(axis=1)] = np.nan  # any weight would do
    for found, wanted in zip(
        nearest_weights(samples, own, rest, search_steps(1.0), number), expected, strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("n_channels", [1, 3, 8, 21, MOST_BINS])
@pytest.mark.parametrize("divergence", [known for known, _ in COMPILED])
def test_one_weight_for_all_channels_has_the_same_bits(n_channels, divergence):
    rng = generator(0, purpose="common mixtures", n_channels=n_channels)
    classes = rng.dirichlet(np.full(12, 0.5), size=(2, n_channels))
    shares = rng.choice([0.0, 0.02, 0.3, 0.9, 1.0], (60, 1, 1))
    samples = rng.multinomial(80, shares * classes[1] + (1 - shares) * classes[0]) / 80
    # The same divergence under another name is not compiled.
    expected = match_together(samples, classes, lambda p, q: divergence(p, q))
    for found, wanted in zip(match_together(samples, classes, divergence), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    one_by_one = [match_together(sample[np.newaxis], classes, divergence) for sample in samples]
    np.testing.assert_array_equal(np.concatenate([w for w, _ in one_by_one]), expected[0])


def test_more_bins_are_matched_as_well():
    rng = generator(0, purpose="many bins")
    classes = rng.dirichlet(np.ones(3 * MOST_BINS), size=(2, 1))
    samples = (0.7 * classes[0] + 0.3 * classes[1])[np.newaxis]
    weights, distances = match(samples, classes, hellinger)
    np.testing.assert_allclose(weights, 0.3, atol=1e-5)
    np.testing.assert_allclose(distances, 0, atol=1e-5)
