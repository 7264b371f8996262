"""The set network: what it computes, and the gradients of its weights.

A sample is a row of numbers for each class. All classes go through the same layers, and each of
them also sees the mean over all classes, so that the order of the classes has no effect:

    a_k = relu(x_k W1 + b1)
    c_k = relu(a_k W2 + mean_j(a_j) V2 + b2)
    p   = softmax(log(start) + c W3)

W3 begins as zero: an untrained network returns the start. The monotone network has a single
increasing, piecewise linear function f instead, p = softmax(f(log(start))), the same for all
classes. Both are plain NumPy: samples are summarised before training, so that a step of learning
is a few small products, whatever the number of items.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import softmax

from quantshift.base.types import Indices, Prevalences, Reals

NetworkWeights: TypeAlias = dict[str, Reals]
"""Arrays by name."""

SMALLEST = 1e-4
"""Added to shares before their logarithm."""

KNOTS = np.log(SMALLEST) * np.linspace(1, 0, 9)
"""Where the slope of the monotone function changes."""


@dataclass(frozen=True, eq=False)
class SampleInputs:
    """What a network sees of samples.

    start: an estimate of each sample, (n_samples, n_classes). of_classes: numbers for each class,
    (n_samples, n_classes, n_numbers).
    """

    start: Prevalences
    of_classes: Reals

    def take(self, rows: Indices) -> "SampleInputs":
        """The samples at these positions."""
        return SampleInputs(self.start[rows], self.of_classes[rows])

    @property
    def log_start(self) -> Reals:
        """Logarithms of the shares of the start."""
        return np.asarray(np.log(self.start + SMALLEST))


class AbstractNetwork(ABC):
    """A function of samples with weights that can be learnt."""

    @abstractmethod
    def initial(self, seen: SampleInputs, rng: np.random.Generator) -> NetworkWeights:
        """Weights to begin with; `seen` samples scale the inputs."""

    @abstractmethod
    def estimates(self, weights: Mapping[str, Reals], seen: SampleInputs) -> Prevalences:
        """A prevalence for each sample."""

    @abstractmethod
    def gradients(
        self, weights: Mapping[str, Reals], seen: SampleInputs, slopes: Reals
    ) -> NetworkWeights:
        """Gradients of a loss; slopes: those of the loss in the estimates of the samples."""


@dataclass(frozen=True)
class PooledNetwork(AbstractNetwork):
    """Two layers for each class; the second also sees the mean over the classes."""

    width: int

    def initial(self, seen: SampleInputs, rng: np.random.Generator) -> NetworkWeights:
        """Random layers, except for the last, which is zero."""
        n_inputs, width = seen.of_classes.shape[2], self.width
        flat = seen.of_classes.reshape(-1, n_inputs)
        return {
            "centre": flat.mean(axis=0),
            "scale": flat.std(axis=0) + 1e-3,
            "W1": rng.normal(size=(n_inputs, width)) / np.sqrt(n_inputs),
            "b1": np.zeros(width),
            "W2": rng.normal(size=(width, width)) / np.sqrt(width),
            "V2": rng.normal(size=(width, width)) / np.sqrt(width),
            "b2": np.zeros(width),
            "W3": np.zeros(width),
        }

    def estimates(self, weights: Mapping[str, Reals], seen: SampleInputs) -> Prevalences:
        """The softmax of the start, corrected."""
        _, _, c = self._layers(weights, seen)
        return np.asarray(softmax(seen.log_start + c @ weights["W3"], axis=1))

    def gradients(
        self, weights: Mapping[str, Reals], seen: SampleInputs, slopes: Reals
    ) -> NetworkWeights:
        """By the chain rule, from the last layer to the first."""
        x, a, c = self._layers(weights, seen)
        p = softmax(seen.log_start + c @ weights["W3"], axis=1)
        d_logits = _through_softmax(p, slopes)
        d_c = d_logits[:, :, np.newaxis] * weights["W3"] * (c > 0)
        d_mean = d_c.sum(axis=1)
        d_a = d_c @ weights["W2"].T
        d_a += (d_mean @ weights["V2"].T)[:, np.newaxis] / a.shape[1]
        d_a *= a > 0
        return {
            "W1": np.tensordot(x, d_a, axes=([0, 1], [0, 1])),
            "b1": d_a.sum(axis=(0, 1)),
            "W2": np.tensordot(a, d_c, axes=([0, 1], [0, 1])),
            "V2": a.mean(axis=1).T @ d_mean,
            "b2": d_c.sum(axis=(0, 1)),
            "W3": np.tensordot(d_logits, c, axes=([0, 1], [0, 1])),
        }

    def _layers(
        self, weights: Mapping[str, Reals], seen: SampleInputs
    ) -> tuple[Reals, Reals, Reals]:
        x = (seen.of_classes - weights["centre"]) / weights["scale"]
        a = np.maximum(x @ weights["W1"] + weights["b1"], 0)
        pooled = (a.mean(axis=1) @ weights["V2"])[:, np.newaxis]
        return x, a, np.maximum(a @ weights["W2"] + pooled + weights["b2"], 0)


@dataclass(frozen=True)
class MonotoneNetwork(AbstractNetwork):
    """An increasing function of the start: a larger share never becomes a smaller one."""

    def initial(self, seen: SampleInputs, rng: np.random.Generator) -> NetworkWeights:
        """Slopes of one, which return the start; they are stored as logarithms."""
        return {"log_slopes": np.zeros(len(KNOTS) - 1)}

    def estimates(self, weights: Mapping[str, Reals], seen: SampleInputs) -> Prevalences:
        """The softmax of the function."""
        return np.asarray(softmax(_ramps(seen) @ np.exp(weights["log_slopes"]), axis=1))

    def gradients(
        self, weights: Mapping[str, Reals], seen: SampleInputs, slopes: Reals
    ) -> NetworkWeights:
        """Of the logarithms of the slopes."""
        ramps = _ramps(seen)
        factors = np.exp(weights["log_slopes"])
        d_logits = _through_softmax(softmax(ramps @ factors, axis=1), slopes)
        return {"log_slopes": factors * np.tensordot(d_logits, ramps, axes=([0, 1], [0, 1]))}


def _ramps(seen: SampleInputs) -> Reals:
    """How much of each stretch between knots lies below the logarithm of a share."""
    above = seen.log_start[..., np.newaxis] - KNOTS[:-1]
    return np.asarray(np.clip(above, 0, np.diff(KNOTS)))


def _through_softmax(p: Prevalences, slopes: Reals) -> Reals:
    """Slopes in the logits, from slopes in the shares."""
    return np.asarray(p * (slopes - (slopes * p).sum(axis=1, keepdims=True)))
