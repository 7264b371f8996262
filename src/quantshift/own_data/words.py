"""Plain words for practitioners: verdicts, warnings, and what to do next."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from types import MappingProxyType

from quantshift.audit import FEWEST_LABELS
from quantshift.intervals import SMALL
from quantshift.nouns import counted
from quantshift.own_data.group_errors import FORWARD, NOTHING, GroupErrors
from quantshift.own_data.guard import ASSUMED, IN_DOUBT, UNEXPLAINED
from quantshift.own_data.result import (
    INTERVAL,
    RANGE,
    SEQUENCE,
    Assumption,
    Audited,
    Share,
    Shift,
)

APART = 0.05
"""Assumptions whose estimates differ by more are worth a person's labels."""

WIDE = 0.2
"""An interval wider than this says little."""

GUARDED = frozenset({UNEXPLAINED, IN_DOUBT, ASSUMED})
"""Kinds of shift whose limits span what assumptions allow."""

CHANGES: Mapping[str, str] = MappingProxyType(
    {
        "prior": "Only the prevalence seems to have changed",
        "covariate": "The mix of {parts} has changed",
        "local": "The mix of {parts} within a class has changed",
        "outside": "The items are unlike the training items",
        UNEXPLAINED: "{family} explains the items",
        IN_DOUBT: "A change in prevalence explains most of the difference from training, not all",
        ASSUMED: "Covariate shift is assumed, as you said",
    }
)
"""What each kind of shift means; parts are topics of texts, and subgroups of anything else."""

FAR = 0.4
"""A range wider than this is not reported as an estimate without labels."""

GIVEN_POSTERIORS = "given posteriors"
"""Stands for the classifier where posteriors of the user's own model are given."""

FEW_LABELS = 50
"""How many random labels to ask for first."""

METHOD_NAMES: Mapping[str, str] = MappingProxyType({"MLPE": "training prevalence"})
"""Methods whose names say nothing to a reader who has not met them."""

NOTHING_TO_DO = "No action needed. An audit (`quantshift audit-plan`) would confirm the estimate."

RARE = 0.01
"""Shares below this need another decimal."""

TRUTH_VALUES = frozenset({"true", "false", "yes", "no", "t", "f", "y", "n"})
ELLIPSIS = "…"
LONGEST_NAME = 40
"""Longer names are cut in the middle, where people read them."""


def percent(share: float) -> str:
    """A share as a percentage with one decimal, or two where it is below one percent.

    >>> percent(0.4167), percent(0.0052)
    ('41.7%', '0.52%')
    """
    return f"{100 * share:.{2 if 0 < share < RARE else 1}f}%"


def limits(low: float, high: float) -> str:
    """Two limits as percentages, with enough decimals to distinguish them.

    >>> limits(0.381, 0.45), limits(0.0007, 0.0131)
    ('38.1 to 45.0%', '0.07 to 1.31%')
    """
    decimals = 2 if 0 < high < 2 * RARE else 1
    return f"{100 * low:.{decimals}f} to {100 * high:.{decimals}f}%"


def listed(labels: Sequence[str]) -> str:
    """Labels in a sentence.

    >>> listed(["a", "b", "c"])
    "'a', 'b' and 'c'"
    """
    *others, last = map(repr, labels)
    return f"{', '.join(others)} and {last}" if others else last


def held_by(classes: Sequence[str], *, simultaneous: bool) -> str:
    """What intervals of more than two classes hold for."""
    if len(classes) == 2:
        return ""
    return "for all classes at once" if simultaneous else "for each class on its own"


def headline(labels: Sequence[str], positive: str | None = None) -> str:
    """The class whose share stands for all: the positive one, or the second of two, or the first.

    positive: what the user calls the positive class.
    """
    if positive is not None:
        return positive
    return labels[1] if len(labels) == 2 else labels[0]


def class_names(label: str | None, classes: Sequence[str]) -> dict[str, str]:
    """How classes are shown: with the name of their column if they say nothing without it.

    >>> class_names("Exited", ["0", "1"])
    {'0': 'Exited = 0', '1': 'Exited = 1'}
    >>> class_names("sentiment", ["negative", "positive"])
    {'negative': 'negative', 'positive': 'positive'}
    """
    if label is None or not all(_says_nothing(name) for name in classes):
        return {name: name for name in classes}
    return {name: f"{label} = {name}" for name in classes}


def parts(*, topics: bool) -> str:
    """What a class is made of: topics of texts, subgroups of anything else."""
    return "topics" if topics else "subgroups"


def one_line(text: str) -> str:
    """The text without line breaks and control characters, for terminals and charts.

    >>> one_line("a\\u2028b")
    'a b'
    """
    return "".join(character if character.isprintable() else " " for character in text)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """A name on one line, cut in the middle if it is long.

    >>> shortened("2026-01-05 to 2026-01-11, region north", 21)
    '2026-01-05…gion north'
    """
    line = one_line(name)
    if len(line) <= longest:
        return line
    end = (longest - 1) // 2
    return f"{line[: longest - 1 - end]}{ELLIPSIS}{line[len(line) - end :]}"


