"""Items are selected by a score: those that look like the class, or unlike it."""

from typing import Any

import torch

from training.families.family import Family
from training.worlds import Pool, pick, ranks, uniform


class Score(Family):
    """Items are drawn by the rank of a linear score of the class, half of them by halves."""

    def log_weights(self, pool: Pool) -> tuple[Any, Any]:
        """Log-weights that rise or fall with the rank of the score."""
        n_tasks, device = len(pool.y), pool.y.device
        with_class = torch.einsum("bpd,bp->bd", pool.columns, pool.y - pool.y.mean(1, keepdim=True))
        score = torch.einsum("bpd,bd->bp", pool.columns, with_class * pool.shown)
        rank = ranks(score)
        sign = pick((n_tasks, 1), [-1.0, 1.0], device)
        tilt = sign * rank * uniform((n_tasks, 1), 1.0, 3.5, device)
        half = torch.where(sign * (rank - 0.5) > 0, 0.0, -60.0)
        return 0.0, torch.where(torch.rand(n_tasks, 1, device=device) < 0.3, half, tilt)
