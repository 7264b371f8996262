"""What a quantifier estimates where the prevalence is known: samples drawn from held-out items.

Under prior shift a sample is a mixture of the training classes. Held-out items of each class, drawn
in the proportions of any prevalence, are such a sample, and the errors that a method makes there
are those it makes on a real one.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quantshift.types import Codes, Indices, Prevalences

Reals = NDArray[np.float64]

_HALF = (0.0, 0.005, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.35)
GRID = np.array([*_HALF, 0.5, *(1 - p for p in reversed(_HALF))])
"""Prevalences of the second of two classes that are simulated, closer to each other at the ends."""

PILOT = 20
"""After so many simulations, prevalences far from any that matters are left out."""


class ClassMembers:
    """The training items class by class, to draw samples of any prevalence from.

    codes: of the training items; every class is among them.
    """

    def __init__(self, codes: Codes, n_classes: int) -> None:
        self._order = np.argsort(codes, kind="stable")
        self._counts = np.bincount(codes, minlength=n_classes)
        self._starts = np.concatenate([[0], np.cumsum(self._counts)[:-1]])

    def draw(
        self, prevalences: Prevalences, size: int, n: int, rng: np.random.Generator
    ) -> Indices:
        """Positions of the items of n samples at each prevalence, (n_prevalences * n, size).

        prevalences: shape (n_prevalences, n_classes). The samples at two prevalences have as many
        items in common as they can, so that their estimates differ by little else.
        """
        which, member = rng.random((n, size)), rng.random((n, size))
        borders = np.cumsum(prevalences, axis=1)[:, :-1]
        drawn = np.zeros((len(prevalences), n, size), dtype=np.int64)
        for border in borders.T:
            drawn += which >= border[:, np.newaxis, np.newaxis]
        rows = self._starts[drawn] + (member * self._counts[drawn]).astype(np.int64)
        return np.asarray(self._order[rows].reshape(-1, size))


class KnownPrevalences:
    """Estimates on simulated samples of two classes at the prevalences of `GRID`.

    p_hat: the estimates, of the second class, that are to be compared with them.
    """

    def __init__(self, p_hat: Reals) -> None:
        self.p_hat = p_hat
        self.needed = np.ones(len(GRID), dtype=bool)
        self._estimates: list[list[Reals]] = [[] for _ in GRID]

    @property
    def prevalences(self) -> Prevalences:
        """The prevalences to simulate, (n_needed, 2)."""
        return np.stack([1 - GRID[self.needed], GRID[self.needed]], axis=1)

    def add(self, estimates: Reals) -> None:
        """Take estimates, (n_needed, n), of further samples at the prevalences that are needed."""
        for i, own in zip(np.flatnonzero(self.needed), estimates, strict=True):
            self._estimates[i].append(own)
        if len(self._estimates[0]) == PILOT and self.needed.all():
            self._leave_out()

    def _leave_out(self) -> None:
        """Need no more of prevalences whose estimates are all far from those to compare."""
        least = np.array([np.min(own) for own in self._estimates])
        most = np.array([np.max(own) for own in self._estimates])
        spread = most - least
        p = self.p_hat[:, np.newaxis]
        near = ((p >= least - spread) & (p <= most + spread)).any(axis=0)
        self.needed = near.copy()
        self.needed[1:] |= near[:-1]
        self.needed[:-1] |= near[1:]

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """The lowest and the highest prevalence at which each estimate is to be expected."""
        tail = (1 - level) / 2
        all_of = [np.concatenate(own) for own in self._estimates]
        least = np.array([np.quantile(own, tail, method="lower") for own in all_of])
        most = np.array([np.quantile(own, 1 - tail, method="higher") for own in all_of])
        high = [highest_below(least, p) for p in self.p_hat]
        low = [1 - highest_below(1 - most[::-1], 1 - p) for p in self.p_hat]
        return np.array(low), np.array(high)


def highest_below(curve: Sequence[float] | Reals, p: float) -> float:
    """The highest prevalence at which a curve over `GRID` is not above p.

    The curve is made to rise throughout. It is linear between its points, but where it leaves 0:
    there estimates are clipped, and its next piece is prolonged instead.
    """
    rising = np.maximum.accumulate(np.asarray(curve))
    below = np.flatnonzero(rising <= p + 1e-12)
    if not len(below):
        return 0.0
    i = int(below[-1])
    if i == len(GRID) - 1:
        return 1.0
    clipped = rising[i] <= 1e-9 and i + 2 < len(GRID) and rising[i + 2] > rising[i + 1]
    first = i + 1 if clipped else i
    slope = (rising[first + 1] - rising[first]) / (GRID[first + 1] - GRID[first])
    return float(np.clip(GRID[i + 1] - (rising[i + 1] - p) / slope, GRID[i], GRID[i + 1]))