def p_said(shift: Shift) -> str:
    """The p-value; the test cannot go below its floor.

    >>> p_said(Shift(True, "prior", 0.002, p_floor=0.002))
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
) -> str:
    """Has something changed that the estimate does not allow for? And the estimates if so.

    lead: the class to speak of; name: how it is shown; topics: whether the items are texts.
    """
    if untrained:
        return (
            "Without labelled rows there is no way to tell whether your posteriors fit these items."
        )
    estimates = _estimates(assumptions, lead, name)
    if shift is None:
        return f"Not tested for changes beyond prevalence: {estimates}."
    said = CHANGES[shift.kind].format(parts=parts(topics=topics), family=_family(topics=topics))
    if shift.kind == ASSUMED:
        return f"{said}: {estimates}."
    if shift.auc is not None and shift.explained is not None:
        return (
            f"{said}: even after reweighting, which explains {shift.explained:.0%} of the "
            "difference, a classifier tells them apart from training items with an AUC of "
            f"{shift.auc:.2f} (0.5 is chance); {estimates}."
        )
    change = f"{said} ({p_said(shift)})"
    if not shift.rejected:
        return f"{change}: {estimates}."
    if not any(assumption.refuted for assumption in assumptions):
        return f"{change}; none of the estimates can be trusted: {estimates}."
    return f"{change}: {estimates}."


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
    """The assumption that carries the number.

    assumption: the method's own; guarded: whether it was tested that shares of classes and parts
    explain the items. groups: the column of the groups whose errors are in the range.
    interval_note: the method's.
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
        own = "" if groups is None else f", and errors as large as on your own {groups!r}"
        return (
            f"{_family(topics=topics).lower()} explains the items: the estimate assumes "
            f"instead that "
            "items that look alike have the label as often as in training (P(Y|X) unchanged). The "
            f"range is what the assumptions allow{own}; it is not a confidence interval"
        )
    if shift.kind == IN_DOUBT:
        return (
            "assumes that only the prevalence has changed, which explains most of the difference "
            "from training but not all of it. The range is what other assumptions allow; it is not "
            "a confidence interval"
        )
    if shift.kind == ASSUMED:
        return (
            "assumes, as you said, that items that look alike have the label as often as in "
            "training (P(Y|X) unchanged). The range is what the classifiers allow, widened by "
            "standard errors; it is not a confidence interval"
        )
    if shift.kind == "outside":
        return "the items are unlike the training items: treat the number as a guess"
    change = f"that only the shares of classes and {parts(topics=topics)} have changed"
    if not guarded:
        return f"assumes {change}; whether this fits the items was not tested"
    return f"assumes {change}, which fits the items"


def condition(shift: Shift | None) -> str:
    """Under which the number holds, after a refutation."""
    in_doubt = shift is not None and shift.kind == IN_DOUBT
    return "if only the prevalence has changed" if in_doubt else "if P(Y|X) is unchanged"


def limits_are(shift: Shift | None, audit: Audited | None) -> str:
    """What the limits of the shares are."""
    if audit is not None:
        return INTERVAL if audit.looked is None else SEQUENCE
    return RANGE if shift is not None and shift.kind in GUARDED else INTERVAL


def limits_head(kind: str, level: float) -> str:
    """What stands above limits.

    >>> limits_head(INTERVAL, 0.95), limits_head(RANGE, 0.95)
    ('95% interval', 'range allowed')
    """
    return "range allowed" if kind == RANGE else f"{100 * level:g}% interval"


def reach_of_labels(n_labels: int, shares: Sequence[Share], level: float) -> float:
    """Half the width that so many random labels give by themselves, for the share hardest to
    estimate.

    >>> round(reach_of_labels(50, [Share("a", 0.4, 0.2, 0.9)], 0.95), 2)
    0.14
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    hardest = (min(max(0.5, share.low), share.high) for share in shares)
    return max(z * math.sqrt(p * (1 - p) / n_labels) for p in hardest)


def labels_said(shares: Sequence[Share], level: float, n_items: int) -> str:
    """What a few random labels give."""
    n_labels = min(FEW_LABELS, n_items)
    if n_labels == n_items:
        return f"labels of all {n_items} items give the share itself"
    points = 100 * reach_of_labels(n_labels, shares, level)
    return f"{n_labels} random labels narrow this to about plus or minus {points:.0f} points"


def groups_said(groups: GroupErrors) -> str:
    """Who would have been off by how much on the user's own groups, in a sentence for everyone."""
    others = sorted(
        (m for m in groups.errors if m not in (groups.method, NOTHING)),
        key=lambda method: groups.errors[method],
    )
    own = f"{groups.method}, the method used here, would have been off by {_points(groups)}"
    told = ", ".join(f"{m} by {100 * groups.errors[m]:.1f}" for m in others)
    n_groups = f"{len(groups.groups)} groups"
    if groups.design == FORWARD:
        n_groups = f"{len(groups.groups)} {groups.every or 'year'}s"
        how = "each estimated from those before it"
    else:
        how = "each left out in turn"
    nothing = f"assuming the training prevalence by {100 * groups.errors[NOTHING]:.1f}"
    return f"On your own {groups.column!r} ({n_groups}, {how}) {own}, {told}; {nothing}."


