"""The losses a network can learn with: error measures of prevalences, in PyTorch."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import Tensor


def _smoothed(p: Tensor, smoothing: float) -> Tensor:
    return (p + smoothing) / (1 + p.shape[1] * smoothing)


def _absolute(p_true: Tensor, p_hat: Tensor, _: float) -> Tensor:
    return torch.abs(p_hat - p_true).mean(dim=1)


def _squared(p_true: Tensor, p_hat: Tensor, _: float) -> Tensor:
    return torch.square(p_hat - p_true).mean(dim=1)


def _relative(p_true: Tensor, p_hat: Tensor, smoothing: float) -> Tensor:
    true, hat = _smoothed(p_true, smoothing), _smoothed(p_hat, smoothing)
    return (torch.abs(hat - true) / true).mean(dim=1)


def _divergence(p_true: Tensor, p_hat: Tensor, smoothing: float) -> Tensor:
    true, hat = _smoothed(p_true, smoothing), _smoothed(p_hat, smoothing)
    return 2 * torch.sigmoid((true * torch.log(true / hat)).sum(dim=1)) - 1


LOSSES: Mapping[str, Callable[[Tensor, Tensor, float], Tensor]] = MappingProxyType(
    {"ae": _absolute, "se": _squared, "rae": _relative, "nkld": _divergence}
)
"""By the name of the measure: loss(p_true, p_hat, smoothing), the error of each sample.

smoothing: what is added to shares before they are divided, as in the measures.
"""
