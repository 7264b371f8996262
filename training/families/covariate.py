"""Only the mix of rows changes, along what the columns show."""

from typing import Any

import torch

from training.families.family import Family
from training.worlds import Pool, standardised, uniform


class Covariate(Family):
    """Items are drawn by a direction in the columns, of one column, a few or all of them."""

    def log_weights(self, pool: Pool) -> tuple[Any, Any]:
        """Log-weights that rise along the direction."""
        return 0.0, direction(pool) * uniform((len(pool.y), 1), 0.3, 2.5, pool.y.device)


def direction(pool: Pool) -> torch.Tensor:
    """A random direction in the columns of each task, standardised, (n_tasks, n_items)."""
    n_tasks, n_columns = pool.shown.shape
    device = pool.y.device
    used = torch.rand(n_tasks, n_columns, device=device) < uniform((n_tasks, 1), 0.05, 1, device)
    coefficients = torch.randn(n_tasks, n_columns, device=device) * used * pool.shown
    coefficients[:, 0] += 0.3
    along = torch.einsum("bpd,bd->bp", pool.columns, coefficients)
    return standardised(along).clamp(-3, 3)
