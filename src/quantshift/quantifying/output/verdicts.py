"""Whether an estimate can be believed, in plain words: what has changed, and what it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from quantshift.answers.words import shortened
from quantshift.base.nouns import percent
from quantshift.claims import LEARNT, Alternative, Assumption, Explanation, Grounds, Kind, Reason
from quantshift.claims.findings import Finding
from quantshift.quantifying.columns import parts
from quantshift.quantifying.result import Audited, Shift

CHANGES: Mapping[Explanation, str] = MappingProxyType(
    {
        Explanation.PRIOR: "Only the shares of the classes seem to have changed",
        Explanation.COVARIATE: "The mix of {parts} has changed",
        Explanation.LOCAL: "The mix of {parts} within a class has changed",
        Explanation.OUTSIDE: "The items are unlike the training items",
        Explanation.JOINT: (
            "Only the shares of the labels and of their combinations seem to have changed"
        ),
    }
)
"""What each kind of shift means to SubclassSLD, and one to several labels; parts are topics of
texts, or subgroups."""

SMALLEST_P = 1e-300
"""Smaller p-values are not told apart from 0."""

NOT_EXPLAINED = (
    "The new items differ from the training items in a way that changed shares of the classes "
    "cannot explain"
)

MEANING = "this holds only if labels still mean the same"
"""What no items without labels can show, whatever else an answer rests on."""

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
    what the user has declared about the shift; empty if nothing. deciding: the advice to let
    labels decide between two shares, if that is what the items leave open.
    """

    grounds: Grounds
    shift: Shift | None
    alternatives: tuple[Alternative, ...]
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
    deciding: Finding | None = None

    @property
    def parts(self) -> str:
        """What a class is made of: topics of texts, or subgroups of other items."""
        return parts(topics=self.topics)

    def share_if(self, assumption: Assumption) -> float | None:
        """The share of the lead under an assumption; None if it was not made."""
        alternatives = [a for a in self.alternatives if a.assumption is assumption]
        shares = [alternative.prevalence[self.lead] for alternative in alternatives]
        return shares[0] if shares else None

    def text_if(self, assumption: Assumption) -> str:
        """The same as it is shown."""
        share = self.share_if(assumption)
        return "not known" if share is None else percent(share)


def shift_in_short(shift: Shift, of_a_class: str) -> str:
    """What the tests say, without their numbers. of_a_class: see `parts`."""
    if shift.kind in CHANGES:
        return CHANGES[shift.kind].format(parts=of_a_class)
    return NOT_EXPLAINED


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
    shift, grounds = about.shift, about.grounds
    if shift is None:
        return "Not tested for changes beyond the shares of the classes."
    if grounds.rests_on is Assumption.METHOD:
        return _by_chosen_method(about, shift)
    if shift.kind is Explanation.ASSUMED:
        return "You declared that only the mix of items has changed, which no items can contradict."
    if shift.rejected:
        sentence = f"{NOT_EXPLAINED} ({p_text(shift)})."
        if about.declared:
            sentence += " This contradicts what you declared."
        if shift.kind is Explanation.UNLIKE or shift.auc is None or shift.explained is None:
            return sentence
        return (
            f"{sentence} These shares explain {shift.explained:.0%} of the difference; allowing "
            "for that, a classifier still tells new items from training items with an AUC of "
            f"{shift.auc:.2f} (0.5 is chance)."
        )
    shares = _changed_shares(grounds)
    fits = f"The items fit a change of {shares} alone"
    if grounds.reason is Reason.EVIDENCE and shift.p_doubles is not None:
        return (
            f"{fits}, and the usual changes in the mix of items would look different "
            f"(p = {shift.p_doubles:.2g})."
        )
    if grounds.reason is Reason.AGREEMENT:
        return f"{fits}; if the mix of items changed instead, the share would be similar."
    if grounds.reason is Reason.DECLARED:
        return f"{fits}, as you declared."
    return f"{fits}, but with a changed mix of items the sample could look the same."


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
    if not any(alternative.refuted for alternative in about.alternatives):
        return (
            f"{change} ({p_text(shift)}), so perhaps none of the assumptions holds for this batch."
        )
    return f"{change} ({p_text(shift)})."


def basis(about: Explained) -> str:
    """What the estimate rests on, in a sentence; without labels, also on what labels mean."""
    if about.audit is not None:
        return _basis_of_audit(about.audit)
    return f"{_basis_of_items(about)}. {MEANING[:1].upper()}{MEANING[1:]}"


def _basis_of_audit(audit: Audited) -> str:
    if audit.progress is not None:
        return (
            f"based on the labels of {audit.n_labelled} random items, for the share among the "
            "items of the sample; valid under any shift, and at every look"
        )
    stands_on = f"based on the labels of {audit.n_labelled} random items"
    if audit.n_skipped:
        return (
            f"{stands_on}; valid only if the {audit.n_skipped} left without a label are like these"
        )
    return f"{stands_on}; valid under any shift"


def _basis_of_items(about: Explained) -> str:
    grounds, shift = about.grounds, about.shift
    if about.untrained:
        return "assumes, as you declared, that your posteriors are right for these items"
    if grounds.rests_on is Assumption.METHOD:
        return _basis_of_method(about)
    shares = _changed_shares(grounds)
    if grounds.reason is Reason.EVIDENCE:
        return (
            f"assumes that only {shares} have changed; the items support that, "
            "since the usual changes in the mix of items would look different"
        )
    if grounds.reason is Reason.AGREEMENT:
        either = (
            f"similar whether only {shares} or only the mix of items has changed; the interval "
            "covers either case, but no change of both at once"
        )
        learnt = f"; the estimate in it is learnt from the left-out groups of {about.groups!r}"
        return either + (learnt if grounds.rests_on in LEARNT else "")
    if grounds.reason is Reason.DECLARED:
        return f"assumes, as you declared, that {_meant(grounds).meaning}"
    return _basis_of_range(about, shift)


