"""What an estimate would be under one assumption or another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Prevalences
from quantshift.claims.assumptions import Assumption


@dataclass(frozen=True)
class Alternative:
    """The estimate under one assumption about what has changed since training.

    weight: its weight of evidence, if the method weights assumptions.
    refuted: whether the items contradict it.
    for_comparison: whether it is neither tested nor allowed for. The interval contains all
        estimates that are neither refuted nor for comparison.
    """

    assumption: Assumption
    method: str
    prevalence: Mapping[str, float]
    weight: float | None = None
    refuted: bool = False
    for_comparison: bool = False

    @property
    def shares(self) -> Prevalences:
        """The estimate in the order of the classes."""
        return np.fromiter(self.prevalence.values(), np.float64)

    def condition(self, of_a_class: str = "subgroups") -> str:
        """The assumption in words. of_a_class: what a class is made of.

        >>> Alternative(Assumption.COVARIATE, "PCC", {"a": 1.0}).condition()
        'if only the mix of items changed'
        """
        return self.assumption.words.format(parts=of_a_class, method=self.method)

    @property
    def technical(self) -> str:
        """The assumption as experts call it."""
        return self.assumption.technical.format(method=self.method)


def spread(alternatives: Sequence[Alternative]) -> float:
    """The largest difference between the estimates of a class under different assumptions."""
    return float(np.ptp([each.shares for each in alternatives], axis=0).max())


def shares_by_assumption(alternatives: Sequence[Alternative]) -> dict[Assumption, Prevalences]:
    """The estimate under each assumption, in the order of the classes."""
    return {each.assumption: each.shares for each in alternatives}
