"""Whether an estimate can be believed, in plain words: what has changed, and what it rests on."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from quantshift.answers.words import percent, shortened
from quantshift.quantifying.estimating.after_refutation import ASSUMED, IN_DOUBT, UNEXPLAINED
from quantshift.quantifying.output.advice import parts
from quantshift.quantifying.output.result import Assumption, Audited, Shift

CHANGES: Mapping[str, str] = MappingProxyType(
    {
        "prior": "Only the shares of the classes seem to have changed",
        "covariate": "The mix of {parts} has changed",
        "local": "The mix of {parts} within a class has changed",
        "outside": "The items are unlike the training items",
        UNEXPLAINED: "{family} explains the items",
        IN_DOUBT: "Changed shares of the classes explain most of the difference from training, "
        "not all",
        ASSUMED: "Covariate shift is assumed, as you said",
    }
)
"""What each kind of shift means; parts are topics of texts, or subgroups of other items."""

ASSUMPTION_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "prior shift": "if only the shares of the classes changed",
        "covariate shift": "if only the mix of items changed",
        "prior and covariate shift": "if both changed",
        "local shift": "if {parts} changed within a class",
        "between the two": "if something between the two holds",
        "no change": "if nothing changed",
    }
)
"""The assumptions about what has changed, without technical terms."""

CLEAR = 0.01
"""A p-value above this is close to the level of the test, and words are chosen with care."""

SAME = 0.0005
"""Shares that differ by less are shown as the same percentage."""


def p_text(shift: Shift) -> str:
    """The p-value; the test cannot go below its floor.

    >>> p_text(Shift(True, "prior", 0.002, p_floor=0.002))
    'p <= 0.002'
    """
    if shift.p_value <= shift.p_floor:
        return f"p <= {shift.p_floor:.2g}"
    return f"p = {shift.p_value:.2g}"


def verdict(
    shift: Shift | None,
    assumptions: Sequence[Assumption],
    lead: str,
    *,
    name: str,
    untrained: bool,
    topics: bool,
    used: float | None = None,
) -> str:
    """Whether something has changed that the method does not allow for, and the estimates.

    lead: the class whose estimates are given; name: how it is shown; topics: whether the items are
    texts; used: the estimate that counts.
    """
    if untrained:
        return (
            "Without labelled rows there is no way to tell whether your posteriors fit these items."
        )
    near = shift is not None and shift.rejected and shift.auc is None and shift.p_value >= CLEAR
    alone = shift is not None and shift.rejected and not shift.stands_out
    refuted = "unlikely" if near or alone else "ruled out"
    estimates = _estimates(assumptions, lead, name, used, topics=topics, refuted=refuted)
    if shift is None:
        return f"Not tested for changes beyond the shares of the classes. {estimates}"
    kind_of_change = CHANGES[shift.kind].format(
        parts=parts(topics=topics), family=_family(topics=topics)
    )
    if shift.kind == ASSUMED:
        return f"{kind_of_change}. {estimates}"
    if shift.auc is not None and shift.explained is not None:
        return (
            f"{kind_of_change}: even after reweighting, which explains {shift.explained:.0%} of "
            "the difference, a classifier tells them apart from training items with an AUC of "
            f"{shift.auc:.2f} (0.5 is chance). {estimates}"
        )
    if not shift.rejected:
        return f"{kind_of_change} ({p_text(shift)}). {estimates}"
    if not shift.stands_out:
        return (
            f"Perhaps more has changed than the shares of the classes ({p_text(shift)}), but among "
            f"{shift.n_tested} batches one such result may well be chance (adjusted for their "
            f"number, p = {shift.p_adjusted:.2g}). {estimates}"
        )
    if shift.p_value >= CLEAR:
        # The sentence begins with the kind of change: "The mix of topics has changed".
        by_chance = "one sample in twenty looks like this by chance"
        change = f"Perhaps {kind_of_change[:1].lower()}{kind_of_change[1:]}"
        return f"{change} ({p_text(shift)}; {by_chance}). {estimates}"
    if not any(assumption.refuted for assumption in assumptions):
        return (
            f"{kind_of_change} ({p_text(shift)}), so perhaps none of the assumptions holds for "
            f"this batch. {estimates}"
        )
    return f"{kind_of_change} ({p_text(shift)}). {estimates}"


def carried(
    shift: Shift | None,
    audit: Audited | None,
    *,
    assumption: str,
    guarded: bool,
    untrained: bool,
    topics: bool,
    groups: str | None = None,
    interval_note: str = "",
) -> str:
    """The assumption that the estimate rests on.

    assumption: the method's own, in plain words; guarded: whether it was tested that changed shares
    of classes and parts explain the items. groups: the column of the groups whose errors widen the
    range. interval_note: the method's.
    """
    if audit is not None and audit.looked is not None:
        return (
            f"based on the labels of {audit.n_labelled} random items, for the share among the "
            "items of the sample; valid under any shift, and at every look"
        )
    if audit is not None:
        return f"based on the labels of {audit.n_labelled} random items; valid under any shift"
    if untrained:
        return "assumes that your posteriors are right for these items"
    if shift is None:
        note = f". {interval_note[:1].upper()}{interval_note[1:]}" if interval_note else ""
        return f"rests on an untested assumption: {assumption}{note}"
    if shift.kind == UNEXPLAINED:
        group_errors = "" if groups is None else f", and errors as large as on your own {groups!r}"
        return (
            f"{_family(topics=topics).lower()} explains the items: the estimate assumes instead "
            "that items that look alike have the label as often as in training. "
            f"The range is what the assumptions allow{group_errors}; it is not a confidence "
            "interval"
        )
    if shift.kind == IN_DOUBT:
        return (
            "assumes that only the shares of the classes have changed, which explains most of the "
            "difference from training but not all of it. The range is what other assumptions "
            "allow; it is not a confidence interval"
        )
    if shift.kind == ASSUMED:
        return (
            "assumes, as you said, that items that look alike have the label as often as in "
            "training. The range is what the classifiers allow, widened by "
            "standard errors; it is not a confidence interval"
        )
    if shift.kind == "outside" and shift.stands_out:
        perhaps = "perhaps " * (shift.p_value >= CLEAR)
        return (
            f"the items are {perhaps}unlike the training items: the interval covers the estimates "
            "under all assumptions, and is right only if one of them holds"
        )
    if shift.rejected and not shift.stands_out:
        return (
            f"assumes that only the shares of classes and {parts(topics=topics)} have changed; the "
            "test of this batch alone doubts that, but among so many batches it may be chance"
        )
    change = f"that only the shares of classes and {parts(topics=topics)} have changed"
    if not guarded:
        return f"assumes {change}; whether this fits the items was not tested"
    return f"assumes {change}, which fits the items"


def condition(shift: Shift | None) -> str:
    """The condition under which the estimate holds, after a refutation."""
    in_doubt = shift is not None and shift.kind == IN_DOUBT
    if in_doubt:
        return "if only the shares of the classes have changed"
    return "if items that look alike have the label as often as in training"


def _estimates(
    assumptions: Sequence[Assumption],
    label: str,
    name: str,
    used: float | None,
    *,
    topics: bool,
    refuted: str,
) -> str:
    """The share of a class under each assumption, in a sentence that says which one counts.

    refuted: the word for assumptions that the items contradict.
    """
    shares = [assumption.prevalence[label] for assumption in assumptions]
    counting = [
        not assumption.refuted and used is not None and abs(share - used) < SAME
        for assumption, share in zip(assumptions, shares, strict=True)
    ]
    said = "; ".join(
        f"{_assumption_text(assumption.name, topics=topics)} {percent(share)}"
        f"{' (used)' * (counts and sum(counting) == 1)}{f' ({refuted})' * assumption.refuted}"
        f"{' (for comparison)' * assumption.for_comparison}"
        for assumption, share, counts in zip(assumptions, shares, counting, strict=True)
    )
    weighted = any(assumption.weight is not None for assumption in assumptions)
    mean = ""
    if used is not None and sum(counting) != 1:
        how = ", their mean weighted by the evidence" if weighted and not any(counting) else ""
        mean = f"; used: {percent(used)}{how}"
    return f"Share of {shortened(name)!r} {said}{mean}."


def _assumption_text(name: str, *, topics: bool) -> str:
    return ASSUMPTION_NAMES.get(name, name).format(parts=parts(topics=topics))


def _family(*, topics: bool) -> str:
    """The kinds of shift that are tested. With columns, subgroups could explain any change."""
    if topics:
        return "Neither changed shares of the classes nor changed topics"
    return "No change in the shares of the classes"
