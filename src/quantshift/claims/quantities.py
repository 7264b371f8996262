"""A number between its limits, whatever it is of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """A number between its limits; the estimate is None where there is no point to name.

    label: what it is of, such as a class, a measure or a judge.

    >>> Quantity("spam", 0.5, 0.25, 0.875).width
    0.625
    """

    label: str
    estimate: float | None
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far apart the limits are."""
        return self.high - self.low


@dataclass(frozen=True)
class Estimated(Quantity):
    """A quantity that always has an estimate."""

    estimate: float
