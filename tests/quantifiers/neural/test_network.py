"""The layers of the set network, against closed forms, differences and the measures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

torch = pytest.importorskip("torch", reason="PyTorch is not installed: quantshift[neural]")

from quantshift.metrics import measure  # noqa: E402
from quantshift.optimise.mixture_likelihood import maximise_mixtures  # noqa: E402
from quantshift.quantifiers.neural.losses import LOSSES  # noqa: E402
from quantshift.quantifiers.neural.network import (  # noqa: E402
    KNOTS,
    WIDEST,
    NetworkSizes,
    Samples,
    as_tensors,
    class_hat_means,
    estimates,
    hats,
    item_scores,
    likelihood_estimates,
)


def drawn(n_samples=4, size=60, n_classes=3, seed=0):
    """Samples with whole counts, and the classes of their items."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, (n_samples, size))
    scores = 2 * np.eye(n_classes)[codes] + rng.normal(size=(n_samples, size, n_classes))
    counts = rng.integers(0, 4, (n_samples, size)).astype(float)
    return Samples(torch.log_softmax(torch.tensor(scores), -1), torch.tensor(counts)), codes


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_the_start_is_the_maximum_of_the_likelihood(alpha):
    samples, _ = drawn()
    likelihoods = samples.scores.exp().numpy().reshape(-1, 3).T.copy()
    expected, _, _ = maximise_mixtures(
        likelihoods,
        np.arange(240).reshape(4, 60),
        np.full(3, 1 / 3),
        tol=1e-11,
        max_iter=100_000,
        weights=samples.counts.numpy().ravel(),
        added=None if alpha == 1 else np.full(4, alpha - 1),
    )
    assert_allclose(likelihood_estimates(samples, alpha), expected, atol=1e-8)


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_the_gradient_of_the_start_is_that_of_differences(alpha):
    samples, _ = drawn(2)
    direction = torch.tensor([[1.0, -2, 0.5], [0.3, 1, -1]], dtype=torch.float64)

    def value(scores):
        return (likelihood_estimates(Samples(scores, samples.counts), alpha) * direction).sum()

    scores = samples.scores.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(value(scores), scores)
    for place in ((0, 0, 0), (0, 5, 1), (1, 7, 2), (1, 30, 0)):
        moved = torch.zeros_like(samples.scores)
        moved[place] = 1e-5
        slope = (value(samples.scores + moved) - value(samples.scores - moved)) / 2e-5
        assert_allclose(gradient[place], slope, rtol=0.01, atol=1e-9)  # the ridge


def test_hats_interpolate_log_odds():
    p = torch.tensor([[0.5, 0.5], [0.9, 0.1], [1 - 1e-9, 1e-9]], dtype=torch.float64)
    found = hats(p.log())
    assert_allclose(found.sum(-1), 1)
    knots = torch.linspace(-WIDEST, WIDEST, KNOTS, dtype=torch.float64)
    expected = [[0, 0], [np.log(9), -np.log(9)], [WIDEST, -WIDEST]]
    assert_allclose(found @ knots, expected, atol=1e-12)


def test_histograms_of_classes_are_weighted_means():
    samples, codes = drawn(1)
    found = class_hat_means(samples.scores[0], torch.tensor(codes[0]), samples.counts[0])
    for code in range(3):
        own = codes[0] == code
        expected = np.average(
            hats(samples.scores[0])[own], axis=0, weights=samples.counts[0].numpy()[own]
        )
        assert_allclose(found[code], expected)


@pytest.mark.parametrize("monotone", [False, True])
def test_an_untrained_network_returns_the_likelihood_estimate(monotone):
    samples, _ = drawn()
    arrays = NetworkSizes(3, 2, 8, monotone).initial(np.random.default_rng(0))
    weights = as_tensors(arrays, torch.device("cpu"))
    weights["histograms"] = torch.zeros((3, 3, KNOTS), dtype=torch.float64)
    features = torch.randn((4, 60, 2), dtype=torch.float64, generator=torch.Generator())
    corrected = item_scores(weights, samples.scores, features)
    assert_allclose(corrected, samples.scores, atol=1e-12)
    start = likelihood_estimates(samples, 1.0)
    assert_allclose(estimates(weights, samples, 1.0), (start + 1e-4) / (1 + 3e-4), atol=1e-9)


def test_classes_in_another_order_and_weights_as_counts():
    """Every weight is random; the layer that sees features is left out."""
    rng = np.random.default_rng(1)
    samples, codes = drawn()
    arrays = NetworkSizes(3, 0, 8, monotone=False).initial(rng)
    arrays |= {name: rng.normal(size=arrays[name].shape) for name in ("recalibrate", "out")}
    weights = as_tensors(arrays, torch.device("cpu"))
    all_scores, all_codes = samples.scores.flatten(0, 1), torch.tensor(codes).flatten()
    ones = torch.ones(240, dtype=torch.float64)
    weights["histograms"] = class_hat_means(all_scores, all_codes, ones)
    found = estimates(weights, samples, 2.0)
    assert (found.max() - found.min()) > 0.1
    order = torch.tensor([2, 0, 1])
    turned = weights | {
        "histograms": class_hat_means(all_scores[:, order], order.argsort()[all_codes], ones)
    }
    assert_allclose(
        estimates(turned, Samples(samples.scores[..., order], samples.counts), 2.0),
        found[:, order],
        atol=1e-10,
    )
    times = samples.counts[0].long()
    repeated = samples.scores[0].repeat_interleave(times, dim=0)[None]
    alone = estimates(weights, Samples(repeated, torch.ones_like(repeated[..., 0])), 2.0)
    assert_allclose(alone[0], found[0], atol=1e-10)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_the_measures(name):
    rng = np.random.default_rng(0)
    p_true, p_hat = rng.dirichlet(np.ones(4), (2, 10))
    found = LOSSES[name](torch.tensor(p_true), torch.tensor(p_hat), 0.01)
    assert_allclose(found, measure(name, p_true, p_hat, smoothing=0.01))
