"""A sensitivity and specificity of the judge that are known, in place of labels."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from quantshift.claims import Estimated
from quantshift.errors import UserError

CERTAIN = 1e9
"""Items that a rate without limits is taken to be known from."""

Rate = float | tuple[float, float, float]
"""A rate, or a rate with its 95% limits."""


@dataclass(frozen=True)
class GivenRate(Estimated):
    """A sensitivity or specificity that is known, with its 95% limits; without, it is exact."""

    @classmethod
    def of(cls, name: str, rate: Rate) -> "GivenRate":
        """The rate that a user gives; name: what it is called in errors."""
        values = [float(v) for v in (rate if isinstance(rate, tuple | list) else [rate])]
        if len(values) not in (1, 3) or not all(0 <= v <= 1 for v in values):
            raise UserError(
                f"a {name} is a share, with or without its limits: 0.9, or 0.9 between 0.85 and "
                "0.94",
                arguments=[name],
            )
        if len(values) == 3 and not values[1] <= values[0] <= values[2]:
            raise UserError(f"the {name} {values[0]:g} is not between its limits", arguments=[name])
        return cls(name, *(values if len(values) == 3 else 3 * values))

    def beta(self) -> tuple[float, float]:
        """Parameters of the beta distribution with this mean and these limits, right and wrong."""
        low, high = self.low, self.high
        if not 0 <= low <= self.estimate <= high <= 1:
            raise UserError(
                f"a rate and its limits are between 0 and 1 and in order, got {self.estimate}, "
                f"{low} and {high}"
            )
        mean = float(np.clip(self.estimate, 1e-6, 1 - 1e-6))
        if high - low < 1e-6:
            return CERTAIN * mean, CERTAIN * (1 - mean)

        def excess(log_n: float) -> float:
            n = np.exp(log_n)
            limits = betaincinv(n * mean, n * (1 - mean), [0.025, 0.975])
            return float(limits[1] - limits[0]) - (high - low)

        from scipy.optimize import brentq  # late: it takes a tenth of a second

        ends = (np.log(0.1), np.log(CERTAIN))
        if excess(ends[0]) < 0:
            return 0.5, 0.5
        n = float(np.exp(brentq(excess, *ends, xtol=1e-15)))
        return n * mean, n * (1 - mean)


@dataclass(frozen=True)
class GivenRates:
    """P(verdict 1 | class 1) and P(verdict 0 | class 0)."""

    sensitivity: GivenRate
    specificity: GivenRate

    @classmethod
    def of(cls, sensitivity: Rate | None, specificity: Rate | None) -> "GivenRates | None":
        """Both, as a user gives them; None if neither is given."""
        if sensitivity is None and specificity is None:
            return None
        if sensitivity is None or specificity is None:
            raise UserError(
                "give both the sensitivity and the specificity",
                arguments=["sensitivity", "specificity"],
            )
        return cls(
            GivenRate.of("sensitivity", sensitivity), GivenRate.of("specificity", specificity)
        )

    @property
    def is_coin(self) -> bool:
        """Whether either class gets each verdict equally often."""
        return math.isclose(self.sensitivity.estimate + self.specificity.estimate, 1.0)
