"""Of which kind an answer is, and why: decided here, for everything that answers.

Unlabelled items can refute that only the shares of the classes changed (label shift), and can never
confirm it; they can never refute that only the mix of items changed (covariate shift), which allows
every change of the features. So an answer is an interval only if

    evidence    label shift is not refuted by a sample that could tell it from its doubles, which
                covariate shift would make,
    agreement   both assumptions give similar shares, and the interval covers both, or
    labels      people have labelled items that were chosen in a stated way.

Without any of these, two short intervals remain if the sample is large enough, one under each
assumption: the answer is `either` of them.

It is conditional if it rests on what somebody has `declared`, or on how labelled items were
`guessed` to be chosen. Otherwise it is a range, because what it rests on is `refuted` or there is
`no evidence` for it; or nothing can be estimated, because the items say nothing about the classes
(`uninformative`), columns that the model rests on have lost what they said (`gone`), or the range
holds nearly everything.

A caller states the facts; whoever learns more about the same sample states them again with what is
new, and asks again.
"""

from dataclasses import dataclass

from quantshift.claims.assumptions import LEARNT, Assumption
from quantshift.claims.kinds import WIDEST, Kind
from quantshift.claims.reasons import Reason

EVIDENCE_LEVEL = 0.005
"""Doubles of the sample must be this unlikely to look like it. At .1, samples that were selected
by a score get false intervals in 3.6% of cases, and a tenth more label shifts an interval."""

AGREEING = 0.15
"""Estimates under the two assumptions that differ by less agree, if the features refute neither."""

AGREEING_SCORES = 0.05
"""The same where only scores are known, and a change of the features may go unnoticed."""

FEWEST_FOR_EITHER = 150
"""Of fewer items the intervals under the two assumptions are hardly shorter than the range."""


MUCH_SHORTER = 0.8
"""Two intervals are an answer if they are this much shorter than a range that says something."""


@dataclass(frozen=True)
class Labelled:
    """What is known of the labelled items that an answer rests on.

    stated: whether somebody has said how they were chosen, or it follows from what is given.
    at_every_look: whether the limits hold however often one looks. bounds: whether the limits are
    those of everything that is possible, and not of a confidence interval.
    """

    stated: bool = True
    at_every_look: bool = False
    bounds: bool = False


@dataclass(frozen=True)
class Facts:
    """All that the kind of an answer depends on.

    rests_on: the assumption behind the estimate; None if it rests on labels alone.
    declared: the assumption that the user has declared; METHOD for that of a chosen method.
    refuted: whether the data contradict what the answer rests on: label shift, the assumption of
        the chosen method, or the way in which labelled items were chosen.
    doubles: how likely a sample of selected items looks like this one; 1 if that was not tested.
    apart: the largest difference between the estimates under the two assumptions; agreeing: that
        below which they agree.
    allowed: the width of the range of what remains possible, at the usual level.
    width: of the limits that are shown.
    length: of the intervals under the two assumptions together, for the class where it is largest;
        None if they are not known.
    informative: whether the items say anything about the classes.
    gone: whether columns that the model rests on say nothing about these items.
    n_items: how many there are, if that is known.
    labelled: None if the answer does not rest on labels.
    """

    rests_on: Assumption | None
    declared: Assumption | None = None
    refuted: bool = False
    doubles: float = 1.0
    apart: float = 1.0
    agreeing: float = AGREEING
    allowed: float = 0.0
    width: float = 0.0
    length: float | None = None
    informative: bool = True
    gone: bool = False
    n_items: int | None = None
    labelled: Labelled | None = None


@dataclass(frozen=True)
class Grounds:
    """What an answer stands on: its kind, why, and the assumption behind its estimate.

    Made by `decide`, and by readers of JSON.
    """

    kind: Kind
    reason: Reason
    rests_on: Assumption | None

    @property
    def summary(self) -> str:
        """The first word of the line of a call."""
        return "UNSTATED" if self.is_guessed else self.kind.summary

    @property
    def is_guessed(self) -> bool:
        """Whether nobody has said how the labels behind an interval were chosen."""
        return self.kind is Kind.CONDITIONAL and self.reason is Reason.GUESSED

    @property
    def declares_covariate(self) -> bool:
        """Whether the user has declared that only the mix of items changed."""
        return self.reason is Reason.DECLARED and self.rests_on is Assumption.COVARIATE


def decide(facts: Facts) -> Grounds:
    """The kind of an answer, and why."""
    if facts.n_items == 0:
        return Grounds(Kind.CANNOT, Reason.NO_ITEMS, facts.rests_on)
    reason = _of_labels(facts, facts.labelled) if facts.labelled else _of_items(facts)
    return Grounds(_kind(facts, reason), reason, facts.rests_on)


def _of_labels(facts: Facts, labelled: Labelled) -> Reason:
    """The reason of an answer that rests on labels."""
    if not facts.informative:
        return Reason.UNINFORMATIVE
    if not labelled.stated:
        return Reason.GUESSED
    if labelled.bounds:
        return Reason.REFUTED if facts.refuted else Reason.NO_EVIDENCE
    # The user insists on a design that the data contradict, or has declared more than a design.
    return Reason.DECLARED if facts.refuted or facts.declared else Reason.LABELS


def _of_items(facts: Facts) -> Reason:
    """The reason of an answer that rests on items without labels."""
    supported = facts.doubles <= EVIDENCE_LEVEL
    if facts.gone:
        return Reason.GONE
    if facts.declared is Assumption.COVARIATE and facts.informative:
        # No items can contradict it.
        return Reason.DECLARED
    if facts.refuted:
        return Reason.REFUTED
    if not facts.informative:
        return Reason.UNINFORMATIVE
    if facts.declared is not None:
        return Reason.DECLARED
    if supported:
        # Groups that were left out show that such support is no guarantee.
        return Reason.NO_EVIDENCE if facts.rests_on in LEARNT else Reason.EVIDENCE
    if facts.apart < facts.agreeing and facts.allowed <= WIDEST:
        return Reason.AGREEMENT
    return Reason.NO_EVIDENCE


def _kind(facts: Facts, reason: Reason) -> Kind:
    """The kind of an answer with this reason."""
    bounds = facts.labelled is not None and facts.labelled.bounds
    if not facts.informative or reason is Reason.GONE:
        return Kind.CANNOT
    if reason is Reason.NO_EVIDENCE and not bounds and _is_either(facts):
        return Kind.EITHER
    if bounds or reason in (Reason.REFUTED, Reason.NO_EVIDENCE):
        return Kind.CANNOT if facts.width > WIDEST else Kind.RANGE
    if reason in (Reason.DECLARED, Reason.GUESSED):
        return Kind.CONDITIONAL
    if facts.labelled is not None and facts.labelled.at_every_look:
        return Kind.SEQUENCE
    return Kind.INTERVAL


def _is_either(facts: Facts) -> bool:
    """Whether two intervals say more than a range, and little enough is left to act upon them."""
    if facts.length is None or facts.n_items is None or facts.rests_on in LEARNT:
        return False
    shorter = facts.allowed > WIDEST or facts.length <= MUCH_SHORTER * facts.allowed
    return facts.n_items >= FEWEST_FOR_EITHER and facts.length <= WIDEST and shorter
