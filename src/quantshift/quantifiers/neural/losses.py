"""The losses a network can learn with: error measures, and their slopes in the estimates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from quantshift.base.types import Prevalences, Reals


@dataclass(frozen=True)
class Loss:
    """errors(p_true, p_hat, smoothing): of each sample. slopes: their derivatives in p_hat.

    smoothing: what is added to shares before they are divided, as in the measures.
    """

    errors: Callable[[Prevalences, Prevalences, float], Reals]
    slopes: Callable[[Prevalences, Prevalences, float], Reals]


def _smoothed(p: Prevalences, smoothing: float) -> Reals:
    return np.asarray((p + smoothing) / (1 + p.shape[1] * smoothing))


def _absolute(p_true: Prevalences, p_hat: Prevalences, _: float) -> Reals:
    return np.asarray(np.abs(p_hat - p_true).mean(axis=1))


def _absolute_slopes(p_true: Prevalences, p_hat: Prevalences, _: float) -> Reals:
    return np.asarray(np.sign(p_hat - p_true) / p_true.shape[1])


def _relative(p_true: Prevalences, p_hat: Prevalences, smoothing: float) -> Reals:
    true, hat = _smoothed(p_true, smoothing), _smoothed(p_hat, smoothing)
    return np.asarray((np.abs(hat - true) / true).mean(axis=1))


def _relative_slopes(p_true: Prevalences, p_hat: Prevalences, smoothing: float) -> Reals:
    n_classes = p_true.shape[1]
    true = _smoothed(p_true, smoothing) * (1 + n_classes * smoothing)
    return np.asarray(np.sign(p_hat - p_true) / true / n_classes)


def _squared(p_true: Prevalences, p_hat: Prevalences, _: float) -> Reals:
    return np.asarray(((p_hat - p_true) ** 2).mean(axis=1))


def _squared_slopes(p_true: Prevalences, p_hat: Prevalences, _: float) -> Reals:
    return np.asarray(2 * (p_hat - p_true) / p_true.shape[1])


def _divergence(p_true: Prevalences, p_hat: Prevalences, smoothing: float) -> Reals:
    true, hat = _smoothed(p_true, smoothing), _smoothed(p_hat, smoothing)
    return np.asarray((true * np.log(true / hat)).sum(axis=1))


def _divergence_slopes(p_true: Prevalences, p_hat: Prevalences, smoothing: float) -> Reals:
    true, hat = _smoothed(p_true, smoothing), _smoothed(p_hat, smoothing)
    return np.asarray(-true / hat / (1 + p_true.shape[1] * smoothing))


LOSSES: Mapping[str, Loss] = MappingProxyType(
    {
        "ae": Loss(_absolute, _absolute_slopes),
        "rae": Loss(_relative, _relative_slopes),
        "se": Loss(_squared, _squared_slopes),
        "kld": Loss(_divergence, _divergence_slopes),
    }
)
"""By the name of the measure."""