def _points(groups: GroupErrors) -> str:
    return f"{100 * groups.errors[groups.method]:.1f} points on average"


def accuracy_said(classifier: str, accuracy: float) -> str:
    """How accurate the classifier is on labelled rows that it was not trained on.

    >>> accuracy_said("logistic", 0.8475)
    'logistic: cross-validated accuracy 84.8%'
    """
    how = "accuracy" if classifier == GIVEN_POSTERIORS else "cross-validated accuracy"
    return f"{classifier}: {how} {percent(accuracy)}"


def batch_warnings(
    *, n_items: int, n_labelled: int, asked: bool, audited: bool, confused: Sequence[str] = ()
) -> Iterator[str]:
    """What the reader should know about a batch.

    asked: whether there is an audit at all; confused: classes that the classifier does not separate
    from another.
    """
    if confused:
        yield (
            f"in cross-validation the classifier cannot tell {listed(confused)} apart better "
            f"than chance: the "
            "items say nothing about their shares"
        )
    if n_items < SMALL:
        yield f"only {counted(n_items, 'item')}: the interval is wide"
    if asked and not audited:
        yield f"{n_labelled} items are labelled and an audit needs {FEWEST_LABELS}: not audited"


def advice(
    shares: Sequence[Share],
    assumptions: Sequence[Assumption],
    shift: Shift | None,
    audit: Audited | None,
    *,
    untrained: bool,
    can_be_estimated: bool = True,
    n_items: int,
    level: float,
) -> Iterator[str]:
    """What to do next."""
    if audit is not None:
        if audit.looked is not None:
            yield _whether_to_stop(audit)
        if audit.contradicts:
            yield (
                "The audit contradicts the method: use the audited estimate, and add newly "
                "labelled items of this source to the training table."
            )
        else:
            yield "The audit agrees with the method. Audit again when the source changes."
        return
    then = (
        "`quantshift audit-plan` draws them, and `quantshift quantify --audit` estimates the share "
        "from them."
    )
    few = labels_said(shares, level, n_items)
    if not can_be_estimated:
        yield f"Add columns that say something about the label, or label some items: {few}. {then}"
        return
    reason = _doubt(assumptions, shift, untrained=untrained)
    if reason:
        yield f"Label some items, because {reason}: {few}, whatever has shifted. {then}"
    elif max(share.high - share.low for share in shares) > WIDE:
        yield f"For a narrower interval give more items, or label some: {few}. {then}"
    else:
        yield NOTHING_TO_DO


def _whether_to_stop(audit: Audited) -> str:
    """Whether an audit with many looks may end, or how many labels it takes."""
    looked = audit.looked
    assert looked is not None
    now, wanted = f"{100 * looked.half_width:.1f}", f"{100 * looked.precision:.1f}"
    if looked.reached:
        return (
            f"You can stop: the interval is plus or minus {now} points, and {wanted} were "
            f"asked for."
        )
    more = looked.n_needed - audit.n_labelled
    return (
        f"The interval is plus or minus {now} points. For {wanted} label about {more:,} more, from "
        "the top of the sheet; check as often as you like."
    )


def _doubt(
    assumptions: Sequence[Assumption], shift: Shift | None, *, untrained: bool
) -> str | None:
    if untrained:
        return "nothing has been checked against labels"
    if shift is not None:
        return "more than the prevalence has changed" if shift.rejected else None
    apart = _spread(assumptions) > APART
    return "the estimates under different assumptions are far apart" if apart else None


def _estimates(assumptions: Sequence[Assumption], label: str, name: str) -> str:
    listed = ", ".join(
        f"{a.name} {percent(a.prevalence[label])}"
        f"{' (refuted)' * a.refuted}{' (for comparison)' * a.for_comparison}"
        for a in assumptions
    )
    return f"share of {shortened(name)!r} under {listed}"


def _family(*, topics: bool) -> str:
    """The kinds of shift that are tested: of columns subgroups would imitate anything."""
    if topics:
        return "Neither a change in prevalence nor one in topics"
    return "No change in prevalence"


def _says_nothing(name: str) -> bool:
    """Whether a label is a bare number or truth value.

    >>> [_says_nothing(name) for name in ("1", "-0.5", "True", "spam")]
    [True, True, True, False]
    """
    return name.lower() in TRUTH_VALUES or name.lstrip("+-").replace(".", "", 1).isdecimal()


def _spread(assumptions: Sequence[Assumption]) -> float:
    ranges = [[a.prevalence[label] for a in assumptions] for label in assumptions[0].prevalence]
    return max(max(values) - min(values) for values in ranges)
