"""Items are selected by a score: those that look like the class, or unlike it."""

from typing import Any

import torch

from training.families.family import Family
from training.worlds import Pool, pick, ranks, uniform


class Score(Family):
    """Items are drawn by the rank of a linear score of the class, or from one half of it."""

    def log_weights(self, pool: Pool) -> tuple[Any, Any]:
        """Log-weights that rise or fall with the rank of the score."""
        n_tasks, device = len(pool.y), pool.y.device
        rank = ranks(linear_score(pool))
        sign = pick((n_tasks, 1), [-1.0, 1.0], device)
        tilt = sign * rank * uniform((n_tasks, 1), 1.0, 3.5, device)
        half = torch.where(sign * (rank - 0.5) > 0, 0.0, -60.0)
        return 0.0, torch.where(torch.rand(n_tasks, 1, device=device) < 0.3, half, tilt)


def linear_score(pool: Pool) -> torch.Tensor:
    """The score of the class by ridge regression on the columns, (n_tasks, n_items)."""
    n_items, n_columns = pool.columns.shape[1:]
    transposed = pool.columns.transpose(1, 2)
    products = transposed @ pool.columns / n_items
    products = products + 0.02 * torch.eye(n_columns, device=pool.y.device)
    centred = (pool.y - pool.y.mean(1, keepdim=True))[:, :, None]
    return (pool.columns @ torch.linalg.solve(products, transposed @ centred / n_items))[..., 0]
