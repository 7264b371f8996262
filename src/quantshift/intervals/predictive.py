"""The share among the items of a sample, given these items: predictive draws.

An interval for the population allows for the draw of the sample. Among the items themselves only
their labels are unknown. If the population's prevalence is p, an item with the posteriors q at the
training prevalence pi belongs to class k with a probability proportional to q_k p_k / pi_k. So a
replicate p of the prevalence (training items and sample drawn again) gives the mean of these
probabilities over the sample's own items, and the variance that their labels add to it. Where the
classifier is nearly certain of every item, neither depends much on p, and the interval is narrow.

Methods that do not adjust for the training classes (CC, PCC) take posteriors as they are: their
estimate stays, and only labels vary.
"""

import numpy as np

from quantshift.base.types import Posteriors, Prevalences, Reals
from quantshift.prevalence.weights import Weights

MOST_PRODUCTS = 20_000_000
"""The most probabilities to compute for one sample; for a large one, fewer replicates are used."""

FEWEST_DRAWS = 100

SMALLEST = 1e-9


def share_draws(
    posteriors: Posteriors,
    prior: Prevalences,
    replicates: Prevalences,
    rng: np.random.Generator,
    weights: Weights | None = None,
) -> Reals:
    """Draws of the class shares among the items, (n_draws, n_classes), each class on its own.

    posteriors: of the items, calibrated at the prevalence `prior`, (n_items, n_classes).
    replicates: of the population's prevalence, (n_replicates, n_classes); only some of them are
    used if there are too many items.
    """
    n_items, n_classes = posteriors.shape
    most = max(FEWEST_DRAWS, MOST_PRODUCTS // (n_items * n_classes))
    step = -(-len(replicates) // most)
    counts = np.full(n_items, 1 / n_items) if weights is None else weights / weights.sum()
    ratios = np.maximum(replicates[::step], SMALLEST) / prior
    means, variances = np.empty((2, len(ratios), n_classes))
    for i, ratio in enumerate(ratios):
        joint = posteriors * ratio
        joint /= joint.sum(axis=1, keepdims=True)
        means[i] = counts @ joint
        variances[i] = np.square(counts) @ (joint * (1 - joint))
    noise = _noise(rng, *means.shape)
    return np.asarray(np.clip(means + noise * np.sqrt(variances), 0.0, 1.0))


def label_draws(
    p_hat: Prevalences,
    posteriors: Posteriors,
    n_draws: int,
    rng: np.random.Generator,
    weights: Weights | None = None,
) -> Reals:
    """Draws of the class shares around an estimate that takes the posteriors as they are."""
    n_items = len(posteriors)
    counts = np.full(n_items, 1 / n_items) if weights is None else weights / weights.sum()
    variance = np.square(counts) @ (posteriors * (1 - posteriors))
    noise = _noise(rng, n_draws, len(p_hat))
    return np.asarray(np.clip(p_hat + noise * np.sqrt(variance), 0.0, 1.0))


def _noise(rng: np.random.Generator, n_draws: int, n_classes: int) -> Reals:
    """Standard normal numbers for each class on its own; two have one share between them."""
    noise = rng.standard_normal((n_draws, n_classes))
    if n_classes == 2:
        noise[:, 0] = -noise[:, 1]
    return noise


def population_draws(shares: Prevalences, size: int, rng: np.random.Generator) -> Prevalences:
    """A population for each draw of the shares among `size` items that were drawn from it."""
    gammas = rng.standard_gamma(shares * size + 0.5)
    return np.asarray(gammas / gammas.sum(axis=1, keepdims=True))
