"""BayesianKDEy: nodes of the posterior against integrals and a plain Gibbs sampler."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from quantshift import KDEyML
from quantshift.errors import UserError
from quantshift.quantifiers import BayesianKDEy
from quantshift.quantifiers.bayesian.mixture_posterior import posterior_nodes


@pytest.mark.parametrize(("n_items", "alpha"), [(1, 1.0), (10, 0.7), (200, 1.0), (5, 3.0)])
def test_two_classes_are_integrated(n_items, alpha):
    rng = np.random.default_rng(n_items)
    likelihoods, weights = rng.random((2, n_items)) ** 3, rng.random(n_items) + 0.5
    p = (np.arange(20_000) + 0.5) / 20_000
    log = np.log(np.outer(1 - p, likelihoods[0]) + np.outer(p, likelihoods[1])) @ weights
    log += (alpha - 1) * np.log(p * (1 - p))
    mass = np.exp(log - log.max())
    mean = mass @ p / mass.sum()
    spread = np.sqrt(mass @ (p - mean) ** 2 / mass.sum())
    nodes = posterior_nodes(
        likelihoods,
        np.arange(n_items)[np.newaxis],
        np.array([0.5, 0.5]),
        alpha=alpha,
        seed=0,
        weights=weights,
    )
    assert_allclose(nodes.mean()[0, 1], mean, atol=1e-3)
    assert_allclose(nodes.spread()[0], spread, atol=1e-3)


def test_three_classes_are_integrated():
    """A grid of 100 by 100 over the simplex; 1,024 nodes are worth about 800 draws."""
    rng = np.random.default_rng(0)
    likelihoods = rng.random((3, 40)) ** 2
    a, b = np.meshgrid((np.arange(100) + 0.5) / 100, (np.arange(100) + 0.5) / 100)
    p = np.stack([a, b, 1 - a - b], axis=-1)[a + b < 1]
    log = np.log(p @ likelihoods).sum(axis=1)
    mass = np.exp(log - log.max())
    nodes = posterior_nodes(
        likelihoods, np.arange(40)[np.newaxis], np.full(3, 1 / 3), alpha=1.0, seed=0
    )
    assert_allclose(nodes.mean()[0], mass @ p / mass.sum(), atol=0.008)
    assert nodes.effective_size()[0] > 300
    drawn = nodes.draws(4000, seed=1)
    assert_allclose(drawn.mean(axis=1), nodes.mean(), atol=0.02)


def classified(n, p, rng):
    y = rng.choice(len(p), n, p=p)
    logits = 2 * (rng.normal(size=(n, len(p))) + 1.5 * np.eye(len(p))[y])
    posteriors = np.exp(logits)
    return posteriors / posteriors.sum(axis=1, keepdims=True), y


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_large_sample_of_the_training_classes_has_its_prevalence(n_classes):
    rng = np.random.default_rng(0)
    known = classified(4000, np.full(n_classes, 1 / n_classes), rng)
    p = rng.dirichlet(np.ones(n_classes))
    sample, y = classified(4000, p, rng)
    quantifier = BayesianKDEy().fit_posteriors(*known)
    p_hat = quantifier.aggregate(sample)
    assert_allclose(p_hat, np.bincount(y, minlength=n_classes) / len(y), atol=0.04)
    # So many items leave the prior nothing to say: the mean is where the maximum is.
    assert_allclose(p_hat, KDEyML().fit_posteriors(*known).aggregate(sample), atol=0.01)


def test_draws_and_order_of_items():
    rng = np.random.default_rng(1)
    quantifier = BayesianKDEy().fit_posteriors(*classified(200, np.full(3, 1 / 3), rng))
    sample, _ = classified(60, np.full(3, 1 / 3), rng)
    drawn = quantifier.aggregate_posterior(sample, n_draws=2000)
    assert drawn.shape == (2000, 3)
    assert_allclose(drawn.mean(axis=0), quantifier.aggregate(sample), atol=0.02)
    assert_allclose(quantifier.aggregate(sample[::-1]), quantifier.aggregate(sample), atol=1e-9)
    assert_array_equal(quantifier.aggregate_posterior(sample, n_draws=2000), drawn)
    with pytest.raises(UserError, match="alpha of BayesianKDEy must be a number above 0"):
        BayesianKDEy(alpha=-1.0).fit_posteriors(*classified(200, np.full(3, 1 / 3), rng))
