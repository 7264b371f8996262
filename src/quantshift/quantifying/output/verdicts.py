"""Whether an estimate can be believed, in plain words: what has changed, and what it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from quantshift.answers.words import percent, shortened
from quantshift.quantifiers.base.guarding import (
    AGREEMENT,
    COVARIATE,
    DECLARED,
    EVIDENCE,
    PRIOR,
    REFUTED,
)
from quantshift.quantifying.declaration import MEANING
from quantshift.quantifying.estimating.decision import (
    ASSUMED,
    GROUPS,
    IN_DOUBT,
    JOINT,
    JOINT_SHIFT,
    LIKE_GROUPS,
    LIKE_PERIODS,
    METHOD,
    UNLIKE,
    Decision,
)
from quantshift.quantifying.output.result import (
    BETWEEN_THE_TWO,
    COVARIATE_SHIFT,
    NO_CHANGE,
    PRIOR_SHIFT,
    RIGHT_POSTERIORS,
    Assumption,
    Audited,
    Shift,
)

CHANGES: Mapping[str, str] = MappingProxyType(
    {
        "prior": "Only the shares of the classes seem to have changed",
        "covariate": "The mix of {parts} has changed",
        "local": "The mix of {parts} within a class has changed",
        "outside": "The items are unlike the training items",
        JOINT: "Only the shares of the labels and of their combinations seem to have changed",
    }
)
"""What each kind of shift means to SubclassSLD, and one to several labels; parts are topics of
texts, or subgroups."""

ASSUMPTION_NAMES: Mapping[str, str] = MappingProxyType(
    {
        PRIOR_SHIFT: "if only the shares of the classes changed",
        COVARIATE_SHIFT: "if only the mix of items changed",
        "prior and covariate shift": "if both changed",
        "local shift": "if {parts} changed within a class",
        BETWEEN_THE_TWO: "if something between the two holds",
        NO_CHANGE: "if nothing changed",
        RIGHT_POSTERIORS: "if your posteriors are right",
        JOINT_SHIFT: "if only the shares of the labels and of their combinations changed",
        LIKE_GROUPS: "if it differs as your own groups do",
        LIKE_PERIODS: "if it changes as it did before",
    }
)
"""The assumptions about what has changed, without technical terms."""

SMALLEST_P = 1e-300
"""Smaller p-values are not told apart from 0."""

NOT_EXPLAINED = (
    "The new items differ from the training items in a way that changed shares of the classes "
    "cannot explain"
)

CLEAR = 0.01
"""A p-value above this is close to the level of the test, and words are chosen with care."""

SAME = 0.0005
"""Shares that differ by less are shown as the same percentage."""


@dataclass(frozen=True)
class Explained:
    """What is to be put into words about a batch.

    lead: the class whose estimates are given; name: how it is shown. topics: whether the items are
    texts. assumption: the method's own, in plain words; interval_note: the method's. groups: the
    column of the groups whose errors widen a range; in_time: whether they are periods. declared:
    what the user has declared about the shift; empty if nothing. n_deciding: about how many labels
    decide between two shares, if that is what the items leave open.
    """

    decision: Decision
    shift: Shift | None
    assumptions: tuple[Assumption, ...]
    audit: Audited | None
    lead: str
    name: str
    topics: bool
    untrained: bool
    assumption: str
    interval_note: str = ""
    groups: str | None = None
    in_time: bool = False
    declared: str = ""
    n_deciding: int | None = None

    @property
    def parts(self) -> str:
        """What a class is made of: topics of texts, or subgroups of other items."""
        return parts(topics=self.topics)

    def share_if(self, name: str) -> str | None:
        """The share of the lead under an assumption; None if it was not made."""
        shares = [a.prevalence[self.lead] for a in self.assumptions if a.name == name]
        return percent(shares[0]) if shares else None


def shift_in_short(shift: Shift, of_a_class: str) -> str:
    """What the tests say, without their numbers. of_a_class: see `parts`."""
    if shift.kind in CHANGES:
        return CHANGES[shift.kind].format(parts=of_a_class)
    return NOT_EXPLAINED


def parts(*, topics: bool) -> str:
    """What a class is made of: topics of texts, or subgroups of other items."""
    return "topics" if topics else "subgroups"


def p_text(shift: Shift) -> str:
    """The p-value; the test cannot go below its floor.

    >>> p_text(Shift(True, "prior", 0.002, p_floor=0.002))
    'p <= 0.002'
    """
    if shift.p_value < SMALLEST_P:
        return f"p < {SMALLEST_P:g}"
    if shift.p_value <= shift.p_floor:
        return f"p <= {shift.p_floor:.2g}"
    return f"p = {shift.p_value:.2g}"


def verdict(about: Explained, no_estimate_reason: str, used: float | None) -> str:
    """What the items show about the shift, and the estimates under each assumption.

    no_estimate_reason: why nothing can be estimated, if that is so. used: the estimate that counts.
    """
    if no_estimate_reason:
        return f"The shares cannot be estimated from these items: {no_estimate_reason}."
    if about.untrained:
        return (
            "Without labelled rows there is no way to tell whether your posteriors fit these items."
        )
    shift = about.shift
    near = shift is not None and shift.rejected and shift.auc is None and shift.p_value >= CLEAR
    alone = shift is not None and shift.rejected and not shift.is_significant
    refuted = "unlikely" if near or alone else "contradicted"
    estimates = _estimates(about, used, refuted=refuted)
    return f"{_what_changed(about)} {estimates}"


def _what_changed(about: Explained) -> str:
    """What the tests say, in a sentence or two."""
    shift, decision = about.shift, about.decision
    if shift is None:
        return "Not tested for changes beyond the shares of the classes."
    if decision.rests_on == METHOD:
        return _by_chosen_method(about, shift)
    if shift.kind == ASSUMED:
        return "You declared that only the mix of items has changed, which no items can contradict."
    if shift.rejected:
        sentence = f"{NOT_EXPLAINED} ({p_text(shift)})."
        if about.declared:
            sentence += " This contradicts what you declared."
        if shift.kind == UNLIKE or shift.auc is None or shift.explained is None:
            return sentence
        return (
            f"{sentence} These shares explain {shift.explained:.0%} of the difference; allowing "
            "for that, a classifier still tells new items from training items with an AUC of "
            f"{shift.auc:.2f} (0.5 is chance)."
        )
    shares = _changed_shares(decision)
    nothing = f"Nothing contradicts that only {shares} have changed"
    if decision.reason == EVIDENCE and shift.p_doubles is not None:
        return (
            f"{nothing}, and the usual changes in the mix of items would look different "
            f"(p = {shift.p_doubles:.2g})."
        )
    if decision.reason == AGREEMENT:
        return f"{nothing}; if only the mix of items has, the share is similar."
    if decision.reason == DECLARED:
        return f"{nothing}, as you declared."
    return f"{nothing}, but with a changed mix of items the sample could look the same."


def _by_chosen_method(about: Explained, shift: Shift) -> str:
    """What the shift test of SubclassSLD says."""
    change = CHANGES[shift.kind].format(parts=about.parts)
    if not shift.rejected:
        return f"{change} ({p_text(shift)})."
    if not shift.is_significant:
        return (
            f"Perhaps more has changed than the shares of the classes ({p_text(shift)}), but among "
            f"{shift.n_tested} batches one such result may well be chance (adjusted for their "
            f"number, p = {shift.p_adjusted:.2g})."
        )
    if shift.p_value >= CLEAR:
        # The sentence begins with the kind of change: "The mix of topics has changed".
        by_chance = "one sample in twenty looks like this by chance"
        return f"Perhaps {change[:1].lower()}{change[1:]} ({p_text(shift)}; {by_chance})."
    if not any(assumption.refuted for assumption in about.assumptions):
        return (
            f"{change} ({p_text(shift)}), so perhaps none of the assumptions holds for this batch."
        )
    return f"{change} ({p_text(shift)})."


def basis(about: Explained) -> str:
    """What the estimate rests on, in a sentence."""
    audit, decision, shift = about.audit, about.decision, about.shift
    if audit is not None and audit.progress is not None:
        return (
            f"based on the labels of {audit.n_labelled} random items, for the share among the "
            "items of the sample; valid under any shift, and at every look"
        )
    if audit is not None:
        return f"based on the labels of {audit.n_labelled} random items; valid under any shift"
    if about.untrained:
        return "assumes, as you declared, that your posteriors are right for these items"
    if decision.rests_on == METHOD:
        return _basis_of_method(about)
    shares = _changed_shares(decision)
    if decision.reason == EVIDENCE:
        return (
            f"assumes that only {shares} have changed; the items support that, "
            "since the usual changes in the mix of items would look different"
        )
    if decision.reason == AGREEMENT:
        either = (
            f"similar whether only {shares} or only the mix of items has changed; the interval "
            "covers either case"
        )
        learnt = f"; the estimate in it is learnt from the left-out groups of {about.groups!r}"
        return either + (learnt if decision.rests_on == GROUPS else "")
    if decision.reason == DECLARED:
        meaning = MEANING[PRIOR if decision.rests_on == PRIOR else COVARIATE]
        return f"assumes, as you declared, that {meaning}"
    return _basis_of_range(about, shift)


def _changed_shares(decision: Decision) -> str:
    """Whose shares have changed if nothing else has."""
    if decision.rests_on == JOINT:
        return "the shares of the labels and of their combinations"
    return "the shares of the classes"


def _learnt_from_groups(about: Explained) -> str:
    if about.in_time:
        return (
            f"learnt from the periods of {about.groups!r}, each estimated from those before it: "
            "how far to go from the training share. The range covers the assumptions, and errors "
            "as large as on these periods; it is not a confidence interval"
        )
    return (
        f"learnt from the groups of {about.groups!r} that were left out in turn: how far to go "
        "from the training share. The range comes from the errors on these groups; it is not a "
        "confidence interval"
    )


def _basis_of_range(about: Explained, shift: Shift | None) -> str:
    decision = about.decision
    if decision.rests_on == GROUPS:
        return _learnt_from_groups(about)
    group_errors = f", and errors as large as on your own {about.groups!r}" if about.groups else ""
    range_is = f"allows for more{group_errors}; it is not a confidence interval"
    if decision.reason != REFUTED:
        shares = about.share_if(JOINT_SHIFT if decision.rests_on == JOINT else PRIOR_SHIFT)
        return (
            "the items cannot tell what has changed: "
            f"{shares} if only {_changed_shares(decision)}, "
            f"{about.share_if('covariate shift')} if only the mix of items. The range covers both "
            f"and {range_is}"
        )
    if shift is not None and shift.kind == IN_DOUBT:
        return (
            "assumes that only the shares of the classes have changed, which explains most of the "
            f"difference from training but not all of it. The range {range_is}"
        )
    if shift is not None and shift.kind == UNLIKE:
        contrary = ", contrary to what you declared" if about.declared else ""
        return (
            "changed shares of the classes do not explain items that look like those of no "
            f"class{contrary}. The range holds whichever class they are of; it is not a confidence "
            "interval"
        )
    why = f"{NOT_EXPLAINED[:1].lower()}{NOT_EXPLAINED[1:]}"
    if about.declared:
        why = f"contrary to what you declared, {why}"
    rests_on = MEANING[COVARIATE if decision.rests_on == COVARIATE else PRIOR]
    instead = " instead" if decision.rests_on == COVARIATE else ", perhaps within subgroups,"
    return f"{why}. The estimate assumes{instead} that {rests_on}; the range {range_is}"


def _basis_of_method(about: Explained) -> str:
    shift, note = about.shift, about.interval_note
    if shift is None:
        more = f". {note[:1].upper()}{note[1:]}" if note else ""
        return f"rests on an untested assumption: {about.assumption}{more}"
    if shift.kind == "outside" and shift.is_significant:
        perhaps = "perhaps " if shift.p_value >= CLEAR else ""
        return (
            f"the items are {perhaps}unlike the training items: the range covers the estimates "
            "under all assumptions, and is right only if one of them holds"
        )
    if shift.rejected and not shift.is_significant:
        return (
            f"assumes that only the shares of classes and {about.parts} have changed; the test of "
            "this batch alone doubts that, but among so many batches it may be chance"
        )
    if about.assumptions and all(a.weight is None for a in about.assumptions):
        contradicts = "contradict" if shift.rejected else "do not contradict"
        return f"assumes: {about.assumption}; the scores {contradicts} it"
    return f"assumes that only the shares of classes and {about.parts} have changed"


def named_numbers(about: Sequence[Assumption], lead: str) -> str:
    """The share of a class if only the classes changed, and if only the mix of items did.

    Without labelled rows: if the posteriors are right.

    >>> named_numbers([Assumption("covariate shift", "PCC", {"a": 0.25})], "a")
    '25.0% if only the mix of items changed'
    """
    names = (PRIOR_SHIFT, COVARIATE_SHIFT, RIGHT_POSTERIORS)
    return ", ".join(
        f"{percent(assumption.prevalence[lead])} {ASSUMPTION_NAMES[assumption.name]}"
        for assumption in sorted(about, key=lambda a: a.name, reverse=True)
        if assumption.name in names
    )


def _estimates(about: Explained, used: float | None, *, refuted: str) -> str:
    """The share of a class under each assumption, in a sentence that says which one counts.

    refuted: the word for assumptions that the items contradict.
    """
    assumptions = about.assumptions
    shares = [assumption.prevalence[about.lead] for assumption in assumptions]
    counting = [
        not assumption.refuted and used is not None and abs(share - used) < SAME
        for assumption, share in zip(assumptions, shares, strict=True)
    ]
    texts = []
    for assumption, share, counts in zip(assumptions, shares, counting, strict=True):
        text = f"{_assumption_text(assumption.name, about.parts)} {percent(share)}"
        if counts and sum(counting) == 1:
            text += " (used)"
        if assumption.refuted:
            text += f" ({refuted})"
        if assumption.for_comparison:
            text += " (for comparison)"
        texts.append(text)
    weighted = any(assumption.weight is not None for assumption in assumptions)
    mean = ""
    if used is not None and sum(counting) != 1:
        how = ", their mean weighted by the evidence" if weighted and not any(counting) else ""
        mean = f"; used: {percent(used)}{how}"
    return f"Share of {shortened(about.name)!r} {'; '.join(texts)}{mean}."


def _assumption_text(name: str, of_a_class: str) -> str:
    return ASSUMPTION_NAMES.get(name, name).format(parts=of_a_class)
