"""Only the share of the class changes."""

from typing import Any

import torch

from training.families.family import Family
from training.worlds import Pool


class Prior(Family):
    """Items of the class are more or less common; those of a class are drawn alike.

    The share in the sample is uniform; in one task of three the share in training moves as well.
    """

    def log_weights(self, pool: Pool) -> tuple[Any, Any]:
        """The same log-weight for all items of a class."""
        n_tasks = len(pool.y)
        share = pool.y.mean(1).clamp(0.01, 0.99)
        target = torch.rand(n_tasks, device=pool.y.device).clamp(0.01, 0.99)
        tilt = torch.logit(target) - torch.logit(share)
        moved = torch.rand(n_tasks, device=pool.y.device) < 1 / 3
        in_training = torch.randn(n_tasks, device=pool.y.device) * moved
        return in_training[:, None] * pool.y, tilt[:, None] * pool.y
