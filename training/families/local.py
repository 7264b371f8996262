"""The shares of the class change differently in two regions of the columns."""

from typing import Any

import torch

from training.families.covariate import direction
from training.families.family import Family
from training.worlds import Pool, uniform


class Local(Family):
    """Items are drawn by their class and the side of a direction they are on."""

    def log_weights(self, pool: Pool) -> tuple[Any, Any]:
        """A log-weight for each class and side."""
        n_tasks, device = len(pool.y), pool.y.device
        side = direction(pool) > 0.5 * torch.randn(n_tasks, 1, device=device)
        of_cell = torch.randn(n_tasks, 4, device=device) * uniform((n_tasks, 1), 0.5, 2, device)
        return 0.0, of_cell.gather(1, (2 * side + pool.y).long())
