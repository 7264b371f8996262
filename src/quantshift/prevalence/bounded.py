"""Shares of classes between their limits."""

from dataclasses import dataclass

from quantshift.base.types import Prevalences, Reals


@dataclass(frozen=True, eq=False)
class BoundedShares:
    """Shares of classes and their limits, (..., n_classes) each."""

    prevalence: Prevalences
    low: Reals
    high: Reals

    @property
    def width(self) -> Reals:
        """How far apart the limits are."""
        return self.high - self.low
