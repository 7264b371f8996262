"""Learning the weights of a network: Adam in batches, until validation no longer improves.

D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
"""

from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Prevalences
from quantshift.quantifiers.neural.losses import Loss
from quantshift.quantifiers.neural.network import AbstractNetwork, NetworkWeights, SampleInputs

BATCH = 64
EPOCHS = 40
PATIENCE = 8
"""Learning ends after so many epochs without a smaller validation error."""

LEARNING_RATE = 3e-3
DECAYS = (0.9, 0.99)
"""Of Adam's means of gradients and of their squares."""


@dataclass(frozen=True, eq=False)
class LabelledSamples:
    """Samples and their true prevalences."""

    seen: SampleInputs
    p_true: Prevalences


def learn(
    network: AbstractNetwork,
    training: LabelledSamples,
    validation: LabelledSamples,
    loss: Loss,
    smoothing: float,
    rng: np.random.Generator,
) -> NetworkWeights:
    """The weights with the smallest error in validation, perhaps those to begin with."""
    weights = network.initial(training.seen, rng)

    def validation_error() -> float:
        p_hat = network.estimates(weights, validation.seen)
        return float(loss.errors(validation.p_true, p_hat, smoothing).mean())

    best, smallest, best_epoch = dict(weights), validation_error(), 0
    optimiser = _Adam()
    n_samples = len(training.p_true)
    for epoch in range(1, EPOCHS + 1):
        rate = LEARNING_RATE * (1 + np.cos(np.pi * (epoch - 1) / EPOCHS)) / 2
        for rows in np.array_split(rng.permutation(n_samples), max(1, n_samples // BATCH)):
            seen, p_true = training.seen.take(rows), training.p_true[rows]
            slopes = loss.slopes(p_true, network.estimates(weights, seen), smoothing) / len(rows)
            optimiser.step(weights, network.gradients(weights, seen, slopes), rate)
        error = validation_error()
        if error < smallest:
            best, smallest, best_epoch = dict(weights), error, epoch
        if epoch - best_epoch >= PATIENCE:
            break
    return best


class _Adam:
    """Steps along gradients, scaled by their means and squares."""

    def __init__(self) -> None:
        self._means: NetworkWeights = {}
        self._squares: NetworkWeights = {}
        self._steps = 0

    def step(self, weights: NetworkWeights, gradients: NetworkWeights, rate: float) -> None:
        """Replace the weights that have gradients; their arrays stay as they are."""
        self._steps += 1
        first, second = DECAYS
        for name, gradient in gradients.items():
            mean = self._means.get(name, 0.0) * first + (1 - first) * gradient
            square = self._squares.get(name, 0.0) * second + (1 - second) * gradient**2
            self._means[name], self._squares[name] = mean, square
            scaled = mean / (1 - first**self._steps)
            size = np.sqrt(square / (1 - second**self._steps)) + 1e-8
            weights[name] = weights[name] - rate * scaled / size
