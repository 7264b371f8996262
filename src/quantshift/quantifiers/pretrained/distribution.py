"""The distribution of the shares of the classes in a sample."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Prevalences, Reals
from quantshift.quantifiers.pretrained.network import CELLS

HEDGE = 0.78
"""With labels, what the network says is hedged by this exponent (`ShareDistribution.hedged`).

Intervals then hold in each of the simulated families of shifts that it was trained on, not only on
average over them: in the worst one, intervals of 90% had covered 83% (`training/evaluate.py`).
"""


@dataclass(frozen=True, eq=False)
class ShareDistribution:
    """The distribution of each class's share among the items of a sample.

    classes: the class labels. probabilities: of cells of equal width in the angle
    asin(sqrt(share)), (n_classes, n_cells).
    """

    classes: NDArray[Any]
    probabilities: Reals

    def quantile(self, q: float) -> Reals:
        """The share of each class below which it is with probability q, (n_classes,)."""
        return self._quantiles(np.full((len(self.classes), 1), q))[:, 0]

    @property
    def share(self) -> Prevalences:
        """The medians, which sum to 1 after a common factor, (n_classes,)."""
        return _of_sum_one(self.quantile(0.5))

    def interval(self, level: float = 0.95) -> tuple[Reals, Reals]:
        """Lower and upper limits of each class's share, (n_classes,) each."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def hedged(self, exponent: float) -> "ShareDistribution":
        """The same medians with more mass away from them, for an exponent below 1.

        An interval that had the level 1 - a now has the level 1 - a ** exponent.
        """
        cumulated = np.cumsum(self.probabilities, axis=1)
        cumulated = np.pad(cumulated / cumulated[:, -1:], ((0, 0), (1, 0)))
        outside = np.clip(1 - np.abs(2 * cumulated - 1), 0.0, 1.0)
        cumulated = (1 + np.sign(cumulated - 0.5) * (1 - outside**exponent)) / 2
        return ShareDistribution(self.classes, np.diff(cumulated, axis=1))

    def draws(self, n_draws: int, rng: np.random.Generator) -> Prevalences:
        """Draws of all shares, which sum to 1, (n_draws, n_classes)."""
        if len(self.classes) == 2:
            second = self._quantiles(rng.random((1, n_draws)), first=1)[0]
            return np.stack([1 - second, second], axis=1)
        drawn = self._quantiles(rng.random((len(self.classes), n_draws)))
        return _of_sum_one(drawn.T)

    def _quantiles(self, at: Reals, first: int = 0) -> Reals:
        """The shares at these levels, a row per class from `first` on."""
        borders = np.arange(CELLS + 1) * (np.pi / 2 / CELLS)
        angles = []
        for row, levels in zip(self.probabilities[first:], at, strict=False):
            cumulated = np.concatenate([[0.0], np.cumsum(row)])
            angles.append(np.interp(levels * cumulated[-1], cumulated, borders))
        return np.asarray(np.sin(np.stack(angles)) ** 2)


def _of_sum_one(shares: Reals) -> Prevalences:
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))