def _meant(grounds: Grounds) -> Assumption:
    """The simpler of two assumptions behind an estimate that may be between them."""
    return Assumption.COVARIATE if grounds.rests_on is Assumption.COVARIATE else Assumption.PRIOR


def _changed_shares(grounds: Grounds) -> str:
    """Whose shares have changed if nothing else has."""
    if grounds.rests_on is Assumption.JOINT:
        return "the shares of the labels and of their combinations"
    return "the shares of the classes"


def _learnt_from_groups(about: Explained) -> str:
    if about.in_time:
        return (
            f"learnt from the periods of {about.groups!r}, each estimated from those before it: "
            "how far to go from the training share. The range covers errors as large as on these "
            "periods and, unless the items are like theirs, the assumptions; it is not a "
            "confidence interval"
        )
    return (
        f"learnt from the groups of {about.groups!r} that were left out in turn: how far to go "
        "from the training share. The range comes from the errors on these groups; it is not a "
        "confidence interval"
    )


def _basis_of_range(about: Explained, shift: Shift | None) -> str:
    grounds = about.grounds
    if grounds.rests_on in LEARNT:
        return _learnt_from_groups(about)
    if grounds.kind is Kind.EITHER:
        return "nothing in the items can tell which of the two holds; labels can"
    group_errors = f", and errors as large as on your own {about.groups!r}" if about.groups else ""
    range_is = f"allows for more{group_errors}; it is not a confidence interval"
    if grounds.reason is not Reason.REFUTED:
        share = about.text_if(
            Assumption.JOINT if grounds.rests_on is Assumption.JOINT else Assumption.PRIOR
        )
        return (
            "the items cannot tell what has changed: "
            f"{share} if only {_changed_shares(grounds)}, "
            f"{about.text_if(Assumption.COVARIATE)} if only the mix of items. The range covers "
            f"both and {range_is}"
        )
    if shift is not None and shift.kind is Explanation.IN_DOUBT:
        return (
            "assumes that only the shares of the classes have changed, which explains most of the "
            f"difference from training but not all of it. The range {range_is}"
        )
    if shift is not None and shift.kind is Explanation.UNLIKE:
        contrary = ", contrary to what you declared" if about.declared else ""
        return (
            "changed shares of the classes do not explain items that look like those of no "
            f"class{contrary}. The range holds whichever class they are of; it is not a confidence "
            "interval"
        )
    why = f"{NOT_EXPLAINED[:1].lower()}{NOT_EXPLAINED[1:]}"
    if about.declared:
        why = f"contrary to what you declared, {why}"
    meaning = _meant(grounds).meaning
    instead = (
        " instead" if grounds.rests_on is Assumption.COVARIATE else ", perhaps within subgroups,"
    )
    return f"{why}. The estimate assumes{instead} that {meaning}; the range {range_is}"


def _basis_of_method(about: Explained) -> str:
    shift, note = about.shift, about.interval_note
    if shift is None:
        more = f". {note[:1].upper()}{note[1:]}" if note else ""
        return f"rests on an untested assumption: {about.assumption}{more}"
    if shift.kind is Explanation.OUTSIDE and shift.is_significant:
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
    if about.alternatives and all(a.weight is None for a in about.alternatives):
        contradicts = "contradict" if shift.rejected else "do not contradict"
        return f"assumes: {about.assumption}; the scores {contradicts} it"
    return f"assumes that only the shares of classes and {about.parts} have changed"


def named_numbers(about: Sequence[Alternative], lead: str) -> str:
    """The share of a class if only the classes changed, and if only the mix of items did.

    Without labelled rows: if the posteriors are right.

    >>> named_numbers([Alternative(Assumption.COVARIATE, "PCC", {"a": 0.25})], "a")
    '25.0% if only the mix of items changed'
    >>> named_numbers([Alternative(Assumption.PRIOR, "SLD", {"a": 1.0}, refuted=True)], "a")
    ''
    """
    named = (Assumption.PRIOR, Assumption.POSTERIORS, Assumption.COVARIATE)
    return ", ".join(
        f"{percent(each.prevalence[lead])} {each.condition()}"
        for each in sorted(about, key=lambda a: a.assumption, reverse=True)
        if each.assumption in named and not each.refuted
    )


def _estimates(about: Explained, used: float | None, *, refuted: str) -> str:
    """The share of a class under each assumption, in a sentence that says which one counts.

    refuted: the word for assumptions that the items contradict.
    """
    alternatives = about.alternatives
    shares = [alternative.prevalence[about.lead] for alternative in alternatives]
    counting = [
        not alternative.refuted and used is not None and abs(share - used) < SAME
        for alternative, share in zip(alternatives, shares, strict=True)
    ]
    texts = []
    for alternative, share, counts in zip(alternatives, shares, counting, strict=True):
        text = f"{alternative.condition(about.parts)} {percent(share)}"
        if counts and sum(counting) == 1:
            text += " (used)"
        if alternative.refuted:
            text += f" ({refuted})"
        if alternative.for_comparison:
            text += " (for comparison)"
        texts.append(text)
    weighted = any(alternative.weight is not None for alternative in alternatives)
    mean = ""
    if used is not None and sum(counting) != 1:
        how = ", their mean weighted by the evidence" if weighted and not any(counting) else ""
        mean = f"; used: {percent(used)}{how}"
    return f"Share of {shortened(about.name)!r} {'; '.join(texts)}{mean}."
