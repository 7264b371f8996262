"""Estimates on simulated samples of known prevalence, drawn from held-out items.

Under prior shift a sample is a mixture of the training classes. Held-out items of each class, drawn
in the proportions of a prevalence, are such a sample, and a method's errors there are like those on
a real sample.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from quantshift.base.types import Codes, Indices, Prevalences, Reals

_HALF = (0.0, 0.005, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.35)
GRID = np.array([*_HALF, 0.5, *(1 - p for p in reversed(_HALF))])
"""Simulated prevalences of the second of two classes, denser at the ends."""

TIE = 1e-9
"""Estimates that differ by less are treated as equal."""

PILOT = 20
"""After this many simulations, prevalences that are too far away to matter are left out."""


class ClassMembers:
    """The training items class by class, for drawing samples of any prevalence.

    codes: of the training items; every class occurs. weights: of these items; within its class an
    item is drawn with a probability proportional to its weight, and counts as one item.
    """

    def __init__(self, codes: Codes, n_classes: int, weights: Reals | None = None) -> None:
        self._order = np.argsort(codes, kind="stable")
        self._counts = np.bincount(codes, minlength=n_classes)
        self._starts = np.concatenate([[0], np.cumsum(self._counts)[:-1]])
        self._weights = None if weights is None else weights[self._order]

    def draw(
        self,
        prevalences: Prevalences,
        size: int,
        n: int,
        rng: np.random.Generator,
        *,
        exact: bool = False,
    ) -> Indices:
        """Positions of the items of n samples at each prevalence, (n_prevalences * n, size).

        prevalences: shape (n_prevalences, n_classes). The samples at different prevalences share as
        many items as possible, so that their estimates differ mainly because of the prevalence.
        exact: whether the prevalence is that of the sample itself, as nearly as whole items allow,
        and not that of the population it is drawn from.
        """
        even = (np.arange(size) + rng.random((n, 1))) / size if exact else None
        which = rng.random((n, size)) if even is None else even
        member = rng.random((n, size))
        borders = np.cumsum(prevalences, axis=1)[:, :-1]
        drawn = np.zeros((len(prevalences), n, size), dtype=np.int64)
        for border in borders.T:
            drawn += which >= border[:, np.newaxis, np.newaxis]
        if self._weights is None:
            rows = self._starts[drawn] + (member * self._counts[drawn]).astype(np.int64)
        else:
            rows = self._draw_weighted(self._weights, drawn, member)
        return np.asarray(self._order[rows].reshape(-1, size))

    def _draw_weighted(self, weights: Reals, drawn: Codes, member: Reals) -> Indices:
        """Rows of the items at the position `member` in the cumulated weight of their class."""
        rows = np.empty(drawn.shape, dtype=np.int64)
        shares = np.broadcast_to(member, drawn.shape)
        for k, (start, count) in enumerate(zip(self._starts, self._counts, strict=True)):
            is_drawn = drawn == k
            upper = np.cumsum(weights[start : start + count])
            position = np.searchsorted(upper, shares[is_drawn] * upper[-1], side="right")
            # Rounding may lead beyond the last item.
            rows[is_drawn] = start + np.minimum(position, np.searchsorted(upper, upper[-1]))
        return rows


class KnownPrevalences:
    """Estimates on simulated samples of two classes at the prevalences of `GRID`.

    p_hat: the estimates, of the second class, that are compared with them.
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
        """Add estimates, (n_needed, n), of further samples at the needed prevalences."""
        for i, estimates_there in zip(np.flatnonzero(self.needed), estimates, strict=True):
            self._estimates[i].append(estimates_there)
        if len(self._estimates[0]) == PILOT and self.needed.all():
            self._leave_out()

    def _leave_out(self) -> None:
        """Stop simulating prevalences whose estimates are all far from those to compare."""
        smallest = np.array([np.min(estimates) for estimates in self._estimates])
        largest = np.array([np.max(estimates) for estimates in self._estimates])
        spread = largest - smallest
        p = self.p_hat[:, np.newaxis]
        near = ((p >= smallest - spread) & (p <= largest + spread)).any(axis=0)
        if not near.any():
            return
        self.needed = near.copy()
        self.needed[1:] |= near[:-1]
        self.needed[:-1] |= near[1:]

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """The lowest and the highest prevalence at which each estimate is plausible."""
        estimates = [np.concatenate(parts) for parts in self._estimates]
        mirrored = [1 - values for values in reversed(estimates)]
        tail = (1 - level) / 2
        return 1 - highest_expected(mirrored, 1 - self.p_hat, tail), highest_expected(
            estimates, self.p_hat, tail
        )


def highest_expected(estimates: Sequence[Reals], p_hat: Reals, tail: float) -> Reals:
    """The highest prevalence at which estimates as low as each p_hat have probability `tail`.

    estimates: on simulated samples at each prevalence of `GRID`.
    """
    # The quantiles increase with the prevalence, apart from the noise of the simulation.
    curve = np.maximum.accumulate([np.quantile(e, tail, method="lower") for e in estimates])
    return np.array([_crossing(curve, estimates, float(p), tail) for p in p_hat])


def _crossing(curve: Reals, estimates: Sequence[Reals], p: float, tail: float) -> float:
    """Where the curve of quantiles over `GRID` rises above p, interpolated linearly.

    If the curve is flat at p, because estimates are clipped there (p = 0) or go in steps, it does
    not show where between two points it rises. The share of estimates not above p then decides, if
    it is not zero at the second point; otherwise the next piece of the curve is extrapolated.
    """
    below = np.flatnonzero(curve <= p + TIE)
    if not len(below):
        return 0.0
    i = int(below[-1])
    if i == len(GRID) - 1:
        return 1.0
    gap, rise = GRID[i + 1] - GRID[i], curve[i + 1] - curve[i]
    if curve[i] < p - TIE:
        # If estimates are clipped at 0, the curve starts where it leaves 0.
        start = _crossing(curve, estimates, 0.0, tail) if curve[i] <= TIE else GRID[i]
        return float(start + (GRID[i + 1] - start) * (p - curve[i]) / rise)
    share_before, share_after = (float(np.mean(estimates[j] <= p + TIE)) for j in (i, i + 1))
    if share_after > 0:
        start, goal, end = ndtri([min(share_before, 1 - TIE), tail, share_after])
        return float(GRID[i] + gap * np.clip((start - goal) / (start - end), 0.0, 1.0))
    if i + 2 < len(GRID) and curve[i + 2] > curve[i + 1]:
        slope = (curve[i + 2] - curve[i + 1]) / (GRID[i + 2] - GRID[i + 1])
        return float(max(GRID[i + 1] - rise / slope, GRID[i]))
    return float(GRID[i])
