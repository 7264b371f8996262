"""What a measure of performance declares."""

from collections.abc import Callable
from dataclasses import dataclass

from quantshift.base.types import Reals
from quantshift.measuring.measures.label_chances import LabelledScores


@dataclass(frozen=True)
class PerformanceMeasure:
    """A measure of a classifier on items whose true classes have chances.

    name: how users call it; label: how outputs show it.
    of_classes: the measure of each class against the others, (n_classes,); None if it has none.
        NaN where it is not defined, such as the precision of a class that is never predicted.
    overall: of all classes together; None: the mean over classes for which it is defined.
    is_share: from 0 to 1, shown in percent. needs_costs: it is left out where none are given.
    """

    name: str
    label: str
    of_classes: Callable[[LabelledScores], Reals] | None = None
    overall: Callable[[LabelledScores], float] | None = None
    is_share: bool = True
    needs_costs: bool = False
