"""Which kind of answer a sample gets, and what it rests on: decided once, for everything that
prints, draws, stores or exits.

A *confidence interval* needs a reason: the items support that only the shares of the classes
changed (evidence), all assumptions give similar shares (agreement), or the user has said what to
assume or which method to use (declared) and the items do not contradict it. Otherwise the answer is
a *range*, or it *cannot be estimated*: the range is too wide to act upon, or the classifier knows
nothing. For guarded methods `quantshift.quantifiers.base.guarding` weighs the tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from quantshift.answers.kinds import INTERVAL, RANGE
from quantshift.base.types import Prevalences, Reals
from quantshift.diagnosis.unseen_class import LEVEL
from quantshift.errors import UserError
from quantshift.intervals.prediction import PrevalenceInterval, Replicates
from quantshift.quantifiers.base.guarding import (
    AGREEING_SCORES,
    AUTO,
    CONFIDENCE_INTERVAL,
    COVARIATE,
    DECLARED,
    NEITHER,
    NO_EVIDENCE,
    PRIOR,
    REFUTED,
    WIDEST,
    Grounds,
    kinds_of,
)
from quantshift.quantifying.output.result import Assumption, Shift

UNEXPLAINED = "unexplained"
"""The kind of shift of a sample that changed shares of the classes do not explain."""

IN_DOUBT = "in doubt"
"""The kind of shift if prior shift explains most of the difference, but not all of it."""

UNLIKE = "unlike every class"
"""The kind of shift of a sample with items like those of no class in training."""

ASSUMED = "assumed"
"""The kind of shift if covariate shift is declared, which no items can contradict."""

LABELS, NO_ITEMS = "labels", "no items"
"""Reasons for the kind of an answer, in addition to those of guarded methods."""

GROUPS, LIKE_GROUPS, LIKE_PERIODS = "groups", "like the groups", "like earlier periods"
"""What an estimate rests on if left-out groups have taught it, and the names of that assumption."""

JOINT, JOINT_SHIFT = "joint", "joint shift"
"""What an estimate rests on if several labels are answered together, which is also the kind of
shift that explains the items, and the name of that assumption."""

METHOD = "method"
"""What an estimate rests on if the user has chosen the method: the method's own assumption."""

Limit = TypeVar("Limit", float, Reals)
"""A limit of one share, or the limits of the shares of all classes."""


@dataclass(frozen=True)
class Decision:
    """The kind of an answer without labels, why, and the assumption behind its estimate.

    reason: evidence, agreement, declared, refuted or no evidence.
    rests_on: prior, covariate, between, groups, joint or method.
    too_wide: whether nothing can be estimated because the range allows too much.
    """

    kind: str
    reason: str
    rests_on: str = METHOD
    too_wide: bool = False

    @classmethod
    def of_grounds(cls, grounds: Grounds) -> "Decision":
        """The decision of a guarded method about one sample."""
        reason = str(grounds.reason)
        if reason == NEITHER:
            reason = REFUTED if grounds.refuted else NO_EVIDENCE
        kind = INTERVAL if grounds.kind == CONFIDENCE_INTERVAL else RANGE
        return cls(kind, reason, str(grounds.rests_on))

    @classmethod
    def of_scores(cls, assume: str, *, refuted: bool, apart: float, width: float) -> "Decision":
        """The decision of the default method from scores alone, which are never evidence.

        apart: the largest difference between estimates under different assumptions; width: of the
        range.
        """
        (kind,), (reason,) = kinds_of(
            None if assume == AUTO else assume,
            refuted=np.array([refuted]),
            doubles=np.ones(1),
            apart=np.array([apart]),
            width=np.array([width]),
            informative=True,
            agreeing=AGREEING_SCORES,
        )
        if reason == NEITHER:
            reason = REFUTED if refuted else NO_EVIDENCE
        return cls(INTERVAL if kind == CONFIDENCE_INTERVAL else RANGE, str(reason), PRIOR)

    def with_limits(self, low: Reals, high: Reals) -> "Decision":
        """The decision, given the limits: a range may be too wide to act upon."""
        return replace(self, too_wide=self.kind == RANGE and (high - low).max() > WIDEST)

    @classmethod
    def of_chosen_method(cls, shift: Shift | None) -> "Decision":
        """The decision of a method that the user chose; the items may contradict its assumption."""
        if shift is not None and shift.is_significant:
            return cls(RANGE, REFUTED)
        return cls(INTERVAL, DECLARED)

    @classmethod
    def without_training(cls, assume: str) -> "Decision":
        """The decision if there are no labelled items: nothing shows that posteriors are right.

        Unless the user declares that they are, any share is possible.
        """
        if assume == PRIOR:
            raise UserError(
                "without labelled rows nothing is known about the classes in training; give a "
                "training table",
                arguments=["train", "assume"],
            )
        return cls(INTERVAL, DECLARED) if assume == COVARIATE else cls(RANGE, NO_EVIDENCE)


