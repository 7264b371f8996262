"""The mechanisms of the world differ between groups: one for the sample, others for training."""

import torch
from torch import Tensor

from training.families.family import Family
from training.worlds import pick, uniform

GROUPS = 6


class Environment(Family):
    """One to six groups in training, and another one in the sample.

    In half of these tasks the share of the class is drawn anew as well.
    """

    def environments(self, n_tasks: int, times: Tensor) -> Tensor | None:
        """The place of each group, for all of its items."""
        device = times.device
        places = torch.randn(n_tasks, GROUPS + 1, 2, device=device)
        apart = pick((n_tasks, 1, 1), [0.0, 0.5, 1.0], device)
        places[:, 1:] = places[:, 1:2] + apart * places[:, 1:].clone()
        n_groups = pick((n_tasks, 1), [1, 2, 3, GROUPS], device)
        group = 1 + (torch.rand(n_tasks, len(times), device=device) * n_groups).long()
        group = torch.where(times > 0.5, 0, group.clamp_max(GROUPS))
        return places.gather(1, group[:, :, None].expand(-1, -1, 2)) * uniform(
            (n_tasks, 1, 1), 0.3, 1.5, device
        )
