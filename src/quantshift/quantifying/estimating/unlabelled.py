"""What the items of one sample show without labels.

The facts among it decide the kind of its answer (`quantshift.claims.decide`).
"""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from quantshift.base.types import Prevalences, Reals
from quantshift.claims import Alternative, Assumption, Explanation, Facts, Grounds, decide
from quantshift.diagnosis.unseen_class import LEVEL
from quantshift.errors import UserError
from quantshift.intervals.prediction import PrevalenceInterval, Replicates
from quantshift.quantifying.result import Shift

Limit = TypeVar("Limit", float, Reals)
"""A limit of one share, or the limits of the shares of all classes."""


def allow_for_unknown(low: Limit, high: Limit, share: float) -> tuple[Limit, Limit]:
    """Limits for all items, if this share of them may be of any class.

    >>> allow_for_unknown(0.25, 0.5, 0.5)
    (0.125, 0.75)
    """
    return low * (1 - share), high * (1 - share) + share


def facts_of_chosen_method(shift: Shift | None) -> Facts:
    """Those of a method that the user chose; the items may contradict its assumption."""
    refuted = shift is not None and shift.is_significant
    return Facts(Assumption.METHOD, declared=Assumption.METHOD, refuted=refuted)


def facts_without_training(assume: str) -> Facts:
    """Those without labelled items: nothing shows that posteriors are right.

    Unless the user declares that they are, any share is possible.
    """
    if assume == Assumption.PRIOR:
        raise UserError(
            "without labelled rows nothing is known about the classes in training; give a "
            "training table",
            arguments=["train", "assume"],
        )
    declared = Assumption.COVARIATE if assume == Assumption.COVARIATE else None
    return Facts(Assumption.POSTERIORS, declared=declared)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything about one sample that does not need labels.

    no_estimate_reason: why nothing can be estimated from the items; empty if it can. gone: the
    columns that say nothing about them, if that is why. support: log-likelihood of label
    shift minus that of selected items; None if unknown. none_of_these: the share of items like
    those of no class in training; None if there are none. possible: limits of what remains possible
    if nothing is declared, low and high, (2, n_classes); None if that is not known. either: the
    estimates under prior and under covariate shift with their lower and upper limits,
    (3, 2, n_classes); None if they are not known.
    """

    interval: PrevalenceInterval
    alternatives: tuple[Alternative, ...]
    shift: Shift | None
    facts: Facts
    no_estimate_reason: str = ""
    gone: tuple[str, ...] = ()
    none_of_these: float | None = None
    support: float | None = None
    possible: Reals | None = None
    either: Reals | None = None

    @property
    def undeclared(self) -> Grounds:
        """What an answer would stand on if nothing were declared."""
        assert self.possible is not None
        widest = float((self.possible[1] - self.possible[0]).max())
        return decide(replace(self.facts, declared=None, width=widest))

    @property
    def grounds(self) -> Grounds:
        """What an answer stands on that says no more than the items."""
        widest = float(self.interval.width.max())
        informative = not self.no_estimate_reason
        return decide(replace(self.facts, width=widest, informative=informative))

    @property
    def p_doubles(self) -> float | None:
        """How likely selected items would look like the sample; None if that was not tested."""
        return None if self.shift is None else self.shift.p_doubles

    def with_unlike(self, share: float | None) -> "Evidence":
        """The evidence, given the share of items like those of no class; None if there are none.

        No shares of the classes explain such items, and each of them may be of any class. If only
        the mix of items is said to have changed, no items contradict that.
        """
        found, shift = replace(self, none_of_these=share), self.shift
        if share is None or shift is None or shift.rejected or shift.kind is Explanation.ASSUMED:
            return found
        low, high = allow_for_unknown(self.interval.low, self.interval.high, share)
        p_value = min(shift.p_value, LEVEL)
        return replace(
            found,
            interval=replace(self.interval, low=low, high=high),
            shift=replace(shift, rejected=True, kind=Explanation.UNLIKE, p_value=p_value),
            facts=replace(self.facts, refuted=True),
        )

    @classmethod
    def of_sample(
        cls,
        drawn: Replicates,
        i: int,
        shares: tuple[Prevalences, Reals, Reals],
        *,
        simultaneous: bool,
        alternatives: tuple[Alternative, ...],
        shift: Shift | None,
        facts: Facts,
        support: float | None = None,
        possible: Reals | None = None,
        either: Reals | None = None,
    ) -> "Evidence":
        """The evidence on the i-th sample of `drawn`. shares: the estimate and its limits."""
        prevalence, low, high = shares
        interval = PrevalenceInterval(
            prevalence=prevalence,
            low=low,
            high=high,
            level=drawn.level,
            classes=drawn.point.classes,
            replicates=drawn.values[i],
            simultaneous=simultaneous,
            informative=drawn.informative[i],
            bias=drawn.values[i].mean(axis=0) - prevalence,
        )
        return cls(
            *(interval, alternatives, shift, facts),
            support=support,
            possible=possible,
            either=either,
        )

    def refused(self, no_estimate_reason: str, gone: tuple[str, ...] = ()) -> "Evidence":
        """The evidence on items from which nothing can be estimated. gone: columns, if why."""
        unknown = replace(
            self.interval,
            low=np.zeros_like(self.interval.low),
            high=np.ones_like(self.interval.high),
            informative=np.zeros_like(self.interval.informative),
        )
        return replace(
            self,
            interval=unknown,
            alternatives=(),
            possible=None,
            either=None,
            shift=None,
            no_estimate_reason=no_estimate_reason,
            gone=gone,
            facts=replace(self.facts, gone=bool(gone)),
        )
