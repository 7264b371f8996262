"""What a family of shifts is."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from training.worlds import Pool


@dataclass(frozen=True)
class Family:
    """A way in which a sample may differ from the training items.

    share: of the tasks that are of this family.
    """

    share: float

    def environments(self, n_tasks: int, times: Tensor) -> Tensor | None:
        """What changes the mechanisms of a world, (n_tasks, n_items, 2); None: nothing does.

        times: of the items, rising from 0 to 1. Training items are then the earlier ones, and
        those of the sample the later ones.
        """
        return None

    def log_weights(self, pool: Pool) -> tuple[Any, Any]:
        """Log-weights with which items are drawn for training and for the sample.

        Each (n_tasks, n_items), or 0: all items are equally likely.
        """
        return 0.0, 0.0
