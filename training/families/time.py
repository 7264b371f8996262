"""The mechanisms of the world drift by trends, seasons and a walk; the sample is the future."""

import math

import torch
from torch import Tensor

from training.families.family import Family
from training.worlds import uniform

KNOTS = 24


class Time(Family):
    """Training items are earlier, those of the sample later."""

    def environments(self, n_tasks: int, times: Tensor) -> Tensor | None:
        """A path through the places of environments, one step for each of the knots of time."""
        device = times.device

        def size(low: float, high: float) -> Tensor:
            return torch.exp(uniform((n_tasks, 1, 2), low, high, device))

        knots = torch.linspace(0, 1, KNOTS, device=device)[None, :, None]
        walk = torch.randn(n_tasks, KNOTS, 2, device=device).cumsum(1) / math.sqrt(KNOTS)
        trend = torch.randn(n_tasks, 1, 2, device=device) * knots
        cycles = uniform((n_tasks, 1, 2), 1, 6, device)
        season = torch.sin(
            2 * math.pi * (cycles * knots + torch.rand(n_tasks, 1, 2, device=device))
        )
        path = walk * size(-2, 0.7) + trend * size(-2, 0.7) + season * size(-2.5, 0)
        at = (times * (KNOTS - 1)).round().long()
        return path[:, at]