def allow_for_unknown(low: Limit, high: Limit, share: float) -> tuple[Limit, Limit]:
    """Limits for all items, if this share of them may be of any class.

    >>> allow_for_unknown(0.25, 0.5, 0.5)
    (0.125, 0.75)
    """
    return low * (1 - share), high * (1 - share) + share


def spread(assumptions: Sequence[Assumption]) -> float:
    """The largest difference between the estimates of a class under different assumptions."""
    ranges = [[a.prevalence[label] for a in assumptions] for label in assumptions[0].prevalence]
    return max(max(values) - min(values) for values in ranges)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything about one sample that does not need labels.

    no_estimate_reason: why nothing can be estimated from the items; empty if it can. cure: what to
    do then. support: log-likelihood of label shift minus that of selected items; None if unknown.
    none_of_these: the share of items like those of no class in training; None if there are none.
    """

    interval: PrevalenceInterval
    assumptions: tuple[Assumption, ...]
    shift: Shift | None
    decision: Decision
    no_estimate_reason: str = ""
    cure: str = ""
    none_of_these: float | None = None
    support: float | None = None

    @property
    def p_doubles(self) -> float | None:
        """How likely selected items would look like the sample; None if that was not tested."""
        return None if self.shift is None else self.shift.p_doubles

    def with_unlike(self, share: float | None) -> "Evidence":
        """The evidence, given the share of items like those of no class; None if there are none.

        No shares of the classes explain such items, and each of them may be of any class. If only
        the mix of items is said to have changed, no items contradict that.
        """
        found = replace(self, none_of_these=share)
        shift, decision = self.shift, self.decision
        if share is None or shift is None or shift.rejected or shift.kind == ASSUMED:
            return found
        low, high = allow_for_unknown(self.interval.low, self.interval.high, share)
        decision = replace(decision, kind=RANGE, reason=REFUTED).with_limits(low, high)
        return replace(
            found,
            interval=replace(self.interval, low=low, high=high),
            shift=replace(shift, rejected=True, kind=UNLIKE, p_value=min(shift.p_value, LEVEL)),
            decision=decision,
        )

    @classmethod
    def of_sample(
        cls,
        drawn: Replicates,
        i: int,
        shares: tuple[Prevalences, Reals, Reals],
        *,
        simultaneous: bool,
        assumptions: tuple[Assumption, ...],
        shift: Shift | None,
        decision: Decision,
        support: float | None = None,
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
        return cls(interval, assumptions, shift, decision, support=support)

    def refused(self, no_estimate_reason: str, cure: str = "") -> "Evidence":
        """The evidence on items from which nothing can be estimated."""
        unknown = replace(
            self.interval,
            low=np.zeros_like(self.interval.low),
            high=np.ones_like(self.interval.high),
            informative=np.zeros_like(self.interval.informative),
        )
        return replace(
            self,
            interval=unknown,
            assumptions=(),
            shift=None,
            no_estimate_reason=no_estimate_reason,
            cure=cure,
        )
