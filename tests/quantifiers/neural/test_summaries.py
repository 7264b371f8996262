"""The first layer: histograms, and the estimates that a network starts from."""

import numpy as np
from numpy.testing import assert_allclose

from quantshift import PACC, SLD
from quantshift.quantifiers.neural.summaries import KNOTS, ItemLayer


def pool(n=300, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.repeat([0, 1, 2], [n // 2, n // 3, n - n // 2 - n // 3])
    scores = 2.0 * np.eye(3)[codes] + rng.normal(size=(n, 3))
    posteriors = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return posteriors, codes


def test_the_start_is_sld_and_the_counted_share_that_of_pacc():
    posteriors, codes = pool()
    new, _ = pool(seed=1)
    index = np.random.default_rng(2).integers(0, 300, (7, 80))
    layer = ItemLayer.learnt(posteriors, codes, None)
    seen = layer.inputs(layer.represent(new), index)
    by_sld = SLD().fit_posteriors(posteriors, codes).aggregate(new, index)
    by_pacc = PACC().fit_posteriors(posteriors, codes).aggregate(new, index)
    assert_allclose(seen.start, by_sld, atol=1e-5)
    assert_allclose(seen.of_classes[:, :, 3], by_pacc, atol=1e-9)


def test_histograms_are_means_of_hat_functions_and_classes_explain_their_mixtures():
    posteriors, codes = pool()
    layer = ItemLayer.learnt(posteriors, codes, None)
    representation = layer.represent(posteriors)
    ratios, hats = representation[:3], representation[6:].reshape(3, len(KNOTS), 300)
    assert_allclose(hats.sum(axis=1), 1)
    log_odds = np.clip(np.log(ratios / (1 - ratios)), KNOTS[0], KNOTS[-1])
    assert_allclose(np.einsum("b,kbi->ki", KNOTS, hats), log_odds)
    whole = layer.inputs(representation, np.arange(300)[np.newaxis])
    n = len(KNOTS)
    seen, unexplained = whole.of_classes[0, :, 6 : 6 + n], whole.of_classes[0, :, 6 + n :]
    mixture = layer.histograms @ np.bincount(codes) / 300
    assert_allclose(seen.ravel(), mixture)
    by_start = (layer.histograms @ whole.start[0]).reshape(3, n)
    assert_allclose(unexplained, seen - by_start)


def test_items_of_weight_two_are_two_items():
    posteriors, codes = pool()
    weights = 1.0 + (np.arange(300) % 2)
    twice = np.repeat(np.arange(300), weights.astype(int))
    layer = ItemLayer.learnt(posteriors, codes, None)
    representation, everything = layer.represent(posteriors), np.arange(300)[np.newaxis]
    one = layer.inputs(representation, everything, weights)
    other = layer.inputs(representation, twice[np.newaxis])
    assert_allclose(one.of_classes, other.of_classes, atol=1e-5)
    weighted = ItemLayer.learnt(posteriors, codes, weights)
    repeated = ItemLayer.learnt(posteriors[twice], codes[twice], None)
    assert_allclose(weighted.prior, repeated.prior)
    assert_allclose(weighted.rates, repeated.rates)
