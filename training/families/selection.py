"""A hidden variable decides who is in the training set, and who in the sample.

This is how tables with natural shift come about: train on one region, hospital or school, estimate
another. The variable is one that the model of the world has, mostly not shown as a column.
"""

from typing import Any

import torch
from torch import Tensor

from training.families.environment import Environment
from training.families.family import Family
from training.worlds import Pool, pick, ranks


class Selection(Family):
    """Training items are from one range of a hidden variable, the sample's from another."""

    def log_weights(self, pool: Pool) -> tuple[Any, Any]:
        """Log-weights of the two ranges, with hard or soft borders."""
        return selected(pool)


class SelectedEnvironment(Environment):
    """The same, in a world whose mechanisms change as well."""

    def log_weights(self, pool: Pool) -> tuple[Any, Any]:
        """Log-weights of the two ranges."""
        return selected(pool)


def selected(pool: Pool) -> tuple[Tensor, Tensor]:
    """Log-weights of two ranges of the hidden variable that hardly overlap."""
    n_tasks, device = len(pool.y), pool.y.device
    noise = pick((n_tasks, 1), [0.001, 0.1, 0.5], device) * torch.randn_like(pool.hidden)
    rank = ranks(pool.hidden + noise)

    def random() -> Tensor:
        return torch.rand(n_tasks, 1, device=device)

    smallest = pool.needed  # shares of the pool that training items and sample take up
    width = 1.15 * smallest[0] + (0.75 - 1.15 * smallest[0]) * random() ** 2
    other = 1.15 * smallest[1] + max(0.4 - 1.15 * smallest[1], 0.0) * random() ** 2
    start = random() * (1 - width)
    room_below, room_above = start - other, 1 - start - width - other
    below = random() < start / (1 - width).clamp_min(1e-3)
    below = torch.where(room_below < 0, False, torch.where(room_above < 0, True, below))
    at = torch.where(
        below,
        random() * room_below.clamp_min(0),
        start + width + random() * room_above.clamp_min(0),
    ).clamp_max(1 - 1.15 * smallest[1])
    soft = random() < 0.4
    return _range(rank, start, width, soft), _range(rank, at, other, soft)


def _range(rank: Tensor, start: Tensor, width: Tensor, soft: Tensor) -> Tensor:
    inside = (rank >= start) & (rank < start + width)
    hard = torch.where(inside, 0.0, -60.0)
    return torch.where(soft, -0.5 * ((rank - start - width / 2) / (0.4 * width)) ** 2, hard)
